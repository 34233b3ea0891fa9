#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The configuration as facts: help and costs, the refusals and their words, the profiles, the headers."""
import os
import re
import sys

from config import BOTH_LIBRARIES, OTHER_UNITS, ROOT, Configuration, kconfig_tool

# What it costs, in a unit's or a policy's help.
FIGURE = re.compile(r"\b\d[\d.,]* (?:bytes?|KiB|KB)\b|\bno byte\b|\bcosts nothing\b", re.I)

# (profile, settings, a part of the reason)
REFUSED = [
    (None, {"FLTER": "y"}, "unknown symbol CONFIG_PTRACE_FLTER; did you mean CONFIG_PTRACE_FILTER"),
    (None, {"MAX_STREAMS": "33"}, "between 1 and 32"),
    (None, {"MAX_STREAMS": "0"}, "between 1 and 32"),
    (None, {"MAX_STREAMS": "many"}, "must be a number"),
    (None, {"MAX_STREAMS": ""}, "must be a number"),
    (None, {"FILTER": "on"}, "must be y or n"),
    (None, {"RECORD_THREAD": "n", "INHERIT": "y"}, "CONFIG_PTRACE_RECORD_THREAD"),
    ("bare", {"INHERIT": "y"}, "CONFIG_PTRACE_PORT_POSIX"),
    (None, {"USEREVENTS": "n", "ATTACH": "y"}, "CONFIG_PTRACE_USEREVENTS"),
    (None, {"FILE_STREAMS": "n", "ATTACH": "y"}, "CONFIG_PTRACE_FILE_STREAMS"),
    (None, {"CORE": "n"}, "cannot be set by itself"),
    (None, {"LANES_MAX": "17"}, "between 1 and 16"),
    (None, {"RECORD_THREAD": "n", "LANES_MAX": "4"}, "between 1 and 1"),
    (None, {"POLICY_LOOP": "n", "POLICY_UNTIL_FULL": "n", "POLICY_FLUSH": "n", "POLICY_DISCARD": "n"},
     "at least one"),
    (None, {"LOG_LOOP": "n", "LOG_UNTIL_FULL": "n", "LOG_APPEND": "n"}, "at least one"),
    (None, {"LIMIT_DATA_SIZE": "y", "MAX_DATA_SIZE": "4096"}, "between 32 and 4095"),
    (None, {"MAX_DATA_SIZE": "256"}, "CONFIG_PTRACE_LIMIT_DATA_SIZE"),
    (None, {"DEFAULT_DATA_SIZE": "4000", "DEFAULT_STREAM_SIZE": "4096"}, "between 16384"),
    (None, {"LOG_BLOCK_SIZE": "1024"}, "between 8192"),
    (None, {"TOLOG": "n", "POLICY_FLUSH": "y"}, "CONFIG_PTRACE_TOLOG"),
    (None, {"FILTER": "n", "SYSEV_FILTER": "y"}, "CONFIG_PTRACE_FILTER"),
    (None, {"ONLINE": "n", "TOLOG": "n", "LOGRETRIEVAL": "n"}, "nothing would be left"),
    (None, {"ONLINE": "n", "TOLOG": "n", "USEREVENTS": "y"}, "CONFIG_PTRACE_CORE"),
    ("minimal", {"MAX_STREAMS": "2"}, "CONFIG_PTRACE_SINGLE_STREAM"),
    ("minimal", {"SYSEV_ERROR": "y"}, "CONFIG_PTRACE_SYSEV_TRACE"),
    ("bare", {"POLICY_FLUSH": "y"}, "CONFIG_PTRACE_PORT_HAS_THREADS"),
    ("bare", {"LOG_LOOP": "y"}, "CONFIG_PTRACE_PORT_HAS_FILES"),
    (None, {"TINY": "y"}, "CONFIG_PTRACE_PORT_BARE"),
    ("tiny", {"LOG_LINK": "y"}, "CONFIG_PTRACE_LOG_LINE"),
    ("tiny", {"POLICY_UNTIL_FULL": "y"}, "CONFIG_PTRACE_TINY"),
    ("tiny", {"POLICY_DISCARD": "y"}, "CONFIG_PTRACE_TINY"),
    ("tiny", {"USEREVENTS": "n"}, "it is selected by"),
    ("tiny", {"MAX_DATA_SIZE": "257"}, "between 0 and 256"),
    ("small", {"MAX_DATA_SIZE": "31"}, "between 32 and 256"),
    ("bare", {"SYSEVENTS": "y"}, "CONFIG_PTRACE_DEFAULT_DATA_SIZE"),
    ("bare", {"LOGRETRIEVAL": "y"}, "CONFIG_PTRACE_PORT_HAS_FILES"),
    ("tiny", {"SYSEV_TRACE": "y"}, "CONFIG_PTRACE_TINY"),
    (None, {"SYSEVENTS": "n", "SYSEV_SPECIFIC": "y"}, "CONFIG_PTRACE_SYSEVENTS"),
    (None, {"SYSEV_SPECIFIC": "n", "SYSEV_MUTEX": "y"}, "CONFIG_PTRACE_SYSEV_SPECIFIC"),
    (None, {"SYSEV_SYSTEM_CALL": "n", "SYSEV_SLEEP": "y"}, "CONFIG_PTRACE_SYSEV_SYSTEM_CALL"),
]

