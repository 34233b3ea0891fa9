#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Instructions of one call of each kind, counted by valgrind's callgrind: no clock, no noise.

    instructions.py BUILD            counts and compares with bench/instructions.txt
    instructions.py --update BUILD   counts and rewrites it, and the figures of the papers with it

Figures of the papers that are marked (scripts/papers.py) are compared with the table in any case:
<!-- instructions: ROW --> or <!-- instructions: ROW - ROW -->, the difference.

BUILD: a build of the full configuration.  The figures are compared where compiler, C library, flags
and processor are those of the table; a row that is off by more than 2 fails.  callgrind has no
restartable sequences: a thread's lane is that of its number.  The program's first thread alone is
counted: what it wakes runs when it likes.

Exit status 77: nothing to compare, and why.
"""
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

import papers

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
TABLE = os.path.join(ROOT, "bench", "instructions.txt")
TOLERANCE = 2
# What the flags say of folders and warnings changes no instruction.
IRRELEVANT = re.compile(r"-(I|W|M|o$|c$|D_POSIX)")


def look_up(table):
    """What a mark in a paper asks for: a row, or one less another."""
    def value(words):
        row, _, less = words.partition(" - ")
        return table[row] - (table[less] if less else 0)
    return value


def stale_papers():
    findings = papers.stale("instructions", look_up(read_table()[1]))
    print("\n".join(findings + [f"{len(findings)} figures of the papers are not the table's"]))
    return findings


def skip(reason):
    print(f"instructions: {reason}: skipped")
    sys.exit(77)


def flags(build):
    """The library's flags, as its trace path was compiled with them."""
    with open(os.path.join(build, "compile_commands.json"), encoding="utf-8") as commands:
        for entry in json.load(commands):
            if entry["file"].endswith("/core/record/emit.c") and "_objects.dir" in entry["command"]:
                words = shlex.split(entry["command"])
                return " ".join(dict.fromkeys(word for word in words if word.startswith("-")
                                              and not IRRELEVANT.match(word)))
    return ""


def count(program, work):
    """Runs it once; returns the facts it prints and the instructions of each of its marks."""
    output = os.path.join(work, "cg")
    run = subprocess.run(["valgrind", "--tool=callgrind", f"--callgrind-out-file={output}",
                          "--separate-threads=yes", "--dump-before=counted_mark", program],
                         capture_output=True, text=True, check=False, cwd=work)
    if run.returncode:
        sys.exit(f"instructions: {program} failed under callgrind\n{run.stdout}{run.stderr}")
    lines = run.stdout.splitlines()
    facts = [line for line in lines if line.startswith("#")]
    marks = []
    for number, line in enumerate((l for l in lines if not l.startswith("#")), 1):
        calls, name = line.split(" ", 1)
        with open(f"{output}.{number}-01", encoding="utf-8") as counted:
            total = int(re.search(r"^totals: (\d+)", counted.read(), flags=re.M)[1])
        if name != "-":
            marks.append((name, int(calls), total))
    return facts, marks


def per_call(marks):
    """Name -> instructions; the first row is the loop that all others have around them."""
    found, loop = {}, 0
    for (name, few, less), (_, many, more) in zip(marks[::2], marks[1::2]):
        figure = (more - less) / (many - few)
        if not found and not loop:
            loop = figure
            continue
        found[name] = round(figure - (loop if few else 0))
    return found


def text_of(facts, figures):
    lines = [f"# Instructions of one call, its arguments included; compared to within {TOLERANCE}.",
             "# Written by scripts/instructions.py --update.", *facts]
    return "\n".join(lines + [f"{name:44}{value:8}" for name, value in figures.items()]) + "\n"


def read_table():
    facts, figures = [], {}
    with open(TABLE, encoding="utf-8") as table:
        for line in table.read().splitlines()[2:]:
            if line.startswith("#"):
                facts.append(line)
            else:
                figures[line[:44].rstrip()] = int(line[44:])
    return facts, figures


def compare(facts, figures):
    table_facts, table = read_table()
    different = [f"{here[2:]}; the table: {there.split(':', 1)[1].strip()}"
                 for here, there in zip(facts, table_facts) if here != there]
    if different or len(facts) != len(table_facts):
        skip("; ".join(different) or "other facts than the table's")
    findings = []
    for name in dict.fromkeys([*table, *figures]):
        now, then = figures.get(name), table.get(name)
        if now is None or then is None:
            findings.append(f"{name}: {'not counted any more' if now is None else 'not in the table'}")
        elif abs(now - then) > TOLERANCE:
            findings.append(f"{name}: {now} instructions, the table says {then}")
    for finding in findings:
        print(finding)
    print(f"{len(figures)} kinds of call, {len(findings)} findings")
    if findings:
        print("A change that is meant: scripts/instructions.py --update BUILD, in the same commit.")
    return 1 if findings else 0


def main():
    update = "--update" in sys.argv[1:]
    rest = [word for word in sys.argv[1:] if word != "--update"]
    if len(rest) != 1 or rest[0].startswith("-"):
        sys.exit(__doc__)
    build = os.path.abspath(rest[0])
    program = os.path.join(build, "bench", "instructions")
    # That needs neither valgrind nor the table's compiler.
    if not update and stale_papers():
        print("The table is right: scripts/instructions.py --update BUILD.")
        return 1
    if not shutil.which("valgrind"):
        skip("no valgrind")
    if not os.path.exists(program):
        skip(f"no bench/instructions in {build}, which is not of the full configuration")
    with tempfile.TemporaryDirectory() as work:
        facts, marks = count(program, work)
    facts.insert(2, f"# flags: {flags(build)}")
    figures = per_call(marks)
    print(text_of(facts, figures), end="")
    if update:
        with open(TABLE, "w", encoding="utf-8") as table:
            table.write(text_of(facts, figures))
        papers.renew("instructions", look_up(figures))
        return 0
    return compare(facts, figures)


if __name__ == "__main__":
    sys.exit(main())
