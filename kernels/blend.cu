// Renders samples and canvases of several inputs, laid over each other with shares.
//
// Grid (tiles, jobs), threads and traffic as render.cu, the sources of each input being read in turn; the sum stays in
// registers.

#include "blend.cuh"

extern "C" __global__ void __launch_bounds__(FEEDLINE_THREADS, 2)
blend(const uint8_t* __restrict__ constants, uint8_t* __restrict__ scratch, uint32_t jobs) {
    __shared__ Shared shared;
    blend_job<false>(constants, scratch, jobs, shared);
}
