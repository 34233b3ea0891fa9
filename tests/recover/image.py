# SPDX-License-Identifier: MIT
"""A stream's memory as FORMAT.md, section 11, describes it: nothing here knows the library's code.

Its parts lie elsewhere than the library puts them, so that a reader has to read the header.
"""
import struct

STREAM_MAGIC = b"PXTRACE\x01STREAM\n\0"
DIRECTORY_MAGIC = b"PXTRACE\x01THREAD\n\0"
WHOLE, WORDS = 0, 1
LOOP, UNTIL_FULL, FLUSH, DISCARD = 1, 2, 3, 5
STOPPED, RUNNING, FULL = 0, 1, 2
START, STOP, MARK, VOID, JOB, NOTE = 2, 3, 29, 30, 32, 33
BEGIN = 0x80000000
HZ = 1_000_000_000
CREATED = 5_000_000
STREAM_LABEL = 256
MASK32 = 0xffffffff


class Form:
    """Byte order, word size, and how writers keep what they change."""

    def __init__(self, order="<", word=8, form=WHOLE):
        self.order, self.word, self.form = order, word, form

    def __str__(self):
        return f"{'little' if self.order == '<' else 'big'} endian, {8 * self.word} bits, " \
            f"{'words' if self.form else 'whole'}"

    def pack(self, form, *values):
        return struct.pack(self.order + form, *values)

    def cursor(self, pos, seq, closed=False, behind=False):
        """Position and record number of a lane's end; @behind: its followers are to be brought up."""
        pos32, seq31 = pos & MASK32, seq & 0x7fffffff
        if self.form == WHOLE:
            return self.pack("Q", pos32 << 32 | seq31 << 1 | closed)
        tail = (pos32 << 2 | (seq & 1) << 1 | closed) & MASK32
        return self.pack("3I", tail, seq - behind & MASK32, (pos >> 29) - behind & MASK32)

    def epoch(self, pos, seq, behind=False):
        """How often both ran through a quarter; @behind: as before the last time."""
        halves = [(quarter - behind << 30 | (quarter - behind & MASK32) >> 2) & MASK32
                  for quarter in (pos >> 30, seq >> 29)]
        if self.form == WHOLE:
            return self.pack("Q", halves[0] << 32 | halves[1])
        return self.pack("2I", *halves)

    def counter(self, value):
        if self.form == WHOLE:
            return self.pack("Q", value)
        return self.pack("2I", value & MASK32, value >> 31)

    def wide(self, value):
        if self.form == WHOLE:
            return self.pack("Q", value)
        low, high = value & MASK32, value >> 32
        return self.pack("3I", low, high, low ^ high)


