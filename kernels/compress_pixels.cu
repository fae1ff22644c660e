// Canvases of samples of luma and two colour differences, as libjpeg decodes them: src/device/cpu/compress.rs does the same.
//
// Grid (tiles, jobs). A block of 256 threads makes 32x32 pixels of one canvas, a thread four pixels side by side; for a pixel
// it reads a byte of luma and four of each difference, and writes three bytes.

#include "canvas.cuh"

// A colour difference of the canvas.
struct Difference {
    const uint8_t* samples;
    uint32_t pitch;
    int columns, rows;
};

FEEDLINE_INLINE int beside(int at, int count) {
    return at % 2 == 0 ? max(at / 2 - 1, 0) : min(at / 2 + 1, count - 1);
}

FEEDLINE_INLINE int sum_of(const Difference& of, int column, int near, int far) {
    return 3 * of.samples[(uint64_t)near * of.pitch + (uint32_t)column] +
           of.samples[(uint64_t)far * of.pitch + (uint32_t)column];
}

// Three quarters of the nearer sample along each axis; the sample where there are two or one.
FEEDLINE_INLINE int enlarged(const Difference& of, int x, int y) {
    if (of.columns <= 2) return of.samples[(uint64_t)(y / 2) * of.pitch + (uint32_t)(x / 2)];
    int near = y / 2, far = beside(y, of.rows);
    int own = sum_of(of, x / 2, near, far), other = sum_of(of, beside(x, of.columns), near, far);
    return (3 * own + other + 8 - x % 2) >> 4;
}

extern "C" __global__ void __launch_bounds__(FEEDLINE_THREADS)
compress_pixels(const uint8_t* __restrict__ constants, uint8_t* __restrict__ scratch, uint32_t jobs) {
    auto [job, source, tile, is_there] = open_canvas(constants, scratch, jobs);
    if (!is_there || !is_shown(tile)) return;
    const uint8_t* planes = scratch + job.tables;
    uint64_t whole = (uint64_t)job.columns * job.rows;
    int columns = (source.width + 1) / 2, rows = (source.height + 1) / 2;
    Difference blue = {planes + whole, job.columns / 2, columns, rows};
    Difference red = {planes + whole + whole / 4, job.columns / 2, columns, rows};
    Quad quad = {0, 0, 0};
#pragma unroll 1
    for (int i = 0; i < 4; i++) {
        // Those beyond the edge are stored as well, in the room that rows have.
        int x = min(tile.x + i, source.width - 1), y = tile.y;
        int luma = planes[(uint64_t)y * job.columns + (uint32_t)x];
        int b = enlarged(blue, x, y) - 128, r = enlarged(red, x, y) - 128;
        int level_r = luma + ((91881 * r + 32768) >> 16);
        int level_g = luma + ((-22554 * b - 46802 * r + 32768) >> 16);
        int level_b = luma + ((116130 * b + 32768) >> 16);
        quad.r |= (uint32_t)clamp(level_r, 0, 255) << (8 * i);
        quad.g |= (uint32_t)clamp(level_g, 0, 255) << (8 * i);
        quad.b |= (uint32_t)clamp(level_b, 0, 255) << (8 * i);
    }
    store_canvas(job.target, job.pitch, scratch, tile, quad);
}
