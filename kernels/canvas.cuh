// A block's part of a canvas that is made of another one.
#ifndef FEEDLINE_CANVAS_CUH
#define FEEDLINE_CANVAS_CUH

#include "finish.cuh"

// A tile of the canvas, and what it is made of.
struct CanvasTile {
    const FilterJob& job;
    Pixels source;  // the other canvas, of the same size
    Tile tile;
    bool is_there;  // blocks beyond the last tile have none
};

FEEDLINE_INLINE CanvasTile open_canvas(const uint8_t* constants, const uint8_t* scratch, uint32_t jobs) {
    const FilterJob& job = table<FilterJob>(constants, jobs)[blockIdx.y];
    Tables tables = {constants, scratch};
    const Source& source = table<Source>(constants, batch_of(tables).sources)[job.source];
    bool is_there = blockIdx.x < tiles_of(source.size);
    return {job, open_source(source, scratch), open_tile(source.size, blockIdx.x), is_there};
}

#endif  // FEEDLINE_CANVAS_CUH
