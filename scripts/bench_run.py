#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Builds what is measured, runs every program of the suite, collects what they print.

usage: bench [--quick | --smoke] [--out DIR] [--build DIR] [--only SUITE,... | --paper] [--render] [--readme]

See scripts/bench.  A program that cannot run is reported as not measured; with --smoke it fails.
"""
import argparse
import contextlib
import datetime
import os
import shlex
import subprocess
import sys
import time

import bench_figures
import bench_readme
import bench_report
from bench_results import Results
from config import ROOT

# name of the build -> CMake options; the first one runs everything
BUILDS = {
    "complete": ["-DPTRACE_DEFCONFIG=configs/full_defconfig", "-DPTRACE_TOOLS=ON"],
    "minimal": ["-DPTRACE_DEFCONFIG=configs/minimal_defconfig"],
    "core": ["-DPTRACE_DEFCONFIG=configs/minimal_defconfig", "-DCONFIG_PTRACE_USEREVENTS=n",
             "-DPTRACE_BENCH_PROFILE=minimal"],
    "bursts": ["-DPTRACE_DEFCONFIG=configs/full_defconfig",
               "-DCONFIG_PTRACE_FLUSH_BURST_BYTES=65536"],
}
# What each build beside the complete one is for.
TARGETS = {"minimal": ["user"], "core": ["system"], "bursts": ["flush"]}
# Builds take a third of two minutes: there the minimal one serves both.
QUICK_TARGETS = {"minimal": ["user", "system"]}
BUILD_OPTIONS = ["-DPTRACE_BENCH=ON", "-DPTRACE_TOOLS=OFF", "-DPTRACE_INSTALL=OFF",
                 "-DPTRACE_SHARED=OFF"]
TIMEOUT = 600


class Failure(Exception):
    pass


class Run:
    def __init__(self, args):
        self.args, self.out = args, args.out
        self.results = Results()
        self.failures = []
        self.size = ["--smoke"] if args.smoke else ["--quick"] if args.quick else []
        self.targets = {} if args.build else QUICK_TARGETS if args.quick else TARGETS
        for folder in ("raw", "output"):
            os.makedirs(os.path.join(self.out, folder), exist_ok=True)

    def wanted(self, suite):
        return not self.args.only or suite in self.args.only

    @contextlib.contextmanager
    def step(self, text):
        begin = time.monotonic()
        print(f"bench: {text} ...", end="", file=sys.stderr, flush=True)
        yield
        print(f" {time.monotonic() - begin:.1f} s", file=sys.stderr, flush=True)

    # ---- Builds ----

    def build_directory(self, name):
        if name == "complete" and self.args.build:
            return self.args.build
        return os.path.join(self.out, "builds", name)

    def build(self, name):
        directory = self.build_directory(name)
        targets = [f"bench_{program}" for program in self.targets.get(name, [])] or ["bench"]
        profile = [] if "PROFILE" in "".join(BUILDS[name]) else [f"-DPTRACE_BENCH_PROFILE={name}"]
        with self.step(f"building: {name}"):
            self.call(["cmake", "-S", ROOT, "-B", directory, *BUILD_OPTIONS, *BUILDS[name], *profile])
            self.call(["cmake", "--build", directory, "-j", str(os.cpu_count() or 1), "--target",
                       *targets])

    @staticmethod
    def call(command):
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            raise Failure(f"{shlex.join(command)}\n{done.stdout[-4000:]}{done.stderr[-4000:]}")

    # ---- Programs ----

    def run_program(self, command):
        """(exit status, output, errors)"""
        try:
            with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                  text=True, cwd=self.out) as program:
                try:
                    text, errors = program.communicate(timeout=TIMEOUT)
                except subprocess.TimeoutExpired:
                    # It may have daemons of its own to end.
                    program.terminate()
                    text, errors = program.communicate()
                    errors += f"ended after {TIMEOUT} s"
                return program.returncode, text, errors
        except OSError as failure:
            return 1, "", str(failure)

    def take(self, suite, name, command):
        """Runs one program and takes its lines; True when it did well."""
        with self.step(name):
            status, text, errors = self.run_program(command)
        with open(os.path.join(self.out, "output", name.replace(" ", "-") + ".txt"), "w",
                  encoding="utf-8") as file:
            file.write(f"$ {shlex.join(command)}\n{text}{errors}status {status}\n")
        strange = self.results.take(text, suite)
        if status or strange:
            last = (errors.strip().splitlines() or strange or ["no output"])[-1]
            self.failures.append(f"{name}: status {status}: {last}")
            self.results.missing(suite, f"{name}: status {status}: {last}")
        return not status

    def program(self, build, name, raw):
        if not self.wanted(name):
            return
        label = name if build == "complete" and not raw else f"{name} {build}"
        command = [os.path.join(self.build_directory(build), "bench", name), "--csv", *self.size]
        if not raw:
            self.take(name, label, command)
            return
        file = os.path.join(self.out, "raw", f"{name}-{build}.csv")
        if self.take(name, label, [*command, "--raw", file]):
            self.take(name, f"{label} statistics",
                      [sys.executable, os.path.join(ROOT, "scripts", "bench_values.py"), "--csv",
                       file])

    def footprint(self):
        if self.wanted("footprint"):
            self.take("footprint", "footprint",
                      [sys.executable, os.path.join(ROOT, "scripts", "footprint.py"), "--csv",
                       *self.size])

    def rivals(self):
        for suite, script in (("rivals", "run"), ("locks", "run_locks")):
            script = os.path.join(ROOT, "contrib", "rivals", script)
            if self.wanted(suite) and os.path.exists(script):
                self.take(suite, suite,
                          [script, *self.size, "--csv", self.build_directory("complete")])

    def everything(self):
        builds = ["complete", *(build for build, names in self.targets.items()
                                if any(map(self.wanted, names)))]
        for build in [] if self.args.build else builds:
            self.build(build)
        self.footprint()
        with open(os.path.join(self.build_directory("complete"), "bench", "programs"),
                  encoding="utf-8") as file:
            programs = [line.split() for line in file]
        for name, *raw in programs:
            self.program("complete", name, raw)
            for build in builds:
                if name in self.targets.get(build, []):
                    self.program(build, name, raw)
        self.rivals()


def general_facts(results, args):
    def git(*command):
        done = subprocess.run(["git", "-C", ROOT, *command], capture_output=True, text=True,
                              check=False)
        return done.stdout.strip()

    size = " --smoke" if args.smoke else " --quick" if args.quick else ""
    results.fact("all", "date", datetime.datetime.now(datetime.timezone.utc)
                 .strftime("%Y-%m-%d %H:%M UTC"))
    results.fact("all", "command", f"./scripts/bench{size}")
    commit = git("rev-parse", "--short=12", "HEAD")
    if commit:
        changed = ", with changes" if git("status", "--porcelain", "--untracked-files=no") else ""
        results.fact("all", "commit", commit + changed)
    results.fact("all", "load at the beginning",
                 " ".join(f"{load:.2f}" for load in os.getloadavg()))
    source = "/sys/devices/system/clocksource/clocksource0/current_clocksource"
    if os.path.exists(source):
        with open(source, encoding="utf-8") as file:
            results.fact("all", "clock source of the kernel", file.read().strip())


def measure(args, lines, facts):
    """What failed."""
    begin = time.monotonic()
    run = Run(args)
    general_facts(run.results, args)
    try:
        run.everything()
    except Failure as failure:
        sys.exit(f"bench: {failure}")
    run.results.fact("all", "duration", f"{time.monotonic() - begin:.0f} s")
    run.results.write(lines, facts)
    return run.failures


def parse():
    parser = argparse.ArgumentParser(prog="bench", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    size = parser.add_mutually_exclusive_group()
    size.add_argument("--quick", action="store_true")
    size.add_argument("--smoke", action="store_true")
    parser.add_argument("--out", default=os.path.join(ROOT, "build", "bench"))
    parser.add_argument("--build", type=os.path.abspath,
                        help="a build to measure alone, instead of building several")
    parser.add_argument("--only", type=lambda text: text.split(","), default=[])
    parser.add_argument("--paper", action="store_const", dest="only", const=["footprint", "user", "system"])
    parser.add_argument("--render", action="store_true")
    parser.add_argument("--readme", action="store_true")
    args = parser.parse_args()
    if args.readme and args.smoke:
        parser.error("--readme: what --smoke measures is no figure to show")
    args.out = os.path.abspath(args.out)
    return args


def main():
    args = parse()
    os.makedirs(args.out, exist_ok=True)
    lines, facts = (os.path.join(args.out, name) for name in ("results.csv", "facts.csv"))
    failures = [] if args.render else measure(args, lines, facts)
    results = Results()
    try:
        results.read(lines, facts)
    except OSError as error:
        sys.exit(f"bench: nothing to render: {error}")
    pictures = bench_figures.draw(results, args.out)
    report = os.path.join(args.out, "report.md")
    bench_report.write(results, pictures, report)
    if args.readme:
        bench_readme.renew(results, pictures, args.out)
    for failure in failures:
        print(f"bench: not measured: {failure}", file=sys.stderr)
    print(f"bench: {len(results.lines)} figures, {len(pictures)} pictures: {report}")
    return 1 if failures and args.smoke else 0


if __name__ == "__main__":
    sys.exit(main())
