// PTX's arithmetic on floating point, with the rounding that an instruction names.
//
// Nearest even is the host's own. The directed ones are computed exactly, in 113 bits, and pushed to the side that is
// asked for; the host's rounding mode is never touched. NaNs of f32 are the one that a device makes.
#pragma once
#include <float.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

#include <type_traits>

namespace ptx {
enum Rounding { rn, rz, rm, rp };

#if defined(__SIZEOF_FLOAT128__)
using Exact = __float128;
#else
using Exact = long double;
static_assert(LDBL_MANT_DIG >= 113, "products of two doubles must be exact");
#endif

template <class To, class From>
inline To cast(From value) {
    static_assert(sizeof(To) == sizeof(From));
    To to;
    memcpy(&to, &value, sizeof to);
    return to;
}

inline float canonical(float value) { return value != value ? cast<float>(0x7FFFFFFFu) : value; }
inline double canonical(double value) { return value; }

// `near` is one of the two numbers around an exact value, which lies above (1), below (-1) or on it.
template <Rounding mode, class T>
T pushed(T near, int side) {
    bool positive = near > 0 || (near == 0 && side > 0);
    bool down = mode == rm || (mode == rz && positive);
    if (down && side < 0) return T(std::is_same_v<T, float> ? nextafterf(near, -INFINITY) : nextafter(near, -INFINITY));
    if (!down && side > 0) return T(std::is_same_v<T, float> ? nextafterf(near, INFINITY) : nextafter(near, INFINITY));
    return near;
}

template <class N>
int sign_of(N value) {
    return (value > 0) - (value < 0);
}

// a + b, both finite.
template <Rounding mode, class T>
T sum_of(Exact a, Exact b) {
    Exact sum = a + b;
    if (sum == 0) {
        bool positive = a == 0 && b == 0 && !signbit(double(a)) && !signbit(double(b));
        return mode == rm && !positive ? T(-0.0) : T(sum);
    }
    // What the sum lost is exact; it decides only where the sum is a T by itself.
    Exact back = sum - a, lost = (a - (sum - back)) + (b - back);
    T near = T(sum);
    return pushed<mode>(near, sum != Exact(near) ? sign_of(sum - Exact(near)) : sign_of(lost));
}

template <Rounding mode, class T>
T add(T a, T b) {
    if (mode == rn || !isfinite(a) || !isfinite(b)) return canonical(a + b);
    return sum_of<mode, T>(a, b);
}

template <Rounding mode, class T>
T sub(T a, T b) {
    if (mode == rn || !isfinite(a) || !isfinite(b)) return canonical(a - b);
    return sum_of<mode, T>(a, -Exact(b));
}

template <Rounding mode, class T>
T mul(T a, T b) {
    if (mode == rn || !isfinite(a) || !isfinite(b)) return canonical(a * b);
    Exact product = Exact(a) * Exact(b);
    T near = T(product);
    return pushed<mode>(near, sign_of(product - Exact(near)));
}

inline float fused(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
inline double fused(double a, double b, double c) { return __builtin_fma(a, b, c); }

template <Rounding mode, class T>
T fma(T a, T b, T c) {
    if (mode == rn || !isfinite(a) || !isfinite(b) || !isfinite(c)) return canonical(fused(a, b, c));
    return sum_of<mode, T>(Exact(a) * Exact(b), c);
}

template <Rounding mode, class T>
T div(T a, T b) {
    T near = a / b;
    if (mode == rn || !isfinite(a) || !isfinite(b) || a == 0 || b == 0) return canonical(near);
    if (isinf(near)) return pushed<mode>(near, -sign_of(near));
    return pushed<mode>(near, sign_of(Exact(a) - Exact(near) * Exact(b)) * sign_of(b));
}

template <Rounding mode, class T>
T rcp(T a) {
    return div<mode>(T(1), a);
}

template <Rounding mode, class T>
T sqrt(T a) {
    T near = std::is_same_v<T, float> ? T(sqrtf(float(a))) : T(::sqrt(a));
    if (mode == rn || !(a > 0) || isinf(a)) return canonical(near);
    return pushed<mode>(near, sign_of(Exact(a) - Exact(near) * Exact(near)));
}

// An integer, or a number of a wider format, as a T.
template <Rounding mode, class T, class From>
T number(From value) {
    T near = T(value);
    if constexpr (std::is_floating_point_v<From>) {
        if (!isfinite(value)) return canonical(near);
    }
    if (mode == rn) return near;
    return pushed<mode>(near, sign_of(Exact(value) - Exact(near)));
}

// To a whole number, still a T: .rni, .rzi, .rmi and .rpi.
template <Rounding mode, class T>
T whole(T value) {
    if (value != value) return canonical(value);
    if (std::is_same_v<T, float>) {
        return T(mode == rn ? rintf(value) : mode == rz ? truncf(value) : mode == rm ? floorf(value) : ceilf(value));
    }
    return T(mode == rn ? rint(value) : mode == rz ? trunc(value) : mode == rm ? floor(value) : ceil(value));
}

// To an integer. It always saturates; a NaN is 0, or 2^63 where either side has 64 bits.
template <Rounding mode, class To, class From>
To integer(From value) {
    if (value != value) return sizeof(To) == 8 || sizeof(From) == 8 ? To(uint64_t(1) << (8 * sizeof(To) - 1)) : To(0);
    constexpr To least = std::is_signed_v<To> ? To(uint64_t(1) << (8 * sizeof(To) - 1)) : To(0);
    constexpr To greatest = To(~least);
    From result = whole<mode>(value);
    // The power of two above the greatest, since that itself may be none of the format's numbers.
    if (result >= From(greatest / 2 + 1) * 2) return greatest;
    return result <= From(least) ? least : To(result);
}

// To 0..1; a NaN is 0.
template <class T>
T saturated(T value) {
    return value > 0 ? value < 1 ? value : T(1) : T(0);
}

// The bits of a format of 16 bits with so many of mantissa: 10 is f16, 7 is bf16.
template <Rounding mode, int mantissa>
uint16_t narrow(float value) {
    constexpr int least = mantissa == 10 ? -14 : -126;  // exponent of the least normal number
    constexpr uint16_t infinite = mantissa == 10 ? 0x7C00 : 0x7F80;
    if (value != value) return 0x7FFF;
    bool negative = signbit(value);
    uint16_t sign = negative ? 0x8000 : 0;
    if (isinf(value)) return sign | infinite;
    int exponent;
    double size = frexp(fabs(double(value)), &exponent);
    exponent = size == 0 || exponent - 1 < least ? least : exponent - 1;
    double steps = ldexp(fabs(double(value)), mantissa - exponent);
    bool up = mode == (negative ? rm : rp), nearest = mode == rn;
    double rounded = nearest ? rint(steps) : up ? ceil(steps) : floor(steps);
    int bits = ((exponent - least + 1) << mantissa) + int(rounded) - (1 << mantissa);
    if (bits >= infinite) bits = nearest || up ? infinite : infinite - 1;
    return uint16_t(sign | bits);
}

// A half is exact as a float.
inline float wide(uint16_t half) {
    int exponent = half >> 10 & 31, mantissa = half & 0x3FF;
    if (exponent == 31 && mantissa != 0) return cast<float>(0x7FFFFFFFu);
    float size = exponent == 31 ? INFINITY
                                : ldexpf(float(mantissa + (exponent ? 1024 : 0)), (exponent ? exponent : 1) - 25);
    return half & 0x8000 ? -size : size;
}

// The one that is a number, where one is none; -0 is below +0.
template <class T>
T min_number(T a, T b) {
    if (a != a || b != b) return canonical(a != a ? b : a);
    return a < b || (a == b && signbit(a)) ? a : b;
}
template <class T>
T max_number(T a, T b) {
    if (a != a || b != b) return canonical(a != a ? b : a);
    return a > b || (a == b && !signbit(a)) ? a : b;
}

// Of the sign bit alone, also of a NaN.
template <class T>
T size(T value) {
    return std::is_same_v<T, float> ? T(fabsf(float(value))) : T(fabs(double(value)));
}
}  // namespace ptx
