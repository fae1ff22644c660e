"""The instructions that compute, of those that feedline's kernels use, each as a statement of C++.

To add one: a function with @emits, which takes the rest of its name word by word. A word that nobody takes is refused,
and so is a sum or product of floats without a rounding, which a driver's compiler might fuse.
"""

from forms import BITS, FLOATS, INTEGERS, ORDERED, ROUNDINGS, SIGNED, TO_WHOLE, UNSIGNED
from forms import cpp, emits, is_number, simple, size_of, unsigned
from source import Refused


@emits("add", "sub")
def add(form):
    name, rounding = form.words.name, form.words.take(*ROUNDINGS)
    if rounding:
        return simple(form, form.words.need(*FLOATS), f"ptx::{name}<ptx::{rounding}>({{0}}, {{1}})")
    type_ = form.words.need(*INTEGERS)
    return simple(form, unsigned(type_), "{0} + {1}" if name == "add" else "{0} - {1}")


@emits("mul")
def multiply(form):
    part = form.words.take("lo", "hi", "wide", *ROUNDINGS)
    if part in ROUNDINGS:
        return simple(form, form.words.need(*FLOATS), f"ptx::mul<ptx::{part}>({{0}}, {{1}})")
    type_ = form.words.need(*INTEGERS) if part else form.words.need()
    return product(form, part, type_, "")


@emits("mad")
def multiply_and_add(form):
    part = form.words.need("lo", "hi", "wide")
    return product(form, part, form.words.need(*INTEGERS), " + {}")


def product(form, part, type_, plus):
    form.count(4 if plus else 3)
    to = type_ if part != "wide" else f"{type_[0]}{2 * int(type_[1:])}"
    if to.endswith("128"):
        raise Refused("`.wide` of 64 bits")
    value = f"ptx::mul_{part}<{cpp(type_)}>({form.read(1, type_)}, {form.read(2, type_)})"
    if plus:
        value = f"{cpp(unsigned(to))}({value})" + plus.format(form.read(3, unsigned(to)))
    return form.write(0, to, value)


@emits("fma")
def fma(form):
    rounding = form.words.need(*ROUNDINGS)
    return simple(form, form.words.need(*FLOATS), f"ptx::fma<ptx::{rounding}>({{0}}, {{1}}, {{2}})")


@emits("div", "rem")
def divide(form):
    rounding = form.words.take(*ROUNDINGS) if form.words.name == "div" else None
    if rounding:
        return simple(form, form.words.need(*FLOATS), f"ptx::div<ptx::{rounding}>({{0}}, {{1}})")
    type_ = form.words.need(*INTEGERS)
    return simple(form, type_, f"ptx::{form.words.name}<{cpp(type_)}>({{0}}, {{1}})")


@emits("rcp", "sqrt")
def of_one(form):
    name, rounding = form.words.name, form.words.need(*ROUNDINGS)
    return simple(form, form.words.need(*FLOATS), f"ptx::{name}<ptx::{rounding}>({{0}})")


@emits("min", "max")
def extreme(form):
    type_ = form.words.need(*INTEGERS, *FLOATS)
    return simple(form, type_, f"ptx::{form.words.name}{'_number' if is_number(type_) else ''}({{0}}, {{1}})")


@emits("abs", "neg")
def sign(form):
    type_ = form.words.need(*SIGNED, *FLOATS)
    if form.words.name == "neg":
        return simple(form, type_, "-{0}") if is_number(type_) else simple(form, unsigned(type_), "0 - {0}")
    if is_number(type_):
        return simple(form, type_, "ptx::size({0})")
    form.count(2)
    value, plain = form.read(1, type_), form.read(1, unsigned(type_))
    return form.write(0, unsigned(type_), f"{value} < 0 ? {cpp(unsigned(type_))}(0 - {plain}) : {plain}")


@emits("and", "or", "xor", "not")
def logic(form):
    type_ = form.words.need("pred", *BITS)
    if form.words.name == "not":
        return simple(form, type_, "!{0}" if type_ == "pred" else "~{0}")
    return simple(form, type_, "{0} " + {"and": "&", "or": "|", "xor": "^"}[form.words.name] + " {1}")


@emits("popc")
def count_ones(form):
    type_ = form.words.need("b32")
    form.count(2)
    return form.write(0, "u32", f"__builtin_popcount({form.read(1, type_)})")


@emits("shl", "shr")
def shift(form):
    type_ = form.words.need(*BITS, *(INTEGERS if form.words.name == "shr" else ()))
    form.count(3)
    return form.write(0, type_, f"ptx::{form.words.name}<{cpp(type_)}>({form.read(1, type_)}, {form.read(2, 'u32')})")


@emits("shf")
def funnel(form):
    way, wrap = form.words.need("l", "r"), form.words.need("wrap", "clamp") == "wrap"
    return simple(form, form.words.need("b32"), f"ptx::shf_{way}({{0}}, {{1}}, {{2}}, {str(wrap).lower()})")


@emits("prmt")
def permute(form):
    type_ = form.words.need("b32")
    mode = form.words.take("f4e", "b4e", "rc8", "ecl", "ecr", "rc16") or "any"
    return simple(form, type_, f"ptx::prmt<ptx::{mode}>({{0}}, {{1}}, {{2}})")


@emits("bfi")
def insert(form):
    type_ = form.words.need("b32", "b64")
    form.count(5)
    values = [form.read(1, type_), form.read(2, type_), form.read(3, "u32"), form.read(4, "u32")]
    return form.write(0, type_, f"ptx::bfi<{cpp(type_)}>({', '.join(values)})")


