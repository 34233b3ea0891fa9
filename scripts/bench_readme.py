# SPDX-License-Identifier: MIT
"""The measured figures that the papers show.

docs/prices.md has a part between two marks.  README.md has single figures of the same table, each with
a mark right behind it: 14.12<!-- bench: libptrace, 4 B -->"""
import os
import re
import shutil

from bench_figures import payload_lines
from bench_report import markdown, plain_table
from config import ROOT

BEGIN, END = "<!-- bench: begin (./scripts/bench --readme writes this) -->", "<!-- bench: end -->"
PICTURE = "payload"
PAGE = os.path.join("docs", "prices.md")
# Groups: the figure, the mark, the table's row and column.
FIGURE = re.compile(r"((?:\d[\d.,]*)?)(<!-- bench: ([^<>]*?), (\d+ B) -->)")


def fact(results, key, suite=None):
    for one, name, value in results.facts:
        if name == key and suite in (None, one):
            return value
    return "unknown"


def first_table(results):
    """Ours beside the others, or, where none was measured, beside the floor."""
    lines = payload_lines(results)
    return plain_table(lines) if lines else ""


def calls(results):
    """Test 2 in one line for each configuration."""
    rows = []
    for configuration in ("complete", "minimal"):
        cells = [results.number("user", configuration, f"{what} ({call} value)", "Average")
                 for what in ("Trace", "Retrieve") for call in ("1st", "2nd")]
        if None not in cells:
            rows.append([configuration] + [f"{cell:.0f} ns" for cell in cells])
    header = ["", "trace, 1st call", "2nd call", "retrieve, 1st call", "2nd call"]
    return markdown(header, rows) if rows else ""


def section(results, pictures):
    date, command = fact(results, "date", "all"), fact(results, "command", "all")
    parts = [f"Measured on {date} by `{command}`: {fact(results, 'machine')}; "
             f"{fact(results, 'system')}; {fact(results, 'compiler')}. Medians of one run, in "
             "nanoseconds an event, one thread:", first_table(results)]
    if PICTURE in pictures:
        parts.append(f"![cost of an event by its payload](bench-{PICTURE}.svg)")
    if calls(results):
        parts += ["Two periodic threads, one event at a time, caches cold and then warm "
                  "(averages of test 2):", calls(results)]
    parts.append("How to read these figures, and all others: [bench.md](bench.md).")
    return "\n\n".join(parts)


def table_figures(text):
    """(row, column) -> figure of the first table of a text in Markdown."""
    lines = [[cell.strip() for cell in line.strip("|").split("|")]
             for line in text.split("\n\n|", 1)[-1].split("\n\n")[0].splitlines()]
    columns = [re.sub(r" \(.*", "", cell) for cell in lines[0]]
    return {(row[0], column): cell.split(" ")[0]
            for row in lines[2:] for column, cell in zip(columns[1:], row[1:])}


def with_figures(text, figures):
    """README's text with the table's figures; one that was not measured stays, and is said."""
    def value(match):
        if not figures.get((match[3], match[4])):
            print(f"README.md: left as it is: '{match[3]}, {match[4]}' was not measured")
            return match[0]
        return figures[match[3], match[4]] + match[2]

    return FIGURE.sub(value, text)


def change(name, new):
    """Writes a paper anew: new(its text)."""
    path = os.path.join(ROOT, name)
    with open(path, encoding="utf-8") as file:
        text = new(file.read())
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def renew(results, pictures, out):
    block = section(results, pictures)
    pattern = re.compile(re.escape(BEGIN) + r".*?" + re.escape(END), flags=re.S)

    def page(text):
        if not pattern.search(text):
            raise SystemExit(f"bench: {PAGE} has no place for the figures: {BEGIN}")
        return pattern.sub(lambda _: f"{BEGIN}\n{block}\n{END}", text)

    change(PAGE, page)
    change("README.md", lambda text: with_figures(text, table_figures(block)))
    if PICTURE in pictures:
        shutil.copy(os.path.join(out, pictures[PICTURE]),
                    os.path.join(ROOT, "docs", f"bench-{PICTURE}.svg"))
