/* The tables of one batch: what the host works out of the plans, ahead of the kernels.
 *
 * One block of memory begins with a Batch, which says where each array lies; the jobs of each launch lie in it too.
 * src/device/cuda/render/jobs.rs declares the same structs; tests/jobs_layout.rs compares sizes, offsets and constants.
 * Places in the tables and in the scratch memory are byte offsets; places on the device are addresses.
 */
#ifndef FEEDLINE_JOBS_H
#define FEEDLINE_JOBS_H

#include "plan.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Paint.kind, besides the KIND_* of plan.h. */
#define FEEDLINE_KIND_COPY 4 /* an upright layer of which each pixel is one source pixel */

/* Batch.dtype */
#define FEEDLINE_DTYPE_F32 0
#define FEEDLINE_DTYPE_F16 1
#define FEEDLINE_DTYPE_BF16 2
#define FEEDLINE_DTYPE_U8 3
/* Batch.layout */
#define FEEDLINE_LAYOUT_NCHW 0
#define FEEDLINE_LAYOUT_NHWC 1

/* Set in Step.stat and in what is measured where a statistic is a histogram: the number of its Tally. */
#define FEEDLINE_TALLY_BIT UINT32_C(0x80000000)

/* Pixels of a tile: what one block renders at a time. */
#define FEEDLINE_TILE_WIDTH 32
#define FEEDLINE_TILE_HEIGHT 32
/* Threads of a block, of every kernel. */
#define FEEDLINE_THREADS 256

/* Where the arrays lie, and what a sample is made into. */
typedef struct Batch {
    uint32_t sources;  /* Source[] */
    uint32_t paints;   /* Paint[] */
    uint32_t pictures; /* Picture[], spans counted over the whole batch */
    uint32_t steps;    /* Step[], statistics counted over the whole batch */
    uint32_t erases;   /* Erase[] */
    uint32_t counts;   /* uint64_t[]: pixels that each mean is taken of */
    uint32_t rows;     /* Span[]: the runs of each row of each mask */
    uint32_t runs;     /* Run[] */
    uint64_t sums;     /* uint64_t[] in the scratch memory, zero at first: the sum of each statistic */
    uint64_t tallies;  /* Tally[] in the scratch memory, zero at first */
    uint32_t dtype;
    uint32_t layout;
    float factors[6];  /* a and b of fma(level, a, b), a channel */
} Batch;

/* A histogram, and what is made of it. */
typedef struct Tally {
    uint32_t counts[3][256]; /* pixels of each level, a channel */
    uint8_t table[3][256];   /* what becomes of each level */
} Tally;

/* Where the upright pixels of a source lie: pixel (x, y) is the three bytes at origin + x * right + y * down. */
typedef struct Source {
    uint64_t origin;     /* an address, or a place in the scratch memory */
    int32_t right;       /* 3, or -3 where mirrored; a row of the stored image where transposed */
    int32_t down;
    Size size;           /* pixels that may be read; coordinates beyond are moved to the edge */
    int32_t column;      /* where pixel (0, y) lies in its stored row */
    uint32_t columns;    /* pixels of that row that may be read; 0 where rows are stored as columns */
    uint32_t in_scratch; /* 1 where origin is a place in the scratch memory */
    uint32_t reserved;
} Source;

/* One axis of a layer. */
typedef struct Axis {
    uint64_t table;    /* KIND_UPRIGHT: place in the scratch memory of an AxisTable and what follows it */
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

/* A layer, ready to be painted. */
typedef struct Paint {
    Rect window;     /* on the canvas */
    uint32_t kind;
    uint32_t around; /* KIND_WARP: AROUND_... */
    uint32_t source; /* index of its Source; NONE where it reads nothing */
    uint8_t fill[4];
    Span steps;      /* on each source pixel */
    Axis columns;
    Axis rows;
    float map[9];    /* KIND_WARP: Layer.map */
    uint32_t mask;   /* which of the batch's rows of masks is that of the window's first row; NONE without a mask */
} Paint;

/* One canvas or sample to be rendered. */
typedef struct RenderJob {
    uint64_t target;   /* the sample's address, or the canvas's place in the scratch memory */
    Size size;
    Span pictures;
    Span steps;        /* behind the blend */
    Span stats;        /* means that any of its steps may need, at most MAX_STATS */
    uint32_t pitch;    /* bytes of a row of a canvas; 0: the target is a sample */
    uint32_t measured; /* statistic to be summed up from what is stored, or NONE */
    Rect rect;         /* the part it is measured on */
} RenderJob;

/* One statistic to be summed up from a source. */
typedef struct MeasureJob {
    uint32_t source;
    uint32_t measured;
    Span steps; /* run ahead of the measurement */
    Span stats; /* statistics that those may need */
} MeasureJob;

/* One canvas to be filtered into another. */
typedef struct FilterJob {
    uint64_t target;  /* the other's place in the scratch memory */
    uint32_t source;  /* index of the Source of the whole canvas */
    uint32_t pitch;   /* bytes of a row, of the other */
    uint32_t filter;  /* FILTER_SHARPNESS or FILTER_GAUSSIAN */
    float share;      /* FILTER_SHARPNESS: its argument */
    uint32_t weights; /* FILTER_GAUSSIAN: place in the tables of a float for each column of the kernel, then each row */
    uint32_t columns;
    uint32_t rows;
    uint32_t reserved;
} FilterJob;

/* One histogram to be made a table. */
typedef struct TableJob {
    uint32_t tally;
    uint32_t op; /* STEP_AUTOCONTRAST or STEP_EQUALIZE */
} TableJob;

#ifdef __cplusplus
}
#endif

#endif /* FEEDLINE_JOBS_H */
