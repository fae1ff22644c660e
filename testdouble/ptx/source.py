"""Reads PTX: statements with their lines, variables, and functions. What it does not know is refused, never skipped."""

import re
from dataclasses import dataclass, field


class Refused(Exception):
    """What the translator does not know, or what no correct PTX holds; `line` is added by whoever knows it."""

    def __init__(self, what, line=None):
        super().__init__(what)
        self.line = line


@dataclass
class Statement:
    line: int
    text: str  # without its semicolon; "{" and "}" alone; a label with its colon; a head up to its brace


@dataclass
class Variable:
    """`.param .u64 name` or `.shared .align 8 .b8 name[312]`."""

    name: str
    bytes: int
    align: int


@dataclass
class Function:
    name: str
    entry: bool
    line: int
    returned: list
    parameters: list
    body: list = field(default_factory=list)


@dataclass
class Module:
    shared: list
    functions: list


LABEL = re.compile(r"([A-Za-z_$%][\w$]*)\s*:(?!:)")
BY_LINE = re.compile(r"\.(version|target|address_size)\b[^\n]*")
HEADS = re.compile(
    r"(?:\.visible )?\.(entry|func) ?(\(.*?\) ?)?([\w$]+) ?(?:\((.*?)\))? ?"
    r"(?:\.(?:maxntid|reqntid|minnctapersm) [\d, ]+)*")
HEAD = re.compile(r"(\.(visible|weak|extern)\s+)*\.(entry|func)\b")


def without_comments(text):
    """Line breaks stay, so that lines keep their numbers."""
    blank = lambda found: re.sub(r"[^\n]", " ", found.group())
    return re.sub(r"//[^\n]*|/\*.*?\*/", blank, text, flags=re.S)


def statements(text):
    text, at = without_comments(text), 0
    while True:
        at += len(text[at:]) - len(text[at:].lstrip())
        if at == len(text):
            return
        line, rest = text.count("\n", 0, at) + 1, text[at:]
        by_line, label = BY_LINE.match(rest), LABEL.match(rest)
        if rest[0] in "{}":
            end, found = at + 1, rest[0]
        elif by_line or label:
            end, found = at + (by_line or label).end(), (by_line or label).group()
        else:
            # A head ends ahead of its brace; braces within a statement are vectors.
            stop = "{" if HEAD.match(rest) else ";"
            end = text.find(stop, at)
            if end < 0:
                raise Refused(f"no `{stop}` ends `{rest.splitlines()[0]}`", line)
            found = text[at:end]
            end += stop == ";"
        yield Statement(line, " ".join(found.split()))
        at = end


def variable(text):
    """The state space is the caller's. A pointer's `.align` is that of what it points at."""
    found = re.fullmatch(
        r"\.\w+(?: \.align (\d+))? \.([busf])(\d+)( \.ptr[ .\w]*?)? ([\w$]+) ?(?:\[(\d+)\])?", text)
    if not found:
        raise Refused(f"not a declaration that is known here: `{text}`")
    align, _, bits, pointer, name, count = found.groups()
    each = int(bits) // 8
    return Variable(name, each * int(count or 1), each if pointer or not align else int(align))


def head(statement):
    found = HEADS.fullmatch(statement.text)
    if not found:
        raise Refused(f"a function's head that is not known here: `{statement.text}`", statement.line)
    kind, returned, name, parameters = found.groups()
    listed = lambda text: [variable(part.strip()) for part in text.strip("() ").split(",") if part.strip()]
    return Function(name, kind == "entry", statement.line, listed(returned or ""), listed(parameters or ""))


def read(text):
    """The module; a function's body holds all between its braces."""
    module, function, depth = Module([], []), None, 0
    for statement in statements(text):
        try:
            if function is not None:
                depth += {"{": 1, "}": -1}.get(statement.text, 0)
                if depth == 0:
                    function = None
                elif (depth, statement.text) != (1, "{") or function.body:
                    function.body.append(statement)
            elif HEAD.match(statement.text):
                function = head(statement)
                module.functions.append(function)
            else:
                declaration(statement.text, module)
        except Refused as refused:
            raise Refused(str(refused), refused.line or statement.line) from None
    return module


def declaration(text, module):
    if text.startswith(".shared"):
        module.shared.append(variable(text))
    elif text.startswith(".address_size") and text.split() != [".address_size", "64"]:
        raise Refused("addresses of other than 64 bits")
    elif not BY_LINE.fullmatch(text):
        raise Refused(f"not known here: `{text}`")
