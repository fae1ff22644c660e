// Lookups of Huffman codes: for each run of LOOKUP_BITS bits the symbol that they begin with.
//
// A block a code; a thread fills four entries.

#include "symbols.cuh"

extern "C" __global__ void __launch_bounds__(256)
huffman_tables(const JpegCode* __restrict__ codes, uint16_t* __restrict__ lookups) {
    const JpegCode& code = codes[blockIdx.x];
    uint16_t* lookup = lookups + (blockIdx.x << FEEDLINE_LOOKUP_BITS);
    for (uint32_t at = threadIdx.x; at < 1u << FEEDLINE_LOOKUP_BITS; at += 256) {
        lookup[at] = (uint16_t)find_symbol(code, at << (16 - FEEDLINE_LOOKUP_BITS), 1, FEEDLINE_LOOKUP_BITS);
    }
}
