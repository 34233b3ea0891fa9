#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What is held about the papers: README.md, DESIGN.md, FORMAT.md, CONTRIBUTING.md, tests/README.md, docs/*.md.

    papers.py            what is wrong, and exit status 1 if anything is
    papers.py PAPER...   what is wrong with these
    papers.py --long N   the sentences of more than N words

Form: no line has more than 100 columns, but in tables, in what a program
prints (blocks of ```console), and for the target of a link.  A paper's
sentences have 20 words on average at most, and none has more than 40.  A heading, a table and a
block of code are no sentences; an item of a list ends one; what stands in backquotes is one word.
What a paper names in backquotes is in the tree: each word of it, and each path.  Under a heading that
names folders or files, it is in these folders, in include/, format/ or port/, in a folder that the
section names by a path, or in the folder of the paper's own name.  README.md has at most 120 lines.  Manual pages have the same columns, but in
tables.

Figures that come from a table of bench/: who changes the table finds them here.  A figure is marked by a comment right behind it (asterisks may stand between), which is not seen where
the paper is read:   1,145<!-- size: -Os minimal online and userevents text -->
The word in front of the colon is the table's kind; what follows is for its script to look up.
"""
import functools
import glob
import os
import re
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PAPERS = ("README.md", "DESIGN.md", "docs/bench.md", "docs/units.md")


def read(name):
    with open(os.path.join(ROOT, name), encoding="utf-8") as paper:
        return paper.read()


def write(name, text):
    with open(os.path.join(ROOT, name), "w", encoding="utf-8") as paper:
        paper.write(text)


def pattern(kind):
    """Groups: the figure, asterisks and mark, what the mark asks for.  No figure: the first is empty."""
    return re.compile(rf"((?:\d[\d,]*)?)(\**<!-- {kind}: (.*?) -->)")


def broken(line):
    """Whether a mark goes on in the next line, where pattern() does not find it."""
    return re.search(r"\d\**<!--(?:(?!-->).)*$", line) is not None


def stale(kind, look_up):
    """Lines for figures that are not what look_up(words) says; a KeyError is a row that is not there."""
    findings, count = [], 0
    for name in PAPERS:
        for number, line in enumerate(read(name).split("\n"), 1):
            if broken(line):
                findings.append(f"{name}:{number}: the mark does not end in its line")
            for figure, _, words in pattern(kind).findall(line):
                count += 1
                try:
                    value = f"{look_up(words):,}"
                except (KeyError, ValueError):
                    findings.append(f"{name}:{number}: '{words}': no such row in the table")
                    continue
                if figure != value:
                    findings.append(f"{name}:{number}: {figure or 'no figure'} ({words}), "
                                    f"the table says {value}")
    if not count:
        findings.append(f"no figure of the papers is marked '{kind}:'")
    return findings


def renew(kind, look_up):
    """Writes the table's values into the papers; what the table lacks stays, and is said."""
    for name in PAPERS:
        def value(match, name=name):
            try:
                return f"{look_up(match[3]):,}{match[2]}"
            except (KeyError, ValueError):
                print(f"{name}: left as it is: '{match[3]}' is not in the table")
                return match[0]

        text = read(name)
        new = pattern(kind).sub(value, text)
        if new != text:
            write(name, new)
            print(f"{name}: renewed")


# ---- Form ----

COLUMNS, AVERAGE, LONGEST = 100, 20, 40
LINES = {"README.md": 120}
# Commands, names and settings of other programs, and words of examples, which the tree need not have.
FOREIGN = set("""
UID pipefail main unshare clone membarrier pidfd_open menuconfig
cmpxchg dsb ish isb fetch_add _Fork fsync msync writev
""".split())
OWN = ("papers.py",)
MARK = re.compile(r"<!--.*?-->", re.S)
LINK = re.compile(r"\]\([^)]*\)")
ITEM = re.compile(r"\s*(?:[-*+]|\d+\.)\s+")


def all_papers():
    names = ["README.md", "DESIGN.md", "FORMAT.md", "CONTRIBUTING.md", "tests/README.md"]
    return names + sorted(os.path.relpath(path, ROOT) for path in glob.glob(os.path.join(ROOT, "docs/*.md")))


def is_table(line):
    return line.lstrip().startswith("|")


def long_lines(text):
    block = None
    for number, line in enumerate(text.split("\n"), 1):
        if line.lstrip().startswith("```"):
            block = None if block is not None else line.strip(" `")
        # What a program prints is as wide as it is.
        printed = block == "console" and not line.lstrip().startswith("$ ")
        if not printed and not is_table(line) and len(LINK.sub("]", MARK.sub("", line))) > COLUMNS:
            yield number, line


def without_code(text):
    """Lines outside of fenced blocks; a block leaves an empty line."""
    inside = False
    for line in MARK.sub("", text).split("\n"):
        if line.lstrip().startswith("```"):
            inside = not inside
            yield ""
        elif not inside:
            yield line


def paragraphs(text):
    """Runs of lines that belong together: paragraphs, and single items of lists."""
    run = []
    for line in list(without_code(text)) + [""]:
        item = ITEM.match(line)
        ends = not line.strip() or is_table(line) or line.startswith("#")
        if run and (ends or item):
            yield " ".join(run)
            run = []
        if not ends:
            run.append((line[item.end():] if item else line).strip())


def sentences(text):
    """(words, sentence) for each sentence."""
    for paragraph in paragraphs(text):
        plain = re.sub(r"`[^`]*`", "Name", LINK.sub("]", paragraph))
        for sentence in re.split(r"(?<=[.?!])[\"')*_\]]*\s+", plain):
            words = len([word for word in sentence.split() if re.search(r"\w", word)])
            if words:
                yield words, sentence


def words_of_code(text):
    """A paper's own programs have names of their own."""
    return set(re.findall(r"\w+", " ".join(re.findall(r"```.*?```", text, re.S))))


def names_in(text):
    """What stands in backquotes outside of blocks of code."""
    for paragraph in re.split(r"\n\s*\n", "\n".join(without_code(text))):
        yield from (re.sub(r"\s+", " ", name) for name in re.findall(r"`([^`]+)`", paragraph))


@functools.lru_cache(maxsize=None)
def words_below(folder):
    return vocabulary(os.path.join(ROOT, folder))[0]


def vocabulary(top=ROOT):
    """All words and all paths of the tree, or of a folder, without its papers."""
    words, paths = set(FOREIGN), set()
    for folder, folders, names in os.walk(top):
        folders[:] = [f for f in folders if not f.startswith((".git", "build", "__pycache__"))
                      and not os.path.exists(os.path.join(folder, f, "CMakeCache.txt"))]
        for name in names + folders:
            path = os.path.relpath(os.path.join(folder, name), ROOT)
            paths.add(path)
            words.update(re.findall(r"\w+", name))
            # A paper does not vouch for another one, nor does this file or its test.
            if name.endswith(".md") or name in OWN or not os.path.isfile(os.path.join(ROOT, path)):
                continue
            try:
                with open(os.path.join(ROOT, path), encoding="utf-8") as file:
                    text = file.read()
                if name.endswith((".c", ".h", ".pml")):
                    text = re.sub(r"/\*.*?\*/", " ", text, flags=re.S)
                words.update(re.findall(r"\w+", text))
            except UnicodeDecodeError:
                continue
    words.update("CONFIG_" + word for word in list(words) if word.startswith("PTRACE_"))
    return words, paths


def sections(text):
    """(heading, text) of each section whose heading names folders or files."""
    for part in re.split(r"^#+ ", text, flags=re.M)[1:]:
        heading, _, body = part.partition("\n")
        if "/" in " ".join(re.findall(r"\(([^)]*)\)", LINK.sub("]", heading))):
            yield heading, body


def folders_of(text):
    """Folders of the tree in a text; those of tools/ also without that."""
    for path in re.findall(r"[\w.-]+/[\w./*-]*", text):
        for name in (path, "tools/" + path):
            folder = name if os.path.isdir(os.path.join(ROOT, name)) else os.path.dirname(name)
            if folder and os.path.isdir(os.path.join(ROOT, folder)):
                yield folder.rstrip("/")


def astray(text, known, own):
    """(heading, name) of what is in the tree, but not in the folders that its section is about."""
    for heading, body in sections(text):
        names = list(names_in(body))
        folders = {"include", "format", "port", own, *folders_of(heading), *folders_of(" ".join(names))}
        words = set(FOREIGN).union(*(known(folder) for folder in folders))
        for name in names:
            # Options, commands and symbols of Kconfig are of no folder.
            rest = "" if re.match(r"-|pxtrace |(CONFIG_)?PTRACE_", name) or "--" in name else \
                re.sub(r"[\w.*-]+(?:/[\w.*-]+)+", "", name)
            if any(re.search(r"[A-Za-z]{3}", word) and word not in words for word in re.findall(r"\w+", rest)):
                yield heading, name


def as_pattern(path):
    """`tools/cmd_*.c` and `pages/NAME.scd` stand for files; a stem stands for its .c and .h."""
    return re.sub(r"\\\*|NAME", "[^/]*", re.escape(path)) + r"(\.[ch])?"


def is_there(name, words, paths):
    """Each word in the backquotes is one of the tree; a path with a folder of the tree is one, too."""
    for path in re.findall(r"[\w.*-]+(?:/[\w.*-]+)+|[\w-]*\*[\w-]*\.\w+", name):
        if "/" in path and path.split("/")[0] not in paths:
            continue
        pattern = as_pattern(path) if "/" in path else ".*/" + as_pattern(path)
        if not any(re.fullmatch(pattern, other) for other in paths):
            return False
        name = name.replace(path, "")
    # `PTRACE_LOG_...` stands for what begins so.
    for start in re.findall(r"(\w+_)\.\.\.", name):
        if not any(word.startswith(start) for word in words):
            return False
        name = name.replace(start + "...", "")
    return all(word in words or not re.search(r"[A-Za-z]{3}", word) for word in re.findall(r"\w+", name.replace("-D", " ")))


def examine(name, words, paths):
    """What is wrong with it."""
    text, findings = read(name), []
    if text.count("\n") > LINES.get(name, 1 << 20):
        findings.append(f"{name}: more than {LINES[name]} lines")
    findings += [f"{name}:{number}: {len(line)} columns" for number, line in long_lines(text)]
    counts = list(sentences(text))
    average = round(10 * sum(words for words, _ in counts) / max(1, len(counts)))
    if average > 10 * AVERAGE:
        findings.append(f"{name}: {average / 10} words a sentence")
    findings += [f"{name}: {count} words: {sentence[:60]}..." for count, sentence in counts if count > LONGEST]
    words = words | words_of_code(text)
    missing = sorted({found for found in names_in(text) if not is_there(found, words, paths)})
    findings += [f"{name}: `{found}` is not in the tree" for found in missing]
    elsewhere = sorted(set(astray(text, words_below, os.path.basename(name)[:-3])))
    findings += [f"{name}: {heading}: `{found}` is in none of its folders" for heading, found in elsewhere]
    return findings


def check_form():
    words, paths = vocabulary()
    findings = []
    for page in sorted(glob.glob(os.path.join(ROOT, "docs/man/*.scd"))):
        with open(page, encoding="utf-8") as lines:
            findings += [f"{os.path.relpath(page, ROOT)}:{number}: {len(line) - 1} columns"
                         for number, line in enumerate(lines, 1)
                         if len(line) > COLUMNS + 1 and line[0] not in "[|:]"]
    for name in all_papers():
        findings += examine(name, words, paths)
    return findings


def main():
    arguments = sys.argv[1:]
    if arguments[:1] == ["--long"]:
        for name in all_papers():
            for count, sentence in sentences(read(name)):
                if count > int(arguments[1]):
                    print(f"{name}: {count}: {sentence}")
        return 0
    if arguments:
        words, paths = vocabulary()
        findings = [line for name in arguments for line in examine(name, words, paths)]
    else:
        findings = check_form()
    print("\n".join(findings + [f"{len(all_papers())} papers, {len(findings)} findings"]))
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
