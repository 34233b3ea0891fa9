#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Makes the golden logs from FORMAT.md alone: nothing here knows the library's code.

    make_golden.py FOLDER

tests/test_logread.c knows what must come out of each.  FIXED has the CRC-32 of each as it was when its version
was new: a log with another one is a change of the format, and needs a new version in FORMAT.md.
"""
import pathlib
import struct
import sys
import zlib

UUID = bytes(range(0xA0, 0xB0))
HZ = 2_000_000
CREATED = (1_000_000, (1_700_000_000, 250_000_000), (5000, 500_000_000), (5001, 500_000_000))
DATA, TYPES, THREADS, PROCESS, MODULES, CLOCKS, CLEAR, TRAILER, NOTES, HEAD, SET = range(1, 12)
JOB = "u32 job, i64 late_ns"
MIX = "x16 mask, f32 temp, f64 level, text[4] tag, i8 small, string rest"

TYPE_NAMES = [
    (1, "posix_trace_error", ""), (2, "posix_trace_start", ""), (3, "posix_trace_stop", ""),
    (4, "posix_trace_overflow", ""), (5, "posix_trace_resume", ""), (6, "posix_trace_filter", ""),
    (7, "posix_trace_flush_start", ""), (8, "posix_trace_flush_stop", ""),
    (31, "posix_trace_unnamed_userevent", ""),
]


class Coder:
    """The records of a block in few bytes (FORMAT.md, 5.3).  It knows two sites and two whos at a time, and tells
    every second record's data sparsely."""

    def __init__(self, begin):
        self.ticks, self.out, self.records = begin, b"", 0
        self.sites, self.whos, self.kept, self.last, self.told = {}, {}, {}, None, [0, 0]

    @staticmethod
    def place(table, what, numbers, turn):
        """Its number, and whether it is new there."""
        for number, known in table.items():
            if known == what:
                return number, False
        table[numbers[turn % 2]] = what
        return numbers[turn % 2], True

    def loss(self, number):
        self.out += b"\x08\x7f" + number.to_bytes(8, "little")

    def record(self, info, ticks, thread, address, extra, data):
        site = (info & 0xFFFFFF, address)
        number, fresh = self.place(self.sites, site, (0, 126), self.told[0])
        self.told[0] += fresh
        lead, middle = 0, b""
        if number != self.last or fresh:
            lead, middle = 8, bytes([number | fresh << 7])
        if fresh:
            middle += site[0].to_bytes(3, "little") + address
            self.kept[number] = bytes(32)
        self.last = number
        who, new = self.place(self.whos, (thread, info >> 24), (3, 14), self.told[1])
        self.told[1] += new
        lead |= (15 if new else who) << 4
        if new:
            middle += bytes([who, info >> 24]) + thread
        later = (ticks - self.ticks) % (1 << 64)
        width = next(width for width in range(4) if later < 1 << (8 << width))
        self.ticks = ticks
        first, rest = data[:32], data[32:]
        if self.records % 2:
            first = self.sparse(first, self.kept[number])
            lead |= 4
        self.kept[number] = data[:32].ljust(32, b"\0")
        self.records += 1
        self.out += bytes([lead | width]) + middle + later.to_bytes(1 << width, "little") + extra + first + rest

    @staticmethod
    def sparse(data, kept):
        out = b""
        for at in range(0, len(data), 8):
            differs = [a ^ b for a, b in zip(data[at:at + 8], kept[at:at + 8])]
            out += bytes([sum(1 << i for i, byte in enumerate(differs) if byte)]) + bytes(b for b in differs if b)
        return out


