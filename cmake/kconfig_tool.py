#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Turns Kconfig values into headers, and refuses values that were asked for but cannot be had.

Layers, the later one wins: a profile (--profile), the user's .config (--dotconfig), and single
settings (--set CONFIG_PTRACE_X=v).  Exit status: 0, or 1 with the reasons on standard error.
"""
import argparse
import difflib
import hashlib
import os
import re
import sys
import tempfile

import kconfiglib
from kconfiglib import BOOL, INT, Kconfig

PREFIX = "CONFIG_"
LINE = re.compile(r"(CONFIG_\w+)=(.*)$")
UNSET = re.compile(r"# (CONFIG_\w+) is not set$")


class Request:
    """One value that somebody asked for, and where."""

    def __init__(self, name, value, origin, layer):
        self.name, self.value, self.origin, self.layer = name, value, origin, layer


def read_fragment(path, layer, errors):
    requests = []
    with open(path, encoding="utf-8") as fragment:
        for number, line in enumerate(fragment, 1):
            line = line.strip()
            where = f"{os.path.relpath(path)}:{number}"
            if match := LINE.match(line):
                requests.append(Request(match[1], match[2].strip(), where, layer))
            elif match := UNSET.match(line):
                requests.append(Request(match[1], "n", where, layer))
            elif line and not line.startswith("#"):
                errors.append(f"{where}: malformed line: {line}")
    return requests


def unquote(value):
    return value[1:-1] if len(value) >= 2 and value[0] == value[-1] == '"' else value


def check_form(kconf, request, errors):
    """Says whether a request names a symbol and has a value of its type."""
    name = request.name[len(PREFIX):]
    symbol = kconf.syms.get(name)
    if symbol is None or not symbol.nodes:
        known = [s.name for s in kconf.unique_defined_syms]
        near = difflib.get_close_matches(name, known, 1)
        hint = f"; did you mean {PREFIX}{near[0]}?" if near else ""
        errors.append(f"{request.origin}: unknown symbol {request.name}{hint}")
        return None
    if symbol.type == BOOL and request.value not in ("y", "n"):
        errors.append(f"{request.origin}: {request.name}={request.value}: the value must be y or n")
        return None
    if symbol.type == INT and not re.fullmatch(r"-?\d+", unquote(request.value)):
        errors.append(f"{request.origin}: {request.name}={request.value}: the value must be a number")
        return None
    return symbol


def effective(kconf, requests):
    """The last request for each symbol; a choice forgets what earlier layers chose in it."""
    last = {}
    for request in requests:
        symbol = kconf.syms[request.name[len(PREFIX):]]
        if symbol.choice and request.value == "y":
            for other in symbol.choice.syms:
                earlier = last.get(PREFIX + other.name)
                if earlier and earlier.layer < request.layer:
                    del last[PREFIX + other.name]
        last[request.name] = request
    return list(last.values())


def assign(kconf, requests):
    kconf.unset_values()
    for request in requests:
        kconf.syms[request.name[len(PREFIX):]].set_value(unquote(request.value))


def current(symbol):
    return symbol.str_value


def wanted(symbol, request):
    value = unquote(request.value)
    return str(int(value)) if symbol.type == INT else value


def help_of(symbol):
    for node in symbol.nodes:
        if node.help:
            return " ".join(node.help.split())
    return ""


def failing(expression):
    """The parts of a condition that do not hold, as text."""
    if kconfiglib.expr_value(expression):
        return []
    if isinstance(expression, tuple) and expression[0] == kconfiglib.AND:
        return failing(expression[1]) + failing(expression[2])
    text = kconfiglib.expr_str(expression)
    return [text[1:-1] if text.startswith("(") and text.endswith(")") else text]


def named(text):
    return re.sub(r"\bPTRACE_", PREFIX + "PTRACE_", text)


def reason(symbol, request):
    """Why @symbol does not have the value that was asked for."""
    value = wanted(symbol, request)
    if symbol.type == INT:
        for low, high, condition in symbol.ranges:
            if kconfiglib.expr_value(condition) and symbol.visibility:
                if not int(low.str_value) <= int(value) <= int(high.str_value):
                    return f"it must lie between {low.str_value} and {high.str_value} here"
                break
    if not any(node.prompt for node in symbol.nodes):
        why = help_of(symbol) or "it follows from other symbols"
        return f"it cannot be set by itself: {why}"
    if value != "n" and not kconfiglib.expr_value(symbol.direct_dep):
        unmet = ", ".join(failing(symbol.direct_dep))
        return f"it depends on what does not hold: {named(unmet)}"
    if value == "n" and kconfiglib.expr_value(symbol.rev_dep):
        return f"it is selected by {named(kconfiglib.expr_str(symbol.rev_dep))}"
    if symbol.choice and symbol.choice.selection is not None and value == "y":
        return f"of its choice, {PREFIX}{symbol.choice.selection.name} is taken"
    if symbol.choice and value == "n":
        return "it is the choice taken; set another one of the same choice to y instead"
    unmet = [text for node in symbol.nodes if node.prompt for text in failing(node.prompt[1])]
    return f"it is not free here ({named(', '.join(unmet))}). {help_of(symbol)}"


def ineffective(kconf, requests):
    found = []
    for request in requests:
        symbol = kconf.syms[request.name[len(PREFIX):]]
        if current(symbol) == wanted(symbol, request):
            continue
        # An "is not set" of a symbol that has no value at all changes nothing.
        if symbol.type == BOOL and request.value == "n" and symbol.str_value in ("n", ""):
            continue
        shown = current(symbol) or "no value"
        found.append(f"{request.origin}: {request.name}={request.value} does not take effect, "
                     f"the value is {shown}: {reason(symbol, request)}")
    return found


def without_defaults(kconf, requests):
    """Drops requests that ask for what the symbol would be without them."""
    kept = []
    for request in requests:
        symbol = kconf.syms[request.name[len(PREFIX):]]
        value = current(symbol)
        choice = symbol.choice
        if choice:
            before = choice.user_selection
            choice.unset_value()
            default = "y" if choice.selection is symbol else "n"
            if before is not None:
                before.set_value(2)
        else:
            user = symbol.user_value
            symbol.unset_value()
            default = current(symbol)
            if user is not None:
                symbol.set_value(user)
        if default != value:
            kept.append(request)
    return kept


def load(kconf, args):
    """Applies all layers; returns the reasons for which that cannot be done."""
    errors, layers = [], []
    for number, path in enumerate((args.profile, args.dotconfig)):
        layers.append(read_fragment(path, number, errors) if path and os.path.exists(path) else [])
        if number == 0 and path and not os.path.exists(path):
            errors.append(f"no such profile: {path}")
    single = []
    for setting in args.set:
        name, _, value = setting.partition("=")
        single.append(Request(name, value, "-D", 2))
    for layer in layers + [single]:
        layer[:] = [r for r in layer if check_form(kconf, r, errors)]
    if errors:
        return errors

    files = effective(kconf, layers[0] + layers[1])
    assign(kconf, files)
    errors += ineffective(kconf, files)
    if errors or not single:
        return errors
    files = without_defaults(kconf, files)
    requests = effective(kconf, files + single)
    assign(kconf, requests)
    return ineffective(kconf, requests)


def value_of(kconf, name):
    symbol = kconf.syms["PTRACE_" + name]
    if symbol.type == BOOL:
        return int(symbol.tri_value == 2)
    return int(symbol.str_value or 0)


def symbols(kconf):
    return [s for s in kconf.unique_defined_syms if s.name.startswith("PTRACE_")]


def private_header(kconf):
    lines = ["/* Generated from Kconfig; not installed. */", "#ifndef PXT_CONFIG_H",
             "#define PXT_CONFIG_H", ""]
    for symbol in symbols(kconf):
        lines.append(f"#define CONFIG_{symbol.name} {value_of(kconf, symbol.name[7:])}")
    return "\n".join(lines + ["", "#endif", ""])


# All units, each a folder of the same name, and what papers call them: cmake/sources.cmake and the
# scripts take them from here.
TITLES = {
    "CORE": "Trace Core", "ONLINE": "On-Line", "TOLOG": "Trace-To-Log", "USEREVENTS": "User Events",
    "FILTER": "Event Filter", "INHERIT": "Inheritance", "ATTACH": "Attached Processes",
    "LOGRETRIEVAL": "Log Retrieval",
}
UNITS = tuple(TITLES)
# Parts of units that can be left out and have public functions.
PARTS = ("SNAPSHOT", "LOG_LINK", "LOG_ROTATE", "EXTENSIONS", "INSPECT", "STACKS", "SYSEVENTS")
# What macros of the headers call, and data, with the units that bring it.
BESIDE = {"_pxt_handles": {"CORE", "LOGRETRIEVAL"}, "_pxt_wanted": {"CORE"}, "_pxt_own_descriptors": {"ATTACH"},
          "_pxt_attach_late": {"ATTACH"}, "_pxt_attach_counts": {"ATTACH"},
          "_pxt_point_open": {"EXTENSIONS"}, "_pxt_stack_callers": {"STACKS"}}
HEADERS = ("include/trace.h", "include/trace_np.h")


def holds(condition, units):
    """Whether an #if of the headers is true with these units; None: it asks for something else."""
    names = re.findall(r"[A-Za-z_]\w*", condition)
    if not names or not all(re.match("_PXT_(UNIT_|HAVE_PTHREAD_H$)", name) for name in names):
        return None
    text = re.sub(r"_PXT_UNIT_(\w+)", lambda match: str(match[1] in units), condition)
    text = text.replace("_PXT_HAVE_PTHREAD_H", str("PORT_BARE" not in units))
    for c_word, word in (("&&", " and "), ("||", " or "), ("!", " not ")):
        text = text.replace(c_word, word)
    return bool(eval(text.strip(), {"__builtins__": {}}))  # pylint: disable=eval-used


