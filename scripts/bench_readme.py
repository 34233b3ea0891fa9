# SPDX-License-Identifier: MIT
"""The part of the README that shows measured figures, between two marks."""
import os
import re
import shutil

from bench_figures import payload_lines
from bench_report import markdown, plain_table
from config import ROOT

BEGIN, END = "<!-- bench: begin (./scripts/bench --readme writes this) -->", "<!-- bench: end -->"
PICTURE = "payload"


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
        parts.append(f"![cost of an event by its payload](docs/bench-{PICTURE}.svg)")
    if calls(results):
        parts += ["Two periodic threads, one event at a time, caches cold and then warm "
                  "(averages of test 2):", calls(results)]
    parts.append("How to read these figures, and all others: [docs/bench.md](docs/bench.md).")
    return "\n\n".join(parts)


def renew(results, pictures, out):
    path = os.path.join(ROOT, "README.md")
    with open(path, encoding="utf-8") as file:
        text = file.read()
    pattern = re.compile(re.escape(BEGIN) + r".*?" + re.escape(END), flags=re.S)
    if not pattern.search(text):
        raise SystemExit(f"bench: README.md has no place for the figures: {BEGIN}")
    new = f"{BEGIN}\n{section(results, pictures)}\n{END}"
    with open(path, "w", encoding="utf-8") as file:
        file.write(pattern.sub(lambda _: new, text))
    if PICTURE in pictures:
        shutil.copy(os.path.join(out, pictures[PICTURE]),
                    os.path.join(ROOT, "docs", f"bench-{PICTURE}.svg"))
