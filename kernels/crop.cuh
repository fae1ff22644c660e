// One upright layer, from its source to the sample; resample.cuh and finish.cuh have the general form.
#ifndef FEEDLINE_CROP_CUH
#define FEEDLINE_CROP_CUH

#include "finish.cuh"

// Row groups of a round, where the tile reads up to 16 groups of columns; of wider ones fewer rows are taken at a time.
#define FEEDLINE_CROP_ROWS 16

// Shared memory of a block: 20 kB. A staged cell is four columns of four rows of one channel, a word a row; a thread fills
// the cells of its own number. Behind the last there is room for weights of zero.
struct CropShared {
    uint4 staged[3][FEEDLINE_CROP_GROUPS + FEEDLINE_CROP_WEIGHTS];
    // Between the passes: each word holds four rows of one column.
    alignas(16) uint32_t middle[3][FEEDLINE_CROP_ROWS][FEEDLINE_TILE_WIDTH];
};

// The table of an axis, and what one tile reads of it.
struct CropAxis {
    const uint32_t* starts;  // of each output; its weights are behind them
    uint32_t count;
    int groups, precision;
    int begin, end;  // groups of source positions that the tile reads
};

// The thread's own output of an axis.
struct CropTaps {
    const uint2* weights;  // the next group's lie `count` further
    int start;             // first group
};

// A struct of whole words of 16 bytes.
template <class T>
FEEDLINE_INLINE T record(const uint8_t* array, uint32_t number) {
    const uint4* from = reinterpret_cast<const uint4*>(array) + number * (sizeof(T) / sizeof(uint4));
    uint4 words[sizeof(T) / sizeof(uint4)];
#pragma unroll
    for (uint32_t i = 0; i < sizeof(T) / sizeof(uint4); i++) words[i] = __ldg(from + i);
    T one;
    memcpy(&one, words, sizeof(T));
    return one;
}

// The tile begins at output `first` and has `length` of them, where there are as many.
FEEDLINE_INLINE CropAxis open_crop_axis(const uint8_t* table, uint32_t count, uint32_t groups, uint32_t first,
                                        uint32_t length, uint32_t source) {
    const AxisTable* head = reinterpret_cast<const AxisTable*>(table);
    CropAxis axis;
    axis.starts = reinterpret_cast<const uint32_t*>(head + 1);
    axis.count = count;
    axis.groups = (int)groups;
    axis.precision = (int)head->precision;
    int one = (int)axis.starts[first], other = (int)axis.starts[min(first + length, count) - 1];
    axis.begin = min(one, other);
    axis.end = min(max(one, other) + axis.groups, (int)((source + 3) / 4));
    return axis;
}

// What lies beyond the sample is made like its edge, and not stored.
FEEDLINE_INLINE CropTaps open_crop_taps(const CropAxis& axis, uint32_t output) {
    output = min(output, axis.count - 1);
    return {reinterpret_cast<const uint2*>(axis.starts + (axis.count + 3) / 4 * 4) + output, (int)axis.starts[output]};
}

// The four packed pixels that begin `offset` bytes into `origin`, by the four aligned words that hold them.
FEEDLINE_INLINE Quad read_aligned(const uint8_t* origin, uint32_t offset) {
    const uint32_t* words = reinterpret_cast<const uint32_t*>(origin + (offset & ~3u));
    uint32_t a = __ldg(words), b = __ldg(words + 1), c = __ldg(words + 2), d = __ldg(words + 3);
    return split(shift_bytes(a, b, offset), shift_bytes(b, c, offset), shift_bytes(c, d, offset));
}

// The same byte by byte, of which only the first `room` may be read; the others have no weight.
FEEDLINE_INLINE Quad read_rest(const uint8_t* origin, uint32_t offset, int room) {
    Quad quad = {0, 0, 0};
#pragma unroll 1
    for (int i = 0; i < 4 && i < room; i++) {
        const uint8_t* at = origin + offset + i * 3;
        quad.r |= (uint32_t)__ldg(at) << (8 * i);
        quad.g |= (uint32_t)__ldg(at + 1) << (8 * i);
        quad.b |= (uint32_t)__ldg(at + 2) << (8 * i);
    }
    return quad;
}

// The same number, of which the compiler knows no more than that: what depends on it is looked up where it is written, and
// not ahead of the loop, where it would take registers that staging needs.
FEEDLINE_INLINE uint32_t late(uint32_t number) {
    asm volatile("" : "+r"(number));
    return number;
}

