# SPDX-License-Identifier: MIT
"""The report: every table of the suite in Markdown."""
import re

from bench_results import NOT_MEASURED
from bench_values import seed_table

SEED_COLUMNS = ["Minimum", "Maximum", "Average", "Variance"]

# suite -> title, and what its tables are about
CHAPTERS = {
    "footprint": ("Test 1: footprint", "Bytes of each unit and option, of configurations, of "
                  "streams and events."),
    "user": ("Test 2: user events", "Two periodic threads, two calls in a row: one traces, the "
             "other retrieves."),
    "system": ("Test 3: system events", "An event of 48 bytes from inside an instrumented "
               "clock_nanosleep(), and other payloads beside user events."),
    "points": ("Test 4: trace points", "What a point costs that nobody listens to, and what "
               "payload costs."),
    "writers": ("Test 4: many writers", "Throughput, cost and loss."),
    "flush": ("Test 4: flushes", "How long they take, and what a trace point pays beside one."),
    "snapshot": ("Snapshots", "How long they take, and what a trace point pays beside them."),
    "emit": ("Trace points beside the floor", "The floor is what a trace point must do at least: "
             "read the counter, reserve with one locked add, store."),
    "cold": ("Cold calls", "One call when data, code and translations of addresses have left the caches, "
             "and the call behind it, beside the floor's."),
    "places": ("Where a stream lives", "In memory of the process, in memory that its children "
               "inherit, in a file on tmpfs, in a file on disk; they take turns."),
    "attach": ("Attached processes", "Attaching, an event of theirs, and what the owner pays for "
               "it."),
    "latency": ("Latency under stress", "One call at a time, real-time priority, memory locked."),
    "logged": ("A log under load", "One writer, paced and at full speed, into a log in memory."),
    "retrieve": ("Retrieval", "What reading an event out of a stream costs."),
    "compat": ("Other systems' interfaces", "An event through each of them, beside the native call with "
               "as much data: at most 3 ns more."),
    "tools": ("Tools", "What pxtrace costs an event of a log, and how much memory it takes."),
    "rivals": ("Beside others", "The same payloads on the same CPUs in the same run."),
    "locks": ("Locks of programs that nobody changed", "A pair of lock and unlock while tools record "
              "it, alone and beside another thread; what each tells of a wait; redis-server."),
}
PICTURES_OF = {"footprint": ("footprint-pie", "footprint-units"), "user": ("latency",),
               "points": ("payload",), "writers": ("writers",)}
# Units of lines that say how a figure came about; the report leaves them to results.csv.
HIDDEN = ("ns low", "ns high", "parts")
# The figure again, as a multiple: beside it in its cell.
FOLDED = "x floor"
COUNTS = ("bytes", "events", "traced", "lost", "")
# Columns beyond which a table of few rows is turned round.
WIDE = 6


def number(text, unit):
    """For the eye: as many digits as say something."""
    if re.fullmatch(r"-?\d+", text):
        return f"{int(text):,}"
    try:
        value = float(text)
    except ValueError:
        return text
    if unit in COUNTS and value == int(value):
        return f"{int(value):,}"
    if abs(value) >= 1000:
        return f"{value:,.0f}"
    return f"{value:.3g}" if abs(value) < 1 else f"{value:.2f}" if abs(value) < 100 else f"{value:.1f}"


def heading(column, unit):
    return f"{column} ({unit})" if unit else column


def markdown(header, rows):
    lines = ["| " + " | ".join(header) + " |",
             "|---|" + "---:|" * (len(header) - 1)]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows])


def cells_of(lines):
    """(row, column, unit) -> text; what belongs to another figure is folded into its cell."""
    cells = {}
    units = {}
    for row, column, unit, value in lines:
        if unit not in ("mark", *HIDDEN, FOLDED):
            cells[row, column, unit] = number(value, unit)
            if unit:
                units.setdefault(column, unit)
    for row, column, unit in list(cells):
        # "not measured" stands where the figure would, though its line names no unit.
        if not unit and column in units and cells[row, column, unit].startswith(NOT_MEASURED):
            cells[row, column, units[column]] = cells.pop((row, column, unit))
    for row, column, unit, value in lines:
        figure = (row, column, units.get(column))
        if unit == FOLDED and figure in cells:
            cells[figure] += f" ({float(value):.2f} x)"
    return cells


