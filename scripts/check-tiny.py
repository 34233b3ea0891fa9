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
import struct
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
# What a debugger's dump of a board's memory is read by.
LABELLED = {"RECORD_THREAD": "y", "RECORD_CPU": "y", "SYSEVENTS": "y", "FORMAT_POOL_BYTES": "64", "LABELS": "y"}
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


def events_of(pxtrace, work, *names):
    """A dump of the program's memory, as `pxtrace recover` reads it: what it said, and a line for each event."""
    log = os.path.join(work, "log.ptl")
    said = subprocess.run([pxtrace, "recover", *names, "-o", log], capture_output=True, text=True, check=False, timeout=60)
    if said.returncode:
        return said.stderr, [], ""
    check, told, stat = (subprocess.run([pxtrace, *how, log], capture_output=True, text=True, check=False, timeout=60)
                         for how in (["check"], ["print"], ["stat"]))
    return said.stderr + check.stdout + check.stderr, told.stdout.splitlines(), stat.stdout


def spoil(name, number):
    """The record of that number is none any more."""
    with open(name, "r+b") as file:
        memory = file.read()
        begin = struct.pack("<I", 33 | 4 << 10)
        at = next(found.start() for found in re.finditer(re.escape(begin), memory)
                  if memory[found.start() + 16:found.start() + 20] == struct.pack("<I", number))
        file.seek(at)
        file.write(bytes(4))


def recovered(pxtrace):
    """The memory of a program, as a board's debugger takes it, becomes a log."""
    configuration = Configuration(LABELLED, os.path.join(ROOT, "configs", "tiny_defconfig"))
    if configuration.errors:
        return configuration.errors
    findings = []

    def want(what, found):
        if not found:
            findings.append(f"recover: {what}")

    with tempfile.TemporaryDirectory() as work:
        flags, library = archive(work, "", ["-O1", "-g"], configuration)
        program, memory = (os.path.join(work, name) for name in ("tiny", "memory"))
        tests = [os.path.join(ROOT, "tests", name) for name in ("tiny/tiny.c", "suite.c")]
        run("gcc", *flags, f"-I{ROOT}/tests", "-DPXT_NO_CUNIT=1", *tests, library, "-o", program)
        run(program, "--role", "leave", memory, "nothing")
        want("a program without a stream has none", "no stream is in it" in events_of(pxtrace, work, memory)[0])
        run(program, "--role", "leave", memory, "all")
        said, events, stat = events_of(pxtrace, work, memory)
        told = "\n".join(events)
        want("events of a full ring from the oldest one left", "13 EVENTS LOST HERE" in events[0] and "n=13" in events[1])
        want("written is what was retrieved, lost and cleared",
             "law       written 46, retrieved 31 + lost 13 + cleared 2 + held 0" in said)
        want("what the program had read is told", "1 are not in it because the program had read" in said)
        want("a task by number and name", re.search(r"control/3 +tock +n=39$", told, re.M))
        want("a task whose name is a constant by number", re.search(r" 4 +tick +data.1.=05", told)
             and "the names of 1 tasks are not in the file" in said)
        want("an interrupt by number", re.search(r"interrupt/32773 +tick +data.1.=06", told))
        want("data that was cut", re.search(r"data.40.=(07 ){40}.*cut", told))
        want("a context switch of one slot", "prev_tid=3  next_tid=4  prev_state=1  next_prio=9" in told)
        want("stamps on the line of the program's time", events[1].split()[0] == "0.057000000"
             and events[-1].split()[0] == "0.147000000")
        want("the stream's attributes", '"boot", LOOP, 1024 bytes, data up to 40 bytes' in stat)
        want("its state is listed", re.search(r"1  running +31 +13 +1  boot",
             run(pxtrace, "recover", "--list", memory)))
        if shutil.which("gdb"):
            debug = subprocess.run(["gdb", "-q", "--batch", "-nx", "-x", f"{ROOT}/scripts/gdb/pxtrace.py", "-ex", "break dump",
                                    "-ex", f"run --role leave {work}/none all", "-ex", "pxtrace streams",
                                    "-ex", f"pxtrace dump 1 {work}/box", "-ex", "kill", program],
                                   capture_output=True, text=True, check=False, timeout=60)
            # Where no process may be traced, nothing ran.
            if "Breakpoint 1, dump" in debug.stdout:
                want("gdb lists it", re.search(r"1  +1  running +1 +64 .* boot$", debug.stdout, re.M))
                said, of_gdb, _ = events_of(pxtrace, work, f"{work}/box")
                want("gdb's dump has the same events, and all names", len(of_gdb) == len(events)
                     and any("logger/4" in event for event in of_gdb) and "names" not in said)
        spoil(memory, 30)
        said, events, _ = events_of(pxtrace, work, memory)
        want("a record that is no record ends it, and is counted",
             "n=29" in events[-2] and "14 EVENTS LOST BEHIND" in events[-1]
             and "written 46, retrieved 17 + lost 27 + cleared 2 + held 0" in said)
        with open(memory, "r+b") as file:
            file.truncate(os.path.getsize(memory) // 2)
        said, _, _ = events_of(pxtrace, work, memory)
        want("half a dump is refused", "not in the file" in said or "no stream is in it" in said)
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
        "-DEVERY_UNIT", f"{ROOT}/tests/consumer/smallest.c", library, "-nostartfiles", "-nodefaultlibs", "-Wl,--gc-sections", "-Wl,-e,main",
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
        if os.environ.get("PXT_PXTRACE"):
            findings += recovered(os.environ["PXT_PXTRACE"])
    if shutil.which(CROSS + "gcc"):
        for profile, defines, more_flags, most in ON_A_BOARD:
            findings += on_a_board(profile, defines, more_flags, most, "-v" in sys.argv[1:])
    else:
        print("no arm-none-eabi-gcc: the program's size is not looked at")
    print("\n".join(findings + [f"smallest programs: {len(findings)} findings"]))
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