# The release from which on programs can rely on the library.  What came later says so in its comment,
# "Since 1.1.", and has that release's version node, so that a loader finds at the start what an older library lacks.
FIRST_RELEASE = "1.0"


def functions_since(root, units=None):
    """What the headers declare for these units (None: for all that there are), each with its release."""
    for header in HEADERS:
        with open(os.path.join(root, header), encoding="utf-8") as text:
            conditions = []
            since = FIRST_RELEASE
            for line in text:
                if line.startswith("/*"):
                    since = FIRST_RELEASE
                if match := re.search(r"\bSince (\d+\.\d+)\.", line):
                    since = match[1]
                if match := re.match(r"#\s*(if|ifdef|ifndef)\b(.*)", line):
                    conditions.append(holds(match[2], units) if units is not None and match[1] == "if" else None)
                elif re.match(r"#\s*else\b", line) and conditions[-1] is not None:
                    conditions[-1] = not conditions[-1]
                elif re.match(r"#\s*endif\b", line):
                    conditions.pop()
                elif (match := re.match(r"(?:int |void |void \*)(posix_trace_\w+)\(", line)) and False not in conditions:
                    yield match[1], since


def public_functions(root, units=None):
    return (name for name, _ in functions_since(root, units))


def event_ids(kconf):
    """Event numbers: a power of two, so that an identifier is masked and not divided."""
    ids = 32
    while ids < 31 + value_of(kconf, "USER_EVENT_MAX"):
        ids *= 2
    return ids


