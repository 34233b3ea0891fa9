# SPDX-License-Identifier: MIT
"""Commands of GDB for programs that trace with libptrace: a live one, a core file, a board.

    (gdb) source pxtrace.py
    (gdb) pxtrace streams                the streams of the program
    (gdb) pxtrace dump 1 flight.box      the memory of one, for `pxtrace recover flight.box -o LOG`

Streams are found through the symbols of the library where it has them, else by search through the
memory that GDB knows of. `pxtrace streams START LENGTH` searches there: the RAM of a board, say.
What stands where is read from the headers (format/imageheader.h); nothing of the program is called.
"""
import os
import re
import struct

import gdb

STREAM_MAGIC = b"PXTRACE\x01STREAM\n\0"
DIRECTORY_MAGIC = b"PXTRACE\x01THREAD\n\0"
SMALL_MAGIC = b"PXTRACE\x01SMALL\n\0\0"
ORDER = 0x01020304
HEADER_BYTES = 48
STREAM_BYTES = 256
DIRECTORY_AT = 48  # in a stream's header: the place of the directory in the same file
TABLE_ENTRIES = 64  # of pxt_blocks, at most
BLOCK_MAX = 1 << 36
STATES = {0: "stopped", 1: "running", 2: "full"}


class Header:
    """What the block at @at says of itself."""

    def __init__(self, at, raw):
        self.at, self.raw = at, raw
        self.order = "<" if struct.unpack_from("<I", raw, 16)[0] == ORDER else ">"
        self.version, self.bytes, self.key, self.pid, self.word = self.get("IQQiI", 20)
        self.sound = self.get("I", 16)[0] == ORDER and self.version == 3 \
            and HEADER_BYTES <= self.bytes <= BLOCK_MAX

    def get(self, form, at):
        return struct.unpack_from(self.order + form, self.raw, at)


class Small:
    """The label of a smallest Core (format/imageheader.h), whose memory is in several places."""
    BYTES = 96  # and pointers
    MASK, TRID, RUNNING, NAME, TASK_NAME = 2, 0, 1, 13, 15  # of `places`
    SELF, STATE, SLOTS, NAMES, COUNT, FORMATS, FORMAT_AT, TASKS, ENDED = range(9)

    def __init__(self, at, raw):
        self.at, self.order = at, "<" if struct.unpack_from("<I", raw, 16)[0] == ORDER else ">"
        order, version, self.word, _, hz, _, _, self.pid, _ = struct.unpack_from(self.order + "4IQ2IiI", raw, 16)
        self.names_bytes, self.formats_bytes, self.name_bytes, _, *self.places = \
            struct.unpack_from(self.order + "20H", raw, 56)
        self.sound = (order, version) == (ORDER, 1) and hz > 0 and self.word in (4, 8)
        self.parts = [self.number(at + self.BYTES + i * self.word, self.word) for i in range(9)] if self.sound else []

    def number(self, at, count):
        raw = memory(at, count)
        return int.from_bytes(raw, "little" if self.order == "<" else "big") if raw else 0

    def state(self, place, count):
        return self.number(self.parts[self.STATE] + self.places[place], count)

    def slots(self):
        return self.state(self.MASK, 4) + 1

    def pieces(self):
        """Where what it is made of lies: (address, bytes)."""
        parts = self.parts
        yield self.at, self.BYTES + 9 * self.word
        yield parts[self.STATE], max(self.places[:self.NAME]) + 8
        yield parts[self.STATE] + self.places[self.NAME], self.name_bytes
        yield parts[self.SLOTS], self.slots() * 16
        yield parts[self.NAMES], self.names_bytes
        yield parts[self.COUNT], 4
        yield parts[self.FORMATS], self.formats_bytes
        yield parts[self.FORMAT_AT], 2 * self.number(parts[self.COUNT], 4)
        if not parts[self.TASKS]:
            return
        yield parts[self.TASKS], self.word
        yield parts[self.ENDED], 80
        task = self.number(parts[self.TASKS], self.word)
        for _ in range(4096):
            if not task:
                break
            yield task, self.places[self.TASK_NAME] + self.word
            yield self.number(task + self.places[self.TASK_NAME], self.word), 16
            task = self.number(task, 8)

    def describe(self):
        state = "running" if self.state(self.RUNNING, 1) else "stopped"
        name = (memory(self.parts[self.STATE] + self.places[self.NAME], self.name_bytes) or b"").split(b"\0")[0]
        return f"{self.pid:8}  {state if self.state(self.TRID, 4) else 'ended':8} {1:5} {self.slots():9} " \
            f"{self.at:#18x} {self.slots() * 16:12}  {printable(name)}"

    def core(self):
        """A core file of these pieces alone."""
        pieces = [(at, raw) for at, count in self.pieces() if at and (raw := memory(at, count))]
        wide = self.word == 8
        head, entry = (64, 56) if wide else (52, 32)
        out = b"\x7fELF" + bytes([2 if wide else 1, 1 if self.order == "<" else 2, 1]) + bytes(9)
        out += struct.pack(self.order + ("HHIQQQIHHHHHH" if wide else "HHIIIIIHHHHHH"),
                           4, 0, 1, 0, head, 0, 0, head, entry, len(pieces), 0, 0, 0)
        offset = head + entry * len(pieces)
        for at, raw in pieces:
            out += struct.pack(self.order + "IIQQQQQQ", 1, 4, offset, at, at, len(raw), len(raw), 1) if wide else \
                struct.pack(self.order + "8I", 1, offset, at, at, len(raw), len(raw), 4, 1)
            offset += len(raw)
        return out + b"".join(raw for _, raw in pieces)


