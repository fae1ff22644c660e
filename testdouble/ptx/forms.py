"""What all instructions have in common: their names word by word, and their operands, read and written with a type."""

import re

from source import Refused

FLOATS = ("f32", "f64")
SIGNED = ("s16", "s32", "s64")
UNSIGNED = ("u16", "u32", "u64")
INTEGERS = (*SIGNED, *UNSIGNED)
BITS = ("b16", "b32", "b64")
MEMORY = ("b8", "u8", "s8", *BITS, *INTEGERS, *FLOATS)
ROUNDINGS = ("rn", "rz", "rm", "rp")
TO_WHOLE = ("rni", "rzi", "rmi", "rpi")
ORDERED = {"eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">="}

TABLE = {}


def emits(*names):
    def keep(function):
        TABLE.update((name, function) for name in names)
        return function
    return keep


class Words:
    """What follows an instruction's name: `.rn.f32`."""

    def __init__(self, words):
        self.name, self.left = words[0], words[1:]

    def take(self, *options):
        """The next word if it is one of these."""
        return self.left.pop(0) if self.left and self.left[0] in options else None

    def need(self, *options):
        word = self.take(*options)
        if word is None:
            raise Refused(f"`.{self.left[0]}` is not known here" if self.left else "its type is missing")
        return word


class Form:
    """One instruction in the making: its operands, read and written with its type."""

    def __init__(self, body, words, operands, guarded):
        self.body, self.words, self.operands, self.guarded = body, Words(words), operands, guarded

    def count(self, *counts):
        if len(self.operands) not in counts:
            raise Refused(f"{len(self.operands)} operands")

    def read(self, index, type_, wider=False):
        return read(self.body, self.operands[index], type_, wider)

    def write(self, index, type_, value, wider=False):
        return write(self.body, self.operands[index], type_, value, wider)


def statement(body, words, operands, guarded):
    if words[0] not in TABLE:
        raise Refused("an instruction that testdouble/ptx does not know")
    form = Form(body, words, operands, guarded)
    out = TABLE[words[0]](form)
    if form.words.left:
        raise Refused(f"`.{form.words.left[0]}` is not known here")
    return out


def split(text):
    """Operands, by the commas that are in no bracket."""
    parts, depth = [""], 0
    for letter in text:
        depth += (letter in "{[(") - (letter in "}])")
        if letter == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += letter
    return [part.strip() for part in parts if part.strip()]


def size_of(type_):
    return int(type_[1:]) // 8


def cpp(type_):
    if type_ == "pred":
        return "bool"
    if type_ in FLOATS:
        return {"f32": "float", "f64": "double"}[type_]
    return f"{'int' if type_[0] == 's' else 'uint'}{type_[1:]}_t"


def unsigned(type_):
    return f"u{type_[1:]}"


def is_number(type_):
    return type_ in FLOATS


def read(body, operand, type_, wider=False):
    """An operand as a C++ value of a type; with `wider` its register may have more bits than the type."""
    if not operand.startswith("%"):
        return immediate(operand, type_)
    if type_ == "pred":
        return body.register(operand, "pred")
    kind, name = body.kind_of(operand), body.register(operand)
    if kind == "pred" or size_of(kind) < size_of(type_) or (size_of(kind) > size_of(type_) and not wider):
        raise Refused(f"{operand} of kind .{kind} where the type is .{type_}")
    if is_number(kind) != is_number(type_):
        # Only untyped bits go from one to the other.
        if kind[0] != "b" and type_[0] != "b" or size_of(kind) != size_of(type_):
            raise Refused(f"{operand} of kind .{kind} where the type is .{type_}")
        return f"ptx::cast<{cpp(type_)}>({name})"
    return name if is_number(kind) else f"{cpp(type_)}({name})"


def immediate(text, type_):
    bits = re.fullmatch(r"0([fFdD])([0-9A-Fa-f]+)", text)
    if bits:
        if type_ != ("f32" if bits[1] in "fF" else "f64") or len(bits[2]) != 2 * size_of(type_):
            raise Refused(f"{text} is no constant of type .{type_}")
        return f"ptx::cast<{cpp(type_)}>(uint{8 * size_of(type_)}_t(0x{bits[2]}u))"
    if is_number(type_) or not re.fullmatch(r"-?(0x[0-9A-Fa-f]+|\d+)", text):
        raise Refused(f"{text} is no constant of type .{type_}")
    value, width = int(text, 0), 1 if type_ == "pred" else 8 * size_of(type_)
    if not -(1 << (width - 1)) <= value < 1 << width:
        raise Refused(f"{text} does not fit .{type_}")
    return f"{cpp(type_)}({value & ((1 << width) - 1)}u)"


def write(body, operand, type_, value, wider=False):
    """The assignment of a C++ value to a register; with `wider` it is extended by its type's sign."""
    if type_ == "pred":
        return f"{body.register(operand, 'pred')} = {value};"
    kind, name = body.kind_of(operand), body.register(operand)
    value = f"{cpp(type_)}({value})"
    if kind == "pred" or size_of(kind) < size_of(type_) or (size_of(kind) > size_of(type_) and not wider):
        raise Refused(f"{operand} of kind .{kind} where the type is .{type_}")
    if is_number(kind) != is_number(type_):
        if kind[0] != "b" and type_[0] != "b" or size_of(kind) != size_of(type_):
            raise Refused(f"{operand} of kind .{kind} where the type is .{type_}")
        return f"{name} = ptx::cast<{cpp(kind)}>({value});"
    return f"{name} = {value};"


def simple(form, type_, expression, wider=False):
    """`name d, a, b...;` of one type: `{0}` is a, `{1}` is b."""
    form.count(1 + expression.count("{"))
    values = [form.read(index, type_, wider) for index in range(1, len(form.operands))]
    return form.write(0, type_, expression.format(*values))


