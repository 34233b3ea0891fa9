#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The tests of the standard's assertions, for any <trace.h>.

    suite.py export FOLDER          a folder of its own, from this tree: tests, shims, assertions.txt, this file
    FOLDER/suite.py run [options]   compiles the tests there against an implementation, runs each case in a process
                                    of its own, and reports each assertion: passed, failed, untested
        --cc CC          compiler (cc)
        --cflags FLAGS   where <trace.h> is
        --libs LIBS      what to link
        --without WHAT   log, filter, inherit: options that the implementation lacks; again for each
        --program NAME   these programs alone; again for each
        --seconds N      after which a case is called a hang (120)
        --report FILE    the report goes there, too

An assertion passed if a case that shows it passed, and none failed.  It is untested if no case shows it, its option is
left out, or its case needs an extension of libptrace (shim/trace_np.h has their names, and ends the case).  Exit
status 1: one failed.  The text of each assertion is in our own words; the standard's decides.  A failure is a
question: where the standard leaves a choice, a case may ask for libptrace's (DEC- numbers above the case,
docs/decisions.md).
"""
import argparse
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
# What is about the standard alone, and needs no more than it; the quick ones first.
PROGRAMS = ("eventset", "header", "identifiers", "names", "truncation", "attr", "filter",
            "policies", "states", "streams", "retrieval", "safety")
LOGS = ("log_policies",)
OPTIONS = {"log": "TOLOG", "filter": "FILTER", "inherit": "INHERIT"}
# The comment directly above a case cites what it shows (scripts/citations.py).
ABOVE = re.compile(r"/\*((?:[^*]|\*(?!/))*)\*/\s*\nPXT_TEST\w*\((\w+)[),]")
ASSERTION = re.compile(r"\b[A-Z]+-E?\d\d?\b")
TEXT = re.compile(r"^- \*\*([A-Z]+-E?\d+)\*\* (.*(?:\n  .*)*)", re.M)
# In front of every file: what the implementation has.  -D...=0 on the command line says what it lacks: the option
# Trace Log is _PXT_UNIT_TOLOG and _PXT_UNIT_LOGRETRIEVAL, Trace Inherit _PXT_UNIT_INHERIT, Trace Event Filter
# _PXT_UNIT_FILTER.
CONFIG = """\
#ifndef SHIM_PXT_CONFIG_H
#define SHIM_PXT_CONFIG_H
#define _PXT_UNIT_CORE       1
#define _PXT_UNIT_ONLINE     1
#define _PXT_UNIT_USEREVENTS 1
#ifndef _PXT_UNIT_FILTER
#define _PXT_UNIT_FILTER 1
#endif
#ifndef _PXT_UNIT_TOLOG
#define _PXT_UNIT_TOLOG 1
#endif
#ifndef _PXT_UNIT_LOGRETRIEVAL
#define _PXT_UNIT_LOGRETRIEVAL _PXT_UNIT_TOLOG
#endif
#ifndef _PXT_UNIT_INHERIT
#define _PXT_UNIT_INHERIT 1
#endif
#define _PXT_UNIT_ATTACH                    0
#define _PXT_UNIT_SNAPSHOT                  0
#define _PXT_UNIT_EXTENSIONS                0
#define _PXT_UNIT_INSPECT                   0
#define _PXT_UNIT_STACKS                    0
#define _PXT_UNIT_SYSEVENTS                 0
#define _PXT_LANES_MAX                      1
#define _PXT_EVENT_IDS                      (8u * sizeof(trace_event_set_t))
#define CONFIG_PTRACE_ARG_CHECKS            1
#define CONFIG_PTRACE_SINGLE_STREAM         0
#define CONFIG_PTRACE_POLICY_LOOP           1
#define CONFIG_PTRACE_POLICY_UNTIL_FULL     1
#define CONFIG_PTRACE_POLICY_FLUSH          _PXT_UNIT_TOLOG
#define CONFIG_PTRACE_POLICY_DISCARD        0
#define CONFIG_PTRACE_LOG_LOOP              _PXT_UNIT_TOLOG
#define CONFIG_PTRACE_LOG_UNTIL_FULL        _PXT_UNIT_TOLOG
#define CONFIG_PTRACE_LOG_APPEND            _PXT_UNIT_TOLOG
#define CONFIG_PTRACE_SYSEV_ERROR           1
#define CONFIG_PTRACE_SYSEV_START_STOP      1
#define CONFIG_PTRACE_SYSEV_OVERFLOW_RESUME 1
#define CONFIG_PTRACE_SYSEV_FLUSH           _PXT_UNIT_TOLOG
#define CONFIG_PTRACE_SYSEV_FILTER          _PXT_UNIT_FILTER
#define CONFIG_PTRACE_DEFAULT_DATA_SIZE     256
#define CONFIG_PTRACE_DATA_LIMIT            4095
#define CONFIG_PTRACE_RECORD_ADDRESS        1
#define CONFIG_PTRACE_RECORD_THREAD         1
#define CONFIG_PTRACE_LIMIT_STREAM_SIZE     0
#endif
"""
# What the tests use beyond the standard.  A test that needs an extension ends as untested.
EXTENSIONS = r"""\
#ifndef SHIM_TRACE_NP_H
#define SHIM_TRACE_NP_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <trace.h>

