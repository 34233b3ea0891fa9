#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Loads a simulated fleet into each engine that is installed, and asks all of them, and pxtrace, the same.

    fleet.py --pxtrace PROGRAM --mkfleet PROGRAM [--targets 4] [--events 2500] [--seed 1]

Exit status 77 (skipped) when no engine is there.  contrib/databases/figures measures, with the same parts.
"""
import argparse
import contextlib
import csv
import difflib
import io
import json
import pathlib
import re
import signal
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from engines import ENGINES, Failed, output  # noqa: E402

DAYS = ("2026-03-01", "2026-03-02")
PAIRS = ("--pair", "lock_wait,lock_held", "--pair", "lock_held,lock_free")
ROLES = "lock-wait lock_wait\nlock-acquire lock_held\nlock-release lock_free\n"


def equal(what, got, wanted):
    """A failure shows what differs: whole answers are long."""
    if got == wanted:
        return
    sides = [side.splitlines() if isinstance(side, str) else [str(row) for row in side] if isinstance(side, list)
             else [str(side)] for side in (wanted, got)]
    lines = list(difflib.unified_diff(*sides, "wanted", "got", lineterm="", n=0))
    raise Failed("\n  ".join([what + ":", *lines[:20]]))


def table(answer):
    """An answer's rows, numbers as numbers."""
    return [tuple(int(cell) if re.fullmatch(r"-?\d+", cell) else cell for cell in line.split("\t"))
            for line in answer.splitlines()]


# ---- What pxtrace stat says ----

class Stat:
    """One `pxtrace stat --ns`, taken apart."""

    def __init__(self, pxtrace, log, *options):
        self.text = output([pxtrace, "stat", "--ns", *PAIRS, *options, log])
        self.lost = int(next(iter(re.findall(r"(\d+) EVENTS LOST", self.text)), "0"))
        self.events = {line[0]: int(line[1]) for line in self.rows("EVENT")}
        self.spans = {}
        for columns, words in self.pairs():
            label = words[3] if len(words) > 3 + len(columns) else ""
            if re.match(r"\d", label):
                label = ""
            values = words[3 + bool(label):]
            self.spans[words[0], label.split("/")[0]] = dict(zip(columns, values))

    def rows(self, title):
        inside = False
        for line in self.text.splitlines():
            words = line.split()
            if inside and not words:
                return
            if inside:
                yield words
            inside = inside or bool(words) and words[0] == title

    def pairs(self):
        columns = []
        for line in self.text.splitlines():
            words = line.split()
            if words and words[0] == "PAIR":
                columns = [word for word in words[1:] if word != "(ns)"]
            elif columns and len(words) > 3 and words[1] == "..":
                yield columns, words

    def span(self, begins, *columns, thread=""):
        found = self.spans.get((begins, thread))
        return tuple(int(found[column]) for column in columns) if found and found["COUNT"] != "0" else None


def records(pxtrace, log, table_name, *options):
    """What `pxtrace stat --json` says in one of its tables."""
    said = map(json.loads, output([pxtrace, "stat", "--json", *options, log]).splitlines())
    return [record for record in said if record["table"] == table_name]


def name_of(thread):
    return thread.split("/")[0]


def longest_wait(pxtrace, log):
    """Of the longest wait: how long, which lock, who."""
    def longest(by):
        rows = [row for row in records(pxtrace, log, "pair", *PAIRS, "--by", by) if row["name"].startswith("lock_wait ")]
        return max(rows, key=lambda row: row.get("max_ns", -1))
    lock, thread = longest("field"), longest("thread")
    return lock["max_ns"], int(lock["group"].split("=")[1], 0), name_of(thread["group"])


def longest_waits_holder(pxtrace, log, folder):
    """Which lock's wait was the longest part of a cycle, and who had it, as `pxtrace why` concludes."""
    roles = pathlib.Path(folder) / "roles"
    roles.write_text(ROLES)
    said = json.loads(output([pxtrace, "why", "--roles", roles, "--event", "cycle", "--longer-than", "60ms", "-n", "16",
                              "--json", log]))
    waits = [cause for span in said["late"] for cause in span["causes"] if cause["kind"] == "wait"]
    longest = max(waits, key=lambda cause: cause["ns"])["chain"][0]
    return int(longest["lock"].split()[1]), longest["holder"]


