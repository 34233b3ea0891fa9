# SPDX-License-Identifier: MIT
"""Text of comments and of Markdown as mdoc(7): what scripts/manual.py and scripts/site.py share."""
import re
import textwrap

# One sentence a line, as mdoc has it.
SENTENCE = re.compile(r"(?<=[a-z0-9)\"'>`A-Z*][.?!]) +(?=[A-Z0-9@\"`(*\[])")
CALL = re.compile(r"(?:(?<=\s)|^)(?P<open>\()?(?P<name>(?:posix_trace|POSIX_TRACE)_\w+)\(\)(?(open)\))"
                  r"(?P<end>[.,:;]?)(?=\s|$)")
CODE = re.compile(r"`([^`]+)`")
# Columns of a terminal's line that a table's cells may have together.
COLUMNS = 66


def escape(text):
    """Characters that roff would take for its own; a hyphen before a word or number is a minus."""
    text = text.replace("\\", "\\e")
    return re.sub(r"(?<![\w/])-(?=[\w-])", r"\\-", text)


def guard(line):
    return "\\&" + line if line[:1] in (".", "'") else line


def unlinked(text):
    """Links as text; a paper of ours by its place."""
    text = re.sub(r"\[([\w.]+)\]\((\w+\.md)\)", r"docs/\2", text)
    return re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", text)


def literal(lines):
    """A display that keeps its lines."""
    body = [guard(line.expandtabs(8).rstrip().replace("\\", "\\e").replace("-", "\\-").replace("'", "\\(aq"))
            for line in lines]
    return [".Bd -literal -offset indent", *body, ".Ed"]


def fonts(text):
    """Words of one line: `code`, **bold**, @parameter, calls of functions."""
    kept = []

    def keep(font, word):
        word = escape(word).replace("-", "\\-").replace("\\\\", "\\").replace("()", "\\&()")
        kept.append(f"\\f{font}{word}\\fP")
        return f"\0{len(kept) - 1}\0"

    text = CODE.sub(lambda match: keep("B", match[1]), text)
    text = re.sub(r"\*\*(.+?)\*\*", lambda match: keep("B", match[1]), text)
    text = re.sub(r"(?<![\w*])\*(\w[^*]*?)\*(?!\w)", lambda match: keep("I", match[1]), text)
    text = re.sub(r"(?<![\w@])@(\w+)", lambda match: keep("I", match[1]), text)
    text = re.sub(r"\b([A-Za-z_]\w*)\(\)", lambda match: keep("B", match[1]) + "()", text)
    text = escape(text)
    while "\0" in text:  # bold around code has both
        text = re.sub(r"\0(\d+)\0", lambda match: kept[int(match[1])], text)
    return text


def prose(text, own=(), known=()):
    """Lines of mdoc for a run of sentences.  @own: names of this page; @known: names that have one."""
    lines = []
    for sentence in SENTENCE.split(" ".join(text.split())):
        at = 0
        for match in CALL.finditer(sentence):
            if match["name"] not in known and match["name"] not in own:
                continue
            if before := sentence[at:match.start()].strip():
                lines.append(guard(fonts(before)))
            macro = f"Fn {match['name']}" if match["name"] in own else f"Xr {match['name']} 3"
            lines.append(f".{'Pq ' if match['open'] else ''}{macro} {match['end']}".rstrip())
            at = match.end()
        if rest := sentence[at:].strip():
            lines.append(guard(fonts(rest)))
    return lines


def broken(lines, width=80):
    """ASCII in lines of text that are as long as they may be; displays, tables and requests keep theirs."""
    literal = False
    for line in lines:
        line = re.sub(r"[^\x00-\x7f]", lambda match: f"\\[u{ord(match[0]):04X}]", line)
        literal = line.startswith((".Bd -literal", ".nf", ".TS")) or \
            literal and not line.startswith((".Ed", ".fi", ".TE"))
        while len(line) > width and not literal and not line.startswith((".", "'")):
            at = line.rfind(" ", 0, width)
            if at < 0:
                break
            yield line[:at]
            line = guard(line[at + 1:])
        yield line


