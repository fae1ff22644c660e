// PTX's instructions on integers, where C++ has no operator of the same meaning.
#pragma once
#include <stdint.h>

#include <type_traits>

namespace ptx {
template <class T>
constexpr unsigned bits = 8 * sizeof(T);

template <class T>
struct Twice;
template <> struct Twice<uint16_t> { using type = uint32_t; };
template <> struct Twice<int16_t> { using type = int32_t; };
template <> struct Twice<uint32_t> { using type = uint64_t; };
template <> struct Twice<int32_t> { using type = int64_t; };
template <> struct Twice<uint64_t> { using type = unsigned __int128; };
template <> struct Twice<int64_t> { using type = __int128; };

template <class T>
typename Twice<T>::type mul_wide(T a, T b) {
    return typename Twice<T>::type(a) * typename Twice<T>::type(b);
}
template <class T>
T mul_lo(T a, T b) {
    return T(uint64_t(a) * uint64_t(b));
}
template <class T>
T mul_hi(T a, T b) {
    return T(mul_wide(a, b) >> bits<T>);
}

// The host traps where a divisor is 0, as its compiler checks; the least number by -1 wraps.
template <class T>
T div(T a, T b) {
    if (std::is_signed_v<T> && b == T(-1)) return T(0 - uint64_t(a));
    return T(a / b);
}
template <class T>
T rem(T a, T b) {
    if (std::is_signed_v<T> && b == T(-1)) return 0;
    return T(a % b);
}

template <class T>
T min(T a, T b) {
    return b < a ? b : a;
}
template <class T>
T max(T a, T b) {
    return a < b ? b : a;
}

// Distances beyond the width shift everything out.
template <class T>
T shl(T value, uint32_t by) {
    return by >= bits<T> ? T(0) : T(uint64_t(value) << by);
}
template <class T>
T shr(T value, uint32_t by) {
    if (by >= bits<T>) return value < T(0) ? T(-1) : T(0);
    return T(value >> by);
}

// Of the 64 bits high:low, the upper or lower half behind the shift.
inline uint32_t shf_l(uint32_t low, uint32_t high, uint32_t by, bool wrap) {
    by = wrap ? by & 31 : by > 32 ? 32 : by;
    return uint32_t(((uint64_t(high) << 32 | low) << by) >> 32);
}
inline uint32_t shf_r(uint32_t low, uint32_t high, uint32_t by, bool wrap) {
    by = wrap ? by & 31 : by > 32 ? 32 : by;
    return uint32_t((uint64_t(high) << 32 | low) >> by);
}

enum Pick { any, f4e, b4e, rc8, ecl, ecr, rc16 };

// Four of the eight bytes b:a. Without a mode each nibble of `how` picks one, its top bit asking for the sign alone.
template <Pick mode>
uint32_t prmt(uint32_t a, uint32_t b, uint32_t how) {
    uint64_t from = uint64_t(b) << 32 | a;
    uint32_t to = 0, n = how & 3;
    for (uint32_t i = 0; i < 4; i++) {
        uint32_t nibble = how >> (4 * i) & 15;
        uint32_t at = mode == any   ? nibble & 7
                      : mode == f4e ? n + i
                      : mode == b4e ? (n - i) & 7
                      : mode == rc8 ? n
                      : mode == ecl ? (i > n ? i : n)
                      : mode == ecr ? (i < n ? i : n)
                                    : (i & 1) + 2 * (n & 1);
        uint32_t byte = uint32_t(from >> (8 * at)) & 0xFF;
        if (mode == any && nibble & 8) byte = byte & 0x80 ? 0xFF : 0;
        to |= byte << (8 * i);
    }
    return to;
}

// The lowest `count` bits of `from` put over those of `onto` from `start` on.
template <class T>
T bfi(T from, T onto, uint32_t start, uint32_t count) {
    start &= 255, count &= 255;
    T mask = shl(T(count >= bits<T> ? T(-1) : T((T(1) << count) - 1)), start);
    return T((onto & ~mask) | (shl(from, start) & mask));
}
// `count` bits from `start` on, with the sign of the last one that there is.
template <class T>
T bfe(T from, uint32_t start, uint32_t count) {
    start &= 255, count &= 255;
    if (count == 0) return 0;
    T down = shr(from, start);
    if (count >= bits<T>) return down;
    uint32_t unused = bits<T> - count;
    return shr(T(shl(down, unused)), unused);
}

// sum + two products: halves of `a` by the lower (0) or upper (16) bytes of `b`.
template <class Half, class Byte>
uint32_t dp2a(uint32_t a, uint32_t b, uint32_t sum, int from) {
    uint32_t low = uint32_t(int32_t(Half(a)) * int32_t(Byte(b >> from)));
    uint32_t high = uint32_t(int32_t(Half(a >> 16)) * int32_t(Byte(b >> (from + 8))));
    return sum + low + high;
}
template <class A, class B>
uint32_t dp4a(uint32_t a, uint32_t b, uint32_t sum) {
    for (int at = 0; at < 32; at += 8) sum += uint32_t(int32_t(A(a >> at)) * int32_t(B(b >> at)));
    return sum;
}

template <class To, class From>
To clamped(From value) {
    constexpr To least = std::is_signed_v<To> ? To(uint64_t(1) << (bits<To> - 1)) : To(0);
    constexpr To greatest = To(~least);
    if (value < From(0)) {
        return !std::is_signed_v<To> || __int128(value) < __int128(least) ? least : To(value);
    }
    return uint64_t(value) > uint64_t(greatest) ? greatest : To(value);
}
}  // namespace ptx