@emits("bfe")
def extract(form):
    type_ = form.words.need("u32", "s32", "u64", "s64")
    form.count(4)
    values = [form.read(1, type_), form.read(2, "u32"), form.read(3, "u32")]
    return form.write(0, type_, f"ptx::bfe<{cpp(type_)}>({', '.join(values)})")


@emits("dp2a", "dp4a")
def dot_product(form):
    name = form.words.name
    half = form.words.need("lo", "hi") if name == "dp2a" else None
    a, b = form.words.need("u32", "s32"), form.words.need("u32", "s32")
    form.count(4)
    values = f"{form.read(1, 'b32')}, {form.read(2, 'b32')}, {form.read(3, 'b32')}"
    types = f"{cpp(a[0] + ('16' if half else '8'))}, {cpp(b[0] + '8')}"
    start = {"lo": ", 0", "hi": ", 16", None: ""}[half]
    return form.write(0, "b32", f"ptx::{name}<{types}>({values}{start})")


@emits("selp")
def select(form):
    type_ = form.words.need(*BITS, *INTEGERS, *FLOATS)
    form.count(4)
    return form.write(0, type_, f"{form.read(3, 'pred')} ? {form.read(1, type_)} : {form.read(2, type_)}")


@emits("setp")
def compare(form):
    how = form.words.need(*ORDERED, "lo", "ls", "hi", "hs", *(f"{word}u" for word in ORDERED), "num", "nan")
    type_ = form.words.need(*BITS, *INTEGERS, *FLOATS)
    form.count(3)
    a, b = form.read(1, type_), form.read(2, type_)
    nan = f"({a} != {a} || {b} != {b})"
    if how in ("num", "nan") or how in ORDERED and type_ in FLOATS:
        value = nan if how == "nan" else f"!{nan}" if how == "num" else f"{a} {ORDERED[how]} {b}"
        # Of C++'s comparisons this one alone holds for a NaN.
        value = f"{value} && !{nan}" if how == "ne" else value
    elif how[:-1] in ORDERED and type_ in FLOATS:
        value = f"{nan} || {a} {ORDERED[how[:-1]]} {b}"
    elif how in ("lo", "ls", "hi", "hs") and type_ in UNSIGNED:
        value = f"{a} {ORDERED[{'lo': 'lt', 'ls': 'le', 'hi': 'gt', 'hs': 'ge'}[how]]} {b}"
    elif how in ORDERED and (type_ in INTEGERS or how in ("eq", "ne")):
        value = f"{a} {ORDERED[how]} {b}"
    else:
        raise Refused(f"`.{how}` of .{type_}")
    if how in ("num", "nan") and type_ not in FLOATS:
        raise Refused(f"`.{how}` of .{type_}")
    return form.write(0, "pred", value)


@emits("cvt")
def convert(form):
    words = form.words
    if words.take("pack"):
        return convert_two(form)
    rounding, saturated = words.take(*ROUNDINGS, *TO_WHOLE), words.take("sat")
    kinds = ("u8", "s8", *INTEGERS, *FLOATS, "f16", "bf16")
    to, from_ = words.need(*kinds), words.need(*kinds)
    form.count(2)
    source = {"f16": "b16"}.get(from_, from_)
    value = converted(to, from_, rounding, saturated, form.read(1, source, wider=not is_number(source)))
    to = "b16" if to in ("f16", "bf16") else to
    return form.write(0, to, value, wider=not is_number(to))


def convert_two(form):
    """Two numbers as bytes, the second one lowest, below the lower half of the last operand."""
    form.words.need("sat")
    to, from_ = form.words.need("u8", "s8"), form.words.need("s32")
    form.words.need("b32")
    form.count(4)
    byte = lambda index: f"uint32_t(uint8_t(ptx::clamped<{cpp(to)}>({form.read(index, from_)})))"
    return form.write(0, "b32", f"{form.read(3, 'b32')} << 16 | {byte(1)} << 8 | {byte(2)}")


def converted(to, from_, rounding, saturated, value):
    """Each kind of conversion takes one kind of rounding, and says so where it is exact."""
    number = lambda type_: type_[-3:] in FLOATS or type_ in ("f16", "bf16")
    nearest, whole = rounding in ROUNDINGS, rounding in TO_WHOLE
    mode = f"ptx::{rounding[:2]}" if rounding else None
    if to in ("f16", "bf16") and from_ == "f32" and nearest and not saturated:
        return f"ptx::narrow<{mode}, {10 if to == 'f16' else 7}>({value})"
    if from_ == "f16" and to == "f32" and not rounding and not saturated:
        return f"ptx::wide({value})"
    if from_ in ("f16", "bf16") or to in ("f16", "bf16"):
        raise Refused("a conversion that is not known here")
    if number(from_) and not number(to) and whole:
        return f"ptx::integer<{mode}, {cpp(to)}>({value})"
    if not number(from_) and number(to) and nearest and not saturated:
        return f"ptx::number<{mode}, {cpp(to)}>({value})"
    if not number(from_) and not number(to) and not rounding:
        return f"ptx::clamped<{cpp(to)}>({value})" if saturated else value
    exact = size_of(to) >= size_of(from_)
    if number(from_) and number(to) and (not rounding if exact else nearest) or whole and to == from_:
        value = f"ptx::whole<{mode}>({value})" if whole else value if exact else f"ptx::number<{mode}, float>({value})"
        return f"ptx::saturated({cpp(to)}({value}))" if saturated else value
    raise Refused("a conversion that is not known here")
