#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""How much stack each public function needs at most, from gcc's own account of it.

    stack-usage.py                 prints the table
    stack-usage.py --check         and compares it with bench/stack.txt, where the compilers are equal
    stack-usage.py --update        writes bench/stack.txt anew

Every source of the profile is compiled with -fcallgraph-info=su; a function's bound is its own frame
and the deepest of what it calls, without its frame where it ends in a jump there.  Calls through pointers go to what CALLS names; one that stands
there not, a recursion, a frame without a bound and a trace point above TRACE_PATH_BYTES are
errors.  What the C library and the system need is not in the figures; a + marks functions that call
them (a trace point calls mem* alone, unless it has to wake a reader or the clock is a call).
Exit status 77: no compiler that can tell.
"""
import argparse
import importlib.util
import os
import re
import shutil
import subprocess
import sys
import tempfile

from config import ROOT, Configuration, expected_names

TABLE = os.path.join(ROOT, "bench", "stack.txt")
# The most that a trace point may take of an interrupted thread's stack, by profile.
TRACE_PATH_BYTES = {"full": 1280, "bare": 640, "tiny": 256}
# Differences that a new frame layout makes; more is a change to be looked at.
TOLERANCE = 64
CORTEX_M3 = ("arm-none-eabi-gcc", ["-Os", "-mcpu=cortex-m3", "-mthumb", "-ffreestanding",
                                   f"-I{ROOT}/port/bare/include"])
PROFILES = {
    "full": ("gcc", ["-O2", "-fPIC"]),
    "bare": CORTEX_M3,
    "tiny": CORTEX_M3,
}
TRACE_PATH = ["posix_trace_event", "pxt_emit_system", "typed_point", "largest_typed_point"]
# What the trace path may call beside the library: mem*, and what tells who, when, and wakes.
TRACE_PATH_CALLS = re.compile(
    r"mem(cpy|set|move)|pthread_self|pthread_getcpuclockid|pthread_setspecific|clock_gettime|syscall|__errno_location|__aeabi_\w+|pxt_board_\w+")

# A typed point's first use, which takes a lock: not the trace path.
FIRST_USE = "_pxt_point_open"

# Called by the system alone, in a handler.
HANDLERS = ["port/posix/crash.c:on_signal"]

# Members that a macro calls through by itself.
MACROS = {macro: ["begin_call", "end_call"] for macro in ("PXT_HANDLE_ASK", "PXT_LOG_ASK", "GETTER(")}

# A call through a pointer that is a structure's member, and what that member is ever set to.
CALLS = {
    "getnext": ["pxt_online_getnext", "pxt_log_getnext"],
    "getnext_whole": ["pxt_online_whole", "pxt_log_getnext_whole"],
    "get_attr": ["pxt_status_get_attr", "logretrieval/open.c:get_attr"],
    "get_status": ["pxt_status_get", "pxt_tolog_get_status", "logretrieval/open.c:get_status"],
    "type_name": ["pxt_status_type_name", "logretrieval/open.c:type_name"],
    "note": ["logretrieval/info.c:get_note"],
    "type_format": ["pxt_status_type_format", "logretrieval/open.c:type_format"],
    "type_next": ["pxt_status_type_next", "logretrieval/open.c:type_next"],
    "type_rewind": ["pxt_status_type_rewind", "logretrieval/open.c:type_rewind"],
    "get_clock": ["pxt_status_get_clock", "logretrieval/open.c:get_clock"],
    "rewind": ["logretrieval/open.c:rewind_log"],
    "close": ["pxt_log_close"],
    "at_end": ["core/process/threads.c:thread_ends"],
    "one_ended": ["core/stream/places.c:one_more_ended"],
    "info": ["logretrieval/info.c:get_info"],
    "thread": ["logretrieval/info.c:get_thread"],
    "module": ["logretrieval/info.c:get_module"],
    "views": ["pxt_log_views", "pxt_online_views"],
    "seek": ["pxt_log_seek"],
    "block": ["pxt_log_nextblock"],
    # Or the caller's own.
    "watch": ["logretrieval/check.c:unwatched"],
    "damage": ["pxt_log_skip_damage"],
    "fence": ["port/posix/processes.c:fence"],
    "time": ["logretrieval/info.c:get_time"],
    "at_shutdown": ["pxt_tolog_at_shutdown", "online/events.c:free_room", "attach/producer.c:end_attachment", "attach/producer.c:end_guest"],
    "at_clear": ["pxt_tolog_at_clear"],
    "before_clear": ["pxt_tolog_before_clear"],
    "open": ["attach/ctlsock.c:open_ctlsock"],
    "pull": ["attach/ctlsock.c:pull"],
    "state": ["attach/ctlsock.c:state"],
    "awaits": ["attach/ctlsock.c:awaits"],
    "filter": ["attach/ctlsock.c:filter"],
    "forget": ["attach/ctlsock.c:forget"],
    "abandon": ["core/control/shutdown.c:abandon", "core/process/directory.c:nothing"],
    "lend": ["core/control/shutdown.c:lend", "core/process/directory.c:nothing"],
    "goes_on": ["core/control/shutdown.c:goes_on"],
    "begin": ["core/control/shutdown.c:begin", "core/process/directory.c:begin"],
    "any": ["inherit/forks.c:any", "blackbox/replica.c:any"],
    "keeps": ["inherit/forks.c:keeps"],
    "after_fork": ["inherit/forks.c:after_fork", "blackbox/replica.c:after_fork"],
    "lock": ["inherit/forks.c:lock_forks"],
    "unlock": ["inherit/forks.c:unlock_forks"],
    "enter": ["blackbox/replica.c:enter"],
    "begin_call": ["pxt_stream_enter_as", "pxt_log_enter"],
    "end_call": ["pxt_stream_leave", "pxt_log_leave"],
    "named": ["blackbox/replica.c:named"],
    "end": ["blackbox/replica.c:end"],
    "add": ["blackbox/replica_names.c:add"],
    "format": ["blackbox/replica_names.c:format"],
    "follow": ["blackbox/replica_names.c:follow_all"],
    "pxt_names_comes": ["pxt_wanted_type_comes"],
    "check": ["tolog/sequential.c:check_append", "tolog/sequential.c:check_until_full",
              "tolog/loop.c:check"],
    "lay_out": ["pxt_tolog_sequential", "tolog/loop.c:lay_out"],
    "memory": ["pxt_tolog_no_memory", "tolog/loop.c:memory"],
    "left": ["tolog/sequential.c:left"],
    "place": ["pxt_tolog_sequential_place", "tolog/loop.c:place"],
    "placed": ["pxt_tolog_sequential_placed", "tolog/loop.c:placed"],
    "each": ["tolog/describe.c:put_thread", "tolog/describe.c:put_module"],
    "run": ["tolog/flusher.c:run", "attach/ctlsock.c:answer", "attach/producer.c:help",
            "tolog/environment.c:make_log"],
    "late": ["tolog/environment.c:begin_child"],
    "completed": ["tolog/environment.c:log_completed"],
    "set": ["tolog/environment_value.c:set_size", "tolog/environment_value.c:set_policy", "tolog/environment_value.c:set_lanes",
            "tolog/environment_value.c:set_mode", "tolog/environment_value.c:set_box"],
    "at_exit": ["pxt_tolog_at_exit"],
    "take": ["pxt_log_take_type", "pxt_log_take_thread", "pxt_log_take_module",
             "logretrieval/load.c:take_clock"],
    "tell": ["tolog/seal.c:seal_all"],
    # Or a clock of the program's.
    "slow_clock": ["port/posix/clock.c:monotonic"],
    "pxt_lane_passed_hook": ["core/control/sysevent.c:record_passed"],
    # The kernel's, of which nothing is known.
    "vdso_gettime": [],
    # The program's, of which nothing is known.
    "handler": [],
}
# Called by the C library, which was handed them.
HANDED_OVER = {
    "pthread_once": ["port/posix/clock.c:fix_rate"],
    "dl_iterate_phdr": ["port/posix/sysinfo.c:on_module"],
}

POINTS = """
#include <trace.h>
#include <trace_np.h>
POSIX_TRACE_DEFINE_NP(job_late, u32, job, i64, late_ns);
POSIX_TRACE_DEFINE_NP(largest, u64, a, u64, b, u64, c, u64, d, u64, e, u64, f, u64, g, u64, h);
void typed_point(uint32_t job, int64_t late);
void largest_typed_point(uint64_t x);
void typed_point(uint32_t job, int64_t late)
{
	posix_trace_point_np(job_late, job, late);
}
void largest_typed_point(uint64_t x)
{
	posix_trace_point_np(largest, x, x, x, x, x, x, x, x);
}
"""

ANY = "any function of the file"
problems = []


def problem(text):
    if text not in problems:
        problems.append(text)


def unsized(name):
    """As the sources have it: the linker's name of some functions says their sizes (trace.h)."""
    return re.sub(r"_of_\d+_(types|bytes)$", "", name.lstrip("*"))


