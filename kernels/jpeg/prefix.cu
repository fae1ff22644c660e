// From cuts that fit each other to pieces: how many blocks come before each cut, and the predictions of DC there.
//
// A block of threads a run; a thread counts some cuts that follow each other, then all threads' counts are added up.

#include "lookups.cuh"

struct Sum {
    uint32_t blocks;
    Dc dc;
};

FEEDLINE_INLINE void add(Sum& sum, uint32_t blocks, const Dc& dc) {
    sum.blocks += blocks;
    sum.dc.first += dc.first;
    sum.dc.second += dc.second;
    sum.dc.third += dc.third;
}

extern "C" __global__ void __launch_bounds__(256)
prefix(const JpegRun* __restrict__ runs, const JpegCut* __restrict__ cuts, JpegPiece* __restrict__ pieces,
       uint32_t* __restrict__ status) {
    __shared__ Sum sums[256];
    const JpegRun& run = runs[blockIdx.x];
    const JpegPiece& whole = run.piece;
    uint32_t each = (run.count + 255) / 256;
    uint32_t begin = min(threadIdx.x * each, run.count), end = min(begin + each, run.count);
    Sum own = {0, {0, 0, 0}};
    for (uint32_t i = begin; i < end; i++) add(own, cuts[run.first + i].blocks, dc_of(cuts[run.first + i].dc));
    sums[threadIdx.x] = own;
    __syncthreads();
    for (uint32_t step = 1; step < 256; step *= 2) {
        Sum others = {0, {0, 0, 0}};
        if (threadIdx.x >= step) others = sums[threadIdx.x - step];
        __syncthreads();
        add(sums[threadIdx.x], others.blocks, others.dc);
        __syncthreads();
    }
    Sum sum = {whole.block, dc_of(whole.dc)};
    if (threadIdx.x > 0) add(sum, sums[threadIdx.x - 1].blocks, sums[threadIdx.x - 1].dc);
    bool settled = true;
    for (uint32_t i = begin; i < end; i++) {
        const JpegCut& cut = cuts[run.first + i];
        if (i > 0 && sum.blocks < whole.end_block) {
            const JpegCut& before = cuts[run.first + i - 1];
            settled = settled && cut.from == before.to && cut.place == before.end_place;
        }
        JpegPiece piece = whole;
        piece.from = cut.from;
        piece.block = sum.blocks;
        piece.coefficient = (uint8_t)(cut.place & 0xFF);
        put_dc(piece.dc, sum.dc);
        add(sum, cut.blocks, dc_of(cut.dc));
        // The run may end within a cut, and what comes behind that is nothing; it must not end behind its last cut.
        if (sum.blocks < whole.end_block && i + 1 < run.count) {
            piece.to = cut.to;
            piece.end_block = sum.blocks;
            piece.end_coefficient = (uint8_t)(cut.end_place & 0xFF);
            piece.end = FEEDLINE_END_AT;
            put_dc(piece.end_dc, sum.dc);
        }
        pieces[run.first + i] = piece;
    }
    if (!settled) atomicOr(&status[whole.image], FEEDLINE_UNSETTLED);
}
