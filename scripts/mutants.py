#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Proves that the tests notice mistakes: each mutant of tests/mutants.txt must be killed.

    mutants.py [--jobs N] [--keep] [NAME...]      all, or those whose name contains NAME
    mutants.py --check                            only: does every old text match exactly once?

A mutant is one small wrong edit of the library.  It is applied to a copy of the tree, the one
test program that must notice it is built and run, and the edit is taken back.  A test that fails,
crashes or hangs has killed the mutant; some mistakes show by chance, so a test that passes is run
up to five times, and the report says when it took more than one.  Exit status: 0 all killed; 1 one survived, does not
apply, does not build, or its test fails without it as well; 77 no C compiler or CMake.

The list (tests/mutants.txt) consists of blocks; lines with # are remarks:

    [name of the mutant]
    file: core/ring.h
    kill: law the_law_holds_in_a_storm_of_signals     test as CTest names it, then its cases (or all)
    kill: tool.a_deadlock_is_named                    a test of a command (tests/tool/*.sh)
    kill: tsan.port who_loads_a_slot_sees_...         a test in a build with ThreadSanitizer
    - the old text, one or more lines; blanks before each line do not matter
    + the new text (none: the old text is taken out)
"""
import argparse
import concurrent.futures
import dataclasses
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
LIST = ROOT / "tests" / "mutants.txt"
NAMED = ROOT / "tests" / "tool" / "attached.sh"  # its tests want one more program
BUILD_SECONDS = 600
RUN_SECONDS = 40
TURNS = 5


@dataclasses.dataclass
class Mutant:
    name: str
    line: int
    file: str = ""
    kill: list = dataclasses.field(default_factory=list)
    old: list = dataclasses.field(default_factory=list)
    new: list = dataclasses.field(default_factory=list)

    def edit(self, text):
        """The mutated text; the reason why there is none as ValueError."""
        pattern = r"\n[ \t]*".join(re.escape(line.strip()) for line in self.old)
        found = list(re.finditer(pattern, text))
        if len(found) != 1:
            raise ValueError(f"its old text is there {len(found)} times")
        return text[: found[0].start()] + "\n".join(self.new) + text[found[0].end() :]


def read_list():
    mutants = []
    for number, line in enumerate(LIST.read_text().splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        if line.startswith("["):
            mutants.append(Mutant(line.strip("[]"), number))
        elif not mutants:
            sys.exit(f"{LIST.name}:{number}: no [name] before this line")
        elif line.startswith("file: "):
            mutants[-1].file = line[6:].strip()
        elif line.startswith("kill: "):
            mutants[-1].kill = line[6:].split()
        elif line == "-" or line.startswith("- "):
            mutants[-1].old.append(line[2:])
        elif line == "+" or line.startswith("+ "):
            mutants[-1].new.append(line[2:])
        else:
            sys.exit(f"{LIST.name}:{number}: what is this?")
    names = set()
    for mutant in mutants:
        if not mutant.file or not mutant.kill or not mutant.old or mutant.name in names:
            sys.exit(f"{LIST.name}:{mutant.line}: incomplete, or a name used twice: {mutant.name}")
        names.add(mutant.name)
    return mutants


def check_that_all_apply(mutants):
    bad = 0
    for mutant in mutants:
        try:
            mutant.edit((ROOT / mutant.file).read_text())
        except (OSError, ValueError) as error:
            print(f"{LIST.name}:{mutant.line}: {mutant.name}: {error}")
            bad += 1
    return bad


class Copy:
    """A copy of the tree with a build of its own."""

    def __init__(self, where, number):
        self.tree = where / f"tree{number}"
        self.build = where / f"build{number}"
        self.sanitized = where / f"tsan{number}"
        self.originals = {}
        ignore = shutil.ignore_patterns(".git", "build", "build-*", "__pycache__")
        shutil.copytree(ROOT, self.tree, ignore=ignore, symlinks=True)
        self.configure(self.build)

    def configure(self, build, *options):
        command = ["cmake", "-S", self.tree, "-B", build, "-DPTRACE_WERROR=OFF",
                   "-DPTRACE_EXAMPLES=OFF", "-DPTRACE_BENCH=OFF",
                   "-DPTRACE_INSTALL=OFF", "-DPTRACE_CHECKS=OFF", *options]
        if shutil.which("ninja"):
            command += ["-G", "Ninja"]
        if shutil.which("ccache"):
            command += ["-DCMAKE_C_COMPILER_LAUNCHER=ccache"]
        run(command, BUILD_SECONDS, check=True)

    def put(self, file, text):
        path = self.tree / file
        before = path.stat().st_mtime
        path.write_text(text)
        # Make compares times, and some file systems count only seconds.
        now = max(time.time(), before + 1)
        os.utime(path, (now, now))

    def build_sanitized(self, test, jobs):
        """Made by the first mutant that asks for it; its programs end at the first report."""
        if not (self.sanitized / "CMakeCache.txt").exists():
            compiler = shutil.which("clang") or shutil.which("clang-14") or "cc"
            self.configure(self.sanitized, "-DPTRACE_SANITIZER=tsan", "-DCMAKE_BUILD_TYPE=Debug",
                           f"-DCMAKE_C_COMPILER={compiler}", "-DPTRACE_TOOLS=OFF", "-DPTRACE_SHARED=OFF",
                           "-DCMAKE_C_FLAGS=-O1 -mcx16 -fsanitize=thread")
        return run(["cmake", "--build", self.sanitized, "-j", str(jobs), "--target", f"test_{test}"],
                   BUILD_SECONDS)

    def build_test(self, test, jobs):
        if test.startswith("tsan."):
            return self.build_sanitized(test[5:], jobs)
        targets = ["pxtrace", "mklog"] if test.startswith("tool.") else [f"test_{test}"]
        if f"\n{test[5:]}()\n" in NAMED.read_text():
            targets.append("named")
        return run(["cmake", "--build", self.build, "-j", str(jobs), "--target", *targets],
                   BUILD_SECONDS)

    def run_test(self, kill):
        if kill[0].startswith("tool."):
            # --no-tests: a name that no test has is no test that passes.
            return run(["ctest", "--test-dir", self.build, "--output-on-failure", "--no-tests=error",
                        "-R", f"^{re.escape(kill[0])}$"], RUN_SECONDS)
        if kill[0].startswith("tsan."):
            return run([self.sanitized / "tests" / f"test_{kill[0][5:]}", *kill[1:]], RUN_SECONDS)
        return run([self.build / "tests" / f"test_{kill[0]}", *kill[1:]], RUN_SECONDS)


def run(command, seconds, check=False):
    """(status, output); status None: took too long."""
    with tempfile.TemporaryFile() as output:
        process = subprocess.Popen([str(word) for word in command], stdout=output,
                                   stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL,
                                   start_new_session=True)
        try:
            status = process.wait(seconds)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, 9)
            process.wait()
            status = None
        output.seek(0)
        text = output.read().decode(errors="replace")
    if check and status != 0:
        sys.exit(f"{' '.join(str(word) for word in command)}:\n{text}")
    return status, text


def tail(text, lines=25):
    return "\n".join("    | " + line for line in text.splitlines()[-lines:])


def try_mutant(copy, mutant, jobs):
    """(killed, what to print)"""
    original = (copy.tree / mutant.file).read_text()
    try:
        copy.put(mutant.file, mutant.edit(original))
    except ValueError as error:
        return False, f"DOES NOT APPLY  {mutant.name}: {error}"
    try:
        begun = time.monotonic()
        status, text = copy.build_test(mutant.kill[0], jobs)
        if status != 0:
            return False, f"DOES NOT BUILD  {mutant.name}\n{tail(text)}"
        built = time.monotonic()
        for turn in range(1, TURNS + 1):
            status, text = copy.run_test(mutant.kill)
            if status != 0:
                break
        took = f"{built - begun:.0f} + {time.monotonic() - built:.0f} s"
    finally:
        copy.put(mutant.file, original)
    by = " ".join(mutant.kill)
    if status == 0:
        return False, f"SURVIVED        {mutant.name}, by {by} ({took})\n{tail(text)}"
    if status == 77:
        return False, f"NOT TESTED      {mutant.name}: {by} skips everything"
    how = "hang" if status is None else f"status {status}"
    if turn > 1:
        how += f", run {turn}"
    return True, f"killed          {mutant.name}, by {mutant.kill[0]} ({how}, {took})"


def healthy(copy, mutants, jobs):
    """Without a mutant the same tests pass; else "killed" would mean nothing."""
    bad = 0
    for kill in sorted({tuple(mutant.kill) for mutant in mutants}):
        status, text = copy.build_test(kill[0], jobs)
        if status == 0:
            status, text = copy.run_test(kill)
        if status != 0:
            print(f"FAILS ANYWAY    {' '.join(kill)} (status {status})\n{tail(text)}", flush=True)
            bad += 1
    return bad


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--keep", action="store_true", help="leave the copies for a look")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("names", nargs="*")
    arguments = parser.parse_args()
    mutants = [mutant for mutant in read_list()
               if not arguments.names or any(name in mutant.name for name in arguments.names)]
    if arguments.check:
        bad = check_that_all_apply(mutants)
        print(f"{len(mutants)} mutants, {bad} do not apply")
        sys.exit(bad != 0)
    if not shutil.which("cmake"):
        print("no cmake: skipped")
        sys.exit(77)
    where = pathlib.Path(tempfile.mkdtemp(prefix="pxt-mutants-"))
    begun = time.monotonic()
    try:
        workers = max(1, min(arguments.jobs, len(mutants)))
        copies = [Copy(where, number) for number in range(workers)]
        bad = work(copies, mutants)
    finally:
        if arguments.keep:
            print(f"kept: {where}")
        else:
            shutil.rmtree(where, ignore_errors=True)
    print(f"{len(mutants)} mutants, {len(mutants) - bad} killed, {bad} not, "
          f"{time.monotonic() - begun:.0f} s")
    sys.exit(bad != 0)


def work(copies, mutants):
    free = list(copies)
    lock = threading.Lock()

    def one(task):
        with lock:
            copy = free.pop()
        try:
            good, text = task(copy)
        finally:
            with lock:
                free.append(copy)
        if text:
            print(text, flush=True)
        return good

    # Tests of one program one after the other: then little is built again.
    ordered = sorted(mutants, key=lambda mutant: mutant.kill)
    with concurrent.futures.ThreadPoolExecutor(len(copies)) as pool:
        share = [ordered[number :: len(copies)] for number in range(len(copies))]
        sick = sum(pool.map(lambda pair: healthy(pair[0], pair[1], 1), zip(copies, share)))
        if sick:
            return len(mutants)
        return sum(not good for good in pool.map(
            one, [lambda copy, mutant=mutant: try_mutant(copy, mutant, 1) for mutant in ordered]))


if __name__ == "__main__":
    main()
