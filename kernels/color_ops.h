/* The codes of colour operations (Step.op), and of the tables that are made of histograms (TableJob.table).
 *
 * Made from the table in src/color.rs by `UPDATE_DOCS=1 cargo test color_header`; do not edit.
 */
#ifndef FEEDLINE_COLOR_OPS_H
#define FEEDLINE_COLOR_OPS_H

/* T(k x): args k. */
#define FEEDLINE_COLOR_BRIGHTNESS 0

/* T(fma(m, 1-k, k x)) with the mean m of the luma, from a statistic: args k, 1-k. */
#define FEEDLINE_COLOR_CONTRAST 1

/* T(fma(L, 1-k, k x)): args k, 1-k. */
#define FEEDLINE_COLOR_SATURATION 2

/* Hue turned by k of a full circle: args k. */
#define FEEDLINE_COLOR_HUE 3

/* OpenCV's uint8 HSV, hue in half degrees: (h + a) mod 180, min(floor(s b), 255), min(floor(v c), 255), and
 * back, cut off: args a, a whole number in 30..=209 so that no sum is negative, b and c. */
#define FEEDLINE_COLOR_HSV 10

/* All channels become the luma. */
#define FEEDLINE_COLOR_GRAYSCALE 4

/* 255 - x where x >= t: args t. With t = 0 all levels are inverted. */
#define FEEDLINE_COLOR_SOLARIZE 5

/* min(x + a, 255) where x < t: args t, a. */
#define FEEDLINE_COLOR_SOLARIZE_ADD 11

/* floor(x * b) * a: args a, b, a power of two and its inverse, so that the highest bits are kept. */
#define FEEDLINE_COLOR_POSTERIZE 6

/* Red, green and blue become those channels (0, 1 or 2) of before: args one each. */
#define FEEDLINE_COLOR_PERMUTE_CHANNELS 7

/* Levels from a table: T((x - least) / ((greatest - least) * f32(1 / 255))) a channel, with its least and
 * greatest level; nothing where they are the same. */
#define FEEDLINE_COLOR_AUTOCONTRAST 8

/* Levels from a table: (pixels below x + step / 2) / step a channel, in whole numbers and at most 255; step is
 * a 255th of the pixels below the greatest level, and where it is 0 nothing changes. */
#define FEEDLINE_COLOR_EQUALIZE 9

/* Levels from a table that the host makes: 255 (x * (1 / 255))^g, in f64 and cut off: args are two parts of g,
 * whose sum it is. */
#define FEEDLINE_COLOR_GAMMA 12

/* T(a x + b), the product and the sum rounded each: args a, b. */
#define FEEDLINE_COLOR_BRIGHTNESS_CONTRAST 13

/* T(x + a) a channel: args one each, whole numbers. */
#define FEEDLINE_COLOR_SHIFT_RGB 14

/* OpenCV's uint8 HSV, hue in half degrees: (h + a) mod 180, T(s + b) unless s is 0, T(v + c), and back, cut
 * off: args a, a whole number in 30..=209 so that no sum is negative, b and c, whole numbers. */
#define FEEDLINE_COLOR_SHIFT_HSV 15

/* All channels become (9798 r + 19235 g + 3735 b + 16384) / 32768, cut off: OpenCV's grey. */
#define FEEDLINE_COLOR_TO_GRAY 16

#define FEEDLINE_LEVELS_STRETCHED 0
#define FEEDLINE_LEVELS_EQUALIZED 1

#endif /* FEEDLINE_COLOR_OPS_H */