class Lane:
    """One lane, as its writers left it."""

    def __init__(self, stream, pos=None, seq=0):
        self.stream, self.form = stream, stream.form
        self.slots = stream.slots
        self.pos = self.slots if pos is None else pos
        self.seq = seq
        self.next = (self.pos, self.seq)
        self.limit = None
        self.refused = 0
        self.oob_pos = []
        self.closed = self.behind = self.late_epoch = False
        self.cell_bytes = 16 if self.form.form == WHOLE else 32
        self.cells = bytearray(self.slots * self.cell_bytes)
        if self.form.form == WORDS:
            for at in range(self.slots):
                struct.pack_into(self.form.order + "I", self.cells, at * 32 + 28,
                                 self.slots.bit_length() - 1)

    def tag(self, pos, seq):
        mask = self.slots - 1
        return (pos & ~mask | seq & mask) & 0x7fffffff

    def store(self, pos, first, payload, half=7):
        """One slot: word 0, and the other 12 bytes; WORDS: as many of its seven stores as @half."""
        at = pos % self.slots * self.cell_bytes
        if self.form.form == WHOLE:
            self.cells[at:at + 16] = self.form.pack("I", first) + payload
            return
        lap = (first & 0x7fffffff) >> (self.slots.bit_length() - 1) & 0xffff
        words = struct.unpack(self.form.order + "3I", payload)
        halves = [lap << 16 | word >> shift & 0xffff for word in words for shift in (0, 16)]
        for i, value in enumerate(halves[:half]):
            struct.pack_into(self.form.order + "I", self.cells, at + 4 + 4 * i, value)
        if half > 6:
            struct.pack_into(self.form.order + "I", self.cells, at, first)

    def reserve(self, slots, records=1):
        pos, seq = self.pos, self.seq
        self.pos += slots + (records and seq & 0x7fffffff == 0x7fffffff)
        self.seq += records
        return pos, seq

    def put(self, ticks, number=0, kind=JOB, data=None, thread=1, address=0x401000, cpu=255,
            cut=False, leave=(), half=7, extra=None):
        """A record; @leave: slots of it that were never stored ("all": none was)."""
        form = self.form
        context = (thread | address << 16).to_bytes(8, "little")[:self.stream.context]
        if data is None:
            data = form.pack("I", number)
        payload = context + (extra or b"") + data
        payload += bytes(-len(payload) % 12)
        slots = 1 + len(payload) // 12
        pos, seq = self.reserve(slots)
        if leave == "all":
            return
        info = kind | len(data) << 10 | cut << 22 | bool(extra) << 23 | cpu << 24
        pieces = [form.pack("3I", info, ticks & MASK32, ticks >> 32)]
        pieces += [payload[at:at + 12] for at in range(0, len(payload), 12)]
        for i, piece in enumerate(pieces):
            if i not in leave:
                self.store(pos + i, self.tag(pos + i, seq) | (BEGIN if i == 0 else 0), piece,
                           half if i == len(pieces) - 1 else 7)

    def void(self, slots):
        pos, seq = self.reserve(slots)
        self.store(pos, self.tag(pos, seq) | BEGIN, self.form.pack("3I", VOID, slots, 0))

    def mark(self, number, kind=0):
        """@kind: 0 a START or STOP is here; 1 so many were refused."""
        pos, seq = self.reserve(1, 0)
        self.store(pos, self.tag(pos, seq) | BEGIN,
                   self.form.pack("3I", MARK | kind << 10, number & MASK32, number >> 32))

    def spoil(self, pos, half):
        """WORDS: a writer that was stopped for laps has put one of its six halves there."""
        at = pos % self.slots * 32 + 4 + 4 * half
        value, = struct.unpack_from(self.form.order + "I", self.cells, at)
        struct.pack_into(self.form.order + "I", self.cells, at, value + 0x30000 & MASK32)

    def read(self):
        """The process' own reader took everything so far."""
        self.next = (self.pos, self.seq)

    def words(self):
        form = self.form
        limit = self.next[0] if self.limit is None else self.limit
        out = bytearray(96)
        out[0:8] = form.counter(self.refused)
        cursor = form.cursor(self.pos, self.seq, self.closed, self.behind)
        out[16:16 + len(cursor)] = cursor
        out[32:40] = form.epoch(self.pos, self.seq, self.late_epoch)
        out[44:48] = form.pack("I", limit & MASK32)
        out[64:80] = form.pack("QQ", *self.next)
        for i, pos in enumerate(self.oob_pos):
            out[80 + 4 * i:84 + 4 * i] = form.pack("I", pos)
        return bytes(out)


