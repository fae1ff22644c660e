"""The instructions that move values, reach memory, or go elsewhere; see instructions.py for those that compute."""

import re

from forms import BITS, FLOATS, INTEGERS, MEMORY
from forms import cpp, emits, is_number, read, simple, size_of, split, unsigned, write
from source import Refused

SPECIAL = {f"%{ptx}.{axis}": f"testdouble_thread.{ours}.{axis}" for axis in "xyz" for ptx, ours in
           (("tid", "index"), ("ntid", "block_size"), ("ctaid", "block"), ("nctaid", "grid_size"))}


@emits("mov")
def move(form):
    type_ = form.words.need("pred", *BITS, *INTEGERS, *FLOATS)
    form.count(2)
    to, from_ = form.operands
    if from_.startswith("{"):
        return form.write(0, type_, packed(form.body, split(from_[1:-1]), type_))
    if to.startswith("{"):
        return unpacked(form, split(to[1:-1]), type_)
    if from_ in SPECIAL:
        return form.write(0, "u32" if type_ == "b32" else type_, SPECIAL[from_])
    if from_ in form.body.shared and type_ in ("u32", "b32", "u64", "b64"):
        return form.write(0, type_, f"{form.body.shared[from_][0]}u")
    if from_ in form.body.local and type_ in ("u64", "b64"):
        return form.write(0, type_, f"reinterpret_cast<uint64_t>({from_})")
    return form.write(0, type_, form.read(1, type_))


def part_type(parts, type_):
    if type_ not in ("b32", "b64") or len(parts) != 2:
        raise Refused("a vector of other than two halves")
    return f"b{4 * size_of(type_)}"


def packed(body, parts, type_):
    half = part_type(parts, type_)
    low, high = (read(body, part, half) for part in parts)
    return f"{cpp(type_)}({low}) | {cpp(type_)}({high}) << {half[1:]}"


def unpacked(form, parts, type_):
    half, value = part_type(parts, type_), form.read(1, type_)
    out = f"{{ {cpp(type_)} whole = {value}; "
    for index, part in enumerate(parts):
        if part != "_":
            out += write(form.body, part, half, f"whole >> {index * int(half[1:])}") + " "
    return out + "}"


@emits("cvta")
def to_address(form):
    """An address of global or local memory is the same as its generic one; that of shared memory is not."""
    form.words.take("to")
    form.words.need("global", "local")
    return simple(form, form.words.need("u64"), "{0}")


def address(form, operand, space, pointed):
    """A typed C++ pointer for `[%rd1+8]` or `[name+8]`."""
    found = re.fullmatch(r"\[\s*([%\w$]+)\s*(?:\+\s*(-?\d+))?\s*\]", operand)
    if not found:
        raise Refused(f"no address: {operand}")
    base, offset = found[1], int(found[2] or 0)
    if space == "shared":
        value = f"{form.body.shared[base][0]}u" if base in form.body.shared else read(form.body, base, "u32")
        return f"shared<{pointed}>({value} + uint32_t({offset}))"
    if space == "local":
        if len(form.body.local) != 1:
            raise Refused("local memory other than one array of the function")
        (memory,) = form.body.local.values()
        value = f"reinterpret_cast<uint64_t>({base})" if base == memory.name else read(form.body, base, "u64")
        return f"ptx::local<{pointed}>({value} + uint64_t(int64_t({offset})), {memory.name}, {memory.bytes})"
    return f"ptx::global<{pointed}>({read(form.body, base, 'u64')} + uint64_t(int64_t({offset})))"


@emits("ld")
def load(form):
    space = form.words.take("param", "global", "shared", "local")
    if space == "global":
        form.words.take("nc")
    lanes, type_ = lanes_and_type(form, 0, space)
    if space == "param":
        return load_parameter(form, type_)
    if lanes is None:
        return form.write(0, type_, f"*{address(form, form.operands[1], space, cpp(type_))}", wider=True)
    pointed = f"ptx::Vector<{cpp(type_)}, {len(lanes)}>"
    out = f"{{ auto vector = *{address(form, form.operands[1], space, pointed)}; "
    for index, lane in enumerate(lanes):
        if lane != "_":
            out += write(form.body, lane, type_, f"vector.at[{index}]", wider=True) + " "
    return out + "}"


@emits("st")
def store(form):
    space = form.words.take("param", "global", "shared", "local")
    lanes, type_ = lanes_and_type(form, 1, space)
    if space == "param":
        return store_parameter(form, type_)
    if lanes is None:
        value = form.read(1, type_, wider=not is_number(type_))
        return f"*{address(form, form.operands[0], space, cpp(type_))} = {value};"
    pointed = f"ptx::Vector<{cpp(type_)}, {len(lanes)}>"
    values = ", ".join(read(form.body, lane, type_, wider=not is_number(type_)) for lane in lanes)
    return f"*{address(form, form.operands[0], space, pointed)} = {pointed}{{{{{values}}}}};"