def printable(name):
    text = name.decode("utf-8", "backslashreplace")
    return "".join(c if c.isprintable() else "?" for c in text)


def memory(at, count):
    """Bytes of the program, or None where they cannot be read."""
    try:
        return bytes(gdb.selected_inferior().read_memory(at, count))
    except gdb.MemoryError:
        return None


def header_at(at, magic):
    if magic == SMALL_MAGIC:
        raw = memory(at, Small.BYTES)
        small = Small(at, raw) if raw and raw[:16] == magic else None
        return small if small and small.sound else None
    raw = memory(at, STREAM_BYTES if magic == STREAM_MAGIC else HEADER_BYTES)
    if not raw or raw[:16] != magic:
        return None
    header = Header(at, raw)
    return header if header.sound else None


def ranges():
    """Where to search, as GDB and the system tell: (address, bytes)."""
    pid = gdb.selected_inferior().pid
    maps = f"/proc/{pid}/maps"
    if pid > 1 and os.path.exists(maps) and not is_core():
        with open(maps, encoding="utf-8", errors="replace") as lines:
            for line in lines:
                match = re.match(r"([0-9a-f]+)-([0-9a-f]+) rw", line)
                if match:
                    begin, end = int(match[1], 16), int(match[2], 16)
                    yield begin, end - begin
        return
    text = gdb.execute("info files", to_string=True)
    for match in re.finditer(r"0x([0-9a-f]+) - 0x([0-9a-f]+) is (\S+)", text):
        if match[3].startswith((".text", ".rodata", ".eh_frame", ".debug")):
            continue
        begin, end = int(match[1], 16), int(match[2], 16)
        yield begin, end - begin


def is_core():
    return "core file" in gdb.execute("info files", to_string=True).lower()


def search(magic, where):
    found = {}
    for begin, count in where:
        at, end = begin, begin + count
        while at < end:
            try:
                hit = gdb.selected_inferior().search_memory(at, end - at, magic)
            except gdb.MemoryError:
                hit = None
            if hit is None:
                break
            header = header_at(int(hit), magic)
            if header and int(hit) % 4 == 0:
                found[header.at] = header
            at = int(hit) + 1
    return [found[at] for at in sorted(found)]


def pointer_bytes():
    return gdb.lookup_type("void").pointer().sizeof


def words_at(symbol, count):
    """Pointers from the place of a symbol on; none where there is no such symbol."""
    try:
        at = int(gdb.parse_and_eval(f"(unsigned long)&{symbol}"))
    except gdb.error:
        return []
    size = pointer_bytes()
    words = []
    for i in range(count):
        raw = memory(at + i * size, size)
        if raw is None:
            break
        words.append(int.from_bytes(raw, byteorder()))
    return words


