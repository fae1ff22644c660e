// OpenCV's uint8 Lab, in whole numbers: what src/device/lab.rs does.
#ifndef FEEDLINE_LAB_CUH
#define FEEDLINE_LAB_CUH

#include "pixels.cuh"

// Lightness, and the two axes of colour, 0 to 255 each.
struct Lab {
    int lightness, a, b;
};

FEEDLINE_INLINE int rounded_shift(int sum, int bits) {
    return (sum + (1 << (bits - 1))) >> bits;
}

// The root of what one of three weighted sums of linear levels is.
FEEDLINE_INLINE int root_of(const LabTables& tables, int r, int g, int b, int red, int green, int blue) {
    return tables.cube_root[rounded_shift(r * red + g * green + b * blue, 12)];
}

FEEDLINE_INLINE int lightness_of(int y) {
    return clamp(rounded_shift(296 * y - 1336934, 15), 0, 255);
}

FEEDLINE_INLINE int lightness(const LabTables& tables, uint32_t r, uint32_t g, uint32_t b) {
    return lightness_of(root_of(tables, tables.gamma[r], tables.gamma[g], tables.gamma[b], 871, 2929, 296));
}

FEEDLINE_INLINE Lab to_lab(const LabTables& tables, uint32_t red, uint32_t green, uint32_t blue) {
    int r = tables.gamma[red], g = tables.gamma[green], b = tables.gamma[blue];
    int x = root_of(tables, r, g, b, 1777, 1541, 778), y = root_of(tables, r, g, b, 871, 2929, 296);
    int z = root_of(tables, r, g, b, 73, 448, 3575);
    const int middle = 128 << 15;
    return {lightness_of(y), clamp(rounded_shift(500 * (x - y) + middle, 15), 0, 255),
            clamp(rounded_shift(200 * (y - z) + middle, 15), 0, 255)};
}

// The cube of a root, in 2^-14, or what replaces it where it is small.
FEEDLINE_INLINE int cubed(int root) {
    if (root <= 3390) return root * 108 / 841 - 290;
    return root * root / 16384 * root / 16384;
}

FEEDLINE_INLINE uint32_t level_of(const LabTables& tables, int x, int y, int z, int of_x, int of_y, int of_z) {
    return tables.inverse_gamma[clamp(rounded_shift(of_x * x + of_y * y + of_z * z, 14), 0, 4095)];
}

// Red, green and blue, a byte each.
FEEDLINE_INLINE Quad from_lab(const LabTables& tables, Lab lab) {
    int y = tables.luminance[lab.lightness][0], root = tables.luminance[lab.lightness][1];
    int x = cubed(root + ((5 * lab.a * 53687 + 128) >> 13) - 4194);
    int z = cubed(root - ((lab.b * 41943 + 16) >> 9) + 10484);
    return {level_of(tables, x, y, z, 12615, -6296, -2223), level_of(tables, x, y, z, -3773, 7684, 185),
            level_of(tables, x, y, z, 217, -836, 4715)};
}

#endif  // FEEDLINE_LAB_CUH
