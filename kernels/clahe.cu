// Equalizes the lightness of canvases by the tables of the tiles around each pixel, as src/device/cpu/clahe.rs does.
//
// Grid (tiles, jobs). A block of 256 threads makes 32x32 pixels of one canvas, a thread four pixels side by side; it reads
// 1024 * 3 bytes and four bytes of tables for each pixel, and writes 1024 * 3 bytes.

#include "canvas.cuh"
#include "lab.cuh"

// The two tiles around a position along one axis, and how far it is from the first to the second.
struct Between {
    int first, second;
    float part;
};

FEEDLINE_INLINE Between between(int at, uint32_t edge, uint32_t tiles) {
    float place = (float)at * (1.0f / (float)edge) - 0.5f;
    float first = floorf(place);
    return {max((int)first, 0), min((int)first + 1, (int)tiles - 1), place - first};
}

FEEDLINE_INLINE float looked_up(const uint8_t* levels, const FilterJob& job, int column, int row, int lightness) {
    return (float)levels[((uint32_t)row * job.columns + (uint32_t)column) * 256 + (uint32_t)lightness];
}

extern "C" __global__ void __launch_bounds__(FEEDLINE_THREADS)
clahe(const uint8_t* __restrict__ constants, uint8_t* __restrict__ scratch, uint32_t jobs) {
    auto [job, source, tile, is_there] = open_canvas(constants, scratch, jobs);
    if (!is_there || !is_shown(tile)) return;
    const LabTables& lab = *table<LabTables>(constants, job.weights);
    const uint8_t* levels = scratch + job.tables;
    Quad own = read_four(source, tile.x, tile.y), quad = {0, 0, 0};
    Between rows = between(tile.y, job.tile[1], job.rows);
#pragma unroll 1
    for (int i = 0; i < 4; i++) {
        // What lies behind the row is padding.
        Between columns = between(min(tile.x + i, source.width - 1), job.tile[0], job.columns);
        Lab color = to_lab(lab, own.r >> (8 * i) & 0xFF, own.g >> (8 * i) & 0xFF, own.b >> (8 * i) & 0xFF);
        float left = 1.0f - columns.part, above = 1.0f - rows.part;
        float top = looked_up(levels, job, columns.first, rows.first, color.lightness) * left +
                    looked_up(levels, job, columns.second, rows.first, color.lightness) * columns.part;
        float bottom = looked_up(levels, job, columns.first, rows.second, color.lightness) * left +
                       looked_up(levels, job, columns.second, rows.second, color.lightness) * columns.part;
        float level = rintf(top * above + bottom * rows.part);
        color.lightness = (int)fminf(fmaxf(level, 0.0f), 255.0f);
        Quad made = from_lab(lab, color);
        quad.r |= made.r << (8 * i), quad.g |= made.g << (8 * i), quad.b |= made.b << (8 * i);
    }
    store_canvas(job.target, job.pitch, scratch, tile, quad);
}
