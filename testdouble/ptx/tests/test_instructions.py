#!/usr/bin/env python3
"""Every form of an instruction that the translator knows, against slow.py, on hard operands and many drawn ones."""

import itertools
import random
import unittest

import built
import slow

MODES = ("rn", "rz", "rm", "rp")
HARD = {
    "f32": [0, 1, 2, 0x007FFFFF, 0x00800000, 0x3F7FFFFF, 0x3F800000, 0x3F800001, 0x34000000, 0x33800000, 0x33800001,
            0x40490FDB, 0x3F000000, 0x3FC00000, 0x4B000001, 0x7F7FFFFF, 0x7F7FFFFE, 0x7F800000, 0x7FC12345, 0x43000000,
            0x477FE000, 0x477FF000, 0x387FC000, 0x387FE000, 0x33000000, 0x33000001, 0x437F7FFF, 0x4F000000, 0x4EFFFFFF,
            0x4F800000, 0x5F000000],
    "f64": [0, 1, 0x000FFFFFFFFFFFFF, 0x0010000000000000, 0x3FEFFFFFFFFFFFFF, 0x3FF0000000000000, 0x3FF0000000000001,
            0x3CA0000000000000, 0x3CA0000000000001, 0x400921FB54442D18, 0x3FE0000000000000, 0x3FF8000000000000,
            0x4330000000000001, 0x7FEFFFFFFFFFFFFF, 0x7FF0000000000000, 0x7FF8000000000123, 0x41E0000000000000,
            0x41DFFFFFFFE00000, 0x43E0000000000000, 0x43DFFFFFFFFFFFFF, 0x47EFFFFFE0000000, 0x47EFFFFFF0000000,
            0x47EFFFFFEFFFFFFF, 0x36A0000000000000, 0x3690000000000000, 0x3690000000000001],
}
INTEGERS = ("u16", "s16", "u32", "s32", "u64", "s64")


def hard(type_):
    if type_ in HARD:
        top = 1 << int(type_[1:]) - 1
        return [*HARD[type_], *(bits | top for bits in HARD[type_])]
    if type_ == "f16":
        return [0, 1, 0x3FF, 0x400, 0x3C00, 0x7BFF, 0x7C00, 0x7E00, 0x8000, 0x8001, 0xBC01, 0xFBFF, 0xFC00]
    if type_ == "pred":
        return [0, 1]
    size = int(type_[1:])
    edges = [0, 1, 2, 31, 32, 33, 63, 64, 127, 128, 255, 256, (1 << size - 1) - 1, 1 << size - 1, (1 << size) - 1]
    return sorted({edge & (1 << size) - 1 for edge in edges})


def drawn(type_, draws):
    """Bits; numbers often near to each other, so that sums cancel and comparisons are equal."""
    if type_ == "pred":
        return draws.randrange(2)
    size = 16 if type_ in ("f16", "bf16") else int(type_[1:])
    if type_ in HARD and draws.random() < 0.6:
        mantissa = slow.FORMATS[type_][0]
        raw = (1 << slow.FORMATS[type_][1] - 1) - 1 + draws.randrange(-30, 31)
        part = draws.getrandbits(mantissa) & -1 << draws.randrange(mantissa)
        return draws.randrange(2) << size - 1 | raw << mantissa | part
    if type_ not in HARD and draws.random() < 0.3:
        return draws.randrange(70) & (1 << size) - 1
    return draws.getrandbits(size)


def rows_of(operands):
    draws = random.Random(repr(operands))
    lists = [hard(type_) for type_ in operands]
    if len(operands) == 1:
        return [(bits,) for bits in lists[0]] + [(drawn(operands[0], draws),) for _ in range(300)]
    rows = [tuple(draws.choice(one) for one in lists) for _ in range(400)]
    # Two of one size, of both signs: sums of zero, equal numbers, and the two zeros.
    top = 1 << 8 * built.width(operands[0]) - 1
    rest = [draws.choice(one) for one in lists[2:]]
    rows += [(bits, bits ^ flip, *rest) for bits in lists[0] for flip in (0, top)
             if operands[0] == operands[1] != "pred"]
    return rows + [tuple(drawn(type_, draws) for type_ in operands) for _ in range(200)]


def floats(name, format_, mode, function, count):
    """A case whose result is a float that `function` gives exactly."""
    def want(*operands):
        return slow.encode(function(*(slow.decode(bits, format_) for bits in operands), mode), format_, mode)
    return f"{name}.{mode}.{format_}", format_, [format_] * count, want


