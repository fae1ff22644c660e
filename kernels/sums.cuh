// Statistics: exact sums of the luma, in whole numbers, so that the order does not matter.
#ifndef FEEDLINE_SUMS_CUH
#define FEEDLINE_SUMS_CUH

#include "paint.cuh"

FEEDLINE_INLINE unsigned long long* open_sums(const uint8_t* constants, uint8_t* scratch) {
    return reinterpret_cast<unsigned long long*>(scratch + table<Batch>(constants, 0)->sums);
}

// Adds what the threads of a block have summed up to a statistic. All of them call it; they agree on `measured`.
FEEDLINE_INLINE void add_up(unsigned long long sum, uint32_t measured, unsigned long long* sums, Shared& shared) {
    if (measured == FEEDLINE_NONE) return;
    if (threadIdx.x < 32) shared.sums[threadIdx.x] = 0;
    __syncthreads();
    // The threads of a warp add to different words.
    atomicAdd(&shared.sums[threadIdx.x % 32], sum);
    __syncthreads();
    if (threadIdx.x == 0) {
        unsigned long long total = 0;
        for (int i = 0; i < 32; i++) total += shared.sums[i];
        atomicAdd(&sums[measured], total);
    }
}

#endif  // FEEDLINE_SUMS_CUH
