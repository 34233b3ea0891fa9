#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The bare profile: links for Cortex-M3, and asks for nothing but the board, mem* and libgcc.

usage: check-bare.py BUILD     (a build of the preset "arm")
"""
import os
import re
import subprocess
import sys

from config import ROOT

CROSS = "arm-none-eabi-"
FLAGS = ["-mcpu=cortex-m3", "-mthumb", "-Os", "-ffreestanding", "-std=c11",
         "-D_POSIX_C_SOURCE=200809L", "-Wall", "-Wextra", "-Werror", "-ffunction-sections"]
ALLOWED = re.compile(r"mem(cpy|move|set|cmp|chr)|__aeabi_\w+|pxt_board_\w+")
# Nothing of these may be in the program.
REFUSED = re.compile(r"__atomic_|malloc|printf|pthread_|_sbrk|fopen|__sync_")


def output(*command):
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def undefined(archive):
    used, defined = set(), set()
    for line in output(CROSS + "nm", archive).splitlines():
        words = line.split()
        if len(words) == 2 and words[0] in "Uw":
            used.add(words[1])
        elif len(words) == 3:
            defined.add(words[2])
    return used - defined


def main():
    build = os.path.abspath(sys.argv[1])
    archive = os.path.join(build, "libptrace.a")
    program = os.path.join(build, "bare.elf")
    findings = [f"the library asks for {name}" for name in sorted(undefined(archive))
                if not ALLOWED.fullmatch(name)]
    subprocess.run([CROSS + "gcc", *FLAGS, f"-I{ROOT}/include", f"-I{build}/include",
                    f"-I{ROOT}/port/bare/include", f"{ROOT}/tests/consumer/bare.c", archive,
                    "-nostartfiles", "-nodefaultlibs", "-Wl,--gc-sections", "-Wl,-e,main",
                    "-Wl,--fatal-warnings", "-lgcc", "-lc", "-lgcc", "-o", program], check=True)
    for line in output(CROSS + "nm", program).splitlines():
        if REFUSED.search(line.split()[-1]):
            findings.append(f"the program holds {line.split()[-1]}")
    print(output(CROSS + "size", program), end="")
    print("\n".join(findings + [f"bare profile: {len(findings)} findings"]))
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
