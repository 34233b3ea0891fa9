#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Presses the keys of `pxtrace top` in a terminal, and looks at its screen.

usage: top_screen.py CASE PXTRACE [NAME...]

A pseudo-terminal of 80 columns and 24 lines has a small shell of our own in it, which starts the
command as a job, as shells do: only so can it be stopped.  What comes out is drawn on a screen of our own, which
knows the orders of a VT100 and no other: an order that it does not know is a failure.  On descriptor 8,
where there is one, the program with the stream is told something.
"""
import fcntl
import os
import pty
import re
import select
import signal
import struct
import sys
import termios
import time

WAIT = 10
ORDER = re.compile(rb"\x1b\[([?0-9;]*)([A-Za-z])|\x1b([()].|[=>78])")


class Screen:
    """What a VT100 shows."""

    def __init__(self, lines, columns):
        self.rest = b""
        self.resize(lines, columns)

    def resize(self, lines, columns):
        self.lines, self.columns = lines, columns
        self.cells = [[" "] * columns for _ in range(lines)]
        self.y = self.x = 0

    def text(self):
        return [("".join(line)).rstrip() for line in self.cells]

    def erase(self, y, begin, end):
        for x in range(begin, end):
            self.cells[y][x] = " "

    def order(self, values, what):
        numbers = [int(value or 0) for value in values.strip("?").split(";")]
        first = numbers[0]
        if what in "mhlr":
            pass
        elif what == "H":
            self.y = min(max(first, 1), self.lines) - 1
            self.x = min(max(numbers[1] if len(numbers) > 1 else 1, 1), self.columns) - 1
        elif what == "J" and first in (0, 2):
            self.erase(self.y, self.x if first == 0 else 0, self.columns)
            for y in range(self.y + 1 if first == 0 else 0, self.lines):
                self.erase(y, 0, self.columns)
        elif what == "K":
            self.erase(self.y, 0 if first else self.x, self.x + 1 if first == 1 else self.columns)
        elif what in "ABCD":
            step = max(first, 1)
            self.y = min(max(self.y + {"A": -step, "B": step}.get(what, 0), 0), self.lines - 1)
            self.x = min(max(self.x + {"C": step, "D": -step}.get(what, 0), 0), self.columns - 1)
        else:
            raise SystemExit(f"an order that no VT100 knows: {values!r} {what!r}")

    def put(self, character):
        if character == "\r":
            self.x = 0
        elif character == "\n":
            self.y = min(self.y + 1, self.lines - 1)
        elif character == "\b":
            self.x = max(self.x - 1, 0)
        elif character == "\t":
            self.x = min(self.x // 8 * 8 + 8, self.columns - 1)
        elif character in "\x0e\x0f\x07\x00":
            pass
        elif character < " ":
            raise SystemExit(f"a control character: {character!r}")
        else:
            if self.x == self.columns:
                self.x, self.y = 0, min(self.y + 1, self.lines - 1)
            self.cells[self.y][self.x] = character
            self.x += 1

    def feed(self, data):
        data, self.rest = self.rest + data, b""
        at = 0
        while at < len(data):
            if data[at] != 0x1b:
                self.put(chr(data[at]))
                at += 1
                continue
            match = ORDER.match(data, at)
            if not match:
                if len(data) - at > 20:
                    raise SystemExit(f"an order that no VT100 knows: {data[at:at + 20]!r}")
                self.rest = data[at:]
                return
            if match[2]:
                self.order(match[1].decode(), match[2].decode())
            at = match.end()


def keep_output():
    """A key that sends a signal discards output that was not read, maybe also what comes after the signal."""
    modes = termios.tcgetattr(0)
    modes[3] |= termios.NOFLSH
    termios.tcsetattr(0, termios.TCSANOW, modes)


def be_shell(words):
    """Starts the command as a job in the foreground, and tells when it is stopped, goes on, and ends."""
    signal.signal(signal.SIGTTOU, signal.SIG_IGN)
    job = os.fork()
    if job == 0:
        os.setpgid(0, 0)
        os.tcsetpgrp(0, os.getpid())
        signal.signal(signal.SIGTTOU, signal.SIG_DFL)
        os.execv(words[0], words)
    while True:
        _, status = os.waitpid(job, os.WUNTRACED)
        os.tcsetpgrp(0, os.getpgrp())
        if not os.WIFSTOPPED(status):
            os._exit(os.waitstatus_to_exitcode(status) & 255)
        modes = termios.tcgetattr(0)[3]
        print("STOPPED", "cooked" if modes & termios.ICANON and modes & termios.ECHO else "raw",
              flush=True)
        sys.stdin.readline()
        os.tcsetpgrp(0, job)
        os.kill(-job, signal.SIGCONT)


class Terminal:
    def __init__(self, words, lines=24, columns=80, term="vt100"):
        self.screen = Screen(lines, columns)
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.environ["TERM"] = term
            os.environ.pop("COLUMNS", None)
            os.environ.pop("LINES", None)
            fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))
            keep_output()
            be_shell(words)
        self.status = None
        self.modes = None
        self.raw = b""

    def read(self, seconds):
        if not select.select([self.fd], [], [], seconds)[0]:
            return False
        try:
            data = os.read(self.fd, 65536)
        except OSError:  # all is closed at the other end
            data = b""
        self.raw += data
        self.screen.feed(data)
        return bool(data)

    def until(self, what, told):
        """Reads on until what(lines) is true."""
        end = time.monotonic() + WAIT
        while not what(self.screen.text()):
            if time.monotonic() > end:
                raise SystemExit(f"in vain: {told}\n" + "\n".join(self.screen.text()))
            self.read(0.05)

    def shows(self, text):
        self.until(lambda lines: any(text in line for line in lines), text)

    def stand(self, seconds):
        """What is shown after so long."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            self.read(0.05)
        return self.screen.text()

    def press(self, keys):
        os.write(self.fd, keys)

    def resize(self, lines, columns):
        self.screen.resize(lines, columns)
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))

    def ends(self, wanted):
        """With that exit status; what the terminal is like then, a process at its end can still see."""
        end = time.monotonic() + WAIT
        while time.monotonic() < end:
            self.modes = termios.tcgetattr(self.fd)[3]
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                status = os.waitstatus_to_exitcode(status)
                while self.read(0):
                    pass
                self.modes = termios.tcgetattr(self.fd)[3]
                if status != wanted:
                    raise SystemExit(f"exit status {status}, not {wanted}: {self.raw[-500:]!r}")
                return
            self.read(0.02)
        raise SystemExit("it does not end\n" + "\n".join(self.screen.text()))

    def is_restored(self):
        if not (self.modes & termios.ICANON and self.modes & termios.ECHO):
            raise SystemExit("the terminal is not as it was")


