#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Configures, builds and tests all valid combinations of units.

For each: the headers compile alone as C11 and C++11 and declare exactly what is built; the
archives hold exactly the selected units' names; tests/combo.c passes.  Then: switching a unit, a
policy or a group of events off never makes the text larger.

usage: combos.py [--work DIR] [--jobs N] [-v]

An object is compiled once for each text that the preprocessor makes of its source; prototypes
that the text does not use are left out of the comparison.
"""
import argparse
import concurrent.futures
import hashlib
import os
import re
import shutil
import subprocess
import sys
import tempfile

from config import JOBS, ROOT, Configuration, expected_names, tool, unlisted, valid_unit_combinations

TOLERANCE = 32
FLAGS = ["-std=c11", "-D_POSIX_C_SOURCE=200809L", "-Os", "-fvisibility=hidden", "-fno-common",
         "-ffunction-sections", "-fdata-sections", "-Wall", "-Wextra", "-Wundef", "-Werror"]
TOGGLES = ("SYSEV_ERROR", "SYSEV_START_STOP", "SYSEV_OVERFLOW_RESUME", "SYSEV_FILTER",
           "SYSEV_FLUSH", "SYSEV_TRACE", "POLICY_LOOP", "POLICY_UNTIL_FULL", "POLICY_FLUSH",
           "LOG_LOOP", "LOG_UNTIL_FULL", "LOG_APPEND", "LOG_METADATA", "LOG_LINE", "SNAPSHOT",
           "LOG_SEAL", "ARG_CHECKS",
           "EVENTS_AT_ONCE")
# What the retrieval library must not hold.
FOREIGN = re.compile(r"pthread_create|pxt_ring_|pxt_stream_(?!policy)|pxt_emit|pxt_lane_|_pxt_wanted")


class Failure(Exception):
    pass


def run(command, **options):
    done = subprocess.run(command, capture_output=True, text=True, check=False, **options)
    if done.returncode:
        raise Failure(f"{' '.join(command)}\n{done.stdout}{done.stderr}")
    return done.stdout


def without_unused_prototypes(text):
    """The text without declarations of public functions that it never mentions again."""
    mentions = {}
    for name in re.findall(r"\bposix_trace_\w+|\btrace_event_set_t\b", text):
        mentions[name] = mentions.get(name, 0) + 1

    def drop(match):
        return "" if mentions[match[1]] == 1 else match[0]

    text = re.sub(r"\n(?:int|void) (posix_trace_\w+)\([^;{]*?\);(?=\n)", drop, text, flags=re.S)
    if text.count("trace_event_set_t") == 1:
        text = re.sub(r"typedef struct \{[^}]*\} trace_event_set_t;", "", text)
    return text


class Mentions:
    """Which configuration macros a source and the headers below it mention."""

    def __init__(self):
        self.found = {}

    def of(self, path, port):
        if path in self.found:
            return self.found[path]
        self.found[path] = set()  # headers that include each other
        with open(path, encoding="utf-8") as source:
            text = source.read()
        names = set(re.findall(r"\bCONFIG_PTRACE_\w+|\b_PXT_\w+", text))
        for name in re.findall(r'#\s*include\s*[<"]([^>"]+)[>"]', text):
            for folder in (os.path.dirname(path), ROOT, f"{ROOT}/include", f"{ROOT}/port/{port}"):
                header = os.path.normpath(os.path.join(folder, name))
                if os.path.exists(header):
                    names |= self.of(header, port)
                    break
        self.found[path] = names
        return names


class Builder:
    def __init__(self, work, jobs):
        self.work, self.jobs = work, jobs
        self.cc = tool("gcc", "cc", "clang")
        self.cxx = tool("g++", "clang++", "c++")
        self.objects = {}
        self.mentions = Mentions()
        self.same = {}
        self.macros = {}
        self.compiled = 0
        self.pool = concurrent.futures.ThreadPoolExecutor(jobs)

    def use(self, directory):
        """The configuration whose headers lie in @directory."""
        self.macros = {}
        for header in ("private/pxt_config.h", "include/trace_config.h"):
            with open(os.path.join(directory, header), encoding="utf-8") as text:
                self.macros.update(re.findall(r"#define (\w+) (.*)", text.read()))

    def compile(self, source, flags):
        path = source if os.path.isabs(source) else os.path.join(ROOT, source)
        mentioned = sorted(self.mentions.of(path, "posix"))
        values = (path, tuple(self.macros.get(name, "") for name in mentioned))
        if values not in self.same:
            self.same[values] = self.compile_text(path, flags)
        return self.same[values]

    def compile_text(self, path, flags):
        text = run([self.cc, "-E", "-P", *FLAGS, *flags, path])
        key = hashlib.sha256((path + without_unused_prototypes(text)).encode()).hexdigest()[:24]
        if key not in self.objects:
            name = os.path.basename(path)[:-2]
            out = os.path.join(self.work, "objects", key, name + ".o")
            os.makedirs(os.path.dirname(out), exist_ok=True)
            run([self.cc, "-c", *FLAGS, *flags, path, "-o", out])
            self.compiled += 1
            self.objects[key] = out
        return self.objects[key]

    def archive(self, name, sources, flags):
        objects = list(self.pool.map(lambda s: self.compile(s, flags), sources))
        if os.path.exists(name):
            os.remove(name)
        run(["ar", "rcsD", name, *objects])
        return objects


def text_size(archive):
    total = 0
    for line in run(["size", archive]).splitlines()[1:]:
        total += int(line.split()[0])
    return total


def defined(archive):
    functions, data, undefined = set(), set(), set()
    for line in run(["nm", "-g", archive]).splitlines():
        words = line.split()
        if len(words) == 2 and words[0] == "U":
            undefined.add(words[1])
        elif len(words) == 3:
            (functions if words[1] in "TtWw" else data).add(words[2])
    return functions, data, undefined


def check_archive(archive, units):
    functions, data, undefined = defined(archive)
    want_functions, want_data = expected_names(units)
    got = {name for name in functions if name.startswith("posix_")}
    got_data = {name for name in data if name.startswith(("posix_", "_pxt_"))}
    findings = []
    for name in sorted(want_functions - got):
        findings.append(f"{name} is missing")
    for name in sorted(got - want_functions):
        findings.append(f"{name} belongs to no selected unit")
    for name in sorted(want_data ^ got_data):
        findings.append(f"{name}: data of another unit, or missing")
    for name in sorted(functions | data):
        if not name.startswith(("posix_trace_", "pxt_", "_pxt_")):
            findings.append(f"{name}: a name outside our name space")
    for name in sorted(undefined - functions - data):
        if name.startswith(("posix_trace_", "pxt_", "_pxt_")):
            findings.append(f"{name} is used and not defined")
    return findings


def check_headers(configuration, builder, directory, units):
    """Each header alone in both languages, and what they declare."""
    flags = [f for f in configuration.include_flags(directory) if not f.endswith("/private")]
    strict = ["-Wall", "-Wextra", "-Wpedantic", "-Wundef", "-Werror", "-D_POSIX_C_SOURCE=200809L"]
    runs = []
    for header in ("trace.h", "trace_np.h"):
        source = f"#include <{header}>\n#include <{header}>\n"
        runs.append(([builder.cc, "-std=c11", *strict, *flags, "-fsyntax-only", "-xc", "-"], source))
        if builder.cxx:
            runs.append(([builder.cxx, "-std=c++11", *strict, *flags, "-fsyntax-only", "-xc++", "-"],
                         source))
    list(builder.pool.map(lambda one: run(one[0], input=one[1]), runs))
    text = run([builder.cc, "-E", "-P", "-std=c11", *strict, *flags, "-xc", "-"],
               input="#include <trace_np.h>\n")
    declared = set(re.findall(r"^[\w\s*]+\b(posix_trace_\w+)\([^;{]*\);", text, flags=re.M))
    functions, _ = expected_names(units)
    return ([f"the headers declare {name}, which is not built" for name in declared - functions]
            + [f"the headers do not declare {name}" for name in functions - declared])


def test_combination(builder, directory, flags, archive):
    """tests/combo.c against the archive, with the small runner."""
    flags = flags + [f"-I{ROOT}/tests", "-DPXT_NO_CUNIT=1", "-Wno-unused"]
    objects = list(builder.pool.map(lambda source: builder.compile(source, flags),
                                    ("tests/combo.c", "tests/suite.c", "tests/suite_trace.c")))
    program = os.path.join(directory, "combo")
    run([builder.cc, *objects, archive, "-pthread", "-o", program])
    run([program], timeout=60, cwd=directory)


def build(builder, configuration, directory):
    """Archives of one configuration; returns (main archive, text of all its members)."""
    configuration.write_headers(directory)
    builder.use(directory)
    flags = configuration.include_flags(directory)
    archives = {}
    if configuration.value("CORE"):
        archives["ptrace"] = os.path.join(directory, "libptrace.a")
        builder.archive(archives["ptrace"], configuration.sources("ptrace"), flags)
    if configuration.value("LOGRETRIEVAL"):
        archives["retrieval"] = os.path.join(directory, "libptrace-retrieval.a")
        builder.archive(archives["retrieval"], configuration.sources("retrieval"), flags)
    return archives


def one_combination(builder, configuration, directory):
    units = configuration.parts()
    archives = build(builder, configuration, directory)
    findings = []
    if "ptrace" in archives:
        findings += check_archive(archives["ptrace"], units)
    if "retrieval" in archives:
        findings += check_archive(archives["retrieval"], {"LOGRETRIEVAL"})
        functions, data, undefined = defined(archives["retrieval"])
        findings += [f"libptrace-retrieval: {name}" for name in functions | data | undefined
                     if FOREIGN.search(name)]
    findings += check_headers(configuration, builder, directory, units)
    main = archives.get("ptrace") or archives["retrieval"]
    if os.path.exists(os.path.join(ROOT, "tests", "combo.c")):
        test_combination(builder, directory, configuration.include_flags(directory), main)
    return findings, text_size(main)


def unit_sizes_grow(sizes):
    """Text with a unit less, against text with it."""
    for units, text in sizes.items():
        for unit in sorted(units - {"CORE"}):
            fewer = units - {unit}
            if fewer in sizes and sizes[fewer] > text + TOLERANCE:
                yield f"without {unit} ({sizes[fewer]}) larger than {'+'.join(sorted(units))} ({text})"


def toggles(builder, work, full_text, verbose):
    """Each policy and event group off, alone, in the full configuration."""
    findings = []
    for name in TOGGLES:
        configuration = Configuration({name: "n"})
        if configuration.errors:
            findings += configuration.errors
            continue
        directory = os.path.join(work, "no-" + name.lower())
        text = text_size(build(builder, configuration, directory)["ptrace"])
        if verbose:
            print(f"  {name:24} {full_text - text:6} bytes")
        if text > full_text + TOLERANCE:
            findings.append(f"without {name}: {text} bytes of text, {full_text} with it")
    return findings


def label(units):
    return "+".join(sorted(units - {"CORE"})).lower()


def all_combinations(builder, work, verbose):
    valid, refused = valid_unit_combinations()
    failures, sizes = [], {}
    if not builder.cxx:
        print("no C++ compiler: the headers are not tried as C++11", flush=True)
    if len(valid) != 73:
        failures.append(f"{len(valid)} valid combinations, not 73")
    for _, configuration in valid:
        units = frozenset(configuration.units())
        directory = os.path.join(work, label(units).replace("+", "-"))
        try:
            findings, sizes[units] = one_combination(builder, configuration, directory)
        except (Failure, subprocess.TimeoutExpired) as failure:
            findings = [str(failure)]
        if verbose or findings:
            print(f"{label(units):50} {sizes.get(units, 0):7} bytes of text"
                  f"{'  FAILED' if findings else ''}", flush=True)
        failures += [f"{label(units)}: {finding}" for finding in findings]
    failures += unit_sizes_grow(sizes)
    try:
        full = max(sizes.values(), default=0)
        failures += toggles(builder, work, full, verbose)
    except Failure as failure:
        failures.append(str(failure))
    print(f"{len(sizes)} of {len(valid)} combinations of units built and tested, {refused} refused; "
          f"{builder.compiled} compilations; {len(failures)} failures")
    return failures


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--work", help="directory to build in (default: a temporary one)")
    parser.add_argument("--jobs", type=int, default=JOBS)
    parser.add_argument("-v", "--verbose", action="store_true")
    args = parser.parse_args()
    work = args.work or tempfile.mkdtemp(prefix="combos-")
    try:
        failures = all_combinations(Builder(work, args.jobs), work, args.verbose)
    finally:
        if not args.work:
            shutil.rmtree(work)
    failures += [f"{source}: in no row of cmake/sources.cmake" for source in unlisted()]
    for failure in failures[:10]:
        print("FAILED:", failure)
    if len(failures) > 10:
        print(f"... and {len(failures) - 10} more")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
