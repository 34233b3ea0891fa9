#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Proves that the tests notice mistakes: each mutant of tests/mutants.txt must be killed.

    mutants.py [--jobs N] [--build BUILD [--passed]] [NAME...]      all, or those whose name contains NAME
    mutants.py --check                            only: does every old text match exactly once?
    mutants.py --from LIST --build BUILD [NAME...]    an audit of the tests: mistakes of somebody who has not read them

A mutant is one small wrong edit of the library.  It is applied to a copy of the tree; the objects that
read the edited file are compiled from there, the one test program that must notice it is linked with
them before its archives, and run; the edit is taken back.  All else is BUILD's (build; made if there is
none), which stays as it is.  A test that fails,
crashes or hangs has killed the mutant; some mistakes show by chance, so a test that passes is run
up to five times, and the report says when it took more than one.  Before that each test is run without a
mutant; --passed: BUILD's tests have just passed, so that is done for those alone that take longer than usual.
Of another list, whose mutants say of no test that it kills them, each unit test is tried, those of the mutated
folder and the quick ones first, for so many seconds (BUDGET).
Exit status: 0 all killed; 1 one survived, does not build, or its test fails without it as well; or the list
is too old; 77 no CMake or Ninja.

The list (tests/mutants.txt) consists of blocks; lines with # are remarks:

    [name of the mutant]
    in: pxt_ring_reserve                              the function, wherever it is defined; without
                                                      this line: what is in no function
    kill: law the_law_holds_in_a_storm_of_signals     test as CTest names it, then its cases (or all)
    needs: counter                                    not tried where this kernel keeps the counter from
                                                      programs (port/posix/counter.c)
    - the old text, a line or several; blanks and ends of lines between its words do not matter
    + the new text (none: the old text is taken out)

