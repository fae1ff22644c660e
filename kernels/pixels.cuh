// Four pixels side by side, and how they are read from a source.
#ifndef FEEDLINE_PIXELS_CUH
#define FEEDLINE_PIXELS_CUH

#include "device.cuh"
#include "layout.h"

// The levels of four pixels, a byte each; the leftmost is the lowest byte.
struct Quad {
    uint32_t r, g, b;
};

// A source with its place in memory known.
struct Pixels {
    const uint8_t* origin;
    int right, down;
    int width, height;
    int column, columns;
};

template <class T>
FEEDLINE_INLINE const T* table(const uint8_t* tables, uint32_t place) {
    return reinterpret_cast<const T*>(tables + place);
}

FEEDLINE_INLINE Pixels open_source(const Source& source, const uint8_t* scratch) {
    Pixels pixels;
    pixels.origin = source.in_scratch ? scratch + source.origin
                                      : reinterpret_cast<const uint8_t*>(static_cast<uintptr_t>(source.origin));
    pixels.right = source.right;
    pixels.down = source.down;
    pixels.width = (int)source.size.width;
    pixels.height = (int)source.size.height;
    pixels.column = source.column;
    pixels.columns = (int)source.columns;
    return pixels;
}

FEEDLINE_INLINE int clamp(int x, int low, int high) {
    return min(max(x, low), high);
}

// The output of an axis that is shown at `position` of the window.
FEEDLINE_INLINE int shown(const Axis& axis, int position) {
    return (axis.reversed ? (int)axis.count - 1 - position : position) + axis.offset;
}

// The four pixels in the other order.
FEEDLINE_INLINE Quad reversed(Quad quad) {
    return {pick_bytes(quad.r, 0, 0x0123), pick_bytes(quad.g, 0, 0x0123), pick_bytes(quad.b, 0, 0x0123)};
}

// Three words of packed pixels to one word a channel.
FEEDLINE_INLINE Quad split(uint32_t first, uint32_t second, uint32_t third) {
    // Bytes: R0 G0 B0 R1, G1 B1 R2 G2, B2 R3 G3 B3.
    uint32_t r = pick_bytes(first, second, 0x0630);   // R0 R1 R2 -
    uint32_t g = pick_bytes(first, second, 0x0741);   // G0 G1 G2 -
    uint32_t b = pick_bytes(first, second, 0x0052);   // B0 B1 - -
    return {pick_bytes(r, third, 0x5210), pick_bytes(g, third, 0x6210), pick_bytes(b, third, 0x7410)};
}

// One word a channel to three words of packed pixels.
FEEDLINE_INLINE void join(Quad quad, uint32_t packed[3]) {
    uint32_t low = pick_bytes(quad.r, quad.g, 0x5140);    // R0 G0 R1 G1
    uint32_t high = pick_bytes(quad.r, quad.g, 0x7362);   // R2 G2 R3 G3
    packed[0] = pick_bytes(low, quad.b, 0x2410);          // R0 G0 B0 R1
    packed[1] = pick_bytes(pick_bytes(low, quad.b, 0x0053), high, 0x5410);  // G1 B1 R2 G2
    packed[2] = pick_bytes(high, quad.b, 0x7326);         // B2 R3 G3 B3
}

// Four packed pixels by aligned words, which reach up to three bytes further.
FEEDLINE_INLINE Quad read_wide(const uint8_t* at) {
    uint32_t skipped = (uint32_t)(reinterpret_cast<uintptr_t>(at) & 3);
    const uint32_t* words = reinterpret_cast<const uint32_t*>(at - skipped);
    uint32_t a = __ldg(words), b = __ldg(words + 1), c = __ldg(words + 2), d = skipped ? __ldg(words + 3) : 0;
    return split(shift_bytes(a, b, skipped), shift_bytes(b, c, skipped), shift_bytes(c, d, skipped));
}

// Pixel x of row y, in the lowest bytes; coordinates beyond the source are moved to its edge.
FEEDLINE_INLINE Quad read_one(const Pixels& source, int x, int y) {
    const uint8_t* row = source.origin + (int64_t)clamp(y, 0, source.height - 1) * source.down;
    const uint8_t* at = row + (int64_t)clamp(x, 0, source.width - 1) * source.right;
    return {__ldg(at), __ldg(at + 1), __ldg(at + 2)};
}

// Pixels x to x + 3 of row y; coordinates beyond the source are moved to its edge.
FEEDLINE_INLINE Quad read_four(const Pixels& source, int x, int y) {
    bool mirrored = source.right < 0;
    int leftmost = mirrored ? source.column - x - 3 : source.column + x;
    // One pixel more than is wanted, for what aligned words reach further.
    if (leftmost >= 0 && leftmost + 5 <= source.columns) {
        const uint8_t* row = source.origin + (int64_t)clamp(y, 0, source.height - 1) * source.down;
        Quad quad = read_wide(row + (mirrored ? x + 3 : x) * source.right);
        return mirrored ? reversed(quad) : quad;
    }
    Quad quad = {0, 0, 0};
#pragma unroll 1
    for (int i = 0; i < 4; i++) {
        Quad one = read_one(source, x + i, y);
        quad.r |= one.r << (8 * i);
        quad.g |= one.g << (8 * i);
        quad.b |= one.b << (8 * i);
    }
    return quad;
}

#endif  // FEEDLINE_PIXELS_CUH
