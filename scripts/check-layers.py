#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Holds the arrows of DESIGN.md: who may include whom, and what a file may not contain.

usage: check-layers.py [ROOT]     exit status 1 and one line for each finding
"""
import glob
import os
import re
import sys

from config import kconfig_tool

# folder -> folders of ours whose headers it may include, besides its own; the longest name that
# begins a path decides, on both sides
ARROWS = {
    "include": "",
    "format": "include",
    "base": "include format",
    "port": "include format base",
    # The rooms of core, from the floor up; what stands in core itself is for all of them.
    "core": "",
    "core/ring": "include format base port core",
    "core/process": "include format base port core",
    "core/stream": "include format base port core core/ring core/process",
    "core/record": "include format base port core core/ring core/process core/stream",
    "core/read": "include format base port core core/ring core/process core/stream",
    "core/control": "include format base port core core/ring core/process core/stream core/record core/read",
    "core/copy": "include format base port core core/ring core/process core/stream core/read",
    # The smallest Core, and its On-Line: three headers of rooms are theirs, too.
    "tiny": "include format base port core core/process core/stream core/record",
    # The units: see below.
    "blackbox": "include format base port core",
    "sysevents": "include format base port core",
    # Wrappers of the C library's functions: a library of their own on the public ones.
    "sysevents/wrap": "include format",
    "sysevents/function": "include",
    "logretrieval": "include format base port",
    "contrib": "include",
    "contrib/databases/tests": "include format",
    "contrib/rivals": "include bench",
    # From the bottom up; what the command needs of one subject alone stands at the top.
    "tools/output": "",
    "tools/packed": "output",
    "tools/command": "output",
    "tools/event": "output",
    "tools/line": "output",
    "tools/write": "output packed",
    "tools/sched": "output write",
    "tools/select": "output command event",
    "tools/read": "output packed event line select",
    "tools/symbols": "output event read",
    "tools/spans": "output event read symbols",
    "tools/describe": "output read",
    "tools/unknown": "output command event select read spans",
    "tools/receive": "output command line write import",
    "tools/import": "output command write",
    "tools/check": "output command read describe",
    "tools/print": "output command event select read symbols unknown",
    "tools/stat": "output command event select read spans describe unknown",
    "tools/export": "output command event select read symbols spans unknown",
    "tools/report": "output command event select read spans describe unknown why",
    "tools/why": "output command event select read symbols spans unknown",
    "tools/compare": "output command event select read spans why",
    "tools/merge": "output command event read write import",
    "tools/flight": "output command event select read why merge",
    "tools/run": "output command event read why merge sched flight",
    "tools/recover": "output command line read write receive",
    "tools/remote": "output packed command event select line print read write receive merge flight",
    "tools/top": "output command event read spans why remote",
    "tools/babeltrace": "output event write",
    "tools": "output command",
    "examples": "include",
    "bench": "include",
}
for unit in kconfig_tool.UNITS:
    ARROWS.setdefault(unit.lower(), "include format base port core")
ARROWS = {folder: {folder, *(("tools/" + name for name in others.split()) if folder.startswith("tools")
                             else others.split())} | ({"include", "format"} if folder.startswith("tools") else set())
          for folder, others in ARROWS.items()}
# To units Core is one; only its rooms know of each other.
CORE = {folder for folder in ARROWS if folder.startswith("core/")}
ARROWS = {folder: others | (CORE if "core" in others and not folder.startswith(("core", "tiny")) else set())
          for folder, others in ARROWS.items()}
# One file's further arrows: The entry point of system events is measured, and no public header declares it.
# Another tracer's codes and forms have their one description in contrib/compat.
FURTHER = {"bench/system.c": {"core/record"}, "tools/import/shark.c": {"contrib"},
           "tools/print/line_qnx.c": {"contrib"}}
ROOTS = {folder.split("/")[0] for folder in ARROWS}
PUBLIC_ONLY = {"contrib", "tools", "examples", "bench"}
LIBRARY = ROOTS - PUBLIC_ONLY
PORTS = ("posix", "bare")

# C11 without a hosted library's services, and what trace.h itself includes.
SYSTEM = {"errno.h", "limits.h", "stdalign.h", "stdatomic.h", "stdbool.h", "stddef.h", "stdint.h",
          "string.h", "time.h", "inttypes.h", "float.h", "stdarg.h", "sys/types.h", "pthread.h",
          "trace.h", "trace_np.h", "trace_points_np.h", "trace_hooks_np.h", "trace_config.h", "trace_port.h"}
# A host unit may put words together.
EXTRA = {"logretrieval": {"stdio.h"}, "base/text.c": {"stdio.h"}}
STANDARD_NAMES = {"trace_attr_t", "trace_id_t", "trace_event_id_t", "trace_event_set_t",
                  "TRACE_EVENT_NAME_MAX", "TRACE_NAME_MAX", "TRACE_SYS_MAX",
                  "TRACE_USER_EVENT_MAX"}
FUNCTION_LINES = 70
# What is neither C nor a script, and the line up to which the licence stands.
LICENCED = (("configs/*_defconfig", 1), ("cmake/*.in", 1), ("contrib/databases/**/*.sql", 1),
            ("docs/man/*.scd", 2))  # a manual page begins with its name
DIRECTIVE = re.compile(r"\s*#\s*(if|ifdef|ifndef|elif)\b(.*)")


def strip(text):
    """Blanks out comments and literals, keeps the lines."""
    def blank(match):
        piece = match.group(0)
        return re.sub(r"[^\n]", " ", piece)
    return re.sub(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', blank, text,
                  flags=re.S)


def room(path):
    """The folder whose arrows hold for a file."""
    folder = os.path.dirname(path)
    while folder and folder not in ARROWS:
        folder = os.path.dirname(folder)
    return folder


def sources(root):
    for folder in sorted(ROOTS):
        for here, _, names in os.walk(os.path.join(root, folder)):
            for name in sorted(names):
                if name.endswith((".c", ".h")):
                    yield folder, os.path.relpath(os.path.join(here, name), root)


def includes(root, folder, path, text):
    """Findings about #include lines."""
    for number, line in enumerate(text.split("\n"), 1):
        match = re.match(r'\s*#\s*include\s*([<"])([^>"]+)[>"]', line)
        if not match:
            continue
        where, name = f"{path}:{number}", match[2]
        if match[1] == "<":
            if folder in LIBRARY - {"port"} and room(path) != "sysevents/wrap" and name not in SYSTEM | EXTRA.get(folder, EXTRA.get(path, set())):
                yield f"{where}: <{name}> belongs to the port"
            continue
        if name == "port_atomic.h":
            target = "port"
        elif name == "pxt_config.h":
            target = "format"
            if path != "format/compiler.h":
                yield f"{where}: the configuration is read through format/compiler.h"
        elif os.path.exists(os.path.join(root, os.path.dirname(path), name)):
            target = room(os.path.normpath(os.path.join(os.path.dirname(path), name)))
        else:
            target = room(name) or (name.split("/")[0] if "/" in name else room(path))
        if target not in ARROWS[room(path)] | FURTHER.get(path, set()):
            yield f"{where}: {room(path)}/ may not include {target}/"
        if target == "port" and folder != "port" and name.split("/")[1:2] \
                and name.split("/")[1] in PORTS:
            yield f"{where}: a port's own header"


