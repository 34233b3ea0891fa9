#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Which assertions do the tests cite, and which not?

A test cites in the comment directly above it, at its beginning:

    /* POL-09, DEC-10 */
    PXT_TEST(a_stream_that_was_read_empty_runs_again)

docs/decisions.md has the text of each identifier, and says which features are done and what has no test.
Exit status 1 for

- an assertion, decision, mistake or feature that is done, if no test cites it; "no test" at one that is cited,
- a citation above a function that is no test,
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
ABOVE = re.compile(r"/\*((?:[^*]|\*(?!/))*)\*/\s*\n(?:(?:[\w*]+[ \t*]+)+|PXT_TEST\w*\()(\w+)[(),]", re.M)
CASE = re.compile(r"^PXT_TEST\w*\((\w+)", re.M)
TEXTS = ROOT / "docs/decisions.md"
ENTRY = re.compile(r"^- \*\*((?:Ruling|Rule|Mistake) \d+|[A-Z]+-E?\d+)(?: \((done|partly|not done|no test)\))?\*\* \S", re.M)
# Anywhere in the tree: an identifier; "rulings 7, 12 and 14", "rules 1 to 3".
ANYWHERE = re.compile(r"\b[A-Z]{3,}-(?:E\d|\d\d)(?!\d)")
NUMBERED = re.compile(r"\b(ruling|rule|mistake)s?[ \n*#/]+(\d+(?:(?:, | and | to )\d+)*)", re.I)
NO_IDENTIFIERS = {"CRC-32", "UTF-16", "UTF-32"}


def read_texts():
    """Identifier -> its state (None: an assertion, decision, ruling, rule or mistake), and what is wrong with the page."""
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
        if "tests" in path.parts[:3] and path.suffix in (".c", ".cc", ".cpp", ".sh", ".py", ".cmake"):
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
        if names and run and match[2] not in run:
            problems.append(f"{path.relative_to(ROOT)}: {match[2]} cites, but is no test")
            continue
        for name in names:
            cited.setdefault(name, []).append(f"{path.relative_to(ROOT)}: {match[2]}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("ids", nargs="*", metavar="ID", help="only show which tests cite these")
    arguments = parser.parse_args()

    texts, problems = read_texts()
    cited = {}
    for path in sorted([*(ROOT / "tests").rglob("*.c*"), *(ROOT / "contrib").rglob("tests/*.c")]):
        if path.suffix in (".c", ".cc", ".cpp"):
            scan(path, cited, problems)
    if arguments.ids:
        for name in arguments.ids:
            print(f"{name}: " + "; ".join(cited.get(name, ["not cited"])))
        return 0

    # Of rulings and rules the model, the proofs and the reader's tests speak as a whole.
    above = [name for name, state in texts.items() if state is None and not re.match("rul(ing|e) ", name)]
    tested = scan_tree(texts, problems)
    done = [name for name, state in texts.items() if state == "done"]
    missing = [name for name in above if name not in cited] + [name for name in done if name not in tested]
    print(f"Assertions, decisions, mistakes of others: {len(above)}, features that are done: {len(done)}; "
          f"not cited: {len(missing)}")
    problems += [f"{name}: no test cites it" for name in missing]
    problems += [f"{name}: has no test, but {cited[name][0]} cites it"
                 for name, state in texts.items() if state == "no test" and name in cited]
    for problem in problems:
        print(problem, file=sys.stderr)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
