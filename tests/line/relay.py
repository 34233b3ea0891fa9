#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A serial line between a target and a receiver: standard input comes out of a pseudo-terminal.

usage: relay.py LINK [--cut FROM TO]     LINK: the device's name, as long as it is plugged in
       relay.py --tcp PORT               a connection to this port of this computer instead
       relay.py --damage SEED EVERY      to standard output, with about every EVERY-th byte dropped,
                                         flipped or doubled (not the last 2,000: an end that arrives)
       relay.py --packets SEED EVERY     the same of whole frames: dropped, one bit of them flipped,
                                         doubled (not the last 20)
       relay.py --udp PORT RAW           frames as packets to this port of this computer, whose receiver
                                         keeps what arrives in the file RAW
       relay.py --strangers PORT RAW     the same, and in the middle packets of strangers: 1,100 heads of streams
                                         that nobody sends, from the target's own port and from another one; from
                                         that one also the target's last frames, and from 40 ports whole streams of
                                         three frames each

--cut: behind FROM bytes the cable is pulled (device and name are gone) and behind TO bytes plugged
in again, as another device under the same name.  What came meanwhile is lost.
"""
import os
import pty
import random
import socket
import struct
import sys
import time
import tty
import zlib

HEAD = 1


def plug(link):
    master, slave = pty.openpty()
    tty.setraw(slave)
    if os.path.lexists(link):
        os.unlink(link)
    os.symlink(os.ttyname(slave), link)
    return master, slave


def wait_for_reader(master, slave):
    """What was written before anybody opened the device is read by who does so: wait until it is empty."""
    import array
    import fcntl
    import termios
    for _ in range(200):
        left = array.array("i", [0])
        fcntl.ioctl(slave, termios.FIONREAD, left)
        if left[0] == 0:
            return
        time.sleep(0.01)


def damage(seed, every):
    dice, data = random.Random(seed), sys.stdin.buffer.read()
    out = bytearray()
    for place, byte in enumerate(data):
        if dice.randrange(every) or place > len(data) - 2000:
            out.append(byte)
            continue
        out += bytes(([], [byte ^ 1 << dice.randrange(8)], [byte, byte])[dice.randrange(3)])
    sys.stdout.buffer.write(out)


def unstuff(piece):
    """A frame without COBS."""
    out, at = bytearray(), 0
    while at < len(piece):
        code = piece[at]
        out += piece[at + 1:at + code]
        at += code
        if code < 255 and at < len(piece):
            out.append(0)
    return bytes(out)


def stuff(frame):
    """A frame as it stands on a line, and the zero behind it."""
    out, block = bytearray(), bytearray()
    for place, byte in enumerate(frame):
        if byte:
            block.append(byte)
        if not byte or len(block) == 254:
            out += bytes([len(block) + 1]) + block
            block.clear()
    return bytes(out + bytes([len(block) + 1]) + block + b"\0")


def frames():
    return [unstuff(piece) for piece in sys.stdin.buffer.read().split(b"\0") if piece]


def damage_packets(seed, every):
    dice, whole = random.Random(seed), frames()
    out = []
    for place, frame in enumerate(whole):
        if dice.randrange(every) or place > len(whole) - 20:
            out.append(frame)
            continue
        spoilt = bytearray(frame)
        spoilt[dice.randrange(len(spoilt))] ^= 1 << dice.randrange(8)
        out += ([], [bytes(spoilt)], [frame, frame])[dice.randrange(3)]
    sys.stdout.buffer.write(b"\0" + b"".join(stuff(frame) for frame in out))


def arrived(raw):
    """Bytes of frames in the receiver's file; None: not even an empty packet has arrived."""
    with open(raw, "rb") as file:
        data = file.read()
    at = 0
    while data[at:at + 2] == b"\1\0":  # an empty packet: no frame begins so
        at += 2
    return len(data) - at if data else None


def wait_until(holds):
    for _ in range(2000):
        if holds():
            return
        time.sleep(0.005)
    sys.exit("relay.py: nothing arrives")


def send_packets(port, raw, window=8):
    """A socket has little room: never more on the way than a few, so that the computer itself loses none."""
    with socket.socket(type=socket.SOCK_DGRAM) as line:
        line.connect(("127.0.0.1", port))

        def listens():
            try:
                line.send(b"")
            except ConnectionRefusedError:
                pass
            return os.path.exists(raw) and arrived(raw) is not None
        wait_until(listens)
        done = 0
        for place, frame in enumerate(frames()):
            line.send(frame)
            done += len(stuff(frame))
            if place % window == window - 1:
                wait_until(lambda: arrived(raw) >= done)  # pylint: disable=cell-var-from-loop


# ---- Strangers ----

def kind(frame):
    return struct.unpack_from("<H", frame)[0] >> 14


def summed(frame, seed):
    return frame[:-4] + struct.pack("<I", zlib.crc32(frame[:-4], seed))


def send_among_strangers(port, seen):
    address = ("127.0.0.1", port)
    own_frames = [frame for frame in frames() if frame]
    head = next(f for f in own_frames if kind(f) == HEAD)
    others = [f for f in own_frames if kind(f) != HEAD][:2]
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

    half = len(own_frames) // 2
    for frame in own_frames[:half]:
        send(target, frame)
    for number in range(1100):
        send((target, stranger)[number % 2], other_head(os.urandom(16)))
    for frame in own_frames[-5:]:
        send(stranger, frame)
    for _ in range(40):
        own, uuid = socket.socket(type=socket.SOCK_DGRAM), os.urandom(16)
        send(own, other_head(uuid))
        for frame in others:
            send(own, summed(frame, zlib.crc32(uuid)))
    settle()
    for frame in own_frames[half:]:
        send(target, frame)


def send(port):
    for _ in range(100):
        try:
            with socket.create_connection(("127.0.0.1", port)) as line:
                line.sendall(sys.stdin.buffer.read())
            return
        except ConnectionRefusedError:
            time.sleep(0.02)


def main():
    if sys.argv[1] == "--damage":
        damage(int(sys.argv[2]), int(sys.argv[3]))
        return
    if sys.argv[1] == "--packets":
        damage_packets(int(sys.argv[2]), int(sys.argv[3]))
        return
    if sys.argv[1] == "--udp":
        send_packets(int(sys.argv[2]), sys.argv[3])
        return
    if sys.argv[1] == "--strangers":
        send_among_strangers(int(sys.argv[2]), sys.argv[3])
        return
    if sys.argv[1] == "--tcp":
        send(int(sys.argv[2]))
        return
    link = sys.argv[1]
    cut = (int(sys.argv[3]), int(sys.argv[4])) if "--cut" in sys.argv else None
    master, slave = plug(link)
    plugged, done = True, 0
    while True:
        data = os.read(0, 512)
        if not data:
            break
        done += len(data)
        if cut and plugged and cut[0] <= done < cut[1]:
            os.unlink(link)
            os.close(slave)
            os.close(master)
            plugged = False
        elif cut and not plugged and done >= cut[1]:
            master, slave = plug(link)
            plugged = True
            time.sleep(0.3)
        while plugged and data:
            data = data[os.write(master, data):]
    wait_for_reader(master, slave)
    time.sleep(0.2)
    os.unlink(link)


if __name__ == "__main__":
    main()
