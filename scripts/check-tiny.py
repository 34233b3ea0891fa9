#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The profiles for boards.

usage: check-tiny.py [-v]            the tiny profile's tests on this machine, and what the profiles add to a program
                                     for Cortex-M3; -v: what the linker kept, piece by piece
       check-tiny.py --bare BUILD    the bare profile, of a build of the preset "arm", links, and asks for nothing
                                     but the board, mem* and libgcc

The traced program may be so much larger in flash (code, constants, initial values) than the same program
untraced; linked as boards are: -Os, unused sections dropped.
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile

from config import ROOT, Configuration, expected_names, plain_name, tool

# Profile, what the program defines, how it is compiled, bytes of flash at most.
ON_A_BOARD = (("tiny", ["-DTRACED"], [], 2060),
              ("tiny", ["-DTRACED"], ["-flto"], 1536),
              ("small", ["-DTRACED"], [], 3950),
              ("small", ["-DTRACED", "-DLOGGED"], [], 9900),
              ("bare", ["-DTRACED"], [], 22400),
              ("bare", ["-DTRACED", "-DLOGGED"], [], 31000))
FLAGS = ["-std=c11", "-D_POSIX_C_SOURCE=200809L", "-fno-common", "-ffunction-sections",
         "-fdata-sections", "-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Wundef", "-Werror"]
CROSS = "arm-none-eabi-"
CORTEX = ["-Os", "-mcpu=cortex-m3", "-mthumb", "-ffreestanding", "-fbuiltin"]
# Checks are cheap: what is measured has them.
SETTINGS = ({}, {"ARG_CHECKS": "n"}, {"RECORD_ADDRESS": "n", "EVENT_NAME_MAX": "40", "NAME_POOL_BYTES": "64"},
            {"RECORD_THREAD": "y", "RECORD_CPU": "y", "SYSEVENTS": "y", "TOLOG": "y", "FORMAT_POOL_BYTES": "64"})
# What the bare library may ask for; nothing of the second may be in the program.
ALLOWED = re.compile(r"mem(cpy|move|set|cmp|chr)|__aeabi_\w+|pxt_board_\w+")
REFUSED = re.compile(r"__atomic_|malloc|printf|pthread_|_sbrk|fopen|__sync_")


def run(*command):
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    if done.returncode:
        sys.exit(f"{' '.join(command)}\n{done.stdout}{done.stderr}")
    return done.stdout


def archive(work, prefix, flags, configuration):
    """The library of one configuration; returns flags for its users."""
    configuration.write_headers(work)
    flags = [*FLAGS, *flags, *configuration.include_flags(work), f"-I{ROOT}/port/bare/include"]
    objects = []
    for source in configuration.sources("ptrace"):
        objects.append(os.path.join(work, source.replace("/", "_")[:-2] + ".o"))
        run(prefix + "gcc", "-c", *flags, os.path.join(ROOT, source), "-o", objects[-1])
    library = os.path.join(work, "libptrace.a")
    run(prefix + "ar", "rcs", library, *objects)
    return flags, library


def findings_of(library, configuration):
    """Exactly the public functions of its units."""
    lines = run("nm", "-g", "--defined-only", library).splitlines()
    got = {plain_name(line.split()[2]) for line in lines if len(line.split()) == 3}
    want, _ = expected_names(configuration.parts())
    want |= {name for name in got if configuration.on("RECORD_THREAD") and re.match("posix_trace_(task|interrupt)_", name)}
    return ([f"{name} is missing" for name in sorted(want - got)]
            + [f"{name} belongs to no selected unit" for name in sorted(got - want)
               if name.startswith("posix_")])


