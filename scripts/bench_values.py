#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Results of the suite: lines "suite,table,row,column,unit,value", and facts; statistics of raw measured values.

usage: bench_values.py [--csv] FILE...
       bench_values.py --check SUITE PROGRAM [ARGUMENT...]

A file is what bench/user and bench/system write: "# key: value" lines, a line of column names, then
ticks, a line for each release.  Columns NAME_1 and NAME_2 are the first and the second call of a
release; together they are "all values".  Sums are exact, the variance is that of the population.
"""
import argparse
import csv
import math
import subprocess
import sys
from fractions import Fraction

OUTLIER = 10  # times the median

# What the columns are called in tables; the digit behind "_" is added.
TITLES = {"trace": "Trace", "retrieve": "Retrieve", "empty": "Empty measurement",
          "notwanted": "Not wanted", "nostream": "No stream", "system": "System event",
          "user": "User event"}
CALLS = {"1": "1st value", "2": "2nd value"}


class Raw:
    """One file: facts, and the ticks of each column."""

    def __init__(self, path):
        self.facts, self.columns = {}, {}
        with open(path, encoding="utf-8", newline="") as text:
            lines = [line.rstrip("\r\n") for line in text]
        while lines and lines[0].startswith("#"):
            key, _, value = lines.pop(0)[1:].partition(":")
            self.facts[key.strip()] = value.strip()
        rows = list(csv.reader(lines))
        if not rows or "tick_hz" not in self.facts:
            sys.exit(f"{path}: no raw values: facts (tick_hz) or column names are missing")
        for number, name in enumerate(rows[0][1:], 1):
            self.columns[name] = [int(row[number]) for row in rows[1:] if row[number]]
        self.hz = Fraction(self.facts["tick_hz"])

    def ns(self, ticks):
        return float(ticks * Fraction(10**9) / self.hz)


class Statistics:
    """Of one list of ticks; everything but the ticks' own columns in nanoseconds."""

    def __init__(self, raw, ticks):
        count, ordered = len(ticks), sorted(ticks)
        mean = Fraction(sum(ticks), count)
        variance = Fraction(sum(tick * tick for tick in ticks), count) - mean * mean
        scale = Fraction(10**9) / raw.hz
        self.count = count
        self.minimum, self.maximum = raw.ns(ordered[0]), raw.ns(ordered[-1])
        self.average, self.variance = float(mean * scale), float(variance * scale * scale)
        self.average_ticks, self.median_ticks = float(mean), ordered[(count - 1) // 2]
        self.median = raw.ns(self.median_ticks)
        self.percentile = {name: raw.ns(ordered[min(count - 1, -(-count * of // 10000) - 1)])
                           for name, of in (("p99", 9900), ("p99.9", 9990), ("p99.99", 9999))}
        self.outliers = sum(tick > OUTLIER * self.median_ticks for tick in ticks)


def pool(first, second):
    """Average and variance of two halves of one size, from theirs alone."""
    half = (first.average - second.average) / 2
    return ((first.average + second.average) / 2,
            (first.variance + second.variance) / 2 + half * half)


def same(a, b):
    return abs(a - b) <= 1e-9 * max(1.0, abs(a), abs(b))


def pool_holds(first, second, both):
    average, variance = pool(first, second)
    return (both.count == first.count + second.count and same(both.average, average)
            and same(both.variance, variance))


def title(column):
    name, _, rest = column.partition("_")
    known = TITLES.get(name, name[:1].upper() + name[1:])
    return f"{known} ({rest} bytes)" if rest else known


def rows_of(raw):
    """(title, statistics) in the order of tables, and the pools that do not add up."""
    rows, broken = [], []
    for column, ticks in raw.columns.items():
        name, _, call = column.rpartition("_")
        if not ticks:
            continue
        if call not in CALLS:
            rows.append((title(column), Statistics(raw, ticks)))
            continue
        rows.append((f"{title(name)} ({CALLS[call]})", Statistics(raw, ticks)))
        if call == "2" and f"{name}_1" in raw.columns:
            both = Statistics(raw, raw.columns[f"{name}_1"] + ticks)
            if not pool_holds(rows[-2][1], rows[-1][1], both):
                broken.append(title(name))
            rows.append((f"{title(name)} (all values)", both))
    return rows, broken


def lines(raw):
    """suite,table,row,column,unit,value of one file."""
    suite, table = raw.facts["suite"], raw.facts["table"]
    rows, broken = rows_of(raw)
    for name, got in rows:
        for column, unit, value in (("Minimum", "ns", got.minimum), ("Maximum", "ns", got.maximum),
                                    ("Average", "ns", got.average),
                                    ("Variance", "ns", got.variance)):
            yield suite, table, name, column, unit, f"{value:.4f}"
    for name, got in rows:
        further = (("median", "ns", f"{got.median:.1f}"),
                   *((p, "ns", f"{value:.1f}") for p, value in got.percentile.items()),
                   ("average", "ticks", f"{got.average_ticks:.1f}"),
                   ("median", "ticks", f"{got.median_ticks}"),
                   ("outliers", "", str(got.outliers)), ("values", "", str(got.count)))
        for column, unit, value in further:
            yield suite, f"{table}, further", name, column, unit, value
    yield suite, "self-test", table, "pool identity", "", "broken: " + ", ".join(broken) \
        if broken else "holds"
    for fact in ("releases", "missing", "wrong", "late", "recorded", "expected"):
        if fact in raw.facts:
            yield suite, "self-test", table, fact, "", raw.facts[fact]


def seed_table(rows):
    """The rows in the form of the first published tables of this kind."""
    text = [f"{'Measured Value':36}{'Minimum':>14}{'Maximum':>16}{'Average':>14}{'Variance':>20}"]
    text += [f"{name:36}{row[0]:14.4f}{row[1]:16.4f}{row[2]:14.4f}{row[3]:20.4f}"
             for name, row in rows]
    return "\n".join(text)


# ---- Results ----

HEADER = ["suite", "table", "row", "column", "unit", "value"]
NOT_MEASURED = "not measured"


class Results:
    def __init__(self):
        self.lines, self.facts = [], []

    def take(self, text, suite):
        """The output of one program; returns what in it was neither line nor fact."""
        strange = []
        for line in text.splitlines():
            if line.startswith("#"):
                key, _, value = line[1:].partition(":")
                self.fact(suite, key.strip(), value.strip())
                continue
            row = next(csv.reader([line]), [])
            if len(row) == len(HEADER):
                self.lines.append(row)
            elif line.strip():
                strange.append(line)
        return strange

    def fact(self, suite, key, value):
        if [suite, key, value] not in self.facts:
            self.facts.append([suite, key, value])

    def say(self, *row):
        self.lines.append([str(field) for field in row])

    def missing(self, suite, why):
        self.say(suite, "problems", suite, "run", "", f"{NOT_MEASURED}: {why}")

    def table(self, suite, table):
        return [line[2:] for line in self.lines if line[:2] == [suite, table]]

    def tables(self, suite):
        return list(dict.fromkeys(line[1] for line in self.lines if line[0] == suite))

    def suites(self):
        return list(dict.fromkeys(line[0] for line in self.lines))

    def text(self, suite, table, row, column):
        for line in self.table(suite, table):
            if line[:2] == [row, column] and line[2] != "mark":
                return line[3]
        return None

    def number(self, suite, table, row, column, unit=None):
        """The value, or None where there is none."""
        for line in self.table(suite, table):
            if line[:2] == [row, column] and unit in (None, line[2]):
                try:
                    return float(line[3])
                except ValueError:
                    continue
        return None

    # ---- Files ----

    def write(self, lines_path, facts_path):
        for path, header, rows in ((lines_path, HEADER, self.lines),
                                   (facts_path, ["suite", "fact", "value"], self.facts)):
            with open(path, "w", encoding="utf-8", newline="") as file:
                csv.writer(file, lineterminator="\n").writerows([header, *rows])

    def read(self, lines_path, facts_path):
        for path, rows in ((lines_path, self.lines), (facts_path, self.facts)):
            with open(path, encoding="utf-8", newline="") as file:
                rows.extend(list(csv.reader(file))[1:])


# ---- The form of lines ----

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


def check(suite, *command):
    """Runs one program of bench/ in its shortest form and looks at the form of what it prints."""
    run = subprocess.run([*command, "--csv", "--smoke"], stdout=subprocess.PIPE, text=True, check=False)
    rows = list(csv.reader(
        line for line in run.stdout.splitlines() if not line.startswith("# ")))
    bad = [f"{why}: {row}" for row in rows for why in [trouble(suite, row)] if why]
    print("\n".join(bad + [f"status {run.returncode}, {len(rows)} lines, {len(bad)} wrong"]))
    return 1 if run.returncode or bad or not rows else 0


def main():
    if sys.argv[1:2] == ["--check"]:
        return check(*sys.argv[2:])
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--csv", action="store_true")
    parser.add_argument("files", nargs="+")
    args = parser.parse_args()
    writer = csv.writer(sys.stdout, lineterminator="\n")
    status = 0
    for path in args.files:
        raw = Raw(path)
        rows, broken = rows_of(raw)
        print("".join(f"# {key}: {value}\n" for key, value in raw.facts.items()
                      if key not in ("suite", "table")), end="")
        if args.csv:
            writer.writerows(lines(raw))
        else:
            print("\n" + seed_table((name, (got.minimum, got.maximum, got.average, got.variance))
                             for name, got in rows))
        if broken:
            print(f"{path}: the halves do not make up the whole: {', '.join(broken)}",
                  file=sys.stderr)
            status = 1
    return status


if __name__ == "__main__":
    sys.exit(main())
