// Sums up the lightness of canvases and its squares, in whole numbers, as src/device/cpu/sensor.rs does.
//
// Grid (1, jobs). One block of 256 threads reads all of a canvas, three bytes a pixel, and writes two sums of eight bytes.

#include "finish.cuh"

extern "C" __global__ void __launch_bounds__(FEEDLINE_THREADS)
lightness_sums(const uint8_t* __restrict__ constants, uint8_t* __restrict__ scratch, uint32_t jobs) {
    __shared__ unsigned long long sums[2][FEEDLINE_THREADS];
    const FilterJob& job = table<FilterJob>(constants, jobs)[blockIdx.y];
    if (blockIdx.x != 0) return;
    Tables tables = {constants, scratch};
    Pixels source = open_source(tables, job.source);
    unsigned long long sum = 0, squares = 0;
#pragma unroll 1
    for (int y = 0; y < source.height; y++) {
#pragma unroll 1
        for (int x = (int)threadIdx.x; x < source.width; x += FEEDLINE_THREADS) {
            Quad one = read_one(source, x, y);
            uint32_t twice = max(one.r, max(one.g, one.b)) + min(one.r, min(one.g, one.b));
            sum += twice, squares += twice * twice;
        }
    }
    sums[0][threadIdx.x] = sum, sums[1][threadIdx.x] = squares;
    __syncthreads();
    if (threadIdx.x >= 2) return;
    unsigned long long total = 0;
#pragma unroll 1
    for (int i = 0; i < FEEDLINE_THREADS; i++) total += sums[threadIdx.x][i];
    reinterpret_cast<unsigned long long*>(scratch + job.tables)[threadIdx.x] = total;
}
