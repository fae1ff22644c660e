// Distorts canvases: looks each pixel up where a map says, with the whole numbers of OpenCV's remap, as
// src/device/cpu/distort.rs does.
//
// Grid (tiles, jobs). A block of 256 threads makes a tile of 32x32 pixels of one canvas, a thread four pixels side by side.
// For each it reads two floats of a grid's tables, or sixteen nodes of eight bytes of a field, then four pixels of three
// bytes, and writes three bytes.

#include "canvas.cuh"

// Where a pixel is looked up, counted from the centre of the first pixel.
struct Place {
    float x, y;
};

// Nothing is seen as far away as this; any position fits.
#define FAR 1e7f

FEEDLINE_INLINE Place through_grid(const float* positions, const Pixels& source, int x, int y) {
    return {positions[min(x, source.width - 1)], positions[source.width + y]};
}

FEEDLINE_INLINE Place through_lens(const double* lens, int x, int y) {
    double dx = (double)x - lens[0], dy = (double)y - lens[1];
    double u = dx * lens[2], v = dy * lens[3];
    double r = u * u + v * v;
    double factor = 1.0 + (lens[5] * r + lens[4]) * r;
    return {(float)(dx * factor + lens[0]), (float)(dy * factor + lens[1])};
}

// The first of the four nodes around a place, and their weights.
struct Spline {
    int first;
    float weights[4];
};

FEEDLINE_INLINE Spline spline(float place, uint32_t count) {
    place = fminf(fmaxf(place + 0.5f, 0.5f), (float)count - 3.5f);
    float first = floorf(place), t = place - first;
    float s = 1.0f - t, square = t * t, cube = square * t;
    const float sixth = 1.0f / 6.0f;
    Spline made;
    made.first = (int)first;
    made.weights[0] = s * s * s * sixth;
    made.weights[1] = (3.0f * cube - 6.0f * square + 4.0f) * sixth;
    made.weights[2] = (3.0f * square - 3.0f * cube + 3.0f * t + 1.0f) * sixth;
    made.weights[3] = cube * sixth;
    return made;
}

FEEDLINE_INLINE Place through_field(const float* nodes, const FilterJob& job, int x, int y) {
    Spline down = spline(((float)y + 0.5f) * job.mean, job.rows);
    Spline across = spline(((float)x + 0.5f) * job.amount, job.columns);
    float moved[2] = {0.0f, 0.0f};
#pragma unroll
    for (int column = 0; column < 4; column++) {
#pragma unroll
        for (int axis = 0; axis < 2; axis++) {
            const float* node = nodes + 2 * ((uint32_t)down.first * job.columns + (uint32_t)(across.first + column)) + axis;
            float sum = node[0] * down.weights[0];
#pragma unroll
            for (uint32_t row = 1; row < 4; row++) sum = sum + node[2 * row * job.columns] * down.weights[row];
            float part = sum * across.weights[column];
            moved[axis] = column == 0 ? part : moved[axis] + part;
        }
    }
    return {(float)x + moved[0], (float)y + moved[1]};
}

FEEDLINE_INLINE Place looked_up(const uint8_t* constants, const FilterJob& job, const Pixels& source, int x, int y) {
    if (job.filter == FEEDLINE_FILTER_GRID) return through_grid(table<float>(constants, job.weights), source, x, y);
    if (job.filter == FEEDLINE_FILTER_RADIAL) return through_lens(table<double>(constants, job.weights), x, y);
    return through_field(table<float>(constants, job.weights), job, x, y);
}

// The nearest whole number, of two the even one.
FEEDLINE_INLINE int whole(float at) {
    return (int)rintf(fminf(fmaxf(at, -FAR), FAR));
}

// A pixel of the image, or the colour around it.
FEEDLINE_INLINE Quad tap(const Pixels& source, uint32_t fill, int x, int y) {
    if (x < 0 || y < 0 || x >= source.width || y >= source.height) {
        return {fill & 0xFF, fill >> 8 & 0xFF, fill >> 16 & 0xFF};
    }
    return read_one(source, x, y);
}

// What the four pixels around a position in 32nds weigh together.
FEEDLINE_INLINE Quad between(const Pixels& source, uint32_t fill, int x, int y) {
    uint32_t right = (uint32_t)x & 31, below = (uint32_t)y & 31;
    Quad sum = {512, 512, 512};
#pragma unroll
    for (int at = 0; at < 4; at++) {
        Quad one = tap(source, fill, (x >> 5) + (at & 1), (y >> 5) + (at >> 1));
        uint32_t weight = (at & 1 ? right : 32 - right) * (at >> 1 ? below : 32 - below);
        sum.r += one.r * weight, sum.g += one.g * weight, sum.b += one.b * weight;
    }
    return {sum.r >> 10, sum.g >> 10, sum.b >> 10};
}

extern "C" __global__ void __launch_bounds__(FEEDLINE_THREADS)
distort(const uint8_t* __restrict__ constants, uint8_t* __restrict__ scratch, uint32_t jobs) {
    auto [job, source, tile, is_there] = open_canvas(constants, scratch, jobs);
    if (!is_there || !is_shown(tile)) return;
    Quad quad = {0, 0, 0};
#pragma unroll 1
    for (int i = 0; i < 4; i++) {
        Place place = looked_up(constants, job, source, tile.x + i, tile.y);
        Quad one = job.shared ? tap(source, job.limit, whole(place.x), whole(place.y))
                              : between(source, job.limit, whole(place.x * 32.0f), whole(place.y * 32.0f));
        quad.r |= one.r << (8 * i), quad.g |= one.g << (8 * i), quad.b |= one.b << (8 * i);
    }
    store_canvas(job.target, job.pitch, scratch, tile, quad);
}