// Brings `lines` groups of four rows of the columns that the tile reads into shared memory: a thread takes one group of
// columns of one group of rows, and 2^shift threads lie beside each other.
FEEDLINE_INLINE void stage_crop(const CropJob& job, const CropAxis& columns, uint32_t shift, int from, int lines,
                                CropShared& shared) {
    int group = columns.begin + (int)(threadIdx.x & ((1u << shift) - 1)), line = (int)(threadIdx.x >> shift);
    if (group >= columns.end || line >= lines) return;
    line += from;
    const uint8_t* origin = reinterpret_cast<const uint8_t*>(static_cast<uintptr_t>(job.origin));
    int room = (int)job.columns - group * 4, last = (int)job.source.height - 1;
    uint32_t offset = job.skipped + (uint32_t)group * 12;
    // Two pixels more than are wanted, for what aligned words reach further.
    if (room < 6) {
#pragma unroll 1
        for (int row = 0; row < 4; row++) {
            Quad quad = read_rest(origin, offset + (uint32_t)min(line * 4 + row, last) * job.down, room);
            uint32_t words[3] = {quad.r, quad.g, quad.b};
            for (int c = 0; c < 3; c++) reinterpret_cast<uint32_t*>(&shared.staged[c][threadIdx.x])[row] = words[c];
        }
        return;
    }
    Quad rows[4];
#pragma unroll
    for (int row = 0; row < 4; row++) {
        rows[row] = read_aligned(origin, offset + (uint32_t)min(line * 4 + row, last) * job.down);
    }
    shared.staged[0][threadIdx.x] = make_uint4(rows[0].r, rows[1].r, rows[2].r, rows[3].r);
    shared.staged[1][threadIdx.x] = make_uint4(rows[0].g, rows[1].g, rows[2].g, rows[3].g);
    shared.staged[2][threadIdx.x] = make_uint4(rows[0].b, rows[1].b, rows[2].b, rows[3].b);
}

// Weighs four words with the same weights.
FEEDLINE_INLINE void weigh_words(uint2 weights, uint4 words, int (&sums)[4]) {
    sums[0] = weigh(weights.x, weights.y, words.x, sums[0]);
    sums[1] = weigh(weights.x, weights.y, words.y, sums[1]);
    sums[2] = weigh(weights.x, weights.y, words.z, sums[2]);
    sums[3] = weigh(weights.x, weights.y, words.w, sums[3]);
}

// One column of the row groups in shared memory: a thread for each column, a warp for each group of rows. One channel after
// the other, because registers are short.
FEEDLINE_INLINE void weigh_across(const CropAxis& columns, CropTaps taps, uint32_t shift, int lines, CropShared& shared) {
    uint32_t x = threadIdx.x % FEEDLINE_TILE_WIDTH;
    int half = 1 << (columns.precision - 1);
    // There are at least two groups, and mostly no more.
    uint2 first = taps.weights[0], second = taps.weights[columns.count];
#pragma unroll 1
    for (int line = (int)(threadIdx.x / FEEDLINE_TILE_WIDTH); line < lines; line += FEEDLINE_THREADS / FEEDLINE_TILE_WIDTH) {
        int cell = (line << shift) + taps.start - columns.begin;
#pragma unroll
        for (int c = 0; c < 3; c++) {
            int sums[4] = {half, half, half, half};
            weigh_words(first, shared.staged[c][cell], sums);
            weigh_words(second, shared.staged[c][cell + 1], sums);
#pragma unroll 1
            for (int group = 2; group < columns.groups; group++) {
                weigh_words(taps.weights[group * (int)columns.count], shared.staged[c][cell + group], sums);
            }
            shared.middle[c][line][x] = pack_levels(sums[0], sums[1], sums[2], sums[3], columns.precision);
        }
    }
}

// Adds what lies between the passes, of row groups from `from` on, to the sums of the thread's four pixels.
FEEDLINE_INLINE void weigh_down(const CropAxis& rows, CropTaps taps, int from, int round, const CropShared& shared,
                                int (&sums)[3][4]) {
    int group = max(from, taps.start);
    const uint2* at = taps.weights + (group - taps.start) * (int)rows.count;
#pragma unroll 1
    for (; group < min(from + round, taps.start + rows.groups); group++, at += rows.count) {
        uint2 weights = *at;
#pragma unroll
        for (int c = 0; c < 3; c++) {
            uint4 levels = *reinterpret_cast<const uint4*>(&shared.middle[c][group - from][threadIdx.x % 8 * 4]);
            weigh_words(weights, levels, sums[c]);
        }
    }
}

