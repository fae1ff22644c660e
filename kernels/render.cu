// Renders samples of one picture that fills its canvas, and such canvases, which later stages or statistics need.
//
// Grid (tiles, jobs). A block of 256 threads renders tiles of 32x32 pixels of one job, a thread four pixels side by side.
// For a tile that shrinks its source by s, a block reads (32 s + 2 s + 4)^2 * 3 bytes of each source and 16 to 24 bytes
// of weights for each row and column, and writes 1024 * 3 values of the output's format or 1024 * 3 bytes of a canvas.

#include "finish.cuh"

extern "C" __global__ void __launch_bounds__(FEEDLINE_THREADS, 2)
render(const uint8_t* __restrict__ constants, uint8_t* __restrict__ scratch, uint32_t jobs) {
    __shared__ Shared shared;
    const RenderJob& job = table<RenderJob>(constants, jobs)[blockIdx.y];
    Tables tables = {constants, scratch};
    const Picture& picture = pictures_of(tables)[job.pictures.start];
    load_means(tables, job.stats, shared);
    __syncthreads();
    unsigned long long sum = 0;
    for (uint32_t number = blockIdx.x; number < tiles_of(job.size); number += gridDim.x) {
        Tile tile = open_tile(job.size, number);
        Quad levels = compose(tables, picture, job.stats, tile, shared);
        if (!is_shown(tile)) continue;
        levels = recoloured(levels, open_steps(tables, picture.steps, job.stats, shared));
        if (job.pitch != 0) {
            sum += put_canvas(job, scratch, tile, levels);
            continue;
        }
        Format format = open_format(constants);
        Values values = finished(levels, format);
        fill_erased(erases_of(tables, picture), picture.erases.len, tile, format, values);
        store_sample(job, format, tile, values);
    }
    add_up(sum, job.measured, open_sums(constants, scratch), shared);
}