def number_of(version):
    """1.2.3 as 10203."""
    major, minor, patch = ([int(part) for part in version.split(".")] + [0, 0])[:3]
    return major * 10000 + minor * 100 + patch


def public_header(kconf, version, name="full"):
    streams = value_of(kconf, "MAX_STREAMS")
    wanted_type, wanted_bits = (("unsigned char", 8) if streams <= 8 else
                                ("unsigned short", 16) if streams <= 16 else ("unsigned int", 32))
    posix = value_of(kconf, "PORT_POSIX")
    lines = ["/* SPDX-License-Identifier: MIT */",
             "/* trace_config.h - what this configuration of libptrace holds.  Generated. */",
             "#ifndef _PXT_TRACE_CONFIG_H", "#define _PXT_TRACE_CONFIG_H 1", "",
             f"#define _PXT_VERSION {number_of(version)}",
             f'#define _PXT_CONFIGURATION "{name}" /* as in libptrace.pc and the library\'s file name */']
    lines += [f"#define _PXT_UNIT_{unit} {value_of(kconf, unit)}" for unit in UNITS + PARTS]
    lines += [f"#define _PXT_MAX_STREAMS {streams}",
              f"#define _PXT_LANES_MAX {value_of(kconf, 'LANES_MAX')}",
              f"#define _PXT_USER_EVENT_MAX {value_of(kconf, 'USER_EVENT_MAX')}",
              f"#define _PXT_EVENT_NAME_MAX {value_of(kconf, 'EVENT_NAME_MAX')}",
              f"#define _PXT_EVENT_IDS {event_ids(kconf)}",
              f"#define _PXT_WANTED_TYPE {wanted_type}",
              f"#define _PXT_WANTED_BITS {wanted_bits}",
              f"#define _PXT_HAVE_PTHREAD_H {posix}",
              f"#define _PXT_SHORT_SWITCH {value_of(kconf, 'SYSEV_SHORT_SWITCH')}"]
    if not posix:
        lines += ["", "#include \"trace_port.h\" /* pthread_t, pid_t and struct timespec of the port */"]
    return "\n".join(lines + ["", "#endif", ""])


