# SPDX-License-Identifier: MIT
"""Makes logs from recipes (tests/tool/mklog.c) and pages from logs; reads a page's data back.

The reading follows tools/report/report.h and knows nothing of data.js or pack.c.
"""
import base64
import json
import os
import re
import subprocess

HEAD = """process 4711 box /opt/app/control
thread 1 0x7f0000001000 4712 sensor
thread 2 0x7f0000002000 4713 control
type 32 job_begin u32 job
type 33 job_end u32 job, i64 late_ns
type 34 mtx_lock x64 lock
type 35 mtx_unlock x64 lock
type 36 note
type 37 sample f64 value, u8 flags, text label
type 38 deadline_miss u32 job
"""


class Maker:
    def __init__(self, pxtrace, mklog, folder):
        self.pxtrace, self.mklog, self.folder = pxtrace, mklog, folder

    def path(self, name):
        return os.path.join(self.folder, name)

    def log(self, name, recipe, head=HEAD):
        with open(self.path(name), "wb") as file:
            subprocess.run([self.mklog], input=(head + recipe).encode(), stdout=file, check=True)
        return self.path(name)

    def run(self, *arguments):
        done = subprocess.run([self.pxtrace, *arguments], capture_output=True, text=True,
                              encoding="utf-8", errors="surrogateescape",
                              env=dict(os.environ, LC_ALL="C", TZ="UTC"), check=False)
        return done.returncode, done.stdout, done.stderr

    def page(self, name, recipe, *options, head=HEAD):
        """The page of a new log; its path."""
        log = self.log(name + ".ptl", recipe, head)
        status, _, messages = self.run("report", *options, log, "-o", self.path(name + ".html"))
        assert status == 0, messages
        return self.path(name + ".html")

    def durations(self, log, *options):
        """{row: {"COUNT": ..., "MIN": ..., ...}} of pxtrace stat: in nanoseconds, by its own heads."""
        _, text, _ = self.run("stat", "--ns", *options, log)
        rows, heads = {}, None
        for line in text.splitlines():
            words = re.sub(r"  unmatched:.*", "", line).replace("(ns)", "").split()
            if words[:1] == ["PAIR"]:
                heads = words[1:]
            elif heads and " .. " in line and words[-1].isdigit():
                rows[" ".join(words[:-len(heads)])] = dict(zip(heads, map(int, words[-len(heads):])))
        return rows


def story():
    """Two threads, a lock, a loss, flushes, a stop and a start: what most tests look at."""
    lines = ["event 1000 2 0 0"]
    for job in range(20):
        at = 1_000_000 * (job + 1)
        length = 2_400_000 if job == 12 else 100_000 + 10_000 * job
        if job == 13:
            continue
        if job == 14:
            at += 600_000
            lines.append("loss 12")
        lines.append(f"event {at} 32 1 0x401000 u32:{job}")
        lines.append(f"event {at + 20_000} 34 2 0x401100 u64:0xdead")
        lines.append(f"event {at + 60_000} 35 2 0x401110 u64:0xdead")
        lines.append(f"event {at + length} 33 1 0x401010 u32:{job} i64:{length - 500_000}")
        if job == 12:
            lines.append(f"event {at + length + 1000} 38 1 0 u32:12")
    lines += ["event 22000000 7 0 0", "event 22400000 8 0 0", "event 23000000 3 0 0 u32:0",
              "event 25000000 2 0 0", "event 25200000 37 2 0 f64:0.25 u8:7 text:warm",
              "event 25300000 34 1 0 u64:0xbeef", "event 25500000 35 1 0 u64:0xbeef",
              "event 26000000 3 0 0 u32:1"]
    return "\n".join(lines) + "\n"


SCHEDULED_HEAD = """process 4711 box /opt/app/control
thread 1 0x7f0000001000 101 high
thread 3 0x7f0000003000 103 low
type 32 job_begin u32 job, i64 start_ns
type 33 job_end u32 job
type 34 lock_wait u32 lock
type 35 lock_lock u32 lock
type 36 lock_unlock u32 lock
type 37 deadline_miss u32 job, i64 late_ns
type 38 sched_switch u32 cpu, i32 prev_tid, i64 prev_state, i32 next_tid, char[8] next_comm
type 39 sched_wakeup i32 tid
"""


def scheduled(loss=False):
    """A priority inversion, told by the scheduler: microseconds, thread, event."""
    def switch(at, left, state, right, name):
        return (at, 0, f"38 0 0 u32:0 i32:{left} i64:{state} i32:{right} hex:{name.encode().ljust(8, bytes(1)).hex()}")
    rows = [switch(500, 0, 0, 103, "low"), (1010, 3, "35 3 0 u32:1"), switch(2000, 103, 0, 101, "high"),
            (2001, 1, "32 1 0 u32:7 i64:0"), (2500, 1, "34 1 0 u32:1"), switch(2510, 101, 1, 103, "low"),
            switch(2600, 103, 0, 104, "other"), switch(10600, 104, 1, 103, "low"),
            (11000, 3, "36 3 0 u32:1"), (11005, 0, "39 0 0 i32:101"), switch(11008, 103, 0, 101, "high"),
            (11010, 1, "35 1 0 u32:1"), (11300, 1, "36 1 0 u32:1"), switch(11310, 101, 0, 104, "other"),
            switch(12310, 104, 1, 101, "high"), (12400, 1, "33 1 0 u32:7"),
            (12410, 1, "37 1 0 u32:7 i64:6400000"), switch(13000, 101, 1, 0, "idle"),
            switch(14000, 0, 0, 103, "low")]
    lines = []
    for at, _, event in rows:
        if loss and at == 10600:
            lines.append("loss 3")
        number, rest = event.split(" ", 1)
        lines.append(f"event {at * 1000} {number} {rest}")
    return "\n".join(lines) + "\n"


