#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Cache lines and pages that one call of each kind touches, counted by valgrind's lackey.

    lines.py BUILD               counts and compares with bench/lines.txt
    lines.py --update BUILD      counts and rewrites it, and the figures of the papers with it

What lies between two stores to a marker counts: lines of 64 bytes that hold instructions, lines that
hold data, pages of 4 KiB of either.  The stores do not; the caller's own code does, and is one line.
Neither the place of an event in its ring nor that of the stack in its line is the program's choice: of
16 calls that have all of them, each figure is the most, and data have a least as well.

BUILD: a build of the full configuration.  The figures are compared where compiler, C library, flags
and processor are those of the table; a figure that is off by more than 1 fails, and one that leaves
its limit (LIMITS).  Other tracers are counted for the table alone: what they touch does not change with
us.  One that is not installed keeps its rows.

valgrind has neither restartable sequences nor vDSO.  So a thread's lane is that of its number, and the
line of the thread's own block in which the system keeps the number of its CPU is not among ours: on
Linux it is one more.  Tracers that ask for CPU and time make system calls of it, of which nothing is
seen, instead of running through some lines of C library and vDSO.

Exit status 77: nothing to compare, and why.
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile

import papers
from instructions import flags

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
TABLE = os.path.join(ROOT, "bench", "lines.txt")
RIVALS_RUN = os.path.join(ROOT, "contrib", "rivals", "run")
TOLERANCE = 1
LINE, PAGE = 64, 4096
COLUMNS = ("code", "data least", "data most", "data pages", "pages")
# At most; a row of the table that is within them stays there.
LIMITS = {f"{kind}: wanted, 4 bytes": {"code": 9, "data most": 9, "pages": 7}
          for kind in ("shared", "static")}
# kind of row -> program of a build, its package if it is another tracer
PROGRAMS = {"shared": ("lines-shared", None), "static": ("lines", None),
            "LTTng-UST": ("rivals/lttng", "lttng-ust"), "DPDK trace": ("rivals/dpdk", "libdpdk")}


class Unable(Exception):
    """Why something cannot be counted."""


def skip(reason):
    print(f"lines: {reason}: skipped")
    sys.exit(77)


# ---- What valgrind saw ----

def windows(trace, marker):
    """The text between two stores to the marker, again and again; marker() says where it is."""
    inside, held, store = False, b"", b""
    for chunk in iter(lambda: trace.read(1 << 20), b""):
        held += chunk
        # The program says it before its first store.
        store = store or marker()
        while store:
            before, found, behind = held.partition(store)
            if not found:
                break
            if inside:
                yield before
            inside, held = not inside, behind
        if not inside:
            held = held[-64:]


def is_test_of_a_bit(found):
    """
    An instruction that stores a register and loads one byte of it at once: there is none.  valgrind
    looks at a bit of a register (bt) that way, in memory far below the stack pointer.
    """
    kinds = [kind for kind, _, _ in found[-3:]]
    if kinds != ["I", "S", "L"] or found[-1][2] != 1:
        return False
    return 0 <= found[-1][1] - found[-2][1] < found[-2][2]


def accesses(window):
    """(kind, address, bytes); the last instruction is the second store to the marker."""
    found = []
    for line in window.decode("ascii").splitlines():
        if re.match(r"(I | [LSM]) [0-9a-f]+,\d+$", line):
            address, size = line[3:].split(",")
            found.append((line[:2].strip(), int(address, 16), int(size)))
            if is_test_of_a_bit(found):
                del found[-2:]
    last = max(i for i, one in enumerate(found) if one[0] == "I")
    return found[:last]


class Run:
    """One run of a program: its facts, and its rows: name, accesses of each call."""
    def __init__(self, command):
        self.facts, self.rows = [], []
        with tempfile.TemporaryDirectory() as work:
            self.said = os.path.join(work, "said")
            calls = self.trace(command, work)
            with open(self.said, encoding="utf-8") as said:
                self.take(said.read().splitlines(), calls)

    def trace(self, command, work):
        out, into = os.pipe()
        front, program = command
        with open(self.said, "wb") as said, open(os.path.join(work, "errors"), "w+b") as errors:
            with subprocess.Popen(
                    [*front, "valgrind", "--tool=lackey", "--trace-mem=yes", f"--log-fd={into}",
                     *program], stdout=said, stderr=errors, pass_fds=[into], cwd=work) as child:
                os.close(into)
                with open(out, "rb") as trace:
                    calls = [accesses(window) for window in windows(trace, self.marker)]
            errors.seek(0)
            if child.returncode:
                raise Unable(errors.read().decode().strip() or f"status {child.returncode}")
        return calls

    def marker(self):
        with open(self.said, encoding="utf-8") as said:
            found = re.search(r"^marker 0x([0-9a-f]+)\n", said.read(), flags=re.M)
        return b"\n S %08x,4\n" % int(found[1], 16) if found else b""

    def take(self, lines, calls):
        for line in lines:
            word, _, rest = line.partition(" ")
            if word == "#":
                self.facts.append(line)
            elif word == "row":
                count, _, name = rest.partition(" ")
                self.rows.append((name, calls[:int(count)]))
                calls = calls[int(count):]
            elif word == "missing":
                raise Unable(rest)


