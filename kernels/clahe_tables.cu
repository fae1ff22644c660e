// Makes the tables that a canvas is equalized by, one for each of its tiles, as src/device/cpu/clahe.rs does.
//
// Grid (tiles of the job, jobs). A block of 256 threads counts the lightness of all pixels of one tile in shared memory and
// makes a table of 256 bytes of that.

#include "compose.cuh"
#include "lab.cuh"
#include "reflect.cuh"

// Counts cut off at a limit, what was above it given to all alike, and then summed up. One thread calls it.
FEEDLINE_INLINE void limit_and_sum(uint32_t* counts, uint32_t limit) {
    uint32_t above = 0;
#pragma unroll 1
    for (uint32_t level = 0; level < 256; level++) {
        if (counts[level] <= limit) continue;
        above += counts[level] - limit;
        counts[level] = limit;
    }
    uint32_t each = above / 256, rest = above % 256, step = rest > 0 ? 256 / rest : 1, sum = 0, next = 0;
#pragma unroll 1
    for (uint32_t level = 0; level < 256; level++) {
        bool takes = rest > 0 && level == next;
        if (takes) rest -= 1, next += step;
        sum += counts[level] + each + (takes ? 1 : 0);
        counts[level] = sum;
    }
}

extern "C" __global__ void __launch_bounds__(FEEDLINE_THREADS)
clahe_tables(const uint8_t* __restrict__ constants, uint8_t* __restrict__ scratch, uint32_t jobs) {
    __shared__ uint32_t counts[256];
    const FilterJob& job = table<FilterJob>(constants, jobs)[blockIdx.y];
    if (blockIdx.x >= job.columns * job.rows) return;
    Tables tables = {constants, scratch};
    Pixels source = open_source(tables, job.source);
    const LabTables& lab = *table<LabTables>(constants, job.weights);
    int left = (int)(blockIdx.x % job.columns * job.tile[0]), top = (int)(blockIdx.x / job.columns * job.tile[1]);
    counts[threadIdx.x] = 0;
    __syncthreads();
    uint32_t pixels = job.tile[0] * job.tile[1];
#pragma unroll 1
    for (uint32_t at = threadIdx.x; at < pixels; at += FEEDLINE_THREADS) {
        int x = reflected(left + (int)(at % job.tile[0]), source.width);
        int y = reflected(top + (int)(at / job.tile[0]), source.height);
        Quad one = read_one(source, x, y);
        atomicAdd(&counts[lightness(lab, one.r, one.g, one.b)], 1u);
    }
    __syncthreads();
    if (threadIdx.x == 0) limit_and_sum(counts, job.limit);
    __syncthreads();
    float level = rintf((float)counts[threadIdx.x] * job.amount);
    scratch[job.tables + blockIdx.x * 256 + threadIdx.x] = (uint8_t)fminf(level, 255.0f);
}