class Stream:
    """A stream's block."""
    LANES_AT, LANE, GAP = 1024, 96, 160  # ... and what stands between words and cells

    def __init__(self, form, lanes=1, slots=64, policy=LOOP, name=b"flight", key=0x1122334455667788,
                 thread=True, address=True, **place):
        self.form, self.slots, self.policy, self.name, self.key = form, slots, policy, name, key
        self.thread, self.address = thread, address
        self.context = 2 * thread + (6 if form.word == 8 else 4) * address
        self.gate = RUNNING
        self.retrieved = self.lost = self.cleared = self.oob_records = self.barriers = 0
        self.oobs = []
        self.directory_at = self.procinfo_at = self.procinfo_bytes = 0
        self.state_at = 64
        self.lanes = [Lane(self, **place) for _ in range(lanes)]

    def marks(self):
        self.barriers += 1
        for lane in self.lanes:
            lane.mark(self.barriers)

    def control(self, kind, ticks):
        """START or STOP by call: behind a mark in each lane, in lane 0."""
        if len(self.lanes) > 1:
            self.marks()
        data = bytes(128) if kind == START else self.form.pack("i", 0)
        self.lanes[0].put(ticks, kind=kind, data=data)

    def side(self, kind, ticks, automatic=False, thread=1):
        """The same beside the lanes."""
        data = bytes(128) if kind == START else self.form.pack("i", automatic)
        form = self.form
        self.oob_records += not automatic
        oob = form.pack("IIQQ", kind | len(data) << 10 | 255 << 24, automatic, ticks, thread)
        if kind != START:
            oob += data
        for lane in self.lanes:
            lane.oob_pos.append(lane.pos & MASK32)
        self.oobs.append(oob.ljust(32, b"\0"))

    def header(self, size, cells_at):
        form = self.form
        out = STREAM_MAGIC + form.pack("IIQQiI", 0x01020304, 3, size, self.key, 4711, form.word)
        out += form.pack("QQIIQQ", self.directory_at, self.procinfo_at, self.procinfo_bytes, self.state_at,
                         self.LANES_AT, self.LANE)
        out += form.pack("IIIIIIIII", len(self.lanes), self.slots, form.form,
                         self.lanes[0].cell_bytes, cells_at, 16, 32, 0, 44)
        out += form.pack("IIIIIIII", self.context, self.thread, self.address, 256, 264, 400, 32, 2)
        out += form.pack("IIIIIQQ", self.policy, 1024, 2, 7, 0, HZ, CREATED)
        out += form.pack("3q3I", 1_700_000_000, 5000, 5001, 250_000_000, 500_000_000, 500_000_000)
        return out + form.pack("7I", 4095, 304, 20, 352, 32, 80, 480)

    def bytes(self):
        lanes = b"".join(lane.words() for lane in self.lanes) + bytes(self.GAP)
        cells = b"".join(bytes(lane.cells) for lane in self.lanes)
        cells_at = self.LANES_AT + len(lanes)
        form = self.form
        out = bytearray(self.LANES_AT)
        header = self.header(cells_at + len(cells), cells_at)
        assert len(header) == STREAM_LABEL
        out[0:STREAM_LABEL] = header
        out[256:260] = form.pack("I", self.gate | 64)
        out[264:304] = form.pack("5Q", self.retrieved, self.lost, self.cleared, self.oob_records,
                                 self.barriers)
        out[304:304 + 20] = b"image 1".ljust(20, b"\0")
        out[352:352 + 32] = self.name.ljust(32, b"\0")
        for i, side in enumerate(self.oobs):
            out[400 + 32 * i:400 + 32 * (i + 1)] = side
        return bytes(out) + lanes + cells


class Directory:
    """A process' names and threads."""
    ENTRY, ENTRIES, NAME, NAMES = 64, 8, 24, 6

    def __init__(self, form, key=0x1122334455667788):
        self.form, self.key = form, key
        self.threads = [(0x7f0000001000, 4711, 4712, b"control", 0),
                        (0x7f0000002000, 4711, 0, b"unasked", 1)]
        self.names = [(b"job", b"u32 number"), (b"note", b"")]

    def bytes(self):
        form = self.form
        entries_at = 384
        count_at = entries_at + self.ENTRY * self.ENTRIES
        first_at = count_at + 8
        formats_at = first_at + self.NAME * self.NAMES
        pool_at = formats_at + 4 * self.NAMES
        size = pool_at + 64
        out = bytearray(size)
        out[0:48] = DIRECTORY_MAGIC + form.pack("IIQQiI", 0x01020304, 3, size, self.key, 4711,
                                                form.word)
        out[48:128] = form.pack("20I", 352, entries_at, self.ENTRY, self.ENTRIES, 4, 8, 20, 24, 32,
                                count_at, self.NAME, self.NAMES, count_at, formats_at, first_at,
                                pool_at, 64, 32, form.form, 750_000_000)
        out[128:256] = b"/opt/app/control".ljust(128, b"\0")
        out[256:320] = b"box".ljust(64, b"\0")
        out[320:328] = form.pack("q", 1_699_999_999)
        out[352:356] = form.pack("I", len(self.threads))
        for i, (thread, pid, tid, name, passes) in enumerate(self.threads, 1):
            at = entries_at + self.ENTRY * i
            out[at + 4:at + 8] = form.pack("I", passes)
            wide = form.wide(thread & (MASK32 if form.word == 4 else thread))
            out[at + 8:at + 8 + len(wide)] = wide
            out[at + 20:at + 28] = form.pack("ii", pid, tid)
            out[at + 32:at + 48] = name.ljust(16, b"\0")
        out[count_at:count_at + 4] = form.pack("I", len(self.names))
        pool = b""
        for i, (name, text) in enumerate(self.names):
            out[first_at + self.NAME * i:first_at + self.NAME * (i + 1)] = \
                name.ljust(self.NAME, b"\0")
            if text:
                out[formats_at + 4 * i:formats_at + 4 * i + 4] = form.pack("I", len(pool) + 1)
                pool += text + b"\0"
        out[pool_at:pool_at + len(pool)] = pool
        return bytes(out)


