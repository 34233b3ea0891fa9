#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What the suite makes of results: relations, tables, and programs that do not run (LPT-42, LPT-43, LPT-44)."""
import argparse
import contextlib
import io
import math
import os
import re
import sys
import tempfile
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "scripts"))
import bench_figures  # noqa: E402
import bench_readme  # noqa: E402
import bench_report  # noqa: E402
import bench_run  # noqa: E402
from bench_relations import relations  # noqa: E402
from bench_results import Results  # noqa: E402

FIRST, SECOND = "Trace (1st value)", "Trace (2nd value)"


def averages(results, table, first, second):
    for row, value in ((FIRST, first), (SECOND, second)):
        results.say("user", table, row, "Average", "ns", value)


def verdict(results, words):
    found = [one for text, one, _ in relations(results) if all(word in text for word in words)]
    assert len(found) == 1, found
    return found[0]


class Relations(unittest.TestCase):
    SECOND_CALL = ("Trace, complete", "second call")
    SMALLER = (FIRST, "minimal is not dearer")

    def test_a_dearer_second_call_is_told(self):
        for second, expected in ((90, "held"), (100, "held"), (101, "not held")):
            results = Results()
            averages(results, "complete", 100, second)
            self.assertEqual(verdict(results, self.SECOND_CALL), expected)

    def test_a_dearer_small_configuration_is_told(self):
        for small, expected in ((90, "held"), (110, "not held")):
            results = Results()
            averages(results, "complete", 100, 50)
            averages(results, "minimal", small, 50)
            self.assertEqual(verdict(results, self.SMALLER), expected)

    def test_what_was_not_measured_is_not_held(self):
        results = Results()
        averages(results, "complete", 100, 50)
        self.assertEqual(verdict(results, self.SMALLER), "not measured")

    def test_a_lost_value_is_told(self):
        for missing, values, expected in ((0, 40, "held"), (1, 40, "not held"), (0, 39, "not held")):
            results = Results()
            for what, number in (("releases", 20), ("missing", missing), ("wrong", 0)):
                results.say("user", "self-test", "complete", what, "", number)
            for what in ("Trace", "Retrieve"):
                results.say("user", "complete, further", f"{what} (all values)", "values", "", values)
            self.assertEqual(verdict(results, ("User events, complete", "no value")), expected)


class Picture(unittest.TestCase):
    def results(self):
        results = Results()
        # The same payloads in the loops of three programs.
        for suite, table, ours, floor in (("points", "payload", 9.5, 8.1), ("emit", "machine", 9.7, 12.0),
                                          ("rivals", "one thread", 14.1, 9.9)):
            for row, value in (("libptrace", ours), ("floor", floor)):
                results.say(suite, table, row, "4 B", "ns", value)
        results.say("rivals", "one thread", "clock_gettime alone", "4 B", "ns", 24.0)
        return results

    def test_the_picture_shows_the_figures_of_the_table_beside_it(self):
        results = self.results()
        rows = bench_figures.payload_rows(results)
        self.assertEqual(rows, {"libptrace": [(4, 14.1)], "floor": [(4, 9.9)],
                                "clock_gettime alone": [(4, 24.0)]})
        table = bench_readme.first_table(results)
        for (_, value), in rows.values():
            self.assertIn(f"{value:g}", table)

    def test_the_picture_of_the_page_shows_the_figures_of_its_table(self):
        with open(os.path.join(ROOT, bench_readme.PAGE), encoding="utf-8") as file:
            table = file.read().split(bench_readme.BEGIN)[1].split(bench_readme.END)[0]
        with open(os.path.join(ROOT, "docs", "bench-payload.svg"), encoding="utf-8") as file:
            picture = file.read()
        heights = {}
        for part in re.split(r'<g id="gnuplot_plot_\d+" ><title>', picture)[1:]:
            # The line in the key comes first, then the curve's own.
            points = re.search(r" M[\d.]+,([\d.]+) L", part)
            heights[re.search(r"<text>(?:<tspan[^>]*>)?([^<]*)", part)[1].strip()] = float(points[1])
        rows = [[cell.strip() for cell in row.split("|")[1:3]] for row in table.splitlines() if row.startswith("| ")]
        figures = {name: float(re.match(r"[\d.,]+", cell)[0].replace(",", "")) for name, cell in rows
                   if re.match(r"\d", cell)}
        wanted = {name: figures[name] for name in heights}
        self.assertEqual(len(wanted), len(heights))
        # The axis is a logarithm: heights on the sheet follow it.
        low, high = (wanted[name] for name in ("floor", "clock and snprintf and write"))
        scale = (heights["floor"] - heights["clock and snprintf and write"]) / math.log(high / low)
        for name, figure in wanted.items():
            self.assertAlmostEqual(heights["floor"] - scale * math.log(figure / low), heights[name], delta=0.6, msg=name)

    def test_a_figure_of_the_readme_is_the_tables(self):
        with open(os.path.join(ROOT, bench_readme.PAGE), encoding="utf-8") as file:
            table = file.read().split(bench_readme.BEGIN)[1].split(bench_readme.END)[0]
        figures = bench_readme.table_figures(table)
        with open(os.path.join(ROOT, "README.md"), encoding="utf-8") as file:
            shown = bench_readme.FIGURE.findall(file.read())
        self.assertGreaterEqual(len(shown), 3)
        for figure, _, row, column in shown:
            self.assertEqual(figure, figures[row, column], msg=row)

    def test_a_new_run_renews_the_figures_of_the_readme(self):
        text = "a 1.5<!-- bench: libptrace, 4 B --> b <!-- bench: floor, 4 B --> c 7<!-- bench: gone, 4 B -->"
        figures = bench_readme.table_figures("x\n\n" + bench_readme.first_table(self.results()) + "\n\n| y |")
        self.assertEqual(bench_readme.with_figures(text, figures),
                         text.replace("1.5", "14.10").replace("b ", "b 9.90"))

    def test_underscores_are_no_subscripts(self):
        self.assertIn("noenhanced", bench_figures.HEAD)


