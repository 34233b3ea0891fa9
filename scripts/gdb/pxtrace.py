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


def memory(at, count):
    """Bytes of the program, or None where they cannot be read."""
    try:
        return bytes(gdb.selected_inferior().read_memory(at, count))
    except gdb.MemoryError:
        return None


def header_at(at, magic):
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
    for at in words_at("pxt_blocks", TABLE_ENTRIES):
        header = header_at(at, STREAM_MAGIC) if at else None
        if header:
            found[at] = header
    return [found[at] for at in sorted(found)]


def streams(argument=""):
    words = gdb.string_to_argv(argument)
    if len(words) == 2:
        place = [tuple(int(gdb.parse_and_eval(word)) for word in words)]
        return search(STREAM_MAGIC, place)
    return known_streams() or search(STREAM_MAGIC, list(ranges()))


def directory_of(stream):
    places = [header_at(at, DIRECTORY_MAGIC) for at in words_at("pxt_directory", 1) if at]
    for header in [one for one in places if one] + search(DIRECTORY_MAGIC, list(ranges())):
        if header.key == stream.key:
            return header
    return None


def describe(header):
    lanes, slots = header.get("II", 88)
    gate = memory(header.at + header.get("I", 136)[0], 4)
    state = struct.unpack(header.order + "I", gate)[0] & 3 if gate else 3
    name_at, name_bytes = header.get("II", 240)
    name = (memory(header.at + name_at, min(name_bytes, 256)) or b"").split(b"\0")[0]
    text = name.decode("utf-8", "backslashreplace")
    text = "".join(c if c.isprintable() else "?" for c in text)
    return f"{header.pid:8}  {STATES.get(state, '?'):8} {lanes:5} {slots:9} " \
        f"{header.at:#18x} {header.bytes:12}  {text}"


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
        with open(words[1], "wb") as file:
            file.write(out)
        gdb.write(f"{words[1]}: {len(out)} bytes; pxtrace recover {words[1]} -o LOG\n")


Group()
Streams()
Dump()
