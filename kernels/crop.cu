// Renders samples that show an upright image and nothing else: what random crops, resizes and flips come to.
//
// The pixels are those of render.cu, of which this is a part with less to decide: one layer that fills the sample, as
// stored or in rows from the bottom, no colour steps and nothing erased. The host chooses (src/device/cuda/render/crop.rs).
//
// Grid (tiles, jobs). A block of 256 threads renders a tile of 32x32 pixels of one sample, a thread four pixels side by
// side. For a tile that shrinks its source by s, a block reads (32 s + 2 s + 4)^2 * 3 bytes of it and 16 to 24 bytes of
// weights for each row and column, and writes 1024 * 3 values of the output's format.

#include "crop.cuh"

// More threads than there are, so that the compiler takes at most 56 registers for each.
#define FEEDLINE_CROP_BOUND 288

extern "C" __global__ void __launch_bounds__(FEEDLINE_CROP_BOUND, 4)
crop(const uint8_t* __restrict__ constants, uint8_t* __restrict__ scratch, uint32_t jobs) {
    __shared__ CropShared shared;
    const CropJob job = record<CropJob>(constants + jobs, blockIdx.y);
    // Other jobs of the launch may have more tiles.
    if (blockIdx.x >= job.tiles) return;
    uint32_t line = blockIdx.x * job.reciprocal >> 16;
    uint32_t left = (blockIdx.x - line * job.across) * FEEDLINE_TILE_WIDTH, top = line * FEEDLINE_TILE_HEIGHT;
    Quad levels = resampled(job, scratch, left, top, shared);
    uint32_t x = left + threadIdx.x % 8 * 4, y = top + threadIdx.x / 8;
    if (x < job.size.width && y < job.size.height) {
        // Read once more: registers are short in between.
        store(record<CropJob>(constants + jobs, late(blockIdx.y)), constants, x, y, levels);
    }
}