No file is named: a function may move.  The old text must stand once in all functions of that name.  A mutant
whose text was changed is told and left out; where that is more than a fifth, the list is too old.
"""
import argparse
import collections
import concurrent.futures
import dataclasses
import functools
import json
import os
import pathlib
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
LIST = ROOT / "tests" / "mutants.txt"
FOLDERS = ("format", "base", "port", "core", "tiny", "online", "tolog", "userevents", "filter", "inherit",
           "blackbox", "sysevents", "attach", "logretrieval")  # where functions are looked for
BUILD_SECONDS = 600
RUN_SECONDS = 40
FIRST_SECONDS = 10  # so long nobody asks how long a test usually takes
TURNS = 5
BUDGET = 240  # seconds of all tests that a mutant of another list is tried by
# One more than there are processors: many tests sleep for half of their time.
JOBS = (os.cpu_count() or 1) + 1


@dataclasses.dataclass
class Mutant:
    name: str
    line: int
    function: str = ""
    file: str = ""
    needs: str = ""
    kill: list = dataclasses.field(default_factory=list)
    old: list = dataclasses.field(default_factory=list)
    new: list = dataclasses.field(default_factory=list)

    def code(self):
        """What it quotes, in one line."""
        return " ".join(" ".join(self.old).split())

    def pattern(self):
        """Finds that, however the lines are broken."""
        return re.compile(r"\s+".join(map(re.escape, self.code().split())))

    def span(self, text):
        """Where its old text is in its file."""
        spans = [(first, last) for name, first, last in functions(text) if name == self.function]
        return next(match.span() for first, last in (spans if self.function else [(0, len(text))])
                    for match in self.pattern().finditer(text, first, last))

    def edit(self, text):
        first, last = self.span(text)
        return text[:first] + "\n".join(self.new) + text[last:]


def functions(text):
    """(name, begin, end) of each function with a body."""
    for body in re.finditer(r"^\{\n.*?^\}$", text, re.M | re.S):
        head = re.split(r"\n\s*\n|^[#}].*$|\*/", text[: body.start()], flags=re.M)[-1]
        named = re.search(r"(\w+)\(", re.sub(r"__attribute__\(\(.*?\)\)", "", head))
        if named:
            yield named[1], body.start() - len(head), body.end()


@functools.lru_cache(maxsize=None)
def sources():
    """File -> (its text, its functions), of the library."""
    texts = {str(path.relative_to(ROOT)): path.read_text()
             for folder in FOLDERS for path in sorted((ROOT / folder).rglob("*.[ch]"))}
    return {file: (text, list(functions(text))) for file, text in texts.items()}


@functools.lru_cache(maxsize=None)
def words_of(path):
    return frozenset(re.findall(r"\w+", path.read_text()))


@functools.lru_cache(maxsize=None)
def header_words():
    """What headers define, functions and macros -> the words in it."""
    words = collections.defaultdict(set)
    for folder in FOLDERS:
        for path in (ROOT / folder).rglob("*.h"):
            text = path.read_text()
            found = [(name, text[first:last]) for name, first, last in functions(text)]
            found += [(macro[1], macro[0]) for macro in
                      re.finditer(r"^[ \t]*#[ \t]*define[ \t]+(\w+)(?:.*\\\n)*.*$", text, re.M)]
            for name, body in found:
                words[name].update(set(re.findall(r"\w+", body)) - {name})
    return words


@functools.lru_cache(maxsize=None)
def users_in_headers(function):
    """The names by which a source may use @function of a header: its own, and of what stands above it there."""
    names, added = set(), {function}
    while added:
        names |= added
        added = {name for name, words in header_words().items() if name not in names and words & added}
    return frozenset(names)


def find_file(mutant):
    """Says where its old text is; false: not there, or more than once."""
    found = []
    for file, (text, inside) in sources().items():
        spans = ([(first, last) for name, first, last in inside if name == mutant.function]
                 if mutant.function else [(0, len(text))])
        found += [file for first, last in spans for _ in mutant.pattern().finditer(text, first, last)]
    if len(found) == 1:
        mutant.file = found[0]
    return len(found) == 1


def read_list(path=LIST):
    """Those of another list need not say which test kills them."""
    mutants = []
    for number, line in enumerate(path.read_text().splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        if line.startswith("["):
            mutants.append(Mutant(line.strip("[]"), number))
        elif not mutants:
            sys.exit(f"{path.name}:{number}: no [name] before this line")
        elif line.startswith("in: "):
            mutants[-1].function = line[4:].strip()
        elif line == "needs: counter":
            mutants[-1].needs = "counter"
        elif line.startswith("kill: "):
            mutants[-1].kill = line[6:].split()
        elif line == "-" or line.startswith("- "):
            mutants[-1].old.append(line[2:])
        elif line == "+" or line.startswith("+ "):
            mutants[-1].new.append(line[2:])
        else:
            sys.exit(f"{path.name}:{number}: what is this?")
    names = set()
    for mutant in mutants:
        if (path == LIST and not mutant.kill) or not mutant.old or mutant.name in names:
            sys.exit(f"{path.name}:{mutant.line}: incomplete, or a name used twice: {mutant.name}")
        names.add(mutant.name)
    return mutants


def those_that_apply(mutants, path=LIST):
    """The others are told."""
    for mutant in mutants:
        if find_file(mutant):
            yield mutant
        else:
            print(f"{path.name}:{mutant.line}: {mutant.name}: its old text is not there just once")


def shown_tests(folder, *which):
    """What CTest says of tests of a build; asked from elsewhere, since it takes away the log of another one there."""
    with tempfile.TemporaryDirectory(prefix="pxt-shown-") as place:
        pathlib.Path(place, "CTestTestfile.cmake").write_text(f'subdirs("{folder}")\n')
        done = subprocess.run(["ctest", "--test-dir", place, "--show-only=json-v1", *which],
                              capture_output=True, text=True, check=True)
    return json.loads(done.stdout)["tests"]


class Build:
    """A folder that was built with Ninja: how each object is compiled, what each program is linked of."""

    def __init__(self, folder):
        self.folder = folder
        self.objects = {}  # as the build names it -> (source, words of its compilation)
        for entry in json.loads((folder / "compile_commands.json").read_text()):
            words = shlex.split(entry["command"])
            self.objects[words[words.index("-o") + 1]] = os.path.relpath(entry["file"], ROOT), words
        self.links = {}
        self.read = None
        self.units = None
        self.usual = {}  # kill line -> seconds without a mutant
        self.lock = threading.Lock()

    def made(self, targets):
        run(["cmake", "--build", self.folder, "--target", *targets], BUILD_SECONDS, check=True)

    def told(self, *words):
        done = subprocess.run(words, cwd=self.folder, capture_output=True, text=True, check=True)
        return done.stdout

    def nearest(self, file):
        """Kill lines of all unit tests: those of @file or its folder first, of these the quick ones."""
        path = pathlib.Path(file)
        with self.lock:
            if self.units is None:
                self.units = [test["name"] for test in shown_tests(self.folder, "-L", "^unit")
                              if (self.folder / "tests" / f"test_{test['name']}").exists()]
        return [[name] for name in sorted(self.units, key=lambda name: (
            not (name.startswith(path.parts[0]) or path.stem in name), self.usual.get((name,), 1)))]

    def link(self, program):
        """(words of its link, archive -> objects in it)"""
        with self.lock:
            if program not in self.links:
                archives = {}
                for line in self.told("ninja", "-t", "commands", program).splitlines():
                    words = shlex.split(line)
                    if "qc" in words:
                        at = words.index("qc") + 1
                        archives[words[at]] = [word for word in words[at + 1 :] if word.endswith(".o")]
                self.links[program] = words[words.index("&&") + 1 : len(words) - 2], archives
            return self.links[program]

    def readers(self, file):
        """Objects whose compilation read @file."""
        with self.lock:
            if self.read is None:
                self.read = collections.defaultdict(set)
                for line in self.told("ninja", "-t", "deps").splitlines():
                    if not line.startswith(" "):
                        name = line.split(": #")[0]
                    elif line.strip():
                        self.read[os.path.relpath(os.path.join(self.folder, line.strip()), ROOT)].add(name)
        return self.read[file]

    def changed(self, file, function):
        """Of those the ones in which something may use the header's @function.  A name that is pasted together
        is missed: then its mutant survives."""
        if not function or not file.endswith(".h"):
            return self.readers(file)
        names = users_in_headers(function)
        return {name for name in self.readers(file) if names & words_of(ROOT / self.objects[name][0])}


class Copy:
    """A copy of the tree, in which mutants are made one after the other."""

    def __init__(self, where, number, build):
        self.base = build
        self.tree = where / f"tree{number}"
        self.work = where / f"work{number}"
        ignore = shutil.ignore_patterns(".git", "build", "build-*", "__pycache__", "papers")
        shutil.copytree(ROOT, self.tree, ignore=ignore, symlinks=True)
        # Sources are the copy's; what the build made for them stays where it is.
        kept = re.escape(os.path.relpath(build.folder, ROOT))
        self.own = re.compile(rf"{re.escape(str(ROOT))}(?=/|$)(?!/{kept}(?:/|$))")
        # A build folder to the eyes of tests: all is the real one's but what is linked here.
        self.build = self.work / "build"
        shutil.rmtree(self.work, ignore_errors=True)
        inner = build.folder / "tests"
        for part in (build.folder, inner):
            folder = self.build / os.path.relpath(part, build.folder)
            folder.mkdir(parents=True)
            for path in part.iterdir():
                if path != inner:
                    (folder / path.name).symlink_to(path)

    def put(self, file, text):
        path = self.tree / file
        before = path.stat().st_mtime
        path.write_text(text)
        # Make compares times, and some file systems count only seconds.
        now = max(time.time(), before + 1)
        os.utime(path, (now, now))

    def restore(self):
        """No program is another one than the build's."""
        for path in (self.build / "tests").glob("test_*"):
            if not path.is_symlink():
                path.unlink()
                path.symlink_to(self.base.folder / "tests" / path.name)
        shutil.rmtree(self.work / "objects", ignore_errors=True)

    def compiled(self, name, file):
        """(status, output, the object that the mutated tree makes instead of the build's)"""
        _, words = self.base.objects[name]
        out = self.work / "objects" / name
        if out.exists():
            return 0, "", out
        out.parent.mkdir(parents=True, exist_ok=True)
        words = [self.own.sub(lambda _: str(self.tree), word) for word in words]
        words[words.index("-o") + 1] = str(out)
        status, text = run([*words, "-Wno-error"], BUILD_SECONDS, cwd=self.base.folder)
        return status, text, out

    def linked(self, program, file, function):
        """Links @program anew if the mutated file is in it; a mutated object stands before its archive."""
        words, archives = self.base.link(program)
        readers = self.base.changed(file, function)
        first, inside = [], set()
        for at, word in enumerate(words):
            if word in archives:
                # The same source in two archives: the linker takes the first.
                names = [name for name in archives[word] if name in readers
                         and self.base.objects[name][0] not in inside]
                inside.update(self.base.objects[name][0] for name in names)
            else:
                names = [word] if word in readers else []
            for name in names:
                status, text, out = self.compiled(name, file)
                if status != 0:
                    return status, text
                if word in archives:
                    first.append(str(out))
                else:
                    words = [*words[:at], str(out), *words[at + 1 :]]
        if not first and words is self.base.link(program)[0]:
            return 0, ""
        (self.build / program).unlink(missing_ok=True)
        at = words.index("-o")
        words = [*words[:at], *first, "-o", str(self.build / program), *words[at + 2 :]]
        return run(words, BUILD_SECONDS, cwd=self.base.folder)

    def build_test(self, test, file, function=""):
        """(status, output) of test @test, made anew where it holds the mutated @file."""
        return self.linked(f"tests/test_{test}", file, function) if file else (0, "")

    def run_test(self, kill):
        """What takes many times as long as without a mutant hangs."""
        if tuple(kill) not in self.base.usual:
            done = self.run_for(kill, self.build, FIRST_SECONDS)
            if done[0] is not None:
                return done
            status, text = self.measure(kill, self.base.folder)
            if status != 0:
                return 0, f"without the mutant: status {status}\n{text}"
        return self.run_for(kill, self.build, min(RUN_SECONDS, 5 + 10 * self.base.usual[tuple(kill)]))

    def measure(self, kill, build):
        """Runs it without a mutant, in @build; how long that takes is kept."""
        begun = time.monotonic()
        done = self.run_for(kill, build, RUN_SECONDS)
        self.base.usual[tuple(kill)] = time.monotonic() - begun
        return done

    def run_for(self, kill, build, seconds):
        return run([build / "tests" / f"test_{kill[0]}", *kill[1:]], seconds,
                   env={**os.environ, "PXT_FIRST_FAILURE": "1"})