class Log:
    """Bytes of a log under construction."""

    def __init__(self, order, word, frames=0, frame_bytes=0, version=(1, 0, 1, 0), head=512,
                 generation=0, longer=0, boot=b"", machine=None, notes=(), repeats=False, number=0,
                 coded=False):
        self.order, self.word, self.boot, self.machine = order, word, boot, machine
        self.head, self.longer, self.words, self.number = head, longer, notes, number
        self.frames, self.frame_bytes, self.coded = frames, frame_bytes, coded
        self.data_sequence = self.meta_sequence = self.records = self.lost = 0
        self.first = self.file_head(version, generation)
        self.out, self.repeats = bytearray(self.first), repeats
        if frames:
            self.data_offset = 1024
            self.out += bytes(self.data_offset - len(self.out) + frames * frame_bytes)

    def pack(self, form, *values):
        return struct.pack(self.order + form, *values)

    def time(self, time):
        return self.pack("qII", time[0], time[1], 0)

    def clocks(self, clocks):
        return self.pack("Q", clocks[0]) + b"".join(self.time(time) for time in clocks[1:])

    def attributes(self):
        loop = bool(self.frames)
        return self.pack("iiiIIiQQQqqIIII", 3, 1 if loop else 4, 1, 4, 2, 10, 65536, 256, 1 << 20,
                         1_700_000_000, 0, 250_000_000, 500, 24, 8 if self.word == 8 else 6) \
            + b"golden".ljust(32, b"\0") + b"golden 1".ljust(32, b"\0")

    def file_head(self, version, generation):
        loop = bool(self.frames)
        head = b"\x89PTL\r\n\x1a\n" + self.pack("I", 0x01020304) + self.pack("4H", *version)
        head += bytes([self.word, 8 if self.word == 8 else 6, 16, 2 if loop else 1])
        head += self.pack("II", self.head, 7) + UUID
        head += self.pack("IIQ", 1, 50, HZ) + self.clocks(CREATED)
        head += self.pack("IIQII", 2048, 128, 1024 if loop else 0, self.frame_bytes, self.frames)
        head += self.pack("II", generation, self.number) + self.attributes()
        head = head.ljust(508, b"\0")
        head += self.pack("I", zlib.crc32(head))
        return head.ljust(self.head, b"\xee")

    # ---- blocks ----

    def block(self, kind, contents, count, begin=0, end=0, lost=0, records=0, at=None):
        coded = len(contents) if kind == DATA and self.coded else 0
        # A coded block of a frame may grow, and is not padded.
        contents += bytes(-len(contents) % 16 if not (coded and self.frames) else 0)
        data = kind == DATA
        sequence = self.data_sequence if data else self.meta_sequence
        self.records += records
        self.lost += lost
        head = b"PTLB" + self.pack("HHIIQ", kind, 0, 96 + len(contents), count, sequence) + UUID
        head += self.pack("QQQQQ", begin, end, lost, self.lost, self.records) + bytes(8)
        head += self.pack("I", coded)
        block = head + self.pack("I", zlib.crc32(head + contents)) + contents
        if data:
            self.data_sequence += 1
        else:
            self.meta_sequence += 1
        if data and self.frames:
            at = self.data_offset + sequence % self.frames * self.frame_bytes
            self.out[at:at + len(block)] = block
        else:
            self.out += block

    def entry(self, contents):
        contents += b"\xcc" * self.longer
        contents += bytes(-(len(contents) + 2) % 8)
        return self.pack("H", len(contents) + 2) + contents

    def types(self, types):
        out = b""
        for number, name, form in types:
            text = name.encode() + form.encode()
            out += self.entry(self.pack("HHH", number, len(name), len(form)) + text)
        self.block(TYPES, out, len(types))

    def threads(self, threads):
        out = b""
        for index, pid, tid, thread, since, name in threads:
            out += self.entry(self.pack("HiiIQQ", index, pid, tid, 0, thread, since)
                              + name.encode().ljust(16, b"\0"))
        self.block(THREADS, out, len(threads))

    def system(self):
        if not self.machine:
            return b""
        cpus, name = self.machine
        return self.pack("II", cpus, 0) + name.encode().ljust(40, b"\0")

    def process(self, pid, start, executable, host):
        out = self.entry(self.pack("Hi", 0, pid) + self.time(start)
                         + executable.encode().ljust(256, b"\0") + host.encode().ljust(72, b"\0")
                         + self.boot + self.system())
        self.block(PROCESS, out, 1)

    def modules(self, modules):
        out = b""
        for base, low, high, build_id, path in modules:
            out += self.entry(self.pack("HHHQQQ", len(path), len(build_id), 0, base, low, high)
                              + build_id.ljust(32, b"\0") + path.encode())
        self.block(MODULES, out, len(modules))

    def notes(self):
        out = b""
        for name, text in self.words:
            out += self.entry(self.pack("HHH", len(name), len(text), 0) + name.encode() + text.encode())
        if out:
            self.block(NOTES, out, len(self.words))

    def set(self):
        if self.number:
            self.block(SET, self.entry(bytes(6) + self.pack("QQQ", 700, 50, 3)), 1)

    def repeat(self):
        if self.repeats:
            self.block(HEAD, self.entry(bytes(6) + self.first[:296]), 1)

    def clock_readings(self, readings):
        out = b""
        for moment, clocks in readings:
            out += self.entry(self.pack("HI", moment, 0) + self.clocks(clocks))
        ticks = [clocks[0] for _, clocks in readings]
        self.block(CLOCKS, out, len(readings), min(ticks), max(ticks))

    def clear(self, ticks, cleared):
        self.block(CLEAR, self.entry(bytes(6) + self.pack("Q", cleared)), 1, ticks, ticks)

    def trailer(self, end, counts, log_lost=0, status=(2, 0, 1, 0, 5, 1, 0), crash=None):
        out = self.entry(bytes(6) + self.pack("7iI5Q", *status, 0, *counts)
                         + self.pack("QQQ", log_lost, self.data_sequence, self.meta_sequence)
                         + self.clocks(end) + self.attributes()
                         + (self.pack("IiQQii", *crash) if crash else b""))
        self.block(TRAILER, out, 1, end[0], end[0])

    # ---- records ----

    def slots(self, kind, ticks, data=b"", thread=0, address=0, cpu=255, cut=0, extra=None):
        if self.word == 8:
            payload = (thread | (address & 0xFFFFFFFFFFFF) << 16).to_bytes(8, "little")
        else:
            payload = (thread | (address & 0xFFFFFFFF) << 16).to_bytes(6, "little")
        if extra:
            payload += extra[0].to_bytes(8, "little") + extra[1].to_bytes(4, "little")
        payload += data
        payload += bytes(-len(payload) % 12)
        info = kind | len(data) << 10 | cut << 22 | (extra is not None) << 23 | cpu << 24
        out = self.pack("IIII", 0x80000000, info, ticks & 0xFFFFFFFF, ticks >> 32)
        for at in range(0, len(payload), 12):
            out += bytes(4) + payload[at:at + 12]
        return out

    def loss(self, number):
        return self.pack("IIII", 0x80000000, 30 | 255 << 24, number & 0xFFFFFFFF, number >> 32)

    def code(self, records, begin):
        coder, context = Coder(0 if self.frames else begin), 8 if self.word == 8 else 6
        for slots, ticks in records:
            _, info, low, high = struct.unpack(self.order + "IIII", slots[:16])
            payload = b"".join(slots[at + 4:at + 16] for at in range(16, len(slots), 16))
            if ticks is None:
                coder.loss(low | high << 32)
                continue
            data = context + (12 if info >> 23 & 1 else 0)
            coder.record(info, ticks, payload[:2], payload[2:context], payload[context:data],
                         payload[data:data + (info >> 10 & 0xFFF)])
        return coder.out

    def data(self, records, losses=()):
        """records: bytes of slots with their stamps, None where a loss slot stands."""
        stamps = [ticks for _, ticks in records if ticks is not None]
        contents = b"".join(slots for slots, _ in records)
        self.block(DATA, self.code(records, min(stamps, default=0)) if self.coded else contents, len(stamps),
                   min(stamps, default=0), max(stamps, default=0), sum(losses), len(stamps))