def plain_table(lines):
    """Rows by columns, in the order in which they were said; marks become footnotes."""
    cells, notes = cells_of(lines), []
    for row, column, unit, value in lines:
        if unit == "mark":
            if value not in notes:
                notes.append(value)
            for one in [one for one in cells if one[:2] == (row, column)][:1]:
                cells[one] += f" [{notes.index(value) + 1}]"
    rows = list(dict.fromkeys(row for row, _, _ in cells))
    columns = list(dict.fromkeys((column, unit) for _, column, unit in cells))
    if len(columns) > WIDE and len(rows) < len(columns) / 2:
        table = [[heading(*one)] + [cells.get((row, *one), "") for row in rows] for one in columns]
        text = markdown(["", *rows], table)
    else:
        table = [[row] + [cells.get((row, *one), "") for one in columns] for row in rows]
        text = markdown([""] + [heading(*one) for one in columns], table)
    return text + "".join(f"\n\n[{i}] {note}" for i, note in enumerate(notes, 1))


def is_seed_form(lines):
    return {line[1] for line in lines} == set(SEED_COLUMNS)


def seed_rows(lines):
    rows = {}
    for row, column, _, value in lines:
        rows.setdefault(row, {})[column] = float(value)
    return [(row, [cells[column] for column in SEED_COLUMNS]) for row, cells in rows.items()]


def seed_form(lines):
    return "```\n" + seed_table(seed_rows(lines)) + "\n```\n\nNanoseconds; the variance in their squares."


def both_configurations(results):
    """Test 3 in its first form: one row for each configuration."""
    rows = []
    for configuration in ("complete", "minimal"):
        for row, values in seed_rows(results.table("system", configuration)):
            if row == "System event (48 bytes)":
                rows.append((f"Trace system event ({configuration})", values))
    return "```\n" + seed_table(rows) + "\n```" if rows else ""


def targets(results):
    """One table of all suites' targets; a missed one is bold."""
    rows = []
    for suite in results.suites():
        lines = results.table(suite, "targets")
        for what in dict.fromkeys(line[0] for line in lines):
            cell = {line[1]: (line[2], line[3]) for line in lines if line[0] == what}
            unit, measured = cell.get("measured", ("", ""))
            sense = "at most" if "at most" in cell else "at least"
            verdict = cell.get("verdict", ("", ""))[1]
            row = [what, f"{number(measured, unit)} {unit}".strip(),
                   f"{sense} {number(cell.get(sense, ('', ''))[1], unit)}", verdict]
            rows.append([f"**{field}**" if field and verdict == "missed" else field
                         for field in row])
    return "## Targets\n\n" + markdown(["", "measured", "target", ""], rows) + "\n" if rows else ""


def relations(results):
    rows = [[row, f"**{verdict}**" if verdict == "not held" else verdict, values]
            for row, verdict, _, values in results.table("relations", "relations")]
    if not rows:
        return ""
    held = sum(row[1] == "held" for row in rows)
    return (f"## Relations\n\nWhat must hold on any machine: {held} of {len(rows)} held.\n\n"
            + markdown(["", "", "values"], rows) + "\n")


def facts(results, suite, known=()):
    rows = {}
    for one, key, value in results.facts:
        if one == suite and (key, value) not in known:
            rows.setdefault(key, []).append(value)
    return [[key, "; ".join(values)] for key, values in rows.items()]


def chapter(results, suite, pictures, known):
    title, about = CHAPTERS.get(suite, (suite, ""))
    parts = [f"## {title}", about]
    own = facts(results, suite, known)
    if own:
        parts.append(markdown(["", ""], own))
    if suite == "system":
        parts.append(both_configurations(results))
    parts += [f"![{name}]({pictures[name]})" for name in PICTURES_OF.get(suite, ())
              if name in pictures]
    for table in sorted(results.tables(suite), key=lambda table: table == "self-test"):
        if table == "targets":
            continue
        lines = results.table(suite, table)
        parts += [f"### {table[0].upper()}{table[1:]}",
                  seed_form(lines) if is_seed_form(lines) else plain_table(lines)]
    return "\n\n".join(part for part in parts if part) + "\n"


def common_facts(results):
    """(key, value) that several suites told: said once, at the beginning."""
    tellers = {}
    for suite, key, value in results.facts:
        tellers.setdefault((key, value), set()).add(suite)
    return {one for one, suites in tellers.items() if len(suites) > 1 and one[0] != "configuration"}


def write(results, pictures, path):
    known = common_facts(results)
    head = facts(results, "all") + [[key, value] for key, value in sorted(known)]
    parts = ["# Measurements of libptrace\n",
             "How to read them: docs/bench.md.  All figures: results.csv; values as they were "
             "measured: raw/; what the programs said: output/.\n", markdown(["", ""], head) + "\n",
             targets(results), relations(results)]
    order = [suite for suite in CHAPTERS if suite in results.suites()]
    order += [suite for suite in results.suites() if suite not in (*order, "relations")]
    parts += [chapter(results, suite, pictures, known) for suite in order]
    with open(path, "w", encoding="utf-8") as file:
        file.write("\n".join(part for part in parts if part))