def on_this_machine(settings):
    configuration = Configuration(settings, os.path.join(ROOT, "configs", "tiny_defconfig"))
    if configuration.errors:
        return configuration.errors
    with tempfile.TemporaryDirectory() as work:
        flags, library = archive(work, "", ["-O1", "-g", "-fsanitize=undefined,address",
                                            "-fno-sanitize-recover=all"], configuration)
        findings = findings_of(library, configuration)
        program = os.path.join(work, "tiny")
        tests = [os.path.join(ROOT, "tests", name) for name in ("tiny/tiny.c", "suite.c")]
        run("gcc", *flags, f"-I{ROOT}/tests", "-DPXT_NO_CUNIT=1", *tests, library, "-o", program)
        print(run(program).splitlines()[-1], settings or "")
    return findings


def linked(work, flags, library, defines, verbose):
    """Bytes of flash and of memory of the program."""
    program = os.path.join(work, "program")
    run(CROSS + "gcc", *flags, *defines, f"{ROOT}/tests/consumer/smallest.c", library, "-nostartfiles",
        "-nodefaultlibs", "-Wl,--gc-sections", "-Wl,-e,main", "-lgcc", "-lc", "-lgcc", "-o", program)
    if verbose:
        for line in run(CROSS + "nm", "-S", "--size-sort", "-r", program).splitlines():
            _, size, kind, name = line.split()
            print(f"{int(size, 16):7} {kind} {name}")
    text, data, bss = map(int, run(CROSS + "size", program).splitlines()[1].split()[:3])
    return text + data, data + bss


def on_a_board(profile, defines, more_flags, most, verbose):
    """Flash and memory that tracing adds."""
    configuration = Configuration({}, os.path.join(ROOT, "configs", f"{profile}_defconfig"))
    with tempfile.TemporaryDirectory() as work:
        flags, library = archive(work, CROSS, CORTEX + more_flags, configuration)
        untraced = linked(work, flags, library, [], False)
        traced = linked(work, flags, library, defines, verbose)
    flash, memory = (more - less for more, less in zip(traced, untraced))
    what = " ".join([f"Cortex-M3, {profile}{', with a log' if '-DLOGGED' in defines else ''}", *more_flags])
    print(f"{what}: tracing adds {flash} bytes of flash (at most {most}) and {memory} of memory, "
          f"{configuration.value('STATIC_BYTES')} of them for streams")
    return [f"{what}: {flash} bytes of flash, more than {most}"] if flash > most else []


def undefined(archive):
    used, defined = set(), set()
    for line in run(CROSS + "nm", archive).splitlines():
        words = line.split()
        if len(words) == 2 and words[0] in "Uw":
            used.add(words[1])
        elif len(words) == 3:
            defined.add(words[2])
    return used - defined


def bare(build):
    library, program = (os.path.join(build, name) for name in ("libptrace.a", "bare.elf"))
    findings = [f"the library asks for {name}" for name in sorted(undefined(library)) if not ALLOWED.fullmatch(name)]
    run(CROSS + "gcc", *FLAGS, *CORTEX, f"-I{ROOT}/include", f"-I{build}/include", f"-I{ROOT}/port/bare/include",
        f"{ROOT}/tests/consumer/bare.c", library, "-nostartfiles", "-nodefaultlibs", "-Wl,--gc-sections", "-Wl,-e,main",
        "-Wl,--fatal-warnings", "-lgcc", "-lc", "-lgcc", "-o", program)
    for line in run(CROSS + "nm", program).splitlines():
        if REFUSED.search(line.split()[-1]):
            findings.append(f"the program holds {line.split()[-1]}")
    print(run(CROSS + "size", program), end="")
    return findings


def main():
    if sys.argv[1:2] == ["--bare"]:
        findings = bare(os.path.abspath(sys.argv[2]))
        print("\n".join(findings + [f"bare profile: {len(findings)} findings"]))
        return 1 if findings else 0
    findings = []
    if tool("gcc"):
        for settings in SETTINGS:
            findings += on_this_machine(settings)
    if shutil.which(CROSS + "gcc"):
        for profile, defines, more_flags, most in ON_A_BOARD:
            findings += on_a_board(profile, defines, more_flags, most, "-v" in sys.argv[1:])
    else:
        print("no arm-none-eabi-gcc: the program's size is not looked at")
    print("\n".join(findings + [f"smallest programs: {len(findings)} findings"]))
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
