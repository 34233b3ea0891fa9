#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Slots a second that a serial line carries, from the frame layout of FORMAT.md.

usage: budget.py [--update]     without: exit status 1 when the table in FORMAT.md is another one
"""
import os
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
MARK = "<!-- line budget -->\n"
SLOT, AROUND, DELIMITER, BITS = 16, 8, 1, 10
SPEEDS = (9600, 115200, 921600, 3000000)
SLOTS = (1, 2, 8, 60, 91)


def line_bytes(slots):
    """A frame of so many slots on the line: COBS needs a code for each 254 bytes begun."""
    frame = AROUND + SLOT * slots
    return frame + -(-frame // 254) + DELIMITER


def table():
    rows = ["| slots in a frame | bytes on the line | " +
            " | ".join(f"{speed:,} Bd" for speed in SPEEDS) + " |",
            "|---|---|" + "---|" * len(SPEEDS)]
    for slots in SLOTS:
        rates = (int(speed / BITS / line_bytes(slots) * slots) for speed in SPEEDS)
        rows.append(f"| {slots} | {line_bytes(slots):,} | " +
                    " | ".join(f"{rate:,} slots/s" for rate in rates) + " |")
    return "\n".join(rows) + "\n"


def main():
    path = os.path.join(ROOT, "FORMAT.md")
    with open(path, encoding="utf-8") as page:
        text = page.read()
    head, _, rest = text.partition(MARK)
    lines = rest.split("\n")
    end = next((i for i, line in enumerate(lines) if not line.startswith("|")), len(lines))
    old = "".join(line + "\n" for line in lines[:end])
    after = "\n".join(lines[end:])
    if "--update" in sys.argv:
        with open(path, "w", encoding="utf-8") as page:
            page.write(head + MARK + table() + after)
        return 0
    if old == table():
        print("the line budget in FORMAT.md holds")
        return 0
    print("FORMAT.md: the line budget is another one:\n" + table())
    return 1


if __name__ == "__main__":
    sys.exit(main())
