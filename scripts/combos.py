#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Configures, builds and tests combinations of units: so many that each unit is there without each other one,
where that is valid; with --all every one that is valid.

For each: the headers compile alone as C11 and C++11 and declare exactly what is built; the
archives hold exactly the selected units' names; tests/combo.c passes.  So it is with the settings beside units,
of which those that leave something out are tried alone with --all, and else together.  With --all, a unit less
never makes the text larger, and neither does any switch that is on and can be off.

usage: combos.py [--work DIR] [--jobs N] [--level=-O0] [--all] [--compare N] [-v]

--level: the compiler's, -Os unless told.  An object is compiled once for each text that a configuration
leaves of its source and of the headers below it, without what nothing in them mentions.  That this is
so is looked at with the compiler: of those that were not compiled, N (all) are, and compared byte by byte.
"""
import argparse
import collections
import concurrent.futures
import hashlib
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import threading

from config import (JOBS, ROOT, Configuration, expected_names, kconfig_tool, plain_name, tool, unlisted,
                    valid_unit_combinations)

TOLERANCE = 32
FLAGS = ["-std=c11", "-D_POSIX_C_SOURCE=200809L", "-fvisibility=hidden", "-fno-common",
         "-ffunction-sections", "-fdata-sections", "-Wall", "-Wextra", "-Wundef", "-Werror"]
# Settings that are tried whole, beside the combinations of units: built, tested, and no larger than without.
MORE = ({"START_FILTERED": "y"}, {"LIMIT_STREAM_SIZE": "y", "MAX_STREAM_SIZE": "1048576"},
        {"FLUSH_BURST_BYTES": "1024", "FLUSH_BURST_DELAY_MS": "5"})
LESS = ({"RECORD_THREAD": "n"}, {"RECORD_CPU": "n"}, {"RECORD_ADDRESS": "n"}, {"FAST_CRC": "n"})
ALL_LESS = dict(collections.ChainMap(*LESS))
# What the retrieval library must not hold.
FOREIGN = re.compile(r"pthread_create|pxt_ring_|pxt_stream_(?!policy)|pxt_emit|pxt_lane_|_pxt_wanted")


class Failure(Exception):
    pass


def run(command, **options):
    done = subprocess.run(command, capture_output=True, text=True, check=False, **options)
    if done.returncode:
        raise Failure(f"{' '.join(command)}\n{done.stdout}{done.stderr}")
    return done.stdout


COMMENTS = re.compile(r'/\*.*?\*/|//[^\n]*|("(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\')', re.S)
WORD = re.compile(r"[A-Za-z_]\w*")
SYMBOL = re.compile(r"\b(?:CONFIG_PTRACE|_PXT)_\w+")

# What changes nothing where nobody mentions its name.
DECLARATIONS = [re.compile(r"\n(?:int|void) (posix_trace_\w+)\([^;{]*?\)[\s\w]*;(?=\n)"),
                re.compile(r"\nstruct (posix_trace_\w+) \{[^}]*\};(?=\n)"),
                re.compile(r"\ntypedef struct \{[^}]*\} (trace_event_set_t);(?=\n)"),
                re.compile(r"\nstatic inline [^\n;{}]*?(\w+)\([^;{}]*\)\n\{\n(?:[^}].*\n)*\}(?=\n)"),
                re.compile(r"\n#\s*define (\w+)\b.*(?=\n)")]


class Piece:
    """What a configuration leaves of one file."""

    def __init__(self, text):
        self.text = text
        self.symbols = sorted(set(SYMBOL.findall(text)))
        self.words = set(WORD.findall(text))
        self.declared = {name for one in DECLARATIONS for name in one.findall(text)}
        self.includes = re.findall(r'^#\s*include\s*[<"]([^>"]+)[>"]', text, flags=re.M)
        self.reduced = {}

    def without_unused(self, used):
        """Itself without what it declares, and neither it nor @used mentions."""
        used = frozenset(used & self.declared)
        if used not in self.reduced:
            text, before = self.text, ""
            while text != before:
                before = text
                counts = collections.Counter(WORD.findall(text))

                def drop(match, counts=counts):
                    return match[0] if match[1] in used or counts[match[1]] > 1 else "\n"

                for declaration in DECLARATIONS:
                    text = declaration.sub(drop, text)
            self.reduced[used] = Piece(re.sub(r"\n+", "\n", text))
        return self.reduced[used]


def kept_lines(lines, macros):
    """The lines without what #if of configuration macros leaves out; other conditions stay."""
    stack = []  # [does the condition stay, is this branch in, was one in]
    for line in lines:
        found = re.match(r"#\s*(if|ifdef|ifndef|elif|else|endif)\b(.*)", line)
        outside = all(one[1] for one in stack[:-1] if found and found[1] not in
                      ("if", "ifdef", "ifndef")) if found else False
        if not found:
            if all(one[1] for one in stack):
                yield line
        elif found[1] in ("if", "ifdef", "ifndef"):
            value = truth(found[2], macros) if found[1] == "if" else None
            stack.append([value is None, value is None or value, bool(value)])
            if value is None and all(one[1] for one in stack[:-1]):
                yield line
        elif found[1] == "endif":
            if stack.pop()[0] and outside:
                yield line
        elif stack[-1][0]:
            if outside:
                yield line
        elif found[1] == "else":
            stack[-1][1] = not stack[-1][2]
        else:
            value = None if stack[-1][2] else truth(found[2], macros)
            if value is None and not stack[-1][2]:
                raise Failure(f"a condition that is the configuration's in part: {line}")
            stack[-1][1:] = [bool(value), stack[-1][2] or bool(value)]


