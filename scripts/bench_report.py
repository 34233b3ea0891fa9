# SPDX-License-Identifier: MIT
"""The report: every table of the suite in Markdown; its picture, drawn by gnuplot as SVG (without gnuplot there is
none); and the measured figures that the papers show."""
import os
import re
import shutil
import subprocess
import sys

from bench_values import NOT_MEASURED
from config import ROOT

# The paper whose tests 1 to 3 are (A. Terrasa, A. Espinosa, A. Garcia-Fornes: Lightweight POSIX Trace, OCERA,
# December 2003, section 5): ns of a Pentium III of 700 MHz, by its stamp counter.
PAPER_HZ = 700e6
PAPER_COLUMNS = ("Minimum", "Maximum", "Average", "Variance")
# title -> (suite, our table, our row, the paper's figures)
PAPER = {
    "Table 1: user events, complete": (
        ("user", "complete", "Trace (1st value)", (530, 4157, 710.3927, 43026.7799)),
        ("user", "complete", "Trace (2nd value)", (481, 1478, 590.7501, 9631.2022)),
        ("user", "complete", "Trace (all values)", (481, 4157, 650.5714, 29907.5790)),
        ("user", "complete", "Retrieve (1st value)", (411, 4108, 685.1246, 28409.4437)),
        ("user", "complete", "Retrieve (2nd value)", (316, 1169, 481.3689, 2168.1154)),
        ("user", "complete", "Retrieve (all values)", (316, 4108, 583.2468, 25667.8759))),
    "Table 2: user events, minimal": (
        ("user", "minimal", "Trace (1st value)", (497, 4092, 703.7739, 96913.9476)),
        ("user", "minimal", "Trace (2nd value)", (469, 1176, 479.0450, 423.0570)),
        ("user", "minimal", "Trace (all values)", (469, 4092, 591.4094, 61294.2719)),
        ("user", "minimal", "Retrieve (1st value)", (371, 4537, 423.4935, 25555.5828)),
        ("user", "minimal", "Retrieve (2nd value)", (368, 1123, 376.6447, 626.1649)),
        ("user", "minimal", "Retrieve (all values)", (368, 4537, 400.0691, 13639.5763))),
    "Table 3: system events": (
        ("system", "complete", "System event (48 bytes)", (488, 1488, 593.0995, 9651.0731)),
        ("system", "minimal", "System event (48 bytes)", (419, 1697, 533.6576, 10625.1237))),
}

# suite -> title, and what its tables are about
CHAPTERS = {
    "footprint": ("Test 1: footprint", "Bytes of each unit and option, of streams and events."),
    "user": ("Test 2: user events", "Two periodic threads, two calls in a row: one traces, the "
             "other retrieves."),
    "system": ("Test 3: system events", "An event of 48 bytes from inside an instrumented "
               "clock_nanosleep(), and other payloads beside user events."),
    "writers": ("Test 4: many writers", "Throughput, cost and loss."),
    "flush": ("Test 4: flushes, snapshots", "How long they take, and what a trace point pays beside them."),
    "emit": ("Trace points beside the floor", "The floor is what a trace point must do at least: "
             "read the counter, reserve with one locked add, store."),
    "cold": ("Cold calls", "One call when data, code and translations of addresses have left the caches, "
             "and the call behind it, beside the floor's."),
    "attach": ("Attached processes", "Attaching, an event of theirs, and what the owner pays for "
               "it."),
    "latency": ("Latency under stress", "One call at a time, real-time priority, memory locked."),
    "retrieve": ("Retrieval", "What reading an event out of a stream costs."),
    "tools": ("Tools", "What pxtrace costs an event of a log, and how much memory it takes."),
    "paced": ("A program at a constant rate", "Events lost, and the recorder's CPU time, under `pxtrace run`."),
    "rivals": ("Beside others", "The same payloads on the same CPUs in the same run."),
    "locks": ("Locks of programs that nobody changed", "A pair of lock and unlock while tools record "
              "it, alone and beside another thread; what each tells of a wait; redis-server."),
}
PICTURE = "payload"
PICTURE_OF = "rivals"  # the suite
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


def both_units(figures, hz):
    """Cells of a row: each figure in ns and in cycles of the counter; the last is of squares."""
    cells = []
    for figure, scale in zip(figures, (hz / 1e9,) * 3 + ((hz / 1e9) ** 2,)):
        cells += [f"{figure:,.1f}", f"{figure * scale:,.0f}"]
    return cells


