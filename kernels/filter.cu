// Filters canvases: sharpness and Gaussian blur, as src/device/cpu/filter.rs does.
//
// Grid (tiles, jobs). A block of 256 threads makes a tile of 32x32 pixels of one canvas, a thread four pixels side by side.
// For sharpness a thread reads three rows of six pixels. For a blur of w columns and h rows a block reads, a channel at a
// time, (31 + h) * (31 + w) levels, each w times from the cache, and keeps the blurred rows in shared memory.

#include "canvas.cuh"

// Blurred rows of one channel of a tile, those above and below it included.
typedef float Rows[FEEDLINE_TILE_HEIGHT + FEEDLINE_MAX_KERNEL - 1][FEEDLINE_TILE_WIDTH];

FEEDLINE_INLINE uint32_t level_at(uint32_t levels, int i) {
    return levels >> (8 * i) & 0xFF;
}

// T(fma(mean - x, amount, x)) with the rounded mean of nine pixels, in which the own one counts five times.
FEEDLINE_INLINE uint32_t sharpened(uint32_t own, uint32_t sum, float amount) {
    // The sum holds the own one once; it is never half way between two multiples of 13.
    float mean = (float)((sum + 4 * own + 6) / 13);
    float level = (float)own;
    return (uint32_t)truncate(fmaf(mean - level, amount, level));
}

FEEDLINE_INLINE Quad sharpen(const Pixels& source, const Tile& tile, float amount) {
    uint32_t sums[3][4] = {};
#pragma unroll 1
    for (int at = 0; at < 9; at++) {
        Quad near = read_four(source, tile.x + at % 3 - 1, tile.y + at / 3 - 1);
        for (int i = 0; i < 4; i++) {
            sums[0][i] += level_at(near.r, i);
            sums[1][i] += level_at(near.g, i);
            sums[2][i] += level_at(near.b, i);
        }
    }
    Quad own = read_four(source, tile.x, tile.y);
    if (tile.y == 0 || tile.y >= source.height - 1) return own;
    Quad quad = own;
    for (int i = 0; i < 4; i++) {
        if (tile.x + i == 0 || tile.x + i >= source.width - 1) continue;
        uint32_t others = ~(0xFFu << (8 * i));
        quad.r = (quad.r & others) | sharpened(level_at(own.r, i), sums[0][i], amount) << (8 * i);
        quad.g = (quad.g & others) | sharpened(level_at(own.g, i), sums[1][i], amount) << (8 * i);
        quad.b = (quad.b & others) | sharpened(level_at(own.b, i), sums[2][i], amount) << (8 * i);
    }
    return quad;
}

// A position beyond an edge, mirrored at the outermost pixel.
FEEDLINE_INLINE int mirrored(int at, int length) {
    at = at < 0 ? -at : at;
    return at < length ? at : 2 * (length - 1) - at;
}

// Blurs the rows that a tile needs of one channel.
FEEDLINE_INLINE void blur_rows(const Pixels& source, const Tile& tile, const FilterJob& job, const float* weights,
                               int channel, Rows& rows) {
    int reach = (int)job.columns / 2, above = (int)job.rows / 2;
    int count = (tile.bottom - tile.top + 2 * above) * FEEDLINE_TILE_WIDTH;
#pragma unroll 1
    for (int at = (int)threadIdx.x; at < count; at += FEEDLINE_THREADS) {
        int x = tile.left + at % FEEDLINE_TILE_WIDTH, row = at / FEEDLINE_TILE_WIDTH;
        if (x >= tile.right) continue;
        int y = mirrored(tile.top - above + row, source.height);
        const uint8_t* levels = source.origin + (int64_t)y * source.down + channel;
        float sum = 0.0f;
#pragma unroll 1
        for (int tap = 0; tap < (int)job.columns; tap++) {
            int from = mirrored(x + tap - reach, source.width);
            sum = fmaf((float)__ldg(levels + (int64_t)from * source.right), weights[tap], sum);
        }
        rows[row][at % FEEDLINE_TILE_WIDTH] = sum;
    }
}

// The thread's pixels of one channel, of blurred rows.
FEEDLINE_INLINE uint32_t blur_columns(const Tile& tile, const FilterJob& job, const float* weights, const Rows& rows) {
    float sums[4] = {};
#pragma unroll 1
    for (int tap = 0; tap < (int)job.rows; tap++) {
        const float* row = rows[tile.y - tile.top + tap];
        for (int i = 0; i < 4; i++) {
            if (tile.x + i < tile.right) sums[i] = fmaf(row[tile.x - tile.left + i], weights[tap], sums[i]);
        }
    }
    uint32_t levels = 0;
    for (int i = 0; i < 4; i++) levels |= (uint32_t)fminf(rintf(sums[i]), 255.0f) << (8 * i);
    return levels;
}

extern "C" __global__ void __launch_bounds__(FEEDLINE_THREADS)
filter(const uint8_t* __restrict__ constants, uint8_t* __restrict__ scratch, uint32_t jobs) {
    __shared__ Rows rows;
    auto [job, source, tile, is_there] = open_canvas(constants, scratch, jobs);
    if (!is_there) return;
    Quad levels = {0, 0, 0};
    if (job.filter == FEEDLINE_FILTER_SHARPNESS) {
        if (is_shown(tile)) levels = sharpen(source, tile, job.amount);
    } else {
        const float* weights = table<float>(constants, job.weights);
#pragma unroll 1
        for (int channel = 0; channel < 3; channel++) {
            blur_rows(source, tile, job, weights, channel, rows);
            __syncthreads();
            uint32_t blurred = is_shown(tile) ? blur_columns(tile, job, weights + job.columns, rows) : 0;
            if (channel == 0) levels.r = blurred;
            if (channel == 1) levels.g = blurred;
            if (channel == 2) levels.b = blurred;
            __syncthreads();
        }
    }
    if (is_shown(tile)) store_canvas(job.target, job.pitch, scratch, tile, levels);
}
