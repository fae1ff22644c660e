// Makes look-up tables of histograms: torchvision's autocontrast and equalize, as src/device/cpu/histogram.rs does.
//
// Grid (3, jobs): a channel of one histogram each. A block of 256 threads, a thread a level; it reads 1024 bytes and
// writes 256.

#include "sums.cuh"

// What the whole histogram says of a level.
struct Survey {
    uint32_t below[256];  // pixels of lower levels
    uint32_t least, greatest;
};

FEEDLINE_INLINE void survey(const uint32_t* counts, Survey& span) {
    uint32_t below = 0;
    span.least = 255, span.greatest = 0;
#pragma unroll 1
    for (uint32_t level = 0; level < 256; level++) {
        span.below[level] = below;
        if (counts[level] == 0) continue;
        span.least = min(span.least, level);
        span.greatest = level;
        below += counts[level];
    }
}

// The least level to 0 and the greatest to 255.
FEEDLINE_INLINE uint32_t stretched(const Survey& span, uint32_t level) {
    if (span.least >= span.greatest) return level;
    float scale = (float)(span.greatest - span.least) * (1.0f / 255.0f);
    return (uint32_t)truncate(((float)level - (float)span.least) / scale);
}

// Each level by how many pixels lie below it.
FEEDLINE_INLINE uint32_t equalized(const Survey& span, uint32_t level) {
    uint32_t step = span.below[span.greatest] / 255;
    if (step == 0) return level;
    return (uint32_t)min(((uint64_t)span.below[level] + step / 2) / step, (uint64_t)255);
}

extern "C" __global__ void __launch_bounds__(FEEDLINE_THREADS)
tables(const uint8_t* __restrict__ constants, uint8_t* __restrict__ scratch, uint32_t jobs) {
    __shared__ uint32_t counts[256];
    __shared__ Survey span;
    const TableJob& job = table<TableJob>(constants, jobs)[blockIdx.y];
    Histogram& histogram = open_histograms(constants, scratch)[job.histogram];
    uint32_t level = threadIdx.x;
    counts[level] = histogram.counts[blockIdx.x][level];
    __syncthreads();
    if (level == 0) survey(counts, span);
    __syncthreads();
    uint32_t to = level;
    switch (job.table) {
        case FEEDLINE_LEVELS_STRETCHED: to = stretched(span, level); break;
        case FEEDLINE_LEVELS_EQUALIZED: to = equalized(span, level); break;
        default: {
            uint64_t errors = table<Batch>(constants, 0)->errors;
            report(reinterpret_cast<uint32_t*>(static_cast<uintptr_t>(errors)), FEEDLINE_ERROR_LEVEL_TABLE, job.table);
        }
    }
    histogram.table[blockIdx.x][level] = (uint8_t)to;
}
