#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Counts what makes a tree hard to find one's way in, and holds limits for it.

    check-structure.py [ROOT]          exit status 1 where a limit is passed
    check-structure.py --list [ROOT]   and every circle, every function whose name does not say its
                                       place, every call of a unit

What is counted:

    includes   files of the largest circle of #include "..."; NAME.c and NAME.h are one file
    calls      the same of functions and objects that are used where code runs, as a linker sees
               them: in bodies of functions, tables and macros; a declaration uses nothing
    prefixes   of the functions that other files can call, the share in per cent whose name begins
               with pxt_ and the name of their file, of a folder of its path, or of the header that
               declares them (posix_trace_... are the standard's); NAME_none.c, _fast and _small are
               other sources of NAME.c
    units      uses in Core of what a unit defines: core/control/create.c alone calls units, where an
               attribute asks for one; other rooms know units by tables that these set

A name that several files define (another port, the smallest Core, a file that stands for another
one) is the one that a build with the caller would take.  Each file has a head comment, which begins with
its name.  Files that comments name are there.
"""
import collections
import os
import re
import sys

LIBRARY = ("format", "base", "port", "tiny", "core", "online", "tolog", "userevents", "filter", "inherit",
           "attach", "blackbox", "sysevents", "logretrieval")
UNITS = LIBRARY[5:]
# Folders, and what they may have at most (prefixes: at least).  To be sharpened, never widened.
LIMITS = (
    ("format", ("format",), {"includes": 3, "calls": 1, "prefixes": 85}),
    ("base", ("base",), {"includes": 1, "calls": 2, "prefixes": 93}),
    ("port", ("port",), {"includes": 2, "calls": 3}),
    ("core", ("core",), {"includes": 3, "calls": 3, "prefixes": 95, "units": 3}),
    ("tolog", ("tolog",), {"includes": 1, "calls": 3, "prefixes": 100}),
    ("attach", ("attach",), {"includes": 1, "calls": 3, "prefixes": 96}),
    ("logretrieval", ("logretrieval",), {"includes": 1, "calls": 3}),
    ("tools", ("tools",), {"includes": 2, "calls": 3, "prefixes": 72}),
    ("library", LIBRARY, {"includes": 3, "calls": 3, "prefixes": 95}),
)
# Of several definitions the one of the caller's kind is meant; else one of no kind; else the first.
KINDS = ("tiny/", "port/bare/", "port/posix/")
OURS = re.compile(r"_?pxt_|posix_trace_")


def plain(text):
    """Without comments and literals; lines stay."""
    def blank(match):
        return re.sub(r"[^\n]", " ", match.group(0))
    return re.sub(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', blank, text,
                  flags=re.S)


def stem(path):
    return re.sub(r"\.[ch]$", "", path)


def kind(place):
    return next((one for one in KINDS if one in place), "")


def code_of(text):
    """What stands within braces, and what macros become; declarations are left out."""
    text = re.sub(r"\\\n", "  ", text)
    text = re.sub(r"\b(struct|union|enum)\s+\w+", " ", text)  # a tag uses nothing
    macros = re.findall(r"^[ \t]*#[ \t]*define[ \t]+\w+(?:\([^)]*\))?(.*)$", text, flags=re.M)
    text = re.sub(r"^[ \t]*#.*$", "", text, flags=re.M)
    depth, begin, pieces = 0, 0, []
    for match in re.finditer(r"[{}]", text):
        if match[0] == "{":
            if depth == 0:
                begin = match.end()
            depth += 1
        elif depth:
            depth -= 1
            if depth == 0:
                pieces.append(text[begin:match.start()])
    return "\n".join(macros + pieces)


def functions(text):
    """Name of each function that is defined, and whether other files can call it."""
    text = re.sub(r"__attribute__\s*\(\((?:[^()]|\([^()]*\))*\)\)[ \t]*", "", text)
    for match in re.finditer(r"^(?![#{} \t\n]|typedef|struct \w+ \{|enum|union)"
                             r"([A-Za-z_][^;{}=]*?)\b(\w+)\(([^;{}]*)\)\s*\{", text, flags=re.M):
        if OURS.match(match[2]):
            yield match[2], not re.search(r"\bstatic\b|\bPXT_INLINE\b", match[1])
    # Of what is not built (format/compiler.h).
    for name in re.findall(r"^PXT_OFF(?:\(|_RETURNS\(\s*[^,]+,[^,]+,)\s*(_?pxt_\w+)", text, flags=re.M):
        yield name, False


def objects(text):
    return re.findall(r"^(?!static|extern|typedef|#|\s)[A-Za-z_][\w \t*]*?\b(_?pxt_\w+)(?:\[[^\]]*\])*\s*(?:=|;)",
                      text, flags=re.M)


class Tree:
    def __init__(self, root, folders):
        self.root = root
        self.text = {}
        for folder in folders:
            for here, _, names in os.walk(os.path.join(root, folder)):
                for name in sorted(names):
                    if name.endswith((".c", ".h")):
                        path = os.path.relpath(os.path.join(here, name), root)
                        with open(os.path.join(root, path), encoding="utf-8") as source:
                            self.text[path] = source.read()
        self.plain = {path: plain(text) for path, text in self.text.items()}
        self.defined = collections.defaultdict(set)
        self.open = {}  # functions that other files can call -> their files
        self.declared = collections.defaultdict(set)  # function -> names of headers
        for path, text in self.plain.items():
            if path.endswith(".h"):
                for name in re.findall(r"^(?!static|[ \t#])[a-z][\w \t*]*?\b(_?pxt_\w+)\(", text, flags=re.M):
                    self.declared[name].add(os.path.basename(stem(path)))
            for name, is_open in functions(text):
                if is_open or path.endswith(".h"):
                    self.defined[name].add(stem(path))
                if is_open and path.endswith(".c"):
                    self.open[name, path] = True
            if path.endswith(".c"):
                for name in objects(text):
                    self.defined[name].add(stem(path))

    def includes(self):
        graph = collections.defaultdict(set)
        for path, text in self.text.items():
            for name in re.findall(r'^[ \t]*#[ \t]*include[ \t]*"([^"]+)"', text, flags=re.M):
                beside = os.path.normpath(os.path.join(os.path.dirname(path), name))
                target = beside if beside in self.text else name
                if target in self.text and stem(target) != stem(path):
                    graph[stem(path)].add(stem(target))
        return graph

    def meant(self, name, caller):
        """The place of the name's definition that the caller takes; None: its own."""
        places = self.defined[name]
        if caller in places:
            return None
        return min(places, key=lambda place: (kind(place) != kind(caller), kind(place) not in ("", KINDS[2]),
                                              place))

    def calls(self):
        """Caller -> place -> names."""
        graph = collections.defaultdict(lambda: collections.defaultdict(set))
        for path, text in self.plain.items():
            own = {name for name, _ in functions(text)}
            for name in set(re.findall(r"\b[A-Za-z_]\w*\b", code_of(text))) - own:
                place = self.meant(name, stem(path)) if name in self.defined else None
                if place:
                    graph[stem(path)][place].add(name)
        return graph


def circles(graph):
    """Strongly connected components of more than one file, the largest first."""
    index, low, stack, on_stack, found = {}, {}, [], set(), []
    for begin in sorted(graph):
        if begin in index:
            continue
        work = [(begin, iter(sorted(graph[begin])))]
        index[begin] = low[begin] = len(index)
        stack.append(begin)
        on_stack.add(begin)
        while work:
            node, rest = work[-1]
            for other in rest:
                if other not in index:
                    index[other] = low[other] = len(index)
                    stack.append(other)
                    on_stack.add(other)
                    work.append((other, iter(sorted(graph.get(other, ())))))
                    break
                if other in on_stack:
                    low[node] = min(low[node], index[other])
            else:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[node])
                if low[node] == index[node]:
                    circle = [stack.pop()]
                    while circle[-1] != node:
                        circle.append(stack.pop())
                    on_stack.difference_update(circle)
                    if len(circle) > 1:
                        found.append(sorted(circle))
    return sorted(found, key=len, reverse=True)


