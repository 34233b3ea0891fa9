#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The manual: pages of section 3 from the comments of the headers, of 5 and 7 from papers and Kconfig.

    manual.py OUT          writes OUT/man3, man5, man7
    manual.py --check OUT  and says what a page lacks; exit status 1 if anything is
    manual.py --scdoc SOURCE OUT  writes a page of docs/man, as scdoc makes it, to the file OUT
    manual.py --run OUT PROGRAMS  runs each example that says what it prints, and compares

A page of section 3 has the functions that an example names in its head comment,

    Page: posix_trace_open, posix_trace_close, posix_trace_rewind - reading a log

and a function that no example names stands on the page of the one before it in its header.  What a
comment has (CONTRIBUTING.md): text, `@parameter: ...`, `Returns ...`, `ERROR: cause`, `Context:`,
`Cost:`, `Unit:`.  A part that all functions share is in the head comment of the header, or in the
comment of trace.h on all functions.
"""
import glob
import os
import re
import shutil
import subprocess
import sys
import time

import roff

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
HEADERS = ("trace.h", "trace_np.h", "trace_points_np.h", "trace_hooks_np.h")
COMMENT = re.compile(r"^/\*(.*?)\*/", re.S | re.M)
NUMBERS = r"E[A-Z0-9]{2,}(?:, E[A-Z0-9]{2,})*(?: and so on)?(?:, as \w+\(\))?"
# Pages of other packages may be missing; the standard's headings are in the singular; the foot names the version.
OF_STYLE = re.compile("STYLE: (referenced manual not found|possible typo in section name|operating system explicitly)")
# What begins a part of a comment, at the begin of a line or behind a sentence.
PART = re.compile(rf"(?:^|(?<=[.:;)]  ))(@\w+(?:, @\w+)*|{NUMBERS}|Context|Cost|Unit|Returns|Errors)(?::| (?<=Returns )| (?<=Errors ))", re.M)
# What may follow a comment on types, or on a group of functions.
PUBLIC = re.compile(r"\s*(?:#(?:if|endif|else).*\s*)*(?:(?:struct posix_trace_\w+ \{|typedef |#define POSIX_TRACE_).*)?", re.S)


def read(*path):
    with open(os.path.join(ROOT, *path), encoding="utf-8") as file:
        return file.read()


# ---- Comments and declarations ----

class Doc:
    """A comment's parts."""

    def __init__(self, text, plain=False):
        self.plain = plain  # no parts: of types, or of a group of functions
        self.blocks, self.params, self.errors = [], {}, []  # blocks: ("text" or "code" or "list", ...)
        self.returns = self.errors_of = self.context = self.cost = self.unit = ""
        lines = [re.sub(r"^ \* ?", "", line.rstrip()) for line in text.strip("\n").split("\n")]
        lines = [line.strip() if number == 0 else line for number, line in enumerate(lines)]
        self.text = "\n".join(line for line in lines if line.strip() != "*")
        for paragraph in re.split(r"\n\s*\n", self.text):
            self.paragraph(paragraph.strip("\n").rstrip())

    def paragraph(self, text):
        if not text.strip():
            return
        if text.startswith("\t") or text.startswith("    "):
            self.blocks.append(("code", text.split("\n")))
            return
        # A tabulated display may follow its text without an empty line.
        lines = text.split("\n")
        tabbed = next((i for i, line in enumerate(lines) if line.startswith("\t")), None)
        if tabbed:
            self.paragraph("\n".join(lines[:tabbed]))
            self.paragraph("\n".join(lines[tabbed:]))
            return
        if re.match(r" *[\w*]+ {2,}\S", text) and (self.plain or not PART.match(text)):
            self.blocks.append(("list", list(self.definitions(lines))))
            return
        matches = [] if self.plain else list(PART.finditer(text))
        if not matches:
            self.blocks.append(("text", text))
            return
        lead = " ".join(text[:matches[0].start()].split())
        items = [(match[1], " ".join(text[match.end():after].split())) for match, after in
                 zip(matches, [other.start() for other in matches[1:]] + [len(text)])]
        if lead.endswith(":") and items and items[0][0][0] == "E":
            self.blocks += [("text", lead), ("list", items)]
            return
        if lead:
            self.blocks.append(("text", lead))
        for tag, body in items:
            if tag[0] == "@":
                for name in re.findall(r"\w+", tag):
                    self.params[name] = body
            elif tag == "Returns":
                self.returns = "" if re.match(r"0 or$", body) else "Returns " + body
            elif tag == "Errors":
                self.errors_of = "Errors " + body
            elif tag in ("Context", "Cost", "Unit"):
                setattr(self, tag.lower(), body)
            else:
                self.errors.append((tag, body))

    @staticmethod
    def definitions(lines):
        indent = len(lines[0]) - len(lines[0].lstrip())
        tag, body = None, []
        for line in lines:
            match = re.match(r" *([\w*]+) {2,}(\S.*)", line)
            if match and len(line) - len(line.lstrip()) == indent:
                if tag:
                    yield tag, " ".join(body)
                tag, body = match[1], [match[2]]
            else:
                body.append(line.strip())
        yield tag, " ".join(body)