#define POSIX_TRACE_DISCARD_NP (-1)

struct posix_trace_counts_np {
	uint64_t posix_written_np, posix_retrieved_np, posix_lost_np, posix_cleared_np,
	    posix_held_np;
	int posix_stable_np;
};

#define NEEDS_EXTENSION(name, ...)                                                                 \
	static inline __attribute__((__unused__)) int name(__VA_ARGS__)                            \
	{                                                                                          \
		printf("needs the extension " #name "\n");                                         \
		fflush(stdout);                                                                    \
		_Exit(77);                                                                         \
	}
NEEDS_EXTENSION(
    posix_trace_getcounts_np, trace_id_t trid, struct posix_trace_counts_np *counts, size_t bytes)
NEEDS_EXTENSION(posix_trace_attr_setorderedstamps_np, trace_attr_t *attr, int ordered)
NEEDS_EXTENSION(posix_trace_attr_setpolling_np, trace_attr_t *attr, int polling)
NEEDS_EXTENSION(posix_trace_wanted_np, trace_event_id_t id)
NEEDS_EXTENSION(posix_trace_streams_np, trace_id_t *trids, size_t room, size_t *count)
#define posix_trace_eventset_addgroup_np(pattern, set) (_Exit(77), 0)

/* An implementation without lanes has one. */
static inline __attribute__((__unused__)) int posix_trace_attr_setlanes_np(
    trace_attr_t *attr, unsigned lanes)
{
	(void)attr;
	if (lanes > 1)
		_Exit(77);
	return 0;
}

#endif
"""
DONE = {0: "passed", 77: "untested"}


def export(folder):
    """Copies of the tree's tests, made anew each time."""
    tests = HERE.parent
    folder = pathlib.Path(folder)
    (folder / "conformance").mkdir(parents=True, exist_ok=True)
    for name in ("suite.c", "suite.h", "suite_trace.c", "others/suite.py",
                 *(f"conformance/{name}" for name in (
                     "story.c", "story.h", "logkit.c", *(f"{name}.c" for name in PROGRAMS + LOGS)))):
        target = folder / name.replace("others/", "")
        target.parent.mkdir(exist_ok=True)
        shutil.copy(tests / name, target)
    (folder / "shim").mkdir(exist_ok=True)
    (folder / "shim/pxt_config.h").write_text(CONFIG, encoding="utf-8")
    (folder / "shim/trace_np.h").write_text(EXTENSIONS, encoding="utf-8")
    shutil.copy(tests.parent / "LICENSE", folder)
    with open(folder / "assertions.txt", "w", encoding="utf-8") as out:
        for name, text in TEXT.findall((tests.parent / "docs/decisions.md").read_text(encoding="utf-8")):
            if not name.startswith("DEC-"):
                out.write(f"{name}  {' '.join(text.split())}\n")


class Suite:
    """The programs of an exported folder, compiled for one implementation."""

    def __init__(self, folder, work, options):
        self.folder, self.work, self.options = pathlib.Path(folder), pathlib.Path(work), options
        self.failed_to_compile = {}
        self.programs = [name for name in PROGRAMS + LOGS if name in (options.program or PROGRAMS + LOGS)
                         and not (name in LOGS and "log" in options.without)]

    def compile(self):
        lacks = [f"-D_PXT_UNIT_{OPTIONS[what]}=0" for what in self.options.without]
        for name in list(self.programs):
            sources = [f"conformance/{name}.c", "conformance/story.c", "suite.c", "suite_trace.c"]
            if name in LOGS:
                sources.append("conformance/logkit.c")
            run = subprocess.run(
                [*shlex.split(self.options.cc), "-std=gnu11", "-O1", "-w", "-DPXT_NO_CUNIT=1", *lacks, "-include",
                 "shim/pxt_config.h", "-Ishim", "-I.", "-Iconformance", *shlex.split(self.options.cflags), *sources,
                 *shlex.split(self.options.libs), "-pthread", "-o", str(self.work / name)],
                cwd=self.folder, stderr=subprocess.PIPE, check=False)
            if run.returncode:
                self.failed_to_compile[name] = run.stderr.decode("utf-8", "replace")
                self.programs.remove(name)

    def cases(self, name):
        return subprocess.run([self.work / name, "--list"], stdout=subprocess.PIPE,
                              check=True).stdout.decode().split()

    def run(self, name, *cases):
        """passed, failed or untested, and what the cases said."""
        try:
            run = subprocess.run([self.work / name, *cases], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                 stdin=subprocess.DEVNULL, timeout=self.options.seconds, check=False)
        except subprocess.TimeoutExpired:
            return "failed", f"hangs ({self.options.seconds} s)"
        said = run.stdout.decode("utf-8", "replace")
        # A child of the case may have said so, too.
        return "untested" if "needs the extension" in said else DONE.get(run.returncode, "failed"), said

    def cited(self, name):
        """Case -> the assertions that it shows."""
        text = (self.folder / "conformance" / f"{name}.c").read_text(encoding="utf-8")
        return {case: ASSERTION.findall(comment) for comment, case in ABOVE.findall(text)}


def report(suite, out):
    """Runs all; returns whether an assertion failed."""
    texts = dict(line.rstrip().split("  ", 1)
                 for line in open(suite.folder / "assertions.txt", encoding="utf-8"))
    states = {name: [] for name in texts}
    for name in suite.programs:
        cited = suite.cited(name)
        for case in suite.cases(name):
            state, said = suite.run(name, case)
            if state == "failed":
                out(f"{name} {case}: failed")
                for line in said.splitlines()[-12:]:
                    out(f"    {line}")
            for assertion in cited.get(case, ()):
                states.get(assertion, []).append((state, f"{name} {case}"))
    for name, said in suite.failed_to_compile.items():
        out(f"{name}: does not compile: its assertions are untested")
        for line in [line for line in said.splitlines() if "error" in line][:3]:
            out(f"    {line}")
    sums = {"passed": 0, "failed": 0, "untested": 0}
    for name, shown in states.items():
        kinds = [state for state, _ in shown]
        state = "failed" if "failed" in kinds else "passed" if "passed" in kinds else "untested"
        sums[state] += 1
        out(f"{state:9} {name:9} {texts[name]}")
    out(", ".join(f"{count} {state}" for state, count in sums.items()))
    return sums["failed"] > 0


def main():
    if sys.argv[1:2] == ["export"] and len(sys.argv) == 3:
        return export(sys.argv[2])
    if sys.argv[1:2] != ["run"]:
        sys.exit(__doc__)
    parser = argparse.ArgumentParser()
    parser.add_argument("--cc", default="cc")
    parser.add_argument("--cflags", default="")
    parser.add_argument("--libs", default="")
    parser.add_argument("--without", action="append", choices=sorted(OPTIONS), default=[])
    parser.add_argument("--program", action="append")
    parser.add_argument("--seconds", type=float, default=120)
    parser.add_argument("--report", default=os.devnull)
    options = parser.parse_args(sys.argv[2:])
    with tempfile.TemporaryDirectory() as work, open(options.report, "w", encoding="utf-8") as copy:
        suite = Suite(HERE, work, options)
        suite.compile()

        def out(line):
            print(line, flush=True)
            copy.write(line + "\n")

        return report(suite, out)


if __name__ == "__main__":
    sys.exit(main())
