# SPDX-License-Identifier: MIT
"""Figures in the papers that come from a table of bench/: who changes the table finds them here.

A figure is marked by a comment right behind it (asterisks may stand between), which is not seen where
the paper is read:   1,145<!-- size: -Os minimal online and userevents text -->
The word in front of the colon is the table's kind; what follows is for its script to look up.
"""
import os
import re

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PAPERS = ("README.md", "DESIGN.md", "docs/bench.md", "docs/prices.md", "docs/size.md", "docs/units.md")


def read(name):
    with open(os.path.join(ROOT, name), encoding="utf-8") as paper:
        return paper.read()


def write(name, text):
    with open(os.path.join(ROOT, name), "w", encoding="utf-8") as paper:
        paper.write(text)


def pattern(kind):
    """Groups: the figure, asterisks and mark, what the mark asks for.  No figure: the first is empty."""
    return re.compile(rf"((?:\d[\d,]*)?)(\**<!-- {kind}: (.*?) -->)")


def broken(line):
    """Whether a mark goes on in the next line, where pattern() does not find it."""
    return re.search(r"\d\**<!--(?:(?!-->).)*$", line) is not None


def stale(kind, look_up):
    """Lines for figures that are not what look_up(words) says; a KeyError is a row that is not there."""
    findings, count = [], 0
    for name in PAPERS:
        for number, line in enumerate(read(name).split("\n"), 1):
            if broken(line):
                findings.append(f"{name}:{number}: the mark does not end in its line")
            for figure, _, words in pattern(kind).findall(line):
                count += 1
                try:
                    value = f"{look_up(words):,}"
                except (KeyError, ValueError):
                    findings.append(f"{name}:{number}: '{words}': no such row in the table")
                    continue
                if figure != value:
                    findings.append(f"{name}:{number}: {figure or 'no figure'} ({words}), "
                                    f"the table says {value}")
    if not count:
        findings.append(f"no figure of the papers is marked '{kind}:'")
    return findings


def renew(kind, look_up):
    """Writes the table's values into the papers; what the table lacks stays, and is said."""
    for name in PAPERS:
        def value(match, name=name):
            try:
                return f"{look_up(match[3]):,}{match[2]}"
            except (KeyError, ValueError):
                print(f"{name}: left as it is: '{match[3]}' is not in the table")
                return match[0]

        text = read(name)
        new = pattern(kind).sub(value, text)
        if new != text:
            write(name, new)
            print(f"{name}: renewed")
