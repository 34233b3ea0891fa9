#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Images that are put together from FORMAT.md, and what pxtrace recover must make of them. (ZEP-14)

    check_images.py PXTRACE SCENE           in both byte orders, word sizes and forms
    check_images.py --make FOLDER           the images of all state, as a corpus
    check_images.py --debugger IMAGE WHERE [FAULT]
                                            a debugger's server, as pxtrace recover meets it.  The target's memory is
                                            IMAGE, from address 0x1000 on; WHERE is written when the server listens.
                                            FAULT: spoilt (one answer's sum is wrong at first), errors (no memory can
                                            be read), noise (no packets), leaves, processes (GDB was there before,
                                            which tells them apart: so does the server).  Exit status 1: the target
                                            was left halted
"""
import json
import os
import pathlib
import re
import socket
import subprocess
import sys
import tempfile

import image
from image import (BEGIN, DISCARD, FLUSH, FULL, LOOP, NOTE, START, STOP, STOPPED, UNTIL_FULL, Directory,
                   Form, Stream, box)

FORMS = [Form(order, word, form) for order in "<>" for word in (8, 4)
         for form in (image.WHOLE, image.WORDS)]
GAP = ["posix_trace_overflow", "posix_trace_resume"]


def jobs(*numbers):
    return [f"job {number}" for number in numbers]


# Each state returns an image, the lines that are expected of it, and options of recover.

def plain(form):
    """Everything is whole: nothing is lost."""
    stream = Stream(form, policy=UNTIL_FULL)
    stream.control(START, 5_000_100)
    for i in range(5):
        stream.lanes[0].put(5_001_000 + i, i)
    stream.control(STOP, 5_002_000)
    stream.gate = STOPPED
    return box(stream), ["posix_trace_start"] + jobs(*range(5)) + ["posix_trace_stop"], []


def laps(form):
    """Three times round: what is left, and exactly how many are gone."""
    stream = Stream(form, slots=32)
    size = len(form.pack("I", 0)) + stream.context
    each = 1 + -(-size // 12)
    for i in range(100):
        stream.lanes[0].put(5_000_000 + 10 * i, i)
    left = 32 // each
    return box(stream), [f"lost {100 - left}"] + GAP + jobs(*range(100 - left, 100)), []


def torn(form):
    """What was begun and never finished is counted where it is missing, and never shown."""
    lane = (stream := Stream(form)).lanes[0]
    lane.put(5_000_001, 1)
    lane.put(5_000_002, 2, leave=(1,))
    lane.put(5_000_003, 3)
    lane.put(5_000_004, 4, leave="all")
    lane.put(5_000_005, 5, leave=(0,))
    lane.put(5_000_006, 6)
    lane.put(5_000_007, 7, half=3 if form.form else 7, leave=() if form.form else (1,))
    return box(stream), jobs(1) + ["lost 1"] + jobs(3) + ["lost 2"] + jobs(6) + ["lost 1"], []


def torn_first(form):
    """The oldest record is the one that was not finished."""
    lane = (stream := Stream(form)).lanes[0]
    lane.put(5_000_001, 1, leave="all")
    lane.put(5_000_002, 2)
    return box(stream), ["lost 1"] + jobs(2), []


def nothing_but_torn(form):
    """Nobody finished anything."""
    lane = (stream := Stream(form)).lanes[0]
    for i in range(3):
        lane.put(5_000_001, i, leave="all")
    return box(stream), ["lost 3"], []


def stale(form):
    """Slots of the lap before stand where a record was reserved: they are not taken for it."""
    lane = (stream := Stream(form, slots=32, thread=False, address=False)).lanes[0]
    for i in range(16):
        lane.put(5_000_000 + i, i)
    lane.put(5_000_100, 16, leave="all")
    lane.put(5_000_101, 17)
    return box(stream), ["lost 2"] + GAP + jobs(*range(2, 16)) + ["lost 1"] + jobs(17), []


def spoiled(form):
    """A writer that had stood still for laps has spoiled a slot: that record is lost."""
    lane = (stream := Stream(form)).lanes[0]
    for i in range(3):
        at = lane.pos
        lane.put(5_000_000 + i, i)
        if i == 1 and form.form == image.WORDS:
            lane.spoil(at + 1, 4)
    return box(stream), jobs(0, 1, 2) if form.form == image.WHOLE else jobs(0) + ["lost 1"] + \
        jobs(2), []


def lap_of_single_slots(form):
    """As many records in a lap as it has slots: the oldest one's number ends like the next one's."""
    lane = (stream := Stream(form, slots=32, thread=False, address=False)).lanes[0]
    for i in range(40):
        lane.put(5_000_000 + i, kind=NOTE, data=b"")
    return box(stream), ["lost 8"] + GAP + ["note"] * 32, []


def voids(form):
    """Places that writers gave up, who came behind a stop."""
    lane = (stream := Stream(form)).lanes[0]
    lane.put(5_000_001, 1)
    lane.void(3)
    lane.put(5_000_002, 2)
    lane.void(2)
    return box(stream), jobs(1) + ["lost 1"] + jobs(2) + ["lost 1"], []


def lanes(form):
    """The smallest front of the lanes comes first, of equal ones that of the first lane."""
    one, two, three, four = (stream := Stream(form, lanes=4)).lanes
    one.put(5_000_010, 1)
    two.put(5_000_005, 0)
    two.put(5_000_020, 3)
    one.put(5_000_015, 2)
    three.put(5_000_020, 4)
    three.put(5_000_040, 8)
    three.put(5_000_039, 9)  # read too early: a lane keeps its order
    four.put(5_000_039, 7, thread=2)
    one.put(5_000_030, 5)
    one.put(5_000_038, 6)
    return box(stream), jobs(0, 1, 2, 3, 4, 5, 6, 7, 8, 9), []


def barriers(form):
    """STOP and START part what stamps alone would mix; a lane without the last mark is at its end."""
    one, two = (stream := Stream(form, lanes=2)).lanes
    stream.control(START, 5_000_001)
    one.put(5_000_010, 1)
    two.put(5_000_900, 2)
    stream.control(STOP, 5_000_020)
    stream.control(START, 5_000_030)
    two.put(5_000_025, 3)
    one.put(5_000_040, 4)
    stream.barriers += 1
    one.mark(stream.barriers)
    start, stop = "posix_trace_start", "posix_trace_stop"
    return box(stream), [start] + jobs(1, 2) + [stop, start] + jobs(3, 4), []


def sides(form):
    """START and STOP that had found no room; then it stopped by itself, and refused some."""
    one, two = (stream := Stream(form, lanes=2, policy=UNTIL_FULL)).lanes
    one.put(5_000_010, 1)
    two.put(5_000_050, 2)  # before what has an earlier stamp behind them
    stream.side(STOP, 5_000_015)
    stream.side(START, 5_000_030)
    two.put(5_000_029, 3)
    one.put(5_000_040, 4)
    stream.gate = FULL
    one.refused = 3
    two.refused = 4
    return box(stream), jobs(1, 2) + ["posix_trace_stop", "posix_trace_start"] + jobs(3, 4) + \
        ["posix_trace_stop", "lost 7"], []


def refusals(form):
    """DISCARD: marks that say how many were refused are no START or STOP: they part nothing."""
    one, two = (stream := Stream(form, lanes=2, policy=DISCARD)).lanes
    one.put(5_000_010, 1)
    one.mark(3, kind=1)
    one.put(5_000_030, 3)
    two.put(5_000_020, 2)
    stream.control(STOP, 5_000_035)
    two.mark(1, kind=1)
    two.put(5_000_040, 4)
    one.refused = 3
    two.refused = 2
    return box(stream), ["lost 5"] + jobs(1, 2, 3) + ["posix_trace_stop"] + jobs(4), []


def beyond_belief(form):
    """Counts that no stream lived to are taken for none: together they would run over."""
    stream = Stream(form, lanes=4)
    for lane in stream.lanes:
        lane.refused = (1 << 63) - 1
    stream.lanes[0].put(5_000_001, 1)
    return box(stream), jobs(1), []


def read_stream(form):
    """The process' own reader had taken some, and had counted losses."""
    one, two = (stream := Stream(form, lanes=2, policy=FLUSH)).lanes
    one.put(5_000_001, 1)
    two.put(5_000_002, 2, leave="all")
    two.put(5_000_003, 3)
    two.put(5_000_003, 0, leave="all")
    two.put(5_000_003, 5)
    stream.retrieved, stream.lost = 3, 2
    one.read()
    two.read()
    one.put(5_000_004, 4)
    return stream