def name_of(title):
    """A function's name; a static one's with its file, as the tree names it."""
    file, _, name = title.rpartition(":")
    name = unsized(name)
    return f"{os.path.relpath(file, ROOT)}:{name}" if file else name


def plain(name):
    return name.split(":")[-1]


def targets(name, place, profile_names):
    """Where the indirect call in @name at @place (file:line:column) may go; a macro names the member before "(object"."""
    called = r"\b(\w+)(?:, )?\("
    file, line, _ = place.rsplit(":", 2)
    with open(file, encoding="utf-8") as source:
        lines = source.read().split("\n")[int(line) - 1:]
    text = lines[0]
    if not set(re.findall(called, text)) & set(CALLS):
        # A statement of several lines, as a macro's use is.
        text = " ".join(lines).split(";")[0]
    members = re.findall(called, text)
    members += [own for macro, owned in MACROS.items() if macro in text for own in owned]
    known = [target for member in members for target in CALLS.get(member, [])]
    if not set(members) & set(CALLS):
        problem(f"{name} calls through a pointer that CALLS does not name: {text.strip()}")
    return [target for target in known if target in profile_names]


class Program:
    def __init__(self):
        self.frames, self.edges, self.indirect, self.calls = {}, {}, [], set()

    def read(self, path):
        with open(path, encoding="utf-8") as graph:
            text = graph.read()
        for title, label in re.findall(r'node: \{ title: "([^"]*)" label: "([^"]*)"', text):
            size = re.search(r"\\n(\d+) bytes \(([\w,]+)\)", label)
            if size:
                self.frames[name_of(title)] = int(size.group(1))
                if size.group(2) == "dynamic":
                    problem(f"{name_of(title)}: a frame without a bound")
        for source, target, place in re.findall(
                r'edge: \{ sourcename: "([^"]*)" targetname: "([^"]*)"(?: label: "([^"]*)")?', text):
            if target == "__indirect_call":
                self.indirect.append((name_of(source), place))
            else:
                self.edges.setdefault(name_of(source), set()).add(name_of(target))

    def read_code(self, objdump, path):
        """Which edges are calls; the others are jumps behind which a frame is gone."""
        where, call = None, None
        lines = subprocess.run([objdump, "-dr", "--no-show-raw-insn", path], capture_output=True,
                               text=True, check=True).stdout
        for line in lines.splitlines():
            head = re.match(r"[0-9a-f]+ <([^>]+)>:", line)
            code = re.match(r"\s+[0-9a-f]+:\s+(call|blx?)\w*\b(?:.*<([^>+]+)>)?", line)
            relocation = re.match(r"\s+[0-9a-f]+: R_\w+\s+([\w.]+)", line)
            if head:
                where = unsized(head.group(1).removesuffix(".cold"))
            elif code:
                call = where
                if code.group(2):
                    self.calls.add((where, unsized(code.group(2))))
            elif relocation and call:
                # A place in a section may be any function of the file.
                to = unsized(relocation.group(1))
                self.calls.add((call, ANY if to.startswith(".") else to))
            if not code:
                call = None

    def resolve(self):
        for name, place in self.indirect:
            self.edges.setdefault(name, set()).update(targets(name, place, self.frames))
        self.pointed = {one for name, place in self.indirect
                        for one in targets(name, place, self.frames)}
        self.pointed.update(one for to in HANDED_OVER.values() for one in to)
        for called in self.edges.values():
            for handed, to in HANDED_OVER.items():
                if handed in called:
                    called.update(target for target in to if target in self.frames)

    def depth(self, name, above=(), known=None):
        """(bytes, the chain of names, whether anything outside is called)"""
        known = {} if known is None else known
        if name in known:
            return known[name]
        if name in above:
            problem("recursion: " + " > ".join(above[above.index(name):] + (name,)))
            return 0, [name], False
        deepest, chain, outside = 0, [], False
        for called in sorted(self.edges.get(name, ())):
            if called not in self.frames:
                outside = outside or not re.fullmatch(r"mem(cpy|set|move|cmp|chr)", called)
                continue
            size, names, beyond = self.depth(called, above + (name,), known)
            outside = outside or beyond
            if called in self.pointed or {(plain(name), plain(called)),
                                          (plain(name), ANY)} & self.calls:
                size += self.frames[name]
            if size > deepest:
                deepest, chain = size, names
        known[name] = max(deepest, self.frames[name]), [name] + chain, outside
        return known[name]

    def reachable(self, name):
        found, waiting = set(), [name]
        while waiting:
            one = waiting.pop()
            if one not in found:
                found.add(one)
                waiting += self.edges.get(one, ())
        return found


