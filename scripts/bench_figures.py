# SPDX-License-Identifier: MIT
"""The suite's pictures, drawn by gnuplot as SVG; without gnuplot there are none."""
import math
import os
import re
import shutil
import subprocess
import sys

from bench_values import Raw, title
from config import kconfig_tool

COMPILER = "x86-64 gcc -Os"
# The seven contributions of the pie; the last six are the bars.
CONTRIBUTIONS = ("8 streams instead of 1", *(
    kconfig_tool.TITLES[unit] for unit in ("CORE", "ONLINE", "TOLOG", "FILTER", "USEREVENTS", "LOGRETRIEVAL")))
# Columns of raw files whose distribution is drawn.
DISTRIBUTED = ("trace", "retrieve", "empty", "event alone", "event beside a tracing CPU")
COLOURS = ("#4c72b0", "#dd8452", "#55a868", "#c44e52", "#8172b3", "#937860", "#da8bc3", "#8c8c8c",
           "#ccb974", "#64b5cd")
# Underscores of names are no subscripts: noenhanced.
HEAD = """set terminal svg noenhanced size {width},{height} font "sans,13" background "white" dynamic
set output "{name}.svg"
set border 3
set tics nomirror
"""


def contributions(results):
    """(name, basic support, trace-related events, total) of the seven."""
    table = f"contributions: {COMPILER}"
    rows = []
    for name in CONTRIBUTIONS:
        cells = [results.number("footprint", table, name, column)
                 for column in ("basic support", "trace-related events", "total")]
        if None not in cells:
            rows.append((name, *cells))
    return rows


def pie(results):
    rows = [row for row in contributions(results) if row[3] > 0]
    if len(rows) < 2:
        return None
    whole = sum(row[3] for row in rows)
    lines = ['unset border; unset tics; unset key; set size ratio -1',
             'set xrange [-1.3:2.6]; set yrange [-1.2:1.2]',
             f'set title "Contributions to the footprint ({COMPILER}, {whole:,.0f} bytes)"']
    angle = 90.0
    for index, (name, _, _, total) in enumerate(rows):
        part = 360 * total / whole
        lines.append(f'set object {index + 1} circle at 0,0 size 1 arc [{angle - part}:{angle}] '
                     f'fillcolor rgb "{COLOURS[index]}" fillstyle solid border rgb "white"')
        y = 0.9 - 0.28 * index
        lines += [f'set object {index + 51} rectangle from 1.25,{y - 0.07} to 1.4,{y + 0.07} '
                  f'fillcolor rgb "{COLOURS[index]}" fillstyle solid noborder',
                  f'set label "{name}: {total:,.0f} ({100 * total / whole:.0f} %)" at 1.48,{y}']
        if part > 14:
            middle = math.radians(angle - part / 2)
            lines.append(f'set label "{100 * total / whole:.0f} %" at {0.65 * math.cos(middle)},'
                         f'{0.65 * math.sin(middle)} center front textcolor rgb "white"')
        angle -= part
    return "\n".join([*lines, "plot NaN notitle"])


def bars(results):
    rows = contributions(results)[1:]
    if not rows:
        return None
    data = "\n".join(f'"{name}" {max(basic, 0)} {max(events, 0)}' for name, basic, events, _ in rows)
    return f"""$data << EOD
{data}
EOD
set title "Units of functionality ({COMPILER})"
set ylabel "bytes"
set style data histograms
set style histogram rowstacked
set style fill solid border -1
set boxwidth 0.6
set yrange [0:*]
set grid ytics
set key top right
plot $data using 2:xtic(1) title "basic support" linecolor rgb "{COLOURS[0]}", \\
     "" using 3 title "trace-related events" linecolor rgb "{COLOURS[1]}"
"""


