# SPDX-License-Identifier: MIT
"""What the other scripts need to know of the build: the unit table, the names, a configuration.

usage: config.py LIBRARY --units all|UNIT,UNIT...      compares the names that leave a library with the unit table
"""
import argparse
import os
import re
import shutil
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
# As many at a time as CMake would build, whom the tests tell to leave the other processors alone.
JOBS = int(os.environ.get("CMAKE_BUILD_PARALLEL_LEVEL") or os.cpu_count() or 1)
sys.path.insert(0, os.path.join(ROOT, "cmake"))

try:
    import kconfig_tool
except ImportError:
    # The first python3 in PATH may not see Debian's modules: start again with one that does.
    OTHER = "/usr/bin/python3"
    if os.environ.get("PTRACE_REEXEC") or not os.path.exists(OTHER):
        sys.exit("no Kconfiglib (Debian: python3-kconfiglib)")
    os.environ["PTRACE_REEXEC"] = "1"
    os.execv(OTHER, [OTHER] + sys.argv)

BOTH_LIBRARIES = {"FORMAT", "BASE", "PORT", "LOGRETRIEVAL"}
OTHER_UNITS = set(kconfig_tool.UNITS) - {"LOGRETRIEVAL"}
FOLDERS = ("format", "base", "port", "tiny", *(unit.lower() for unit in kconfig_tool.UNITS))


def unit_table():
    """Rows of cmake/sources.cmake: (unit, IF symbols, UNLESS symbols, sources)."""
    with open(os.path.join(ROOT, "cmake", "sources.cmake"), encoding="utf-8") as table:
        text = re.sub(r"#[^\n]*", "", table.read())
    rows = []
    for row in re.findall(r"^ptrace_unit\(([^)]*)\)", text, flags=re.M):
        words = row.split()
        part = {"IF": [], "UNLESS": [], "SOURCES": []}
        key = None
        for word in words[1:]:
            if word in part:
                key = word
            else:
                part[key].append(word)
        rows.append((words[0], part["IF"], part["UNLESS"], part["SOURCES"]))
    return rows


def unlisted():
    """Sources in the units' folders that stand in no row."""
    listed = {source for row in unit_table() for source in row[3]}
    there = {os.path.relpath(os.path.join(here, name), ROOT) for folder in FOLDERS
             for here, _, names in os.walk(os.path.join(ROOT, folder))
             for name in names if name.endswith(".c")}
    return sorted(there - listed)


def expected_names(units):
    """Public functions of an archive that holds these units, as the headers have them, and data."""
    point_opens = {"EXTENSIONS", "USEREVENTS"} <= units
    return (set(kconfig_tool.public_functions(ROOT, units)),
            {name for name, of in kconfig_tool.BESIDE.items() if of & units and (point_opens or of != {"EXTENSIONS"})})


def plain_name(symbol):
    """A symbol's name without its version and the sizes that are part of it (trace.h)."""
    return re.sub(r"(_of_\d+_(types|bytes)(_\d+_bits)?|_time64)?(@.*)?$", "", symbol)


class Arguments:
    """What kconfig_tool's functions read from a command line."""

    def __init__(self, settings, profile=None):
        self.profile, self.dotconfig = profile, None
        self.set = [f"CONFIG_PTRACE_{name}={value}" for name, value in settings.items()]


class Configuration:
    """One valid configuration; .errors tells why it is none."""

    def __init__(self, settings, profile=None):
        os.environ["srctree"] = ROOT
        self.kconf = kconfig_tool.Kconfig("Kconfig", warn_to_stderr=False)
        self.errors = kconfig_tool.load(self.kconf, Arguments(settings, profile))

    def value(self, name):
        return kconfig_tool.value_of(self.kconf, name)

    def on(self, name):
        if name == "SHARED":
            return False
        return name in ("FORMAT", "PORT") or bool(self.value(name))

    def units(self):
        return {unit for unit in kconfig_tool.UNITS if self.value(unit)}

    def parts(self):
        """The units, and those parts of them that have public functions of their own."""
        return self.units() | {part for part in kconfig_tool.PARTS if self.value(part)}

    def sources(self, library):
        """Sources of "ptrace" or "retrieval"."""
        found = []
        for unit, needs, refuses, files in unit_table():
            ignored = OTHER_UNITS if library == "retrieval" else set()

            def chosen(name, ignored=ignored):
                return name not in ignored and self.on(name)

            if library == "retrieval" and unit not in BOTH_LIBRARIES:
                continue
            if (chosen(unit) and (not needs or any(map(chosen, needs)))
                    and not any(map(chosen, refuses))):
                found += [file for file in files if file not in found]
        return found

    def write_headers(self, directory):
        kconfig_tool.write(os.path.join(directory, "private", "pxt_config.h"),
                           kconfig_tool.private_header(self.kconf))
        kconfig_tool.write(os.path.join(directory, "include", "trace_config.h"),
                           kconfig_tool.public_header(self.kconf, "0"))

    def include_flags(self, directory):
        port = "posix" if self.value("PORT_POSIX") else "bare"
        return [f"-I{ROOT}", f"-I{ROOT}/include", f"-I{ROOT}/port/{port}",
                f"-I{directory}/private", f"-I{directory}/include"]


def valid_unit_combinations():
    """All unit combinations that Kconfig accepts, and the number of those it refuses."""
    names = kconfig_tool.UNITS
    valid, refused = [], 0
    for bits in range(1 << len(names)):
        settings = {name: "y" if bits >> i & 1 else "n" for i, name in enumerate(names)}
        configuration = Configuration(settings)
        if configuration.errors:
            refused += 1
        else:
            valid.append((settings, configuration))
    return valid, refused


def tool(*names):
    """The first of these programs that exists."""
    for name in names:
        if shutil.which(name):
            return name
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("library")
    parser.add_argument("--units", default="all")
    args = parser.parse_args()
    units = ({*kconfig_tool.UNITS, *kconfig_tool.PARTS} if args.units == "all"
             else set(args.units.split(",")))
    shared = args.library.endswith(".so") or ".so." in args.library
    lines = subprocess.run(["nm", "-D" if shared else "-g", "--defined-only", args.library],
                           capture_output=True, text=True, check=True).stdout.splitlines()
    got = {plain_name(words[2]) for words in map(str.split, lines)
           if len(words) == 3 and words[1] != "A"}
    if not shared:
        got = {name for name in got if not name.startswith("pxt_")}
    functions, data = expected_names(units)
    if shared and "CORE" in units:
        data |= {"_pxt_layout"}  # port/posix/configuration.c
    missing, extra = (functions | data) - got, got - functions - data
    for name in sorted(missing):
        print(f"{args.library}: {name} is missing")
    for name in sorted(extra):
        print(f"{args.library}: {name} is not in the headers for these units")
    print(f"{args.library}: {len(got)} names")
    return 1 if missing or extra else 0


if __name__ == "__main__":
    sys.exit(main())
