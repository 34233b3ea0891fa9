#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Bytes of text, constants, data and bss, by profile and by unit, -Os.

usage: sizes.py [--cc COMPILER] [--work DIR]

By unit: the text of the members of its folder in the full profile, and what the full library
loses without the unit.
"""
import argparse
import os
import shutil
import subprocess
import tempfile

from config import ROOT, Configuration

FLAGS = ["-std=c11", "-D_POSIX_C_SOURCE=200809L", "-Os", "-fvisibility=hidden", "-fno-common",
         "-ffunction-sections", "-fdata-sections"]
SECTIONS = {"text": (".text",), "rodata": (".rodata",), "data": (".data", ".tdata"),
            "bss": (".bss", ".tbss")}


def sections(obj, size):
    """Bytes of one object in each column."""
    total = dict.fromkeys(SECTIONS, 0)
    lines = subprocess.run([size, "-A", obj], capture_output=True, text=True, check=True).stdout
    for line in lines.splitlines():
        words = line.split()
        if len(words) < 2 or not words[0].startswith("."):
            continue
        for column, prefixes in SECTIONS.items():
            if words[0].startswith(prefixes):
                total[column] += int(words[1])
    return total


def compile_all(configuration, library, directory, args):
    """Sizes of each source of one library."""
    configuration.write_headers(directory)
    flags = configuration.include_flags(directory)
    if configuration.value("PORT_BARE"):
        flags += [f"-I{ROOT}/port/bare/include", "-ffreestanding"]
        cc, size = "arm-none-eabi-gcc", "arm-none-eabi-size"
        flags += ["-mcpu=cortex-m3", "-mthumb"]
    else:
        cc, size = args.cc, "size"
    found = {}
    for source in configuration.sources(library):
        obj = os.path.join(directory, source.replace("/", "_")[:-2] + ".o")
        subprocess.run([cc, "-c", *FLAGS, *flags, os.path.join(ROOT, source), "-o", obj],
                       check=True, capture_output=True)
        found[source] = sections(obj, size)
    return found


def add(sizes):
    return {column: sum(one[column] for one in sizes) for column in SECTIONS}


def row(name, sizes, extra=""):
    print(f"{name:28}" + "".join(f"{sizes[column]:9}" for column in SECTIONS) + extra)


def profiles(work, args):
    print(f"{'profile':28}" + "".join(f"{column:>9}" for column in SECTIONS))
    results = {}
    for name in ("full", "minimal", "target", "host", "bare"):
        if name == "bare" and not shutil.which("arm-none-eabi-gcc"):
            print("bare: no arm-none-eabi-gcc")
            continue
        configuration = Configuration({}, os.path.join(ROOT, "configs", name + "_defconfig"))
        library = "ptrace" if configuration.value("CORE") else "retrieval"
        results[name] = compile_all(configuration, library, os.path.join(work, name), args)
        row(name + (" (Cortex-M3)" if name == "bare" else ""), add(results[name].values()))
    return results


def units(full, work, args):
    whole = add(full.values())
    print(f"\n{'unit':28}" + "".join(f"{column:>9}" for column in SECTIONS) + "   text less without")
    for folder in ("base", "port", "core", "online", "tolog", "userevents", "filter", "logretrieval"):
        mine = add([size for source, size in full.items() if source.startswith(folder + "/")])
        extra = ""
        if folder in ("online", "tolog", "userevents", "filter", "logretrieval"):
            without = Configuration({folder.upper(): "n"})
            rest = add(compile_all(without, "ptrace", os.path.join(work, folder), args).values())
            extra = f"{whole['text'] - rest['text']:12}"
        row(folder, mine, extra)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cc", default="cc")
    parser.add_argument("--work")
    args = parser.parse_args()
    work = args.work or tempfile.mkdtemp(prefix="sizes-")
    try:
        results = profiles(work, args)
        units(results["full"], work, args)
    finally:
        if not args.work:
            shutil.rmtree(work)


if __name__ == "__main__":
    main()