def compile_profile(profile, work):
    compiler, options = PROFILES[profile]
    configuration = Configuration({}, os.path.join(ROOT, "configs", profile + "_defconfig"))
    configuration.write_headers(work)
    points = os.path.join(work, "points.c")
    with open(points, "w", encoding="utf-8") as source:
        source.write(POINTS)
    program = Program()
    sources = [os.path.join(ROOT, source) for source in configuration.sources("ptrace")]
    for number, source in enumerate(sources + [points]):
        to = os.path.join(work, f"{number}.o")
        subprocess.run([compiler, "-std=c11", "-D_POSIX_C_SOURCE=200809L", "-fvisibility=hidden",
                        "-fcallgraph-info=su", *options, *configuration.include_flags(work),
                        "-c", source, "-o", to], check=True)
        program.read(to[:-2] + ".ci")
        program.read_code(compiler.replace("gcc", "objdump"), to)
    program.resolve()
    for called in program.edges.values():
        called.discard(FIRST_USE)
    functions, _ = expected_names(configuration.parts())
    return program, sorted(functions)


def check_targets():
    """CALLS is as long as the sources are: what a member is set to there stands in the list."""
    rooms = [f"core/{room}" for room in sorted(os.listdir(os.path.join(ROOT, "core")))
             if os.path.isdir(os.path.join(ROOT, "core", room))]
    for folder in ("format", "base", *rooms, "inherit", "blackbox", "online", "tolog", "logretrieval"):
        for file in sorted(os.listdir(os.path.join(ROOT, folder))):
            if not file.endswith(".c"):
                continue
            with open(os.path.join(ROOT, folder, file), encoding="utf-8") as source:
                text = source.read()
            for member, to in re.findall(r"(?:\s\.|->)(\w+) = (\w+)[,;]", text):
                names = (to, f"{folder}/{file}:{to}")
                is_function = re.search(rf"^[^\s#].*\b{to}\(", text, flags=re.M) or \
                    to.startswith("pxt_")
                if member in CALLS and is_function and not set(names) & set(CALLS[member]):
                    problem(f"{folder}/{file} sets {member} to {to}, which CALLS does not know")


