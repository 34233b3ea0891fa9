#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What the compiler made of the trace path (LPT-33, LPT-34).

    check-hotpath.py BUILD          BUILD: a configured build, for its generated headers

Compiles a trace point and the sources of the trace path with gcc and clang, -O2, and looks at the
instructions:

  - the inline test is one load, one test and one branch, not taken when nobody wants the event,
    and nothing that reads or writes memory stands before it;
  - posix_trace_event() of an unwanted event returns within a few instructions, without a call;
  - a wanted one (pxt_emit) costs one locked instruction and one reading of the counter;
  - nothing in these objects divides, and they ask for nothing but the library's own functions and
    the C library's mem*: no malloc, no errno, no clock.

Exit status 77: not for this machine, or no compiler.
"""
import pathlib
import platform
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
SOURCES = ["core/record/slowpath.c", "core/record/emit.c", "core/record/fullpolicy.c", "core/ring/ring.c",
           "userevents/event.c"]
UNWANTED_INSTRUCTIONS = 8
# One reservation.  Taking part in the thread table is a plain store.
LOCKED_INSTRUCTIONS = 1
# pthread_self(): who a thread without a place in the table is.  It reads a register.
# pthread_getcpuclockid() makes a number of the thread's, from memory: pxt_port_tid().
ALLOWED = re.compile(r"_?pxt_\w+|mem(cpy|set|move)|pthread_self|pthread_getcpuclockid|_GLOBAL_OFFSET_TABLE_")

POINT = """
#include <trace.h>
#include <trace_np.h>
int trace_point(trace_event_id_t id);
int trace_point(trace_event_id_t id)
{
	posix_trace_event_np(id, 0, 0);
	return 0;
}
_PXT_WANTED_TYPE _pxt_wanted[_PXT_EVENT_IDS];
void posix_trace_event(trace_event_id_t id, const void *data, size_t len)
{
	(void)id, (void)data, (void)len;
	__asm__ volatile("");
}
int main(void) { return trace_point(1); }
"""

problems = []


def complain(compiler, text):
    problems.append(f"{compiler}: {text}")


def output(*command):
    return subprocess.run([str(word) for word in command], check=True, capture_output=True,
                          text=True).stdout


def functions(file):
    """name -> [(address, mnemonic, operands)]"""
    result = {}
    for line in output("objdump", "-d", "--no-show-raw-insn", file).splitlines():
        head = re.match(r"[0-9a-f]+ <([^>]+)>:", line)
        if head:
            body = result.setdefault(head.group(1), [])
            continue
        code = re.match(r"\s+([0-9a-f]+):\s+(?:(?:notrack|bnd|data16|cs|rex\.W) )*(.*)", line)
        if code and code.group(2):
            words = re.sub(r"\s*#.*", "", code.group(2)).split(None, 1)
            if words[0] in ("lock", "rep", "repz") and len(words) > 1:
                words = [words[0] + " " + words[1].split(None, 1)[0],
                         *words[1].split(None, 1)[1:]]
            body.append((int(code.group(1), 16), words[0], words[1] if len(words) > 1 else ""))
    return result


def touches_memory(mnemonic, operands):
    if mnemonic.startswith(("push", "pop", "call")):
        return True
    return "(" in operands and not mnemonic.startswith(("lea", "nop", "endbr"))


def check_inline(compiler, body):
    """Up to the first branch, then along the way of an unwanted event."""
    loads = [at for at, mnemonic, operands in body[: first_branch(body)]
             if touches_memory(mnemonic, operands)]
    tests = sum(mnemonic.startswith(("test", "cmp")) for _, mnemonic, _ in body[: first_branch(body)])
    if len(loads) != 1 or tests != 1:
        complain(compiler, f"the inline test has {len(loads)} loads and {tests} tests before its branch")
    # jne: taken when wanted.  je would be taken when unwanted.
    if body[first_branch(body)][1] != "jne":
        complain(compiler, "the inline test's branch is taken when nobody wants the event")


def first_branch(body):
    for number, (_, mnemonic, _) in enumerate(body):
        if mnemonic.startswith("j"):
            return number
    raise SystemExit("no branch in the trace point")


def check_unwanted(compiler, name, body):
    """Follows branches that are not taken, to the return."""
    for number, (_, mnemonic, operands) in enumerate(body):
        if mnemonic.startswith("ret"):
            if number + 1 > UNWANTED_INSTRUCTIONS:
                complain(compiler, f"{name}: {number + 1} instructions for an unwanted event")
            return
        if mnemonic.startswith(("call", "lock", "push")) or mnemonic == "jmp":
            complain(compiler, f"{name}: {mnemonic} {operands} for an unwanted event")
            return
    complain(compiler, f"{name}: no return")


def is_locked(mnemonic, operands):
    return mnemonic.startswith("lock") or (mnemonic.startswith("xchg") and "(" in operands)


def check_wanted(compiler, body):
    locked = [f"{mnemonic} {operands}" for _, mnemonic, operands in body
              if is_locked(mnemonic, operands)]
    counters = sum(mnemonic.startswith("rdtsc") for _, mnemonic, _ in body)
    fences = [mnemonic for _, mnemonic, _ in body if mnemonic.endswith("fence")]
    if len(locked) > LOCKED_INSTRUCTIONS:
        complain(compiler, f"pxt_emit has {len(locked)} locked instructions: {', '.join(locked)}")
    if counters != 1:
        complain(compiler, f"pxt_emit reads the counter at {counters} places")
    if fences:
        complain(compiler, f"pxt_emit has fences: {', '.join(fences)}")
    return len(body)


def check_objects(compiler, objects):
    for file in objects:
        for name, body in functions(file).items():
            for _, mnemonic, operands in body:
                if re.fullmatch(r"i?div[bwlq]?", mnemonic):
                    complain(compiler, f"{file.stem}: {name} divides: {mnemonic} {operands}")
        for line in output("nm", "-u", file).splitlines():
            symbol = line.split()[-1]
            if not ALLOWED.fullmatch(symbol):
                complain(compiler, f"{file.stem} asks for {symbol}")


def check(compiler, build, work):
    common = [compiler, "-O2", "-std=c11", "-D_POSIX_C_SOURCE=200809L", f"-I{ROOT}/include",
              f"-I{build}/include"]
    source = work / "point.c"
    source.write_text(POINT)
    output(*common, source, "-o", work / "point")
    check_inline(compiler, functions(work / "point")["trace_point"])
    objects = []
    for name in SOURCES:
        objects.append(work / (pathlib.Path(name).stem + ".o"))
        output(*common, "-fPIC", "-fvisibility=hidden", f"-I{ROOT}", f"-I{ROOT}/port/posix",
               f"-I{build}/private", "-c", ROOT / name, "-o", objects[-1])
    check_objects(compiler, objects)
    emit = functions(work / "emit.o")
    check_unwanted(compiler, "posix_trace_event", functions(work / "event.o")["posix_trace_event"])
    check_unwanted(compiler, "pxt_emit_system", emit["pxt_emit_system"])
    size = check_wanted(compiler, emit["pxt_emit"])
    print(f"{compiler}: pxt_emit has {size} instructions in all")


def main():
    if len(sys.argv) != 2:
        sys.exit("usage: check-hotpath.py BUILD")
    compilers = [name for name in ("gcc", "clang") if shutil.which(name)]
    if platform.machine() != "x86_64":
        print(f"the instructions of {platform.machine()} are unknown here: skipped")
        sys.exit(77)
    if not compilers or not shutil.which("objdump"):
        print("no compiler or no objdump: skipped")
        sys.exit(77)
    for compiler in compilers:
        with tempfile.TemporaryDirectory() as work:
            check(compiler, pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(work))
    for problem in problems:
        print(problem)
    print(f"{len(compilers)} compilers, {len(problems)} problems")
    sys.exit(bool(problems))


if __name__ == "__main__":
    main()