class Tables(unittest.TestCase):
    def test_a_reason_stands_where_the_figure_would(self):
        text = bench_report.plain_table([["ours", "4 B", "ns", "9.5"],
                                         ["theirs", "4 B", "", "not measured: no daemon"]])
        self.assertIn("| theirs | not measured: no daemon |", text)
        self.assertIn("|  | 4 B (ns) |", text)

    def test_a_mark_becomes_one_footnote(self):
        text = bench_report.plain_table([["theirs", "4 B", "ns", "80"], ["theirs", "32 B", "ns", "81"],
                                         ["theirs", "4 B", "mark", "loses silently"],
                                         ["theirs", "32 B", "mark", "loses silently"]])
        self.assertIn("| theirs | 80 [1] | 81 [1] |", text)
        self.assertEqual(text.count("loses silently"), 1)

    def test_a_missed_target_is_bold(self):
        results = Results()
        for what, said in (("fast", "missed"), ("small", "reached")):
            results.say("emit", "targets", what, "measured", "x", 2)
            results.say("emit", "targets", what, "at most", "x", 1)
            results.say("emit", "targets", what, "verdict", "", said)
        text = bench_report.targets(results)
        self.assertIn("| **fast** | **2 x** | **at most 1** | **missed** |", text)
        self.assertIn("| small | 2 x | at most 1 | reached |", text)

    def test_fields_with_commas_and_quotes_come_back(self):
        results = Results()
        self.assertEqual(results.take('# machine: a, b\ns,t,"a, ""b""",c,ns,1\nnonsense\n', "s"),
                         ["nonsense"])
        self.assertEqual(results.lines, [["s", "t", 'a, "b"', "c", "ns", "1"]])
        self.assertEqual(results.facts, [["s", "machine", "a, b"]])


class Programs(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.run_ = bench_run.Run(argparse.Namespace(out=folder.name, smoke=False, quick=True,
                                                     build="", only=[]))

    def take(self, *command):
        with contextlib.redirect_stderr(io.StringIO()):
            self.run_.take("rivals", "a program", list(command))
        return [line[5] for line in self.run_.results.lines]

    def test_a_program_that_fails_is_not_measured_and_says_why(self):
        self.assertEqual(self.take("sh", "-c", "echo no daemon >&2; exit 3"),
                         ["not measured: a program: status 3: no daemon"])

    def test_a_program_that_is_not_there_is_not_measured(self):
        self.assertIn("No such file", self.take("/nowhere/at/all")[0])

    def test_a_program_that_hangs_is_ended(self):
        limit, bench_run.TIMEOUT = bench_run.TIMEOUT, 0.2
        try:
            self.assertIn("ended after 0.2 s", self.take("sh", "-c", "exec sleep 100")[0])
        finally:
            bench_run.TIMEOUT = limit

    def test_figures_said_before_a_failure_are_kept(self):
        said = self.take("sh", "-c", "echo rivals,t,r,c,ns,5; exit 1")
        self.assertEqual(said[0], "5")
        self.assertEqual(len(said), 2)


class Pictures(unittest.TestCase):
    def test_the_pie_has_the_seven_contributions(self):
        results = Results()
        table = f"contributions: {bench_figures.COMPILER}"
        for name in bench_figures.CONTRIBUTIONS:
            for column in ("basic support", "trace-related events", "total"):
                results.say("footprint", table, name, column, "bytes", 10)
        self.assertEqual(bench_figures.pie(results).count(" circle "), 7)
        self.assertEqual(len(bench_figures.contributions(results)[1:]), 6)

    def test_without_figures_there_is_no_picture(self):
        for picture in (bench_figures.pie, bench_figures.bars, bench_figures.payload,
                        bench_figures.writers):
            self.assertIsNone(picture(Results()))


if __name__ == "__main__":
    unittest.main()