def lanes_and_type(form, index, space):
    count = form.words.take("v2", "v4")
    type_ = form.words.need(*MEMORY)
    form.count(2)
    if count is None:
        return None, type_
    lanes = split(form.operands[index].strip("{}"))
    if len(lanes) != int(count[1]) or not form.operands[index].startswith("{") or space == "param":
        raise Refused("not a vector of the length that is named")
    if len(lanes) * size_of(type_) > 16:
        raise Refused("more than 16 bytes at once")
    return lanes, type_


def buffer_at(form, operand, type_):
    found = re.fullmatch(r"\[([\w$]+)(?:\+(\d+))?\]", operand)
    if not found:
        raise Refused(f"no parameter: {operand}")
    buffer, offset = form.body.parameter(found[1]), int(found[2] or 0)
    buffer.check(offset, size_of(type_))
    return buffer, offset


def load_parameter(form, type_):
    buffer, offset = buffer_at(form, form.operands[1], type_)
    return form.write(0, type_, f"ptx::parameter<{cpp(type_)}>({buffer.variable.name} + {offset})", wider=True)


def store_parameter(form, type_):
    buffer, offset = buffer_at(form, form.operands[0], type_)
    if form.guarded:
        raise Refused("a parameter stored under a condition")
    buffer.stored.update(range(offset, offset + size_of(type_)))
    value = form.read(1, type_, wider=not is_number(type_))
    return f"ptx::set_parameter<{cpp(type_)}>({buffer.variable.name} + {offset}, {value});"


@emits("atom", "red")
def atomic(form):
    """Sums of floats would depend on the order of the threads, so only integers are taken."""
    space = form.words.take("global", "shared")
    how = form.words.need("add", "min", "max", "and", "or", "xor", "exch")
    kinds = ("u32", "s32", "u64", "s64") if how in ("add", "min", "max") else ("b32", "b64")
    type_ = form.words.need(*kinds)
    returns = form.words.name == "atom"
    form.count(3 if returns else 2)
    at, value = (address(form, form.operands[-2], space, cpp(type_)), form.read(-1, type_))
    change = {
        "add": f"{cpp(unsigned(type_))}(old) + {cpp(unsigned(type_))}(value)", "exch": "value",
        "min": "value < old ? value : old", "max": "old < value ? value : old",
        "and": "old & value", "or": "old | value", "xor": "old ^ value",
    }[how]
    unused = "(void)old; " if how == "exch" else ""
    out = f"ptx::atomic({at}, [value = {value}]({cpp(type_)} old) {{ {unused}return {change}; }})"
    return form.write(0, type_, out) if returns and form.operands[0] != "_" else f"{out};"


@emits("bar")
def barrier(form):
    form.words.need("sync")
    if form.operands != ["0"]:
        raise Refused("a barrier other than 0 for the whole block")
    return f"testdouble_barrier({form.body.line});"


@emits("bra")
def branch(form):
    form.words.take("uni")
    form.count(1)
    return f"goto {form.operands[0]};"


@emits("ret", "exit")
def leave(form):
    form.words.take("uni")
    form.count(0)
    if form.words.name == "exit" and not form.body.function.entry:
        raise Refused("the end of a thread within a function")
    return "return;"


@emits("call")
def call(form):
    form.words.take("uni")
    lists = [split(operand[1:-1]) if operand.startswith("(") else operand for operand in form.operands]
    if lists and isinstance(lists[0], str):
        lists.insert(0, [])
    if not 2 <= len(lists) <= 3 or lists[1] not in form.body.functions:
        raise Refused("a call of what is no function of this file")
    results, name, given = lists[0], lists[1], lists[2] if len(lists) == 3 else []
    function = form.body.functions[name]
    if (len(results), len(given)) != (len(function.returned), len(function.parameters)) or function.entry:
        raise Refused(f"{name} takes {len(function.parameters)} parameters")
    for passed, wanted in zip([*results, *given], [*function.returned, *function.parameters]):
        buffer = form.body.parameter(passed)
        if (buffer.variable.bytes, buffer.variable.align) != (wanted.bytes, wanted.align) or not buffer.of_a_call:
            raise Refused(f"{passed} is not laid out as {wanted.name}")
        if passed in given and len(buffer.stored) != wanted.bytes:
            raise Refused(f"{passed} was stored in part only")
    return f"function_{name}({', '.join([*results, *given])});"