def cmake_values(kconf):
    lines = [f'set(PXT_{s.name[7:]} {value_of(kconf, s.name[7:])})' for s in symbols(kconf)]
    lines.append(f"set(PXT_EVENT_IDS {event_ids(kconf)})")
    lines.append(f"set(PXT_UNITS {' '.join(UNITS)})")
    releases = {FIRST_RELEASE: ["_pxt_point_open", "_pxt_wanted"]}
    for name, since in functions_since(kconf.srctree):
        releases.setdefault(since, []).append(name)
    order = sorted(releases, key=lambda since: [int(part) for part in since.split(".")])
    lines.append(f"set(PXT_RELEASES {' '.join(order)})")
    lines += [f"set(PXT_NAMES_{since} {' '.join(releases[since])})" for since in order]
    # What debuggers and the other library look up; _pxt_layout: port/posix/configuration.c.
    private = [name for name in BESIDE if name not in releases[FIRST_RELEASE]]
    lines.append(f"set(PXT_NAMES_PRIVATE {' '.join(private)} _pxt_layout)")
    files = ";".join(os.path.join(kconf.srctree, f) for f in (*kconf.kconfig_filenames, *HEADERS))
    lines.append(f'set(PXT_KCONFIG_FILES "{files}")')
    return "\n".join(lines + [""])


# Symbols that change nothing a linked program can see.
INTERNAL = {"PTRACE_TESTPOINTS", "PTRACE_ARG_CHECKS"}
# Symbols that shape what libptrace-retrieval shares with its programs.
RETRIEVAL = {"PTRACE_USER_EVENT_MAX", "PTRACE_EVENT_NAME_MAX", "PTRACE_LOGRETRIEVAL",
             "PTRACE_PORT_POSIX"}


def name_of(kconf, profile, different, relevant):
    """The configuration's name, "full" or "minimal-1f0a7c3e"; the digits stand for all values."""
    if not different:
        return "full"
    values = "".join(f"{s.name}={s.str_value}\n" for s in symbols(kconf) if relevant(s.name))
    stem = re.sub("_?defconfig$", "", os.path.basename(profile or ""))
    return (re.sub("[^A-Za-z0-9]+", "_", stem) or "own") + "-" + hashlib.sha256(
        values.encode()).hexdigest()[:8]


