#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Tries the mistakes of a list that somebody wrote who has not read the tests: an audit of the tests.

    drawn-mutants.py BUILD --from LIST [NAME...]

BUILD is a folder that was built with Ninja, tests included.  LIST is written as tests/mutants.txt, but says of
no mistake which test kills it.  A NAME takes those whose name contains it.

One mutant costs one compilation: its object stands before the library when the tests that run its
function are linked, in a folder of its own; BUILD stays as it is.  Which tests run which function is
measured once (with gcov; BUILD/checks/drawn.json).  What the compiler makes the same object of is no
mutant; what it refuses as a warning is killed.  The tests run near and quick ones first, up to the first that
fails or takes many times its usual time.  A test that fails without the mistake, too, does not count.
Exit status: 0 all killed; 1 not; 77 BUILD is not Ninja's, or there is no gcov.
"""
import argparse
import collections
import concurrent.futures
import gzip
import json
import os
import pathlib
import shlex
import shutil
import subprocess
import sys
import tempfile
import threading
import time

from mutants import JOBS, ROOT, functions, leave_nothing_running, read_list, run, shown_tests, those_that_apply

LONGEST = 30  # seconds of a test that is tried
BUDGET = 240  # seconds of all tests that one mutant is tried by
# Children that leave by _exit() would leave no counts behind.
AT_EXIT = """
void __gcov_dump(void);
_Noreturn void __real__exit(int status);
_Noreturn void __wrap__exit(int status);
void __wrap__exit(int status)
{
	__gcov_dump();
	__real__exit(status);
}
"""
COVERAGE = ["--coverage", "-O1", "-Wno-error", "-fprofile-update=prefer-atomic", "-fprofile-abs-path"]
FEW = 8  # tests that somebody named are tried whatever they run
OBJECTS = {"ptrace_static": "ptrace_objects", "ptrace_testpoints": "ptrace_testpoints"}
LIBRARIES = {"ptrace_static": "libptrace.a", "ptrace_testpoints": "tests/libptrace_testpoints.a"}


class Build:
    """What a folder's build knows: how each source is compiled, how each test is linked and run."""

    def __init__(self, folder, work):
        self.folder = folder
        self.work = work
        self.compile = collections.defaultdict(dict)  # source -> library -> words
        for entry in json.loads((folder / "compile_commands.json").read_text()):
            for library in LIBRARIES:
                if f"{OBJECTS[library]}.dir/" in entry["command"]:
                    file = os.path.relpath(entry["file"], ROOT)
                    self.compile[file][library] = shlex.split(entry["command"])
        self.tests = {}
        for test in shown_tests(folder, "-L", "^unit"):
            command = test.get("command", [])
            if len(command) > 3 and pathlib.Path(command[1]).name == "twice":
                command = command[3:]  # sh tests/twice NAME COMMAND
            if len(command) == 1 and pathlib.Path(command[0]).parent == folder / "tests":
                self.tests[test["name"]] = self.link_of(pathlib.Path(command[0]).name)
        self.tests = {name: link for name, link in self.tests.items() if link}

    def link_of(self, program):
        """(library, words before it, words from it on)"""
        text = subprocess.run(["ninja", "-C", self.folder, "-t", "commands", f"tests/{program}"],
                              capture_output=True, text=True, check=True).stdout.splitlines()[-1]
        words = shlex.split(text.replace(": && ", "").replace(" && :", ""))
        for library, archive in LIBRARIES.items():
            if archive in words:
                at = words.index(archive)
                out = words.index("-o")
                return library, words[:out] + words[out + 2 : at], words[at:]
        return None

    def compiled(self, file, library, source, out, more=()):
        """(status, output) of compiling @source as if it were @file."""
        words = list(self.compile[file][library])
        words[words.index("-o") + 1] = str(out)
        words[words.index("-c") + 1] = str(source)
        beside = ["-iquote", str((ROOT / file).parent)]
        return run([*words[:1], *beside, *words[1:], *more], 120)

    def linked(self, test, objects, out, more=()):
        _, before, after = self.tests[test]
        return subprocess.run([*before, *map(str, objects), "-o", str(out), *more, *after], cwd=self.folder,
                              capture_output=True, text=True).returncode

    def ran(self, program, seconds, extra=None):
        """(status, seconds); in a folder for its files, as CTest runs it."""
        home = tempfile.mkdtemp(prefix="t", dir=self.work)
        begun = time.monotonic()
        status, _ = run([program], seconds, cwd=self.folder / "tests",
                        env={**os.environ, "TMPDIR": home, "PXT_FIRST_FAILURE": "1", **(extra or {})})
        shutil.rmtree(home, ignore_errors=True)
        return status, time.monotonic() - begun


