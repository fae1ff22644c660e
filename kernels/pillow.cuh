// Layers through an affine map with Pillow's arithmetic: what src/device/cpu/pillow.rs does, to the bit, in f64 as there.
#ifndef FEEDLINE_PILLOW_CUH
#define FEEDLINE_PILLOW_CUH

#include "color.cuh"

// Three levels, or what is made of such.
struct Fine {
    double r, g, b;
};

// The pixel at a whole position of the clip; outside, the nearest inside.
FEEDLINE_INLINE Fine fine_tap(const LayerDesc& layer, const Pixels& source, const Steps& steps, int x, int y) {
    x = clamp(x, 0, (int)layer.columns.input - 1) - (int)layer.columns.first;
    y = clamp(y, 0, (int)layer.rows.input - 1) - (int)layer.rows.first;
    Quad one = read_one(source, x, y);
    Color color = recoloured_pixel({(float)one.r, (float)one.g, (float)one.b}, steps);
    return {(double)color.r, (double)color.g, (double)color.b};
}

FEEDLINE_INLINE double linear(double a, double b, double at) {
    return a + (b - a) * at;
}

FEEDLINE_INLINE double cubic(double a, double b, double c, double d, double at) {
    double second = -a + c, third = 2.0 * (a - b) + c - d, fourth = -a + b - c + d;
    return b + at * (second + at * (third + at * fourth));
}

// Four numbers a channel, the first one longest ago.
struct Line {
    Fine first, second, third, fourth;
};

FEEDLINE_INLINE void push(Line& line, Fine next) {
    line.first = line.second, line.second = line.third, line.third = line.fourth, line.fourth = next;
}

// What lies between the second and the third, or, of two, between the third and the fourth.
FEEDLINE_INLINE Fine between(const Line& line, double at, bool is_cubic) {
    if (is_cubic) {
        return {cubic(line.first.r, line.second.r, line.third.r, line.fourth.r, at),
                cubic(line.first.g, line.second.g, line.third.g, line.fourth.g, at),
                cubic(line.first.b, line.second.b, line.third.b, line.fourth.b, at)};
    }
    return {linear(line.third.r, line.fourth.r, at), linear(line.third.g, line.fourth.g, at),
            linear(line.third.b, line.fourth.b, at)};
}

// Cut off at the point, within the levels.
FEEDLINE_INLINE uint32_t cut_off(double level) {
    return level <= 0.0 ? 0u : level >= 255.0 ? 255u : (uint32_t)level;
}

// The largest whole number that is not above x, which is at least -1.
FEEDLINE_INLINE int below(double x) {
    int whole = (int)x;
    return (double)whole > x ? whole - 1 : whole;
}

// One pixel of the layer, red in the lowest byte, and 1 in the highest where the layer covers it; 0 where it does not.
// `column` and `row` are those of the mapped image.
FEEDLINE_INLINE uint32_t pillow_pixel(const LayerDesc& layer, const Pixels& source, const Steps& steps, int column,
                                      int row) {
    const double* m = layer.matrix;
    double x = (double)column + 0.5, y = (double)row + 0.5;
    double u = m[0] * x + m[1] * y + m[2], v = m[3] * x + m[4] * y + m[5];
    if (!(u >= 0.0 && u < (double)layer.columns.input && v >= 0.0 && v < (double)layer.rows.input)) return 0;
    u = u - 0.5, v = v - 0.5;
    int left = below(u), top = below(v);
    double across = u - (double)left, below_top = v - (double)top;
    bool is_cubic = layer.columns.filter == FEEDLINE_FILTER_PILLOW_BICUBIC;
    int first = is_cubic ? -1 : 0, end = is_cubic ? 3 : 2;
    Line lines = {};
#pragma unroll 1
    for (int down_by = first; down_by < end; down_by++) {
        Line taps = {};
#pragma unroll 1
        for (int right_by = first; right_by < end; right_by++) {
            push(taps, fine_tap(layer, source, steps, left + right_by, top + down_by));
        }
        push(lines, between(taps, across, is_cubic));
    }
    Fine levels = between(lines, below_top, is_cubic);
    return cut_off(levels.r) | cut_off(levels.g) << 8 | cut_off(levels.b) << 16 | 1u << 24;
}

// Four pixels, a byte each in every word, and a bit for each that the layer covers.
struct Four {
    uint32_t r, g, b, covered;
};

// The four pixels that begin at (`x`, `y`) of the layer's window. A call, so that its registers are not those of other
// layers; source and steps come in parts, so that none has to lie in memory for it.
FEEDLINE_CALLED Four pillow_four(const LayerDesc* desc, const uint8_t* origin, int right, int down, int width, int height,
                                 const Step* first_step, uint32_t count, const Figures* figures, int x, int y) {
    const LayerDesc& layer = *desc;
    Pixels source = {origin, right, down, width, height, 0, 0};
    Steps steps = {first_step, count, figures};
    int row = shown(layer.rows, y);
    Four four = {0, 0, 0, 0};
#pragma unroll 1
    for (int i = 0; i < 4; i++) {
        uint32_t pixel = pillow_pixel(layer, source, steps, shown(layer.columns, x + i), row);
        four.r |= (pixel & 0xFF) << (8 * i);
        four.g |= (pixel >> 8 & 0xFF) << (8 * i);
        four.b |= (pixel >> 16 & 0xFF) << (8 * i);
        four.covered |= (pixel >> 24) << i;
    }
    return four;
}

#endif  // FEEDLINE_PILLOW_CUH
