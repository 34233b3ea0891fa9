# SPDX-License-Identifier: MIT
"""Results of the suite: lines "suite,table,row,column,unit,value", and facts."""
import csv

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
