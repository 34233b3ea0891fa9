#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Bytes of text, constants, data and bss by profile and unit: x86-64 and Cortex-M3, gcc and clang.

    sizes.py            compiles, and prints the table, and what the full library loses without a unit
    sizes.py --check    compares with bench/sizes.txt where the compilers are the table's; a figure
                        that is off by more than 16 bytes fails
    sizes.py --update   rewrites bench/sizes.txt, the block of docs/units.md and the figures of the papers

What the papers say is compared with the table exactly, whatever compilers are here: the block
of docs/units.md between "sizes: begin" and "sizes: end", and figures that are marked (scripts/papers.py):
<!-- size: LEVEL PROFILE UNIT [and|less UNIT]... COLUMN[+COLUMN] -->, of gcc for x86-64.

    --short      gcc at -Os alone, the full library and those of boards, no row -UNIT: in a tenth of the time

A unit's row is the members of its folder; -UNIT is the full library without it.  The profile compat
is no profile: its rows are the libraries of other systems' interfaces.  Exit status 77:
nothing to compare, and why.
"""
import argparse
import concurrent.futures
import importlib
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile

import papers
from combos import Texts
from config import JOBS, ROOT, Configuration, kconfig_tool

sys.path.insert(0, f"{ROOT}/contrib/compat")
check_compat = importlib.import_module("check")
TABLE = os.path.join(ROOT, "bench", "sizes.txt")
TOLERANCE = 16
FLAGS = ["-std=c11", "-D_POSIX_C_SOURCE=200809L", "-fvisibility=hidden", "-fno-common",
         "-ffunction-sections", "-fdata-sections"]
SECTIONS = {"text": (".text",), "rodata": (".rodata",), "data": (".data", ".tdata", ".init_array",
                                                                 ".fini_array"),
            "bss": (".bss", ".tbss")}
HOST_PROFILES = ("full", "minimal", "target", "host", "tiny")
BOARD_PROFILES = ("bare", "tiny")
SHORT_PROFILES = ("full", "bare", "tiny")
OPTIONAL = tuple(unit.lower() for unit in kconfig_tool.UNITS if unit != "CORE")
PAPER = "x86-64 gcc"  # whose figures the papers give
# The full library is also weighed without each unit, which says what others do for it alone.
WITHOUT = (f"{PAPER} -Os", "full")
CORTEX = ["-mcpu=cortex-m3", "-mthumb"]


def output(*command):
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


class Compiler:
    """One compiler for one processor at one level; profiles are what it compiles."""

    def __init__(self, processor, command, flags, profiles, level):
        self.processor, self.command, self.profiles, self.level = processor, command, profiles, level
        self.flags = [*flags, level]
        self.name = f"{processor} {command.removeprefix('arm-none-eabi-')} {level}"

    def version(self):
        return output(self.command, "--version").splitlines()[0]


def newlib():
    """Where the cross compiler finds the C library's headers, for clang."""
    found = subprocess.run(["arm-none-eabi-gcc", "-M", "-xc", "-"], input="#include <sys/types.h>\n",
                           capture_output=True, text=True, check=True).stdout
    return re.search(r"(\S+)/sys/types\.h", found)[1]


def compilers(short):
    """What there is here, and what is missing."""
    found, missing = [], []

    def offer(processor, command, flags, profiles):
        if shutil.which(command):
            some = [profile for profile in profiles if not short or profile in SHORT_PROFILES]
            found.extend(Compiler(processor, command, flags, some, level)
                         for level in ("-Os", "-O2")[: 1 if short else 2])
        else:
            missing.append(f"{processor}: no {command}")

    if platform.machine() == "x86_64":
        for command in ("gcc", "clang")[: 1 if short else 2]:
            offer("x86-64", command, [], HOST_PROFILES)
    else:
        missing.append("x86-64: another processor here")
    offer("Cortex-M3", "arm-none-eabi-gcc", [*CORTEX, "-ffreestanding"], BOARD_PROFILES)
    if shutil.which("arm-none-eabi-gcc") and not short:
        offer("Cortex-M3", "clang", ["--target=thumbv7m-none-eabi", *CORTEX, "-ffreestanding",
                                     "-isystem", newlib()], BOARD_PROFILES)
    return found, missing


