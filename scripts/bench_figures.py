# SPDX-License-Identifier: MIT
"""The suite's picture, drawn by gnuplot as SVG; without gnuplot there is none."""
import re
import shutil
import subprocess
import sys

COLOURS = ("#4c72b0", "#dd8452", "#55a868", "#c44e52", "#8172b3", "#937860", "#da8bc3", "#8c8c8c",
           "#ccb974", "#64b5cd")
# Underscores of names are no subscripts: noenhanced.
HEAD = """set terminal svg noenhanced size {width},{height} font "sans,13" background "white" dynamic
set output "{name}.svg"
set border 3
set tics nomirror
"""


def payload_lines(results):
    """What the table of docs/prices.md shows, ours beside the others.

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


def draw(results, out):
    """name -> file of the picture, if there are figures for it."""
    if not shutil.which("gnuplot"):
        print("bench: no gnuplot: no picture", file=sys.stderr)
        return {}
    script = payload(results)
    if script is None:
        return {}
    head = HEAD.format(name="payload", width=860, height=440)
    done = subprocess.run(["gnuplot", "-"], input=head + script + "\n", text=True, cwd=out,
                          capture_output=True, check=False)
    if done.returncode:
        print(f"bench: payload: {done.stderr.strip()}", file=sys.stderr)
        return {}
    return {"payload": "payload.svg"}
