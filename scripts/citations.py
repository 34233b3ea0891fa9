#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Which assertions do the tests cite, and which not?

A test cites in the comment directly above it, at its beginning:

    /* POL-09, DEC-10 */
    static void a_stream_that_was_read_empty_runs_again(void)

docs/decisions.md has the text of each identifier, and says which features are done.
tests/assertions.txt lists all assertions; tests/uncited.txt those that no test can or need cite,
each with a reason.  Exit status 1 for

- a gap that has no reason, a reason that is not needed, a feature that is done and that no test cites,
- a citation above a function that no table of tests runs,
- an identifier without text, cited anywhere in the tree, and one in an installed header.
"""
import argparse
import os
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
TEXTS = ROOT / "docs/decisions.md"
ENTRY = re.compile(r"^- \*\*((?:Ruling|Rule|Mistake) \d+|[A-Z]+-E?\d+)(?: \((done|partly|not done)\))?\*\* \S", re.M)
# Anywhere in the tree: an identifier; "rulings 7, 12 and 14", "rules 1 to 3".
ANYWHERE = re.compile(r"\b[A-Z]{3,}-(?:E\d|\d\d)(?!\d)")
NUMBERED = re.compile(r"\b(ruling|rule|mistake)s?[ \n*#/]+(\d+(?:(?:, | and | to )\d+)*)", re.I)
NO_IDENTIFIERS = {"CRC-32", "UTF-16", "UTF-32"}


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


def read_texts():
    """Identifier -> "done", "partly", "not done" or None, and what is wrong with the page."""
    texts, problems = {}, []
    for name, state in ENTRY.findall(TEXTS.read_text(encoding="utf-8")):
        name = name.lower() if " " in name else name
        if name in texts:
            problems.append(f"{name}: docs/decisions.md has it twice")
        texts[name] = state or None
    return texts, problems


def files_of_the_tree():
    """All files that somebody wrote; not what a build made, nor files of bytes."""
    for folder, folders, names in os.walk(ROOT):
        folders[:] = sorted(f for f in folders if not f.startswith((".", "build", "__pycache__"))
                            and not os.path.exists(os.path.join(folder, f, "CMakeCache.txt")))
        for name in sorted(names):
            path = pathlib.Path(folder, name)
            try:
                yield path.relative_to(ROOT), path.read_text(encoding="utf-8")
            except (UnicodeDecodeError, OSError):
                continue


def identifiers(text):
    found = {name for name in ANYWHERE.findall(text) if name not in NO_IDENTIFIERS}
    for kind, numbers in NUMBERED.findall(text):
        found |= {f"{kind.lower()} {number}" for number in re.findall(r"\d+", numbers)}
    return found


def scan_tree(texts, problems):
    """Names without text; returns those that the sources of tests name."""
    tested = set()
    for path, text in files_of_the_tree():
        names = identifiers(text)
        if "tests" in path.parts[:3] and path.suffix in (".c", ".cc", ".cpp", ".sh", ".py"):
            tested |= names
        if path.parts[0] == "include":
            problems += [f"{path}: {name}: installed headers explain and do not cite" for name in sorted(names)]
        problems += [f"{path}: {name}: docs/decisions.md has no text for it" for name in sorted(names - set(texts))]
    return tested


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
    texts, problems = read_texts()
    cited = {}
    for path in sorted([*(ROOT / "tests").rglob("*.c*"), *(ROOT / "contrib").rglob("tests/*.c")]):
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

    tested = scan_tree(texts, problems)
    done = [name for name, state in texts.items() if state == "done"]
    print(f"Features that are done: {len(done)}, cited by tests {sum(name in tested for name in done)}")
    problems += [f"{name}: done, but no test cites it" for name in done if name not in tested]
    problems += [f"{name}: docs/decisions.md has no text for it" for name in known if name not in texts]
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