def steps(raw, ticks):
    """Points of the cumulative distribution, few because measured values are."""
    ordered = sorted(ticks)
    points = [f"{raw.ns(ordered[0]):.2f} 0"]
    for index, tick in enumerate(ordered, 1):
        if index == len(ordered) or ordered[index] != tick:
            points.append(f"{raw.ns(tick):.2f} {100 * index / len(ordered):.4f}")
    return points[:: max(1, len(points) // 2000)] + points[-1:]


def distribution(_results, out):
    """Of every raw file: both calls of a release together."""
    curves = []
    folder = os.path.join(out, "raw")
    for file in sorted(os.listdir(folder)) if os.path.isdir(folder) else []:
        if not re.match(r"(user|latency)-", file):
            continue
        raw = Raw(os.path.join(folder, file))
        groups = {}
        for column, ticks in raw.columns.items():
            name = re.sub(r"_[12]$", "", column)
            if name in DISTRIBUTED:
                groups.setdefault(name, []).extend(ticks)
        curves += [(f"{title(name)}, {raw.facts['table']}", steps(raw, ticks))
                   for name, ticks in groups.items() if ticks]
    if not curves:
        return None
    text = "".join(f"$d{i} << EOD\n" + "\n".join(points) + "\nEOD\n"
                   for i, (_, points) in enumerate(curves))
    plots = ", \\\n     ".join(
        f'$d{i} with steps linewidth 2 linecolor rgb "{COLOURS[i % len(COLOURS)]}" '
        f'dashtype {1 + i // len(COLOURS)} title "{name}"' for i, (name, _) in enumerate(curves))
    return text + f"""set title "One call at a time: cumulative distribution"
set xlabel "ns"
set ylabel "% of the calls that took no longer"
set logscale x
set xrange [8:20000]
set yrange [0:100]
set grid
set key outside right
plot {plots}
"""


def payload_lines(results):
    """What the table of docs/prices.md shows: ours beside the others, or, where none was measured, the floor.

    One table of one program: other programs measure the same payloads in other loops, and their
    figures do not belong beside these.
    """
    for suite, table in (("rivals", "one thread"), ("points", "payload")):
        lines = [line for line in results.table(suite, table) if line[2] in ("ns", "mark", "")]
        if lines:
            return lines
    return []


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
    return text + f"""set title "Cost of an event by its payload, one thread"
set xlabel "bytes of payload"
set ylabel "ns an event"
set logscale y
set yrange [1:*]
set xrange [0:260]
set grid
set key outside right
plot {plots}
"""


def writers(results):
    curves = {}
    for table in ("nobody reads", "a reader beside", "to a log"):
        points = [(int(row.split()[0]), float(value))
                  for row, column, _, value in results.table("writers", table) if column == "cost"]
        if points:
            curves[table] = points
    if not curves:
        return None
    text = "".join(f"$w{i} << EOD\n" + "\n".join(f"{x} {y}" for x, y in points) + "\nEOD\n"
                   for i, points in enumerate(curves.values()))
    plots = ", \\\n     ".join(
        f'$w{i} with linespoints linewidth 2 pointtype 7 linecolor rgb "{COLOURS[i]}" '
        f'title "{name}"' for i, name in enumerate(curves))
    return text + f"""set title "Cost of an event by the number of writers, one stream"
set xlabel "writers"
set ylabel "ns of processor time an event"
set logscale x 2
set xtics (1, 2, 4, 8)
set xrange [0.9:9]
set yrange [0:*]
set grid
set key top left
plot {plots}
"""


def draw(results, out):
    """name -> file of every picture that there are figures for."""
    if not shutil.which("gnuplot"):
        print("bench: no gnuplot: no pictures", file=sys.stderr)
        return {}
    drawn = {}
    scripts = {"footprint-pie": pie(results), "footprint-units": bars(results),
               "latency": distribution(results, out), "payload": payload(results),
               "writers": writers(results)}
    for name, script in scripts.items():
        if script is None:
            continue
        head = HEAD.format(name=name, width=860, height=440)
        done = subprocess.run(["gnuplot", "-"], input=head + script + "\n", text=True, cwd=out,
                              capture_output=True, check=False)
        if done.returncode:
            print(f"bench: {name}: {done.stderr.strip()}", file=sys.stderr)
        else:
            drawn[name] = f"{name}.svg"
    return drawn
