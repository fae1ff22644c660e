/* What the kernels of the JPEG decoder are told of a batch.
 *
 * src/device/cuda/jpeg/layout.rs declares the same structs; tests/plan/layout.rs compares sizes, offsets and constants. No
 * struct holds padding.
 */
#ifndef FEEDLINE_JPEG_LAYOUT_H
#define FEEDLINE_JPEG_LAYOUT_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Bits that index a lookup of Huffman codes; longer codes are searched for. */
#define FEEDLINE_LOOKUP_BITS 10
/* Threads of a block of `entropy`, each with a piece. */
#define FEEDLINE_PIECE_THREADS 128
/* Threads of a block of `expand`, each with a block of coefficients, and blocks of coefficients of a group, at most. */
#define FEEDLINE_EXPAND_THREADS 128
#define FEEDLINE_EXPANDED 32
/* Blocks of an MCU, at most. */
#define FEEDLINE_UNITS 10
/* Blocks of coefficients that a block of `inverse_dct` transforms, eight threads each. */
#define FEEDLINE_TRANSFORMED 32
/* Pixels of a tile of `planes_to_rgb`; a thread makes four side by side. */
#define FEEDLINE_RGB_WIDTH 64
#define FEEDLINE_RGB_HEIGHT 16

/* JpegPiece.end */
#define FEEDLINE_END_AT 0     /* at the bit `to`, with the predictions `end_dc` */
#define FEEDLINE_END_PADDED 1 /* less than eight bits before `to` */
#define FEEDLINE_END_WITHIN 2 /* at `to` or before */

/* Bits of a cut. */
#define FEEDLINE_CUT_BITS 2048

/* What is wrong with an image, in its status word. */
#define FEEDLINE_BAD_CODE 1 /* bits that are no code, or coefficients beyond a block */
#define FEEDLINE_BAD_END 2  /* a piece does not end as it should */
#define FEEDLINE_UNSETTLED 4 /* cuts of a run that do not fit each other after all rounds */
#define FEEDLINE_BAD_GROUP 8 /* a group of packed blocks that holds something else than its blocks */

/* JpegPlane.upsampling */
#define FEEDLINE_UPSAMPLE_NONE 0
#define FEEDLINE_UPSAMPLE_H2V1 1 /* three quarters of the nearer sample, one of the next, in each direction that is halved */
#define FEEDLINE_UPSAMPLE_H1V2 2
#define FEEDLINE_UPSAMPLE_H2V2 3
#define FEEDLINE_UPSAMPLE_REPEAT 4

/* JpegImage.color */
#define FEEDLINE_COLOR_GREY 0
#define FEEDLINE_COLOR_RGB 1
#define FEEDLINE_COLOR_YCC 2

/* A Huffman code, as a file defines it. */
typedef struct JpegCode {
    uint8_t counts[16]; /* codes of each length, from 1 to 16 bits */
    uint8_t symbols[256];
    uint32_t is_ac;
    uint32_t reserved;
} JpegCode;

/* One component's samples: those of the window's MCUs, row by row. */
typedef struct JpegPlane {
    uint32_t offset; /* of its first sample, from JpegImage.planes */
    uint32_t pitch;
    uint32_t left; /* of the first sample in the component's grid */
    uint32_t top;
    uint32_t width; /* of the whole component: at its edges samples are repeated */
    uint32_t height;
    uint32_t across; /* pixels that a sample covers */
    uint32_t down;
    uint32_t upsampling;
    uint32_t quant; /* index of its factors */
    uint32_t blocks_across; /* of an MCU */
    uint32_t blocks_down;
    uint32_t twos[2]; /* a bit for each position in zigzag order whose values begin with 2 bits, where blocks are packed */
    uint32_t fours[2]; /* with 4 bits */
} JpegPlane;

/* One image. */
typedef struct JpegImage {
    uint64_t words;        /* its bits, the first one the highest of each word; or its packed blocks, the first byte the lowest */
    uint64_t coefficients; /* 64 i16 a block, row by row, in the order of the scan, of the window's MCUs alone */
    uint64_t planes;
    uint64_t pixels; /* packed RGB */
    uint64_t points; /* a JpegPoint for each place of the decode index, counted through the rows; 0 where none are wanted */
    uint32_t word_count;
    uint32_t across; /* MCUs in a row of the scan */
    uint32_t first_row; /* the window, in MCUs */
    uint32_t first_column;
    uint32_t rows;
    uint32_t columns;
    uint32_t units; /* blocks of an MCU */
    uint32_t components;
    uint32_t color;
    uint32_t pitch; /* bytes from one row of pixels to the next */
    uint32_t x;     /* the part of the image that the pixels show */
    uint32_t y;
    uint32_t width;
    uint32_t height;
    uint32_t step; /* MCUs from one point of a row to the next */
    uint32_t points_per_row;
    uint32_t unit[FEEDLINE_UNITS]; /* component, DC code (bit 2), AC code (bit 3), x (bits 4 and 5) and y (bits 6 and 7) */
    JpegPlane plane[3];
} JpegImage;

/* What is decoded by one thread: from one place in a scan to another. A place is a block, counted through the scan, and how
 * many coefficients of it are behind; bits are counted through the words of the image. */
typedef struct JpegPiece {
    uint32_t image;
    uint32_t from; /* the first bit */
    uint32_t to;   /* the bit that it must end at, or before */
    uint32_t block;
    uint32_t end_block;
    uint8_t coefficient;
    uint8_t end_coefficient;
    uint16_t end; /* END_... */
    int16_t dc[4];
    int16_t end_dc[4];
} JpegPiece;

/* A piece that is too long for one thread. It is cut every CUT_BITS bits; each cut is decoded from a guessed state, and again
 * from the state in which the cut before it ends, until that is the one that it was decoded from. */
typedef struct JpegRun {
    JpegPiece piece;
    uint32_t first; /* number of its first cut, of all runs' */
    uint32_t count;
} JpegRun;

/* What is known of a cut. */
typedef struct JpegCut {
    uint32_t from; /* the state that it was decoded from: bit, and block of the MCU with the coefficients that are behind */
    uint32_t place;
    uint32_t to; /* the state that this leads to, at or beyond the next cut */
    uint32_t end_place;
    uint32_t blocks; /* that end within */
    int16_t dc[4];   /* sums of the differences, modulo 2^16 */
} JpegCut;

/* A place of the decode index: a bit, and the predictions of DC there. */
typedef struct JpegPoint {
    uint32_t bit;
    int16_t dc[4];
} JpegPoint;

/* What a block of threads does: `count` pieces of files with the same codes, of which two are for DC, and two for AC; or as
 * many cuts of a run. */
typedef struct JpegGroup {
    uint32_t first;
    uint32_t count;
    uint32_t run;
    uint32_t reserved;
    uint32_t codes[4];
} JpegGroup;

/* Up to 32 blocks of a component that stand side by side: a group of a file of coefficients. */
typedef struct JpegPacked {
    uint32_t image;
    uint32_t at; /* its first byte, counted through the words of the image */
    uint16_t length;
    uint8_t count;
    uint8_t component;
    uint16_t column; /* of the first block in the component's grid */
    uint16_t row;
} JpegPacked;

/* What a block of threads does for one image: of `inverse_dct` from the block of coefficients `at` on, of `planes_to_rgb` the
 * tile `at`, counted through the rows of tiles. */
typedef struct JpegJob {
    uint32_t image;
    uint32_t at;
} JpegJob;

#ifdef __cplusplus
}
#endif

#endif /* FEEDLINE_JPEG_LAYOUT_H */
