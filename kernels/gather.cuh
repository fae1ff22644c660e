// Warped layers: where each canvas pixel falls in the source, and what it becomes there; src/device/warp.rs and
// src/device/cpu/gather.rs, to the bit. Layers with Pillow's arithmetic are in pillow.cuh.
#ifndef FEEDLINE_GATHER_CUH
#define FEEDLINE_GATHER_CUH

#include "pillow.cuh"

// Furthest that a widened filter reaches from its centre, in source pixels.
#define FEEDLINE_MAX_RADIUS 8.0f

// Two coordinates.
struct Pair {
    float x, y;
};

// Three sums of levels, and what the taps inside the clip weigh together.
struct Taken {
    float r, g, b, inside;
};

// What a warped layer reads: `layer.columns` and `layer.rows` hold the clip's edges as `input`, the edges of the warped
// image as `output`, and as `first` where the source's pixels begin in the clip.
struct Warp {
    const LayerDesc& layer;
    const Pixels& source;
    const Steps& steps;
    bool divides;
};

// The map's three results for a pixel of the warped image.
FEEDLINE_INLINE void map_pixel(const Warp& warp, Pair at, float& u, float& v, float& d) {
    const float* m = warp.layer.map;
    float x = at.x + 0.5f - (warp.divides ? 0.0f : 0.5f * (float)warp.layer.columns.output);
    float y = at.y + 0.5f - (warp.divides ? 0.0f : 0.5f * (float)warp.layer.rows.output);
    u = fmaf(y, m[1], x * m[0]) + m[2];
    v = fmaf(y, m[4], x * m[3]) + m[5];
    d = fmaf(y, m[7], x * m[6]) + m[8];
}

// Where a pixel of the warped image falls: (0, 0) is the centre of the clip's first pixel.
FEEDLINE_INLINE Pair place_of(const Warp& warp, Pair at) {
    float u, v, d;
    map_pixel(warp, at, u, v, d);
    if (warp.divides) u = u / d - 1.0f, v = v / d - 1.0f;
    return {fmaf(u + 1.0f, 0.5f * (float)warp.layer.columns.input, -0.5f),
            fmaf(v + 1.0f, 0.5f * (float)warp.layer.rows.input, -0.5f)};
}

// How far a coordinate of the source moves from one pixel to the next, but within 1..=8.
FEEDLINE_INLINE float radius_along(float half, float x, float y) {
    return fminf(fmaxf(half * sqrtf(fmaf(y, y, x * x)), 1.0f), FEEDLINE_MAX_RADIUS);
}

FEEDLINE_INLINE Pair radius_of(const Warp& warp, Pair at) {
    const float* m = warp.layer.map;
    float ux = m[0], uy = m[1], vx = m[3], vy = m[4];
    if (warp.divides) {
        float u, v, d;
        map_pixel(warp, at, u, v, d);
        float across = -(u / d), down = -(v / d);
        ux = fmaf(across, m[6], ux) / d, uy = fmaf(across, m[7], uy) / d;
        vx = fmaf(down, m[6], vx) / d, vy = fmaf(down, m[7], vy) / d;
    }
    return {radius_along(0.5f * (float)warp.layer.columns.input, ux, uy),
            radius_along(0.5f * (float)warp.layer.rows.input, vx, vy)};
}

// One source pixel and 1, or zeros where the clip ends; without a colour around it, the nearest inside.
FEEDLINE_INLINE Taken take(const Warp& warp, float x, float y) {
    const LayerDesc& layer = warp.layer;
    bool inside = x >= 0.0f && x < (float)layer.columns.input && y >= 0.0f && y < (float)layer.rows.input;
    if (!inside && layer.around != FEEDLINE_AROUND_NOTHING) return {0.0f, 0.0f, 0.0f, 0.0f};
    Quad one = read_one(warp.source, (int)x - (int)layer.columns.first, (int)y - (int)layer.rows.first);
    Color color = recoloured_pixel({(float)one.r, (float)one.g, (float)one.b}, warp.steps);
    return {color.r, color.g, color.b, 1.0f};
}

// fma(tap, weight, sum), a channel.
FEEDLINE_INLINE void add(Taken& sum, Taken tap, float weight) {
    sum.r = fmaf(tap.r, weight, sum.r);
    sum.g = fmaf(tap.g, weight, sum.g);
    sum.b = fmaf(tap.b, weight, sum.b);
    sum.inside = fmaf(tap.inside, weight, sum.inside);
}

// The taps of a filter along one axis.
struct Tent {
    float centre, radius, first;
    int count;
};

// From the first whole number that is not below centre - radius to the last that is not above centre + radius.
FEEDLINE_INLINE Tent tent_of(float centre, float radius) {
    float first = ceilf(centre - radius);
    return {centre, radius, first, (int)(floorf(centre + radius) - first) + 1};
}

FEEDLINE_INLINE float weight_of(const Tent& tent, float tap) {
    return fmaxf(1.0f - fabsf(tap - tent.centre) / tent.radius, 0.0f);
}

// What a weight is multiplied with, so that all of them sum to 1.
FEEDLINE_INLINE float part_of(const Tent& tent) {
    float whole = 0.0f;
#pragma unroll 1
    for (int tap = 0; tap < tent.count; tap++) whole += weight_of(tent, tent.first + (float)tap);
    return 1.0f / whole;
}

