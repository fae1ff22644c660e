/* What is to be done to one sample, as plain data: the structs of src/plan.rs under the same names.
 *
 * The host fills them, the kernels read them; tests/plan_layout.rs compares every size, offset and constant.
 * All sizes, crops and rectangles are in oriented (upright) coordinates. Every field is four bytes wide or made of such
 * fields, except ImageRef.index, so no struct holds padding.
 */
#ifndef FEEDLINE_PLAN_H
#define FEEDLINE_PLAN_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* No statistic, no mask. */
#define FEEDLINE_NONE UINT32_C(0xFFFFFFFF)
/* Set in Layer.image where it names an earlier stage's output instead of a decoded image. */
#define FEEDLINE_STAGE_BIT UINT32_C(0x80000000)

/* Most of each that one sample may have. */
#define FEEDLINE_MAX_IMAGES 32
#define FEEDLINE_MAX_LAYERS 128
#define FEEDLINE_MAX_STAGES 16
#define FEEDLINE_MAX_STEPS 64
#define FEEDLINE_MAX_STATS 8
#define FEEDLINE_MAX_ERASES 32
/* Most runs of pixels of the masks of one sample. */
#define FEEDLINE_MAX_RUNS 1048576
/* Longest edge of a FILTER_GAUSSIAN kernel. */
#define FEEDLINE_MAX_KERNEL 127

/* Layer.kind */
#define FEEDLINE_KIND_UPRIGHT 0 /* an axis-parallel part of an image, resampled as torchvision's uint8 CPU path does */
#define FEEDLINE_KIND_WARP 1    /* an image through Layer.map */
#define FEEDLINE_KIND_SOLID 2   /* one colour, Layer.fill */
#define FEEDLINE_KIND_FILTERED 3 /* an earlier stage, each pixel made of its neighbours */

/* The last byte of Layer.fill where the kind is KIND_WARP: what is shown where the map leaves the clip */
#define FEEDLINE_AROUND_NOTHING 0 /* pixels whose centre falls inside are covered, taps outside move to the edge */
#define FEEDLINE_AROUND_BLACK 1   /* taps outside are black */
#define FEEDLINE_AROUND_FILL 2    /* taps outside are black, and the sum is blended with the colour by their weight */

/* Layer.filter */
#define FEEDLINE_FILTER_BILINEAR 0       /* triangle, widened when shrinking (antialias) */
#define FEEDLINE_FILTER_BILINEAR_PLAIN 1 /* triangle of radius 1 whatever the scale (antialias off) */
#define FEEDLINE_FILTER_BICUBIC 2        /* cubic convolution, a = -0.5, widened when shrinking */
#define FEEDLINE_FILTER_NEAREST 3        /* upright: pixel min(floor(f32(i) * (f32(in) / f32(out))), in - 1) */

/* Layer.filter where the kind is KIND_FILTERED; arguments in Layer.map */
#define FEEDLINE_FILTER_SHARPNESS 4 /* a: T(fma(mean - x, a, x)), mean of nine of which the own counts five times */
#define FEEDLINE_FILTER_GAUSSIAN 5  /* columns, rows, sigma x, sigma y: rows, then columns, mirrored beyond the edge */

/* Bits of Orientation and, the first two, of Layer.mirror. */
#define FEEDLINE_MIRROR_X 1  /* left to right */
#define FEEDLINE_MIRROR_Y 2  /* top to bottom */
#define FEEDLINE_TRANSPOSE 4 /* rows and columns swapped, ahead of the mirrors */

/* Step.op; k is args[0], 1-k is args[1], T truncates and clamps to a level, L is the luma. */
#define FEEDLINE_STEP_BRIGHTNESS 0 /* T(k x) */
#define FEEDLINE_STEP_CONTRAST 1   /* T(fma(m, 1-k, k x)), m from the statistic Step.stat */
#define FEEDLINE_STEP_SATURATION 2 /* T(fma(L, 1-k, k x)) */
#define FEEDLINE_STEP_HUE 3        /* hue turned by k of a full circle */
#define FEEDLINE_STEP_GRAYSCALE 4  /* L */
#define FEEDLINE_STEP_SOLARIZE 5   /* 255 - x where x >= args[0] */
#define FEEDLINE_STEP_POSTERIZE 6  /* floor(x * args[1]) * args[0] */
#define FEEDLINE_STEP_PERMUTE 7    /* the channels args[0], args[1] and args[2] */
#define FEEDLINE_STEP_AUTOCONTRAST 8 /* from a histogram: the least level to 0, the greatest to 255 */
#define FEEDLINE_STEP_EQUALIZE 9     /* from a histogram: levels by how many pixels lie below */
#define FEEDLINE_STEP_HSV 10 /* h + args[0] mod 180, s * args[1], v * args[2], as OpenCV's uint8 HSV has them */