def check_trace_path(profile, program, known):
    path = load_path()
    for name in TRACE_PATH:
        size = program.depth(name, known=known)[0]
        if size > TRACE_PATH_BYTES[profile]:
            problem(f"{profile}: {name} takes {size} bytes, more than {TRACE_PATH_BYTES[profile]}")
        for called in sorted(program.reachable(name)):
            if called not in program.frames and not TRACE_PATH_CALLS.fullmatch(called):
                problem(f"{profile}: {name} gets to {called}")
            if called.count(":") == 1 and called.split(":")[0] not in path and \
                    "points.c" not in called:
                problem(f"{called} is on the trace path, and check-loops.py does not look at it")


def load_path():
    spec = importlib.util.spec_from_file_location(
        "loops", os.path.join(ROOT, "scripts", "check-loops.py"))
    loops = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(loops)
    return loops.PATH


def version(compiler):
    said = [subprocess.run([compiler, option], capture_output=True, text=True, check=True).stdout
            for option in ("-dumpfullversion", "-dumpmachine")]
    return " ".join(text.strip() for text in said)


def table(profile):
    """The lines of one profile, the compiler's first; None: no such compiler."""
    compiler, options = PROFILES[profile]
    if not shutil.which(compiler):
        print(f"{profile}: no {compiler}: skipped")
        return None
    with tempfile.TemporaryDirectory() as work:
        program, functions = compile_profile(profile, work)
        known = {}
        check_trace_path(profile, program, known)
        lines = [f"profile {profile}: {compiler} {version(compiler)} {options[0]}"]
        for name in TRACE_PATH + [FIRST_USE] + HANDLERS + [name for name in functions if name not in TRACE_PATH]:
            if name not in program.frames:
                continue
            size, chain, outside = program.depth(name, known=known)
            shown = " > ".join(one.split(":")[-1] for one in chain[1:])
            lines.append(f"{size:6}{'+' if outside else ' '} {name:44} {shown}".rstrip())
    return lines