def within(graph, folders):
    """The part of the graph that lies in these folders."""
    def inside(place):
        return place.split("/")[0] in folders
    return {place: {other for other in others if inside(other)} for place, others in graph.items()
            if inside(place)}


def says_its_place(name, path, headers):
    bare = re.sub(r"^_?pxt_", "", name)
    words = (re.sub(r"_(none|fast|small)$", "", os.path.basename(stem(path))), *os.path.dirname(path).split("/"), *headers)
    return any(re.match(word + r"(_|$)", bare) for word in words)


def prefixes(tree, folders):
    """Names of the open functions that do not say their place, and how many there are in all."""
    mine = [(name, path) for name, path in tree.open
            if path.split("/")[0] in folders and re.match(r"_?pxt_", name)]
    others = (f"{path}: {name}" for name, path in mine
              if not says_its_place(name, path, tree.declared.get(name, ())))
    return sorted(others), len(mine)


def measure(tree, folders, wanted):
    """What was counted -> (figure, lines that tell of it)."""
    found = {}
    calls = tree.calls()
    for name, graph in (("includes", tree.includes()),
                        ("calls", {caller: set(places) for caller, places in calls.items()})):
        rings = circles(within(graph, folders))
        found[name] = (len(rings[0]) if rings else 1, [" ".join(ring) for ring in rings])
    others, count = prefixes(tree, folders)
    found["prefixes"] = (100 * (count - len(others)) // max(count, 1), others)
    if "units" in wanted:
        uses = [f"{caller}: {name} of {place}" for caller, places in sorted(calls.items())
                if caller.split("/")[0] in folders
                for place, names in sorted(places.items()) if place.split("/")[0] in UNITS
                for name in sorted(names)]
        found["units"] = (len(uses), uses)
    return found


def unnamed(root):
    """Functions of the port's headers that its contract does not name."""
    with open(os.path.join(root, "docs", "porting.md"), encoding="utf-8") as paper:
        contract = paper.read()
    folder = os.path.join(root, "port")
    for name in sorted(os.listdir(folder)):
        if not name.endswith(".h"):
            continue
        with open(os.path.join(folder, name), encoding="utf-8") as header:
            text = plain(header.read())
        for function in re.findall(r"^(?!static)[a-z][\w \t*]*?\b(pxt_\w+)\(", text, flags=re.M):
            if not re.search(rf"`{function}\b", contract):
                yield f"port/{name}: {function}() is not in docs/porting.md"


def misnamed(root):
    """Files whose head comment does not begin with their name."""
    for top in (*LIBRARY, "include", "contrib", "tools", "tests", "bench", "examples"):
        for folder, _, names in os.walk(os.path.join(root, top)):
            for name in sorted(name for name in names if name.endswith((".c", ".h"))):
                with open(os.path.join(folder, name), encoding="utf-8") as file:
                    head = re.match(r"(?:#.*\n)?/\* SPDX.*\n/\*\s(?: \* )?([\w./-]+\.[ch]) - ", file.read(400))
                if not head or head[1] != name:
                    says = f"its head comment says {head[1]}" if head else "no head comment says what it is"
                    yield f"{os.path.relpath(os.path.join(folder, name), root)}: {says}"


def lost(root):
    """Files that a comment names and the tree lacks; in a list of a folder's files, those the folder lacks."""
    paths = {os.path.relpath(os.path.join(folder, name), root)
             for top in (*LIBRARY, "include", "contrib", "tools", "tests", "bench", "boards", "examples")
             for folder, _, names in os.walk(os.path.join(root, top)) for name in names}
    ends = {path[at:] for path in paths for at in (0, *(match.end() for match in re.finditer("/", path)))}
    for path in sorted(path for path in paths if path.endswith((".c", ".h"))):
        with open(os.path.join(root, path), encoding="utf-8") as file:
            text = file.read()
        for comment in re.findall(r"/\*.*?\*/", text, flags=re.S):
            # "cache.c:88" is an example's; <linux/sched.h> is a system's.
            for name in re.findall(r"(?<![\w<./-])((?:[\w-]+/)*[a-z][\w-]*\.[ch])\b(?!:\d)", comment):
                if name not in ends and not name.startswith(("linux/", "rte_")):
                    yield f"{path}: its comment names {name}, which is not there"
            for name in re.findall(r"^ \*\s+(?:\w+: *)?([a-z]\w*\.[ch])\s{2,}\S", comment, flags=re.M):
                if os.path.join(os.path.dirname(path), name) not in paths:
                    yield f"{path}: its list names {name}, which is not in its folder"


def main():
    arguments = [word for word in sys.argv[1:] if word != "--list"]
    root = arguments[0] if arguments else os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    tree = Tree(root, (*LIBRARY, "tools"))
    findings = [*unnamed(root), *misnamed(root), *lost(root)]
    for part, folders, limits in LIMITS:
        found = measure(tree, folders, limits)
        for name, limit in limits.items():
            figure, lines = found[name]
            bad = figure < limit if name == "prefixes" else figure > limit
            print(f"{part:12} {name:9} {figure:4}  {'at least' if name == 'prefixes' else 'at most':8} {limit}")
            if bad:
                findings.append(f"{part}: {name}: {figure}, and {limit} is the limit")
            if bad or "--list" in sys.argv:
                print("\n".join("    " + line for line in lines))
    print("\n".join(findings + [f"{len(tree.text)} files, {len(findings)} findings"]))
    return 1 if findings or not tree.text else 0


if __name__ == "__main__":
    sys.exit(main())