class Function:
    """A function or a macro with arguments: name, type of result (None: macro), parameters, comment."""

    def __init__(self, name, result, params, doc, header):
        self.name, self.result, self.params, self.doc, self.header = name, result, params, doc, header
        self.before = []  # comments between the one before and it, with the types that follow them

    def parameter_names(self):
        names = []
        for text in self.params:
            match = re.search(r"\(\*(\w+)\)", text) or re.search(r"(\w+)(?:\[\d*\])?$", text)
            if match and text not in ("void", "...") and not re.fullmatch(r"\[.*\].*", text):
                names.append(match[1])
        return names


def balanced(text, at):
    """The end of the parentheses that open at @at."""
    depth = 0
    for end in range(at, len(text)):
        depth += {"(": 1, ")": -1}.get(text[end], 0)
        if depth == 0:
            return end
    return len(text)


def arguments(text):
    """Arguments between parentheses, each without private spellings."""
    pieces, depth, start = [], 0, 0
    for at, char in enumerate(text):
        depth += {"(": 1, "[": 1, ")": -1, "]": -1}.get(char, 0)
        if char == "," and depth == 0:
            pieces.append(text[start:at])
            start = at + 1
    pieces.append(text[start:])
    clean = []
    for piece in pieces:
        piece = re.sub(r"\b_(?!PXT)(\w+)", r"\1", " ".join(piece.split()))
        clean.append(re.sub(r"_PXT_RESTRICT ?", "restrict ", piece).replace("* restrict", "*restrict"))
    return [piece for piece in clean if piece]


class Header:
    """Functions, macros and other declarations of one header, each with the comment that is about it."""

    def __init__(self, name, common=None):
        self.name, self.text = name, read("include", name)
        comments = list(COMMENT.finditer(self.text))
        self.head = Doc(comments[1][1])
        self.common = common
        self.functions = {}
        spans = [(c[1], c.end(), after.start()) for c, after in zip(comments, comments[1:])]
        spans.append((comments[-1][1], comments[-1].end(), len(self.text)))
        self.comments = [comment for comment, _, _ in spans]
        self.empty = [self.declared(self.text[start:end]) for _, start, end in spans]
        if not common:
            self.common = self.for_all(next(c for c in self.comments if "What holds for all of them" in c))
        loose = []
        for number, (comment, start, end) in enumerate(spans):
            for name_, result, params in self.declared(self.text[start:end]):
                if name_ not in self.functions:
                    self.add(name_, result, params, number)
                    self.functions[name_].before, loose = loose, []
            if comment.startswith(" ----"):
                loose = []
            elif "\n" in comment and "Unit:" not in comment and comment is not self.comments[1] and \
                    "What holds for all" not in comment and not self.empty[number] and \
                    re.fullmatch(PUBLIC, self.text[start:end]):
                loose.append((comment, self.text[start:end]))
        self.structs = dict(re.findall(r"^struct (posix_trace_\w+) (\{.*?^\});", self.text, flags=re.S | re.M))

    @staticmethod
    def for_all(text):
        """The comment on all functions: words with a colon and their text, then common parameters."""
        doc = Doc(text)
        lead, *parts = re.split(r"^(\w+): +", doc.text.split("\n@", 1)[0], flags=re.M)
        items = [(word, " ".join(part.split())) for word, part in zip(parts[::2], parts[1::2])]
        doc.blocks = [("text", " ".join(lead.split())), ("list", items)]
        doc.context, doc.cost = dict(items)["Context"], ""
        return doc

    def add(self, name, result, params, number):
        """The comment right before it; where that is of something else, the last one that names it, or is alone."""
        mine = self.comments[number]
        if "Unit:" not in mine and "Unit:" not in self.comments[1]:
            naming = [c for c in self.comments[:number + 1] if re.search(rf"\b{name}\(", c) and "Unit:" in c]
            before = [c for c in self.comments[number - 1:number] if "Unit:" in c and not self.empty[number - 1]]
            mine = (before + naming[-1:] + [mine])[0]
        synopsis = re.search(rf"^ \*\t{name}\((.*)\);?$", mine, flags=re.M)
        if result is None and synopsis:
            params = arguments(synopsis[1])
        self.functions[name] = Function(name, result, params, Doc(mine), self)

    @staticmethod
    def declared(code):
        """(name, result, parameters) of what a piece of code declares, in its order."""
        found = []
        code = re.sub(r"__attribute__\(\((?:[^()]|\([^()]*\))*\)\)\s*", "", code)
        for match in re.finditer(r"^((?:static inline )?[a-z][\w ]*?[ *]+)\n?(posix_trace_\w+)\(", code, flags=re.M):
            if match[1].startswith(("typedef", "extern", "return")):
                continue
            end = balanced(code, match.end() - 1)
            result = match[1].replace("static inline", "").strip()
            found.append((match.start(), match[2], result, arguments(code[match.end():end])))
        for match in re.finditer(r"^#define ((?:posix_trace|POSIX_TRACE)_\w+)\(([^)]*)\)", code, flags=re.M):
            found.append((match.start(), match[1], None, arguments(match[2])))
        return [(name, result, params) for _, name, result, params in sorted(found)]

    def constants(self):
        """Names of public constants, types and structures."""
        names = re.findall(r"^#define (POSIX_TRACE_\w+|_POSIX_TRACE_\w+|TRACE_\w+)(?: |$)", self.text, flags=re.M)
        names += re.findall(r"^\} (\w+);|^typedef .*?(\w+);$", self.text, flags=re.M)
        return [name if isinstance(name, str) else name[0] or name[1] for name in names] + list(self.structs)