TRACED_HEAD = """process 4711 box /opt/bin/pxtrace
thread 1 0x7f0000001000 101 high
thread 3 0x7f0000003000 103 low
system_types
type 38 sched_switch u32 cpu, i32 prev_tid, i64 prev_state, i32 next_tid, char[8] next_comm
"""


def traced():
    """What pxtrace run records of a program: two threads and a mutex; compilers run beside it."""
    callers = " u64:0" * 8
    process, wait, lock, unlock, enter, leave = 19, 9, 10, 11, 20, 21
    rows = [(0, 1, f"{process} %s u8:10 u32:4711 u64:0 u64:1 text:/opt/app/rover"),
            (1000, 3, f"{lock} %s u64:0x40 u32:0 i32:0" + callers), (1100, 1, f"{enter} %s u16:6 u64:0 u64:1"),
            (2100, 1, f"{leave} %s u16:6 u64:0 i64:0 u32:1000" + callers),
            (2200, 1, f"{wait} %s u64:0x40 u32:103"), (9000, 3, f"{unlock} %s u64:0x40 i32:0"),
            (9010, 1, f"{lock} %s u64:0x40 u32:6810 i32:0" + callers), (9100, 1, f"{unlock} %s u64:0x40 i32:0")]
    lines = [f"event {at * 1000} " + what % f"{thread} 0x401000" for at, thread, what in rows]
    for process in (900, 901):
        lines += [f"stranger {0x6b000000 + process} {process}",
                  f"event 9{process}000 38 0 0 u32:0 i32:{process} i64:0 i32:103 hex:6363310000000000"]
    return "\n".join(lines) + "\n"


def held_up():
    """Rounds of a thread that sleeps 10 ms; in one of them another thread has what it wants for 50 ms."""
    callers = " u64:0" * 8
    rows = [(0, 1, "19 %s u8:10 u32:4711 u64:0 u64:1 text:/opt/app/rover")]
    for at in [*range(1000, 71000, 10_100), *range(122_000, 182_000, 10_100)]:
        rows += [(at, 1, "20 %s u16:6 u64:0 u64:10"),
                 (at + 10_000, 1, "21 %s u16:6 u64:0 i64:0 u32:10000" + callers)]
    rows += [(60_000, 3, "10 %s u64:0x40 u32:0 i32:0" + callers), (71_700, 1, "9 %s u64:0x40 u32:103"),
             (121_700, 3, "11 %s u64:0x40 i32:0"), (121_710, 1, "10 %s u64:0x40 u32:50010 i32:0" + callers),
             (121_720, 1, "11 %s u64:0x40 i32:0")]
    return "\n".join(f"event {at * 1000} " + what % f"{thread} 0x401000"
                     for at, thread, what in sorted(rows, key=lambda row: row[0])) + "\n"


# ---- A page's data ----

def numbers(data, amount, same):
    result, p = [], 0
    while len(result) < amount:
        value = shift = 0
        while True:
            byte = data[p]
            p += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                break
        result.append(value)
        if same:
            return result * amount
    assert p == len(data), "bytes behind the last number"
    return result


def payloads(data, types, lengths, before, keep):
    result, p = [], 0
    for kind, length in zip(types, lengths):
        kept = min(length, keep)
        last = before.setdefault(kind, bytearray(keep))
        for start in range(0, kept, 8):
            mask = data[p]
            p += 1
            for bit in range(8):
                if mask >> bit & 1:
                    last[start + bit] ^= data[p]
                    p += 1
        last[kept:] = bytes(keep - kept)
        result.append(bytes(last[:kept]))
    assert p == len(data), "bytes behind the last data"
    return result


def meta_of(text):
    return json.loads(re.search(r'<script type="application/json" id="meta">(.*?)</script>', text,
                                re.S)[1])


def read(path):
    """(metadata, events, spans) of a page."""
    with open(path, encoding="utf-8") as file:
        text = file.read()
    meta = meta_of(text)
    events, spans, before, time, last_end = [], [], {}, int(meta["base"]), 0
    for chunk in re.findall(r'class="chunk">([A-Za-z0-9+/=]*)</script>', text):
        raw = base64.b64decode(chunk, validate=True)
        amount, span_amount, _, _ = (int.from_bytes(raw[p:p + 4], "little")
                                     for p in range(0, 16, 4))
        columns, p = [], 16
        for index in range(10):
            length = int.from_bytes(raw[p:p + 4], "little")
            data = raw[p + 4:p + 4 + (length & 0x7fffffff)]
            p += 4 + len(data)
            columns.append(data if index == 6 else numbers(
                data, span_amount if index > 6 else amount, length >> 31))
        assert p == len(raw)
        data = payloads(columns[6], columns[1], columns[5], before, meta["keep"])
        for i in range(amount):
            time += columns[0][i]
            events.append((time, columns[1][i], columns[2][i], columns[3][i] - 1, columns[4][i],
                           columns[5][i], data[i]))
        for i in range(span_amount):
            last_end += columns[7][i]
            spans.append((last_end - columns[8][i], last_end, columns[9][i]))
    return meta, events, spans