class Sizes:
    """Sections of objects; what no configuration changes is compiled once."""

    def __init__(self, work, short=False):
        self.work, self.known, self.texts, self.short = work, {}, {}, short
        self.pool = concurrent.futures.ThreadPoolExecutor(JOBS)

    def key(self, compiler, source, macros, port):
        texts = self.texts.setdefault(port, Texts(port))
        return (compiler.name, texts.key(os.path.join(ROOT, source), macros))

    def compile_one(self, compiler, source, flags):
        name = f"{compiler.name}_{source}_{len(self.known)}.o".replace("/", "_").replace(" ", "_")
        path = os.path.join(self.work, name)
        subprocess.run([compiler.command, "-c", *FLAGS, *compiler.flags, *flags,
                        os.path.join(ROOT, source), "-o", path], check=True)
        return path

    def of(self, compiler, configuration, library):
        """Source -> bytes in each column."""
        directory = os.path.join(self.work, "headers")
        shutil.rmtree(directory, ignore_errors=True)
        configuration.write_headers(directory)
        macros = {}
        for header in ("private/pxt_config.h", "include/trace_config.h"):
            with open(os.path.join(directory, header), encoding="utf-8") as text:
                macros.update(re.findall(r"#define (\w+) (.*)", text.read()))
        port = "bare" if configuration.value("PORT_BARE") else "posix"
        flags = configuration.include_flags(directory)
        flags += [f"-I{ROOT}/port/bare/include"] if port == "bare" else []
        keys = {source: self.key(compiler, source, macros, port)
                for source in configuration.sources(library)}
        new = [(key, source) for source, key in keys.items() if key not in self.known]
        # Names are made before any thread runs, so that no two objects share one.
        jobs = []
        for key, source in new:
            self.known[key] = None
            jobs.append((key, self.pool.submit(self.compile_one, compiler, source, flags)))
        self.measure([(key, job.result()) for key, job in jobs])
        return {source: self.known[key] for source, key in keys.items()}

    def measure(self, objects):
        """One call of size for all: it is as slow as the compiler on a small file."""
        if not objects:
            return
        text = output("size", "-A", *(path for _, path in objects))
        for (key, path), part in zip(objects, text.split("\n\n\n")):
            total = dict.fromkeys(SECTIONS, 0)
            for name, size in re.findall(r"^(\.\S+)\s+(\d+)\s+\d+$", part, flags=re.M):
                for column, prefixes in SECTIONS.items():
                    if name.startswith(prefixes):
                        total[column] += int(size)
            self.known[key] = total
            os.remove(path)


def add(sizes):
    return tuple(sum(one[column] for one in sizes) for column in SECTIONS)


def load(profile):
    return Configuration({}, os.path.join(ROOT, "configs", profile + "_defconfig"))


def row_of(source):
    """The folder in whose row a source counts: one row has what all units share of it, beside the port."""
    folder = source.split("/")[0]
    if folder == "tiny":
        return "online" if source == "tiny/online.c" else "core"
    return "base" if folder == "format" else folder


def rows_of(sizes, compiler, profile):
    """The profile as a whole and each of its folders."""
    configuration = load(profile)
    library = "ptrace" if configuration.value("CORE") else "retrieval"
    found = sizes.of(compiler, configuration, library)
    rows = {(compiler.name, profile, "all"): add(found.values())}
    for folder in ("base", "port", "core", "blackbox", "sysevents", *OPTIONAL):
        mine = [size for source, size in found.items() if row_of(source) == folder]
        if mine:
            rows[compiler.name, profile, folder] = add(mine)
    for unit in OPTIONAL if (compiler.name, profile) == WITHOUT and not sizes.short else ():
        less = sizes.of(compiler, Configuration({unit.upper(): "n"}), library)
        rows[compiler.name, profile, "-" + unit] = add(less.values())
    return rows


