// Colour steps on four pixels: what src/device/cpu/pixel_block.rs does, to the bit.
//
// Levels stay whole numbers in f32 between steps, so nothing is lost by not going back to bytes.
#ifndef FEEDLINE_COLOR_CUH
#define FEEDLINE_COLOR_CUH

#include "pixels.cuh"

// The levels of four pixels as numbers.
struct Levels {
    float r[4], g[4], b[4];
};

FEEDLINE_INLINE Levels unpack(Quad quad) {
    Levels levels;
    for (int i = 0; i < 4; i++) {
        levels.r[i] = (float)(quad.r >> (8 * i) & 0xFF);
        levels.g[i] = (float)(quad.g >> (8 * i) & 0xFF);
        levels.b[i] = (float)(quad.b >> (8 * i) & 0xFF);
    }
    return levels;
}

// Whole numbers in 0..=255 to bytes.
FEEDLINE_INLINE Quad pack(const Levels& levels) {
    Quad quad = {0, 0, 0};
    for (int i = 0; i < 4; i++) {
        quad.r |= (uint32_t)levels.r[i] << (8 * i);
        quad.g |= (uint32_t)levels.g[i] << (8 * i);
        quad.b |= (uint32_t)levels.b[i] << (8 * i);
    }
    return quad;
}

// torchvision's conversion back to u8: clamped, then cut off.
FEEDLINE_INLINE float truncate(float x) {
    return truncf(fminf(fmaxf(x, 0.0f), 255.0f));
}

// torchvision's grey: a whole number.
FEEDLINE_INLINE float luma(float r, float g, float b) {
    return floorf(fmaf(b, 0.114f, fmaf(g, 0.587f, r * 0.2989f)));
}

// OpenCV's grey: a whole number.
FEEDLINE_INLINE float rounded_luma(float r, float g, float b) {
    float sum = fmaf(b, 3735.0f, fmaf(g, 19235.0f, fmaf(r, 9798.0f, 16384.0f)));
    return floorf(sum * (1.0f / 32768.0f));
}

FEEDLINE_INLINE float unit(float x) {
    return fminf(fmaxf(x, 0.0f), 1.0f);
}

FEEDLINE_INLINE void from_hsv(float hue, float s, float v, float& r, float& g, float& b) {
    float sixth = 6.0f * hue;
    float whole = floorf(sixth);
    float f = sixth - whole;
    float p = truncf(255.999f * unit((1.0f - s) * v));
    float q = truncf(255.999f * unit((1.0f - s * f) * v));
    float t = truncf(255.999f * unit((s * f + (1.0f - s)) * v));
    float most = truncf(255.999f * v);
    // A hue that rounds up to 1 is the first sextant again.
    int sextant = whole >= 6.0f ? 0 : (int)whole;
    r = sextant == 0 || sextant == 5 ? most : sextant == 1 ? q : sextant == 4 ? t : p;
    g = sextant == 1 || sextant == 2 ? most : sextant == 0 ? t : sextant == 3 ? q : p;
    b = sextant == 3 || sextant == 4 ? most : sextant == 2 ? t : sextant == 5 ? q : p;
}

// torchvision's hue shift on levels: to HSV, turned, and back; no fused operation anywhere.
FEEDLINE_INLINE void turn_hue(float& red, float& green, float& blue, float turn) {
    const float level = 1.0f / 255.0f, one_sixth = 1.0f / 6.0f;
    float r = red * level, g = green * level, b = blue * level;
    float high = fmaxf(fmaxf(r, g), b), low = fminf(fminf(r, g), b);
    float range = high - low;
    bool grey = range == 0.0f;
    float saturation = range / (grey ? 1.0f : high);
    float divisor = grey ? 1.0f : range;
    float rc = (high - r) / divisor, gc = (high - g) / divisor, bc = (high - b) / divisor;
    float hue = high == r ? bc - gc : high == g ? (2.0f + rc) - bc : (4.0f + gc) - rc;
    hue = hue * one_sixth + 1.0f;
    float turned = (hue - truncf(hue)) + turn;
    // Python's modulo 1 of a number in -0.5..1.5.
    turned = turned < 0.0f ? turned + 1.0f : turned >= 1.0f ? turned - 1.0f : turned;
    from_hsv(turned, saturation, high, red, green, blue);
}

FEEDLINE_INLINE float hsv_channel(float away, float slope, float most) {
    return floorf(fmaf(fminf(fmaxf(away, 0.0f), 30.0f), -slope, most));
}

