// From samples to packed RGB: fancy upsampling as libjpeg does it, and its colours in fixed point.
//
// A block makes a tile, a thread four pixels side by side, of which the first stands in a column that is a multiple of four:
// the samples of a component at full size are a word, and those of a halved one begin with a pair.

#include "../device.cuh"
#include "layout.h"

// A component's samples, and the four pixels from column x on that a thread makes of them.
struct Samples {
    const JpegPlane& plane;
    const uint8_t* first;
    uint32_t x, y;
};

FEEDLINE_INLINE const uint8_t* row_of(const Samples& samples, uint32_t row) {
    return samples.first + (uint64_t)(row - samples.plane.top) * samples.plane.pitch;
}

FEEDLINE_INLINE uint32_t word_of(const Samples& samples, uint32_t row) {
    return *reinterpret_cast<const uint32_t*>(row_of(samples, row) + (samples.x - samples.plane.left));
}

FEEDLINE_INLINE int byte_of(uint32_t word, int at) { return word >> (8 * at) & 0xFF; }

// The row next to the one that the pixels lie in, on their side; the same one at the component's edge.
FEEDLINE_INLINE uint32_t next_row(const Samples& samples) {
    uint32_t row = samples.y / 2;
    return samples.y % 2 == 0 ? max(row, 1u) - 1 : min(row + 1, samples.plane.height - 1);
}

// Four columns, from the one ahead of the pixels' pair on, counted from the row's first sample. What lies outside of the
// component is the sample at its edge, and what lies outside of the window is needed for no pixel.
struct Columns {
    uint32_t at[4];
};

FEEDLINE_INLINE Columns columns_of(const Samples& samples) {
    const JpegPlane& plane = samples.plane;
    uint32_t column = samples.x / 2 - plane.left, last = min(plane.width - plane.left, plane.pitch) - 1;
    return {{max(column, 1u) - 1, column, min(column + 1, last), min(column + 2, last)}};
}

// Three quarters of the nearer of two sums and a quarter of the other, for each pixel.
FEEDLINE_INLINE void across(const int (&sums)[4], int left, int right, int shift, int (&out)[4]) {
    out[0] = (3 * sums[1] + sums[0] + left) >> shift;
    out[1] = (3 * sums[1] + sums[2] + right) >> shift;
    out[2] = (3 * sums[2] + sums[1] + left) >> shift;
    out[3] = (3 * sums[2] + sums[3] + right) >> shift;
}

FEEDLINE_INLINE void interpolate_across(const Samples& samples, int (&out)[4]) {
    Columns columns = columns_of(samples);
    const uint8_t* row = row_of(samples, samples.y);
    int sums[4];
    for (int i = 0; i < 4; i++) sums[i] = row[columns.at[i]];
    across(sums, 1, 2, 2, out);
}

FEEDLINE_INLINE void interpolate_both(const Samples& samples, int (&out)[4]) {
    Columns columns = columns_of(samples);
    const uint8_t *near = row_of(samples, samples.y / 2), *far = row_of(samples, next_row(samples));
    int sums[4];
    for (int i = 0; i < 4; i++) sums[i] = 3 * near[columns.at[i]] + far[columns.at[i]];
    across(sums, 8, 7, 4, out);
}

FEEDLINE_INLINE void interpolate_down(const Samples& samples, int (&out)[4]) {
    uint32_t near = word_of(samples, samples.y / 2), far = word_of(samples, next_row(samples));
    int bias = samples.y % 2 == 0 ? 1 : 2;
    for (int i = 0; i < 4; i++) out[i] = (3 * byte_of(near, i) + byte_of(far, i) + bias) >> 2;
}

FEEDLINE_INLINE void repeat(const Samples& samples, int (&out)[4]) {
    const JpegPlane& plane = samples.plane;
    const uint8_t* row = row_of(samples, samples.y / plane.down);
    uint32_t last = min(plane.width - plane.left, plane.pitch) - 1;
    for (uint32_t i = 0; i < 4; i++) out[i] = row[min((samples.x + i) / plane.across - plane.left, last)];
}