def arithmetic():
    for format_, mode in itertools.product(("f32", "f64"), MODES):
        yield floats("add", format_, mode, slow.add, 2)
        yield floats("sub", format_, mode, lambda a, b, m: slow.add(a, slow.negated(b), m), 2)
        yield floats("mul", format_, mode, slow.mul, 2)
        yield floats("fma", format_, mode, lambda a, b, c, m: slow.add(slow.mul(a, b), c, m), 3)
        yield floats("div", format_, mode, slow.div, 2)
        yield floats("rcp", format_, mode, lambda a, m: slow.div(slow.Fraction(1), a), 1)
        yield floats("sqrt", format_, mode, slow.sqrt, 1)
    for format_, name in itertools.product(("f32", "f64"), ("min", "max")):
        yield f"{name}.{format_}", format_, [format_] * 2, lambda a, b, f=format_, n=name: slow.encode(
            slow.extreme(slow.decode(a, f), slow.decode(b, f), n), f, "rn")
    for format_ in ("f32", "f64"):
        top = 1 << int(format_[1:]) - 1
        yield f"neg.{format_}", format_, [format_], lambda a, t=top: a ^ t
        yield f"abs.{format_}", format_, [format_], lambda a, t=top: a & ~t


def conversions():
    for format_, mode in itertools.product(("f32", "f64"), MODES):
        yield f"cvt.{mode}i.{format_}.{format_}", format_, [format_], lambda a, f=format_, m=mode: slow.encode(
            slow.to_whole(slow.decode(a, f), m), f, "rn")
        for type_ in INTEGERS:
            yield f"cvt.{mode}i.{type_}.{format_}", type_, [format_], lambda a, f=format_, m=mode, t=type_: \
                slow.to_integer(slow.decode(a, f), m, t, f)
            yield f"cvt.{mode}.{format_}.{type_}", format_, [type_], lambda a, f=format_, m=mode, t=type_: slow.encode(
                slow.Fraction(slow.signed(a, t)) or slow.zero(False), f, m)
    for mode in MODES:
        for to, from_ in (("f32", "f64"), ("f16", "f32"), ("bf16", "f32")):
            yield f"cvt.{mode}.{to}.{from_}", to, [from_], lambda a, f=from_, t=to, m=mode: slow.encode(
                slow.decode(a, f), t, m)
    for to, from_ in (("f32", "f16"), ("f64", "f32")):
        yield f"cvt.{to}.{from_}", to, [from_], lambda a, f=from_, t=to: slow.encode(slow.decode(a, f), t, "rn")
    for format_ in ("f32", "f64"):
        yield f"cvt.sat.{format_}.{format_}", format_, [format_], lambda a, f=format_: slow.encode(
            slow.saturated(slow.decode(a, f)), f, "rn")
    for to, from_ in itertools.product(("u8", "s8", *INTEGERS), repeat=2):
        # A register of 16 bits holds what has eight, extended by its sign.
        held = to if to[1:] != "8" else f"{to[0]}16"
        yield f"cvt.{to}.{from_}", held, [from_], lambda a, t=to, f=from_: slow.signed(slow.signed(a, f), t)
        yield f"cvt.sat.{to}.{from_}", held, [from_], lambda a, t=to, f=from_: limited(slow.signed(a, f), t)


def limited(value, type_):
    size = int(type_[1:])
    least, greatest = (-(1 << size - 1), (1 << size - 1) - 1) if type_[0] == "s" else (0, (1 << size) - 1)
    return min(max(value, least), greatest)


def divided(a, b, type_, name):
    a, b = slow.signed(a, type_), slow.signed(b, type_)
    quotient = abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)
    return quotient if name == "div" else a - quotient * b


def integers():
    for type_ in INTEGERS:
        size, read = int(type_[1:]), lambda bits, t=type_: slow.signed(bits, t)
        yield f"add.{type_}", type_, [type_] * 2, lambda a, b: a + b
        yield f"sub.{type_}", type_, [type_] * 2, lambda a, b: a - b
        yield f"mul.lo.{type_}", type_, [type_] * 2, lambda a, b: a * b
        yield f"mad.lo.{type_}", type_, [type_] * 3, lambda a, b, c: a * b + c
        yield f"mul.hi.{type_}", type_, [type_] * 2, lambda a, b, r=read, s=size: r(a) * r(b) >> s
        yield f"mad.hi.{type_}", type_, [type_] * 3, lambda a, b, c, r=read, s=size: (r(a) * r(b) >> s) + c
        if size < 64:
            wide = f"{type_[0]}{2 * size}"
            yield f"mul.wide.{type_}", wide, [type_] * 2, lambda a, b, r=read: r(a) * r(b)
            yield f"mad.wide.{type_}", wide, [type_, type_, wide], lambda a, b, c, r=read: r(a) * r(b) + c
        for name in ("div", "rem"):
            yield f"{name}.{type_}", type_, [type_] * 2, lambda a, b, t=type_, n=name: \
                divided(a, b, t, n) if b else None
        for name, pick in (("min", min), ("max", max)):
            yield f"{name}.{type_}", type_, [type_] * 2, lambda a, b, r=read, p=pick: p(r(a), r(b))
        yield f"shr.{type_}", type_, [type_, "u32"], lambda a, b, r=read: r(a) >> b
        if type_[0] == "s":
            yield f"abs.{type_}", type_, [type_], lambda a, r=read: abs(r(a))
            yield f"neg.{type_}", type_, [type_], lambda a, r=read: -r(a)
    for size in (16, 32, 64):
        type_ = f"b{size}"
        yield f"shl.{type_}", type_, [type_, "u32"], lambda a, b: a << min(b, 64)
        yield f"and.{type_}", type_, [type_] * 2, lambda a, b: a & b
        yield f"or.{type_}", type_, [type_] * 2, lambda a, b: a | b
        yield f"xor.{type_}", type_, [type_] * 2, lambda a, b: a ^ b
        yield f"not.{type_}", type_, [type_], lambda a: ~a
        yield f"selp.{type_}", type_, [type_, type_, "pred"], lambda a, b, p: a if p else b
    for name, function in (("and", lambda a, b: a & b), ("or", lambda a, b: a | b), ("xor", lambda a, b: a ^ b)):
        yield f"{name}.pred", "pred", ["pred"] * 2, function
    yield "not.pred", "pred", ["pred"], lambda a: 1 - a


