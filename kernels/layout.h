/* The tables of one batch: what the host makes of the plans, and all that crosses to the kernels.
 *
 * One block of memory begins with a Batch, which says where each array lies; the jobs of each launch lie in it too.
 * src/device/cuda/render/layout.rs declares the same structs; tests/plan/layout.rs compares sizes, offsets and constants.
 * Offsets in the tables and in the scratch memory are in bytes. No struct holds padding.
 */
#ifndef FEEDLINE_LAYOUT_H
#define FEEDLINE_LAYOUT_H

#include <stdint.h>

#include "color_ops.h"

#ifdef __cplusplus
extern "C" {
#endif

/* No source, no statistic, no mask. */
#define FEEDLINE_NONE UINT32_C(0xFFFFFFFF)

/* Most statistics of one pass. */
#define FEEDLINE_MAX_STATS 16
/* Longest edge of a FILTER_GAUSSIAN kernel. */
#define FEEDLINE_MAX_KERNEL 127
/* Longest edge of a window of FILTER_MEAN, FILTER_MEDIAN and FILTER_KERNEL. */
#define FEEDLINE_MAX_WINDOW 31

/* LayerDesc.kind */
#define FEEDLINE_KIND_UPRIGHT 0 /* an axis-parallel part of an image, resampled as torchvision's uint8 CPU path does */
#define FEEDLINE_KIND_WARP 1    /* an image through LayerDesc.map */
#define FEEDLINE_KIND_SOLID 2   /* one colour, LayerDesc.fill */
#define FEEDLINE_KIND_COPY 4    /* an upright layer of which each pixel is one source pixel */

/* LayerDesc.around, of a KIND_WARP: what is shown where the map leaves the clip */
#define FEEDLINE_AROUND_NOTHING 0 /* pixels whose centre falls inside are covered, taps outside move to the edge */
#define FEEDLINE_AROUND_BLACK 1   /* taps outside are black */
#define FEEDLINE_AROUND_FILL 2    /* taps outside are black, and the sum is blended with the colour by their weight */

/* Axis.filter; of a KIND_WARP, BILINEAR is widened where the map shrinks, and BILINEAR_PLAIN is torch's grid_sample */
#define FEEDLINE_FILTER_BILINEAR 0       /* triangle, widened when shrinking (antialias) */
#define FEEDLINE_FILTER_BILINEAR_PLAIN 1 /* triangle of radius 1 whatever the scale (antialias off) */
#define FEEDLINE_FILTER_BICUBIC 2        /* cubic convolution, a = -0.5, widened when shrinking */
#define FEEDLINE_FILTER_NEAREST 3        /* upright: pixel min(floor(f32(i) * (f32(in) / f32(out))), in - 1) */

/* Axis.filter, of a KIND_WARP through LayerDesc.matrix and with nothing around: Pillow's, in f64 */
#define FEEDLINE_FILTER_PILLOW_BILINEAR 6 /* triangle of radius 1 */
#define FEEDLINE_FILTER_PILLOW_BICUBIC 7  /* cubic convolution, a = -1 */

/* FilterJob.filter */
#define FEEDLINE_FILTER_SHARPNESS 4 /* T(fma(mean - x, amount, x)), mean of nine of which the own counts five times */
#define FEEDLINE_FILTER_GAUSSIAN 5  /* rows, then columns, mirrored beyond the edge */

#define FEEDLINE_FILTER_MEAN 8      /* the rounded mean of a window, mirrored beyond the edge */
#define FEEDLINE_FILTER_MEDIAN 9    /* the median of a window, whose outermost pixels are repeated beyond the edge */
#define FEEDLINE_FILTER_KERNEL 10   /* the rounded sum of a window's levels times weights, mirrored beyond the edge */
#define FEEDLINE_FILTER_NOISE 11    /* T(x + (n * deviation + mean)), n standard normal */
#define FEEDLINE_FILTER_CLAHE 12    /* lightness from the tables of tiles */
#define FEEDLINE_FILTER_GRID 13     /* looked up where tables of columns and rows say */
#define FEEDLINE_FILTER_RADIAL 14   /* looked up at d * (1 + (k2 * r + k1) * r), seen from the middle */
#define FEEDLINE_FILTER_ELASTIC 15  /* looked up as far away as a field of B-splines says */
#define FEEDLINE_FILTER_MULTIPLY 16 /* T(x * (u * span + low)), u uniform from 0 to 1 */
#define FEEDLINE_FILTER_SENSOR 17   /* a hue that varies, and a Poisson number of lighter grains */
#define FEEDLINE_FILTER_JPEG 18     /* what a JPEG with halved colour differences makes of it */

/* Erase.kind */
#define FEEDLINE_BLEND_OVER 0    /* acc * (1 - weight) + input * weight */
#define FEEDLINE_BLEND_SUM 1     /* acc + input * weight */
#define FEEDLINE_BLEND_BETWEEN 2 /* acc + (input - acc) * weight */
#define FEEDLINE_ERASE_CONSTANT 0 /* Erase.value */
#define FEEDLINE_ERASE_NOISE 1    /* standard normal noise from the counter hash with Erase.key */

/* Batch.dtype */
#define FEEDLINE_DTYPE_F32 0
#define FEEDLINE_DTYPE_F16 1
#define FEEDLINE_DTYPE_BF16 2
#define FEEDLINE_DTYPE_U8 3
/* Batch.layout */
#define FEEDLINE_LAYOUT_NCHW 0
#define FEEDLINE_LAYOUT_NHWC 1
#define FEEDLINE_LAYOUT_NHW 2      /* the first channel */
#define FEEDLINE_LAYOUT_NHW_WIDE 3 /* the first two channels, added up; of f32 */

/* Set in Step.stat and in what is measured where a statistic is a histogram: the number of its Histogram. */
#define FEEDLINE_HISTOGRAM_BIT UINT32_C(0x80000000)

/* What a kernel stores in Batch.errors where it meets what it does not know; the unknown code is in the lowest 16 bits. */
#define FEEDLINE_ERROR_COLOR_OP 0x10000    /* Step.op */
#define FEEDLINE_ERROR_LEVEL_TABLE 0x20000 /* TableJob.table */

/* Pixels of a tile: what one block renders at a time. */
#define FEEDLINE_TILE_WIDTH 32
#define FEEDLINE_TILE_HEIGHT 32
/* Threads of a block, of every kernel. */
#define FEEDLINE_THREADS 256
/* Groups of four source columns that a tile of a CropJob may read, and groups of weights that an axis of it may have. */
#define FEEDLINE_CROP_GROUPS 256
#define FEEDLINE_CROP_WEIGHTS 32
/* Threads that write a MaskRun. */
#define FEEDLINE_RUN_THREADS 16

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

/* A run of entries in one of the arrays. */
typedef struct Span {
    uint32_t start;
    uint32_t len;
} Span;

/* Pixels side by side in a row of a canvas. */
typedef struct Run {
    uint32_t start; /* the first column */
    uint32_t len;
} Run;

/* A layer stack with its colour steps, blended with what is below. */
typedef struct BlendInput {
    Rect window; /* the part of the canvas it is laid into */
    Span layers; /* the lowest first; what none covers is black */
    Span steps;  /* on the composited u8 pixels */
    Span erases; /* filled after normalise */
    float weight;
    uint32_t mode; /* BLEND_OVER, BLEND_SUM or BLEND_BETWEEN */
    uint32_t reserved[4];
} BlendInput;

/* One colour operation. */
typedef struct Step {
    uint32_t op;
    uint32_t stat; /* index into the plan's statistics, or NONE; COLOR_GAMMA: HISTOGRAM_BIT and the offset of 256 levels */
    float args[6];
} Step;

/* A rectangle filled after normalise. */
typedef struct Erase {
    Rect window;
    float value[3]; /* in normalised units */
    uint32_t kind;
    uint32_t key[2];
    uint32_t reserved[2];
} Erase;

/* Where the arrays lie, and what a sample is made into. */
typedef struct Batch {
    uint32_t sources;  /* Source[] */
    uint32_t layers;   /* LayerDesc[] */
    uint32_t inputs; /* BlendInput[], spans counted over the whole batch */
    uint32_t steps;    /* Step[], statistics counted over the whole batch */
    uint32_t erases;   /* Erase[] */
    uint32_t counts;   /* uint64_t[]: pixels that each mean is taken of */
    uint32_t rows;     /* Span[]: the runs of each row of each mask */
    uint32_t runs;     /* Run[] */
    uint64_t sums;     /* uint64_t[] in the scratch memory, zero at first: the sum of each statistic */
    uint64_t histograms;  /* Histogram[] in the scratch memory, zero at first */
    uint32_t dtype;
    uint32_t layout;
    float factors[6];  /* a and b of fma(level, a, b), a channel */
    uint64_t errors;   /* address of a uint32_t in the host's memory: 0, or one of ERROR_ with a code */
} Batch;

/* A histogram, and what is made of it. */
typedef struct Histogram {
    uint32_t counts[3][256]; /* pixels of each level, a channel */
    uint8_t table[3][256];   /* what becomes of each level */
} Histogram;

/* Where the upright pixels of a source lie: pixel (x, y) is the three bytes at origin + x * right + y * down. */
typedef struct Source {
    uint64_t origin;     /* an address, or an offset in the scratch memory */
    int32_t right;       /* 3, or -3 where mirrored; a row of the stored image where transposed */
    int32_t down;
    Size size;           /* pixels that may be read; coordinates beyond are moved to the edge */
    int32_t column;      /* where pixel (0, y) lies in its stored row */
    uint32_t columns;    /* pixels of that row that may be read; 0 where rows are stored as columns */
    uint32_t in_scratch; /* 1 where origin is an offset in the scratch memory */
    uint32_t reserved;
} Source;

/* One axis of a layer. */
typedef struct Axis {
    uint64_t table;    /* KIND_UPRIGHT: offset in the scratch memory of an AxisTable and what follows it */
    uint32_t input;    /* length of the clip */
    uint32_t output;   /* length it is resampled or warped to */
    int32_t offset;    /* first output shown */
    uint32_t count;    /* outputs shown */
    uint32_t reversed; /* 1 where they are shown last first */
    uint32_t filter;
    uint32_t first;    /* position in the clip that is number 0 in the Source */
    uint32_t groups;   /* weights of an output, in groups of four */
} Axis;

/* What the taps kernel makes of an axis. Taps and weights come in groups of four that start at a multiple of four.
 *
 * It is followed by a uint32_t for each output, padded to a multiple of four of them: its first group; and then by the
 * weights, four int16_t a group: weights[group * count + output]. */
typedef struct AxisTable {
    uint32_t precision; /* weights are whole numbers of 2^-precision */
    uint32_t reserved[3];
} AxisTable;

/* A layer, ready to be shown. */
typedef struct LayerDesc {
    Rect window;     /* on the canvas */
    uint32_t kind;
    uint32_t around; /* KIND_WARP: AROUND_... */
    uint32_t source; /* index of its Source; NONE where it reads nothing */
    uint8_t fill[4];
    Span steps;      /* on each source pixel */
    Axis columns;
    Axis rows;
    float map[9];    /* KIND_WARP: from pixel centres to the clip at -1..1; WarpMap in src/plan.rs has the two forms */
    uint32_t mask;   /* which of the batch's rows of masks is that of the window's first row; NONE without a mask */
    double matrix[6]; /* FILTER_PILLOW_...: from pixel centres to positions in the clip, in pixels; PillowMap in src/plan.rs */
} LayerDesc;

/* One canvas or sample to be rendered. */
typedef struct RenderJob {
    uint64_t target;   /* the sample's address, or the canvas's offset in the scratch memory */
    Size size;
    Span inputs;
    Span steps;        /* behind the blend */
    Span stats;        /* means that any of its steps may need, at most MAX_STATS */
    uint32_t pitch;    /* bytes of a row of a canvas; 0: the target is a sample */
    uint32_t measured; /* statistic to be summed up from what is stored, or NONE */
    Rect rect;         /* the part it is measured on */
} RenderJob;

/* One sample that shows an upright image and nothing else: all that a block needs of its layer, its source and its axes,
 * read in words of 16 bytes. Pixel (x, y) of the source is the three bytes at origin + skipped + x * 3 + y * down. */
typedef struct CropJob {
    uint64_t target;        /* the sample's address, a multiple of four values */
    uint64_t origin;        /* an address, a multiple of four */
    Size size;              /* of the sample; the width is a multiple of four */
    uint32_t across;        /* tiles in a row of them */
    uint32_t reciprocal;    /* tile n lies in row n * reciprocal >> 16 */
    Size source;            /* pixels that may have weight */
    uint32_t columns;       /* pixels of a row that may be read */
    uint32_t down;
    uint32_t skipped;
    uint32_t tiles;
    uint32_t column_groups; /* weights of an output, in groups of four */
    uint32_t row_groups;
    uint64_t column_table;  /* as Axis.table */
    uint64_t row_table;
} CropJob;

/* One statistic to be summed up from a source. */
typedef struct MeasureJob {
    uint32_t source;
    uint32_t measured;
    Span steps; /* run ahead of the measurement */
    Span stats; /* statistics that those may need */
} MeasureJob;

/* One canvas to be filtered into another. */
typedef struct FilterJob {
    uint64_t target;  /* the other's offset in the scratch memory */
    uint64_t tables;  /* FILTER_CLAHE: offset in the scratch memory of 256 bytes for each tile, rows of tiles from the top;
                         FILTER_SENSOR: of two sums of 8 bytes, of twice the lightness and of its square; FILTER_JPEG:
                         of samples of luma, and of two differences with half the columns and rows */
    uint32_t source;  /* index of the Source of the whole canvas */
    uint32_t pitch;   /* bytes of a row, of the other */
    uint32_t filter;  /* FILTER_SHARPNESS to FILTER_JPEG, of which each kernel knows its own */
    float amount;     /* FILTER_SHARPNESS: its argument; FILTER_NOISE: the deviation; FILTER_CLAHE: 255 / pixels of a tile;
                         FILTER_ELASTIC: nodes for a pixel along x; FILTER_MULTIPLY: the span; FILTER_SENSOR: the intensity */
    uint32_t weights; /* offset in the tables of: FILTER_GAUSSIAN a float for each column of the kernel, then each row;
                         FILTER_KERNEL a float for each pixel of the window, row by row; FILTER_CLAHE LabTables; FILTER_GRID a float for each column of
                         the image, then each row; FILTER_RADIAL six doubles: the middle, scales and k1, k2;
                         FILTER_ELASTIC two floats for each node, row by row; FILTER_JPEG 64 steps of luma, then
                         of the differences, row by row */
    uint32_t columns; /* of a kernel or window; FILTER_CLAHE: tiles; FILTER_ELASTIC: nodes; FILTER_JPEG: samples of luma */
    uint32_t rows;
    float mean;       /* FILTER_NOISE; FILTER_ELASTIC: nodes for a pixel along y; FILTER_MULTIPLY: the least factor;
                         FILTER_SENSOR: deviation of the hue in degrees */
    uint32_t key[2];  /* FILTER_NOISE, FILTER_MULTIPLY, FILTER_SENSOR: of the counter hash */
    uint32_t shared;  /* FILTER_NOISE, FILTER_MULTIPLY: 1 where a pixel's channels get the same number; FILTER_GRID to FILTER_ELASTIC: 1 where the
                         nearest pixel is taken */
    uint32_t limit;   /* FILTER_CLAHE: most pixels of one lightness that count, in a tile; FILTER_GRID to FILTER_ELASTIC: the
                         colour around the image, red in the lowest byte; FILTER_MULTIPLY: 1 where each pixel has its own factor */
    uint32_t tile[2]; /* FILTER_CLAHE: columns and rows of a tile */
} FilterJob;

/* What conversions from and to OpenCV's uint8 Lab look up; src/device/lab.rs says what it is. */
typedef struct LabTables {
    uint16_t gamma[256];
    uint16_t cube_root[3072];
    uint16_t luminance[256][2];
    uint8_t inverse_gamma[4096];
} LabTables;

/* One histogram to be made a table. */
typedef struct TableJob {
    uint32_t histogram;
    uint32_t table; /* LEVELS_STRETCHED or LEVELS_EQUALIZED */
} TableJob;

/* Pixels side by side in a plane of the masks of objects. */
typedef struct MaskRun {
    uint64_t target; /* address of the first */
    uint32_t len;
    uint32_t value;  /* what they become */
} MaskRun;

/* A place in a decoder's target, and the bytes that are put there ahead of it. */
typedef struct Sentinel {
    uint64_t address; /* of the first of four bytes */
    uint32_t bytes;
    uint32_t image;   /* which image it belongs to */
} Sentinel;

#ifdef __cplusplus
}
#endif

#endif /* FEEDLINE_LAYOUT_H */
