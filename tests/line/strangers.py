#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A target's frames as packets, and in the middle of them the packets of strangers.

usage: strangers.py PORT SEEN       frames on standard input; SEEN: a file that the receiver's --raw grows

1,100 heads of streams that nobody sends, from the target's own port and from another one; from that one also the
target's last frames, and from 40 ports whole streams of three frames each.
"""
import os
import socket
import struct
import sys
import time
import zlib

from relay import unstuff

HEAD = 1
UUID = slice(36, 52)


def kind(frame):
    return struct.unpack_from("<H", frame)[0] >> 14


def summed(frame, seed):
    return frame[:-4] + struct.pack("<I", zlib.crc32(frame[:-4], seed))


def main():
    address, seen = ("127.0.0.1", int(sys.argv[1])), sys.argv[2]
    frames = [f for f in (unstuff(p) for p in sys.stdin.buffer.read().split(b"\0") if p) if f]
    head = next(f for f in frames if kind(f) == HEAD)
    others = [f for f in frames if kind(f) != HEAD][:2]
    target, stranger = (socket.socket(type=socket.SOCK_DGRAM) for _ in range(2))
    sent = 0

    def send(whose, frame):
        nonlocal sent
        whose.sendto(frame, address)
        sent += len(frame)
        if sent > 65536:
            settle()

    def settle():
        """Until the receiver has taken what was sent."""
        nonlocal sent
        size = -1
        while os.path.exists(seen) and os.stat(seen).st_size != size:
            size = os.stat(seen).st_size
            time.sleep(0.05)
        sent = 0

    def other_head(uuid):
        return summed(head[:36] + uuid + head[52:], 0)

    half = len(frames) // 2
    for frame in frames[:half]:
        send(target, frame)
    for number in range(1100):
        send((target, stranger)[number % 2], other_head(os.urandom(16)))
    for frame in frames[-5:]:
        send(stranger, frame)
    for _ in range(40):
        own, uuid = socket.socket(type=socket.SOCK_DGRAM), os.urandom(16)
        send(own, other_head(uuid))
        for frame in others:
            send(own, summed(frame, zlib.crc32(uuid)))
    settle()
    for frame in frames[half:]:
        send(target, frame)


main()