def busiest(pxtrace, log):
    """Ten seconds by ten seconds."""
    return [(row["start_ns"] // 10**9, name_of(row["name"]), row["count"])
            for row in records(pxtrace, log, "slice_thread", "--slice", "10s", "--aligned")]


def silence(pxtrace, log):
    row, = records(pxtrace, log, "silence")
    return row["max_ns"], row["start_ns"], row["name"], row["lost"]


def rates(pxtrace, log):
    rows = [row for row in records(pxtrace, log, "slice", "--slice", "1s", "--aligned") if row["count"]]
    most = max(rows, key=lambda row: (row["count"], -row["start_ns"]))
    return sum(row["count"] for row in rows), len(rows), most["count"], most["start_ns"] // 10**9


def nearest(values, per_mille):
    """The value that so many thousandths do not exceed, as tools/spans/series.c has it."""
    return sorted(values)[(len(values) * per_mille + 999) // 1000 - 1]


def compare_with_stat(answers, pxtrace, logs):
    """Every question that pxtrace stat can answer, for every target."""
    all_of = {target: Stat(pxtrace, log) for target, log in logs.items()}
    equal("question 1 and pxtrace stat", table(answers[1]),
          sorted((target, event, number) for target, stat in all_of.items() for event, number in stat.events.items()))
    kept, lost = {}, {}
    for target, _, kept_here, lost_here, _ in table(answers[2]):
        kept[target] = kept.get(target, 0) + kept_here
        lost[target] = lost.get(target, 0) + lost_here
    equal("question 2 and pxtrace stat: kept", kept, {t: sum(stat.events.values()) for t, stat in all_of.items()})
    equal("question 2 and pxtrace stat: lost", lost, {t: stat.lost for t, stat in all_of.items()})
    wanted = []
    for target, log in logs.items():
        for day in DAYS:
            stat = Stat(pxtrace, log, "--from", day + "T00:00:00Z", "--to", day + "T23:59:59.999999999Z")
            found = stat.span("cycle_begin", "COUNT", "MIN", "MEDIAN", "P99", "MAX")
            wanted += [(target, day, *found)] if found else []
    equal("question 3 and pxtrace stat", table(answers[3]), wanted)
    equal("question 4 and pxtrace stat", [row[:4] for row in table(answers[4])],
          [(target, *longest_wait(pxtrace, log)) for target, log in logs.items()])
    equal("question 5 and pxtrace stat", table(answers[5]),
          [(target, *row) for target, log in logs.items() for row in busiest(pxtrace, log)])
    late = {target: Stat(pxtrace, log, "--where", "late_ns > 0") for target, log in logs.items()}
    equal("question 6 and pxtrace stat", [row[:3] for row in table(answers[6])],
          [(target, stat.events["cycle_end"], late[target].events.get("cycle_end", 0)) for target, stat in all_of.items()])
    equal("question 7 and pxtrace stat", table(answers[7]),
          [(target, *silence(pxtrace, log)) for target, log in logs.items()])
    equal("question 8 and pxtrace stat", table(answers[8]),
          [(target, *rates(pxtrace, log)) for target, log in logs.items()])
    by_thread = {target: Stat(pxtrace, log, "--by", "thread") for target, log in logs.items()}
    equal("question 9 and pxtrace stat", table(answers[9]),
          sorted((thread, target, *stat.span("lock_held", "COUNT", "MEDIAN", "P99", "MAX", thread=thread))
                 for target, stat in by_thread.items() for begins, thread in stat.spans if begins == "lock_held"))
    p99 = {target: stat.span("cycle_begin", "P99")[0] for target, stat in all_of.items()}
    median = nearest(p99.values(), 500)
    equal("question 10 and pxtrace stat", table(answers[10]),
          [(target, value, median) for target, value in p99.items() if value > 2 * median])


def compare_with_print(answers, pxtrace, logs):
    """The questions about single events, from pxtrace print."""
    wanted = []
    for target, log in logs.items():
        ends = output([pxtrace, "print", "-e", "cycle_end", log])
        late = [int(value) for value in re.findall(r"late_ns=(-?\d+)", ends)]
        missed = output([pxtrace, "print", "-e", "cycle_end", "--where", "late_ns > 0", log])
        wanted.append((target, len(late), len(re.findall("late_ns=", missed)), max(late)))
    equal("question 6 and pxtrace print", table(answers[6]), wanted)


def compare_with_why(answers, pxtrace, logs):
    """Who had the lock that was waited for longest."""
    with tempfile.TemporaryDirectory(prefix="pxt") as folder:
        equal("question 4 and pxtrace why", [(row[0], row[2], row[4]) for row in table(answers[4])],
              [(target, *longest_waits_holder(pxtrace, log, folder)) for target, log in logs.items()])


def find_what_was_planted(answers, targets):
    """mkfleet.c says what it hid."""
    for number, (target, waited, lock, waiter, holder) in enumerate(table(answers[4])):
        equal(f"question 4, {target}", (lock, waiter, holder), (16, "control", "logger"))
        if not 60_900_000 <= waited <= 61_200_000:
            raise Failed(f"question 4, {target}: waited {waited} ns, not about {61000 + number} us")
    if targets > 2:
        silent = table(answers[7])[2]
        equal("question 7, the silent target", silent[0], "target-002")
        if not 7_000_000_000 <= silent[1] <= 7_200_000_000:
            raise Failed(f"question 7: silent for {silent[1]} ns, not about 7 s")
    equal("question 2: who lost events", sorted({row[0] for row in table(answers[2]) if row[3] > 0}),
          [f"target-{n:03}" for n in range(1, targets, 3)])
    equal("question 10: who is slow", [row[0] for row in table(answers[10])],
          [f"target-{n:03}" for n in range(13, targets, 20)])
    equal("question 5: a busiest thread everywhere", {row[0] for row in table(answers[5])},
          {f"target-{n:03}" for n in range(targets)})


# ---- Loading ----

def pipe(pxtrace, engine, logs, *options):
    """The recipe: pxtrace export csv ... | load ENGINE."""
    with subprocess.Popen([pxtrace, "export", "csv", "--thread-name", *options, *logs], stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL) as export:
        return engine.load(export.stdout)


def check_loading(pxtrace, engine, logs):
    """All of it once, whatever is repeated; nothing of what contradicts."""
    paths = [str(path) for path in logs.values()]
    rows = subprocess.run([pxtrace, "export", "csv", "--thread-name", paths[1]], capture_output=True, check=True).stdout
    lines = rows.splitlines(keepends=True)
    half = len(lines) // 2
    status, said = engine.load(b"".join(lines[:half + 1]))
    equal(f"{engine.label}: a load that was broken off", (status, said.split(" (")[0]), (0, f"{half} rows: {half} loaded"))
    status, said = pipe(pxtrace, engine, paths)
    match = re.match(r"(\d+) rows: (\d+) loaded \(\d+ events lost\), (\d+) were there already$", said)
    if status != 0 or not match or int(match[3]) != half or int(match[1]) - int(match[2]) != half:
        raise Failed(f"{engine.label}: the whole fleet after half of one log: {status}, {said}")
    before = engine.ask(2)
    status, said = pipe(pxtrace, engine, paths)
    equal(f"{engine.label}: the same again", (status, said),
          (0, f"{match[1]} rows: 0 loaded (0 events lost), {match[1]} were there already"))
    for what, options in (("as another target", ["--target", "another"]), ("with another filter", ["-e", "cycle_end"])):
        status, said = pipe(pxtrace, engine, paths[1:2], *options)
        if status == 0 or "differs" not in said or "is there already, from target target-001" not in said:
            raise Failed(f"{engine.label}: a log {what} was not refused: {status}, {said}")
    status, said = engine.load(b"time,name\n1,2\n")
    if status == 0 or "the first row is not the one" not in said:
        raise Failed(f"{engine.label}: a table of something else was not refused: {status}, {said}")
    equal(f"{engine.label}: after all that", engine.ask(2), before)
    cells = list(csv.reader(io.StringIO(rows.decode(), newline="")))[1:]
    equal(f"{engine.label}: the rows of target-001", engine.rows("target-001"), [row[1:] for row in cells])


def make_fleet(mkfleet, folder, targets, events, seed):
    output([mkfleet, folder, targets, events, seed])
    return {path.stem: path for path in sorted(pathlib.Path(folder).glob("*.ptl"))}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--pxtrace", required=True)
    parser.add_argument("--mkfleet", required=True)
    parser.add_argument("--targets", type=int, default=4)
    parser.add_argument("--events", type=int, default=2500)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))

    there = [engine for engine in ENGINES if not engine.missing()]
    for engine in ENGINES:
        if engine.missing():
            print(f"left out: {engine.label}: {engine.missing()} (scripts/setup data)")
    if not there:
        return 77
    with contextlib.ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="pxt"))
        logs = make_fleet(options.mkfleet, folder, options.targets, options.events, options.seed)
        first = None
        for engine in there:
            with engine() as running:
                check_loading(options.pxtrace, running, logs)
                answers = running.ask_all()
                equal("questions that were answered", sorted(answers), list(range(1, 11)))
                print(f"{running.version()}: {len(logs)} logs loaded, ten questions answered")
            for number, answer in answers.items():
                equal(f"question {number}: {engine.label} and {there[0].label}", answer, (first or answers)[number])
            first = first or answers
        compare_with_stat(first, options.pxtrace, logs)
        compare_with_print(first, options.pxtrace, logs)
        compare_with_why(first, options.pxtrace, logs)
        find_what_was_planted(first, options.targets)
        print("equal answers from them and from pxtrace")
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Failed as failure:
        print(f"FAILED: {failure}")
        sys.exit(1)