PROCINFO = b"""executable /opt/app/control
host box
system armv7l Linux 6.6.1
cpus 6
started 1699999999.750000000
colour green
module 400000 401000 402000 0123456789abcdef /opt/app/control
module 7f0000000000 7f0000001000 7f0000002000 - /lib/none.so
module 7f0000000000 7f00 - broken
"""


def box(stream):
    """A black box: the stream, then its directory, then process information."""
    directory = Directory(stream.form, stream.key).bytes()
    size = len(stream.bytes())
    stream.directory_at = (size + 4095) // 4096 * 4096
    stream.procinfo_at = stream.directory_at + len(directory)
    stream.procinfo_bytes = len(PROCINFO)
    return stream.bytes().ljust(stream.directory_at, b"\0") + directory + PROCINFO


def core(form, pieces):
    """A core file with PT_LOAD segments of (address, bytes); order and class of @form."""
    wide = form.word == 8
    head, each = (64, 56) if wide else (52, 32)
    offset = head + each * (len(pieces) + 1)
    out = b"\x7fELF" + bytes([2 if wide else 1, 1 if form.order == "<" else 2, 1]) + bytes(9)
    if wide:
        out += form.pack("HHIQQQIHHHHHH", 4, 62, 1, 0, head, 0, 0, head, each, len(pieces) + 1, 0, 0, 0)
        out += form.pack("IIQQQQQQ", 4, 0, offset, 0, 0, 0, 0, 4)
    else:
        out += form.pack("HHIIIIIHHHHHH", 4, 3, 1, 0, head, 0, 0, head, each, len(pieces) + 1, 0, 0, 0)
        out += form.pack("8I", 4, offset, 0, 0, 0, 0, 0, 4)
    for at, data in pieces:
        if wide:
            out += form.pack("IIQQQQQQ", 1, 6, offset, at, 0, len(data), len(data), 4096)
        else:
            out += form.pack("8I", 1, offset, at, 0, len(data), len(data), 6, 4096)
        offset += len(data)
    return out + b"".join(data for _, data in pieces)


def small(form, contents=1 | 2 | 4 | 16, turns=0):
    """A smallest Core's memory: its label, a ring of 32 slots, a name, a task that lives and one that ended.

    @turns: how often the counter of records that are gone was at its end."""
    base, pointer = 0x20000000, "I" if form.word == 4 else "Q"
    label = 96 + 9 * form.word
    state, slots, names, tasks = 256, 512, 1024, 1088
    parts = (0, state, slots, names, names + 56, names + 32, names + 48, names + 60, tasks + 128)
    out = bytearray(2048)
    out[:96] = b"PXTRACE\x01SMALL\n\0\0" + form.pack(
        "4IQ2IiI4H16H", 0x01020304, 1, form.word, contents, 1000000, 0, 100, 1, 32, 32, 16, 32, 8,
        0, 4, 8, 12, 16, 20, 24, 28, 36, 44, 52, 60, 68, 76, 48, 56)
    out[96:label] = form.pack(f"9{pointer}", *(base + part for part in parts))
    # Stamps from 1,000 on; 4 records were put, 1 overwritten, none read or cleared.
    out[state:state + 84] = form.pack("7I6IQq", 1, 1, 31, 32, 38, 33, 4, 1, turns, 0, 0, 0, 0, 1000, 1) + form.pack("Q", 5)
    out[state + 76:state + 82] = b"flight"
    cells = ((33, (32 | 4 << 10, 0x1234, 1100, 7 << 16)), (34, (41, 0, 0, 0)),
             (35, (23 | 1 << 10 | 1 << 23 | 9 << 24, 7 | 8 << 16, 1200, 8 << 16)),
             (36, (32 | 4 << 10 | 1 << 22, 0x1234, 1300, 0x8003 << 16)), (37, (42, 0, 0, 0)))
    for at, words in cells:
        form_at = slots + at % 32 * 16
        out[form_at:form_at + 16] = form.pack("4I", *words)
    out[names:names + 4] = b"job\0"
    out[names + 32:names + 43] = b"u32 number\0"
    out[names + 48:names + 50] = form.pack("H", 1)
    out[names + 56:names + 60] = form.pack("I", 1)
    place = names + 60
    out[place:place + form.word] = form.pack(pointer, base + tasks)
    out[tasks + 48:tasks + 52] = form.pack("I", 7)
    out[tasks + 56:tasks + 56 + form.word] = form.pack(pointer, base + tasks + 96)
    out[tasks + 96:tasks + 104] = b"control\0"
    out[tasks + 128:tasks + 144] = form.pack("I", 8) + b"logger\0\0\0\0\0\0"
    return bytes(out)
