#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Every loop on the trace path has a bound, says it, and is held to it (SAFE-01, EVENT-07).

usage: check-loops.py

For each loop in the sources below: the comment directly above it contains "Bound:", PXT_BOUND()
stands before it and PXT_ROUND() opens its body, which in a build with assertions ends the program
when a round too many begins.  `for` from 0 up to a constant is its own bound; the public header has
comments only, because assertions in a program are the program's.  Where a machine has no 64-bit
atomics a loop may have none: then its comment says so, and it is printed.
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent

# Files that are the trace path, and functions of other files that belong to it.
PATH = {
    "userevents/event.c": None,
    "core/record/slowpath.c": None,
    "core/record/slowpath.h": None,
    "core/record/emit.c": None,
    "core/ring/ring.c": None,
    "core/ring/ring.h": None,
    "core/record/fullpolicy.c": None,
    "core/stream/gate.h": None,
    "core/process/context.h": None,
    "core/process/threads.h": None,
    "core/stream/wanted.h": None,
    "core/process/threads.c": ["pxt_threads_register"],
    "core/process/forks.c": ["pxt_forks_sign"],
    "inherit/forks.c": ["any"],
    "blackbox/replica.c": ["any", "raise_count", "copy_thread", "enter"],
    "core/stream/block.c": ["pxt_block_wake"],
    "core/process/process.c": ["pxt_process_pid", "pxt_process_begin_late"],
    "tolog/environment.c": ["begin_child"],
    "tiny/emit.c": None,
    "tiny/tiny.h": None,
    "format/slot.h": None,
    "port/posix/port_atomic.h": None,
    "port/posix/arch/aarch64.h": None,
    "port/posix/arch/other.h": None,
    "port/port_own.h": None,
    "port/port_pieces.h": None,
    "port/posix/arch/whole.h": None,
    "port/posix/arch/x86_64.h": None,
    "port/posix/cursor.h": None,
    "port/posix/slotcas.c": None,
    "port/posix/clock.c": ["pxt_port_ticks_slow", "ns_of"],
    "port/posix/wait.c": ["pxt_port_wake", "futex"],
    "port/posix/words.h": ["pxt_words_store", "pxt_words_follow", "pxt_words_settle", "pxt_words_move",
                           "pxt_words_add", "pxt_words_swap", "pxt_words_count", "pxt_words_count_up"],
    "port/port_wide.h": None,
    "port/bare/port_atomic.h": None,
    "port/bare/system.c": ["pxt_port_wake"],
    "include/trace_np.h": None,
}
# Machines without 64-bit atomics: lock-free there is, wait-free there is not.
LOCK_FREE = {"port/posix/words.h"}
LOOP = re.compile(r"^\s*(?:\}\s*)?(for|while|do)\b(?!.*\bPXT_BOUND)")
CONSTANT = re.compile(r"for \((?:\w+ )+(\w+) = \d; \1 (?:<|!=) (?:\d+u?|[A-Z][A-Z0-9_]*(?: \+ \d+u?)?); \1\+\+[,)]")


def functions_of(text):
    """(name, first line, last line) of the functions of a C file, by the look of its lines."""
    found, name, start = [], None, 0
    for number, line in enumerate(text, 1):
        head = re.match(r"^(?!typedef|struct \w+ \{|#)[\w*].*?\b(\w+)\(", line)
        if head:
            name, start = head.group(1), number
        if line == "}" and name:
            found.append((name, start, number))
            name = None
    return found


def comment_above(text, number):
    """The comment that ends directly above line @number; PXT_BOUND() and a pragma may stand between."""
    at = number - 2
    while at >= 0 and ("PXT_BOUND(" in text[at] or text[at].startswith("#pragma")):
        at -= 1
    lines = []
    while at >= 0 and re.match(r"\s*(/\*|\*)", text[at]):
        lines.append(text[at])
        if "/*" in text[at]:
            break
        at -= 1
    return " ".join(lines)


def body_of(text, number):
    """What stands behind the head of the loop, up to a few statements of its body."""
    return "\n".join(text[number - 1 : number + 16])


def check_loop(name, text, number):
    line = text[number - 1]
    if re.match(r"\s*\} while", line) or (line.endswith(");") and text[number - 3].strip() == "do"):
        return []
    problems = []
    where = f"{name}:{number}"
    if CONSTANT.search(line):
        return []
    comment = comment_above(text, number)
    if name in LOCK_FREE and "No bound:" in comment:
        print(f"{where}: lock-free, without a bound")
        return []
    if "Bound:" not in comment:
        problems.append(f"{where}: no comment above the loop says its bound: {line.strip()}")
    if name != "include/trace_np.h":
        before = "\n".join(text[max(0, number - 4) : number - 1])
        bound = re.findall(r"PXT_BOUND\((\w+),", before)
        if not bound:
            problems.append(f"{where}: no PXT_BOUND() before the loop: {line.strip()}")
        elif f"PXT_ROUND({bound[-1]});" not in body_of(text, number):
            problems.append(f"{where}: no PXT_ROUND({bound[-1]}) in the loop: {line.strip()}")
    return problems


def code_only(text):
    """The lines with comments and strings blanked out; macros' own loops stay."""
    blank = re.sub(r'/\*.*?\*/|"(?:\\.|[^"\\\n])*"',
                   lambda found: re.sub(r"[^\n]", " ", found.group(0)), text, flags=re.S)
    return blank.split("\n")


def check_file(name, chosen):
    whole = (ROOT / name).read_text()
    text, code = whole.split("\n"), code_only(whole)
    wanted = [(1, len(text))]
    problems, loops = [], 0
    if chosen is not None:
        there = {function: (first, last) for function, first, last in functions_of(text)}
        problems += [f"{name}: no function {one}" for one in chosen if one not in there]
        wanted = [there[one] for one in chosen if one in there]
    for first, last in wanted:
        for number in range(first, last + 1):
            if LOOP.match(code[number - 1]) and not re.match(r"\s*do \{\s*\\$", code[number - 1]):
                loops += 1
                problems += check_loop(name, text, number)
    return problems, loops


def main():
    problems, loops = [], 0
    for name, chosen in PATH.items():
        found, count = check_file(name, chosen)
        problems += found
        loops += count
    print("\n".join(problems + [f"{loops} loops on the trace path, {len(problems)} problems"]))
    sys.exit(bool(problems))


if __name__ == "__main__":
    main()