def pieces(kinds, some, size):
    """Numbers of the lines or pages that accesses of some kinds touch."""
    return {number for kind, address, count in some if kind in kinds
            for number in range(address // size, (address + count - 1) // size + 1)}


def figures_of(calls):
    def most(kinds, size):
        return max(len(pieces(kinds, one, size)) for one in calls)
    return dict(zip(COLUMNS, (
        most("I", LINE), min(len(pieces("LSM", one, LINE)) for one in calls), most("LSM", LINE),
        most("LSM", PAGE), most("ILSM", PAGE))))


# ---- Table ----

def text_of(facts, table):
    lines = ["# Lines of 64 bytes and pages of 4 KiB that one call touches; compared to within "
             f"{TOLERANCE}.", "# Written by scripts/lines.py --update.", *facts,
             f"#{'':43}" + "".join(f"{column:>12}" for column in COLUMNS)]
    return "\n".join(lines + [f"{name:44}" + "".join(f"{row[column]:12}" for column in COLUMNS)
                              for name, row in table.items()]) + "\n"


def read_table():
    facts, table = [], {}
    with open(TABLE, encoding="utf-8") as file:
        for line in file.read().splitlines()[2:]:
            if re.match("#[^ ]|# [^ ]", line):
                facts.append(line)
            elif not line.startswith("#"):
                table[line[:44].rstrip()] = dict(zip(COLUMNS, map(int, line[44:].split())))
    return facts, table


def look_up(table):
    """What a mark in a paper asks for: COLUMN of ROW."""
    def value(words):
        column, _, row = words.partition(" of ")
        return table[row][column]
    return value


def is_other(text):
    """A row or a fact of another tracer."""
    return text.removeprefix("# ").startswith(tuple(
        kind for kind, (_, package) in PROGRAMS.items() if package))


def differences(name, now, then):
    """What is not as in the table."""
    for column in COLUMNS:
        limit = LIMITS.get(name, {}).get(column)
        away = abs(now[column] - then[column])
        if away > TOLERANCE or away and limit and then[column] <= limit < now[column]:
            yield f"{name}: {column}: {now[column]}, the table says {then[column]}"


def say_limits(table):
    for name, limits in LIMITS.items():
        for column, limit in limits.items():
            if name in table:
                verdict = "reached" if table[name][column] <= limit else "missed"
                print(f"{name}: {column}: {table[name][column]}, at most {limit}: {verdict}")


def compare(facts, table):
    then_facts, then = read_table()
    then_facts = [fact for fact in then_facts if not is_other(fact)]
    if facts != then_facts:
        skip("; ".join(f"{here[2:]}; the table: {there.split(':', 1)[1].strip()}" for here, there
                       in zip(facts, then_facts) if here != there) or "other facts than the table's")
    findings = []
    for name in dict.fromkeys([*(name for name in then if not is_other(name)), *table]):
        if name not in table or name not in then:
            findings.append(f"{name}: "
                            f"{'not in the table' if name in table else 'not counted any more'}")
        else:
            findings += differences(name, table[name], then[name])
    print("\n".join(findings + [f"{len(table)} kinds of call, {len(findings)} findings"]))
    if findings:
        print("A change that is meant: --update, in the same commit.")
    return 1 if findings else 0


def update(facts, table):
    """Rows of tracers that are not there stay as they are."""
    if os.path.exists(TABLE):
        then_facts, then = read_table()
        kinds = [fact.split(":")[0] for fact in facts]
        facts = facts + [fact for fact in then_facts
                         if is_other(fact) and fact.split(":")[0] not in kinds]
        for name, row in then.items():
            if is_other(name) and name not in table:
                print(f"{name}: left as it is")
                table[name] = row
    with open(TABLE, "w", encoding="utf-8") as file:
        file.write(text_of(facts, table))
    papers.renew("lines", look_up(table))
    return 0


# ---- All of it ----

def version(package):
    done = subprocess.run(["pkg-config", "--modversion", package], capture_output=True, text=True,
                          check=False)
    return done.stdout.strip()


def command_of(build, kind):
    """What to run in front of valgrind, and behind it."""
    name, package = PROGRAMS[kind]
    path = os.path.join(build, "bench", name)
    if not os.path.exists(path):
        raise Unable(f"no bench/{name} in {build}")
    if package:
        return ([RIVALS_RUN, build, "--session"] if kind == "LTTng-UST" else []), \
            [path, "--smoke", "--lines", "on"]
    return [], [path]


def runs_of(build, kinds):
    """(kind, run), of those that can be had here."""
    for kind in kinds:
        try:
            yield kind, Run(command_of(build, kind))
        except Unable as reason:
            if not PROGRAMS[kind][1]:
                skip(str(reason))
            print(f"{kind}: not counted: {reason}")


def count(build, kinds):
    facts, table = [], {}
    for kind, run in runs_of(build, kinds):
        package = PROGRAMS[kind][1]
        if package:
            facts.append(f"# {kind}: {version(package)}")
        elif not facts:
            facts = [*run.facts, f"# flags: {flags(build)}"]
        for name, calls in run.rows:
            table[name if package else f"{kind}: {name}"] = figures_of(calls)
    return facts, table


def main():
    words = sys.argv[1:]
    option = words.pop(0) if words and words[0] == "--update" else ""
    if len(words) != 1 or words[0].startswith("-"):
        sys.exit(__doc__)
    build = os.path.abspath(words[0])
    # That needs neither valgrind nor the table's compiler.
    if not option:
        findings = papers.stale("lines", look_up(read_table()[1]))
        print("\n".join(findings + [f"{len(findings)} figures of the papers are not the table's"]))
        if findings:
            print("The table is right: scripts/lines.py --update BUILD.")
            return 1
    if not shutil.which("valgrind"):
        skip("no valgrind")
    facts, table = count(build, [kind for kind, (_, package) in PROGRAMS.items()
                                 if option or not package])
    print(text_of(facts, table), end="")
    say_limits(table)
    return update(facts, table) if option else compare(facts, table)


if __name__ == "__main__":
    sys.exit(main())
