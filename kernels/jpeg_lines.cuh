// Lines of libjpeg's accurate transform, there and back, in whole numbers.
#ifndef FEEDLINE_JPEG_LINES_CUH
#define FEEDLINE_JPEG_LINES_CUH

#include "device.cuh"

FEEDLINE_INLINE int rounded(int value, int bits) {
    return bits == 0 ? value : (value + (1 << (bits - 1))) >> bits;
}

// The nearest multiple of a step, of two the one further from 0; values are eight times as large as they are meant.
FEEDLINE_INLINE int stepped(int value, int step) {
    int count = ((value < 0 ? -value : value) + 4 * step) / (8 * step);
    return value < 0 ? -count * step : count * step;
}

// Sums are shifted up or down by so many bits, and products down by `shift`.
FEEDLINE_INLINE void forward(int (&x)[8], int up, int down, int shift) {
    int p = x[0] + x[7], q = x[1] + x[6], r = x[2] + x[5], s = x[3] + x[4];
    int d = x[0] - x[7], c = x[1] - x[6], b = x[2] - x[5], a = x[3] - x[4];
    int turned = (q - r + p - s) * 4433, both = (a + c + b + d) * 9633;
    int first = (a + d) * -7373, second = (b + c) * -20995;
    int third = (a + c) * -16069 + both, fourth = (b + d) * -3196 + both;
    // A product, because a negative number must not be shifted up.
    x[0] = rounded((p + s + q + r) * (1 << up), down);
    x[1] = rounded(d * 12299 + first + fourth, shift);
    x[2] = rounded(turned + (p - s) * 6270, shift);
    x[3] = rounded(c * 25172 + second + third, shift);
    x[4] = rounded((p + s - q - r) * (1 << up), down);
    x[5] = rounded(b * 16819 + second + fourth, shift);
    x[6] = rounded(turned - (q - r) * 15137, shift);
    x[7] = rounded(a * 2446 + first + third, shift);
}

FEEDLINE_INLINE void inverse(int (&x)[8], int shift) {
    int turned = (x[2] + x[6]) * 4433;
    int sharp = turned - x[6] * 15137, flat = turned + x[2] * 6270;
    int sum = (x[0] + x[4]) * (1 << 13), difference = (x[0] - x[4]) * (1 << 13);
    int both = (x[7] + x[3] + x[5] + x[1]) * 9633;
    int first = (x[7] + x[1]) * -7373, second = (x[5] + x[3]) * -20995;
    int third = (x[7] + x[3]) * -16069 + both, fourth = (x[5] + x[1]) * -3196 + both;
    int even[4] = {sum + flat, difference + sharp, difference - sharp, sum - flat};
    int odd[4] = {x[1] * 12299 + first + fourth, x[3] * 25172 + second + third,
                  x[5] * 16819 + second + fourth, x[7] * 2446 + first + third};
    for (int i = 0; i < 4; i++) {
        x[i] = rounded(even[i] + odd[i], shift);
        x[7 - i] = rounded(even[i] - odd[i], shift);
    }
}

#endif  // FEEDLINE_JPEG_LINES_CUH