# ---- Pages of section 3 ----

class Group:
    """A page: its functions in the order of the header, and its example."""

    def __init__(self, names, title, example):
        self.names, self.title, self.example = names, title, example
        self.functions = []


def examples():
    """Groups that the head comments of examples name, and complaints."""
    groups = []
    folders = [os.path.join(ROOT, "examples", "**", "*.c"), os.path.join(ROOT, "boards", "kernel", "*.c")]
    for path in sorted(path for folder in folders for path in glob.glob(folder, recursive=True)):
        name = os.path.relpath(path, ROOT)
        head = re.search(r"/\*\n? \*? ?[\w./]+\.c - .*?\*/", read(name), re.S)
        text = re.sub(r"\n \* ?", "\n", head[0]) if head else ""
        for page in re.findall(r"^Page: (.*?)(?=\nPage:|\n\n|\n? ?\*?/|\Z)", text, flags=re.S | re.M):
            names, _, title = " ".join(page.split()).partition(" - ")
            groups.append(Group(names.split(", "), title.rstrip("."), name))
    return groups


class Manual:
    def __init__(self):
        self.headers = []
        for name in HEADERS:
            self.headers.append(Header(name, self.headers[0].common if self.headers else None))
        self.common = self.headers[0].common
        self.functions = {name: function for header in self.headers for name, function in header.functions.items()}
        self.complaints = []
        self.groups = self.grouped()
        # Tests and the index follow an alias to its page.
        self.page_of = {f.name: group for group in self.groups for f in group.functions}
        version = re.search(r"project\(ptrace VERSION ([\d.]+)", read("CMakeLists.txt"))[1]
        self.system = f"libptrace {version}"
        when = time.gmtime(int(os.environ.get("SOURCE_DATE_EPOCH", time.time())))
        self.date = time.strftime("%B ", when) + str(when.tm_mday) + time.strftime(", %Y", when)
        self.notes = self.remarks()

    def grouped(self):
        groups = examples()
        of = {}
        for group in groups:
            for name in group.names:
                if name not in self.functions:
                    self.complaints.append(f"{group.example}: {name} is no public function")
                elif name in of:
                    self.complaints.append(f"{group.example}: {name} has a page already, by {of[name].example}")
                else:
                    of[name] = group
        group = None
        for name, function in self.functions.items():
            group = of.get(name, group)
            group.functions.append(function)
        for group in groups:
            place = {name: at for at, name in enumerate(group.names)}
            group.functions.sort(key=lambda function: place.get(function.name, len(place)))
        return [group for group in groups if group.functions]

    @staticmethod
    def remarks():
        """What the papers say of departures, facts and extensions: items that name functions."""
        items = []
        for paper in ("docs/standard.md",):
            for item in re.findall(r"^- (.*?)(?=^- |^#|\Z)", read(paper), flags=re.S | re.M):
                names = set(re.findall(r"posix_trace_\w+", item))
                items.append((names, roff.unlinked(" ".join(item.split()))))
        return items

    # ---- What a function has: of its own, of its header, of all ----

    def part(self, function, name):
        own, head = getattr(function.doc, name), getattr(function.header.head, name)
        return own or head or getattr(self.common, name)

    def context(self, function, depth=0):
        text = self.part(function, "context")
        other = re.match(r"(?:as |Context and cost are those of )(posix_trace_\w+)", text)
        if other and depth < 3 and other[1] in self.functions:
            return self.context(self.functions[other[1]], depth + 1)
        return text

    def safety(self, function):
        """(thread, signal handler, interrupt) as the context says."""
        text = self.context(function).lower()
        anywhere = text.startswith("anywhere")
        def may(word):
            match = re.search(rf"(\bno[t]?\b[^,;.]*)?\b{word}", text)
            return anywhere or bool(match and not match[1])
        thread = anywhere or bool(re.search(r"thread|task|^also|^while|^as begin", text))
        return tuple("safe" if ok else "unsafe" for ok in (thread, may("signal handler"), may("interrupt")))

    def parameter(self, function, name, depth=0):
        """A parameter's text: its own, that of the function that the comment is "as", or a common one."""
        if name in function.doc.params:
            return function.doc.params[name]
        for other in re.findall(r"\b[Aa]s (?:of |for )?(posix_trace_\w+)\(\)", function.doc.text):
            for same in (name, name[:-1]):  # several of what the other one has one of
                if other in self.functions and other != function.name and depth < 3 and \
                        same in self.functions[other].parameter_names():
                    return self.parameter(self.functions[other], same, depth + 1)
        if "get" in function.name and re.search(rf"(?<!const )\b[\w ]+ \*(?:restrict )?{name}\b",
                                                next(p for p in function.params if p.endswith(name))) and \
                not next(p for p in function.params if p.endswith(name)).startswith("const") and name != "attr":
            return "where the value goes."
        text = function.header.head.params.get(name) or self.common.params.get(name)
        if not text and re.search(rf"@{name}\b", function.doc.text):
            text = "the texts above and below say what it is."
        return text

    def text(self, function):
        """A description's blocks; of what only gets what another one sets, that says it."""
        blocks = function.doc.blocks
        setter = function.name.replace("_get", "_set")
        if not blocks and setter != function.name and setter in self.functions:
            blocks = [("text", f"What {setter}() set.")]
        return blocks if any(kind == "text" for kind, _ in blocks) else []

    def check_columns(self):
        """What the pages are made of has lines of 100 columns at most; papers.py looks at papers."""
        for pattern in ("include/*.h*", "Kconfig*", "*/Kconfig*", "examples/*.c", "examples/manual/*.c", "docs/man/*"):
            for path in sorted(glob.glob(os.path.join(ROOT, pattern))):
                name = os.path.relpath(path, ROOT)
                for number, line in enumerate(read(name).split("\n"), 1):
                    if (columns := len(line.expandtabs(8))) > 100:
                        self.complaints.append(f"{name}:{number}: {columns} columns")

    def check(self):
        self.check_columns()
        for function in self.functions.values():
            where = f"include/{function.header.name}: {function.name}()"
            if not self.text(function) and not function.doc.returns:
                self.complaints.append(f"{where}: no text")
            for part in ("context", "cost", "unit"):
                if not self.part(function, part):
                    self.complaints.append(f"{where}: no {part.capitalize()}")
            if function.result == "int" and not function.doc.errors and not function.doc.returns and \
                    not function.doc.errors_of:
                self.complaints.append(f"{where}: neither errors nor what it returns")
            if function.result not in ("int", "void", None) and not re.search(r"[Rr]eturns", function.doc.text):
                self.complaints.append(f"{where}: not what it returns")
            for name in function.parameter_names():
                if not self.parameter(function, name):
                    self.complaints.append(f"{where}: @{name} is not described")
        for header in self.headers:
            shown = "\n".join(self.declarations(header))
            for name in header.constants():
                if not re.search(rf"\b{name}\b", shown):
                    self.complaints.append(f"include/{header.name}: {name} is on no page")

    # ---- Sections ----

    def description(self, group):
        lines, units = [".Sh DESCRIPTION"], self.units(group)
        for function in group.functions:
            for comment, code in function.before:
                if typedef := re.search(r"^typedef .*?;", code, re.S | re.M):
                    lines += roff.literal(re.sub(r"\b_(\w+)", r"\1", typedef[0]).split("\n"))
                lines += self.blocks(group, Doc(comment, plain=True).blocks)
        for functions in units:
            doc, names = functions[0].doc, [f.name for f in functions]
            if len(units) > 1:
                lines.append(".Ss " + ", ".join(names))
            lines += self.blocks(group, self.text(functions[0]) or doc.blocks)
            if doc.returns and not doc.blocks:
                lines += self.prose(group, doc.returns)
        for name, body in self.structures(group):
            lines += [".Ss struct " + name, *roff.literal([f"struct {name} " + body[0], *body[1:-1], "};"])]
        return lines

    def blocks(self, group, blocks):
        lines = []
        for kind, content in blocks:
            if kind == "text":
                lines += [".Pp", *self.prose(group, content)]
            elif kind == "code" and re.match(rf"\t({'|'.join(f.name for f in group.functions)})\(.*\)$", content[0]):
                continue  # the synopsis has it
            elif kind == "code":
                # Tabs of a comment's own indentation go.
                lines += roff.literal([re.sub(r"^\t|^    ", "", line) for line in content])
            else:
                lines += roff.tagged([(roff.fonts(f"**{tag}**"), self.prose(group, body)) for tag, body in content])
        return lines

    def prose(self, group, text):
        return roff.prose(text, own=[f.name for f in group.functions], known=self.page_of)

    @staticmethod
    def units(group):
        """Functions of one comment together."""
        units = []
        for function in group.functions:
            if units and units[-1][0].doc.text == function.doc.text:
                units[-1].append(function)
            else:
                units.append([function])
        return units

    def structures(self, group):
        """Structures with public members that the functions take."""
        used = set(re.findall(r"struct (posix_trace_\w+)", " ".join(
            [p for f in group.functions for p in f.params] + [code for f in group.functions for _, code in f.before])))
        for header in self.headers:
            for name, body in header.structs.items():
                public = [line for line in body.split("\n") if "_pxt_" not in line]
                if name in used and len(public) > 2:
                    used.discard(name)
                    yield name, public

    def synopsis(self, group):
        headers = sorted({f.header.name for f in group.functions}, key=HEADERS.index)
        if "trace_points_np.h" in headers:
            headers = ["trace_np.h"]
        lines = [".Sh LIBRARY", *self.library(group), ".Sh SYNOPSIS", *(f".In {name}" for name in headers)]
        for function in group.functions:
            if function.result is None:
                lines += [".Fo " + function.name]
            else:
                lines += [f".Ft {function.result}", f".Fo {function.name}"]
            lines += ['.Fa "{}"'.format(roff.escape(param).replace('"', "\\(dq")) for param in function.params] + [".Fc"]
        return lines

    def library(self, group):
        units = {unit for f in group.functions for unit in re.split(r", (?=[A-Z])", self.part(f, "unit").rstrip("."))}
        units = sorted(units - {"any"} if len(units) > 1 else units)
        text = "Link with the flags that `pkg-config --libs libptrace` prints (`-lptrace`"
        if any("Retrieval" in unit or unit == "any" for unit in units):
            text += ", or `-lptrace-retrieval` to read logs alone"
        return [*roff.prose(f"Unit: {', '.join(units)}."), *roff.prose(text + ").")]

    def parameters(self, group):
        found = {}
        for function in group.functions:
            for name in function.parameter_names():
                text = self.parameter(function, name)
                if text:
                    found.setdefault(name, {}).setdefault(text, []).append(function.name)
        if not found:
            return []
        pairs = []
        for name, texts in found.items():
            body = []
            for text, names in texts.items():
                body += [".Pp"] if body else []
                body += self.prose(group, (self.of(names) + ": " if len(texts) > 1 else "") + text[0].upper() + text[1:]
                                   if not text.startswith("POSIX") or len(texts) > 1 else text)
            pairs.append((f"Fa {name}", body))
        return [".Sh PARAMETERS", *roff.tagged(pairs)]

    @staticmethod
    def of(names):
        return ", ".join(name + "()" for name in names[:-1]) + (" and " if len(names) > 1 else "") + names[-1] + "()"

    def returns(self, group):
        lines, told = [".Sh RETURN VALUE"], {}
        for function in group.functions:
            text = function.doc.returns
            if function.result == "int" and (not text or text.startswith("Returns 0")):
                told.setdefault(self.result, []).append(function.name)
                if text:
                    told.setdefault("Returns " + text[8:], []).append(function.name)
            elif function.result == "void" and not text:
                told.setdefault("Returns nothing.", []).append(function.name)
            elif function.result is None and not text:
                told.setdefault("A macro; the description says whether it has a value.", []).append(function.name)
            else:
                told.setdefault(text or "The description says what is returned.", []).append(function.name)
        for text, names in told.items():
            lines += [".Pp", *self.prose(group, (self.of(names) + ": " if len(told) > 1 else "") + text)]
        return lines

    @property
    def result(self):
        return ("Returns 0, or an error number. "
                "`errno` is not used and keeps its value. On an error nothing is stored where results go.")

    def errors(self, group):
        found, lines = {}, [".Sh ERRORS"]
        for function in group.functions:
            for tag, text in function.doc.errors:
                tag, _, same = tag.partition(", as ")
                text = f"as {same}: {text}" if same else text
                for number in [tag] if "so on" in tag else tag.split(", "):
                    found.setdefault(number, {}).setdefault(text, []).append(function.name)
        for functions in self.units(group):
            if other := functions[0].doc.errors_of:
                if len(self.units(group)) > 1:
                    other = f"{self.of([f.name for f in functions])}: e{other[1:]}"
                lines += [".Pp", *self.prose(group, other)]
        if not found:
            return lines + (self.prose(group, "None.") if len(lines) == 1 else [])
        pairs = []
        for number, texts in found.items():
            body = []
            for text, names in texts.items():
                body += [".Pp"] if body else []
                everybody = len(names) == len([f for f in group.functions if f.result == "int"])
                body += self.prose(group, text if everybody and len(texts) == 1 else f"{self.of(names)}: {text}")
            tag = " , ".join("Er " + name for name in re.findall(r"E[A-Z0-9]{2,}", number))
            pairs.append((f"Bq {tag}" + (" No and so on" if "so on" in number else ""), body))
        if any("invalid" in text for texts in found.values() for text in texts):
            lines += self.prose(group, self.invalid)
        return [*lines, *roff.tagged(pairs, "Er")]

    @property
    def invalid(self):
        return "An argument is invalid if it is NULL, an attributes object that was not initialised, or a value " \
               "that does not exist. A library that was configured without argument checks does not find these."

    def attributes(self, group):
        lines, same = [".Sh ATTRIBUTES"], {}
        for functions in self.units(group):
            costs = same.setdefault(self.safety(functions[0]), {})
            costs.setdefault(self.part(functions[0], "cost").rstrip("."), []).extend(f.name for f in functions)
        for safety, costs in same.items():
            if len(same) > 1:
                lines += [".Pp", *self.prose(group, self.of([name for names in costs.values() for name in names]) + ":")]
            rows = [["Attribute", "Value"], *zip(("thread", "signal handler", "interrupt"), safety),
                    ["cancellation", "no cancellation point"]]
            if len(costs) == 1:
                rows.append(["cost", *costs])
            lines += [".Pp", *roff.table(rows)]
            if len(costs) > 1:
                lines += [".Pp", "Cost:", *roff.tagged([(" , ".join(f"Fn {name}" for name in names), self.prose(group, cost))
                                                        for cost, names in costs.items()])]
        contexts = {}
        for function in group.functions:
            contexts.setdefault(self.context(function), []).append(function.name)
        for text, names in contexts.items():
            if len(text) > 60 or len(contexts) > 1 and text != self.common.context:
                lines += [".Pp", *self.prose(group, ("Context" + (f" of {self.of(names)}" if len(contexts) > 1 else "")) +
                                             ": " + text)]
        return lines

    def remarks_of(self, group):
        own = {f.name for f in group.functions}
        items = [text for names, text in self.notes if names & own]
        if not items:
            return []
        lines = [".Sh NOTES"]
        for text in items:
            lines += [".Pp", *self.prose(group, re.sub(r"`(posix_trace_\w+)`", r"\1()", text))]
        return lines

    @staticmethod
    def example(group):
        text = read(group.example)
        lines = text.split("\n")
        head = COMMENT.search(text, text.index("*/") + 2) if text.startswith("/* SPDX") else None
        about = re.sub(r"\n \* ?", "\n", head[1]) if head else ""
        printed = re.search(r"^Prints:\n((?:\t.*\n?|\n)*)", about, flags=re.M)
        body = text[head.end():].strip("\n").split("\n") if head else lines
        told = " ".join(re.sub(r"^\s*\*?\s*[\w.]+\.c - ", "", about.strip().split("\n\n")[0]).split())
        told = re.sub(r" ?Page: .*", "", told)
        out = [".Sh EXAMPLE", *roff.prose(f"The program `{group.example}`: {told}"), *roff.literal(body)]
        if printed:
            out += ["It prints:", *roff.literal([line[1:] for line in printed[1].rstrip("\n").split("\n")])]
        return out

    def see_also(self, group):
        own = {f.name for f in group.functions}
        text = " ".join(f.doc.text for f in group.functions)
        pages = {self.page_of[name].functions_name for name in re.findall(r"\b(?:posix_trace|POSIX_TRACE)_\w+", text)
                 if name in self.page_of and name not in own} - {group.functions_name}
        pages |= {self.page_of[name].functions_name for names, text in self.notes if names & own for name in names
                  if name in self.page_of and name not in own}
        pages |= {g.functions_name for g in self.groups if g.example == group.example} - {group.functions_name}
        pages = {(name, 3) for name in pages} | {("libptrace", 7)}
        for command in re.findall(r"`pxtrace (\w+)", text):
            if f"pxtrace-{command}" in commands():
                pages.add((f"pxtrace-{command}", 1))
        if re.search(r"\blog\b", text):
            pages.add(("ptl", 5))
        if re.search(r"[Ss]ystem event", text):
            pages.add(("libptrace-events", 7))
        if "CONFIG_PTRACE" in text:
            pages.add(("libptrace-kconfig", 7))
        ordered = sorted(pages, key=lambda entry: (entry[1], entry[0].lower()))
        return [".Sh SEE ALSO"] + [f".Xr {name} {section}" + (" ," if (name, section) != ordered[-1] else "")
                                   for name, section in ordered]

    @staticmethod
    def standards(group):
        own = [f.name for f in group.functions]
        ours = [name for name in own if name.lower().endswith("_np")]
        text = []
        if len(ours) < len(own):
            text += [".St -p1003.1-2008 ,", "options Trace, Trace Event Filter, Trace Log and Trace Inherit.",
                     "Later editions have no tracing."]
        if ours:
            text.append("Names that end in _np or _NP are extensions of libptrace.")
        return [".Sh STANDARDS", *text]

    def page(self, group):
        body = [*self.synopsis(group), *self.description(group), *self.parameters(group), *self.returns(group),
                *self.errors(group), *self.attributes(group), *self.remarks_of(group), *self.example(group),
                *self.see_also(group), *self.standards(group)]
        names = [group.functions_name, *(f.name for f in group.functions if f.name != group.functions_name)]
        return roff.page(names, 3, group.title, body, self.date, self.system)

    # ---- A page for each header ----

    @staticmethod
    def declarations(header):
        """Constants, types and structures of a header, with their comments, without what is private."""
        text = re.sub(r"\\\n", " ", header.text)
        lines, out, inside, comment, block = text.split("\n"), [], None, [], None
        for line in lines:
            if block is not None:
                block.append(line)
                if line.endswith("*/"):
                    comment, block = ["", *block], None
            elif line == "/*":
                block = [line]
            elif inside is not None:
                inside.append(line)
                if line.startswith("}"):
                    public = [one for one in inside if "_pxt_" not in one or one.startswith("}")]
                    shown = public if len(public) > 2 else [inside[0].rstrip(" {") + " { /* private */ " + line]
                    out += [*comment, *shown, ""]
                    inside, comment = None, []
            elif re.match(r"(typedef struct|struct (?!_pxt)\w+|typedef union) \{|struct posix_trace_\w+ \{", line):
                inside = [line]
            elif re.match(r"typedef (?!char).*;", line):
                out += [*comment, re.sub(r"\b_(\w+)", r"\1", line), ""]
                comment = []
            elif re.match(r"#define (POSIX_TRACE|_POSIX_TRACE|TRACE)_\w+ ", line):
                value = re.sub(r"\s*/\*.*", "", line)
                note = line[len(value):].strip()
                private = re.search(r"_PXT_\w+", value)
                shown = re.sub(r"\s+_PXT_\w+$", "", value) + ("    /* by configuration */" if private else "")
                out += [*comment, " ".join(shown.split()) + (f"  {note}" if note else "")]
                comment = []
            elif re.match(r"/\* .*\*/$", line) and "SPDX" not in line:
                comment = ["", line] if not line.startswith("/* ----") else []
            elif line.strip() and not line.startswith((" *", "/*", "#ifndef", "#endif", "#if ", "#else", "\t")):
                comment = []
        return [line for at, line in enumerate(out) if line or at and out[at - 1]]

    def header_page(self, header):
        blocks = []
        for kind, content in header.head.blocks:
            if kind == "text":
                content = re.sub(r"^[\w.]+ - ", "", content)
                content = content[0].upper() + content[1:]
            blocks.append((kind, content))
        group = Group([header.name], "", "")
        names = sorted({g.functions_name for g in self.groups for f in g.functions if f.header is header},
                       key=str.lower)
        body = [".Sh SYNOPSIS", f".In {header.name}", ".Sh DESCRIPTION", *self.blocks(group, blocks)]
        if header is self.headers[0]:
            body += [".Sh ALL FUNCTIONS", *self.blocks(group, self.common.blocks)]
        body += [".Sh CONSTANTS AND TYPES", *roff.literal(self.declarations(header)), ".Sh SEE ALSO"]
        body += [f".Xr {name} 3 ," for name in names] + [".Xr libptrace 7"]
        about = {"trace.h": "POSIX tracing", "trace_np.h": "POSIX tracing beyond the standard",
                 "trace_points_np.h": "typed trace points of one line", "trace_hooks_np.h": "system events and their hooks"}
        return roff.page(header.name, 3, about[header.name] + ": constants and types", body, self.date, self.system)

    # ---- Sections 5 and 7 ----

    def paper(self, name, section, title, text, see=(), level=2):
        known = self.page_of
        body = [".Sh DESCRIPTION", *roff.Markdown(known=known, level=level).convert(text), ".Sh SEE ALSO"]
        body += [f".Xr {other} {number}" + (" ," if (other, number) != see[-1] else "") for other, number in see]
        return roff.page(name, section, title, body, self.date, self.system)

    def papers(self):
        """(section, name, page) of what is made from papers and Kconfig."""
        def beginning(paper):
            return read(paper).split("\n", 1)[1]

        see = [("pxtrace", 1), ("posix_trace_create", 3), ("posix_trace_event", 3), ("trace.h", 3), ("ptl", 5),
               ("libptrace-events", 7), ("libptrace-kconfig", 7), ("libptrace-security", 7)]
        overview = beginning("docs/overview.md") + "\n## The standard\n" + beginning("docs/standard.md")
        yield 7, "libptrace", self.paper("libptrace", 7, "POSIX tracing: streams, policies, order, loss, real time",
                                         overview, see)
        format_ = beginning("FORMAT.md")
        yield 5, "ptl", self.paper("ptl", 5, "the log of a trace, byte for byte", format_,
                                   [("pxtrace", 1), ("posix_trace_open", 3), ("libptrace", 7)])
        yield 7, "libptrace-security", self.paper("libptrace-security", 7, "threats, and what is promised against them",
                                                  beginning("SECURITY.md"), [("libptrace", 7)])
        yield 7, "libptrace-kconfig", self.paper("libptrace-kconfig", 7, "the configuration, symbol by symbol",
                                                 self.kconfig(), [("libptrace", 7), ("libptrace-events", 7)])
        data = re.search(r"^\*\*Event types\*\*.*?(?=^## 6)", format_, flags=re.S | re.M)[0]
        data = re.sub(r"^###? [\d.]+ ", "## ", data, flags=re.M)
        events = ("What a stream, the C library's wrappers, a board or a program records as system events. "
                  "`pxtrace print` shows their fields by name.\n\n## Numbers and data\n\n" + data +
                  "\n## Symbols of the configuration\n\n" + self.kconfig(only="SYSEV_"))
        yield 7, "libptrace-events", self.paper("libptrace-events", 7, "system events and their data", events,
                                                [("pxtrace-run", 1), ("posix_trace_system_event_np", 3), ("ptl", 5),
                                                 ("libptrace", 7)])

    @staticmethod
    def kconfig(only=""):
        import kconfiglib
        from kconfiglib import BOOL, COMMENT as REMARK, MENU
        os.environ["srctree"] = ROOT
        kconf = kconfiglib.Kconfig(os.path.join(ROOT, "Kconfig"), warn=False)
        lines = [] if only else [
            "A build takes a profile (`-DPTRACE_DEFCONFIG=configs/minimal_defconfig`), a `.config`, and single symbols "
            "(`-DCONFIG_PTRACE_FILTER=n`); the later one wins. `cmake --build build --target menuconfig` shows them as "
            "menus. A value that cannot take effect stops the configuration with the reason. Names below are without "
            "`CONFIG_`.", ""]

        def walk(node):
            while node:
                item = node.item
                if item in (MENU, REMARK) and node.prompt and not only:
                    lines.extend(["", "## " + re.sub(r" \(.*", "", node.prompt[0]), ""])
                elif isinstance(item, kconfiglib.Symbol) and node.help and only in item.name:
                    kind = {BOOL: "yes or no"}.get(item.type, kconfiglib.TYPE_TO_STR[item.type])
                    facts = [kind]
                    default = next((value for value, condition in node.defaults), None)
                    if default is not None:
                        facts.append("default " + kconfiglib.expr_str(default).replace('"', ""))
                    for low, high, _ in node.ranges[:1]:
                        facts.append(f"{kconfiglib.expr_str(low)} to {kconfiglib.expr_str(high)}")
                    if node.dep is not kconf.y:
                        facts.append("needs " + kconfiglib.expr_str(node.dep).replace("PTRACE_", ""))
                    prompt = f" {node.prompt[0]}." if node.prompt else " (chosen by others)."
                    lines.extend(["", f"### {item.name}", "", f"**{prompt.strip()}** ({'; '.join(facts)})", "",
                                  " ".join(node.help.split())])
                if node.list:
                    walk(node.list)
                node = node.next

        walk(kconf.top_node.list)
        return "\n".join(lines) + "\n"

    # ---- All of it ----

    def pages(self):
        """(section, name, text) of each file, aliases included."""
        for group in self.groups:
            main = group.functions_name
            yield 3, main, self.page(group)
            for function in group.functions:
                if function.name != main:
                    yield 3, function.name, f".so man3/{main}.3\n"
        for header in self.headers:
            yield 3, header.name, self.header_page(header)
        yield from self.papers()


