#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The statistics program against published figures and against values that were made up.

The first tables of this form (LPT-43) give minimum, maximum, average and variance of 10,000
first and 10,000 second values, and of all.  Halves with exactly those figures must give the row of
all values; with the variance of a sample they would not.
"""
import math
import os
import subprocess
import sys
import tempfile
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "scripts"))
import bench_report  # noqa: E402
import bench_values  # noqa: E402

HALF = 10000
TICKS_PER_NS = 10**9
# (minimum, maximum, average, variance) of first values, second values, all values
PUBLISHED = {f"{rows[i][1]}, {rows[i][2].split()[0].lower()}": tuple(row[3] for row in rows[i:i + 3])
             for rows in bench_report.PAPER.values() if len(rows) == 6 for i in (0, 3)}


def half(minimum, maximum, average, variance):
    """HALF values with these figures: the two ends, many low values and a few high ones."""
    others = HALF - 2
    mean = (HALF * average - minimum - maximum) / others
    squares = HALF * (variance + average * average) - minimum**2 - maximum**2
    spread = math.sqrt(squares / others - mean * mean)
    high = next(n for n in range(1, others)
                if mean + spread * math.sqrt((others - n) / n) < maximum)
    values = [minimum, maximum]
    values += [mean + spread * math.sqrt((others - high) / high)] * high
    values += [mean - spread * math.sqrt(high / (others - high))] * (others - high)
    assert min(values) == minimum and max(values) == maximum
    return [round(value * TICKS_PER_NS) for value in values]


def write(path, columns, hz=10**9 * TICKS_PER_NS, facts=()):
    with open(path, "w", encoding="utf-8") as file:
        file.write(f"# suite: user\n# table: made up\n# tick_hz: {hz}\n" + "".join(facts))
        file.write(",".join(["release", *columns]) + "\n")
        for release in range(max(map(len, columns.values()))):
            cells = [str(column[release]) if release < len(column) else ""
                     for column in columns.values()]
            file.write(",".join([str(release), *cells]) + "\n")


def figures(row):
    return tuple(f"{value:.4f}" for value in (row.minimum, row.maximum, row.average, row.variance))


class Values(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.path = os.path.join(self.folder.name, "raw.csv")

    def rows(self, columns, **options):
        write(self.path, columns, **options)
        rows, self.broken = bench_values.rows_of(bench_values.Raw(self.path))
        return dict(rows)

    # LPT-43
    def test_published_halves_give_the_published_whole(self):
        for name, (first, second, both) in PUBLISHED.items():
            rows = self.rows({"trace_1": half(*first), "trace_2": half(*second)})
            for row, want in (("1st value", first), ("2nd value", second)):
                with self.subTest(f"{name}, {row}"):
                    self.assertEqual(figures(rows[f"Trace ({row})"]),
                                     tuple(f"{value:.4f}" for value in want))
            # The halves were published rounded: the last digit of the whole may differ by one.
            for got, want in zip(figures(rows["Trace (all values)"]), both):
                with self.subTest(f"{name}, all values"):
                    self.assertAlmostEqual(float(got), want, delta=0.00011)
            self.assertEqual(self.broken, [])

    def test_a_whole_of_other_values_is_noticed(self):
        raw = type("", (), {"hz": 10**9, "ns": lambda self, ticks: float(ticks)})()
        first = bench_values.Statistics(raw, [10, 20, 30])
        second = bench_values.Statistics(raw, [11, 21, 31])
        whole = bench_values.Statistics(raw, [10, 20, 30, 11, 21, 31])
        other = bench_values.Statistics(raw, [10, 20, 30, 11, 21, 32])
        fewer = bench_values.Statistics(raw, [10, 20, 30, 11, 21])
        self.assertTrue(bench_values.pool_holds(first, second, whole))
        self.assertFalse(bench_values.pool_holds(first, second, other))
        self.assertFalse(bench_values.pool_holds(first, second, fewer))

    def test_percentiles_are_values_that_were_measured(self):
        row = self.rows({"empty": list(range(1, 1001))}, hz=10**9)["Empty measurement"]
        self.assertEqual((row.median, row.percentile["p99"], row.percentile["p99.9"]),
                         (500, 990, 999))
        self.assertEqual(row.percentile["p99.99"], 1000)

    def test_an_outlier_is_above_ten_medians(self):
        row = self.rows({"empty": [10] * 8 + [100, 101]}, hz=10**9)["Empty measurement"]
        self.assertEqual(row.outliers, 1)

    def test_ticks_become_nanoseconds_by_the_rate(self):
        row = self.rows({"empty": [26, 26, 52]}, hz=2600000000)["Empty measurement"]
        self.assertEqual((row.minimum, row.maximum, row.median_ticks), (10.0, 20.0, 26))

    # LPT-43: the form of the first tables
    def test_the_first_table_has_four_decimals_and_four_columns(self):
        first, second, _ = PUBLISHED["complete, trace"]
        write(self.path, {"trace_1": half(*first), "trace_2": half(*second)})
        text = subprocess.run([sys.executable, os.path.join(ROOT, "scripts", "bench_values.py"),
                               self.path], capture_output=True, text=True, check=True).stdout
        self.assertIn(["Measured", "Value", "Minimum", "Maximum", "Average", "Variance"],
                      [line.split() for line in text.splitlines()])
        self.assertIn("Trace (1st value) 530.0000 4157.0000 710.3927 43026.7799",
                      [" ".join(line.split()) for line in text.splitlines()])

    def test_a_file_without_rate_is_refused(self):
        with open(self.path, "w", encoding="utf-8") as file:
            file.write("release,trace_1\n0,5\n")
        with self.assertRaises(SystemExit):
            bench_values.Raw(self.path)


if __name__ == "__main__":
    unittest.main()
