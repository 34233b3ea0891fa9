#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The compatibility interfaces as Kconfig and compilers see them: each alone, all together, none.

For each: Kconfig takes it, libptrace is the same file for file with and without it, its headers
compile alone as C11 and C++11, its sources with every compiler that is here (gcc, clang, musl's),
and these have at most 400 lines of code.

usage: check.py [--work DIR]
"""
import argparse
import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "scripts"))
from config import ROOT, Configuration, kconfig_tool

# name -> settings of each build of it
BUILDS = {
    "zephyr": ({}, {"KEL": "n"}, {"KEL_DYNAMIC": "y", "KEL_CUSTOM_TIMESTAMP": "y"},
               {"KEL_DYNAMIC": "y", "KEL_TASK_MONITOR": "n"}),
    "shark": ({},),
    "qnx": ({},),
}
LINES = 400
STRICT = ["-Wall", "-Wextra", "-Wpedantic", "-Wshadow", "-Wconversion", "-Wundef", "-Wcast-qual",
          "-Werror", "-D_POSIX_C_SOURCE=200809L"]


def lines_of_code(text):
    """Lines that hold more than a comment, a brace, or the name of a header."""
    text = re.sub(r"/\*.*?\*/", lambda match: "\n" * match[0].count("\n"), text, flags=re.S)
    return sum(1 for line in text.split("\n")
               if line.strip().strip("{};") and not line.startswith("#include"))


def sources(name):
    return sorted(glob.glob(os.path.join(ROOT, "contrib", "compat", name, "*.c")))


def headers(name):
    folder = os.path.join(ROOT, "contrib", "compat", name, "include")
    return sorted(os.path.relpath(path, folder)
                  for path in glob.glob(os.path.join(folder, "**", "*.h"), recursive=True))


def template(text, configuration):
    """A header that CMake makes of @SYMBOL@."""
    return re.sub(r"@(\w+)@", lambda match: str(configuration.value(match[1])), text)


def write_config(name, configuration, directory):
    for path in glob.glob(os.path.join(ROOT, "contrib", "compat", name, "*.h.in")):
        with open(path, encoding="utf-8") as text:
            kconfig_tool.write(os.path.join(directory, os.path.basename(path)[:-3]),
                               template(text.read(), configuration))


def wanted_sources(name, configuration):
    """As CMakeLists.txt chooses them."""
    off = name == "zephyr" and not configuration.value("KEL")
    return [path for path in sources(name) if not off or path.endswith("/settings.c")]


def run(command, source=None):
    done = subprocess.run(command, capture_output=True, text=True, check=False, input=source)
    return [] if done.returncode == 0 else [f"{' '.join(command)}\n{done.stdout}{done.stderr}"]


def available(*names):
    return [name for name in names if shutil.which(name)]


def build(names, settings, work):
    """One configuration with the interfaces @names on."""
    asked = {f"COMPAT_{name.upper()}": "y" for name in names}
    asked.update(settings)
    label = "+".join(names) + "".join(f" {key}={value}" for key, value in settings.items())
    configuration = Configuration(asked)
    if configuration.errors:
        return [f"{label}: {configuration.errors}"]
    findings = []
    directory = os.path.join(work, re.sub(r"\W+", "_", label))
    configuration.write_headers(directory)
    plain = Configuration({})
    if (configuration.sources("ptrace") != plain.sources("ptrace")
            or kconfig_tool.public_header(configuration.kconf, "0")
            != kconfig_tool.public_header(plain.kconf, "0")):
        findings.append(f"{label}: libptrace is another one with it")
    flags = [f"-I{ROOT}/include", f"-I{directory}/include", f"-I{directory}"]
    for name in names:
        write_config(name, configuration, directory)
        flags.append(f"-I{ROOT}/contrib/compat/{name}/include")
    together = "".join(f"#include <{header}>\n" for name in names for header in headers(name))
    alone = [f"#include <{header}>\n" * 2 for name in names for header in headers(name)]
    for text in [together, *alone]:
        for compiler in available("gcc", "clang", "musl-gcc"):
            findings += run([compiler, "-std=c11", *STRICT, *flags, "-fsyntax-only", "-xc", "-"], text)
        for compiler in available("g++", "clang++"):
            findings += run([compiler, "-std=c++11", *STRICT, *flags, "-fsyntax-only", "-xc++", "-"],
                            text)
    for name in names:
        for compiler in available("gcc", "clang", "musl-gcc"):
            findings += run([compiler, "-std=c11", "-O2", *STRICT, *flags, "-fsyntax-only",
                             os.path.join(ROOT, "contrib", "compat", "own.c"),
                             *wanted_sources(name, configuration)])
    return findings


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--work")
    args = parser.parse_args()
    work = args.work or tempfile.mkdtemp(prefix="compat-")
    findings, builds = [], 0
    try:
        plain = Configuration({})
        for name, variants in BUILDS.items():
            if plain.value("COMPAT_" + name.upper()):
                findings.append(f"{name} is on by default")
            count = 0
            for path in sources(name):
                with open(path, encoding="utf-8") as text:
                    count += lines_of_code(text.read())
            if count > LINES:
                findings.append(f"{name} has {count} lines of code")
            print(f"{name}: {count} lines of code")
            for settings in variants:
                findings += build([name], settings, work)
                builds += 1
        findings += build(list(BUILDS), {}, work)
    finally:
        if not args.work:
            shutil.rmtree(work)
    print("\n".join(findings + [f"{builds + 1} configurations, {len(findings)} findings"]))
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