def quiet(text):
    """A page by scdoc(1) without what mandoc(1) warns of: paragraphs that are empty, a title in small letters."""
    lines = text.rstrip("\n").split("\n")
    kept, space = [], False
    for number, line in enumerate(lines):
        after = lines[number + 1] if number + 1 < len(lines) else ".SH"
        if line == ".P" and after.startswith("."):
            # An indented block gets its space; what ends one has it behind the end.
            if after.startswith(".RS") and not kept[-1].startswith(".SH"):
                kept.append(".sp")
            space = after == ".RE"
        elif line == ".P" and kept[-1].startswith((".SH", ".SS")):
            continue
        elif line == ".RE":
            kept.append(line)
        else:
            if space and not line.startswith("."):
                kept.append(".P")
            space = False
            kept.append(re.sub(r'^\.TH "([^"]*)"', lambda match: f'.TH "{match[1].upper()}"', line))
    return "\n".join(broken(kept)) + "\n"


def tagged(pairs, width="Ds"):
    """A list of tags and lines."""
    lines = [f".Bl -tag -width {width}"]
    for tag, body in pairs:
        lines += [f".It {tag}", *body]
    return [*lines, ".El"]


def table(rows, header=True):
    """A table whose widest columns wrap: cells are Markdown of one line."""
    count = max(len(row) for row in rows)
    if count > 6 and not any(rows[0]):  # a list in columns; a terminal has room for four
        cells = [cell for row in rows[1:] for cell in row]
        count, rows = 4, [rows[0][:4], *(cells[at:at + 4] for at in range(0, len(cells), 4))]
    rows = [[*row, *[""] * (count - len(row))] for row in rows]
    plain = [[re.sub(r"[`*]", "", cell) for cell in row] for row in rows]
    widths = [max(len(row[column]) for row in plain) for column in range(count)]
    wraps = set()
    while sum(widths) + 3 * count > COLUMNS and len(wraps) < count:
        widest = max((c for c in range(count) if c not in wraps), key=lambda c: widths[c])
        wraps.add(widest)
        widths[widest] = min(widths[widest], 16)
    if wraps:
        # What narrow columns leave is shared by what the others' cells have to say.
        room = COLUMNS - 3 * count - sum(widths[c] for c in range(count) if c not in wraps)
        need = {c: sum(len(row[c]) for row in plain) + 1 for c in wraps}
        for c in wraps:
            longest = max((len(word) for row in plain for word in row[c].split()), default=1)
            widths[c] = max(min(longest, 16), 6, room * need[c] // sum(need.values()))
        while sum(widths) + 3 * count > COLUMNS + 6:
            widths[max(wraps, key=lambda c: widths[c])] -= 1
    forms = [f"lw({widths[c]}n)" if c in wraps else "l" for c in range(count)]
    lines = [".TS", "nokeep tab(\t);"]
    has_header = header and any(cell.strip() for cell in rows[0])
    if has_header:
        lines.append(" ".join("lB" if c not in wraps else f"lBw({widths[c]}n)" for c in range(count)))
    lines.append(" ".join(forms) + ".")
    for row in rows if has_header or not header else rows[1:]:
        cells = []
        for c, cell in enumerate(row):
            text = guard(fonts(cell.strip()))
            cells.append(f"T{{\n{text}\nT}}" if c in wraps and text else text)
        lines.append("\t".join(cells))
    return [*lines, ".TE"]


class Markdown:
    """The Markdown of this tree's papers as mdoc: headings, paragraphs, lists, tables, blocks of code."""

    def __init__(self, own=(), known=(), level=2):
        self.own, self.known, self.level = own, known, level

    def heading(self, line):
        marks, text = line.split(" ", 1)
        text = re.sub(r"`", "", re.sub(r"^[\d.]+ ", "", text))
        depth = len(marks) - self.level
        if depth < 0:
            return []
        return [f".Sh {escape(text).upper()}" if depth == 0 else f".Ss {escape(text)}"]

    @staticmethod
    def cells(line):
        return [cell.strip().replace("\\|", "|") for cell in line.strip().strip("|").split("|")]

    def convert(self, text):
        text = re.sub(r"<!--.*?-->\n?", "", text, flags=re.S)
        text = re.sub(r"!\[[^\]]*\]\([^)]*\)", "", text)
        # A function's name in backquotes is a call of it.
        text = re.sub(r"`((?:posix_trace|POSIX_TRACE)_\w+)(?:\(\))?`",
                      lambda match: match[1] + "()" if match[1] in self.known else match[0], unlinked(text))
        return tidy(self.blocks(text.split("\n")))

    def blocks(self, lines):
        out, at = [], 0
        while at < len(lines):
            line = lines[at]
            if not line.strip():
                at += 1
            elif line.startswith("```"):
                end = next(i for i in range(at + 1, len(lines)) if lines[i].startswith("```"))
                out += literal(lines[at + 1:end])
                at = end + 1
            elif re.match(r"#+ ", line):
                out += self.heading(line)
                at += 1
            elif line.lstrip().startswith("|"):
                end = at
                while end < len(lines) and lines[end].lstrip().startswith("|"):
                    end += 1
                rows = [self.cells(row) for row in lines[at:end] if not re.fullmatch(r"[\s|:-]+", row) or
                        not re.search("-", row)]
                out += [".Pp", *table(rows)]
                at = end
            elif item := re.match(r"(\s*)([-*]|\d+\.) +", line):
                end, items = at, []
                while end < len(lines) and (other := re.match(r"(\s*)([-*]|\d+\.) +", lines[end])):
                    stop = end + 1
                    while stop < len(lines) and (lines[stop].startswith(" " * len(other[0])) or
                                                 lines[stop].startswith("  ") or
                                                 (not lines[stop].strip() and stop + 1 < len(lines) and
                                                  lines[stop + 1].startswith("   "))):
                        stop += 1
                    body = [lines[end][other.end():], *(textwrap.dedent("\n".join(lines[end + 1:stop])).split("\n"))]
                    items.append((other[2], self.blocks(body)))
                    end = stop
                    while end + 1 < len(lines) and not lines[end].strip() and \
                            re.match(r"(\s*)([-*]|\d+\.) +", lines[end + 1]):
                        end += 1
                # Numbers go on where a table was between them, which -enum would not know.
                counted = item[2][0].isdigit()
                out.append(".Bl -tag -width 4n" if counted else ".Bl -bullet")
                for number, body in items:
                    out += [f".It {number}" if counted else ".It", *(body[1:] if body[:1] == [".Pp"] else body)]
                out.append(".El")
                at = end
            else:
                end = at
                while end < len(lines) and lines[end].strip() and not lines[end].startswith(("```", "#")) and \
                        not lines[end].lstrip().startswith("|") and not (end > at and re.match(r"\s*([-*]|\d+\.) +", lines[end])):
                    end += 1
                out += [".Pp", *prose(" ".join(lines[at:end]), self.own, self.known)]
                at = end
        return out


def tidy(lines):
    """Without paragraphs' marks where a heading, list or display has one of its own."""
    out = []
    for number, line in enumerate(lines):
        after = lines[number + 1] if number + 1 < len(lines) else ".Sh"
        if line == ".Pp" and (not out or out[-1].startswith((".Sh", ".Ss", ".It", ".Pp")) or
                              after.startswith((".Sh", ".Ss", ".Bl", ".Bd", ".El", ".Pp"))):
            continue
        out.append(line)
    return out


def page(name, section, title, body, date, system):
    """A whole page; the first line has man(1) call tbl(1)."""
    names = name if isinstance(name, list) else [name]
    lines = ["'\\\" t", ".\\\" SPDX-License-Identifier: MIT", f".Dd {date}", f".Dt {names[0].upper()} {section}", f".Os {system}", ".nh",
             ".Sh NAME"]
    lines += [f".Nm {one}" + (" ," if one != names[-1] else "") for one in names]
    lines.append(f".Nd {fonts(title)}")
    return "\n".join(broken([*lines, *tidy(body)])) + "\n"
