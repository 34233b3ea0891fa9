#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A serial line between a target and a receiver: standard input comes out of a pseudo-terminal.

usage: relay.py LINK [--cut FROM TO]     LINK: the device's name, as long as it is plugged in
       relay.py --tcp PORT               a connection to this port of this computer instead
       relay.py --damage SEED EVERY      to standard output, with about every EVERY-th byte dropped,
                                         flipped or doubled (not the last 2,000: an end that arrives)

--cut: behind FROM bytes the cable is pulled (device and name are gone) and behind TO bytes plugged
in again, as another device under the same name.  What came meanwhile is lost.
"""
import os
import pty
import random
import socket
import sys
import time
import tty


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
