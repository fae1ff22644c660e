// Entropy decoding: from the bits of pieces to coefficients.
//
// A thread a piece. Coefficients go to memory that holds zeros; what is not in the image's window is read and not written.
// All threads go round one loop, a symbol each time, wherever in its block each of them is.

#include "lookups.cuh"
#include "zigzag.cuh"

struct Shared {
    Lookups lookups;
    uint8_t places[64];  // of coefficients, row by row, in the order of the scan
};

// Where a thread is in its image.
struct Place {
    uint32_t row, column;  // of the MCU
    uint32_t at;           // block of it
    bool shown;
    int16_t* block;        // its coefficients; those of some block where it is not shown
};

FEEDLINE_INLINE void enter_mcu(Place& place, const JpegImage& image) {
    uint32_t down = place.row - image.first_row, right = place.column - image.first_column;
    place.shown = down < image.rows && right < image.columns;
    uint64_t mcu = place.shown ? (uint64_t)down * image.columns + right : 0;
    place.block = reinterpret_cast<int16_t*>(static_cast<uintptr_t>(image.coefficients)) + (mcu * image.units + place.at) * 64;
}

// Notes where an MCU begins, if that is a place of the decode index.
FEEDLINE_INLINE void note_point(const Place& place, const JpegImage& image, uint32_t bit, const Dc& dc) {
    if (image.points == 0 || place.column % image.step != 0) return;
    uint64_t number = (uint64_t)place.row * image.points_per_row + place.column / image.step;
    // The last one is the end of the window's last row.
    if (number > (uint64_t)(image.first_row + image.rows) * image.points_per_row) return;
    JpegPoint& point = reinterpret_cast<JpegPoint*>(static_cast<uintptr_t>(image.points))[number];
    point.bit = bit;
    put_dc(point.dc, dc);
}

extern "C" __global__ void __launch_bounds__(FEEDLINE_PIECE_THREADS)
entropy(const JpegGroup* __restrict__ groups, const JpegPiece* __restrict__ pieces, const JpegImage* __restrict__ images,
        const JpegCode* __restrict__ codes, const uint16_t* __restrict__ lookups, uint32_t* __restrict__ status) {
    __shared__ Shared shared;
    const JpegGroup& group = groups[blockIdx.x];
    load_lookups(shared.lookups, group, lookups);
    if (threadIdx.x < 64) shared.places[zigzag(threadIdx.x % 8, threadIdx.x / 8)] = (uint8_t)threadIdx.x;
    __syncthreads();
    if (threadIdx.x >= group.count) return;
    const JpegPiece& piece = pieces[group.first + threadIdx.x];
    const JpegImage& image = images[piece.image];
    uint32_t block = piece.block, last = piece.end_block, k = piece.coefficient, last_k = piece.end_coefficient;
    if (block > last || (block == last && k >= last_k)) return;
    const uint32_t* words = reinterpret_cast<const uint32_t*>(static_cast<uintptr_t>(image.words));
    Bits bits = bits_from(words, image.word_count, piece.from);
    Dc dc = dc_of(piece.dc);
    uint32_t mcu = block / image.units;
    Place place = {mcu / image.across, mcu % image.across, block % image.units, false, nullptr};
    enter_mcu(place, image);
    uint32_t unit = image.unit[place.at], table = k == 0 ? dc_table(unit) : ac_table(unit), bad = 0;
    while (true) {
        refill(bits);
        int value;
        uint32_t symbol = read_symbol(bits, shared.lookups.of[table], codes[group.codes[table]], value);
        if (symbol == 0) {
            bad = FEEDLINE_BAD_CODE;
            break;
        }
        if (k == 0) {
            value = (int)add_dc(dc, unit & 3, (uint32_t)value);
            table = ac_table(unit);
        }
        k += advance_of(symbol);
        if (place.shown && k <= 64 && (k == 1 || size_of(symbol) != 0)) {
            place.block[shared.places[k - 1]] = (int16_t)value;
        }
        if (k >= 64) {
            if (k > 64 && k < END_OF_BLOCK) {
                bad = FEEDLINE_BAD_CODE;
                break;
            }
            k = 0;
            block++;
            place.block += 64;
            if (++place.at == image.units) {
                place.at = 0;
                if (++place.column == image.across) {
                    place.column = 0;
                    place.row++;
                }
                note_point(place, image, position(bits), dc);
                enter_mcu(place, image);
            }
            // Past the end there may be anything.
            if (position(bits) > piece.to || exhausted(bits)) break;
            unit = image.unit[place.at];
            table = dc_table(unit);
        }
        if (block > last || (block == last && k >= last_k)) break;
    }
    uint32_t end = position(bits);
    bool same = (int16_t)dc.first == piece.end_dc[0] && (int16_t)dc.second == piece.end_dc[1] &&
                (int16_t)dc.third == piece.end_dc[2];
    bool ends = block == last && k == last_k && !exhausted(bits) &&
                (piece.end == FEEDLINE_END_AT       ? end == piece.to && same
                 : piece.end == FEEDLINE_END_PADDED ? end <= piece.to && end + 8 > piece.to
                                                    : end <= piece.to);
    if (!ends) bad |= FEEDLINE_BAD_END;
    if (bad != 0) atomicOr(&status[piece.image], bad);
}