def name_of(group):
    present = [f.name for f in group.functions]
    return group.names[0] if group.names[0] in present else present[0]


Group.functions_name = property(name_of)


def write(out, manual):
    for section in (3, 5, 7):
        shutil.rmtree(os.path.join(out, f"man{section}"), ignore_errors=True)
        os.makedirs(os.path.join(out, f"man{section}"))
    count = 0
    for section, name, text in manual.pages():
        with open(os.path.join(out, f"man{section}", f"{name}.{section}"), "w", encoding="utf-8") as file:
            file.write(text)
        count += 1
    return count


def commands():
    """Names of pages of docs/man, and the file that each is in: a page may be of several commands."""
    return {name: source for source in sorted(glob.glob(os.path.join(ROOT, "docs/man/*.1.scd")))
            for name in re.search(r"^# NAME\n\n(.*?) - ", read(os.path.relpath(source, ROOT)), re.M)[1].split(", ")}


def scdoc(source):
    with open(source, encoding="utf-8") as file:
        return roff.quiet(subprocess.run(["scdoc"], stdin=file, stdout=subprocess.PIPE, text=True, check=True).stdout)


def lint(out):
    """What mandoc says of the pages, those of docs/man among them; None: mandoc or scdoc is missing."""
    if not shutil.which("mandoc") or not shutil.which("scdoc"):
        return None
    os.makedirs(os.path.join(out, "man1"), exist_ok=True)
    for source in glob.glob(os.path.join(ROOT, "docs/man/*.scd")):
        name = os.path.basename(source)[:-4]
        with open(os.path.join(out, f"man{name[-1]}", name), "w", encoding="utf-8") as file:
            file.write(scdoc(source))
    # An alias is one request, .so, which mandoc advises against: a link would say where the manual lies.
    pages = [path for path in sorted(glob.glob(os.path.join(out, "man[1357]", "*"))) if os.path.getsize(path) > 100]
    done = subprocess.run(["mandoc", "-T", "lint", *pages], stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, check=False)
    return [line for line in done.stdout.split("\n") if line.strip() and not OF_STYLE.search(line)]


