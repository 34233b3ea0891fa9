#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs one program of bench/ in its shortest form and looks at the form of what it prints.

usage: check_csv.py SUITE PROGRAM [ARGUMENT...]
"""
import csv
import math
import subprocess
import sys


def trouble(suite, row):
    if len(row) != 6:
        return "not 6 fields"
    if row[0] != suite or not row[1]:
        return "no suite or table"
    if row[4] and row[4] != "mark" and not row[5].startswith("not measured: "):
        try:
            return None if math.isfinite(float(row[5])) else "not finite"
        except ValueError:
            return "no number behind a unit"
    return None if row[5] else "no value"


def main():
    suite, command = sys.argv[1], sys.argv[2:] + ["--csv", "--smoke"]
    run = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
    rows = list(csv.reader(
        line for line in run.stdout.splitlines() if not line.startswith("# ")))
    bad = [f"{why}: {row}" for row in rows for why in [trouble(suite, row)] if why]
    print("\n".join(bad + [f"status {run.returncode}, {len(rows)} lines, {len(bad)} wrong"]))
    return 1 if run.returncode or bad or not rows else 0


if __name__ == "__main__":
    sys.exit(main())