class Reach:
    """Which tests run which function, in what time."""

    def __init__(self, build, jobs, budget, again):
        self.build = build
        self.budget = budget
        self.lines = {}
        self.path = build.folder / "checks" / "drawn.json"
        if again or not self.path.exists():
            self.path.parent.mkdir(exist_ok=True)
            self.path.write_text(json.dumps(self.measure(jobs)))
        known = json.loads(self.path.read_text())
        self.seconds = known["seconds"]
        self.reached = known["reached"]  # "file function" -> tests
        # Tests that leave no counts behind, and those that are new since.
        self.everywhere = known["everywhere"] + [test for test in build.tests if test not in self.seconds]
        self.seconds.update((test, 0.1) for test in build.tests if test not in self.seconds)
        self.breadth = collections.Counter(test for tests in self.reached.values() for test in tests)
        self.near = collections.defaultdict(set)
        for key, tests in self.reached.items():
            file = key.split()[0]
            self.near[file].update(tests)
            self.near[file.split("/")[0]].update(tests)
        self.kills = collections.Counter()

    def measure(self, jobs):
        """A second build of the library that counts, linked to every test."""
        build = self.build
        where = build.work / "gcov"
        known = {"seconds": {}, "reached": collections.defaultdict(list), "everywhere": []}
        objects = collections.defaultdict(list)
        where.mkdir()
        (where / "exit.c").write_text(AT_EXIT)
        subprocess.run(["cc", "-c", where / "exit.c", "-o", where / "exit.o"], check=True)
        for file in build.compile:
            for library in build.compile[file]:
                out = where / library / file.replace("/", "@")[:-2]
                out.parent.mkdir(parents=True, exist_ok=True)
                objects[library].append((file, out.with_suffix(".o")))
        with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
            tasks = [(file, library, out) for library in objects for file, out in objects[library]]
            for status, text in pool.map(lambda task: build.compiled(
                    task[0], task[1], ROOT / task[0], task[2], COVERAGE), tasks):
                if status:
                    sys.exit(text)
            for library in objects:
                archive = where / f"{library}.a"
                subprocess.run(["ar", "rcs", archive, *[out for _, out in objects[library]]], check=True)
            for test, seconds, reached in pool.map(lambda test: self.measure_one(test, where), build.tests):
                known["seconds"][test] = seconds
                if seconds is None:
                    continue
                if not reached:
                    known["everywhere"].append(test)
                for key in reached:
                    known["reached"][key].append(test)
        shutil.rmtree(where)
        return known

    def measure_one(self, test, where):
        """(test, seconds as it is, functions); seconds None: it takes too long, or fails as it is."""
        build = self.build
        library, before, after = build.tests[test]
        status, seconds = build.ran(build.folder / "tests" / f"test_{test}", LONGEST)
        if status != 0:
            return test, None, set()
        program = build.work / f"counted-{test}"
        subprocess.run([*before, where / f"{library}.a", *after[1:], where / "exit.o", "-Wl,--wrap=_exit",
                        "--coverage", "-o", program], cwd=build.folder, check=True)
        prefix = build.work / f"counts-{test}"
        build.ran(program, 3 * LONGEST, {"GCOV_PREFIX": str(prefix)})
        program.unlink()
        counts = prefix / str(where / library)[1:]
        reached = self.functions_in(counts, where / library) if counts.exists() else set()
        shutil.rmtree(prefix, ignore_errors=True)
        return test, seconds, reached

    def functions_in(self, counts, notes):
        """{"file function"} of which a line ran; the notes of the compiler are put beside the counts."""
        for note in notes.glob("*.gcno"):
            (counts / note.name).symlink_to(note)
        names = [path.name for path in counts.glob("*.gcda")]
        subprocess.run(["gcov", "--json-format", *names], cwd=counts, stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL, check=False)
        reached = set()
        for path in counts.glob("*.gcov.json.gz"):
            for file in json.loads(gzip.decompress(path.read_bytes()))["files"]:
                source = os.path.relpath(file["file"], ROOT)
                ran = {line["line_number"] for line in file["lines"] if line["count"] > 0}
                reached.update(f"{source} {name}" for name, lines in self.bodies(source)
                               if not ran.isdisjoint(lines))
        return reached

    def bodies(self, source):
        """(name, its lines) of the functions of a source of the library."""
        if source not in self.build.compile:
            return ()
        if source not in self.lines:
            text = (ROOT / source).read_text()
            self.lines[source] = [(name, range(text.count("\n", 0, start), text.count("\n", 0, end) + 2))
                                  for name, start, end in functions(text)]
        return self.lines[source]

    def tests_of(self, mutant):
        """
        Quick ones first, and those that run little else; what has killed in that file before is taken for
        quicker.
        """
        left = self.budget
        seen = set()
        for tier in self.tiers(mutant):
            names = {name for name in tier if self.seconds.get(name) is not None and name in self.build.tests}
            for name in sorted(names - seen, key=lambda name: (0.1 + self.seconds[name]) * (20 + self.breadth[name])
                               / (1 + 4 * self.kills[mutant.file, name] + 8 * self.kills[mutant.function, name])):
                left -= self.seconds[name]
                if left >= 0:
                    yield name
            seen |= names

    def tiers(self, mutant):
        """Tests that run the function; then, as a killed child leaves no counts, what runs its file, its folder."""
        folder = mutant.file.split("/")[0]
        if len(self.build.tests) < FEW:
            yield set(self.build.tests)
        yield set(self.reached.get(f"{mutant.file} {mutant.function}", ())) | set(self.everywhere)
        yield self.near[mutant.file]
        if folder not in ("format", "base", "core", "port"):
            yield self.near[folder]