def names_beside_full(kconf, kconfig, full, profile):
    """The names of this configuration, as libptrace and as libptrace-retrieval."""
    reference = Kconfig(os.path.basename(kconfig), warn_to_stderr=False)
    errors = []
    requests = [r for r in read_fragment(full, 0, errors) if check_form(reference, r, errors)]
    assign(reference, requests)
    different = {s.name for s in symbols(kconf)
                 if s.str_value != reference.syms[s.name].str_value}

    # The other systems' interfaces are libraries of their own beside this one.
    def seen(name):
        return name not in INTERNAL and not re.match(r"PTRACE_(COMPAT|KEL)(_|$)", name)

    return (name_of(kconf, profile, set(filter(seen, different)), seen),
            name_of(kconf, profile, different & RETRIEVAL, RETRIEVAL.__contains__))


def write(path, text):
    """Writes only what changed, so that nothing is compiled again for nothing."""
    if not path:
        return
    if os.path.exists(path):
        with open(path, encoding="utf-8") as old:
            if old.read() == text:
                return
    os.makedirs(os.path.dirname(os.path.abspath(path)), exist_ok=True)
    handle, temporary = tempfile.mkstemp(dir=os.path.dirname(os.path.abspath(path)))
    with os.fdopen(handle, "w", encoding="utf-8") as new:
        new.write(text)
    os.chmod(temporary, 0o644)
    os.replace(temporary, path)


def generate(kconf, args):
    name, retrieval = names_beside_full(kconf, args.kconfig, args.full, args.profile)
    write(args.private, private_header(kconf))
    write(args.public, public_header(kconf, args.version, name))
    text = cmake_values(kconf)
    text += f"set(PXT_IS_FULL {int(name == 'full')})\n"
    text += f"set(PXT_CONFIGURATION {name})\nset(PXT_RETRIEVAL_CONFIGURATION {retrieval})\n"
    write(args.cmake, text)
    return 0


def menu(kconf, args):
    """The menu works on a copy, so that leaving it without saving changes nothing."""
    handle, copy = tempfile.mkstemp(prefix="config-")
    os.close(handle)
    kconf.write_config(copy)
    with open(copy, encoding="utf-8") as text:
        before = text.read()
    os.environ["KCONFIG_CONFIG"] = copy
    if args.command == "menuconfig":
        import menuconfig as front
    else:
        import guiconfig as front
    front.menuconfig(kconf)
    with open(copy, encoding="utf-8") as text:
        after = text.read()
    for leftover in (copy, copy + ".old"):
        if os.path.exists(leftover):
            os.remove(leftover)
    if after != before:
        write(args.dotconfig, after)
        print(f"written: {args.dotconfig}")
        if args.set:
            print("still in force above it: " + " ".join("-D" + one for one in args.set))
    return 0


def simple_command(kconf, args):
    if args.command == "olddefconfig":
        print(kconf.write_config(args.dotconfig))
    elif args.command == "savedefconfig":
        print(kconf.write_min_config(args.output))
    else:
        for symbol in symbols(kconf):
            if symbol.visibility and symbol.user_value is None and not symbol.choice:
                sys.stdout.write(symbol.config_string)
    return 0


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("command", choices=("generate", "menuconfig", "guiconfig", "olddefconfig",
                                            "savedefconfig", "listnewconfig"))
    parser.add_argument("--kconfig", required=True)
    parser.add_argument("--profile")
    parser.add_argument("--dotconfig")
    parser.add_argument("--set", action="append", default=[])
    parser.add_argument("--full", help="the profile that owns the plain library names")
    parser.add_argument("--private", help="write pxt_config.h here")
    parser.add_argument("--public", help="write trace_config.h here")
    parser.add_argument("--cmake", help="write the values for CMake here")
    parser.add_argument("--version", default="0.0.0")
    parser.add_argument("--output", default="defconfig")
    args = parser.parse_args()

    os.environ["srctree"] = os.path.dirname(os.path.abspath(args.kconfig))
    kconf = Kconfig(os.path.basename(args.kconfig), warn_to_stderr=False)
    errors = load(kconf, args)
    if errors:
        print("\n".join(errors), file=sys.stderr)
        return 1
    if args.command == "generate":
        return generate(kconf, args)
    if args.command in ("menuconfig", "guiconfig"):
        return menu(kconf, args)
    return simple_command(kconf, args)


if __name__ == "__main__":
    sys.exit(main())
