// Upright resampling of one tile: rows first, bytes between the passes, then columns; src/device/cpu/resample.rs.
//
// Both passes weigh four levels at a time. Tables hold their weights in groups that start at a multiple of four, so a
// group of columns is one aligned word of a channel's plane, and a group of rows is a word too, once the first pass has
// stored the results of four rows side by side. Zero weights stand ahead of and behind the real ones; what they weigh
// is whatever lies there.
#ifndef FEEDLINE_RESAMPLE_CUH
#define FEEDLINE_RESAMPLE_CUH

#include "color.cuh"

// Columns, in groups of four, of the source pixels that shared memory holds: a tile reads so many where it shrinks up
// to 4.6 times. An odd number, so that rows start in different banks.
#define FEEDLINE_STAGED_GROUPS 41
// Rows, in groups of four, that are taken at a time: a thread for each column of each group.
#define FEEDLINE_STAGED_ROWS (FEEDLINE_THREADS / FEEDLINE_TILE_WIDTH)

// Shared memory of a block: 19 kB.
struct Shared {
    // Four rows of three planes each: line ((row group * 4) + row) * 3 + channel.
    uint32_t staged[FEEDLINE_STAGED_ROWS * 12][FEEDLINE_STAGED_GROUPS];
    // Between the passes: each word holds four rows of one column.
    alignas(16) uint32_t middle[3][FEEDLINE_STAGED_ROWS][FEEDLINE_TILE_WIDTH];
    Figures figures;
};

// The table of an axis, for the outputs of one tile and for the thread's own one.
struct Taps {
    const uint2* weights;  // of the thread's output; the next group's lie `count` further
    int count, groups, precision;
    int start;       // first group of the thread's output
    int begin, end;  // groups of source positions that the tile reads: begin..end
    bool shown;      // whether the layer shows the thread's output
};

// The tile begins at `at`, counted in the window, and has `length` outputs, of which the thread's is number `own`; the
// source has `source` positions.
FEEDLINE_INLINE Taps open_taps(const Axis& axis, const uint8_t* scratch, int at, int length, int own, int source) {
    const AxisTable* head = reinterpret_cast<const AxisTable*>(scratch + axis.table);
    const uint32_t* starts = reinterpret_cast<const uint32_t*>(head + 1);
    Taps taps;
    taps.count = (int)axis.count;
    taps.groups = (int)axis.groups;
    taps.precision = (int)head->precision;
    // The tile shows something of the layer, so these two are outputs.
    int one = (int)starts[max(at, 0)], other = (int)starts[min(at + length, taps.count) - 1];
    taps.begin = min(one, other);
    taps.end = min(max(one, other) + taps.groups, (source + 3) / 4);
    int output = clamp(at + own, 0, taps.count - 1);
    taps.shown = output == at + own;
    taps.start = (int)starts[output];
    taps.weights = reinterpret_cast<const uint2*>(starts + (axis.count + 3) / 4 * 4) + output;
    return taps;
}

// Brings four-row groups `from`..`to` of the columns that the tile reads into shared memory.
FEEDLINE_INLINE void stage(const Pixels& source, const Steps& steps, const Taps& columns, int from, int to, Shared& shared) {
    int width = columns.end - columns.begin, quads = (to - from) * 4 * width;
    // Consecutive threads take neighbours in memory: along rows, or down columns where rows are stored as columns.
    bool transposed = source.columns == 0;
    int length = transposed ? (to - from) * 4 : width;
    // i / length, exactly, for the few numbers that there are.
    uint32_t inverse = 0x10000 / (uint32_t)length + 1;
#pragma unroll 1
    for (int i = (int)threadIdx.x; i < quads; i += FEEDLINE_THREADS) {
        int along = (int)((uint32_t)i * inverse >> 16), rest = i - along * length;
        int row = transposed ? rest : along, group = transposed ? along : rest;
        Quad quad = recoloured(read_four(source, (columns.begin + group) * 4, from * 4 + row), steps);
        shared.staged[row * 3][group] = quad.r;
        shared.staged[row * 3 + 1][group] = quad.g;
        shared.staged[row * 3 + 2][group] = quad.b;
    }
}

FEEDLINE_INLINE void weigh_three(uint2 weights, Quad levels, int (&sums)[3]) {
    sums[0] = weigh(weights.x, weights.y, levels.r, sums[0]);
    sums[1] = weigh(weights.x, weights.y, levels.g, sums[1]);
    sums[2] = weigh(weights.x, weights.y, levels.b, sums[2]);
}

