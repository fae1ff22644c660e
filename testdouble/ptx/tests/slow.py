"""What PTX's instructions mean, slowly: floats as fractions, integers bit by bit. Shares nothing with the C++."""

from fractions import Fraction
from math import isqrt

# Bits of the mantissa behind the point, and of the exponent.
FORMATS = {"f64": (52, 11), "f32": (23, 8), "f16": (10, 5), "bf16": (7, 8)}
NAN = {"f64": 0x7FF8000000000000, "f32": 0x7FFFFFFF, "f16": 0x7FFF, "bf16": 0x7FFF}


class Special:
    """Infinities and zeros, which have a sign that no fraction has, and NaN."""

    def __init__(self, name, negative=False):
        self.name, self.negative = name, negative


def decode(bits, format_):
    mantissa, exponent = FORMATS[format_]
    negative, raw = bits >> (mantissa + exponent) & 1, bits >> mantissa & (1 << exponent) - 1
    part = bits & (1 << mantissa) - 1
    if raw == (1 << exponent) - 1:
        return Special("nan") if part else Special("inf", bool(negative))
    if raw == 0 and part == 0:
        return Special("zero", bool(negative))
    bias = (1 << exponent - 1) - 1
    size = Fraction((part + (1 << mantissa) if raw else part)) * Fraction(2) ** (max(raw, 1) - bias - mantissa)
    return -size if negative else size


def encode(value, format_, mode):
    mantissa, exponent = FORMATS[format_]
    sign_bit, infinite = 1 << mantissa + exponent, (1 << exponent) - 1 << mantissa
    if isinstance(value, Special):
        size = {"nan": NAN[format_], "inf": infinite, "zero": 0}[value.name]
        return size | (sign_bit if value.negative else 0)
    negative, size = value < 0, abs(value)
    least = 2 - (1 << exponent - 1)
    power = size.numerator.bit_length() - size.denominator.bit_length() - 1
    while Fraction(2) ** (power + 1) <= size:
        power += 1
    power = max(power, least)
    step = Fraction(2) ** (power - mantissa)
    steps = whole(-size / step if negative else size / step, mode)
    bits = (power - least << mantissa) + abs(steps)
    if bits >= infinite:
        stays = mode == "rz" or mode == ("rp" if negative else "rm")
        bits = infinite - 1 if stays else infinite
    return bits | (sign_bit if negative else 0)


def whole(value, mode):
    """A fraction as an integer."""
    floor = value.numerator // value.denominator
    rest = value - floor
    if mode == "rz":
        mode = "rm" if value > 0 else "rp"
    if mode == "rm" or rest == 0:
        return floor
    if mode == "rp":
        return floor + 1
    return floor + (rest > Fraction(1, 2) or rest == Fraction(1, 2) and floor % 2)


def zero(negative):
    return Special("zero", negative)


def is_special(value, name):
    return isinstance(value, Special) and value.name == name


def negative(value):
    return value.negative if isinstance(value, Special) else value < 0


def fraction(value):
    return Fraction(0) if is_special(value, "zero") else value


def negated(value):
    return value if is_special(value, "nan") else Special(value.name, not value.negative) \
        if isinstance(value, Special) else -value


def add(a, b, mode):
    if is_special(a, "nan") or is_special(b, "nan"):
        return Special("nan")
    if is_special(a, "inf") or is_special(b, "inf"):
        if is_special(a, "inf") and is_special(b, "inf") and a.negative != b.negative:
            return Special("nan")
        return a if is_special(a, "inf") else b
    total = fraction(a) + fraction(b)
    if total == 0:
        if negative(a) == negative(b):
            return zero(negative(a))
        return zero(mode == "rm")
    return total


def mul(a, b, mode=None):
    if is_special(a, "nan") or is_special(b, "nan"):
        return Special("nan")
    sign = negative(a) != negative(b)
    if is_special(a, "inf") or is_special(b, "inf"):
        return Special("nan") if is_special(a, "zero") or is_special(b, "zero") else Special("inf", sign)
    product = fraction(a) * fraction(b)
    return zero(sign) if product == 0 else product


def div(a, b, mode=None):
    sign = negative(a) != negative(b)
    for name in ("inf", "zero"):
        if is_special(a, name) and is_special(b, name):
            return Special("nan")
    if is_special(a, "nan") or is_special(b, "nan"):
        return Special("nan")
    if is_special(a, "inf") or is_special(b, "zero"):
        return Special("inf", sign)
    if is_special(b, "inf") or is_special(a, "zero"):
        return zero(sign)
    return a / b


