#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A reader of one's own: it looks into a ring that its program is just writing. (ZEP-14)

    own_reader.py PXTRACE BOX

It knows FORMAT.md, section 11, and nothing of the library, and maps the stream's file for reading alone.
While the program runs, each thread's events come without a gap in a stream with room, and in their
order in one that overwrites. When it was killed, the events are those that pxtrace recover finds.
"""
import mmap
import signal
import struct
import subprocess
import sys
import tempfile
import time

MAGIC = b"PXTRACE\x01STREAM\n\0"
BEGIN = 0x80000000
TAG = 0x7fffffff
WHOLE = 0
THREADS = 3


def fail(*what):
    print("FAILED:", *what)
    sys.exit(1)


class Ring:
    """The one lane of a stream's file, which the program may be writing."""

    def __init__(self, memory):
        self.memory = memory
        if memory[:16] != MAGIC:
            fail("no magic number")
        self.order = "<" if memory[16:20] == b"\x04\x03\x02\x01" else ">"
        self.directory, = self.at("Q", 48)
        self.words, self.next_at = self.at("Q", 72)[0], self.at("I", 68)[0]
        lanes, self.slots, self.form, self.cell_bytes, self.cells = self.at("5I", 88)
        self.cursor_at, = self.at("I", 108)
        self.context, = self.at("I", 124)
        # Nobody else reads, so that the reader's place is the first position that there was.
        self.first, = self.at("Q", self.words + self.next_at)
        if self.at("I", 20) != (3,) or lanes != 1:
            fail("another version, or several lanes")

    def at(self, form, offset):
        return struct.unpack_from(self.order + form, self.memory, offset)

    def end(self):
        """The position behind the youngest record; this program does not record 2^30 slots."""
        if self.form == WHOLE:
            return self.at("Q", self.words + self.cursor_at)[0] >> 32
        return self.at("I", self.words + self.cursor_at)[0] >> 2

    def slot(self, pos):
        """(word 0, the other 12 bytes); None: it is just being written."""
        offset = self.cells + pos % self.slots * self.cell_bytes
        cell = self.memory[offset:offset + self.cell_bytes]
        if self.form == WHOLE:
            return cell[:4], cell[4:]
        words = struct.unpack(self.order + "8I", cell)
        laps = {half >> 16 for half in words[1:7]}
        if laps != {(words[0] & TAG) // self.slots & 0xffff}:
            return None
        low_first = (1, 2, 3, 4, 5, 6) if self.order == "<" else (2, 1, 4, 3, 6, 5)
        return cell[:4], struct.pack(self.order + "6H", *(words[i] & 0xffff for i in low_first))

    def look(self, pos, count):
        """@count slots from @pos on that belong to one record, twice alike; None: they do not."""
        slots = [self.slot(pos + i) for i in range(count)]
        if None in slots or slots != [self.slot(pos + i) for i in range(count)]:
            return None
        tags = [struct.unpack(self.order + "I", first)[0] for first, _ in slots]
        number = tags[0] & self.slots - 1
        for i, tag in enumerate(tags):
            wanted = pos + i & ~(self.slots - 1) & TAG | number
            if tag != (wanted | BEGIN if i == 0 else wanted):
                return None
        return [rest for _, rest in slots]

    def is_rest(self, pos):
        """Whether the slot at @pos is one of a record that began before."""
        slot = self.slot(pos)
        tag = struct.unpack(self.order + "I", slot[0])[0] if slot else BEGIN
        return not tag & BEGIN and (tag ^ pos) & TAG < self.slots

    def record(self, pos):
        """(slots, event type, data) of the record that begins at @pos, or None."""
        first = self.look(pos, 1)
        if first is None:
            return None
        info, = struct.unpack(self.order + "I", first[0][:4])
        if info & 1023 == 29:
            return 1, 29, b""
        extra = 12 if info & 1 << 23 else 0
        data_bytes = info >> 10 & 0xfff
        count = 1 + -(-(self.context + extra + data_bytes) // 12)
        whole = self.look(pos, count)
        if whole is None or whole[0] != first[0]:
            return None
        payload = b"".join(whole[1:])[self.context + extra:]
        return count, info & 1023, payload[:data_bytes]

    def type_of(self, name):
        base = self.directory
        name_bytes, = self.at("I", base + 88)
        count_at, _, first = self.at("3I", base + 96)
        first_type, = self.at("I", base + 116)
        for i in range(self.at("I", base + count_at)[0]):
            at = base + first + i * name_bytes
            if self.memory[at:at + name_bytes].split(b"\0")[0] == name:
                return first_type + i
        return fail("no type", name)


def read(ring, kind, pos, is_dead=False):
    """What is whole from @pos on, or from the oldest place: [(thread, number)], and where it ends."""
    story = []
    end = ring.end()
    pos = max(pos, end - ring.slots, ring.first)
    while pos < end:
        record = ring.record(pos)
        if record is None:
            oldest = max(ring.end() - ring.slots, ring.first)
            if pos < oldest:  # overwritten meanwhile: half of the ring is left to the writers
                pos = oldest + ring.slots // 2
            elif is_dead or ring.is_rest(pos):
                pos += 1
            else:  # not whole yet
                break
            continue
        slots, found, data = record
        if found == kind:
            story.append(struct.unpack(ring.order + "2I", data))
        pos += slots
    return story, pos


def check(story, without_gaps, setting):
    last = {}
    for thread, number in story:
        expected = last.get(thread, -1) + 1
        if number < expected or (without_gaps and number != expected):
            fail(setting, f"thread {thread}: {number} comes where {expected} should")
        last[thread] = number


def recovered(pxtrace, folder):
    log = f"{folder}/log.ptl"
    subprocess.run([pxtrace, "recover", f"{folder}/box", "-o", log], check=False, capture_output=True)
    text = subprocess.run([pxtrace, "print", "--incomplete", "--event", "job", "--format",
                           "{field:who} {field:number}", log], check=False, capture_output=True, text=True)
    return [tuple(map(int, line.split())) for line in text.stdout.splitlines()
            if line[:1].isdigit()]


def follow(pxtrace, leave, folder, policy):
    words = [leave, "box", f"{folder}/box", f"{folder}/counts", policy, "1", str(THREADS), str(1 << 18)]
    with subprocess.Popen(words, stdout=subprocess.PIPE) as child:
        if child.stdout.readline() != b"ready\n":
            sys.exit(child.wait())
        with open(f"{folder}/box", "rb") as file, \
                mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ) as memory:
            ring = Ring(memory)
            kind = ring.type_of(b"job")
            story, pos, looks = [], 0, 0
            until = time.monotonic() + 30
            while looks < 20 and time.monotonic() < until:
                more, pos = read(ring, kind, pos)
                story += more
                looks += bool(more or story and policy == "until_full")
                time.sleep(0.002)
            child.send_signal(signal.SIGKILL)
            child.wait()
            if not story:
                fail(policy, f"nothing was read while it ran, from {pos} to {ring.end()}")
            if policy == "until_full":
                story += read(ring, kind, pos, is_dead=True)[0]
            check(story, policy == "until_full", policy)
            left, _ = read(ring, kind, 0, is_dead=True)
    found = recovered(pxtrace, folder)
    if policy == "until_full" and sorted(story) != sorted(found):
        fail(policy, f"{len(story)} events were read while it ran, and {len(found)} recovered")
    if not left or left != found:
        fail(policy, f"{len(left)} events are left, and {len(found)} recovered: others")
    print(policy, len(story), "events while it ran,", len(left), "afterwards")


def main():
    for policy in ("until_full", "loop"):
        with tempfile.TemporaryDirectory() as folder:
            follow(sys.argv[1], sys.argv[2], folder, policy)


if __name__ == "__main__":
    main()