def unread(form):
    """What the reader took is left out; what it lost is told once."""
    return box(read_stream(form)), ["lost 2"] + jobs(4), []


def everything(form):
    """--all takes what is still whole; what was lost among it is not counted twice."""
    return box(read_stream(form)), ["lost 2"] + jobs(1, 3, 5, 4), ["--all"]


def lapped_reader(form):
    """A reader was overtaken: lost is what it had not read."""
    lane = (stream := Stream(form, slots=32, thread=False, address=False)).lanes[0]
    for i in range(10):
        lane.put(5_000_000 + i, i)
    stream.retrieved = 10
    lane.read()
    lane.limit = lane.next[0] - 4  # writers are told late
    for i in range(10, 40):
        lane.put(5_000_000 + i, i)
    return box(stream), ["lost 14"] + GAP + jobs(*range(24, 40)), []


def died_between(form):
    """The reader died between its two words: the slot tells its number."""
    lane = (stream := Stream(form)).lanes[0]
    lane.put(5_000_001, 1)
    stream.retrieved = 1
    lane.next = (lane.pos, lane.seq - 1)
    lane.put(5_000_002, 2)
    return box(stream), jobs(2), []


def wraps(form):
    """Positions and numbers beyond 32 and 31 bits; one record leaves a slot unused."""
    pos, seq = (1 << 34) - 4, (5 << 31) - 3
    lane = (stream := Stream(form, pos=pos, seq=seq)).lanes[0]
    for i in range(8):
        lane.put(5_000_000 + i, i)
    return box(stream), jobs(*range(8)), []