// Three levels, or sums of such.
struct Color {
    float r, g, b;
};

// Hue, saturation and value as OpenCV's uint8 HSV has them, changed by factors or by what is added, and back;
// src/device/cpu/hsv.rs says how. A call, so that its registers are not those of the other steps.
FEEDLINE_CALLED Color changed_hsv(Color color, float turn, float saturation, float value, bool adds) {
    const float whole = 12582912.0f, fine = 3072.0f, above = 1.0f + 0x1p-22f;
    float r = color.r, g = color.g, b = color.b;
    float v = fmaxf(fmaxf(r, g), b);
    float d = v - fminf(fminf(r, g), b);
    float both = 1.0f / fmaxf(v * d, 1.0f);
    float over_v = fmaf(fmaf(both * d, 255.0f, fine), above, -fine * above);
    float over_d = fmaf(both * v, 30.0f, fine) - fine;
    float s = fmaf(d, over_v, whole) - whole;
    float x = v == r ? g - b : v == g ? fmaf(d, 2.0f, b - r) : fmaf(d, 4.0f, r - g);
    float h = floorf(fmaf(x, over_d, turn + 0.5f));
    h = h >= 180.0f ? h - 180.0f : h;
    if (adds) {
        s = s == 0.0f ? s : fminf(fmaxf(s + saturation, 0.0f), 255.0f);
        v = fminf(fmaxf(v + value, 0.0f), 255.0f);
    } else {
        s = floorf(fminf(s * saturation, 255.0f));
        v = floorf(fminf(v * value, 255.0f));
    }
    float slope = v * s * (1.0f / 7650.0f), most = v + 0.5f / 7650.0f;
    return {hsv_channel(60.0f - fabsf(h - 90.0f), slope, most), hsv_channel(fabsf(h - 60.0f) - 30.0f, slope, most),
            hsv_channel(fabsf(h - 120.0f) - 30.0f, slope, most)};
}

FEEDLINE_INLINE float blended(float level, float other, float factor, float rest) {
    return truncate(fmaf(other, rest, factor * level));
}

// What the steps of a block need, and what it measures.
struct Figures {
    float means[FEEDLINE_MAX_STATS];  // those that its steps name
    uint32_t first;                   // number of the first of them
    const Histogram* histograms;
    const uint8_t* constants;         // the tables of the batch
    uint32_t* errors;                 // Batch.errors
    unsigned long long sums[32];      // of what it measures
};

FEEDLINE_INLINE float picked(float channel, float r, float g, float b) {
    return channel == 0.0f ? r : channel == 1.0f ? g : b;
}

// The mean that a step names.
FEEDLINE_INLINE float mean_of(const Step& step, const Figures& figures) {
    return step.stat & FEEDLINE_HISTOGRAM_BIT ? 0.0f : figures.means[step.stat - figures.first];
}

// Looks the levels up in tables of 256, those of the channels `apart` from each other; a call, so that its addresses take no registers from the other steps.
FEEDLINE_CALLED Color looked_up(Color color, const uint8_t* table, uint32_t apart) {
    return {(float)table[(uint32_t)color.r], (float)table[apart + (uint32_t)color.g],
            (float)table[2 * apart + (uint32_t)color.b]};
}

// Lets the host know of a code that no kernel knows. Any thread's word will do; a plain store reaches the host's memory by
// the end of the kernel.
FEEDLINE_INLINE void report(uint32_t* errors, uint32_t kind, uint32_t code) {
    *errors = kind | (code & 0xFFFF);
}

