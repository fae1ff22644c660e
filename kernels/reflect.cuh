// Positions beyond an edge.
#ifndef FEEDLINE_REFLECT_CUH
#define FEEDLINE_REFLECT_CUH

#include "device.cuh"

// A position however far beyond an edge, mirrored at the outermost pixels.
FEEDLINE_INLINE int reflected(int at, int length) {
    if (length == 1) return 0;
    int period = 2 * (length - 1);
    at = at < 0 ? -at : at;
    at %= period;
    return at < length ? at : period - at;
}

#endif  // FEEDLINE_REFLECT_CUH