def configure(source, build, *options):
    command = ["cmake", "-S", source, "-B", build, "-DPTRACE_TESTS=ON",
               "-DPTRACE_INSTALL=OFF", *options]
    if shutil.which("ninja"):
        command += ["-G", "Ninja"]
    run(command, BUILD_SECONDS, check=True)


RUNNING = set()  # the leaders of sessions of their own: no signal to this process reaches them


def kill_session(leader):
    try:
        os.killpg(leader, signal.SIGKILL)
    except ProcessLookupError:
        pass


def end_what_runs(number, _frame):
    """Handles a signal that ends this process."""
    for leader in list(RUNNING):
        kill_session(leader)
    signal.signal(number, signal.SIG_DFL)
    os.kill(os.getpid(), number)


def leave_nothing_running():
    for number in (signal.SIGHUP, signal.SIGINT, signal.SIGTERM):
        if signal.getsignal(number) != signal.SIG_IGN:
            signal.signal(number, end_what_runs)


def run(command, seconds, check=False, **options):
    """(status, output); status None: took too long."""
    with tempfile.TemporaryFile() as output:
        process = subprocess.Popen([str(word) for word in command], stdout=output,
                                   stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL,
                                   start_new_session=True, **options)
        RUNNING.add(process.pid)
        try:
            status = process.wait(seconds)
        except subprocess.TimeoutExpired:
            status = None
        kill_session(process.pid)  # children that hang, too
        process.wait()
        RUNNING.discard(process.pid)
        output.seek(0)
        text = output.read().decode(errors="replace")
    if check and status != 0:
        sys.exit(f"{' '.join(str(word) for word in command)}:\n{text}")
    return status, text


