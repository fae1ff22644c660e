// Masks of objects: runs of pixels, written into planes that are zero. src/loader/batch/instances.rs makes the runs, and
// src/device/cuda/engine/mask_maker.rs their addresses.
//
// 16 threads a run, in blocks of 256; a block reads 256 bytes, and writes the pixels of 16 runs.

#include "device.cuh"
#include "layout.h"

// Every sixteenth pixel of a run, from `first` on.
template <typename T>
FEEDLINE_INLINE void write_run(const MaskRun& run, uint32_t first) {
    T* pixels = reinterpret_cast<T*>(static_cast<uintptr_t>(run.target));
#pragma unroll 1
    for (uint32_t at = first; at < run.len; at += FEEDLINE_RUN_THREADS) pixels[at] = (T)run.value;
}

// A pixel has four bytes where they are `wide`, and else one. No two runs hold the same pixel.
extern "C" __global__ void __launch_bounds__(FEEDLINE_THREADS)
object_masks(const MaskRun* __restrict__ runs, uint32_t count, uint32_t wide) {
    uint32_t thread = blockIdx.x * FEEDLINE_THREADS + threadIdx.x;
    uint32_t number = thread / FEEDLINE_RUN_THREADS;
    if (number >= count) return;
    if (wide) {
        write_run<uint32_t>(runs[number], thread % FEEDLINE_RUN_THREADS);
    } else {
        write_run<uint8_t>(runs[number], thread % FEEDLINE_RUN_THREADS);
    }
}
