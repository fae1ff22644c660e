// The last pass of a sample: normalise, erases, number format and layout; src/device/cpu/{output,blend}.rs.
#ifndef FEEDLINE_FINISH_CUH
#define FEEDLINE_FINISH_CUH

#include "normal.cuh"
#include "sums.cuh"

// What a sample is made into.
struct Format {
    uint32_t dtype, layout;
    float factors[6];
};

// The values of four pixels, by channel.
struct Values {
    float of[3][4];
};

FEEDLINE_INLINE Format open_format(const uint8_t* tables) {
    const Batch& batch = *table<Batch>(tables, 0);
    Format format;
    format.dtype = batch.dtype;
    format.layout = batch.layout;
    for (int i = 0; i < 6; i++) format.factors[i] = batch.factors[i];
    return format;
}

// The highest of the rectangles that holds the pixel, or 0.
FEEDLINE_INLINE const Erase* erase_at(const Erase* erases, uint32_t count, int x, int y) {
#pragma unroll 1
    while (count-- > 0) {
        const Rect& window = erases[count].window;
        if ((uint32_t)(x - window.x) < window.width && (uint32_t)(y - window.y) < window.height) return erases + count;
    }
    return 0;
}

FEEDLINE_INLINE float fill_at(const Erase& erase, int x, int y, int channel) {
    if (erase.kind != FEEDLINE_ERASE_NOISE) return erase.value[channel];
    uint32_t index = (uint32_t)(y - erase.window.y) * erase.window.width + (uint32_t)(x - erase.window.x);
    return noise(erase.key, index, (uint32_t)channel);
}

// Levels to values of the output.
FEEDLINE_INLINE Values finished(Quad quad, const Format& format) {
    Levels levels = unpack(quad);
    Values values;
    for (int i = 0; i < 4; i++) {
        bool floats = format.dtype != FEEDLINE_DTYPE_U8;
        values.of[0][i] = floats ? fmaf(levels.r[i], format.factors[0], format.factors[1]) : levels.r[i];
        values.of[1][i] = floats ? fmaf(levels.g[i], format.factors[2], format.factors[3]) : levels.g[i];
        values.of[2][i] = floats ? fmaf(levels.b[i], format.factors[4], format.factors[5]) : levels.b[i];
    }
    return values;
}

// Fills what is erased of an unmixed sample; u8 samples take the fill as a level.
FEEDLINE_INLINE void fill_erased(const Erase* erases, uint32_t count, const Tile& tile, const Format& format,
                                 Values& values) {
    if (count == 0) return;
    // One value at a time: noise takes much code.
#pragma unroll 1
    for (int at = 0; at < 12; at++) {
        int i = at / 3, c = at % 3;
        const Erase* erase = erase_at(erases, count, tile.x + i, tile.y);
        if (!erase) continue;
        float fill = fill_at(*erase, tile.x + i, tile.y, c);
        if (format.dtype == FEEDLINE_DTYPE_U8) fill = truncate(fill);
        // Written out, because registers cannot be indexed.
#pragma unroll
        for (int other = 0; other < 12; other++) {
            if (other == at) values.of[other % 3][other / 3] = fill;
        }
    }
}

// Stores the first `count` of four values, one behind the other, at once where that is all of them and aligned.
FEEDLINE_INLINE void store_four(uint8_t* base, uint64_t first, float a, float b, float c, float d, int count,
                                uint32_t dtype) {
    uint32_t words[4] = {bits_of(a), bits_of(b), bits_of(c), bits_of(d)};
    if (dtype == FEEDLINE_DTYPE_F32) {
        uint32_t* at = reinterpret_cast<uint32_t*>(base) + first;
        if (count == 4 && (reinterpret_cast<uintptr_t>(at) & 15) == 0) {
            *reinterpret_cast<uint4*>(at) = make_uint4(words[0], words[1], words[2], words[3]);
            return;
        }
        for (int i = 0; i < 4; i++) {
            if (i < count) at[i] = words[i];
        }
    } else if (dtype == FEEDLINE_DTYPE_U8) {
        uint8_t* at = base + first;
        uint32_t word = (uint32_t)a | (uint32_t)b << 8 | (uint32_t)c << 16 | (uint32_t)d << 24;
        if (count == 4 && (reinterpret_cast<uintptr_t>(at) & 3) == 0) {
            *reinterpret_cast<uint32_t*>(at) = word;
            return;
        }
        for (int i = 0; i < 4; i++) {
            if (i < count) at[i] = (uint8_t)(word >> (8 * i));
        }
    } else {
        bool half = dtype == FEEDLINE_DTYPE_F16;
        uint16_t* at = reinterpret_cast<uint16_t*>(base) + first;
        uint32_t low = half ? half_pair(a, b) : brain_bits(a) | brain_bits(b) << 16;
        uint32_t high = half ? half_pair(c, d) : brain_bits(c) | brain_bits(d) << 16;
        if (count == 4 && (reinterpret_cast<uintptr_t>(at) & 7) == 0) {
            *reinterpret_cast<uint2*>(at) = make_uint2(low, high);
            return;
        }
        for (int i = 0; i < 4; i++) {
            if (i < count) at[i] = (uint16_t)((i < 2 ? low : high) >> (i % 2 * 16));
        }
    }
}