// Runs one step on one pixel.
FEEDLINE_INLINE void run_step(const Step& step, const Figures& figures, float& r, float& g, float& b) {
    float factor = step.args[0], rest = step.args[1];
    switch (step.op) {
        case FEEDLINE_COLOR_SOLARIZE:
            r = r >= factor ? 255.0f - r : r, g = g >= factor ? 255.0f - g : g, b = b >= factor ? 255.0f - b : b;
            break;
        case FEEDLINE_COLOR_SOLARIZE_ADD:
            r = r < factor ? fminf(r + rest, 255.0f) : r, g = g < factor ? fminf(g + rest, 255.0f) : g;
            b = b < factor ? fminf(b + rest, 255.0f) : b;
            break;
        case FEEDLINE_COLOR_POSTERIZE:
            r = floorf(r * rest) * factor, g = floorf(g * rest) * factor, b = floorf(b * rest) * factor;
            break;
        case FEEDLINE_COLOR_PERMUTE_CHANNELS: {
            float red = picked(factor, r, g, b), green = picked(rest, r, g, b), blue = picked(step.args[2], r, g, b);
            r = red, g = green, b = blue;
            break;
        }
        case FEEDLINE_COLOR_AUTOCONTRAST:
        case FEEDLINE_COLOR_EQUALIZE: {
            const Histogram* histogram = figures.histograms + (step.stat & ~FEEDLINE_HISTOGRAM_BIT);
            Color found = looked_up({r, g, b}, histogram->table[0], 256);
            r = found.r, g = found.g, b = found.b;
            break;
        }
        case FEEDLINE_COLOR_GAMMA: {
            Color found = looked_up({r, g, b}, figures.constants + (step.stat & ~FEEDLINE_HISTOGRAM_BIT), 0);
            r = found.r, g = found.g, b = found.b;
            break;
        }
        case FEEDLINE_COLOR_BRIGHTNESS_CONTRAST:
            r = truncate(r * factor + rest), g = truncate(g * factor + rest), b = truncate(b * factor + rest);
            break;
        case FEEDLINE_COLOR_SHIFT_RGB:
            r = truncate(r + factor), g = truncate(g + rest), b = truncate(b + step.args[2]);
            break;
        case FEEDLINE_COLOR_TO_GRAY: r = g = b = rounded_luma(r, g, b); break;
        case FEEDLINE_COLOR_BRIGHTNESS:
            r = truncate(factor * r), g = truncate(factor * g), b = truncate(factor * b);
            break;
        case FEEDLINE_COLOR_HUE: turn_hue(r, g, b, factor); break;
        case FEEDLINE_COLOR_HSV:
        case FEEDLINE_COLOR_SHIFT_HSV: {
            bool adds = step.op == FEEDLINE_COLOR_SHIFT_HSV;
            Color changed = changed_hsv({r, g, b}, factor, rest, step.args[2], adds);
            r = changed.r, g = changed.g, b = changed.b;
            break;
        }
        case FEEDLINE_COLOR_GRAYSCALE: r = g = b = luma(r, g, b); break;
        case FEEDLINE_COLOR_CONTRAST:
        case FEEDLINE_COLOR_SATURATION: {
            float other = step.op == FEEDLINE_COLOR_CONTRAST ? mean_of(step, figures) : luma(r, g, b);
            r = blended(r, other, factor, rest), g = blended(g, other, factor, rest), b = blended(b, other, factor, rest);
            break;
        }
        default: report(figures.errors, FEEDLINE_ERROR_COLOR_OP, step.op);
    }
}

// Colour steps, and the statistics that they may name.
struct Steps {
    const Step* steps;
    uint32_t count;
    const Figures* figures;
};

// Runs steps in order on one pixel.
FEEDLINE_CALLED Color recolour(Color color, const Step* steps, uint32_t count, const Figures* figures) {
    Color now = color;
#pragma unroll 1
    for (uint32_t at = 0; at < count; at++) {
        run_step(steps[at], *figures, now.r, now.g, now.b);
    }
    return now;
}

FEEDLINE_INLINE Color recoloured_pixel(Color color, const Steps& steps) {
    return steps.count == 0 ? color : recolour(color, steps.steps, steps.count, steps.figures);
}

// Runs steps on four pixels; one after the other, because four at once need four times the registers and code.
FEEDLINE_INLINE Quad recoloured(Quad quad, const Steps& steps) {
    if (steps.count == 0) return quad;
#pragma unroll 1
    for (int shift = 0; shift < 32; shift += 8) {
        Color color = {(float)(quad.r >> shift & 0xFF), (float)(quad.g >> shift & 0xFF),
                       (float)(quad.b >> shift & 0xFF)};
        color = recoloured_pixel(color, steps);
        uint32_t others = ~(0xFFu << shift);
        quad.r = (quad.r & others) | (uint32_t)color.r << shift;
        quad.g = (quad.g & others) | (uint32_t)color.g << shift;
        quad.b = (quad.b & others) | (uint32_t)color.b << shift;
    }
    return quad;
}

// The sum of the luma of those of the four pixels that `inside` has a bit for.
FEEDLINE_INLINE uint32_t luma_sum(Quad quad, uint32_t inside) {
    Levels levels = unpack(quad);
    uint32_t sum = 0;
    for (int i = 0; i < 4; i++) {
        if (inside >> i & 1) sum += (uint32_t)luma(levels.r[i], levels.g[i], levels.b[i]);
    }
    return sum;
}

#endif  // FEEDLINE_COLOR_CUH