// A tent as wide as the source's stride: columns from the left, in each column rows from the top.
FEEDLINE_INLINE Taken take_widened(const Warp& warp, Pair place, Pair radius) {
    Tent columns = tent_of(place.x, radius.x), rows = tent_of(place.y, radius.y);
    Taken sums = {0.0f, 0.0f, 0.0f, 0.0f};
    float across = part_of(columns), down = part_of(rows);
#pragma unroll 1
    for (int column = 0; column < columns.count; column++) {
        float left = columns.first + (float)column;
        Taken line = {0.0f, 0.0f, 0.0f, 0.0f};
#pragma unroll 1
        for (int row = 0; row < rows.count; row++) {
            float top = rows.first + (float)row;
            add(line, take(warp, left, top), weight_of(rows, top) * down);
        }
        add(sums, line, weight_of(columns, left) * across);
    }
    return sums;
}

// Four taps, in the order of torch's sums.
FEEDLINE_INLINE Taken take_plain(const Warp& warp, Pair place) {
    float left = floorf(place.x), top = floorf(place.y);
    float east = place.x - left, south = place.y - top;
    float west = 1.0f - east, north = 1.0f - south;
    Taken sums = {0.0f, 0.0f, 0.0f, 0.0f};
#pragma unroll 1
    for (int corner = 0; corner < 4; corner++) {
        Taken tap = take(warp, corner % 2 ? left + 1.0f : left, corner / 2 ? top + 1.0f : top);
        float weight = (corner % 2 ? east : west) * (corner / 2 ? south : north);
        // The first is a product: added to 0 it is the same.
        add(sums, tap, weight);
    }
    return sums;
}

FEEDLINE_INLINE uint32_t rounded(float sum, float fill, const Taken& sums, bool blends) {
    if (blends) sum = (sum - fill) * sums.inside + fill;
    return (uint32_t)fminf(fmaxf(rintf(sum), 0.0f), 255.0f);
}

// One pixel of the layer, in the lowest bytes; false where the layer does not cover it. `column` and `line` are those of
// the warped image.
FEEDLINE_INLINE bool gather_one(const Warp& warp, int column, int line, Quad& one) {
    const LayerDesc& layer = warp.layer;
    bool fills = layer.around == FEEDLINE_AROUND_FILL;
    one = {fills ? layer.fill[0] : 0u, fills ? layer.fill[1] : 0u, fills ? layer.fill[2] : 0u};
    if (layer.source == FEEDLINE_NONE) return layer.around != FEEDLINE_AROUND_NOTHING;
    Pair at = {(float)column, (float)line};
    Pair place = place_of(warp, at);
    float width = (float)layer.columns.input, height = (float)layer.rows.input;
    if (layer.around == FEEDLINE_AROUND_NOTHING &&
        !(place.x >= -0.5f && place.x < width - 0.5f && place.y >= -0.5f && place.y < height - 0.5f)) {
        return false;
    }
    if (layer.columns.filter == FEEDLINE_FILTER_NEAREST) {
        Taken taken = take(warp, rintf(place.x), rintf(place.y));
        if (taken.inside != 0.0f) one = {(uint32_t)taken.r, (uint32_t)taken.g, (uint32_t)taken.b};
        return true;
    }
    Pair radius = {1.0f, 1.0f};
    if (layer.columns.filter != FEEDLINE_FILTER_BILINEAR_PLAIN) radius = radius_of(warp, at);
    // Whether any tap can lie inside the clip; false where there is no place.
    if (!(place.x > -radius.x && place.x < width - 1.0f + radius.x && place.y > -radius.y &&
          place.y < height - 1.0f + radius.y)) {
        return true;
    }
    bool plain = layer.columns.filter == FEEDLINE_FILTER_BILINEAR_PLAIN;
    Taken sums = plain ? take_plain(warp, place) : take_widened(warp, place, radius);
    one = {rounded(sums.r, (float)one.r, sums, fills), rounded(sums.g, (float)one.g, sums, fills),
           rounded(sums.b, (float)one.b, sums, fills)};
    return true;
}

// The four pixels that begin at (`x`, `y`) of the layer's window, and a bit for each that the layer covers.
FEEDLINE_INLINE Quad gather(const LayerDesc& layer, const Pixels& source, const Steps& steps, int x, int y,
                            uint32_t& covered) {
    if (layer.columns.filter >= FEEDLINE_FILTER_PILLOW_BILINEAR) {
        covered = 0;
        if (layer.source == FEEDLINE_NONE) return {0, 0, 0};
        Four four = pillow_four(&layer, source.origin, source.right, source.down, source.width, source.height,
                                steps.steps, steps.count, steps.figures, x, y);
        covered = four.covered;
        return {four.r, four.g, four.b};
    }
    const float* m = layer.map;
    Warp warp = {layer, source, steps, !(m[6] == 0.0f && m[7] == 0.0f && m[8] == 1.0f)};
    int line = shown(layer.rows, y);
    Quad quad = {0, 0, 0};
    covered = 0;
#pragma unroll 1
    for (int i = 0; i < 4; i++) {
        Quad one;
        covered |= (uint32_t)gather_one(warp, shown(layer.columns, x + i), line, one) << i;
        quad.r |= one.r << (8 * i);
        quad.g |= one.g << (8 * i);
        quad.b |= one.b << (8 * i);
    }
    return quad;
}

#endif  // FEEDLINE_GATHER_CUH