// A component's values at four pixels.
FEEDLINE_INLINE void values_of(const Samples& samples, int (&out)[4]) {
    switch (samples.plane.upsampling) {
        case FEEDLINE_UPSAMPLE_NONE: {
            uint32_t word = word_of(samples, samples.y);
            for (int i = 0; i < 4; i++) out[i] = byte_of(word, i);
            return;
        }
        case FEEDLINE_UPSAMPLE_H2V1: return interpolate_across(samples, out);
        case FEEDLINE_UPSAMPLE_H1V2: return interpolate_down(samples, out);
        case FEEDLINE_UPSAMPLE_H2V2: return interpolate_both(samples, out);
        default: return repeat(samples, out);
    }
}

struct Levels {
    uint32_t r, g, b;  // of four pixels, the first in the lowest byte
};

FEEDLINE_INLINE uint32_t packed(const int (&values)[4]) { return pack_levels(values[0], values[1], values[2], values[3], 0); }

FEEDLINE_INLINE Levels colours(const int (&luma)[4], const int (&blue)[4], const int (&red)[4]) {
    int r[4], g[4], b[4];
    for (int i = 0; i < 4; i++) {
        // Both differences count from 128, and a half is added.
        int level = luma[i] * 65536 + 32768;
        r[i] = level + 91881 * red[i] - 91881 * 128;
        g[i] = level - 22554 * blue[i] - 46802 * red[i] + (22554 + 46802) * 128;
        b[i] = level + 116130 * blue[i] - 116130 * 128;
    }
    return {pack_levels(r[0], r[1], r[2], r[3], 16), pack_levels(g[0], g[1], g[2], g[3], 16),
            pack_levels(b[0], b[1], b[2], b[3], 16)};
}

// Writes the pixels from number `from` to number `to` of four.
FEEDLINE_INLINE void store(uint8_t* at, const Levels& levels, uint32_t from, uint32_t to) {
    uint32_t early = pick_bytes(levels.r, levels.g, 0x5140), late = pick_bytes(levels.r, levels.g, 0x7362);
    uint32_t words[3] = {pick_bytes(early, levels.b, 0x2410), pick_bytes(pick_bytes(levels.g, levels.b, 0x5140), late, 0x5432),
                         pick_bytes(late, levels.b, 0x7326)};
    if (from == 0 && to == 4 && (reinterpret_cast<uintptr_t>(at) & 3) == 0) {
        for (int i = 0; i < 3; i++) reinterpret_cast<uint32_t*>(at)[i] = words[i];
        return;
    }
#pragma unroll
    for (uint32_t i = 0; i < 12; i++) {
        if (i >= from * 3 && i < to * 3) at[i] = (uint8_t)byte_of(words[i / 4], i % 4);
    }
}

extern "C" __global__ void __launch_bounds__(FEEDLINE_RGB_WIDTH / 4 * FEEDLINE_RGB_HEIGHT)
planes_to_rgb(const JpegJob* __restrict__ jobs, const JpegImage* __restrict__ images) {
    const JpegJob& job = jobs[blockIdx.x];
    const JpegImage& image = images[job.image];
    uint32_t tiles = (image.x % 4 + image.width + FEEDLINE_RGB_WIDTH - 1) / FEEDLINE_RGB_WIDTH;
    uint32_t x = image.x / 4 * 4 + job.at % tiles * FEEDLINE_RGB_WIDTH + threadIdx.x % (FEEDLINE_RGB_WIDTH / 4) * 4;
    uint32_t row = job.at / tiles * FEEDLINE_RGB_HEIGHT + threadIdx.x / (FEEDLINE_RGB_WIDTH / 4);
    uint32_t end = image.x + image.width;
    if (x >= end || row >= image.height) return;
    const uint8_t* planes = reinterpret_cast<const uint8_t*>(static_cast<uintptr_t>(image.planes));
    int values[3][4];
    for (uint32_t c = 0; c < 3; c++) {
        if (c >= image.components) break;
        values_of({image.plane[c], planes + image.plane[c].offset, x, image.y + row}, values[c]);
    }
    Levels levels;
    levels.r = levels.g = levels.b = packed(values[0]);
    if (image.color == FEEDLINE_COLOR_RGB) {
        levels.g = packed(values[1]);
        levels.b = packed(values[2]);
    } else if (image.color == FEEDLINE_COLOR_YCC) {
        levels = colours(values[0], values[1], values[2]);
    }
    uint8_t* pixels = reinterpret_cast<uint8_t*>(static_cast<uintptr_t>(image.pixels)) + (uint64_t)row * image.pitch;
    store(pixels + ((int64_t)x - image.x) * 3, levels, max(x, image.x) - x, min(x + 4, end) - x);
}