def tail(text, lines=25):
    return "\n".join("    | " + line for line in text.splitlines()[-lines:])


def try_mutant(copy, mutant):
    """(killed, what to print)"""
    original = (copy.tree / mutant.file).read_text()
    copy.put(mutant.file, mutant.edit(original))
    try:
        if mutant.kill:
            return try_test(copy, mutant, mutant.kill, TURNS)
        begun = time.monotonic()
        for tried, kill in enumerate(copy.base.nearest(mutant.file), 1):
            killed, text = try_test(copy, mutant, kill, 1)
            if killed or time.monotonic() - begun > BUDGET:
                return killed, text
        return False, f"SURVIVED        {mutant.name}, by {tried} tests"
    finally:
        copy.put(mutant.file, original)
        copy.restore()


def try_test(copy, mutant, kill, turns):
    """The same, of one test."""
    begun = time.monotonic()
    status, text = copy.build_test(kill[0], mutant.file, mutant.function)
    if status != 0:
        return False, f"DOES NOT BUILD  {mutant.name}\n{tail(text)}"
    built = time.monotonic()
    for turn in range(1, turns + 1):
        status, text = copy.run_test(kill)
        if status != 0:
            break
    took = f"{built - begun:.0f} + {time.monotonic() - built:.0f} s"
    by = " ".join(kill)
    if status == 0:
        return False, f"SURVIVED        {mutant.name}, by {by} ({took})\n{tail(text)}"
    if status == 77:
        return False, f"NOT TESTED      {mutant.name}: {by} skips everything"
    if status == 2 and "no test is named" in text:
        return False, f"NOT TESTED      {mutant.name}: {by}: there is no such case"
    how = "hang" if status is None else f"status {status}"
    if turn > 1:
        how += f", run {turn}"
    return True, f"killed          {mutant.name}, by {kill[0]} ({how}, {took})"


