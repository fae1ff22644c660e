// Pictures laid over each other with shares, in f32: what src/device/cpu/blend.rs does, to the bit.
//
// A pixel that some input erased is a sum of levels and of normalised values, so the two are summed apart: the result
// is levels * a + b * weight + fills, where weight is the share of the levels.
#ifndef FEEDLINE_BLEND_CUH
#define FEEDLINE_BLEND_CUH

#include "finish.cuh"

// The running sum of the thread's four pixels; the last two are kept only where something is erased.
template <bool ERASED>
struct Sum {
    float levels[3][4];
    float fills[ERASED ? 3 : 1][ERASED ? 4 : 1];
    float weights[ERASED ? 4 : 1];
};

// Adds the fills of an input's erased rectangles; returns a bit for each of the four pixels that is erased.
FEEDLINE_INLINE uint32_t lay_fills(const Erase* erases, const BlendInput& input, const Tile& tile, uint32_t shown,
                                   float keep, Sum<true>& sum) {
    uint32_t erased = 0;
#pragma unroll 1
    for (int at = 0; at < 12; at++) {
        int i = at / 3, c = at % 3;
        if (!(shown >> i & 1)) continue;
        const Erase* erase = erase_at(erases, input.erases.len, tile.x + i, tile.y);
        erased |= (uint32_t)(erase != 0) << i;
        float filled = erase ? fill_at(*erase, tile.x + i, tile.y, c) * input.weight : 0.0f;
#pragma unroll
        for (int other = 0; other < 12; other++) {
            float& fill = sum.fills[other % 3][other / 3];
            if (other == at) fill = fill * keep + filled;
        }
    }
    return erased;
}

// Lays the input on the sum, inside the input's window, as its mode says.
template <bool ERASED>
FEEDLINE_INLINE void lay(const Erase* erases, const BlendInput& input, const Tile& tile, const Levels& levels,
                         Sum<ERASED>& sum) {
    float share = input.weight, keep = input.mode == FEEDLINE_BLEND_OVER ? 1.0f - share : 1.0f;
    bool between = input.mode == FEEDLINE_BLEND_BETWEEN;
    uint32_t shown = inside(input.window, tile);
    uint32_t erased = 0;
    if constexpr (ERASED) erased = lay_fills(erases, input, tile, shown, keep, sum);
    for (int i = 0; i < 4; i++) {
        if (!(shown >> i & 1)) continue;
        float weight = erased >> i & 1 ? 0.0f : share;
        if (ERASED) sum.weights[i] = sum.weights[i] * keep + weight;
        float counts[3] = {levels.r[i], levels.g[i], levels.b[i]};
        for (int c = 0; c < 3; c++) {
            float below = sum.levels[c][i];
            sum.levels[c][i] = below * keep + (between ? counts[c] - below : counts[c]) * weight;
        }
    }
}

FEEDLINE_INLINE float bounded(float x) {
    return fminf(fmaxf(x, 0.0f), 255.0f);
}

// The sum cut off to levels, for a canvas or for colour steps behind the blend.
template <bool ERASED>
FEEDLINE_INLINE Quad cut_off(const Sum<ERASED>& sum) {
    Levels levels;
    for (int i = 0; i < 4; i++) {
        levels.r[i] = truncate(sum.levels[0][i]);
        levels.g[i] = truncate(sum.levels[1][i]);
        levels.b[i] = truncate(sum.levels[2][i]);
    }
    return pack(levels);
}

// The sum as values of the output.
template <bool ERASED>
FEEDLINE_INLINE Values valued(const Sum<ERASED>& sum, const Format& format) {
    Values values;
    for (int c = 0; c < 3; c++) {
        float a = format.factors[2 * c], b = format.factors[2 * c + 1];
        for (int i = 0; i < 4; i++) {
            float level = sum.levels[c][i];
            if (format.dtype == FEEDLINE_DTYPE_U8) {
                values.of[c][i] = bounded(level);
            } else if (ERASED) {
                values.of[c][i] = fmaf(level, a, b * sum.weights[i]) + sum.fills[c][i];
            } else {
                values.of[c][i] = fmaf(level, a, b);
            }
        }
    }
    return values;
}

// Renders one tile of the inputs of a job, laid over each other.
template <bool ERASED>
FEEDLINE_INLINE void blend_job(const uint8_t* constants, uint8_t* scratch, uint32_t jobs, Shared& shared) {
    const RenderJob& job = table<RenderJob>(constants, jobs)[blockIdx.y];
    // Other jobs of the launch may have more tiles. Such a block would store nothing, but take its time.
    if (blockIdx.x >= tiles_of(job.size)) return;
    Tables tables = {constants, scratch};
    load_figures(tables, job.stats, shared.figures);
    __syncthreads();
    Tile tile = open_tile(job.size, blockIdx.x);
    Sum<ERASED> sum = {};
#pragma unroll 1
    for (uint32_t at = 0; at < job.inputs.len; at++) {
        const BlendInput& input = inputs_of(tables)[job.inputs.start + at];
        if (!touches(input.window, tile)) continue;
        Quad levels = compose(tables, input, tile, shared);
        levels = recoloured(levels, open_steps(tables, input.steps, shared.figures));
        lay(erases_of(tables, input), input, tile, unpack(levels), sum);
    }
    if (job.pitch == 0 && job.steps.len == 0) {
        Format format = open_format(constants);
        if (is_shown(tile)) store_sample(job, format, tile, valued(sum, format));
        return;
    }
    Quad levels = recoloured(cut_off(sum), open_steps(tables, job.steps, shared.figures));
    if (job.pitch != 0) return put_canvas(job, constants, scratch, tile, levels, shared);
    Format format = open_format(constants);
    if (is_shown(tile)) store_sample(job, format, tile, finished(levels, format));
}

#endif  // FEEDLINE_BLEND_CUH
