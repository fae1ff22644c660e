// Renders samples of one input that fills its canvas, and such canvases, which later passes or statistics need.
//
// Grid (tiles, jobs). A block of 256 threads renders a tile of 32x32 pixels of one job, a thread four pixels side by side.
// For a tile that shrinks its source by s, a block reads (32 s + 2 s + 4)^2 * 3 bytes of each source and 16 to 24 bytes
// of weights for each row and column, and writes 1024 * 3 values of the output's format or 1024 * 3 bytes of a canvas.

#include "finish.cuh"

extern "C" __global__ void __launch_bounds__(FEEDLINE_THREADS, 3)
render(const uint8_t* __restrict__ constants, uint8_t* __restrict__ scratch, uint32_t jobs) {
    __shared__ Shared shared;
    const RenderJob& job = table<RenderJob>(constants, jobs)[blockIdx.y];
    // Other jobs of the launch may have more tiles. Such a block would store nothing, but take its time.
    if (blockIdx.x >= tiles_of(job.size)) return;
    Tables tables = {constants, scratch};
    const BlendInput& input = inputs_of(tables)[job.inputs.start];
    load_figures(tables, job.stats, shared.figures);
    __syncthreads();
    Tile tile = open_tile(job.size, blockIdx.x);
    Quad levels = compose(tables, input, tile, shared);
    levels = recoloured(levels, open_steps(tables, input.steps, shared.figures));
    if (job.pitch != 0) return put_canvas(job, constants, scratch, tile, levels, shared);
    if (!is_shown(tile)) return;
    Format format = open_format(constants);
    Values values = finished(levels, format);
    fill_erased(erases_of(tables, input), input.erases.len, tile, format, values);
    store_sample(job, format, tile, values);
}