// One column of the four rows that group number `rows` of those in shared memory holds.
FEEDLINE_INLINE void resample_staged(const Taps& columns, int rows, Shared& shared, int x) {
    const uint32_t(*lines)[FEEDLINE_STAGED_GROUPS] = &shared.staged[rows * 12];
    int half = 1 << (columns.precision - 1);
    int sums[4][3] = {{half, half, half}, {half, half, half}, {half, half, half}, {half, half, half}};
    const uint2* weights = columns.weights;
#pragma unroll 1
    for (int group = 0; group < columns.groups; group++) {
        // Groups of zeros may lie beyond what was staged.
        int at = min(columns.start - columns.begin + group, FEEDLINE_STAGED_GROUPS - 1);
#pragma unroll
        for (int row = 0; row < 4; row++) {
            weigh_three(*weights, {lines[row * 3][at], lines[row * 3 + 1][at], lines[row * 3 + 2][at]}, sums[row]);
        }
        weights += columns.count;
    }
#pragma unroll
    for (int c = 0; c < 3; c++) {
        shared.middle[c][rows][x] = pack_levels(sums[0][c], sums[1][c], sums[2][c], sums[3][c], columns.precision);
    }
}

// The same from memory, for tiles that read more columns than shared memory holds: their taps overlap little. The rows
// are those from `top` on.
FEEDLINE_INLINE void resample_direct(const Pixels& source, const Steps& steps, const Taps& columns, int top, int rows,
                                     Shared& shared, int x) {
    int half = 1 << (columns.precision - 1);
    uint32_t words[3] = {0, 0, 0};
#pragma unroll 1
    for (int row = 0; row < 4; row++) {
        int sums[3] = {half, half, half};
        const uint2* weights = columns.weights;
#pragma unroll 1
        for (int group = 0; group < columns.groups; group++) {
            Quad quad = recoloured(read_four(source, (columns.start + group) * 4, top + row), steps);
            weigh_three(*weights, quad, sums);
            weights += columns.count;
        }
        for (int c = 0; c < 3; c++) words[c] |= pack_levels(sums[c], 0, 0, 0, columns.precision) << (8 * row);
    }
    for (int c = 0; c < 3; c++) shared.middle[c][rows][x] = words[c];
}

// The thread's four pixels of a layer. All threads of the block call it; those outside the window get rubbish.
//
// A thread's pixels are columns 4 (t % 8) to 4 (t % 8) + 3 of row t / 8 of the tile that begins at (`left`, `top`) of the
// layer's window. Of what lies between the passes it makes column t % 32 of four rows.
FEEDLINE_INLINE Quad resample(const LayerDesc& layer, const Pixels& source, const Steps& steps, const uint8_t* scratch,
                              int left, int top, Shared& shared) {
    int x = (int)threadIdx.x % FEEDLINE_TILE_WIDTH, at = (int)threadIdx.x / FEEDLINE_TILE_WIDTH;
    Taps columns = open_taps(layer.columns, scratch, left, FEEDLINE_TILE_WIDTH, x, source.width);
    Taps rows = open_taps(layer.rows, scratch, top, FEEDLINE_TILE_HEIGHT, (int)threadIdx.x / 8, source.height);
    bool staged = columns.end - columns.begin <= FEEDLINE_STAGED_GROUPS;
    int sums[3][4];
    for (int c = 0; c < 3; c++) {
        for (int i = 0; i < 4; i++) sums[c][i] = 1 << (rows.precision - 1);
    }
#pragma unroll 1
    for (int from = rows.begin; from < rows.end; from += FEEDLINE_STAGED_ROWS) {
        int to = min(from + FEEDLINE_STAGED_ROWS, rows.end);
        if (staged) stage(source, steps, columns, from, to, shared);
        __syncthreads();
        if (columns.shown && at < to - from) {
            if (staged) {
                resample_staged(columns, at, shared, x);
            } else {
                resample_direct(source, steps, columns, (from + at) * 4, at, shared, x);
            }
        }
        __syncthreads();
        if (!rows.shown) continue;
#pragma unroll 1
        for (int group = max(from, rows.start); group < min(to, rows.start + rows.groups); group++) {
            uint2 weights = rows.weights[(group - rows.start) * rows.count];
#pragma unroll
            for (int c = 0; c < 3; c++) {
                const uint32_t* four = &shared.middle[c][group - from][threadIdx.x % 8 * 4];
                uint4 levels = *reinterpret_cast<const uint4*>(four);
                sums[c][0] = weigh(weights.x, weights.y, levels.x, sums[c][0]);
                sums[c][1] = weigh(weights.x, weights.y, levels.y, sums[c][1]);
                sums[c][2] = weigh(weights.x, weights.y, levels.z, sums[c][2]);
                sums[c][3] = weigh(weights.x, weights.y, levels.w, sums[c][3]);
            }
        }
    }
    uint32_t words[3];
    for (int c = 0; c < 3; c++) words[c] = pack_levels(sums[c][0], sums[c][1], sums[c][2], sums[c][3], rows.precision);
    return {words[0], words[1], words[2]};
}

#endif  // FEEDLINE_RESAMPLE_CUH