# Of version 1.1.  All other logs are of 1.0, and stay: that is what older recorders wrote.
BOOT = bytes(range(0xB0, 0xC0))
MACHINE = (0x102, "riscv64 Linux 6.1.0-13-rt")
NOTES_OF_USER = (("load", "80 %, without network"), ("n" * 63, "t" * 255), ("load", ""))


def event_set(log, *kinds):
    words = [0] * 32
    for kind in kinds:
        words[kind // 32] |= 1 << kind % 32
    return log.pack("32I", *words)


def begin(log):
    log.set()
    log.process(4711, (1_699_999_000, 5), "/opt/rt/control", "target-7")
    log.modules([(0x400000, 0x400000, 0x480000, bytes(range(20)), "/opt/rt/control"),
                 (0x7F0000000000 if log.word == 8 else 0x70000000,
                  0x7F0000001000 if log.word == 8 else 0x70001000,
                  0x7F0000009000 if log.word == 8 else 0x70009000, b"", "/lib/libc.so")])
    log.notes()
    log.types(TYPE_NAMES + [(32, "job_start", ""), (33, "blob", "")])
    log.threads([(1, 4711, 4712, 0x7F12345678 if log.word == 8 else 0x12345678, 0, "worker"),
                 (2, 4711, 0, 99, 0, "fifteen-letters")])
    log.repeat()


def events(log):
    """The story that all four machines tell; see the table in tests/test_logread.c."""
    record = log.slots
    high = 0xFFFFFFFF80001000 if log.word == 8 else 0x80001000
    log.types([(32, "job_start", JOB), (34, "mix", MIX)])
    mix = log.pack("H", 0xBEEF) + log.pack("f", 1.5) + log.pack("d", -0.125) + b"ab\0\0" \
        + log.pack("b", -3) + b"free text"
    log.data([
        (record(2, 1_000_010, event_set(log, 3, 40), 1, 0x400100), 1_000_010),
        (record(32, 1_000_100, log.pack("I", 7) + log.pack("q", -5), 1, 0x401234, 2), 1_000_100),
        (record(33, 1_000_099, bytes([1, 2, 3, 4, 5]), 2, high), 1_000_099),
        (log.loss(3), None),
        (record(34, 1_000_200, mix, 1, 0x401300, 0), 1_000_200),
        (record(31, 1_000_300, b"", 0xFFFF, 0x401400, 254, 0, (0xDEAD, 777)), 1_000_300),
        (log.loss(2), None),
    ], (3, 2))
    log.clock_readings([(2, (3_000_000, (1_700_000_001, 251_000_000), (5001, 501_000_000),
                             (5002, 501_000_000)))])
    log.threads([(1, 4711, 4799, 55, 2_000_000, "late")])
    log.data([
        (log.loss(1), None),
        (record(33, 2_000_001, bytes(range(20)), 1, 0x401234, 1, 1), 2_000_001),
        (record(6, 2_500_000, event_set(log, 33) + event_set(log, 1023), 1, 0x400200), 2_500_000),
        (record(32, 3_000_000, bytes(i & 255 for i in range(300)), 2, 1), 3_000_000),
        (record(3, 5_000_001, log.pack("i", 1)), 5_000_001),
    ], (1,))


END = (5_000_004, (1_700_000_002, 253_000_000), (5002, 503_000_000), (5003, 503_000_000))
COUNTS = (20, 9, 6, 5, 0)


# Signal 11, code 1, about 0xdead0, at 0x401230, sent by nobody, to thread 4712.
CRASH = (11, 1, 0xdead0, 0x401230, 0, 4712)


def whole(order, word, crash=None, **options):
    log = Log(order, word, **options)
    begin(log)
    events(log)
    log.repeat()
    log.trailer(END, COUNTS, crash=crash)
    return log.out


def loop(order, word, blocks, trailer=True, **options):
    """3 frames; block b holds two events with the numbers 2b and 2b + 1, and 10 were lost in block 1."""
    log = Log(order, word, frames=3, frame_bytes=512, **options)
    begin(log)
    log.types([(35, "count", "u32 n")])
    for b in range(blocks):
        first = [(log.loss(10), None)] if b == 1 else []
        log.data(first + [(log.slots(35, 1_000_000 + 2 * n, log.pack("I", n), 2), 1_000_000 + 2 * n)
                          for n in (2 * b, 2 * b + 1)], (10,) if b == 1 else ())
    if trailer:
        overwritten = max(0, blocks - 3) * 2
        log.trailer((1_001_000, END[1], (5000, 500_500_000), END[3]),
                    (2 * blocks + 10, 2 * blocks, 10, 0, 0), overwritten,
                    (2, 0, 0, 0, 0, 1 if overwritten else 0, 1 if overwritten else 0))
    return log.out


def newer_minor():
    """Version 1.9: a longer head, longer entries, a block type and event numbers of the future."""
    log = Log("<", 8, version=(1, 9, 1, 0), head=544, longer=24)
    begin(log)
    log.block(99, b"who knows".ljust(32), 1)
    events(log)
    log.trailer(END, COUNTS)
    return log.out


def cleared():
    log = Log("<", 8)
    begin(log)
    log.data([(log.slots(33, 1_000_001, b"before", 2), 1_000_001), (log.loss(4), None)], (4,))
    log.clear(1_000_050, 5)
    log.data([(log.slots(33, 1_000_100, b"after", 2), 1_000_100)])
    log.trailer(END, (6, 2, 0, 4, 0))
    return log.out


FIXED = {
    "be32": 0x47f9e95e, "be64": 0xa5a36405, "boot-be64": 0xb1f426ab, "boot-le64": 0x7127d750,
    "cleared": 0xd175a415, "coded-be32": 0xb1d08898, "coded-be64": 0xf88b92ca, "coded-le32": 0xddecda83,
    "coded-le64": 0x1ade1b8a, "le32": 0x3cecfcb2, "le64": 0xc935e07e, "loop-be32": 0xebe22c04,
    "loop-coded-be32": 0x0a0457ee, "loop-coded-growing": 0x0e9e5747, "loop-coded-le64": 0x4e038170,
    "loop-empty": 0xa37311a5, "loop-growing": 0x6b164dd0, "loop-le64": 0xa8353b6b, "loop-short": 0x9419a242,
    "machine-be64": 0x8e5551ad, "machine-le64": 0xf97a9d04, "newer-major": 0xc935e07e, "newer-minor": 0xfca64780,
    "no-trailer": 0x5e4ada3a, "notes-be64": 0x7db7be86, "notes-le64": 0x97f5c88c, "repeats-be64": 0x7e6b338d,
    "repeats-le64": 0x81c19105, "sealed-be32": 0x7edb1c4b, "sealed-le64": 0x16b74d32,
    "set-be64": 0x5434a456, "set-le64": 0x6a440528,
}


def logs():
    """Name -> bytes."""
    made = {
        "le64": whole("<", 8), "be64": whole(">", 8), "le32": whole("<", 4), "be32": whole(">", 4),
        "loop-le64": loop("<", 8, 5), "loop-be32": loop(">", 4, 5),
        "loop-short": loop("<", 8, 2), "loop-empty": loop("<", 8, 0),
        "loop-growing": loop("<", 8, 5, False),
        "loop-coded-le64": loop("<", 8, 5, version=(2, 1, 2, 1), coded=True),
        "loop-coded-be32": loop(">", 4, 5, version=(2, 1, 2, 1), coded=True),
        "loop-coded-growing": loop("<", 8, 5, False, version=(2, 1, 2, 1), coded=True),
        "boot-le64": whole("<", 8, version=(1, 1, 1, 0), boot=BOOT),
        "boot-be64": whole(">", 8, version=(1, 1, 1, 0), boot=BOOT),
        "machine-le64": whole("<", 8, version=(1, 2, 1, 0), boot=BOOT, machine=MACHINE),
        "machine-be64": whole(">", 8, version=(1, 2, 1, 0), boot=BOOT, machine=MACHINE),
        "notes-le64": whole("<", 8, version=(1, 2, 1, 0), boot=BOOT, machine=MACHINE,
                            notes=NOTES_OF_USER),
        "notes-be64": whole(">", 8, version=(1, 2, 1, 0), boot=BOOT, machine=MACHINE,
                            notes=NOTES_OF_USER),
        "repeats-le64": whole("<", 8, version=(1, 4, 1, 0), boot=BOOT, machine=MACHINE,
                              notes=NOTES_OF_USER, repeats=True),
        "repeats-be64": whole(">", 8, version=(1, 4, 1, 0), boot=BOOT, machine=MACHINE,
                              notes=NOTES_OF_USER, repeats=True),
        "set-le64": whole("<", 8, version=(1, 5, 1, 0), boot=BOOT, machine=MACHINE,
                          notes=NOTES_OF_USER, repeats=True, number=2),
        "set-be64": whole(">", 8, version=(1, 5, 1, 0), boot=BOOT, machine=MACHINE,
                          notes=NOTES_OF_USER, repeats=True, number=2),
        "coded-le64": whole("<", 8, version=(2, 0, 2, 0), coded=True),
        "coded-be64": whole(">", 8, version=(2, 0, 2, 0), coded=True),
        "coded-le32": whole("<", 4, version=(2, 0, 2, 0), coded=True),
        "coded-be32": whole(">", 4, version=(2, 0, 2, 0), coded=True),
        "newer-minor": newer_minor(),
        "newer-major": whole("<", 8, version=(2, 4, 2, 2)),
        "cleared": cleared(),
        "sealed-le64": whole("<", 8, CRASH, version=(1, 1, 1, 0)),
        "sealed-be32": whole(">", 4, CRASH, version=(1, 1, 1, 0)),
        "no-trailer": whole("<", 8)[:-400],
    }
    changed = [name for name in FIXED.keys() | made.keys() if zlib.crc32(made.get(name, b"")) != FIXED.get(name)]
    if changed:
        sys.exit(f"make_golden.py: the bytes of {', '.join(sorted(changed))} have changed")
    return made


def main():
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for name, log in logs().items():
        (folder / (name + ".ptl")).write_bytes(log)


if __name__ == "__main__":
    main()