def sqrt(a, mode=None):
    """Irrational roots are a little too large or small by far less than any format shows."""
    if isinstance(a, Special):
        return a if a.name != "inf" or not a.negative else Special("nan")
    if a < 0:
        return Special("nan")
    scale = 1 << 2400
    numerator = a.numerator * scale // a.denominator
    root = isqrt(numerator)
    exact = root * root == numerator and numerator * a.denominator == a.numerator * scale
    return Fraction(2 * root + (not exact), 2 * isqrt(scale))


def signed(bits, type_):
    """Bits as the integer that a type means."""
    size = int(type_[1:])
    bits &= (1 << size) - 1
    return bits - (1 << size) if type_[0] == "s" and bits >> size - 1 else bits


def bit(value, index):
    return value >> index & 1


def prmt(a, b, how, mode):
    source = [(value >> 8 * i) & 255 for value in (a, b) for i in range(4)]
    n = how & 3
    table = {"f4e": [n, n + 1, n + 2, n + 3], "b4e": [n, (n + 7) % 8, (n + 6) % 8, (n + 5) % 8], "rc8": [n] * 4,
             "ecl": [max(n, i) for i in range(4)], "ecr": [min(n, i) for i in range(4)],
             "rc16": [[0, 1, 0, 1], [2, 3, 2, 3]][n & 1]}
    made = []
    for i in range(4):
        if mode:
            made.append(source[table[mode][i]])
            continue
        nibble = how >> 4 * i & 15
        byte = source[nibble % 8]
        made.append((255 if byte > 127 else 0) if nibble > 7 else byte)
    return sum(byte << 8 * i for i, byte in enumerate(made))


def bfe(a, start, count, type_):
    size, start, count = int(type_[1:]), start & 255, count & 255
    sign = 0
    if type_[0] == "s" and count:
        sign = bit(a, min(start + count - 1, size - 1))
    return sum((bit(a, start + i) if i < count and start + i < size else sign) << i for i in range(size))


def bfi(a, onto, start, count, size):
    start, count = start & 255, count & 255
    made = [bit(onto, i) for i in range(size)]
    for i in range(count):
        if start + i < size:
            made[start + i] = bit(a, i)
    return sum(one << i for i, one in enumerate(made))


def shf(low, high, by, way, kind):
    by = by % 32 if kind == "wrap" else min(by, 32)
    both = [bit(low, i) for i in range(32)] + [bit(high, i) for i in range(32)]
    first = by if way == "r" else 32 - by
    return sum(both[first + i] << i for i in range(32))


def packed(a, b, above, to):
    least, greatest = (-128, 127) if to == "s8" else (0, 255)
    low, high = (min(max(signed(value, "s32"), least), greatest) & 255 for value in (b, a))
    return (low | high << 8 | above << 16) & 0xFFFFFFFF


def dp(a, b, total, parts, a_type, b_type, first_byte):
    size = 32 // parts
    for i in range(parts):
        weight = signed(a >> size * i, f"{a_type[0]}{size}")
        total += weight * signed(b >> 8 * (first_byte + i), f"{b_type[0]}8")
    return total


def to_integer(value, mode, to, from_):
    size = int(to[1:])
    if is_special(value, "nan"):
        return 1 << size - 1 if 64 in (size, int(from_[1:])) else 0
    least, greatest = (-(1 << size - 1), (1 << size - 1) - 1) if to[0] == "s" else (0, (1 << size) - 1)
    if is_special(value, "inf"):
        return least if value.negative else greatest
    return min(max(whole(fraction(value), mode), least), greatest)


def to_whole(value, mode):
    if isinstance(value, Special):
        return value
    rounded = whole(value, mode)
    return zero(value < 0) if rounded == 0 else Fraction(rounded)


def saturated(value):
    if is_special(value, "nan") or negative(value):
        return zero(False)
    return Fraction(1) if is_special(value, "inf") or fraction(value) > 1 else value


def extreme(a, b, name):
    if is_special(a, "nan") or is_special(b, "nan"):
        return b if is_special(a, "nan") else a
    order = lambda v: (-1 if v.negative else 1, 0) if is_special(v, "inf") else (0, fraction(v))
    key = lambda v: (*order(v), not negative(v))
    return (min if name == "min" else max)(a, b, key=key)


def compared(a, b, how):
    unordered = is_special(a, "nan") or is_special(b, "nan")
    if how in ("num", "nan"):
        return unordered == (how == "nan")
    if unordered:
        return len(how) == 3
    order = lambda v: (-1 if v.negative else 1, 0) if is_special(v, "inf") else (0, fraction(v))
    x, y = order(a), order(b)
    return {"eq": x == y, "ne": x != y, "lt": x < y, "le": x <= y, "gt": x > y, "ge": x >= y}[how[:2]]
