#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The pages docs/sources.md, every file of library and tool with its subject, and docs/functions.md.

    sources.py --update     writes the pages
    sources.py              0: they are what --update would write; 1: they are not

A subject is the first sentence of the file's head comment, "NAME - SUBJECT".  A source that refers to
its header ("see x.h") has the header's where its own says less.

What a function does is the first sentence of the comment before it.
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "sources.md"
INDEX = ROOT / "docs" / "functions.md"
FOLDERS = ["include", "format", "base", "core", "userevents", "online", "filter", "tolog", "inherit",
           "blackbox", "sysevents", "attach", "logretrieval", "port", "compat", "tools"]
HEAD = """# Which file decides what

Every file of the library and of `pxtrace`, with its subject: the first sentence of its head
comment. The public functions are at the end. Which function does what is in
[functions.md](functions.md). `scripts/sources.py --update` makes both pages, and a test holds them.
What the folders are, and who may include whom, is in [DESIGN.md](../DESIGN.md), section 1.
"""
INDEX_HEAD = """# Which function does what

Every function of the library and of `pxtrace` that has a comment, with the first sentence of that.
For searching: what is decided, refused or computed where? Files are in [sources.md](sources.md).
`scripts/sources.py --update` makes this page.
"""
FUNCTION_AFTER_COMMENT = re.compile(
    r"^/\*(?P<comment>(?:(?!\*/)[\s\S])*)\*/\n"
    r"(?!#|/|typedef|_Static_assert|struct \w+ \{|enum \w* ?\{)[A-Za-z_][^;{}()=]*?(?P<name>\w+)\((?!\))", re.M)
FUNCTION = re.compile(r"^PXT_API\s[\w\s*]*?(posix_trace_\w+)\(", re.M)
# In the public headers: what compiles into the program.
IN_HEADER = re.compile(r"^(?:#define |(?:static inline|_PXT_INLINE)\s[\w\s*]*?)(posix_trace_\w+_np)\(", re.M)


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


def functions_of(path):
    """(name, what the comment before it says) of each function that has one."""
    text = path.read_text()
    for match in FUNCTION_AFTER_COMMENT.finditer(text):
        words = " ".join(re.sub(r"^\s*\* ?", "", line) for line in match["comment"].split("\n"))
        words = re.sub(r"^[-\s]*|[-\s]*$", "", " ".join(words.split()))
        subject = re.split(r"(?<=[.:;])\s+(?=[A-Z@])", words)[0].rstrip(".:; ")
        # A promise of a header of the interface is kept elsewhere.
        if len(subject) > 12 and path.parent.name != "include" and not match["name"].endswith("attribute__"):
            yield match["name"], subject


def index(paths):
    """The page of functions, a table a folder."""
    text, folder = INDEX_HEAD, None
    for path in paths:
        name = path.relative_to(ROOT)
        rows = "".join(f"| {subject.replace('|', '&#124;')} | `{name.name}` | `{function}` |\n"
                       for function, subject in functions_of(path))
        if rows and name.parent != folder:
            folder = name.parent
            text += f"\n## {folder}/\n\n| what | file | function |\n|---|---|---|\n"
        text += rows
    return text


def folder_of(name):
    return name.parts[0]


def page():
    folders, functions = {}, {}
    for path in (path for folder in FOLDERS for path in sorted([*(ROOT / folder).rglob("*.[ch]"),
                                                         *(ROOT / folder).rglob("*.js")])):
        name = path.relative_to(ROOT)
        folders.setdefault(str(name.parent), []).append(path)
        for function in (IN_HEADER if folder_of(name) == "include" else FUNCTION).findall(path.read_text()):
            if f"`{name}`" not in functions.setdefault(function, []):
                functions[function].append(f"`{name}`")
    text, missing = HEAD, []
    order = sorted(folders, key=lambda folder: (FOLDERS.index(folder.split("/")[0]), folder))
    for folder in order:
        found, without = rows(folder, folders[folder])
        missing += without
        text += f"\n## {folder}/\n\n| file | subject |\n|---|---|\n" + "\n".join(found) + "\n"
    text += "\n## The public functions\n\n| function | file |\n|---|---|\n"
    for function in sorted(functions):
        text += f"| `{function}` | {', '.join(functions[function])} |\n"
    return text, missing, index(path for folder in order for path in folders[folder])


def main():
    text, missing, functions = page()
    for name in missing:
        print(f"{name}: no head comment that says its subject")
    for path, wanted in ((PAGE, text), (INDEX, functions)):
        if "--update" in sys.argv[1:]:
            path.write_text(wanted)
        elif not path.exists() or path.read_text() != wanted:
            print(f"docs/{path.name} is not what the sources say: scripts/sources.py --update")
            missing.append(path.name)
    print(f"{text.count(chr(10) + '| `')} files, {len(missing)} findings")
    sys.exit(1 if missing else 0)


if __name__ == "__main__":
    main()