def bit_fields():
    for mode in (None, "f4e", "b4e", "rc8", "ecl", "ecr", "rc16"):
        yield f"prmt.b32{'.' + mode if mode else ''}", "b32", ["b32"] * 3, lambda a, b, c, m=mode: \
            slow.prmt(a, b, c, m)
    for way, kind in itertools.product("lr", ("wrap", "clamp")):
        yield f"shf.{way}.{kind}.b32", "b32", ["b32"] * 3, lambda a, b, c, w=way, k=kind: slow.shf(a, b, c, w, k)
    for to in ("u8", "s8"):
        yield f"cvt.pack.sat.{to}.s32.b32", "b32", ["s32", "s32", "b32"], lambda a, b, c, t=to: \
            slow.packed(a, b, c, t)
    for type_ in ("u32", "s32", "u64", "s64"):
        yield f"bfe.{type_}", type_, [type_, "u32", "u32"], lambda a, b, c, t=type_: slow.bfe(a, b, c, t)
    for size in (32, 64):
        yield f"bfi.b{size}", f"b{size}", [f"b{size}"] * 2 + ["u32"] * 2, lambda a, b, c, d, s=size: \
            slow.bfi(a, b, c, d, s)
    for a, b in itertools.product(("u32", "s32"), repeat=2):
        for part, first in (("lo", 0), ("hi", 2)):
            yield f"dp2a.{part}.{a}.{b}", "b32", ["b32"] * 3, lambda x, y, c, a=a, b=b, f=first: \
                slow.dp(x, y, c, 2, a, b, f)
        yield f"dp4a.{a}.{b}", "b32", ["b32"] * 3, lambda x, y, c, a=a, b=b: slow.dp(x, y, c, 4, a, b, 0)


def comparisons():
    orders = ("eq", "ne", "lt", "le", "gt", "ge")
    for format_ in ("f32", "f64"):
        for how in (*orders, *(f"{order}u" for order in orders), "num", "nan"):
            yield f"setp.{how}.{format_}", "pred", [format_] * 2, lambda a, b, f=format_, h=how: int(slow.compared(
                slow.decode(a, f), slow.decode(b, f), h))
    for type_, how in itertools.product(INTEGERS, orders):
        yield f"setp.{how}.{type_}", "pred", [type_] * 2, lambda a, b, t=type_, h=how: int(slow.compared(
            slow.Fraction(slow.signed(a, t)), slow.Fraction(slow.signed(b, t)), h))
    for size, how in itertools.product((16, 32, 64), ("eq", "ne")):
        yield f"setp.{how}.b{size}", "pred", [f"b{size}"] * 2, lambda a, b, h=how: int((a == b) == (h == "eq"))
    for how, order in (("lo", "lt"), ("ls", "le"), ("hi", "gt"), ("hs", "ge")):
        yield f"setp.{how}.u32", "pred", ["u32"] * 2, lambda a, b, h=order: int(slow.compared(
            slow.Fraction(a), slow.Fraction(b), h))


class Instructions(unittest.TestCase):
    def compare(self, cases):
        cases = list(cases)
        entries = [built.case(f"case_{number}", instruction, to, operands)
                   for number, (instruction, to, operands, _) in enumerate(cases)]
        program = built.Built("".join(entries))
        for number, (instruction, to, operands, want) in enumerate(cases):
            rows = [row for row in rows_of(operands) if want(*row) is not None]
            made = built.results(program, f"case_{number}", rows, to)
            for row, got in zip(rows, made):
                expected = want(*row) & (1 << 8 * built.width(to)) - 1
                if to == "f64" and got != expected:
                    # A device's NaN of 64 bits is not documented.
                    got, expected = (slow.decode(bits, to) for bits in (got, expected))
                    if slow.is_special(got, "nan") and slow.is_special(expected, "nan"):
                        continue
                self.assertEqual(got, expected, f"{instruction} of {[hex(bits) for bits in row]}")
        program.close()

    def test_arithmetic_of_floats_is_exact_in_every_rounding(self):
        self.compare(arithmetic())

    def test_conversions_round_and_saturate_as_they_say(self):
        self.compare(conversions())

    def test_integers_wrap_and_keep_their_signs(self):
        self.compare(integers())

    def test_bits_and_bytes_are_picked_as_they_say(self):
        self.compare(bit_fields())

    def test_comparisons_are_ordered_or_not_as_they_say(self):
        self.compare(comparisons())


if __name__ == "__main__":
    unittest.main()