def counter_is_there():
    """As the port sees it."""
    try:
        return "tsc" in pathlib.Path("/sys/devices/system/clocksource/clocksource0/available_clocksource").read_text()
    except OSError:
        return True


def healthy(copy, mutants):
    """Without a mutant the same tests pass; else "killed" would mean nothing."""
    bad = 0
    for kill in sorted({tuple(mutant.kill) for mutant in mutants if mutant.kill}):
        status, text = copy.build_test(kill[0], None)
        if status == 0:
            status, text = copy.measure(kill, copy.build)
        if status != 0:
            print(f"FAILS ANYWAY    {' '.join(kill)} (status {status})\n{tail(text)}", flush=True)
            bad += 1
    return bad


def main():
    # Tests at full length would take ten times as long, and kill no more.
    os.environ.pop("PXT_STRESS", None)
    leave_nothing_running()
    parser = argparse.ArgumentParser()
    parser.add_argument("--jobs", type=int, default=JOBS)
    parser.add_argument("--build", type=pathlib.Path, help="a folder that was built with Ninja (build)")
    parser.add_argument("--passed", action="store_true", help="its tests pass")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--from", dest="list", type=pathlib.Path, default=LIST)
    parser.add_argument("names", nargs="*")
    arguments = parser.parse_args()
    listed = [mutant for mutant in read_list(arguments.list)
              if not arguments.names or any(name in mutant.name for name in arguments.names)]
    mutants = list(those_that_apply(listed, arguments.list))
    lost = len(listed) - len(mutants)
    untried = [mutant for mutant in mutants if mutant.needs and not counter_is_there()]
    if arguments.check or lost > len(listed) // 5:
        print(f"{len(listed)} mutants, {lost} do not apply")
        sys.exit(lost != 0)
    if not shutil.which("cmake") or not shutil.which("ninja"):
        print("no CMake, or no Ninja: skipped")
        sys.exit(77)
    mutants = [mutant for mutant in mutants if mutant not in untried]
    where = pathlib.Path(tempfile.mkdtemp(prefix="pxt-mutants-"))
    begun = time.monotonic()
    try:
        workers = max(1, min(arguments.jobs, len(mutants)))
        build = arguments.build or ROOT / "build"
        if not (build / "build.ninja").exists():
            build = where / "build"
            configure(ROOT, build)
        build = Build(build.resolve())
        build.made(sorted({f"tests/test_{mutant.kill[0]}" for mutant in mutants if mutant.kill}) or ["help"])
        copies = [Copy(where, number, build) for number in range(workers)]
        bad = work(copies, mutants, arguments.passed)
    finally:
        shutil.rmtree(where, ignore_errors=True)
    if untried:
        print(f"NOT TESTED      {len(untried)} of the fast path: this kernel keeps the counter from programs")
    print(f"{len(mutants)} mutants, {len(mutants) - bad} killed, {bad} not, "
          f"{time.monotonic() - begun:.0f} s")
    sys.exit(bad != 0)


def work(copies, mutants, passed):
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
        share = [[] if passed else ordered[number :: len(copies)] for number in range(len(copies))]
        sick = sum(pool.map(lambda pair: healthy(*pair), zip(copies, share)))
        if sick:
            return len(mutants)
        return sum(not good for good in pool.map(
            one, [lambda copy, mutant=mutant: try_mutant(copy, mutant) for mutant in ordered]))


if __name__ == "__main__":
    main()
