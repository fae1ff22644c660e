// What a JPEG keeps of canvases, as samples of luma and two colour differences: src/device/cpu/compress.rs does the same.
//
// Grid (tiles, jobs). A block of 256 threads makes a tile of 32x32 pixels, which are 24 blocks of 8x8 samples with eight
// threads each; it reads 32 * 32 * 3 bytes, and writes half as many.

#include "canvas.cuh"
#include "jpeg_lines.cuh"

struct Staged {
    // Luma, and the differences at full size.
    uint8_t full[3][32][32];
    // The blocks on their way; a column more than there is, so that columns and rows lie in different banks.
    int lines[24][8][9];
};

FEEDLINE_INLINE int jpeg_luma(int r, int g, int b) {
    return (19595 * r + 38470 * g + 7471 * b + 32768) >> 16;
}

// Loads a row's four pixels; those outside of the canvas are the ones at its edges.
FEEDLINE_INLINE void load_components(const Pixels& source, int left, int top, Staged& staged) {
    int row = (int)threadIdx.x / 8, column = (int)threadIdx.x % 8 * 4;
    const int middle = (128 << 16) + 32767;
#pragma unroll 1
    for (int i = 0; i < 4; i++) {
        Quad one = read_one(source, left + column + i, top + row);
        int r = (int)one.r, g = (int)one.g, b = (int)one.b;
        staged.full[0][row][column + i] = (uint8_t)jpeg_luma(r, g, b);
        staged.full[1][row][column + i] = (uint8_t)((-11059 * r - 21709 * g + 32768 * b + middle) >> 16);
        staged.full[2][row][column + i] = (uint8_t)((32768 * r - 27439 * g - 5329 * b + middle) >> 16);
    }
}

// A sample of a block, counted from 0: of luma, or the mean of four of a difference.
FEEDLINE_INLINE int sample(const Staged& staged, int block, int x, int y, int lowest) {
    if (block < 16) return (int)staged.full[0][block / 4 * 8 + y][block % 4 * 8 + x] - 128;
    int component = 1 + (block - 16) / 4, part = (block - 16) % 4;
    int column = (part % 2 * 8 + x) * 2, row = min((part / 2 * 8 + y) * 2, lowest);
    const uint8_t(&full)[32][32] = staged.full[component];
    int sum = full[row][column] + full[row][column + 1] + full[row + 1][column] + full[row + 1][column + 1];
    return ((sum + 1 + x % 2) >> 2) - 128;
}

extern "C" __global__ void __launch_bounds__(FEEDLINE_THREADS)
compress_planes(const uint8_t* __restrict__ constants, uint8_t* __restrict__ scratch, uint32_t jobs) {
    __shared__ Staged staged;
    auto [job, source, tile, is_there] = open_canvas(constants, scratch, jobs);
    if (!is_there) return;
    load_components(source, tile.left, tile.top, staged);
    __syncthreads();
    int block = (int)threadIdx.x / 8, line = (int)threadIdx.x % 8;
    int x[8];
    if (block < 24) {
        // The last row of pairs that the image has.
        int lowest = (source.height - 1) / 2 * 2 - tile.top;
        for (int i = 0; i < 8; i++) x[i] = sample(staged, block, i, line, lowest);
        forward(x, 2, 0, 11);
        for (int i = 0; i < 8; i++) staged.lines[block][line][i] = x[i];
    }
    __syncthreads();
    if (block < 24) {
        const uint32_t* steps = table<uint32_t>(constants, job.weights) + (block < 16 ? 0 : 64);
        for (int i = 0; i < 8; i++) x[i] = staged.lines[block][i][line];
        forward(x, 0, 2, 15);
        for (int i = 0; i < 8; i++) x[i] = stepped(x[i], (int)steps[i * 8 + line]);
        inverse(x, 11);
        for (int i = 0; i < 8; i++) staged.lines[block][i][line] = x[i];
    }
    __syncthreads();
    if (block >= 24) return;
    for (int i = 0; i < 8; i++) x[i] = staged.lines[block][line][i];
    inverse(x, 18);
    uint32_t words[2] = {0, 0};
    for (int i = 0; i < 8; i++) words[i / 4] |= (uint32_t)clamp(x[i] + 128, 0, 255) << (8 * (i % 4));
    uint8_t* planes = scratch + job.tables;
    uint64_t whole = (uint64_t)job.columns * job.rows;
    uint32_t left = (uint32_t)tile.left, top = (uint32_t)tile.top;
    uint64_t at;
    if (block < 16) {
        at = (uint64_t)(top + (uint32_t)(block / 4 * 8 + line)) * job.columns + left + (uint32_t)(block % 4 * 8);
    } else {
        uint32_t part = (uint32_t)(block - 16) % 4;
        at = whole + (uint64_t)((block - 16) / 4) * (whole / 4) +
             (uint64_t)(top / 2 + part / 2 * 8 + (uint32_t)line) * (job.columns / 2) + left / 2 + part % 2 * 8;
    }
    uint32_t* to = reinterpret_cast<uint32_t*>(planes + at);
    to[0] = words[0], to[1] = words[1];
}
