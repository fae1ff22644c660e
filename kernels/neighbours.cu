// Filters canvases by what lies around each pixel, and adds noise or multiplies by it, as src/device/cpu/{neighbours,grain}.rs do: means,
// medians and weighted sums.
//
// Grid (tiles, jobs). A block of 256 threads makes a tile of 32x32 pixels of one canvas, a thread four pixels side by side.
// Of a window of w columns and h rows a block keeps the (31 + h) * (31 + w) levels that it needs of one channel in shared
// memory; a thread reads w * h of them for a level, and eight times as many for a median. Noise reads the tile alone.

#include "canvas.cuh"
#include "reflect.cuh"

// Levels of one channel of a tile, with those around it.
typedef uint8_t Around[FEEDLINE_TILE_HEIGHT + FEEDLINE_MAX_WINDOW - 1][FEEDLINE_TILE_WIDTH + FEEDLINE_MAX_WINDOW - 1];

// Loads what a tile needs of one channel. All threads of the block call it.
FEEDLINE_INLINE void stage(const Pixels& source, const Tile& tile, const FilterJob& job, int channel, Around& around) {
    int left = tile.left - (int)job.columns / 2, top = tile.top - (int)job.rows / 2;
    int across = tile.right - tile.left + (int)job.columns - 1, down = tile.bottom - tile.top + (int)job.rows - 1;
    bool repeats = job.filter == FEEDLINE_FILTER_MEDIAN;
#pragma unroll 1
    for (int at = (int)threadIdx.x; at < across * down; at += FEEDLINE_THREADS) {
        int column = at % across, row = at / across;
        int x = repeats ? clamp(left + column, 0, source.width - 1) : reflected(left + column, source.width);
        int y = repeats ? clamp(top + row, 0, source.height - 1) : reflected(top + row, source.height);
        around[row][column] = __ldg(source.origin + (int64_t)y * source.down + (int64_t)x * source.right + channel);
    }
}

// The rounded mean of a window of odd edges: a sum is never half way between two levels.
FEEDLINE_INLINE uint32_t mean(const Around& around, const FilterJob& job, int x, int y) {
    uint32_t sum = 0, area = job.columns * job.rows;
#pragma unroll 1
    for (int row = 0; row < (int)job.rows; row++) {
#pragma unroll 1
        for (int column = 0; column < (int)job.columns; column++) sum += around[y + row][x + column];
    }
    return (2 * sum + area) / (2 * area);
}

// The greatest level that more than half of the window reach, bit by bit.
FEEDLINE_INLINE uint32_t median(const Around& around, const FilterJob& job, int x, int y) {
    uint32_t found = 0, half = job.columns * job.rows / 2;
#pragma unroll 1
    for (uint32_t bit = 128; bit > 0; bit >>= 1) {
        uint32_t reached = 0;
#pragma unroll 1
        for (int row = 0; row < (int)job.rows; row++) {
#pragma unroll 1
            for (int column = 0; column < (int)job.columns; column++) {
                reached += around[y + row][x + column] >= (found | bit) ? 1 : 0;
            }
        }
        if (reached > half) found |= bit;
    }
    return found;
}

// The sum of the window's levels times weights, row by row.
FEEDLINE_INLINE uint32_t weighed(const Around& around, const FilterJob& job, const float* weights, int x, int y) {
    float sum = 0.0f;
#pragma unroll 1
    for (int row = 0; row < (int)job.rows; row++) {
#pragma unroll 1
        for (int column = 0; column < (int)job.columns; column++) {
            sum = fmaf((float)around[y + row][x + column], weights[row * (int)job.columns + column], sum);
        }
    }
    return (uint32_t)fminf(fmaxf(rintf(sum), 0.0f), 255.0f);
}

