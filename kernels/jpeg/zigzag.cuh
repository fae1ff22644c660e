// The order of a block's coefficients in a scan.
#ifndef FEEDLINE_JPEG_ZIGZAG_CUH
#define FEEDLINE_JPEG_ZIGZAG_CUH

#include "../device.cuh"

// Above the antidiagonal, or on it.
FEEDLINE_INLINE uint32_t zigzag_above(uint32_t x, uint32_t y) {
    uint32_t diagonal = x + y;
    return diagonal * (diagonal + 1) / 2 + (diagonal % 2 == 0 ? x : y);
}

// The place in the scan of the coefficient that stands at column x and row y: diagonal by diagonal, up and down in turns.
FEEDLINE_INLINE uint32_t zigzag(uint32_t x, uint32_t y) {
    return x + y < 8 ? zigzag_above(x, y) : 63 - zigzag_above(7 - x, 7 - y);
}

#endif  // FEEDLINE_JPEG_ZIGZAG_CUH
