// Statistics: sums of the luma and counts of levels, in whole numbers, so that the order does not matter.
#ifndef FEEDLINE_SUMS_CUH
#define FEEDLINE_SUMS_CUH

#include "compose.cuh"

FEEDLINE_INLINE unsigned long long* open_sums(const uint8_t* constants, uint8_t* scratch) {
    return reinterpret_cast<unsigned long long*>(scratch + table<Batch>(constants, 0)->sums);
}

// Counts of levels while a block makes them, a channel.
typedef uint32_t Bins[3][256];

FEEDLINE_INLINE Histogram* open_histograms(const uint8_t* constants, uint8_t* scratch) {
    return reinterpret_cast<Histogram*>(scratch + table<Batch>(constants, 0)->histograms);
}

// Makes all counts 0. All threads of the block call it, and see it so.
FEEDLINE_INLINE void clear(Bins& bins) {
    __syncthreads();
    for (int c = 0; c < 3; c++) bins[c][threadIdx.x] = 0;
    __syncthreads();
}

// Counts those of the four pixels that `inside` has a bit for.
FEEDLINE_INLINE void count(Quad quad, uint32_t inside, Bins& bins) {
#pragma unroll 1
    for (int i = 0; i < 4; i++) {
        if (!(inside >> i & 1)) continue;
        atomicAdd(&bins[0][quad.r >> (8 * i) & 0xFF], 1u);
        atomicAdd(&bins[1][quad.g >> (8 * i) & 0xFF], 1u);
        atomicAdd(&bins[2][quad.b >> (8 * i) & 0xFF], 1u);
    }
}

// Adds what the threads of a block have counted to a histogram. All of them call it.
FEEDLINE_INLINE void add_up(const Bins& bins, uint32_t measured, Histogram* histograms) {
    __syncthreads();
    Histogram& histogram = histograms[measured & ~FEEDLINE_HISTOGRAM_BIT];
    for (int c = 0; c < 3; c++) {
        uint32_t counted = bins[c][threadIdx.x];
        if (counted != 0) atomicAdd(&histogram.counts[c][threadIdx.x], counted);
    }
}

// Adds what the threads of a block have summed up to a statistic. All of them call it.
FEEDLINE_INLINE void add_up(unsigned long long sum, uint32_t measured, unsigned long long* sums, Figures& figures) {
    if (threadIdx.x < 32) figures.sums[threadIdx.x] = 0;
    __syncthreads();
    // The threads of a warp add to different words.
    atomicAdd(&figures.sums[threadIdx.x % 32], sum);
    __syncthreads();
    if (threadIdx.x == 0) {
        unsigned long long total = 0;
        for (int i = 0; i < 32; i++) total += figures.sums[i];
        atomicAdd(&sums[measured], total);
    }
}

#endif  // FEEDLINE_SUMS_CUH
