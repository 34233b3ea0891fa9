#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The page docs/sources.md: every file of library and tool with its subject, and an index by subject.

    sources.py --update     writes the page
    sources.py              0: the page is what --update would write; 1: it is not

A subject is the first sentence of the file's head comment, "NAME - SUBJECT".  A source that refers to
its header ("see x.h") has the header's where its own says less.

The index is docs/subjects.txt, "SUBJECT | FILE | FUNCTION" a line: where something is decided.  Each file
must exist, and have that name.
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "sources.md"
SUBJECTS = ROOT / "docs" / "subjects.txt"
FOLDERS = ["include", "format", "base", "core", "userevents", "online", "filter", "tolog", "inherit",
           "blackbox", "attach", "logretrieval", "port", "compat", "tools"]
HEAD = """# Which file decides what

Every file of the library and of `pxtrace`, with its subject: the first sentence of its head
comment. At the end are the public functions, and an index by subject: where is it decided, refused,
computed? `scripts/sources.py --update` makes this page out of the sources and
[subjects.txt](subjects.txt), and a test holds it. What the folders are, and who may include whom, is
in [DESIGN.md](../DESIGN.md), section 1.
"""
FUNCTION = re.compile(r"^PXT_API\s[\w\s*]*?(posix_trace_\w+)\(", re.M)


def head_of(path):
    """The text of the head comment from NAME - on, or None."""
    text = path.read_text()
    if path.suffix == ".js":
        text = "/*\n" + "\n".join(re.sub(r"^// ?", "", line)
                                for line in text.split("\n\n")[0].split("\n")) + "\n*/"
        text = text.replace("SPDX-License-Identifier: MIT\n", "")
    for comment in re.findall(r"/\*(.*?)\*/", text[:6000], re.S)[:3]:
        lines = [re.sub(r"^\s*\*? ?", "", line) for line in comment.strip("\n").split("\n")]
        whole = "\n".join(lines).strip()
        if whole.startswith(path.name + " - "):
            return whole[len(path.name) + 3:]
    return None


def first_sentence(text):
    paragraph = " ".join(text.split("\n\n")[0].split())
    # A reference, or a full stop that ends a sentence.
    return re.split(r"; see [\w/]+\.h|\.(?= +[A-Z@*]|$)", paragraph)[0].strip()


def subject_of(path):
    text = head_of(path)
    if text is None:
        return None
    subject = first_sentence(text)
    if subject.startswith("see "):
        header = path.with_suffix(".h")
        return subject_of(header) if header.exists() else None
    return subject


def rows(folder, files):
    """A header beside its source stands in the source's row."""
    found, missing = [], []
    names = {path.name for path in files}
    for path in sorted(files, key=lambda path: (path.stem, path.suffix)):
        if path.suffix == ".h" and path.stem + ".c" in names:
            continue
        subject = subject_of(path)
        if subject is None:
            missing.append(str(path.relative_to(ROOT)))
            continue
        name = path.stem if path.with_suffix(".h").name in names and path.suffix == ".c" else path.name
        if path.suffix == ".h":
            name = path.name
        found.append(f"| `{name}` | {subject.replace('|', '&#124;')} |")
    return found, missing


def index():
    """The rows of the index, and what is wrong in it."""
    found, wrong = [], []
    lines = [line for line in SUBJECTS.read_text().split("\n") if line.strip() and line[0] != "#"]
    for line in sorted(lines, key=str.lower):
        subject, name, function = (part.strip() for part in line.split("|"))
        path = ROOT / name
        if not path.is_file():
            wrong.append(f"{name} (subjects.txt: {subject})")
        elif not re.search(rf"\b{re.escape(function)}\b", path.read_text()):
            wrong.append(f"{name} has no {function} (subjects.txt: {subject})")
        else:
            found.append(f"| {subject} | `{name}` | `{function}` |\n")
    return "".join(found), wrong


def page():
    folders, functions = {}, {}
    for path in (path for folder in FOLDERS for path in sorted([*(ROOT / folder).rglob("*.[ch]"),
                                                         *(ROOT / folder).rglob("*.js")])):
        name = path.relative_to(ROOT)
        folders.setdefault(str(name.parent), []).append(path)
        for function in FUNCTION.findall(path.read_text()):
            functions.setdefault(function, []).append(f"`{name}`")
    text, missing = HEAD, []
    order = sorted(folders, key=lambda folder: (FOLDERS.index(folder.split("/")[0]), folder))
    for folder in order:
        found, without = rows(folder, folders[folder])
        missing += without
        text += f"\n## {folder}/\n\n| file | subject |\n|---|---|\n" + "\n".join(found) + "\n"
    text += "\n## The public functions\n\n| function | file |\n|---|---|\n"
    for function in sorted(functions):
        text += f"| `{function}` | {', '.join(functions[function])} |\n"
    subjects, wrong = index()
    text += "\n## By subject\n\n| subject | file | name in it |\n|---|---|---|\n" + subjects
    return text, missing, wrong


def main():
    text, missing, wrong = page()
    for name in missing:
        print(f"{name}: no head comment that says its subject")
    for name in wrong:
        print(f"{name}: is not there")
    missing += wrong
    if "--update" in sys.argv[1:]:
        PAGE.write_text(text)
    elif PAGE.read_text() != text:
        print("docs/sources.md is not what the sources say: scripts/sources.py --update")
        missing.append("docs/sources.md")
    print(f"{text.count(chr(10) + '| `')} files, {len(missing)} findings")
    sys.exit(1 if missing else 0)


if __name__ == "__main__":
    main()