def read_committed():
    """profile -> (compiler line, {function: bytes})"""
    found, current = {}, None
    if not os.path.exists(TABLE):
        return found
    with open(TABLE, encoding="utf-8") as file:
        for line in file.read().split("\n"):
            if line.startswith("profile "):
                current = found[line.split()[1].rstrip(":")] = (line, {})
            elif re.match(r"\s*\d+[+ ] ", line) and current:
                size, name = line.replace("+", " ").split()[:2]
                current[1][name] = int(size)
    return found


def compare(profile, lines, committed):
    if profile not in committed:
        problem(f"bench/stack.txt has no profile {profile}")
        return
    head, sizes = committed[profile]
    if head != lines[0]:
        print(f"{profile}: bench/stack.txt is of another compiler ({head}): not compared")
        return
    for line in lines[1:]:
        size, name = line.replace("+", " ").split()[:2]
        if abs(int(size) - sizes.pop(name, -TOLERANCE)) > TOLERANCE:
            problem(f"{profile}: {name} takes {size} bytes now: stack-usage.py --update, if it may")
    for name in sizes:
        problem(f"bench/stack.txt has {name}, {profile} has not: stack-usage.py --update")


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--update", action="store_true")
    args = parser.parse_args()
    check_targets()
    committed, all_lines = read_committed(), []
    for profile in PROFILES:
        lines = table(profile)
        if not lines:
            continue
        all_lines += [*lines, ""]
        if args.check:
            compare(profile, lines, committed)
    if not all_lines:
        sys.exit(77)
    print("\n".join(all_lines + problems + [f"stack: {len(problems)} problems"]))
    if args.update and not problems:
        with open(TABLE, "w", encoding="utf-8") as file:
            file.write("# Bytes of stack that each public function needs at most, and by which calls\n"
                       "# (scripts/stack-usage.py --update; + : and what the C library needs).\n\n" +
                       "\n".join(all_lines).rstrip() + "\n")
    sys.exit(bool(problems))


if __name__ == "__main__":
    main()