PROFILES = ("full", "minimal", "target", "host", "bare", "tiny", "small")
UNITS = {
    "tiny": {"CORE", "ONLINE", "USEREVENTS"},
    "small": {"CORE", "ONLINE", "TOLOG", "USEREVENTS"},
    "full": set(kconfig_tool.UNITS),
    "minimal": {"CORE", "ONLINE", "USEREVENTS"},
    "target": {"CORE", "TOLOG", "USEREVENTS", "FILTER"},
    "host": {"LOGRETRIEVAL"},
}


def profile_path(name):
    return os.path.join(ROOT, "configs", name + "_defconfig") if name else None


def check_help(kconf):
    for symbol in [*kconfig_tool.symbols(kconf), *kconf.unique_choices]:
        prompted = any(node.prompt for node in symbol.nodes)
        if prompted and not any(node.help for node in symbol.nodes):
            yield f"{symbol.name} has no help text"


def is_policy(symbol):
    return any(node.parent.prompt and node.parent.prompt[0] == "Policies" for node in symbol.nodes)


def check_costs(kconf):
    """A unit's and a policy's help says what it costs; the port says it in its own choice."""
    units = {"PTRACE_" + unit for unit in OTHER_UNITS | BOTH_LIBRARIES - {"FORMAT", "PORT"}}
    symbols = [symbol for symbol in kconfig_tool.symbols(kconf)
               if symbol.name in units or is_policy(symbol)]
    if len(symbols) < len(units) + 6:
        yield f"units and policies are {[symbol.name for symbol in symbols]}"
    for symbol in symbols:
        text = " ".join(" ".join(node.help or "" for node in symbol.nodes).split())
        if not FIGURE.search(text):
            yield f"{symbol.name}: its help states no cost in bytes"


def check_refusals():
    for profile, settings, reason in REFUSED:
        errors = "\n".join(Configuration(settings, profile_path(profile)).errors)
        if reason not in errors:
            yield f"{profile} {settings}: expected '{reason}', got '{errors}'"


def check_profiles():
    for name in PROFILES:
        configuration = Configuration({}, profile_path(name))
        if configuration.errors:
            yield f"{name}: {configuration.errors}"
        elif name in UNITS and configuration.units() != UNITS[name]:
            yield f"{name} has the units {configuration.units()}"
    minimal = Configuration({}, profile_path("minimal"))
    if minimal.value("MAX_STREAMS") != 1 or minimal.value("SYSEV_TRACE"):
        yield "minimal is not the seed's minimal build"
    bare = Configuration({}, profile_path("bare"))
    if (bare.value("POLICY_FLUSH") or bare.value("LOG_LOOP") or bare.value("LOG_UNTIL_FULL")
            or not bare.value("LOG_APPEND") or not bare.value("STATIC_BYTES")):
        yield "bare is not the MRSP profile"


def macro(text, name):
    return re.search(rf"#define {name} (.*)", text)[1]


def check_headers():
    for streams, kind in ((8, "unsigned char"), (9, "unsigned short"), (16, "unsigned short"),
                          (17, "unsigned int"), (32, "unsigned int")):
        header = kconfig_tool.public_header(Configuration({"MAX_STREAMS": str(streams)}).kconf, "0")
        if macro(header, "_PXT_WANTED_TYPE") != kind:
            yield f"{streams} streams: {macro(header, '_PXT_WANTED_TYPE')}"
    for events, ids in ((1, 32), (2, 64), (33, 64), (34, 128), (512, 1024), (961, 1024)):
        header = kconfig_tool.public_header(
            Configuration({"USER_EVENT_MAX": str(events)}).kconf, "0")
        if macro(header, "_PXT_EVENT_IDS") != str(ids):
            yield f"{events} user events: {macro(header, '_PXT_EVENT_IDS')} ids"
    for line in kconfig_tool.public_header(Configuration({}).kconf, "0").split("\n"):
        if line.startswith("#define") and not line.startswith("#define _PXT_"):
            yield f"the public header defines: {line}"


def main():
    findings = []
    findings += check_help(Configuration({}).kconf)
    findings += check_costs(Configuration({}).kconf)
    findings += check_refusals()
    findings += check_profiles()
    findings += check_headers()
    print("\n".join(findings + [f"{len(REFUSED)} refusals, {len(PROFILES)} profiles, {len(findings)} findings"]))
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