def run_examples(programs):
    """Each example that says what it prints does print that."""
    findings, count = [], 0
    for path in sorted(glob.glob(os.path.join(ROOT, "examples/manual/*.c"))):
        head = re.sub(r"\n \* ?", "\n", read(os.path.relpath(path, ROOT)))
        printed = re.search(r"^Prints:\n((?:\t.*\n?|\n)*)", head, flags=re.M)
        name = os.path.basename(path)[:-2]
        program = os.path.join(programs, name)
        if not printed or not os.path.exists(program):
            findings.append(f"{name}: " + ("not built" if printed else "does not say what it prints"))
            continue
        done = subprocess.run([program], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False,
                              cwd=programs)
        wanted = "\n".join(line[1:] for line in printed[1].rstrip("\n").split("\n")) + "\n"
        count += 1
        if done.returncode or done.stdout != wanted:
            findings.append(f"{name}: exit status {done.returncode}, prints\n{done.stdout}wanted is\n{wanted}")
    print(f"{count} examples ran")
    return findings


def main():
    words = [word for word in sys.argv[1:] if not word.startswith("--")]
    if "--scdoc" in sys.argv:
        page = scdoc(words[0])
        with open(words[1], "w", encoding="utf-8") as file:
            file.write(page)
        return 0
    if "--run" in sys.argv:
        findings = run_examples(os.path.abspath(words[0]))
        print("\n".join(findings))
        return 1 if findings else 0
    manual = Manual()
    count = write(words[0], manual)
    if "--check" not in sys.argv:
        return 0
    manual.check()
    said = lint(words[0])
    findings = manual.complaints + (said or [])
    print("\n".join([*findings, f"{count} pages, {len(manual.functions)} functions, {len(findings)} findings"]))
    if said is None:
        print("mandoc or scdoc not found (Debian: mandoc, scdoc): the form of the pages was not checked")
    return 1 if findings else 77 if said is None else 0


if __name__ == "__main__":
    sys.exit(main())