def compat_rows(sizes, compiler):
    """The interfaces of other systems: libraries of their own, each as its library holds it."""
    rows = {}
    for name in check_compat.BUILDS:
        configuration = Configuration({f"COMPAT_{name.upper()}": "y"})
        directory = os.path.join(sizes.work, "compat-" + name)
        configuration.write_headers(directory)
        check_compat.write_config(name, configuration, directory)
        flags = [f"-I{ROOT}/include", f"-I{directory}/include", f"-I{directory}",
                 f"-I{ROOT}/contrib/compat/{name}/include"]
        sources = [os.path.join(ROOT, "contrib", "compat", "own.c"),
                   *check_compat.wanted_sources(name, configuration)]
        keys = [(compiler.name, name, source) for source in sources]
        for key in keys:
            sizes.known[key] = None
            path = sizes.compile_one(compiler, os.path.relpath(key[2], ROOT), flags)
            sizes.measure([(key, path)])
        rows[compiler.name, "compat", name] = add([sizes.known[key] for key in keys])
    return rows


def measure(sizes, available):
    rows = {}
    for compiler in available:
        for profile in compiler.profiles:
            rows.update(rows_of(sizes, compiler, profile))
        if compiler.processor == "x86-64" and not sizes.short:
            rows.update(compat_rows(sizes, compiler))
    return rows


def facts(available):
    return {f"# {compiler.processor} {compiler.command}: {compiler.version()}": compiler.name
            for compiler in available}


def text_of(rows, available):
    lines = [f"# Bytes by compiler, profile and unit; compared to within {TOLERANCE}.",
             "# Written by scripts/sizes.py --update.", f"# {' '.join(FLAGS)}", *facts(available),
             f"{'# compiler':26}{'profile':10}{'unit':13}" + "".join(f"{c:>8}" for c in SECTIONS)]
    lines += [f"{compiler:26}{profile:10}{unit:13}" + "".join(f"{size:8}" for size in row)
              for (compiler, profile, unit), row in rows.items()]
    return "\n".join(lines) + "\n"


def read_table():
    """Facts, and rows as measure() gives them."""
    with open(TABLE, encoding="utf-8") as table:
        lines = table.read().splitlines()
    rows = {}
    for line in lines:
        if not line.startswith("#"):
            rows[line[:26].rstrip(), line[26:36].rstrip(), line[36:49].rstrip()] = tuple(
                int(word) for word in line[49:].split())
    return {line for line in lines if line.startswith("#")}, rows


def compare(sizes, available, missing):
    table_facts, table = read_table()
    stale = stale_papers(table)
    print("\n".join(stale + [f"{len(stale)} places in the papers are not the table's"]))
    same = [compiler for compiler in available
            if f"# {compiler.processor} {compiler.command}: {compiler.version()}" in table_facts]
    for reason in missing + [f"{c.name}: {c.version()} is not the table's"
                             for c in available if c not in same]:
        print(f"not compared: {reason}")
    if not same or f"# {' '.join(FLAGS)}" not in table_facts:
        print("sizes: nothing to compare: skipped")
        return 1 if stale else 77
    profiles = {compiler.name: compiler.profiles if sizes.short else (*compiler.profiles, "compat")
                for compiler in same}  # the table may have more
    rows = measure(sizes, same)
    findings = []
    due = (key for key in table
           if key[1] in profiles.get(key[0], ()) and not (sizes.short and key[2].startswith("-")))
    for key in dict.fromkeys([*due, *rows]):
        now, then = rows.get(key), table.get(key)
        if now is None or then is None:
            findings.append(f"{', '.join(key)}: {'not built' if now is None else 'not in the table'}")
            continue
        findings += [f"{', '.join(key)}: {here} bytes of {column}, the table says {there}"
                     for column, here, there in zip(SECTIONS, now, then)
                     if abs(here - there) > TOLERANCE]
    print("\n".join(findings + [f"{len(rows)} rows, {len(findings)} findings"]))
    if findings or stale:
        print("A change that is meant: scripts/sizes.py --update, in the same commit.")
    return 1 if findings or stale else 0


# ---- What the papers say ----

