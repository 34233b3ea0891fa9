#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A sequential log as a target would have sent it in frames: from FORMAT.md alone.

usage: make_frames.py LOG [SLOTS]      frames of SLOTS slots (default 7), stuffed, on standard output
"""
import struct
import sys
import zlib

DATA, CLOCKS = 1, 6
KIND_DATA, KIND_HEAD, KIND_META = range(3)
LOSS = 30


def cobs(frame):
    """By the definition: split at zeros, and at runs of 254 bytes that are none."""
    out = bytearray()
    for piece in frame.split(b"\0"):
        while len(piece) >= 254:
            out += b"\xff" + piece[:254]
            piece = piece[254:]
        out += bytes([len(piece) + 1]) + piece
    return bytes(out) + b"\0"


class Sender:
    def __init__(self, log, slots):
        self.log, self.slots = log, slots
        self.order = ">" if log[8:12] == b"\x01\x02\x03\x04" else "<"
        self.uuid = log[32:48]
        self.frames = self.records = self.lost = 0
        self.out = bytearray()
        self.pieces = []  # frames before checksum and COBS

    def number(self, form, offset):
        return struct.unpack_from(self.order + form, self.log, offset)[0]

    def send(self, kind, contents):
        frame = struct.pack("<HH", (self.frames & 0x3fff) | kind << 14,
                            self.records & 0xffff) + contents
        self.pieces.append(frame)
        seed = b"" if kind == KIND_HEAD else self.uuid
        frame += struct.pack("<I", zlib.crc32(seed + frame))
        self.out += (b"\0" if kind == KIND_HEAD else b"") + cobs(frame)
        self.frames += 1

    def head(self, clocks):
        self.send(KIND_HEAD, self.log[:296] + clocks +
                  struct.pack(self.order + "QQQ", self.frames, self.records, self.lost))

    def data(self, slots):
        for at in range(0, len(slots), 16 * self.slots):
            piece = slots[at:at + 16 * self.slots]
            self.send(KIND_DATA, piece)
            for slot in range(0, len(piece), 16):
                word, info = struct.unpack_from(self.order + "II", piece, slot)
                if word != 0x80000000:
                    continue
                if info & 0x3ff == LOSS:
                    low, high = struct.unpack_from(self.order + "II", piece, slot + 8)
                    self.lost += low | high << 32
                else:
                    self.records += 1

    def run(self):
        self.head(struct.pack(self.order + "HHI", 64, 2, 0) + self.log[64:120])
        at = self.number("I", 24)
        while at < len(self.log):
            kind, length = self.number("H", at + 4), self.number("I", at + 8)
            count, contents = self.number("I", at + 12), self.log[at + 96:at + length]
            if kind == DATA:
                self.data(contents)
            elif kind == CLOCKS:
                for entry in range(count):
                    self.head(contents[64 * entry:64 * entry + 64])
            else:
                self.send(KIND_META, struct.pack(self.order + "HH", kind, count) + contents)
            at += length
        return bytes(self.out)


def main():
    with open(sys.argv[1], "rb") as source:
        log = source.read()
    sys.stdout.buffer.write(Sender(log, int(sys.argv[2]) if len(sys.argv) > 2 else 7).run())


if __name__ == "__main__":
    main()
