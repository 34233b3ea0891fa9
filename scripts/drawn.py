# SPDX-License-Identifier: MIT
"""Small mistakes, drawn from C sources by their tokens: what scripts/drawn-mutants.py tries.

A mutant's name is "file function kind ordinal": the ordinal counts the places of that kind in that
function, so that an edit elsewhere renames nothing.
"""
import dataclasses
import hashlib
import re

TOKEN = re.compile(
    r"""(?P<skip>/\*.*?\*/|//[^\n]*|^[ \t]*\#(?:[^\n\\]|\\.)*)
      |(?P<text>"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*')
      |(?P<number>(?:0[xX][0-9a-fA-F]+|[0-9]+)[uUlL]*(?![\w.]))
      |(?P<word>[A-Za-z_]\w*)
      |(?P<sign><<=|>>=|\.\.\.|->|\+\+|--|<<|>>|<=|>=|==|!=|&&|\|\||[-+*/%&|^]=|[^\s\w])""",
    re.X | re.M | re.S)

RELATIONS = {"<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "=="}
LOGIC = {"&&": "||", "||": "&&"}
SUMS = {"+": "-", "-": "+", "*": "/", "/": "*", "<<": ">>", ">>": "<<", "&": "|", "|": "&", "%": "/"}
STEPS = {"+=": "-=", "-=": "+=", "|=": "=", "&=": "=", "++": "--", "--": "++"}
ORDERS = {"memory_order_acquire", "memory_order_release", "memory_order_acq_rel", "memory_order_seq_cst",
          "__ATOMIC_ACQUIRE", "__ATOMIC_RELEASE", "__ATOMIC_ACQ_REL", "__ATOMIC_SEQ_CST"}
# No statement of these is a call or an assignment.
KEYWORDS = {"return", "if", "else", "for", "while", "do", "switch", "case", "default", "break",
            "continue", "goto", "const", "struct", "static", "union", "enum", "unsigned", "signed",
            "volatile", "register", "_Atomic", "_Static_assert", "PXT_ASSERT", "PXT_TESTPOINT",
            "PXT_BOUND", "PXT_ROUND"}


@dataclasses.dataclass
class Token:
    kind: str
    text: str
    at: int

    @property
    def end(self):
        return self.at + len(self.text)


@dataclasses.dataclass
class Mutant:
    file: str
    function: str
    kind: str
    ordinal: int
    at: int
    end: int
    new: str
    line: str  # the source line where it begins
    number: int

    @classmethod
    def of(cls, text, file, function, kind, ordinal, at, end, new):
        """With the line of @text that it begins in."""
        left = text.rfind("\n", 0, at) + 1
        return cls(file, function, kind, ordinal, at, end, new, text[left : text.index("\n", at)].strip(),
                   text.count("\n", 0, at) + 1)

    @property
    def name(self):
        return f"{self.file} {self.function} {self.kind} {self.ordinal}"

    def rank(self, seed):
        return hashlib.sha256(f"{seed} {self.name}".encode()).hexdigest()

    def edit(self, text):
        return text[: self.at] + self.new + text[self.end :]

    def shown(self, text):
        old = " ".join(text[self.at : self.end].split())
        return f"{old or '(nothing)'} -> {self.new or '(nothing)'}"


def tokens_of(text):
    return [Token(found.lastgroup, found.group(), found.start()) for found in TOKEN.finditer(text)
            if found.lastgroup != "skip"]


def functions(text):
    """(name, start, end) of each body: between a brace at the left margin and its partner there."""
    for body in re.finditer(r"^\{\n(.*?)^\}", text, re.M | re.S):
        before = text[: body.start()]
        begin = max(before.rfind("\n}\n"), before.rfind(";\n"), before.rfind("*/\n"), before.rfind("\n\n"))
        head = re.sub(r"__attribute__\s*\(\(.*?\)\)|\b[A-Z_]{4,}\([^()]*\)", "", before[begin + 1 :])
        name = re.search(r"(\w+)\s*\(", head)
        if name:
            yield name.group(1), body.start(1), body.end(1)


def partner(tokens, at):
    """Index of the bracket that closes the one at @at."""
    depth = 0
    for index in range(at, len(tokens)):
        if tokens[index].text in "([{":
            depth += 1
        elif tokens[index].text in ")]}":
            depth -= 1
            if depth == 0:
                return index
    return len(tokens) - 1


def ends(tokens, at, stops):
    """Index of the first of @stops from @at on that stands in no bracket; an unmatched one stops, too."""
    while at < len(tokens):
        text = tokens[at].text
        if text in stops or text in ")]}":
            return at
        at = partner(tokens, at) + 1 if text in "([{" else at + 1
    return len(tokens) - 1


def is_binary(tokens, at, text):
    before = tokens[at - 1]
    if not (before.kind in ("word", "number") or before.text in ")]") or before.text in ("return", "case"):
        return False
    # As clang-format writes them: pointers and addresses touch what follows.
    return text[tokens[at].end : tokens[at].end + 1] in " \n" and text[tokens[at].at - 1] in " \n\t"


def numbers(token):
    digits = re.sub("[uUlL]", "", token.text)
    value = int(digits, 8 if re.fullmatch("0[0-7]+", digits) else 0)
    suffix = re.search("[uUlL]*$", token.text).group()
    yield "const+", f"{value + 1}{suffix}"
    if value > 0:
        yield "const-", f"{value - 1}{suffix}"
    if value >= 1000 and value % 10 == 0:
        yield "unit", f"{value // 10}{suffix}"


def starts_statement(tokens, at):
    before = tokens[at - 1].text if at else "{"
    if before in (";", "{", "}", "else", "do"):
        return True
    if before == ")":
        depth = 0
        for index in range(at - 1, -1, -1):
            depth += tokens[index].text == ")"
            depth -= tokens[index].text == "("
            if depth == 0:
                return index > 0 and tokens[index - 1].text in ("if", "for", "while", "switch")
    return before == ":" and at > 1 and tokens[at - 3 if at > 2 else 0].text == "case"


def is_expression(tokens, at, end):
    """A call, an assignment or a step; no declaration."""
    first, second = tokens[at], tokens[min(at + 1, end)]
    if first.text in KEYWORDS:
        return False
    if first.kind == "word":
        if second.kind == "word":
            return False
        if second.text == "*" and first.end < second.at:
            return False
        return second.text in ("(", "=", "->", ".", "[", "++", "--", "+=", "-=", "|=", "&=", "*=", "/=", "<<=", ">>=", "^=")
    return first.text in ("*", "(", "++", "--") and end > at + 1


def places(tokens, at, text):
    """(kind, start, end, new text) of the mistakes that begin at token @at."""
    token = tokens[at]
    sign = token.text
    if token.kind == "sign":
        if sign in RELATIONS:
            yield "relation", token.at, token.end, RELATIONS[sign]
        elif sign in LOGIC:
            yield "logic", token.at, token.end, LOGIC[sign]
        elif sign in SUMS and at and is_binary(tokens, at, text):
            yield "sum", token.at, token.end, SUMS[sign]
        elif sign in STEPS:
            yield "step", token.at, token.end, STEPS[sign]
        elif sign == "?":
            colon = ends(tokens, at + 1, (":",))
            last = ends(tokens, colon + 1, (";", ",", ":"))
            if tokens[colon].text == ":":
                one = text[token.end : tokens[colon].at].strip()
                other = text[tokens[colon].end : tokens[last].at].strip()
                yield "choice", token.at, tokens[last].at, f"? {other} : {one}"
    elif token.kind == "number":
        for kind, new in numbers(token):
            yield kind, token.at, token.end, new
    elif sign in ("if", "while") and at + 1 < len(tokens) and tokens[at + 1].text == "(":
        last = partner(tokens, at + 1)
        yield "negated", tokens[at + 1].at, tokens[last].end, f"(!{text[tokens[at + 1].at : tokens[last].end]})"
    elif sign in ("true", "false"):
        yield "truth", token.at, token.end, "false" if sign == "true" else "true"
    elif sign in ORDERS:
        yield "order", token.at, token.end, "__ATOMIC_RELAXED" if sign[0] == "_" else "memory_order_relaxed"
    elif sign in ("break", "continue"):
        yield "left", token.at, token.end, ""
    elif sign == "return" and tokens[at + 1].text != ";":
        last = ends(tokens, at + 1, (";",))
        value = text[tokens[at + 1].at : tokens[last].at]
        if value not in ("0", "true", "false", "NULL"):
            yield "return", tokens[at + 1].at, tokens[last].at, "0"
    if starts_statement(tokens, at):
        last = ends(tokens, at, (";",))
        if tokens[last].text == ";" and is_expression(tokens, at, last):
            yield "deleted", token.at, tokens[last].at, ""


def mutants_of(file, text):
    """All mutants of one source, in the order of their places."""
    found = []
    counts = {}
    for function, start, end in functions(text):
        tokens = [Token(token.kind, token.text, token.at + start) for token in tokens_of(text[start:end])]
        for at in range(len(tokens)):
            for kind, begin, stop, new in places(tokens, at, text):
                key = function, kind
                counts[key] = counts.get(key, 0) + 1
                found.append(Mutant.of(text, file, function, kind, counts[key], begin, stop, new))
    return found