def beside_paper(results):
    parts = []
    for paper_table, rows in PAPER.items():
        lines = []
        for suite, table, row, theirs in rows:
            ours = [results.number(suite, table, row, column) for column in PAPER_COLUMNS]
            hz = [float(value) for one, key, value in results.facts if (one, key) == (suite, "tick_hz")]
            lines.append([f"{row}, {table}", "paper", *both_units(theirs, PAPER_HZ)])
            lines.append(["", "ours"] + ([NOT_MEASURED] if None in ours or not hz else both_units(ours, hz[0])))
        if any(NOT_MEASURED not in line for line in lines[1::2]):
            units = [f"{name} ({unit})" for name in PAPER_COLUMNS[:3] for unit in ("ns", "cycles")]
            parts += [f"### {paper_table}",
                      markdown(["", "", *units, "Variance (ns²)", "Variance (cycles²)"], lines)]
    if not parts:
        return ""
    losses = [f"{table}: " + ", ".join(f"{value} {what}" for what in ("releases", "missing", "wrong", "late")
                                       if (value := results.text("user", "self-test", table, what)))
              for table in ("complete", "minimal")]
    return "\n\n".join(["## Beside the paper", "The paper's figures are of a Pentium III of 700 MHz with RT-Linux, in "
                        "2003. Cycles are those of the stamp counter.",
                        "Events of tables 1 and 2: " + "; ".join(losses) + ".", *parts]) + "\n"


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
    if suite == PICTURE_OF and PICTURE in pictures:
        parts.append(f"![{PICTURE}]({pictures[PICTURE]})")
    for table in sorted(results.tables(suite), key=lambda table: table == "self-test"):
        if table == "targets":
            continue
        parts += [f"### {table[0].upper()}{table[1:]}", plain_table(results.table(suite, table))]
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
             targets(results), beside_paper(results)]
    order = [suite for suite in CHAPTERS if suite in results.suites()]
    order += [suite for suite in results.suites() if suite not in order]
    parts += [chapter(results, suite, pictures, known) for suite in order]
    with open(path, "w", encoding="utf-8") as file:
        file.write("\n".join(part for part in parts if part))


# ---- The picture ----

COLOURS = ("#4c72b0", "#dd8452", "#55a868", "#c44e52", "#8172b3", "#937860", "#da8bc3", "#8c8c8c",
           "#ccb974", "#64b5cd")
# Underscores of names are no subscripts: noenhanced.
HEAD = """set terminal svg noenhanced size {width},{height} font "sans,13" background "white" dynamic
set output "{name}.svg"
"""


def payload_lines(results):
    """What the table of docs/bench.md shows, ours beside the others.

    One table of one program: other programs measure the same payloads in other loops, and their
    figures do not belong beside these.
    """
    return [line for line in results.table("rivals", "one thread") if line[2] in ("ns", "mark", "")]


def payload_rows(results):
    """name -> [(bytes, ns)] of that table: ours, the floor, the others."""
    rows = {}
    for row, column, unit, value in payload_lines(results):
        match = re.fullmatch(r"(\d+) B( 1 thread)?", column)
        if match and unit == "ns" and re.fullmatch(r"[\d.e+-]+", value):
            name = re.sub(r"^(floor|libptrace)\b.*", r"\1", row)
            rows.setdefault(name, []).append((int(match[1]), float(value)))
    ours = [name for name in ("libptrace", "floor") if name in rows]
    return {name: sorted(rows[name]) for name in ours + [name for name in rows if name not in ours]}


def payload(results):
    rows = payload_rows(results)
    if not rows:
        return None
    text = "".join(f"$p{i} << EOD\n" + "\n".join(f"{x} {y}" for x, y in points) + "\nEOD\n"
                   for i, points in enumerate(rows.values()))
    plots = ", \\\n     ".join(
        f'$p{i} with linespoints linewidth {3 if name == "libptrace" else 1.5} pointtype 7 '
        f'pointsize 0.5 linecolor rgb "{COLOURS[i % len(COLOURS)]}" title "{name}"'
        for i, name in enumerate(rows))
    return text + f"""set border 3
set tics nomirror
set title "Cost of an event by its payload, one thread"
set xlabel "bytes of payload"
set ylabel "ns an event"
set logscale y
set yrange [1:*]
set xrange [0:260]
set grid
set key outside right
plot {plots}
"""


def draw(results, out):
    """name -> file of the picture, if there are figures for it."""
    script = payload(results)
    if script is None or not shutil.which("gnuplot"):
        print("bench: no picture: no figures of others, or no gnuplot", file=sys.stderr)
        return {}
    head = HEAD.format(name=PICTURE, width=860, height=440)
    done = subprocess.run(["gnuplot", "-"], input=head + script + "\n", text=True, cwd=out, capture_output=True,
                          check=False)
    if done.returncode:
        print(f"bench: {PICTURE}: {done.stderr.strip()}", file=sys.stderr)
        return {}
    return {PICTURE: f"{PICTURE}.svg"}


# ---- Figures of the papers ----
#
# docs/bench.md has a part between two marks.  README.md has single figures of the same table, each with
# a mark right behind it: 14.12<!-- bench: libptrace, 4 B -->

BEGIN, END = "<!-- bench: begin (./scripts/bench --readme writes this) -->", "<!-- bench: end -->"
PAGE = os.path.join("docs", "bench.md")
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