def late_epoch(form):
    """A thread that ran through a quarter died before it could say so."""
    pos, seq = (7 << 30) - 8, (6 << 29) - 3
    lane = (stream := Stream(form, slots=32, thread=False, address=False, pos=pos, seq=seq)).lanes[0]
    for i in range(20):
        lane.put(5_000_000 + i, i)
    lane.late_epoch = True
    return box(stream), ["lost 4"] + GAP + jobs(*range(4, 20)), []


def followers(form):
    """Words that a writer died before bringing up are one behind, which their parity tells."""
    pos = (1 << 29) - 20
    lane = (stream := Stream(form, slots=32, thread=False, address=False, pos=pos)).lanes[0]
    for i in range(41):
        lane.put(5_000_000 + i, i)
    lane.behind = form.form == image.WORDS
    return box(stream), ["lost 25"] + GAP + jobs(*range(25, 41)), []


def payloads(form):
    """No data, much data, data that was cut, a thread without place in the table."""
    lane = (stream := Stream(form, slots=1024)).lanes[0]
    lane.put(5_000_001, kind=NOTE, data=b"")
    lane.put(5_000_002, kind=NOTE, data=bytes(range(256)) * 15 + b"x" * 255)
    lane.put(5_000_003, kind=NOTE, data=b"half", cut=True, cpu=3)
    lane.put(5_000_004, 7, thread=0xffff,
             extra=(0x1234).to_bytes(8, "little") + (99).to_bytes(4, "little"))
    return box(stream), ["note", "note", "note"] + jobs(7), []