class Trial:
    def __init__(self, build, measured):
        self.build = build
        self.measured = measured  # makes the Reach, when the first mutant needs it
        self.reached = None
        self.usual = {}
        self.reach_lock = threading.Lock()
        self.texts = {}
        self.plain = {}
        self.lock = threading.Lock()

    @property
    def reach(self):
        with self.reach_lock:
            if not self.reached:
                self.reached = self.measured()
            return self.reached

    def usual_seconds(self, test):
        """None: the test fails as it is, or takes too long."""
        if test not in self.usual:
            status, seconds = self.build.ran(self.build.folder / "tests" / f"test_{test}", LONGEST)
            self.usual[test] = seconds if status == 0 else None
        return self.usual[test]

    def text(self, file):
        if file not in self.texts:
            self.texts[file] = (ROOT / file).read_text()
        return self.texts[file]

    def compiled(self, file, library, text, folder):
        """(bytes of the object or None, its path, what the compiler said)"""
        source = folder / pathlib.Path(file).name
        source.write_text(text)
        out = folder / f"{library}.o"
        # The same name in the same depth everywhere: equal code makes equal objects.
        status, said = self.build.compiled(file, library, source, out, ["-Werror", f"-ffile-prefix-map={folder}=."])
        return out.read_bytes() if status == 0 else None, out, said

    def original(self, file, folder):
        with self.lock:
            if file not in self.plain:
                self.plain[file] = self.compiled(file, "ptrace_static", self.text(file), folder)[0]
            return self.plain[file]

    def __call__(self, mutant):
        """(verdict, by whom); the verdict is killed, survived, same (no mutant) or invalid."""
        folder = pathlib.Path(tempfile.mkdtemp(prefix="m", dir=self.build.work))
        try:
            return self.tried(mutant, folder)
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    def tried(self, mutant, folder):
        text = mutant.edit(self.text(mutant.file))
        plain = self.original(mutant.file, folder)
        code, out, said = self.compiled(mutant.file, "ptrace_static", text, folder)
        if code is None:
            wrong = [line for line in said.splitlines() if " error: " in line]
            by_warning = wrong and all("[-Werror" in line for line in wrong)
            return ("killed", "the build") if by_warning else ("invalid", "")
        if code == plain:
            return "same", ""
        objects = {"ptrace_static": out}
        tried = 0
        for test in self.reach.tests_of(mutant):
            verdict = self.judged(mutant, test, self.reach.seconds[test], objects, text, folder)
            tried += 1
            if verdict:
                self.reach.kills[mutant.file, test] += 1
                self.reach.kills[mutant.function, test] += 1
                return "killed", verdict
        return "survived", f"{tried} tests"

    def judged(self, mutant, test, usual, objects, text, folder):
        """How @test, which takes @usual seconds, killed it; None: it did not."""
        library = self.build.tests[test][0]
        if library not in objects:
            objects[library] = self.compiled(mutant.file, library, text, folder)[1]
        program = folder / f"test_{test}"
        if self.build.linked(test, [objects[library]], program) != 0:
            return f"linking {test}"
        status, _ = self.build.ran(program, 5 + 8 * usual)
        program.unlink()
        if status in (0, 77) or self.usual_seconds(test) is None:
            return None
        return test + (" (hang)" if status is None else "")


