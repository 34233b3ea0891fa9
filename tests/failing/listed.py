#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Whether each error that the headers name has a case in tests/failing/cases.c.

    listed.py PROGRAM     asks tests/failing/errors.c for its cases and says what is missing, or too
                          much; exit status 1 if anything is
    listed.py --print     functions, their errors and the number of causes that each comment names

A comment names an error by a line "EINVAL: cause; another cause.", for the function behind it.
"Errors are as of posix_trace_f()." takes the errors over, for which one case each is enough.
"""
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
HEADERS = ("include/trace.h", "include/trace_np.h")
# Returns nothing, or no error number (here: of a port with threads).
SILENT = {"posix_trace_event", "posix_trace_query_np", "posix_trace_wanted_np", "posix_trace_eventid_equal",
          "posix_trace_system_event_np", "posix_trace_thread_exclude_np",
          # Of the port without an operating system.
          "posix_trace_task_begin_np", "posix_trace_task_end_np", "posix_trace_task_switch_np", "posix_trace_interrupt_end_np"}
# What a comment says and has no case here, with the reason.
ELSEWHERE = {
    ("posix_trace_attr_setstreamsize", "EINVAL"): "a maximum is not configured by default",
    ("posix_trace_seal_on_signals_np", "ENOTSUP"): "in libraries without CONFIG_PTRACE_LOG_SEAL",
    ("posix_trace_clear", "EPERM"): "of a file that the system protects: tests/tolog/loop.c",
    ("posix_trace_flush", "ECANCELED"): "ends the tracing of its process: tests/crash/ways.c",
}
NAMES = re.compile(
    r"(E[A-Z0-9]{2,}(?:, E[A-Z0-9]{2,})*)(?: and so on)?(?:, as posix_trace_\w+\(\))?:(?= |$)")
BESIDES = re.compile(
    r"; no type is made|; nothing changes|; the stream is (?:as if|gone).*|  ?Other numbers.*")


def comments(text):
    """Each comment that stands in front of declarations, with the functions behind it."""
    for found in re.finditer(r"/\*\n(.*?)\*/\n(.*?)(?=/\*\n|\Z)", text, re.S):
        code = re.sub(r"#if defined\(POSIX_TRACE_OFF_NP\).*", "", found.group(2), flags=re.S)
        names = re.findall(r"^int (posix_trace_\w+)\(", code, re.M)
        names += re.findall(r"^void (posix_trace_\w+)\(", code, re.M)
        if names:
            yield found.group(1), names


def lines_of(comment):
    return [re.sub(r"^ \* ?", "", line).rstrip() for line in comment.splitlines()]


def errors_of(comment):
    """Pairs (whose, error, causes); whose is None for the function itself."""
    whose = None
    current = None
    rows = []
    for line in lines_of(comment):
        line = re.sub(r"^Returns 0 or$|^Returns 0 also .*", "", line)
        if re.search(r"then have these errors as well:|then has these errors as well:", line):
            whose = re.findall(r"(posix_trace_\w+)\(\)", line)
            current = None
            continue
        if not line.strip():
            current = None
            if rows and whose and rows[-1][0] == whose:
                whose = None
            continue
        parts = list(NAMES.finditer(line)) if line.startswith("E") or ".  E" in line else []
        if parts and (parts[0].start() == 0 or current):
            starts = [part.start() for part in parts] + [len(line)]
            if parts[0].start() > 0 and current:
                current[2] += " " + line[: parts[0].start()]
            for i, part in enumerate(parts):
                rest = line[part.end() : starts[i + 1]].strip()
                for name in part.group(1).split(", "):
                    current = [whose, name, rest]
                    rows.append(current)
        elif re.match(r"(Cost|Context|Unit|Returns|The stream then|An attribute)\b", line):
            current = None
        elif current and line.startswith("  "):
            current[2] += " " + line.strip()
        else:
            current = None
    return rows


def causes(text):
    text = re.sub(r"E\w+ never occurs\.", "", text)
    text = re.sub(r"\([^()]*\)", "", text)
    # Not a cause, but what holds besides.
    text = BESIDES.sub("", text)
    parts = re.split(r"; |, the old value stays|, the old one stays", text)
    return len([part for part in parts if part.strip()])


def listed():
    table = {}
    same = {}
    for header in HEADERS:
        for comment, names in comments((ROOT / header).read_text()):
            for name in names:
                table.setdefault(name, {})
            for whose, error, text in errors_of(comment):
                for name in whose if whose else names:
                    table.setdefault(name, {})
                    table[name][error] = table[name].get(error, 0) + causes(text)
            other = re.search(r"Errors are as of (posix_trace_\w+)\(\)\.", " ".join(lines_of(comment)))
            if other:
                for name in names:
                    same[name] = other.group(1)
    for name, of in same.items():
        for error, count in table[of].items():
            table[name].setdefault(error, min(count, 1))
    return {name: errors for name, errors in table.items() if name not in SILENT}


def spoken(table):
    """What a comment says of errors that it does not name one by one."""
    words = {}
    for header in HEADERS:
        for comment, names in comments((ROOT / header).read_text()):
            for name in names:
                words[name] = comment
    return {name: words.get(name, "") for name in table}


def present(program):
    table = {}
    said = subprocess.run([program, "--role", "cases"], check=True, text=True, capture_output=True)
    for line in said.stdout.splitlines():
        name, error = line.split()[:2]
        errors = table.setdefault(name, {})
        errors[error] = errors.get(error, 0) + 1
    return table


def main():
    table = listed()
    if sys.argv[1:] == ["--print"]:
        for name, errors in table.items():
            print(name, " ".join(f"{error}:{count}" for error, count in errors.items()))
        return 0
    have = present(sys.argv[1])
    words = spoken(table)
    wrong = [f"{name}: declared, and has no case at all" for name in table if name not in have]
    wrong += [f"{name}: has cases, and no declaration" for name in have if name not in table]
    for name, errors in table.items():
        for error, count in errors.items():
            got = have.get(name, {}).get(error, 0)
            if got < count and (name, error) not in ELSEWHERE:
                wrong.append(f"{name}: {error} has {got} cases, its comment names {count}")
        for error in have.get(name, {}):
            known = error in errors or re.search(
                rf"\b{error}\b|Other numbers|and so on", words[name])
            if not known:
                wrong.append(f"{name}: {error} has a case, and its comment does not name it")
    count = sum(map(len, table.values()))
    print("\n".join(wrong) or f"{len(table)} functions, {count} errors: all have cases")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