def conditions(path, code):
    """#if CONFIG only in headers, never inside a function."""
    blocks = []
    before = ""
    for number, line in enumerate(code.split("\n"), 1):
        match = DIRECTIVE.match(line)
        if match and "CONFIG_PTRACE_" in match[2]:
            if path.endswith(".c"):
                yield f"{path}:{number}: #if CONFIG in a source file: select whole files instead"
            elif "code" in blocks:
                yield f"{path}:{number}: #if CONFIG inside a function"
        if line.lstrip().startswith("#"):
            continue
        for piece in re.findall(r"[{}]|[^{}]+", line):
            if piece == "{":
                members = re.search(r"\b(struct|union|enum|extern)\b[^;()]*$", before)
                blocks.append("members" if members else "code")
            elif piece == "}":
                if blocks:
                    blocks.pop()
            before = "" if piece in "{}" else (before + " " + piece)[-400:]


def names(folder, path, code):
    for number, line in enumerate(code.split("\n"), 1):
        if re.match(r"\s*#\s*include", line):
            continue
        for name in re.findall(r"\b[A-Za-z_]\w*", line):
            if re.match(r"(ptrace_|PTRACE_)", name):
                yield f"{path}:{number}: {name}: <sys/ptrace.h> owns this prefix"
            elif (folder not in ("contrib", "examples", "bench") and re.match(r"(trace_|TRACE_)", name)
                  and name not in STANDARD_NAMES):
                yield f"{path}:{number}: {name}: not one of the standard's names"
        if folder in LIBRARY and path != "include/trace_np.h" and path.endswith(".h") \
                and re.search(r"\bposix_trace_\w+_np\s*\([^)]*\)?\s*;?\s*$", line) \
                and re.match(r"\s*(int|void|size_t)\s", line):
            yield f"{path}:{number}: extensions are declared in trace_np.h"


def shape(path, text):
    lines = text.split("\n")
    if not lines[0].startswith("/* SPDX-License-Identifier: MIT"):
        yield f"{path}:1: no SPDX line"
    start = None
    for number, line in enumerate(lines, 1):
        if re.search(r"\b(TODO|FIXME|XXX)\b", line):
            yield f"{path}:{number}: unfinished: {line.strip()}"
        if line.startswith("{"):
            start = number
        elif line.startswith("}") and start:
            if number - start - 1 > FUNCTION_LINES:
                yield f"{path}:{start}: a function of {number - start - 1} lines"
            start = None


def without_licence(root):
    """Other files that may have comments: the line stands first."""
    for form, first in LICENCED:
        for path in sorted(glob.glob(os.path.join(root, form), recursive=True)):
            with open(path, encoding="utf-8") as text:
                lines = text.read().split("\n")
            if not any(line.endswith("SPDX-License-Identifier: MIT") for line in lines[:first]):
                yield f"{os.path.relpath(path, root)}:{first}: no SPDX line"


def without_arrows(root):
    """What the unit table names is a part of the library."""
    with open(os.path.join(root, "cmake/sources.cmake"), encoding="utf-8") as table:
        for folder in sorted(set(re.findall(r"^\t(\w+)/", table.read(), re.M)) - set(ARROWS)):
            yield f"{folder}: a unit without arrows in scripts/check-layers.py"


def main():
    root = sys.argv[1] if len(sys.argv) > 1 else os.path.dirname(os.path.dirname(
        os.path.abspath(__file__)))
    findings, count = [*without_arrows(root), *without_licence(root)], 0
    for folder, path in sources(root):
        with open(os.path.join(root, path), encoding="utf-8") as source:
            text = source.read()
        code = strip(text)
        count += 1
        findings += includes(root, folder, path, text)
        findings += shape(path, text)
        if folder in LIBRARY:
            findings += conditions(path, code)
        findings += names(folder, path, code)
    print("\n".join(findings + [f"{count} files, {len(findings)} findings"]))
    return 1 if findings or not count else 0


if __name__ == "__main__":
    sys.exit(main())