def go(trial, mutants, jobs):
    """Returns those that survived."""
    verdicts = collections.Counter()
    survivors = []

    def one(mutant):
        begun = time.monotonic()
        return mutant, *trial(mutant), time.monotonic() - begun

    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        for mutant, verdict, by, seconds in pool.map(one, mutants):
            verdicts[verdict] += 1
            if verdict == "survived":
                survivors.append(mutant)
            print(f"{verdict:9} [{mutant.name}]  {by}, {seconds:.0f} s", flush=True)
    print(", ".join(f"{number} {verdict}" for verdict, number in sorted(verdicts.items())))
    return survivors


def main():
    # Tests at full length would take ten times as long, and kill no more.
    os.environ.pop("PXT_STRESS", None)
    leave_nothing_running()
    parser = argparse.ArgumentParser()
    parser.add_argument("--jobs", type=int, default=JOBS)
    parser.add_argument("--measure", action="store_true", help="which tests run what, anew")
    parser.add_argument("--from", dest="list", type=pathlib.Path, required=True)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("names", nargs="*")
    arguments = parser.parse_intermixed_args()
    if not (arguments.build / "build.ninja").exists() or not shutil.which("gcov"):
        print("no build of Ninja's, or no gcov: skipped")
        sys.exit(77)
    begun = time.monotonic()
    work = pathlib.Path(tempfile.mkdtemp(prefix="pxt-drawn-"))
    try:
        build = Build(arguments.build.resolve(), work)
        mutants = [mutant for mutant in those_that_apply(read_list(arguments.list), arguments.list)
                   if not arguments.names or any(name in mutant.name for name in arguments.names)]
        for mutant in mutants:
            if mutant.file not in build.compile:
                print(f"not tried [{mutant.name}]: {mutant.file} is no source of the library in this build")
        mutants = [mutant for mutant in mutants if mutant.file in build.compile]
        survivors = go(Trial(build, lambda: Reach(build, arguments.jobs, BUDGET, arguments.measure)), mutants,
                       arguments.jobs)
    finally:
        shutil.rmtree(work, ignore_errors=True)
    print(f"{len(survivors)} not killed, {time.monotonic() - begun:.0f} s")
    sys.exit(1 if survivors else 0)


if __name__ == "__main__":
    main()
