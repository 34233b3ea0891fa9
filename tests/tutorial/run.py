#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs a page as a newcomer would: every command, in its order, in an empty folder.

usage: run.py PAGE SOURCE-DIRECTORY BUILD-DIRECTORY

<!-- file: NAME --> before a block: the block is saved as NAME.  In a block of ```console, a line that
begins with "$ " is a command, and the lines behind it are what it prints: the same but for numbers and
blanks; "..." stands for any lines, or between columns for some more of them.  A command whose output is not shown prints nothing.

<!-- example: NAME --> before a block: the block is examples/NAME, but for its head comment, and is saved.

<!-- check: install --> before a block: in the ordinary check, the installation of BUILD-DIRECTORY stands for
its commands; PXT_STRESS=full builds, too.
<!-- check: installed --> before a block: it installs for the whole machine; an installation of
BUILD-DIRECTORY in the empty folder stands for it, and what follows finds it without being told.
"""
import os
import re
import subprocess
import sys
import tempfile

# A program that the page itself builds, and what it sets for it.
OWN = re.compile(r"(\w+=\S+ )*\./")
# What a shell keeps from one command to the next is handed on by these two files.
KEEP = '. ./.environment; {}\nstatus=$?; export -p >./.environment; exit $status'


def blocks(page):
    """(what the comment before it says, language, lines) of each block."""
    comment = language = None
    lines = []
    for line in page.splitlines():
        text = line.strip()
        if language is not None and text == "```":
            yield comment, language, lines
            comment = language = None
        elif language is not None:
            lines.append(line[indent:] if line[:indent].isspace() else line)
        elif text.startswith("```"):
            language, lines, indent = text[3:], [], line.index("`")
        elif match := re.fullmatch(r"<!-- (.*) -->", text):
            comment = match[1]
        elif text:
            comment = None


def commands(lines):
    """(command, lines that it prints) of a block."""
    command, shown = None, []
    for line in lines:
        if line.startswith("$ "):
            if command:
                yield command, shown
            command, shown = line[2:], []
        else:
            shown.append(line)
    if command:
        yield command, shown


def plain(line):
    """A line without what differs from run to run."""
    line = re.sub(r"\b[\d.,]+ (ns|us|ms|s)\b", "TIME", line)
    line = re.sub(r"-?\d[\d.,]*", "N", line)
    return re.sub(r"\s+", " ", line).strip()


def same(shown, found):
    """Whether two plain lines are the same, where "..." between columns is any text."""
    pieces = [re.escape(piece) for piece in shown.split(" ... ")]
    return re.fullmatch(" .*".join(pieces), found) is not None


def agree(shown, found):
    """Whether the lines found are those shown, where "..." is any number of lines."""
    at = line = 0
    dots, resume = None, 0
    while line < len(found):
        if at < len(shown) and shown[at] == "...":
            dots, resume = at, line
            at += 1
        elif at < len(shown) and same(shown[at], found[line]):
            at += 1
            line += 1
        elif dots is not None:
            # The dots stand for one line more.
            resume += 1
            at, line = dots + 1, resume
        else:
            return False
    return all(rest == "..." for rest in shown[at:])


def go_first():
    """A reader has his machine to himself; a test has not, so its programs go before others."""
    try:
        os.sched_setscheduler(0, os.SCHED_RR, os.sched_param(1))
    except (OSError, AttributeError):
        pass


class Reader:
    """Somebody who follows the page."""

    def __init__(self, source, build, home):
        self.source, self.build, self.home = source, build, home
        os.symlink(source, os.path.join(home, "libptrace"))
        # His terminal is as wide as what the page shows.
        with open(os.path.join(home, ".environment"), "w", encoding="utf-8") as environment:
            environment.write("export COLUMNS=9999\n")

    def call(self, command):
        return subprocess.run(["bash", "-c", KEEP.format(command)], cwd=self.home, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False,
                              preexec_fn=go_first if OWN.match(command) else None)

    def follow(self, command, shown):
        print("$", command, flush=True)
        result = self.call(command)
        print(result.stdout, end="", flush=True)
        if result.returncode != 0:
            sys.exit(f"exit status {result.returncode}")
        found = [plain(line) for line in result.stdout.splitlines()]
        wanted = [line if line == "..." else plain(line) for line in shown]
        if not agree([line for line in wanted if line], [line for line in found if line]):
            sys.exit("the page shows something else:\n" + "\n".join(shown))

    def install(self, lines):
        if os.environ.get("PXT_STRESS") == "full":
            # Its own copy: a build belongs to nobody else.
            os.remove(os.path.join(self.home, "libptrace"))
            self.follow(f"git clone -q '{self.source}' libptrace", [])
            for command, shown in commands(lines):
                self.follow(command, shown)
        else:
            self.follow(f"cmake --install '{self.build}' --prefix \"$PWD/ptrace\"", ["..."])

    def find_installation(self):
        """As after an installation where the system looks by itself."""
        self.follow(f"cmake --install '{self.build}' --prefix \"$PWD/ptrace\"", ["..."])
        for name, folder in (("PATH", "bin"), ("LD_LIBRARY_PATH", "lib"),
                             ("PKG_CONFIG_PATH", "lib/pkgconfig")):
            self.follow(f'export {name}="$PWD/ptrace/{folder}${{{name}:+:${name}}}"', [])

    def take(self, name, lines):
        """The example itself, of which the page shows all but the comment at its head."""
        with open(os.path.join(self.source, "examples", name), encoding="utf-8") as file:
            text = file.read().splitlines()
        while text and re.fullmatch(r"/\*.*\*/", text[0]):
            del text[0]
        if text != lines:
            sys.exit(f"the page shows something else than examples/{name}")
        self.save(name, lines)

    def save(self, name, lines):
        with open(os.path.join(self.home, name), "w", encoding="utf-8") as file:
            file.write("\n".join(lines) + "\n")


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        page = file.read()
    with tempfile.TemporaryDirectory() as home:
        reader = Reader(os.path.abspath(sys.argv[2]), os.path.abspath(sys.argv[3]), home)
        if "<!-- check: installed -->" in page:
            reader.find_installation()
        for comment, language, lines in blocks(page):
            if comment == "check: installed":
                continue
            if comment and comment.startswith("file: "):
                reader.save(comment[6:], lines)
            elif comment and comment.startswith("example: "):
                reader.take(comment[9:], lines)
            elif comment == "check: install":
                reader.install(lines)
            elif language == "console":
                for command, shown in commands(lines):
                    reader.follow(command, shown)
    print("everything on the page works")


if __name__ == "__main__":
    main()