def byteorder():
    return "big" if "big endian" in gdb.execute("show endian", to_string=True) else "little"


def known_streams():
    """By the table of blocks; what stands behind it is no stream, and looks like none."""
    found = {}
    try:
        at = int(gdb.parse_and_eval("(unsigned long)&tiny_label"))
        small = header_at(at, SMALL_MAGIC)
        if small:
            found[at] = small
    except gdb.error:
        pass
    for at in words_at("pxt_blocks", TABLE_ENTRIES):
        header = header_at(at, STREAM_MAGIC) if at else None
        if header:
            found[at] = header
    return [found[at] for at in sorted(found)]


def streams(argument=""):
    words = gdb.string_to_argv(argument)
    if len(words) == 2:
        place = [tuple(int(gdb.parse_and_eval(word)) for word in words)]
        return search(STREAM_MAGIC, place) + search(SMALL_MAGIC, place)
    where = list(ranges())
    return known_streams() or search(STREAM_MAGIC, where) + search(SMALL_MAGIC, where)


def directory_of(stream):
    places = [header_at(at, DIRECTORY_MAGIC) for at in words_at("pxt_directory", 1) if at]
    for header in [one for one in places if one] + search(DIRECTORY_MAGIC, list(ranges())):
        if header.key == stream.key:
            return header
    return None


def describe(header):
    if isinstance(header, Small):
        return header.describe()
    lanes, slots = header.get("II", 88)
    gate = memory(header.at + header.get("I", 136)[0], 4)
    state = struct.unpack(header.order + "I", gate)[0] & 3 if gate else 3
    name_at, name_bytes = header.get("II", 240)
    name = (memory(header.at + name_at, min(name_bytes, 256)) or b"").split(b"\0")[0]
    return f"{header.pid:8}  {STATES.get(state, '?'):8} {lanes:5} {slots:9} " \
        f"{header.at:#18x} {header.bytes:12}  {printable(name)}"


class Group(gdb.Command):
    """Streams of libptrace in the memory of the program."""

    def __init__(self):
        super().__init__("pxtrace", gdb.COMMAND_DATA, gdb.COMPLETE_NONE, True)


class Streams(gdb.Command):
    """pxtrace streams [START LENGTH]: the streams of the program, with their numbers."""

    def __init__(self):
        super().__init__("pxtrace streams", gdb.COMMAND_DATA)

    def invoke(self, argument, from_tty):
        found = streams(argument)
        if not found:
            gdb.write("no streams\n")
            return
        gdb.write("stream       pid  state    lanes     slots            address        bytes  name\n")
        for number, header in enumerate(found, 1):
            gdb.write(f"{number:6}  {describe(header)}\n")


class Dump(gdb.Command):
    """pxtrace dump N FILE: the memory of stream N, as `pxtrace recover` reads it."""

    def __init__(self):
        super().__init__("pxtrace dump", gdb.COMMAND_DATA, gdb.COMPLETE_FILENAME)

    def invoke(self, argument, from_tty):
        words = gdb.string_to_argv(argument)
        if len(words) != 2 or not words[0].isdigit():
            raise gdb.GdbError("pxtrace dump N FILE: which stream, into which file?")
        found = streams()
        if not 1 <= int(words[0]) <= len(found):
            raise gdb.GdbError(f"there is no stream {words[0]}; `pxtrace streams` shows them")
        header = found[int(words[0]) - 1]
        out = header.core() if isinstance(header, Small) else self.block(header)
        with open(words[1], "wb") as file:
            file.write(out)
        gdb.write(f"{words[1]}: {len(out)} bytes; pxtrace recover {words[1]} -o LOG\n")

    @staticmethod
    def block(header):
        block = memory(header.at, header.bytes)
        if block is None:
            raise gdb.GdbError("the stream's memory cannot be read")
        directory = directory_of(header)
        names = memory(directory.at, directory.bytes) if directory else None
        out = bytearray(block)
        if names:
            place = (len(block) + 15) // 16 * 16
            out += bytes(place - len(block)) + names
            struct.pack_into(header.order + "Q", out, DIRECTORY_AT, place)
        else:
            gdb.write("no names and threads: the process' directory was not found\n")
        return out


Group()
Streams()
Dump()
