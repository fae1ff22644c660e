// Where the cuts of long pieces begin: a round of looking for that.
//
// A thread a cut. Codes resynchronise: a decoder that starts in the wrong place is soon in step with one that started in the
// right one. So each cut is first decoded as if a block began there, and in later rounds from where the cut before it has
// ended, if that is another state. A cut whose start is right makes the next one's right.

#include "lookups.cuh"

// A block of an MCU, and how many of its coefficients are behind.
FEEDLINE_INLINE uint32_t place_of(uint32_t at, uint32_t k) { return at << 8 | k; }

extern "C" __global__ void __launch_bounds__(FEEDLINE_PIECE_THREADS)
synchronise(const JpegGroup* __restrict__ groups, const JpegRun* __restrict__ runs, const JpegImage* __restrict__ images,
            const JpegCode* __restrict__ codes, const uint16_t* __restrict__ lookups, const JpegCut* __restrict__ before,
            JpegCut* __restrict__ after, uint32_t first_round) {
    __shared__ Lookups shared;
    __shared__ uint32_t busy;
    const JpegGroup& group = groups[blockIdx.x];
    const JpegRun& run = runs[group.run];
    const JpegImage& image = images[run.piece.image];
    uint32_t cut = group.first + threadIdx.x;
    bool there = threadIdx.x < group.count, is_first = cut == run.first;
    uint32_t start = run.piece.from + (cut - run.first) * FEEDLINE_CUT_BITS;
    // The last cut reads all that there is.
    uint32_t stop = cut + 1 == run.first + run.count ? run.piece.to : start + FEEDLINE_CUT_BITS;
    JpegCut now;
    now.from = start;
    now.place = is_first ? place_of(run.piece.block % image.units, run.piece.coefficient) : 0;
    bool settled = !there;
    if (there && !first_round) {
        if (!is_first) {
            now.from = before[cut - 1].to;
            now.place = before[cut - 1].end_place;
        }
        settled = is_first || (now.from == before[cut].from && now.place == before[cut].place);
        if (settled) after[cut] = before[cut];
    }
    if (threadIdx.x == 0) busy = 0;
    __syncthreads();
    if (!settled) busy = 1;
    __syncthreads();
    // After some rounds most blocks have nothing to do.
    if (!busy) return;
    load_lookups(shared, group, lookups);
    __syncthreads();
    if (settled) return;
    const uint32_t* words = reinterpret_cast<const uint32_t*>(static_cast<uintptr_t>(image.words));
    Bits bits = bits_from(words, image.word_count, now.from);
    uint32_t at = now.place >> 8, k = now.place & 0xFF, blocks = 0;
    uint32_t unit = image.unit[at], table = k == 0 ? dc_table(unit) : ac_table(unit);
    Dc dc = {0, 0, 0};
    while (position(bits) < stop && !exhausted(bits)) {
        refill(bits);
        int value;
        uint32_t symbol = read_symbol(bits, shared.of[table], codes[group.codes[table]], value);
        if (symbol == 0) {
            // Only from a wrong start, or in a damaged file: any way on will do.
            skip(bits, 1);
            continue;
        }
        if (k == 0) add_dc(dc, unit & 3, (uint32_t)value);
        k += advance_of(symbol);
        table = ac_table(unit);
        if (k >= 64) {
            k = 0;
            blocks++;
            at = at + 1 == image.units ? 0 : at + 1;
            unit = image.unit[at];
            table = dc_table(unit);
        }
    }
    now.to = position(bits);
    now.end_place = place_of(at, k);
    now.blocks = blocks;
    put_dc(now.dc, dc);
    after[cut] = now;
}