// The thread's pixels of one channel.
FEEDLINE_INLINE uint32_t filtered(const Around& around, const Tile& tile, const FilterJob& job, const float* weights) {
    uint32_t levels = 0;
#pragma unroll 1
    for (int i = 0; i < 4; i++) {
        int x = tile.x + i - tile.left, y = tile.y - tile.top;
        if (tile.x + i >= tile.right) break;
        uint32_t level = job.filter == FEEDLINE_FILTER_MEAN     ? mean(around, job, x, y)
                         : job.filter == FEEDLINE_FILTER_MEDIAN ? median(around, job, x, y)
                                                                : weighed(around, job, weights, x, y);
        levels |= level << (8 * i);
    }
    return levels;
}

FEEDLINE_INLINE uint32_t grained(uint32_t level, float normal, const FilterJob& job) {
    return (uint32_t)truncate((float)level + (normal * job.amount + job.mean));
}

FEEDLINE_INLINE uint32_t multiplied(uint32_t level, uint32_t bits, const FilterJob& job) {
    float uniform = (float)(bits >> 8) * (1.0f / 16777216.0f);
    return (uint32_t)truncate((float)level * (uniform * job.amount + job.mean));
}

// The thread's pixels times factors, whose numbers the pixel's place in the canvas says.
FEEDLINE_INLINE Quad multiplied(const Pixels& source, const Tile& tile, const FilterJob& job) {
    Quad own = read_four(source, tile.x, tile.y), quad = {0, 0, 0};
#pragma unroll 1
    for (int i = 0; i < 4; i++) {
        uint32_t index = (uint32_t)tile.y * (uint32_t)source.width + (uint32_t)(tile.x + i);
        Words words = philox_words(job.limit ? index : 0, 0, job.key);
        quad.r |= multiplied(own.r >> (8 * i) & 0xFF, words.a, job) << (8 * i);
        quad.g |= multiplied(own.g >> (8 * i) & 0xFF, job.shared ? words.a : words.b, job) << (8 * i);
        quad.b |= multiplied(own.b >> (8 * i) & 0xFF, job.shared ? words.a : words.c, job) << (8 * i);
    }
    return quad;
}

// The thread's pixels with noise, whose numbers the pixel's place in the canvas says.
FEEDLINE_INLINE Quad grained(const Pixels& source, const Tile& tile, const FilterJob& job) {
    Quad own = read_four(source, tile.x, tile.y), quad = {0, 0, 0};
#pragma unroll 1
    for (int i = 0; i < 4; i++) {
        uint32_t index = (uint32_t)tile.y * (uint32_t)source.width + (uint32_t)(tile.x + i);
        Words words = philox_words(index, 0, job.key);
        float r = normal_of(words.a);
        float g = job.shared ? r : normal_of(words.b), b = job.shared ? r : normal_of(words.c);
        quad.r |= grained(own.r >> (8 * i) & 0xFF, r, job) << (8 * i);
        quad.g |= grained(own.g >> (8 * i) & 0xFF, g, job) << (8 * i);
        quad.b |= grained(own.b >> (8 * i) & 0xFF, b, job) << (8 * i);
    }
    return quad;
}

extern "C" __global__ void __launch_bounds__(FEEDLINE_THREADS)
neighbours(const uint8_t* __restrict__ constants, uint8_t* __restrict__ scratch, uint32_t jobs) {
    __shared__ Around around;
    auto [job, source, tile, is_there] = open_canvas(constants, scratch, jobs);
    if (!is_there) return;
    Quad levels = {0, 0, 0};
    if (job.filter == FEEDLINE_FILTER_NOISE) {
        if (is_shown(tile)) levels = grained(source, tile, job);
    } else if (job.filter == FEEDLINE_FILTER_MULTIPLY) {
        if (is_shown(tile)) levels = multiplied(source, tile, job);
    } else {
        const float* weights = table<float>(constants, job.weights);
#pragma unroll 1
        for (int channel = 0; channel < 3; channel++) {
            stage(source, tile, job, channel, around);
            __syncthreads();
            uint32_t made = is_shown(tile) ? filtered(around, tile, job, weights) : 0;
            if (channel == 0) levels.r = made;
            if (channel == 1) levels.g = made;
            if (channel == 2) levels.b = made;
            __syncthreads();
        }
    }
    if (is_shown(tile)) store_canvas(job.target, job.pitch, scratch, tile, levels);
}