BLOCK = "docs/units.md"
BEGIN, END = "<!-- sizes: begin", "<!-- sizes: end -->"
NAMES = {unit.lower(): title for unit, title in kconfig_tool.TITLES.items()}
PROFILE_ROWS = (("full", PAPER, "full"), ("minimal", PAPER, "minimal"), ("target", PAPER, "target"),
                ("host (retrieval alone)", PAPER, "host"),
                ("bare, on a Cortex-M3", "Cortex-M3 gcc", "bare"),
                ("tiny, on a Cortex-M3", "Cortex-M3 gcc", "tiny"))


def look_up(table):
    """What a mark in a paper asks for."""
    columns = list(SECTIONS)

    def value(words):
        level, profile, *units, wanted = words.split()
        total, sign = 0, 1
        for word in units:
            if word in ("and", "less"):
                sign = 1 if word == "and" else -1
                continue
            row = table[f"{PAPER} {level}", profile, word]
            total += sign * sum(row[columns.index(column)] for column in wanted.split("+"))
        return total
    return value


def units_block(table):
    """The lines between the two marks of docs/units.md."""
    full = {unit: row[0] for (compiler, profile, unit), row in table.items()
            if (compiler, profile) == WITHOUT}
    lines = ["| unit | bytes of code | the full library without it is smaller by |", "|---|---|---|",
             f"| format, base and port, which the units share | {full['base']:,} and {full['port']:,} | |",
             f"| Trace Core | {full['core']:,} | |"]
    lines += [f"| {NAMES.get(unit, unit)} | {full[unit]:,} | {full['all'] - full['-' + unit]:,} |"
              for unit in OPTIONAL]
    lines += ["", "| profile | code | constants | data | zeroed data |", "|---|---|---|---|---|"]
    for name, compiler, profile in PROFILE_ROWS:
        row = table[f"{compiler} -Os", profile, "all"]
        lines.append(f"| {name} | " + " | ".join(f"{size:,}" for size in row) + " |")
    return lines


def block_parts(text):
    """Everything up to the first mark's line, what stands between the marks, the rest."""
    begin = text.index("\n", text.index(BEGIN)) + 1
    end = text.index(END, begin)
    return text[:begin], text[begin:end], text[end:]


def stale_papers(table):
    """Findings where the block or a marked figure is not the table's."""
    first, block, _ = block_parts(papers.read(BLOCK))
    start = first.count("\n") + 1
    findings = []
    try:
        wanted = units_block(table)
    except KeyError as row:
        wanted = []
        findings.append(f"{BLOCK}: its block needs a row that the table lacks: {row}")
    here = block.split("\n")[:-1]
    for number in range(max(len(wanted), len(here)) if wanted else 0):
        now, then = ("".join(lines[number:number + 1]) for lines in (here, wanted))
        if now != then:
            findings.append(f"{BLOCK}:{start + number}: '{now}', the table says '{then}'")
    return findings + papers.stale("size", look_up(table))


def renew_papers(table):
    first, _, rest = block_parts(papers.read(BLOCK))
    try:
        papers.write(BLOCK, first + "\n".join(units_block(table)) + "\n" + rest)
    except KeyError as row:
        print(f"{BLOCK}: its block is left as it is: not measured: {row}")
    papers.renew("size", look_up(table))


def run(args, work):
    short = args.short and not args.update
    sizes = Sizes(work, short)
    available, missing = compilers(short)
    if args.check:
        return compare(sizes, available, missing)
    rows = measure(sizes, available)
    for reason in missing:
        print(f"not measured: {reason}")
    if args.update:
        with open(TABLE, "w", encoding="utf-8") as table:
            table.write(text_of(rows, available))
        renew_papers(rows)
        return 0
    print(text_of(rows, available), end="")
    whole = rows.get((*WITHOUT, "all"))
    if whole:
        print(f"\n{WITHOUT[0]}: the full library's text is smaller without")
    for unit in OPTIONAL if whole and not short else ():
        print(f"  {unit:20}{whole[0] - rows[*WITHOUT, '-' + unit][0]:8}")
    return 0


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--update", action="store_true")
    parser.add_argument("--short", action="store_true")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="sizes-") as work:
        return run(args, work)


if __name__ == "__main__":
    sys.exit(main())
