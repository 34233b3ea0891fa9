#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Test 1: what each unit and option adds, what streams take of memory.

usage: footprint.py [--quick | --smoke] [--csv]

Prints lines "suite,table,row,column,unit,value"; --csv changes nothing.  A contribution is the size
with the option less the size without it, from the nearest smaller legal configuration, which the
table names.  Such differences do not add up: the residue is printed.  Bytes are those that are
loaded: text, constants, data, bss.  --quick: gcc alone, few configurations, contributions at one
level.  --smoke: one compiler, one configuration.
"""
import argparse
import csv
import os
import subprocess
import sys
import tempfile

from config import ROOT, Configuration, kconfig_tool
from sizes import FLAGS, Sizes, add, compilers

SUITE = "footprint"
PAYLOADS = (0, 4, 8, 48, 256)
UNITS = tuple((title, unit) for unit, title in kconfig_tool.TITLES.items() if unit != "CORE")
CORE_ALONE = {"TOLOG": "n", "USEREVENTS": "n", "FILTER": "n", "INHERIT": "n",
              "LOGRETRIEVAL": "n",
              "SINGLE_STREAM": "y"}

# Sizes of types, as sizes of objects: so they can be had of a processor that is not here.
MEMORY = """
#include "core/process/directory.h"
#include "core/stream/stream.h"
#define EVENT(bytes) char event_##bytes[16 * (1 + (PXT_CTX_BYTES + bytes + 11) / 12)]
char header[sizeof(struct pxt_block)], lane[sizeof(struct pxt_lane)];
char fixed[sizeof(struct pxt_stream)], directory[sizeof(struct pxt_directory)];
char threads[sizeof(struct pxt_thread_table)], thread[sizeof(struct pxt_thread)];
EVENT(0); EVENT(4); EVENT(8); EVENT(48); EVENT(256);
"""
MEMORY_NAMES = "char names[sizeof(struct pxt_names)];\n"


def output(*command, **options):
    return subprocess.run(command, capture_output=True, text=True, check=True, **options).stdout


class Bench:
    def __init__(self, work):
        self.work = work
        self.sizes = Sizes(work)
        self.writer = csv.writer(sys.stdout, lineterminator="\n")
        self.loaded_cache = {}

    def say(self, table, row, column, unit, value):
        self.writer.writerow((SUITE, table, row, column, unit, value))
        sys.stdout.flush()

    def target(self, what, unit, measured, most):
        self.say("targets", what, "measured", unit, measured)
        self.say("targets", what, "at most", unit, most)
        self.say("targets", what, "verdict", "", "reached" if measured <= most else "missed")

    # ---- Sizes ----

    def sections(self, compiler, configuration):
        library = "ptrace" if configuration.value("CORE") else "retrieval"
        return self.sizes.of(compiler, configuration, library)

    def loaded(self, compiler, settings, less=""):
        """Bytes of the complete build with these settings, without members of the folder @less."""
        key = (compiler.name, tuple(sorted(settings.items())), less)
        if key not in self.loaded_cache:
            configuration = Configuration(settings)
            if configuration.errors:
                sys.exit("\n".join(configuration.errors))
            members = self.sections(compiler, configuration)
            self.loaded_cache[key] = sum(add([size for source, size in members.items()
                                              if not less or not source.startswith(less)]))
        return self.loaded_cache[key]

    def contribution(self, compiler, without, base=None, less="", both=None):
        """
        (total, basic support) of what @without switches off (@both is set in both), or of all
        there is in @base.
        """
        silent = {"SYSEV_TRACE": "n"}
        if base is not None:
            return tuple(self.loaded(compiler, {**base, **more}, less) for more in ({}, silent))
        both = both or {}
        return tuple(self.loaded(compiler, {**both, **more}) -
                     self.loaded(compiler, {**both, **more, **without}) for more in ({}, silent))

    def contributions(self, compiler):
        table = f"contributions: {compiler.name}"
        complete = self.loaded(compiler, {})
        rows = [("8 streams instead of 1", "full with SINGLE_STREAM=y",
                 self.contribution(compiler, {"SINGLE_STREAM": "y"})),
                ("Trace Core", "none: Core + On-Line, one stream, less the members of online/",
                 self.contribution(compiler, None, CORE_ALONE, "online/"))]
        for name, symbol in UNITS:
            # What belongs to Filter alone needs User Events; it is on in both.  Other processes need
            # them, too, and would be counted twice.
            both = {"ATTACH": "n"} if symbol == "USEREVENTS" else {}
            less = "".join(f", {name}={value}" for name, value in both.items())
            rows.append((name, f"full with {symbol}=n{less}",
                         self.contribution(compiler, {symbol: "n"}, both=both)))
        for name, nearest, (total, basic) in rows:
            self.say(table, name, "basic support", "bytes", basic)
            self.say(table, name, "trace-related events", "bytes", total - basic)
            self.say(table, name, "total", "bytes", total)
            self.say(table, name, "of the complete build", "%", f"{100 * total / complete:.1f}")
            self.say(table, name, "without it", "", nearest)
        whole = sum(total for _, _, (total, _) in rows)
        for name, value in (("Sum of contributions", whole), ("Complete build", complete),
                            ("Residue (shared, or counted twice)", complete - whole)):
            self.say(table, name, "total", "bytes", value)
            self.say(table, name, "of the complete build", "%", f"{100 * value / complete:.1f}")

    # ---- Memory at run time ----

    def memory(self, compiler, name, configuration):
        directory = os.path.join(self.work, "headers")
        configuration.write_headers(directory)
        flags = configuration.include_flags(directory)
        flags += [f"-I{ROOT}/port/bare/include"] if configuration.value("PORT_BARE") else []
        text = MEMORY + (MEMORY_NAMES if configuration.value("USEREVENTS") else "")
        obj = os.path.join(self.work, "memory.o")
        output(compiler.command, *FLAGS, *compiler.flags, *flags, "-w", "-xc", "-c", "-", "-o", obj,
               input=text)
        found = {}
        for line in output("nm", "-S", obj).splitlines():
            words = line.split()
            if len(words) == 4:
                found[words[3]] = int(words[1], 16)
        streams = configuration.value("MAX_STREAMS")
        _, _, data, bss = add(self.sections(compiler, configuration).values())
        statics = data + bss - streams * found["fixed"] - configuration.value("STATIC_BYTES")
        process = statics + found["directory"] - found["threads"] - found.get("names", 0)
        state = found["header"] + found["fixed"]
        for column, value in (("a stream's state with one lane", state + found["lane"]),
                              ("a further lane", found["lane"]),
                              ("the process", process),
                              ("name map and descriptions", found.get("names", 0)),
                              ("thread table", found["threads"])):
            self.say("memory", name, column, "bytes", value)
        for payload in PAYLOADS:
            self.say("events", name, f"{payload} bytes of data", "bytes", found[f"event_{payload}"])
        return state + found["lane"], found["lane"], process


def profile(name):
    return Configuration({}, os.path.join(ROOT, "configs", name + "_defconfig"))


def small(profile_name, settings):
    configuration = Configuration(settings,
                                  os.path.join(ROOT, "configs", profile_name + "_defconfig"))
    if configuration.errors:
        sys.exit("\n".join(configuration.errors))
    return configuration


def configurations(compiler, few):
    """name -> configuration; @few: those that targets ask for."""
    if compiler.processor == "Cortex-M3":
        rows = {"tiny": profile("tiny")}
        return rows if few else {"bare": profile("bare"), **rows}
    rows = {"full": profile("full"), "minimal": profile("minimal"), "tiny": profile("tiny")}
    return rows if few else {**rows, "Core + On-Line": small("minimal", {"USEREVENTS": "n"}),
                             "target": profile("target"), "host (retrieval)": profile("host")}


def measure(bench, found, args):
    kib = 1024
    for compiler in found:
        rows = configurations(compiler, args.quick or args.smoke)
        if args.smoke:
            rows = {"minimal": rows["minimal"]}
        if compiler.name == "x86-64 gcc -O2" and "full" in rows:
            text = {name: add(bench.sections(compiler, configuration).values())[0]
                    for name, configuration in rows.items()}
            bench.target("text of all units (x86-64 -O2)", "bytes", text["full"], 64 * kib)
            bench.target("text of the smallest profile (x86-64 -O2)", "bytes", min(text.values()), 12 * kib)
    first = found[0]
    for name, configuration in (rows if args.smoke
                                else configurations(first, args.quick)).items():
        if configuration.value("CORE") and configuration.value("PORT_POSIX"):
            state, lane, process = bench.memory(first, name, configuration)
            if name == "full":
                bench.target("state of a stream beside its ring with one lane", "bytes", state, 512)
                bench.target("state of a further lane", "bytes", lane, 192)
                bench.target("the process beside name map and thread table", "bytes", process,
                             2 * kib)
    if not args.smoke:
        # By one compiler: each takes a minute, and what the others make of the units is in sizes.txt.
        for compiler in found:
            if (compiler.processor, compiler.command) == (first.processor, first.command) and (
                    compiler is first or not args.quick):
                bench.contributions(compiler)


def run(args, work):
    found, missing = compilers(args.quick or args.smoke)
    for reason in missing:
        print(f"# not measured: {reason}")
    if args.smoke:
        found = found[:1]
    elif args.quick:
        found = [compiler for compiler in found if compiler.level == "-Os"
                 or compiler.processor != "Cortex-M3"]
    for compiler in found:
        print(f"# {compiler.name}: {compiler.version()}")
    measure(Bench(work), found, args)
    return 0


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--csv", action="store_true")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--smoke", action="store_true")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="footprint-") as work:
        return run(args, work)


if __name__ == "__main__":
    sys.exit(main())