def no_context(form):
    """Neither thread nor address is recorded: records of one slot."""
    lane = (stream := Stream(form, thread=False, address=False)).lanes[0]
    lane.put(5_000_001, kind=NOTE, data=b"")
    lane.put(5_000_002, kind=NOTE, data=b"")
    lane.put(5_000_003, 3)
    return box(stream), ["note", "note"] + jobs(3), []


def without_names(form):
    """No directory: types get numbers for names."""
    lane = (stream := Stream(form)).lanes[0]
    lane.put(5_000_001, 1)
    return stream.bytes(), ["type_32"], []


def dump(form):
    """Two processes in a memory dump, at places that only search finds; rubbish between."""
    first, second = Stream(form, name=b"first", key=1), Stream(form, name=b"second", key=2)
    first.lanes[0].put(5_000_001, 1)
    second.lanes[0].put(5_000_002, 2)
    others = Directory(form, 1)
    others.names = [(b"nothing", b"u32 colour")]
    out = b"\xee" * 4100 + others.bytes()
    out += b"PXTRACE\x01STREAM\n\0 in the text of a program".ljust(52, b"\0")
    out += first.bytes() + b"\x55" * 12 + second.bytes() + bytes(20) + Directory(form, 2).bytes()
    return out, jobs(2), ["--stream", "second"]


def far(form):
    """A memory dump is read in pieces; a header lies across the end of one."""
    lane = (stream := Stream(form)).lanes[0]
    lane.put(5_000_001, 1)
    return bytes((1 << 20) - 8) + stream.bytes() + Directory(form).bytes(), jobs(1), []


def segments(form):
    """A core file; the block lies across two of its segments, which touch each other."""
    lane = (stream := Stream(form)).lanes[0]
    for i in range(3):
        lane.put(5_000_000 + i, i)
    block, directory = stream.bytes(), Directory(form).bytes()
    cut = 1200
    return image.core(form, [(0x90000, b"nothing" * 100), (0x40000 + cut, block[cut:]),
                             (0x40000, block[:cut]), (0x20000, directory)]), jobs(*range(3)), []


def too_short(form):
    """The slots of the second lane are not in the file any more, but what it says of them is."""
    one, two = (stream := Stream(form, lanes=2)).lanes
    one.put(5_000_001, 1)
    two.put(5_000_002, 2)
    out = stream.bytes()
    return out[:len(out) - len(two.cells)], ["type_32", "lost 1"], []


def shorter(form):
    """The file ends in the words of the second lane: no slot is there, and of that lane nothing."""
    one, two = (stream := Stream(form, lanes=2)).lanes
    one.put(5_000_001, 1)
    two.put(5_000_002, 2)
    return stream.bytes()[:Stream.LANES_AT + Stream.LANE + 50], ["lost 1"], []


def small(form):
    """The smallest Core's memory: tasks, a context switch of one slot, data that was cut."""
    return image.small(form), ["lost 1", "job 41", "posix_trace_context_switch", "job 42"], []


def small_after_years(form):
    """More records are gone than a word counts."""
    return image.small(form, turns=2), ["lost 8589934593", "job 41", "posix_trace_context_switch", "job 42"], []


def small_after_years_by_halves(form):
    """The same where a counter's second word counts each half of the first one's range."""
    return (image.small(form, contents=1 | 2 | 4 | 16 | 32, turns=4),
            ["lost 8589934593", "job 41", "posix_trace_context_switch", "job 42"], [])


SCENES = {state.__name__: state for state in (
    plain, laps, torn, torn_first, nothing_but_torn, stale, spoiled,
    lap_of_single_slots, voids, lanes,
    barriers,
    sides, refusals, beyond_belief, unread, everything, lapped_reader, died_between, wraps, late_epoch, followers, payloads, no_context,
    without_names, dump, far, segments, too_short, shorter,
    small, small_after_years, small_after_years_by_halves)}