def check(truth, told):
    if not truth:
        raise SystemExit(f"FAILED: {told}")


def row_of(lines, begin):
    return next((line for line in lines if line.startswith(begin)), "")


def keys_redraw_freeze_and_quit(pxtrace, name):
    terminal = Terminal([pxtrace, "top", "--interval", "200ms", name])
    terminal.shows("running")
    terminal.shows("THREAD")
    lines = terminal.screen.text()
    check(lines[0].startswith("pxtrace top  ") and "by usual" in lines[0], lines[0])
    check(lines[1].startswith("STREAM ") and "READ" in lines[1], lines[1])
    check(row_of(lines, name[:8]), "a row of the stream")
    check("q quit" in lines[23], lines[23])
    # It goes on, ...
    before = terminal.screen.text()
    terminal.until(lambda now: now[1:23] != before[1:23], "another picture")
    # ... stands still, though it is told another order, ...
    terminal.press(b" ")
    terminal.shows("FROZEN")
    before = terminal.stand(0.3)
    check(terminal.stand(1)[2:23] == before[2:23], "it does not stand still")
    terminal.press(b"s")
    terminal.shows("by name")
    terminal.press(b"\x1bOC")
    terminal.shows("by events")
    terminal.press(b"\x1bOD\x1bOD")
    terminal.shows("by usual")
    check(row_of(terminal.screen.text(), name[:8]) == row_of(before, name[:8]), "other numbers")
    # ... and goes on again.
    terminal.press(b" ")
    terminal.until(lambda now: "FROZEN" not in now[0] and now[2:23] != before[2:23], "it goes on")
    terminal.press(b"?")
    terminal.shows("freezes the numbers")
    terminal.press(b"x")
    terminal.shows("STREAM ")
    terminal.press(b"q")
    terminal.ends(0)
    terminal.is_restored()