def truth(condition, macros):
    """Of a condition over configuration macros alone; None: over others."""
    names = re.findall(r"[A-Za-z_]\w*", condition)
    values = {name: macros.get(name, "").strip() for name in names}
    if not names or not all(SYMBOL.fullmatch(name) and value.isdigit()
                            for name, value in values.items()):
        return None
    text = re.sub(r"[A-Za-z_]\w*", lambda match: values[match[0]], condition)
    for c_word, word in (("&&", " and "), ("||", " or "), ("!", " not ")):
        text = text.replace(c_word, word)
    return bool(eval(text, {"__builtins__": {}}))  # pylint: disable=eval-used


class Texts:
    """What a configuration leaves of a source and of our headers below it, as a key of its object."""

    def __init__(self, port):
        self.folders = (ROOT, f"{ROOT}/include", f"{ROOT}/port/{port}", f"{ROOT}/tests")
        self.lines, self.pieces, self.found = {}, {}, {}

    def piece(self, path, macros):
        if path not in self.lines:
            with open(path, encoding="utf-8") as source:
                text = COMMENTS.sub(lambda match: match[1] or " ", source.read())
            lines = [line.rstrip() for line in text.replace("\\\n", " ").splitlines()]
            lines = [line for line in lines if line]
            asked = "\n".join(line for line in lines if re.match(r"#\s*(if|elif)\b", line))
            self.lines[path] = lines, sorted(set(SYMBOL.findall(asked)))
        lines, symbols = self.lines[path]
        values = path, tuple(macros.get(symbol) for symbol in symbols)
        if values not in self.pieces:
            self.pieces[values] = Piece("\n" + "\n".join(kept_lines(lines, macros)) + "\n")
        return self.pieces[values]

    def header(self, name, beside):
        if (name, beside) not in self.found:
            paths = [os.path.normpath(os.path.join(folder, name)) for folder in (beside, *self.folders)]
            self.found[name, beside] = next(filter(os.path.exists, paths), None)
        return self.found[name, beside]

    def key(self, path, macros):
        files = {}
        waiting = [path]
        while waiting:
            file = waiting.pop()
            if file not in files:
                files[file] = self.piece(file, macros)
                headers = (self.header(name, os.path.dirname(file)) for name in files[file].includes)
                waiting += [header for header in headers if header]
        for _ in range(2):
            mentions = collections.Counter(word for piece in files.values() for word in piece.words)
            files = {file: piece.without_unused({word for word in piece.declared if mentions[word] > 1})
                     for file, piece in files.items()}
        pieces = [piece for _, piece in sorted(files.items())]
        symbols = sorted(set().union(*(piece.symbols for piece in pieces)))
        return (path, tuple(piece.text for piece in pieces),
                tuple((symbol, macros.get(symbol)) for symbol in symbols))


