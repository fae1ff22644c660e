// The lookups of four codes in shared memory, where all threads of a block find them.
#ifndef FEEDLINE_JPEG_LOOKUPS_CUH
#define FEEDLINE_JPEG_LOOKUPS_CUH

#include "symbols.cuh"

struct Lookups {
    uint16_t of[4][1 << FEEDLINE_LOOKUP_BITS];
};

FEEDLINE_INLINE void load_lookups(Lookups& shared, const JpegGroup& group, const uint16_t* lookups) {
    for (uint32_t i = threadIdx.x; i < 4u << FEEDLINE_LOOKUP_BITS; i += FEEDLINE_PIECE_THREADS) {
        uint32_t table = i >> FEEDLINE_LOOKUP_BITS, at = i & ((1 << FEEDLINE_LOOKUP_BITS) - 1);
        shared.of[table][at] = lookups[(group.codes[table] << FEEDLINE_LOOKUP_BITS) + at];
    }
}

// Which of the four codes a block's DC and its other coefficients have.
FEEDLINE_INLINE uint32_t dc_table(uint32_t unit) { return unit >> 2 & 1; }
FEEDLINE_INLINE uint32_t ac_table(uint32_t unit) { return 2 + (unit >> 3 & 1); }

// Predictions, or sums of differences, of three components: modulo 2^16, as the decoder of the CPU has them.
struct Dc {
    uint32_t first, second, third;
};

// Adds to a component's, and returns the sum.
FEEDLINE_INLINE uint32_t add_dc(Dc& dc, uint32_t component, uint32_t value) {
    if (component == 0) return dc.first += value;
    if (component == 1) return dc.second += value;
    return dc.third += value;
}

FEEDLINE_INLINE Dc dc_of(const int16_t* dc) { return {(uint32_t)dc[0], (uint32_t)dc[1], (uint32_t)dc[2]}; }

FEEDLINE_INLINE void put_dc(int16_t* to, const Dc& dc) {
    to[0] = (int16_t)dc.first;
    to[1] = (int16_t)dc.second;
    to[2] = (int16_t)dc.third;
    to[3] = 0;
}

#endif  // FEEDLINE_JPEG_LOOKUPS_CUH
