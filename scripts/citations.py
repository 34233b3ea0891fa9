#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Which assertions do the tests cite, and which not?

A test cites in the comment directly above it, at its beginning:

    /* POL-09, DEC-10 */
    static void a_stream_that_was_read_empty_runs_again(void)

tests/assertions.txt lists all assertions; tests/uncited.txt those that no test can or need cite,
each with a reason.  Exit status 1 for a gap that has no reason, a reason that is not needed, a
citation of something unknown, and a citation above a function that no table of tests runs.
"""
import argparse
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
ASSERTION = r"[A-Z]+-E?\d\d?"
CITATION = re.compile(rf"({ASSERTION}|mistake \d+)(?:,\s*|\s*$|[\s:;.(])")
# A comment, and the function definition that follows it directly.
ABOVE = re.compile(r"/\*((?:[^*]|\*(?!/))*)\*/\s*\n((?:[\w*]+[ \t*]+)+)(\w+)\(", re.M)
CASE = re.compile(r"PXT_CASE\w*\(\s*(\w+)")
MISTAKES = [f"mistake {n}" for n in range(1, 18)]
ROWS = [f"LPT-{n:02}" for n in range(1, 42)]


def read_assertions(path):
    """ID -> (force, class), in the order of the digest."""
    known = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            name, force, kind = line.split()
            known[name] = (force, kind)
    return known


def read_reasons(path):
    reasons = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.strip() and not line.startswith("#"):
            name, _, reason = line.partition(" ")
            reasons[name] = reason.strip()
    return reasons


def leading_citations(comment):
    """The citations with which a comment begins; words end them."""
    text = " ".join(part.strip(" \t*") for part in comment.splitlines()).strip()
    found = []
    while match := CITATION.match(text):
        found.append(match[1])
        text = text[match.end(1):].lstrip()
        if not text.startswith(","):
            break
        text = text[1:].lstrip()
    return found


def scan(path, cited, problems):
    text = path.read_text(encoding="utf-8")
    run = set(CASE.findall(text))
    for match in ABOVE.finditer(text):
        names = leading_citations(match[1])
        if names and run and match[3] not in run:
            problems.append(f"{path.relative_to(ROOT)}: {match[3]} cites, but no table runs it")
            continue
        for name in names:
            cited.setdefault(name, []).append(f"{path.relative_to(ROOT)}: {match[3]}")


def report(title, wanted, cited, reasons, problems):
    gaps = [name for name in wanted if name not in cited]
    excused = [name for name in gaps if reasons.get(name)]
    print(f"{title}: {len(wanted)}, cited {len(wanted) - len(gaps)}, "
          f"excused {len(excused)}, missing {len(gaps) - len(excused)}")
    for name in gaps:
        if name not in excused:
            problems.append(f"{name}: no test cites it")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("ids", nargs="*", metavar="ID", help="only show which tests cite these")
    parser.add_argument("--uncited", action="store_true", help="list what is excused, with reasons")
    arguments = parser.parse_args()

    known = read_assertions(ROOT / "tests/assertions.txt")
    reasons = read_reasons(ROOT / "tests/uncited.txt")
    cited, problems = {}, []
    for path in sorted((ROOT / "tests").rglob("*.c*")):
        if path.suffix in (".c", ".cc", ".cpp"):
            scan(path, cited, problems)

    if arguments.ids:
        for name in arguments.ids:
            print(f"{name}: " + ("; ".join(cited[name]) if name in cited
                                 else reasons.get(name, "not cited")))
        return 0

    required = [name for name, (force, kind) in known.items() if force == "S" and kind in "TCL"]
    decisions = [name for name, (force, _) in known.items() if force == "D"]
    others = [name for name in known if name not in required and name not in decisions]
    report("Assertions (shall; testable)", required, cited, reasons, problems)
    report("Decisions", decisions, cited, reasons, problems)
    report("Mistakes of others", MISTAKES, cited, reasons, problems)
    print(f"Assertions that need no test: {len(others)}, "
          f"cited {sum(name in cited for name in others)}")
    # Feature rows come from another paper, and most are shown by builds and scripts.
    print(f"Feature rows: {len(ROWS)}, cited {sum(name in cited for name in ROWS)}")

    for name in cited:
        if name not in known and name not in MISTAKES and not re.match(r"(LPT|SHARK|ZEP|QNX|TEV)-", name):
            problems.append(f"{name}: cited by {cited[name][0]}, but there is no such assertion")
    for name in reasons:
        if name not in known:
            problems.append(f"{name}: excused, but there is no such assertion")
        elif name in cited:
            problems.append(f"{name}: excused, but cited by {cited[name][0]}")
    if arguments.uncited:
        for name, reason in reasons.items():
            print(f"  {name}: {reason}")
    for problem in problems:
        print(problem, file=sys.stderr)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
