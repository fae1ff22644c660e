// Hue, lightness and saturation in f32, with OpenCV's formulas: what src/device/cpu/hls.rs does.
#ifndef FEEDLINE_HLS_CUH
#define FEEDLINE_HLS_CUH

#include "device.cuh"

// Hue in degrees; lightness and saturation from 0 to 1.
struct Hls {
    float hue, lightness, saturation;
};

struct Rgb {
    float r, g, b;
};

FEEDLINE_INLINE Hls to_hls(Rgb of) {
    float most = fmaxf(of.r, fmaxf(of.g, of.b)), least = fminf(of.r, fminf(of.g, of.b));
    float apart = most - least, both = most + least, lightness = both * 0.5f;
    if (apart <= 1.1920929e-7f) return {0.0f, lightness, 0.0f};
    float saturation = apart / (lightness < 0.5f ? both : 2.0f - most - least), degrees = 60.0f / apart;
    float hue = most == of.r ? (of.g - of.b) * degrees
              : most == of.g ? (of.b - of.r) * degrees + 120.0f
                             : (of.r - of.g) * degrees + 240.0f;
    return {hue < 0.0f ? hue + 360.0f : hue, lightness, saturation};
}

FEEDLINE_INLINE Rgb from_hls(Hls of) {
    float l = of.lightness, s = of.saturation;
    if (s == 0.0f) return {l, l, l};
    float high = l <= 0.5f ? l * (1.0f + s) : l + s - l * s, low = 2.0f * l - high;
    float sixths = of.hue * (6.0f / 360.0f);
    // The noise turns a hue by much less than the circle.
    if (sixths < 0.0f) sixths = sixths + 6.0f;
    if (sixths >= 6.0f) sixths = sixths - 6.0f;
    int sector = (int)sixths;
    float part = sixths - (float)sector;
    float falling = low + (high - low) * (1.0f - part), rising = low + (high - low) * part;
    if (sector == 0) return {high, rising, low};
    if (sector == 1) return {falling, high, low};
    if (sector == 2) return {low, high, rising};
    if (sector == 3) return {low, falling, high};
    if (sector == 4) return {rising, low, high};
    return {high, low, falling};
}

#endif  // FEEDLINE_HLS_CUH