class Builder:
    def __init__(self, work, jobs, level):
        self.work, self.jobs, self.level = work, jobs, level
        self.cc = tool("gcc", "cc", "clang")
        self.cxx = tool("g++", "clang++", "c++")
        self.objects = {}
        self.lock = threading.Lock()
        self.texts = Texts("posix")
        self.macros = {}
        self.reused = []  # what was taken for compiled: (object, path, flags)
        self.pool = concurrent.futures.ThreadPoolExecutor(jobs)

    def use(self, directory):
        """The configuration whose headers lie in @directory."""
        self.macros = {}
        for header in ("private/pxt_config.h", "include/trace_config.h"):
            with open(os.path.join(directory, header), encoding="utf-8") as text:
                self.macros.update(re.findall(r"#define (\w+) (.*)", text.read()))

    def compile(self, source, flags):
        path = os.path.join(ROOT, source)
        key = self.texts.key(path, self.macros)
        with self.lock:
            first = key not in self.objects
            if first:
                self.objects[key] = os.path.join(self.work, "objects", str(len(self.objects)),
                                                 os.path.basename(path)[:-2] + ".o")
            else:
                self.reused.append((self.objects[key], path, flags))
        if first:
            # A run that was interrupted leaves its own.
            os.makedirs(os.path.dirname(self.objects[key]), exist_ok=True)
            self.compile_text(path, flags, self.objects[key])
        return self.objects[key]

    def compile_text(self, path, flags, out):
        run([self.cc, "-c", self.level, *FLAGS, *flags, path, "-o", out])

    def is_same(self, number, reused, known):
        """Whether the compiler, too, makes this object of it; what the preprocessor made before is @known."""
        out, path, flags = reused
        text = run([self.cc, "-E", "-P", *FLAGS, *flags, path])
        text = out, hashlib.sha256(text.encode()).digest()
        if text in known:
            return True
        again = os.path.join(self.work, "again", f"{number}.o")
        self.compile_text(path, flags, again)
        with open(out, "rb") as one, open(again, "rb") as other:
            same = one.read() == other.read()
        os.remove(again)
        if same:
            known.add(text)
        return same

    def wrong_keys(self, count):
        """Findings of @count objects that were taken for compiled, drawn anew in each run; None: of all."""
        chosen = self.reused if count is None else random.sample(self.reused, min(count, len(self.reused)))
        os.makedirs(os.path.join(self.work, "again"), exist_ok=True)
        known = set()
        same = self.pool.map(lambda pair: self.is_same(*pair, known), enumerate(chosen))
        print(f"{len(chosen)} of {len(self.reused)} objects that were taken for known compared")
        return [f"{os.path.relpath(path, ROOT)}: not the object that was taken for it ({flags[-1]})"
                for (_, path, flags), good in zip(chosen, same) if not good]

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
            undefined.add(plain_name(words[1]))
        elif len(words) == 3:
            (functions if words[1] in "TtWw" else data).add(plain_name(words[2]))
    return functions, data, undefined


def check_archive(archive, units):
    functions, data, undefined = defined(archive)
    want_functions, want_data = expected_names(units)
    got = {name for name in functions if name.startswith("posix_")}
    got_data = ({name for name in data if name.startswith(("posix_", "_pxt_"))}
                | {name for name in functions if name.startswith("_pxt_")})
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
    for header in ("trace.h", "trace_np.h", "trace_points_np.h", "trace_hooks_np.h"):
        source = f"#include <{header}>\n#include <{header}>\n"
        runs.append(([builder.cc, "-std=c11", *strict, *flags, "-fsyntax-only", "-xc", "-"], source))
        if builder.cxx:
            runs.append(([builder.cxx, "-std=c++11", *strict, *flags, "-fsyntax-only", "-xc++", "-"],
                         source))
    list(builder.pool.map(lambda one: run(one[0], input=one[1]), runs))
    text = run([builder.cc, "-E", "-P", "-std=c11", *strict, *flags, "-xc", "-"],
               input="#include <trace_np.h>\n")
    declared = set(re.findall(r"^[\w\s*]+\b(posix_trace_\w+)\([^;{]*\)\s*;", text, flags=re.M))
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