// The thread's four pixels. It makes column t % 32 of what lies between the passes, and columns 4 (t % 8) to 4 (t % 8) + 3
// of row t / 8 of the tile.
FEEDLINE_INLINE Quad resampled(const CropJob& job, const uint8_t* scratch, uint32_t left, uint32_t top, CropShared& shared) {
    CropAxis columns = open_crop_axis(scratch + job.column_table, job.size.width, job.column_groups, left,
                                      FEEDLINE_TILE_WIDTH, job.source.width);
    CropAxis rows = open_crop_axis(scratch + job.row_table, job.size.height, job.row_groups, top, FEEDLINE_TILE_HEIGHT,
                                   job.source.height);
    uint32_t shift = 4;
    while (shift < 8 && 1 << shift < columns.end - columns.begin) shift++;
    int round = FEEDLINE_THREADS >> shift;
    int sums[3][4];
    for (int c = 0; c < 3; c++) {
        for (int i = 0; i < 4; i++) sums[c][i] = 1 << (rows.precision - 1);
    }
    int from = rows.begin, left_over = rows.end - rows.begin;
    do {
        stage_crop(job, columns, shift, from, left_over, shared);
        __syncthreads();
        weigh_across(columns, open_crop_taps(columns, left + late(threadIdx.x % FEEDLINE_TILE_WIDTH)), shift,
                     min(round, left_over), shared);
        __syncthreads();
        // Groups behind the last that was made weigh nothing.
        weigh_down(rows, open_crop_taps(rows, top + late(threadIdx.x / 8)), from, round, shared, sums);
        from += round;
        left_over -= round;
    } while (left_over > 0);
    uint32_t words[3];
    for (int c = 0; c < 3; c++) words[c] = pack_levels(sums[c][0], sums[c][1], sums[c][2], sums[c][3], rows.precision);
    return {words[0], words[1], words[2]};
}

// Stores three times four values, each one after the other: `step` fours lie between them.
FEEDLINE_INLINE void put_twelve(uint8_t* sample, uint32_t first, uint32_t step, const float (&of)[3][4], uint32_t dtype) {
    if (dtype == FEEDLINE_DTYPE_F16) {
        uint2* at = reinterpret_cast<uint2*>(sample) + first;
        for (int i = 0; i < 3; i++, at += step) {
            *at = make_uint2(half_pair(of[i][0], of[i][1]), half_pair(of[i][2], of[i][3]));
        }
    } else if (dtype == FEEDLINE_DTYPE_F32) {
        uint4* at = reinterpret_cast<uint4*>(sample) + first;
        for (int i = 0; i < 3; i++, at += step) {
            *at = make_uint4(bits_of(of[i][0]), bits_of(of[i][1]), bits_of(of[i][2]), bits_of(of[i][3]));
        }
    } else {
        uint2* at = reinterpret_cast<uint2*>(sample) + first;
        for (int i = 0; i < 3; i++, at += step) {
            *at = make_uint2(brain_bits(of[i][0]) | brain_bits(of[i][1]) << 16, brain_bits(of[i][2]) | brain_bits(of[i][3]) << 16);
        }
    }
}

// A Format lies in a Batch in one piece, and in whole words.
static_assert(sizeof(Format) == 32 && offsetof(Batch, dtype) % 16 == 0, "where a Batch holds its format");
static_assert(offsetof(Batch, layout) - offsetof(Batch, dtype) == offsetof(Format, layout), "in that order");
static_assert(offsetof(Batch, factors) - offsetof(Batch, dtype) == offsetof(Format, factors), "in that order");

// Normalises and stores the four pixels from (x, y) on.
FEEDLINE_INLINE void store(const CropJob& job, const uint8_t* constants, uint32_t x, uint32_t y, Quad levels) {
    Format format = record<Format>(constants + offsetof(Batch, dtype), 0);
    uint8_t* sample = reinterpret_cast<uint8_t*>(static_cast<uintptr_t>(job.target));
    bool planar = format.layout == FEEDLINE_LAYOUT_NCHW;
    // Counted in fours.
    uint32_t place = (y * job.size.width + x) / 4, step = planar ? job.size.width * job.size.height / 4 : 1;
    uint32_t first = planar ? place : place * 3;
    if (format.dtype == FEEDLINE_DTYPE_U8) {
        uint32_t words[3] = {levels.r, levels.g, levels.b};
        if (!planar) join(levels, words);
        for (uint32_t i = 0; i < 3; i++) reinterpret_cast<uint32_t*>(sample)[first + i * step] = words[i];
        return;
    }
    Values values = finished(levels, format);
    const float (&of)[3][4] = values.of;
    if (planar) return put_twelve(sample, first, step, of, format.dtype);
    const float woven[3][4] = {{of[0][0], of[1][0], of[2][0], of[0][1]},
                               {of[1][1], of[2][1], of[0][2], of[1][2]},
                               {of[2][2], of[0][3], of[1][3], of[2][3]}};
    put_twelve(sample, first, step, woven, format.dtype);
}

#endif  // FEEDLINE_CROP_CUH