// Stores the thread's pixels of a sample.
FEEDLINE_INLINE void store_sample(const RenderJob& job, const Format& format, const Tile& tile, const Values& values) {
    uint8_t* sample = reinterpret_cast<uint8_t*>(static_cast<uintptr_t>(job.target));
    int count = min(4, tile.right - tile.x);
    uint64_t at = (uint64_t)tile.y * job.size.width + (uint32_t)tile.x;
    if (format.layout >= FEEDLINE_LAYOUT_NHW) {
        float of[4];
        for (int i = 0; i < 4; i++) {
            of[i] = values.of[0][i] + (format.layout == FEEDLINE_LAYOUT_NHW_WIDE ? values.of[1][i] : 0.0f);
        }
        return store_four(sample, at, of[0], of[1], of[2], of[3], count, format.dtype);
    }
    bool planar = format.layout == FEEDLINE_LAYOUT_NCHW;
    uint64_t plane = (uint64_t)job.size.width * job.size.height;
#pragma unroll
    for (int run = 0; run < 3; run++) {
        // Four values of one channel, or the next four of those of all channels.
        float of[4];
        for (int i = 0; i < 4; i++) {
            int woven = run * 4 + i;
            of[i] = planar ? values.of[run][i] : values.of[woven % 3][woven / 3];
        }
        uint64_t first = planar ? run * plane + at : at * 3 + run * 4;
        int rest = planar ? count : min(count * 3 - run * 4, 4);
        store_four(sample, first, of[0], of[1], of[2], of[3], rest, format.dtype);
    }
}

FEEDLINE_INLINE bool is_shown(const Tile& tile) {
    return tile.x < tile.right && tile.y < tile.bottom;
}

// Stores the thread's pixels of a canvas. Rows have room for whole groups of four.
FEEDLINE_INLINE void store_canvas(uint64_t target, uint32_t pitch, uint8_t* scratch, const Tile& tile, Quad levels) {
    uint32_t packed[3];
    join(levels, packed);
    uint64_t place = target + (uint64_t)tile.y * pitch + (uint32_t)tile.x * 3;
    uint32_t* at = reinterpret_cast<uint32_t*>(scratch + place);
    for (int i = 0; i < 3; i++) at[i] = packed[i];
}

// Stores the thread's pixels of a canvas, and adds what they are to the statistic that is measured on it. All threads
// of the block call it.
FEEDLINE_INLINE void put_canvas(const RenderJob& job, const uint8_t* constants, uint8_t* scratch, const Tile& tile,
                                Quad levels, Shared& shared) {
    if (is_shown(tile)) store_canvas(job.target, job.pitch, scratch, tile, levels);
    if (job.measured == FEEDLINE_NONE) return;
    uint32_t measured = inside(job.rect, tile);
    if (job.measured & FEEDLINE_HISTOGRAM_BIT) {
        // What was staged there has been used.
        Bins& bins = *reinterpret_cast<Bins*>(&shared.staged);
        clear(bins);
        count(levels, measured, bins);
        return add_up(bins, job.measured, open_histograms(constants, scratch));
    }
    add_up(luma_sum(levels, measured), job.measured, open_sums(constants, scratch), shared.figures);
}

#endif  // FEEDLINE_FINISH_CUH