def switches():
    """What a user may switch off alone, beside units."""
    full = Configuration({})
    for symbol in kconfig_tool.symbols(full.kconf):
        name = symbol.name.removeprefix("PTRACE_")
        if (name not in kconfig_tool.UNITS and symbol.str_value == "y" and symbol.choice is None
                and any(node.prompt for node in symbol.nodes)):
            configuration = Configuration({name: "n"})
            if not configuration.errors:
                yield name, configuration


def toggles(builder, work, full_text, verbose):
    """Each switch off, alone, in the full configuration."""
    findings = []
    for name, configuration in switches():
        directory = os.path.join(work, "no-" + name.lower())
        text = text_size(build(builder, configuration, directory)["ptrace"])
        if verbose:
            print(f"  {name:24} {full_text - text:6} bytes")
        if text > full_text + TOLERANCE:
            findings.append(f"without {name}: {text} bytes of text, {full_text} with it")
    return findings


def settings(builder, work, full_text, verbose, everything):
    """Settings in the full configuration."""
    findings = []
    for wanted in (*MORE, *(LESS if everything else ()), ALL_LESS):
        name = " ".join(f"{symbol}={value}" for symbol, value in wanted.items())
        configuration = Configuration(wanted)
        if configuration.errors:
            findings += configuration.errors
            continue
        directory = os.path.join(work, re.sub(r"\W+", "-", name.lower()))
        found, text = one_combination(builder, configuration, directory)
        findings += [f"{name}: {finding}" for finding in found]
        if verbose or found:
            print(f"  {name:50} {text:7} bytes of text")
        if "n" in wanted.values() and text > full_text + TOLERANCE:
            findings.append(f"with {name}: {text} bytes of text, {full_text} without")
    return findings


def label(units):
    return "+".join(sorted(units - {"CORE"})).lower()


def by_pairs(valid):
    """Of combinations: the largest, and so many that each unit is there without each other one."""
    units = set().union(*valid)
    chosen = {max(valid, key=len)}
    # The smallest with each unit, and the largest without it.
    edges = {min((one for one in valid if unit in one), key=lambda one: (len(one), sorted(one))) for unit in units}
    edges |= {max((one for one in valid if unit not in one), key=lambda one: (len(one), sorted(one))) for unit in units}

    def pairs(one):
        return {(unit, other) for unit in one for other in units - one}

    due = set().union(*map(pairs, valid))
    while due:
        best = max(sorted(edges, key=sorted), key=lambda one: len(pairs(one) & due))
        chosen.add(best)
        due -= pairs(best)
    return chosen


def combinations(builder, work, verbose, compare, everything):
    valid, refused = valid_unit_combinations()
    valid = {frozenset(configuration.units()): configuration for _, configuration in valid}
    chosen = set(valid) if everything else by_pairs(valid)
    failures, sizes = [], {}
    if not builder.cxx:
        print("no C++ compiler: the headers are not tried as C++11", flush=True)
    for units in sorted(chosen, key=sorted):
        configuration = valid[units]
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
        if everything:
            failures += toggles(builder, work, max(sizes.values(), default=0), verbose)
        failures += settings(builder, work, max(sizes.values(), default=0), verbose, everything)
    except (Failure, subprocess.TimeoutExpired) as failure:
        failures.append(str(failure))
    try:
        failures += builder.wrong_keys(compare)
    except Failure as failure:
        failures.append(str(failure))
    print(f"{len(sizes)} of {len(valid)} combinations of units built and tested, {refused} refused; "
          f"{len(builder.objects)} compilations; {len(failures)} failures")
    return failures


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--work", help="directory to build in (default: a temporary one)")
    parser.add_argument("--jobs", type=int, default=JOBS)
    parser.add_argument("--level", default="-Os", help="the compiler's (default: -Os)")
    parser.add_argument("--compare", type=int, default=-1,
                        help="so many objects that were taken for known are compiled as well (default: all)")
    parser.add_argument("--all", action="store_true",
                        help="all combinations of units that are valid, and each switch off")
    parser.add_argument("-v", "--verbose", action="store_true")
    args = parser.parse_args()
    work = args.work or tempfile.mkdtemp(prefix="combos-")
    try:
        builder = Builder(work, args.jobs, args.level)
        failures = combinations(builder, work, args.verbose, None if args.compare < 0 else args.compare, args.all)
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
