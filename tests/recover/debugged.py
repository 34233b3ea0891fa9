#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A debugger's server, as `pxtrace recover` meets it.  usage: debugged.py IMAGE WHERE [FAULT]

The target's memory is IMAGE, from address 0x1000 on; WHERE is written when the server listens.
FAULT: spoilt (one answer's sum is wrong at first), errors (no memory can be read), noise (no packets), leaves.
"""
import os
import re
import socket
import sys

START = 0x1000


def packet(text):
    return f"${text}#{sum(text.encode()) & 0xff:02x}".encode()


def serve(peer, image, fault):
    came = b""
    spoilt = fault != "spoilt"
    while more := peer.recv(4096):
        came += more
        while found := re.search(rb"\$([^#]*)#..", came):
            ask, came = found[1].decode(), came[found.end():]
            if fault == "leaves":
                return
            if fault == "noise":
                peer.sendall(b"\0noise#$" * 600)
                continue
            if ask == "?":
                answer = "T02thread:01;"
            elif ask[0] == "m" and fault != "errors":
                at, count = (int(number, 16) for number in ask[1:].split(","))
                answer = image[at - START:at - START + count].hex()
            else:
                answer = "E01"
            if ask[0] == "m" and not spoilt:
                spoilt = True
                peer.sendall(packet(answer)[:-2] + b"zz")
            # Told twice, as QEMU does.
            peer.sendall((packet(answer) if ask == "?" else b"+") + packet(answer))
            if ask == "D":
                return


def main():
    with open(sys.argv[1], "rb") as file:
        image = file.read()
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        with open(sys.argv[2] + ".new", "w", encoding="utf-8") as where:
            where.write(f"gdb:127.0.0.1:{listener.getsockname()[1]},{START:#x},{len(image)}")
        os.rename(sys.argv[2] + ".new", sys.argv[2])
        listener.settimeout(60)
        with listener.accept()[0] as peer:
            try:
                serve(peer, image, sys.argv[3] if len(sys.argv) > 3 else "")
            except OSError:
                pass


if __name__ == "__main__":
    main()