/* Stat.kind */
#define FEEDLINE_STAT_MEAN_LUMA 0 /* f32(exact sum of the luma / pixel count) */
#define FEEDLINE_STAT_HISTOGRAM 1 /* how many pixels have each level, a channel */
/* Stat.target, what Stat.index counts */
#define FEEDLINE_STAT_OF_LAYER 0   /* a rectangle of a layer's source */
#define FEEDLINE_STAT_OF_PICTURE 1 /* a picture's whole canvas */
#define FEEDLINE_STAT_OF_STAGE 2   /* the blended canvas of a stage */

/* Erase.kind */
#define FEEDLINE_ERASE_CONSTANT 0 /* Erase.value */
#define FEEDLINE_ERASE_NOISE 1    /* standard normal noise from the counter hash with Erase.key */

typedef struct Size {
    uint32_t width;
    uint32_t height;
} Size;

/* x and y may be negative where it hangs over an edge. */
typedef struct Rect {
    int32_t x;
    int32_t y;
    uint32_t width;
    uint32_t height;
} Rect;

/* How stored pixels turn into upright ones: first a transposition, then mirrors. */
typedef uint32_t Orientation;

/* A run of entries in one of the plan's arrays. */
typedef struct Span {
    uint32_t start;
    uint32_t len;
} Span;

/* One image file that the sample reads. */
typedef struct ImageRef {
    uint64_t index;          /* the record's index in the source */
    Size stored;             /* size as stored in the file */
    Orientation orientation; /* how the stored image is turned to stand upright */
    uint32_t reserved;
} ImageRef;

/* One image, or one colour, in a window of the canvas. */
typedef struct Layer {
    float map[9];            /* KIND_WARP: from an image of size scaled to clip at -1..1; src/plan.rs has the two forms */
    uint32_t kind;
    uint32_t filter;
    Orientation orientation; /* from stored to oriented pixels, mirrors that come before resampling included */
    Rect clip;               /* the part of the oriented source that taps may read */
    Rect window;             /* the part of the canvas that the layer may cover */
    Size scaled;             /* the size that clip is resampled or warped to */
    int32_t offset[2];       /* first column and row of the resampled or warped image that the window shows */
    uint32_t mirror;         /* MIRROR_X: the window shows its columns in reverse; MIRROR_Y: its rows */
    uint32_t image;          /* index of the image, or of a stage with STAGE_BIT */
    Span steps;              /* applied to each source pixel before resampling */
    uint8_t fill[4];         /* colour of KIND_SOLID, or around a warp: R, G, B, and for a warp AROUND_... */
    uint32_t mask;           /* index of the first row of its window in the plan's rows of masks, or NONE */
    uint32_t reserved[2];
} Layer;

/* Pixels side by side in a row of a canvas. */
typedef struct Run {
    uint32_t start; /* the first column */
    uint32_t len;
} Run;

/* A layer stack with its colour steps, laid over what is below with a share. */
typedef struct Picture {
    Rect window; /* the part of the canvas it is laid into */
    Span layers; /* the lowest first; what none covers is black */
    Span steps;  /* on the composited u8 pixels */
    Span erases; /* filled after normalise */
    float share; /* acc = acc * (1 - share) + picture * share */
    uint32_t reserved[5];
} Picture;

/* One colour operation. */
typedef struct Step {
    uint32_t op;
    uint32_t stat; /* index into the plan's statistics, or NONE */
    float args[6];
} Step;

/* What a step needs and only the whole image gives. */
typedef struct Stat {
    uint32_t kind;
    uint32_t target;
    uint32_t index;
    uint32_t reserved;
    Rect rect;  /* the measured part: of the layer's oriented source, or the whole canvas */
    Span steps; /* applied before measuring */
} Stat;

/* A rectangle filled after normalise. */
typedef struct Erase {
    Rect window;
    float value[3]; /* in normalised units */
    uint32_t kind;
    uint32_t key[2];
    uint32_t reserved[2];
} Erase;

/* One pass from images to a canvas. */
typedef struct Stage {
    Size size;
    Span pictures; /* in blending order */
    Span steps;    /* after blending; the blend is truncated to u8 first */
} Stage;

/* The share of one image's label in the sample's label. */
typedef struct LabelShare {
    uint32_t image;
    float share;
} LabelShare;

#ifdef __cplusplus
}
#endif

#endif /* FEEDLINE_PLAN_H */
