// Standard normal noise from a counter hash: what src/rng/normal.rs and src/device/cpu/normal.rs compute, to the bit, in f64 as there.
#ifndef FEEDLINE_NORMAL_CUH
#define FEEDLINE_NORMAL_CUH

#include "device.cuh"

// One block of Philox 4x32-10.
struct Words {
    uint32_t a, b, c, d;
};

FEEDLINE_INLINE Words philox_words(uint32_t index, uint32_t channel, const uint32_t key[2]) {
    uint32_t counter[4] = {index, channel, 0, 0};
    uint32_t first = key[0], second = key[1];
#pragma unroll
    for (int round = 0; round < 10; round++) {
        uint64_t low = (uint64_t)0xD2511F53u * counter[0], high = (uint64_t)0xCD9E8D57u * counter[2];
        counter[0] = (uint32_t)(high >> 32) ^ counter[1] ^ first;
        counter[1] = (uint32_t)high;
        counter[2] = (uint32_t)(low >> 32) ^ counter[3] ^ second;
        counter[3] = (uint32_t)low;
        first += 0x9E3779B9u;
        second += 0xBB67AE85u;
    }
    return {counter[0], counter[1], counter[2], counter[3]};
}

// ln x for normal x > 0, from additions, products and one division alone.
FEEDLINE_INLINE double logarithm(double x) {
    uint64_t bits = bits_of(x);
    int64_t exponent = (int64_t)(bits >> 52) - 1023;
    double mantissa = double_of((bits & 0x000FFFFFFFFFFFFFull) | 0x3FF0000000000000ull);
    double t = (mantissa - 1.0) / (mantissa + 1.0);
    double square = t * t;
    double series = 0.0;
#pragma unroll
    for (int k = 19; k >= 0; k--) series = series * square + 1.0 / (2 * k + 1);
    return 2.0 * t * series + (double)exponent * 0.693147180559945309417232121458;
}

// Acklam's rational approximation of the inverse of the normal distribution.
FEEDLINE_INLINE double inverse_normal(double u) {
    const double tail = 0.02425;
    bool upper = u > 1.0 - tail;
    double v = upper ? 1.0 - u : u;
    if (v < tail) {
        double q = sqrt(-2.0 * logarithm(v));
        double top = -7.784894002430293e-3, bottom = 7.784695709041462e-3;
        top = top * q + -3.223964580411365e-1;
        top = top * q + -2.400758277161838;
        top = top * q + -2.549732539343734;
        top = top * q + 4.374664141464968;
        top = top * q + 2.938163982698783;
        bottom = bottom * q + 3.224671290700398e-1;
        bottom = bottom * q + 2.445134137142996;
        bottom = bottom * q + 3.754408661907416;
        double x = top / (bottom * q + 1.0);
        return upper ? -x : x;
    }
    double q = v - 0.5, r = q * q;
    double top = -3.969683028665376e1, bottom = -5.447609879822406e1;
    top = top * r + 2.209460984245205e2;
    top = top * r + -2.759285104469687e2;
    top = top * r + 1.38357751867269e2;
    top = top * r + -3.066479806614716e1;
    top = top * r + 2.506628277459239;
    bottom = bottom * r + 1.615858368580409e2;
    bottom = bottom * r + -1.556989798598866e2;
    bottom = bottom * r + 6.680131188771972e1;
    bottom = bottom * r + -1.328068155288572e1;
    double x = top * q / (bottom * r + 1.0);
    return upper ? -x : x;
}

// The standard normal number of 32 random bits: of the middle of one of 2^23 equal parts of 0..1, so never 0 or 1.
FEEDLINE_CALLED float normal_of(uint32_t bits) {
    return (float)inverse_normal(((double)(bits >> 9) + 0.5) / 8388608.0);
}

// The noise of pixel `index`, in row order, of an erased rectangle.
FEEDLINE_INLINE float noise(const uint32_t key[2], uint32_t index, uint32_t channel) {
    return normal_of(philox_words(index, channel, key).a);
}

#endif  // FEEDLINE_NORMAL_CUH
