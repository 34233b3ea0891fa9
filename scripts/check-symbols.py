#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares the names that leave a library with the unit table.

usage: check-symbols.py LIBRARY --units all|UNIT,UNIT...
"""
import argparse
import subprocess
import sys

from config import expected_names, kconfig_tool, plain_name


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
