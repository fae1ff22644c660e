// Sums up statistics over parts of decoded images or canvases, behind the colour steps ahead of them.
//
// Grid (parts, jobs). A block of 256 threads takes parts of 32x32 pixels of one job, a thread four pixels side by side;
// it reads 1024 * 3 bytes for each part and adds one number of 8 bytes, or up to 768 of 4 bytes for a histogram.

#include "sums.cuh"

extern "C" __global__ void __launch_bounds__(FEEDLINE_THREADS, 5)
measure(const uint8_t* __restrict__ constants, uint8_t* __restrict__ scratch, uint32_t jobs) {
    __shared__ Figures figures;
    __shared__ Bins bins;
    const MeasureJob& job = table<MeasureJob>(constants, jobs)[blockIdx.y];
    Tables tables = {constants, scratch};
    const Source& source = table<Source>(constants, batch_of(tables).sources)[job.source];
    Pixels pixels = open_source(source, scratch);
    load_figures(tables, job.stats, figures);
    __syncthreads();
    bool counted_levels = job.measured & FEEDLINE_HISTOGRAM_BIT;
    if (counted_levels) clear(bins);
    Rect whole = {0, 0, source.size.width, source.size.height};
    unsigned long long sum = 0;
    for (uint32_t number = blockIdx.x; number < tiles_of(source.size); number += gridDim.x) {
        Tile tile = open_tile(source.size, number);
        uint32_t shown = inside(whole, tile);
        if (shown == 0) continue;
        Quad levels = read_four(pixels, tile.x, tile.y);
        levels = recoloured(levels, open_steps(tables, job.steps, figures));
        if (counted_levels) {
            count(levels, shown, bins);
        } else {
            sum += luma_sum(levels, shown);
        }
    }
    if (counted_levels) return add_up(bins, job.measured, open_histograms(constants, scratch));
    add_up(sum, job.measured, open_sums(constants, scratch), figures);
}
