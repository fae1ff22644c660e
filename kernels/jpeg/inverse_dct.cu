// From coefficients to samples: libjpeg's ISLOW, with the steps at which libjpeg-turbo's x86 code wraps and saturates.
//
// Eight threads a block of 64, each a column and then a row.

#include "../device.cuh"
#include "layout.h"

struct Shared {
    // A column more than there is, so that columns and rows lie in different banks.
    int16_t values[FEEDLINE_TRANSFORMED][8][9];
    // Whether a column has coefficients below its first.
    uint8_t tall[FEEDLINE_TRANSFORMED][8];
};

FEEDLINE_INLINE int to_16_bits(int value) { return (int16_t)value; }

// Sums of products wrap at 32 bits.
FEEDLINE_INLINE uint32_t dot(int a, int by_a, int b, int by_b) { return (uint32_t)(a * by_a) + (uint32_t)(b * by_b); }

FEEDLINE_INLINE int descaled(uint32_t value, int shift) {
    return min(max((int)(value + (1u << (shift - 1))) >> shift, -32768), 32767);
}

// Eight values in, eight out. The factors are cosines times 2^13, folded for products of 16 bits.
FEEDLINE_INLINE void one_dimension(int (&x)[8], int shift) {
    uint32_t t2 = dot(x[2], 4433, x[6], -10704), t3 = dot(x[2], 10703, x[6], 4433);
    uint32_t t0 = (uint32_t)to_16_bits(x[0] + x[4]) << 13, t1 = (uint32_t)to_16_bits(x[0] - x[4]) << 13;
    uint32_t even[4] = {t0 + t3, t1 + t2, t1 - t2, t0 - t3};
    int sum3 = to_16_bits(x[7] + x[3]), sum4 = to_16_bits(x[5] + x[1]);
    uint32_t z3 = dot(sum3, -6436, sum4, 9633), z4 = dot(sum3, 9633, sum4, 6437);
    uint32_t odd[4] = {dot(x[7], -7373, x[1], 4926) + z4, dot(x[5], -20995, x[3], 4177) + z3,
                       dot(x[5], -4176, x[3], -20995) + z4, dot(x[7], -4927, x[1], -7373) + z3};
    for (int i = 0; i < 4; i++) {
        x[i] = descaled(even[i] + odd[i], shift);
        x[7 - i] = descaled(even[i] - odd[i], shift);
    }
}

extern "C" __global__ void __launch_bounds__(FEEDLINE_TRANSFORMED * 8)
inverse_dct(const JpegJob* __restrict__ jobs, const JpegImage* __restrict__ images, const int16_t* __restrict__ quants) {
    __shared__ Shared shared;
    const JpegJob& job = jobs[blockIdx.x];
    const JpegImage& image = images[job.image];
    uint32_t own = threadIdx.x / 8, line = threadIdx.x % 8;
    uint32_t block = job.at + own;
    bool there = block < image.rows * image.columns * image.units;
    uint32_t mcu = block / image.units, unit = image.unit[block % image.units];
    const JpegPlane& plane = image.plane[unit & 3];
    int x[8];
    if (there) {
        const int16_t* coefficients =
            reinterpret_cast<const int16_t*>(static_cast<uintptr_t>(image.coefficients)) + (uint64_t)block * 64;
        const int16_t* factors = quants + plane.quant * 64;
        int below = 0;
        for (int i = 0; i < 8; i++) {
            int coefficient = coefficients[i * 8 + line];
            if (i > 0) below |= coefficient;
            x[i] = to_16_bits(coefficient * factors[i * 8 + line]);
        }
        shared.tall[own][line] = below != 0;
    }
    __syncthreads();
    if (there) {
        uint32_t tall = 0;
        for (int i = 0; i < 8; i++) tall |= shared.tall[own][i];
        if (tall) {
            one_dimension(x, 11);
        } else {
            // libjpeg-turbo's shortcut wraps where the full transform would saturate.
            int same = to_16_bits((int)((uint32_t)x[0] << 2));
            for (int i = 0; i < 8; i++) x[i] = same;
        }
        for (int i = 0; i < 8; i++) shared.values[own][i][line] = (int16_t)x[i];
    }
    __syncthreads();
    if (!there) return;
    for (int i = 0; i < 8; i++) x[i] = shared.values[own][line][i];
    one_dimension(x, 18);
    uint32_t words[2] = {0, 0};
    for (int i = 0; i < 8; i++) words[i / 4] |= (uint32_t)(min(max(x[i], -128), 127) + 128) << (8 * (i % 4));
    uint32_t across = mcu % image.columns * plane.blocks_across + (unit >> 4 & 3);
    uint32_t down = mcu / image.columns * plane.blocks_down + (unit >> 6 & 3);
    uint8_t* samples = reinterpret_cast<uint8_t*>(static_cast<uintptr_t>(image.planes)) + plane.offset;
    uint2* to = reinterpret_cast<uint2*>(samples + (uint64_t)(down * 8 + line) * plane.pitch + across * 8);
    *to = make_uint2(words[0], words[1]);
}