def a_stop_gives_the_terminal_back(pxtrace, name):
    terminal = Terminal([pxtrace, "top", "--interval", "200ms", name])
    terminal.shows("THREAD")
    # The key comes while it draws: at the first bytes of a picture.
    for _ in range(8):
        while not terminal.read(WAIT):
            pass
        terminal.press(b"\x1a")
        terminal.shows("STOPPED cooked")
        terminal.press(b"\n")
        terminal.until(lambda lines: lines[0].startswith("pxtrace top") and
                       not any("STOPPED" in line for line in lines), "the picture again")
    # In the job's own modes: no end of a line is waited for.
    terminal.press(b" ")
    terminal.shows("FROZEN")
    terminal.press(b"q")
    terminal.ends(0)
    terminal.is_restored()


def a_signal_ends_it_and_the_terminal_is_restored(pxtrace, name):
    terminal = Terminal([pxtrace, "top", name])
    terminal.shows("running")
    terminal.press(b"\x03")
    terminal.ends(0)
    terminal.is_restored()


def the_screen_follows_its_window(pxtrace, name):
    terminal = Terminal([pxtrace, "top", "--interval", "200ms", name])
    terminal.shows("THREAD")
    for lines, columns in ((10, 40), (2, 20), (1, 1), (40, 200), (24, 80)):
        terminal.resize(lines, columns)
        terminal.until(lambda text: "pxtrace top"[:columns - 1] in text[0], f"{lines} lines")
        terminal.stand(0.3)
        if lines >= 10:
            check("STREAM" in terminal.screen.text()[1], "no table")
            check("q quit" in terminal.screen.text()[lines - 1], "no keys")
            check(("PROGRAM" in terminal.screen.text()[1]) == (columns >= 100), "the columns")
    terminal.press(b"q")
    terminal.ends(0)
    terminal.is_restored()


def a_snapshot_says_where_it_is(pxtrace, name):
    terminal = Terminal([pxtrace, "top", name])
    terminal.shows("running")
    terminal.press(b"S")
    terminal.shows(".ptl: saved")
    terminal.press(b"S")
    terminal.until(lambda lines: len([file for file in os.listdir(".") if file.endswith(".ptl")]) == 2,
                   "a second one")
    terminal.press(b"q")
    terminal.ends(0)


def a_stream_that_ends_is_shown_as_such(pxtrace, name):
    terminal = Terminal([pxtrace, "top", "--interval", "200ms", name])
    terminal.shows("THREAD")
    os.write(8, b"shutdown\n")
    terminal.shows("ended")
    terminal.press(b"S")
    terminal.shows("there is no stream")
    terminal.press(b"q")
    terminal.ends(0)
    terminal.is_restored()


def it_ends_after_so_many_pictures(pxtrace, name):
    terminal = Terminal([pxtrace, "top", "-n", "3", "--interval", "200ms", name])
    begin = time.monotonic()
    terminal.ends(0)
    check(0.5 < time.monotonic() - begin < WAIT, "another time")
    terminal.is_restored()


def a_terminal_that_cannot_be_drawn_on_is_told_so(pxtrace, name):
    for term, told in (("dumb", b"cannot be drawn on: use --batch"),
                       ("no-such-terminal", b'nothing is known of a terminal "no-such-terminal"')):
        terminal = Terminal([pxtrace, "top", name], term=term)
        terminal.ends(1)
        check(told in terminal.raw, terminal.raw)
        terminal.is_restored()


if __name__ == "__main__":
    globals()[sys.argv[1]](*sys.argv[2:])