def lines_of(text):
    for line in text.splitlines():
        entry = json.loads(line)
        if "lost" in entry and "event" not in entry:
            yield f"lost {entry['lost']}"
        else:
            yield " ".join([entry["event"]] + [str(entry["fields"]["number"])]
                           if entry["event"] == "job" else [entry["event"]])


def run(*words):
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout, done.stderr


def fail(state, form, what, *texts):
    print(f"FAILED: {state}, {form}: {what}", *texts, sep="\n")
    sys.exit(1)


def check(pxtrace, state, form):
    content, expected, options = SCENES[state](form)
    with tempfile.TemporaryDirectory() as folder:
        source, log = f"{folder}/image", f"{folder}/log.ptl"
        pathlib.Path(source).write_bytes(content)
        status, _, said = run(pxtrace, "recover", source, "-o", log, *options)
        if status:
            fail(state, form, f"exit status {status}", said)
        lost = sum(int(line[5:]) for line in expected if line.startswith("lost"))
        status, report, _ = run(pxtrace, "check", log)
        if status != (3 if lost else 0):
            fail(state, form, "the log is not well", report)
        _, text, errors = run(pxtrace, "print", "--json", log)
        found = list(lines_of(text))
        if found != expected:
            fail(state, form, "another story", f"expected {expected}", f"found    {found}", said,
                 errors)


# ---- A debugger's server ----

MEMORY_AT = 0x1000


def packet(text):
    return f"${text}#{sum(text.encode()) & 0xff:02x}".encode()


def serve(peer, memory, fault):
    """Whether the target was let go, and the answer awaited."""
    came = b""
    spoilt = fault != "spoilt"
    while more := peer.recv(4096):
        came += more
        while found := re.search(rb"\$([^#]*)#..", came):
            ask, came = found[1].decode(), came[found.end():]
            if fault == "leaves":
                return False
            if fault == "noise":
                peer.sendall(b"\0noise#$" * 600)
                continue
            if ask == "?":
                answer = "T02thread:01;"
            elif ask[0] == "m" and fault != "errors":
                at, count = (int(number, 16) for number in ask[1:].split(","))
                answer = memory[at - MEMORY_AT:at - MEMORY_AT + count].hex()
            elif ask == ("D;1" if fault == "processes" else "D"):
                answer = "OK"
            else:
                answer = "E01"
            if ask[0] == "m" and not spoilt:
                spoilt = True
                peer.sendall(packet(answer)[:-2] + b"zz")
            # Told twice, as QEMU does.
            peer.sendall((packet(answer) if ask == "?" else b"+") + packet(answer))
            if answer == "OK":
                return peer.recv(1) == b"+"
    return False


def be_debugged(image_path, where_path, fault=""):
    with open(image_path, "rb") as file:
        memory = file.read()
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        with open(where_path + ".new", "w", encoding="utf-8") as where:
            where.write(f"gdb:127.0.0.1:{listener.getsockname()[1]},{MEMORY_AT:#x},{len(memory)}")
        os.rename(where_path + ".new", where_path)
        listener.settimeout(60)
        with listener.accept()[0] as peer:
            try:
                return 0 if serve(peer, memory, fault) else 1
            except OSError:
                return 1


def main():
    if sys.argv[1] == "--debugger":
        sys.exit(be_debugged(*sys.argv[2:]))
    if sys.argv[1] == "--make":
        for name, state in SCENES.items():
            for i, form in enumerate(FORMS):
                pathlib.Path(sys.argv[2], f"{name}-{i}").write_bytes(state(form)[0])
        return
    for form in FORMS:
        check(sys.argv[1], sys.argv[2], form)


if __name__ == "__main__":
    main()
