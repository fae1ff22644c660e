// From groups of packed blocks to coefficients: docs/coefficients.md says what the streams of a group are.
//
// A thread a block, 32 threads a group. Where a stream ends, and where in it a block's values begin, follows from sums over
// the threads. Values are made in equal shares, since some blocks have few of them and some have many, and then each block takes
// its own. Coefficients go to memory that holds zeros; what is not in the image's window is not written.

#include "../device.cuh"
#include "layout.h"
#include "zigzag.cuh"

// Coefficients of a group besides DC, at most: eleven bits hold each count of them.
#define VALUES (FEEDLINE_EXPANDED * 63)

struct Shared {
    uint32_t sums[2][FEEDLINE_EXPAND_THREADS];
    // Of each group those that begin with two bits, then those with four, then those with eight.
    int8_t values[FEEDLINE_EXPAND_THREADS / FEEDLINE_EXPANDED][VALUES];
    uint32_t masks[FEEDLINE_EXPAND_THREADS][2];  // of a block's coefficients that are not 0, by position
    uint8_t places[64];                          // of coefficients, row by row, by position
};

// A sum over the blocks of a group: of those up to a thread's own, and of all.
struct Sum {
    uint32_t up_to;
    uint32_t all;
};

// To be called by all threads. After an odd number of steps the result lies in the second array, while the next call writes the
// first one, which nobody reads any more.
static_assert(FEEDLINE_EXPANDED == 32, "the steps are odd in number");

FEEDLINE_INLINE Sum sum_of(Shared& shared, uint32_t own) {
    uint32_t thread = threadIdx.x, lane = thread % FEEDLINE_EXPANDED, now = 0;
    shared.sums[0][thread] = own;
    for (uint32_t step = 1; step < FEEDLINE_EXPANDED; step *= 2) {
        __syncthreads();
        if (lane >= step) own += shared.sums[now][thread - step];
        now ^= 1;
        shared.sums[now][thread] = own;
    }
    __syncthreads();
    return {own, shared.sums[now][thread | (FEEDLINE_EXPANDED - 1)]};
}

// The packed blocks of an image; behind the last word there are two that hold zeros.
struct Words {
    const uint32_t* words;
    uint32_t count;
};

FEEDLINE_INLINE uint32_t bits_at(const Words& from, uint32_t bit) {
    const uint32_t* at = from.words + min(bit >> 5, from.count);
    return shift_bits(__ldg(at), __ldg(at + 1), bit);
}

FEEDLINE_INLINE uint32_t word_of_bytes(const Words& from, uint32_t byte) { return bits_at(from, byte * 8); }

// Fewer than 32 bits.
FEEDLINE_INLINE uint32_t some_bits_at(const Words& from, uint32_t bit, uint32_t count) {
    return bits_at(from, bit) & ((1u << count) - 1);
}

FEEDLINE_INLINE int byte_at(const Words& from, uint32_t byte) { return (int8_t)word_of_bytes(from, byte); }
FEEDLINE_INLINE int short_at(const Words& from, uint32_t byte) { return (int16_t)word_of_bytes(from, byte); }

// The lowest so many bits.
FEEDLINE_INLINE uint32_t lowest(uint32_t count) { return count < 32 ? (1u << count) - 1 : 0xFFFFFFFFu; }

FEEDLINE_INLINE uint32_t count_of(const uint32_t (&mask)[2], const uint32_t (&positions)[2]) {
    return count_ones(mask[0] & positions[0]) + count_ones(mask[1] & positions[1]);
}

// Of codes of two bits: those of value 2, and those of value 3 from bit 16 on.
FEEDLINE_INLINE uint32_t steps_of_twos(const Words& from, uint32_t bit, uint32_t count) {
    uint32_t steps = 0;
    for (uint32_t i = 0; i < count; i += 16) {
        uint32_t codes = bits_at(from, bit + 2 * i) & lowest(2 * min(count - i, 16u)), high = codes >> 1 & 0x55555555;
        steps += count_ones(high & ~codes) + (count_ones(high & codes) << 16);
    }
    return steps;
}

// Of codes of four bits: those that are 0.
FEEDLINE_INLINE uint32_t steps_of_fours(const Words& from, uint32_t bit, uint32_t count) {
    uint32_t others = 0;
    for (uint32_t i = 0; i < count; i += 8) {
        uint32_t codes = bits_at(from, bit + 4 * i) & lowest(4 * min(count - i, 8u));
        others += count_ones((codes | codes >> 1 | codes >> 2 | codes >> 3) & 0x11111111);
    }
    return count - others;
}

// Some values of a list, and where the thread's part of each stream begins: in bits, and `bytes` in bytes.
struct Share {
    uint32_t first, count;
    uint32_t codes, after_twos, bytes;
};

// A thread's share of a list, if those of 32 are to be equally long.
FEEDLINE_INLINE Share share_of(uint32_t all) {
    uint32_t each = (all + FEEDLINE_EXPANDED - 1) / FEEDLINE_EXPANDED;
    uint32_t first = min(threadIdx.x % FEEDLINE_EXPANDED * each, all);
    return {first, min(each, all - first), 0, 0, 0};
}

FEEDLINE_INLINE void make_twos(const Words& from, Share share, int8_t* values) {
    uint32_t codes = 0, nibbles = 0, used = 0;
    for (uint32_t i = 0; i < share.count; i++) {
        if (i % 16 == 0) codes = bits_at(from, share.codes + 2 * i);
        uint32_t code = codes & 3;
        codes >>= 2;
        int value = 1 - 2 * (int)code;
        if (code == 2) {
            if (used % 8 == 0) nibbles = bits_at(from, share.after_twos + 4 * used);
            uint32_t nibble = nibbles & 15;
            nibbles >>= 4;
            used++;
            value = nibble < 8 ? (int)nibble + 2 : 6 - (int)nibble;
        } else if (code == 3) {
            value = byte_at(from, share.bytes++);
        }
        values[share.first + i] = (int8_t)value;
    }
}

FEEDLINE_INLINE void make_fours(const Words& from, Share share, int8_t* values) {
    uint32_t codes = 0;
    for (uint32_t i = 0; i < share.count; i++) {
        if (i % 8 == 0) codes = bits_at(from, share.codes + 4 * i);
        uint32_t code = codes & 15;
        codes >>= 4;
        int value = code <= 8 ? (int)code : 8 - (int)code;
        if (code == 0) value = byte_at(from, share.bytes++);
        values[share.first + i] = (int8_t)value;
    }
}

FEEDLINE_INLINE void make_eights(const Words& from, const Share& share, int8_t* values) {
    uint32_t bytes = 0;
    for (uint32_t i = 0; i < share.count; i++) {
        if (i % 4 == 0) bytes = word_of_bytes(from, share.bytes + i);
        values[share.first + i] = (int8_t)bytes;
        bytes >>= 8;
    }
}

// The number of the lowest bit that is 1; there must be one.
FEEDLINE_INLINE uint32_t lowest_of(uint32_t bits) { return count_ones(~bits & (bits - 1)); }

// Puts the next values of a list at these positions of a block, which follow each other from `places` on.
FEEDLINE_INLINE void put(int16_t* block, const uint8_t* places, uint32_t positions, const int8_t*& values) {
    for (; positions != 0; positions &= positions - 1) block[places[lowest_of(positions)]] = *values++;
}

// Where a block of a group goes; null where it is not in the window.
FEEDLINE_INLINE int16_t* block_at(const JpegImage& image, const JpegPacked& group, uint32_t number) {
    const JpegPlane& plane = image.plane[group.component];
    uint32_t x = group.column + number, y = group.row;
    uint32_t right = x / plane.blocks_across - image.first_column, down = y / plane.blocks_down - image.first_row;
    if (right >= image.columns || down >= image.rows) return nullptr;
    uint32_t unit = y % plane.blocks_down * plane.blocks_across + x % plane.blocks_across;
    for (uint32_t c = 0; c < group.component; c++) unit += image.plane[c].blocks_across * image.plane[c].blocks_down;
    uint64_t block = ((uint64_t)down * image.columns + right) * image.units + unit;
    return reinterpret_cast<int16_t*>(static_cast<uintptr_t>(image.coefficients)) + block * 64;
}

// Puts in the values that do not fit eight bits; false where they are not as they should be.
FEEDLINE_INLINE bool put_patches(const Words& from, const JpegImage& image, const JpegPacked& group, const Shared& shared,
                                 uint32_t at, uint32_t end) {
    uint32_t first = threadIdx.x / FEEDLINE_EXPANDED * FEEDLINE_EXPANDED;
    for (uint32_t patch = at + threadIdx.x % FEEDLINE_EXPANDED * 4; patch < end; patch += FEEDLINE_EXPANDED * 4) {
        uint32_t both = word_of_bytes(from, patch), place = both & 0xFFFF, number = place >> 6, position = place & 63;
        bool rises = patch == at || (word_of_bytes(from, patch - 4) & 0xFFFF) < place;
        if (!rises || number >= group.count || (shared.masks[first + number][position >> 5] >> (position & 31) & 1) == 0) {
            return false;
        }
        int16_t* to = block_at(image, group, number);
        if (to != nullptr) to[shared.places[position]] = (int16_t)(both >> 16);
    }
    return true;
}

// What a group begins with, of a thread's block: how many bytes of positions it has; its DC or its difference, and whether that is a
// large one, which is elsewhere.
struct Head {
    uint32_t bytes, is_large;
    int difference;
};

FEEDLINE_INLINE Head head_of(const Words& from, uint32_t at, uint32_t count) {
    uint32_t lane = threadIdx.x % FEEDLINE_EXPANDED;
    if (lane >= count) return {0, 0, 0};
    int difference = lane == 0 ? short_at(from, at) : byte_at(from, at + 1 + lane);
    return {some_bits_at(from, (at + 1 + count) * 8 + lane * 4, 4), lane > 0 && difference == -128 ? 1u : 0, difference};
}

// What a thread puts into its own block: DC, and where its values begin in each list of its group.
struct Own {
    int dc;
    uint32_t mask[2];
    const int8_t *two, *four, *eight;
};

FEEDLINE_INLINE void put_block(int16_t* block, const JpegPlane& plane, const Shared& shared, Own& own) {
    block[0] = (int16_t)own.dc;
    for (uint32_t half = 0; half < 2; half++) {
        const uint8_t* places = shared.places + 32 * half;
        put(block, places, own.mask[half] & plane.twos[half], own.two);
        put(block, places, own.mask[half] & plane.fours[half], own.four);
        put(block, places, own.mask[half] & ~(plane.twos[half] | plane.fours[half]), own.eight);
    }
}

extern "C" __global__ void __launch_bounds__(FEEDLINE_EXPAND_THREADS)
expand(const JpegPacked* __restrict__ groups, const JpegImage* __restrict__ images, uint32_t* __restrict__ status,
       uint32_t count) {
    __shared__ Shared shared;
    uint32_t lane = threadIdx.x % FEEDLINE_EXPANDED;
    uint32_t number = blockIdx.x * (FEEDLINE_EXPAND_THREADS / FEEDLINE_EXPANDED) + threadIdx.x / FEEDLINE_EXPANDED;
    bool is_group = number < count;
    // Where there is none, the last one is read, and nothing of it is written.
    const JpegPacked& group = groups[min(number, count - 1)];
    const JpegImage& image = images[group.image];
    bool bad = group.component >= image.components || group.count == 0 || group.count > FEEDLINE_EXPANDED;
    const JpegPlane& plane = image.plane[bad ? 0 : group.component];
    bool there = !bad && lane < group.count;
    Words from = {reinterpret_cast<const uint32_t*>(static_cast<uintptr_t>(image.words)), image.word_count};
    if (threadIdx.x < 64) shared.places[zigzag(threadIdx.x % 8, threadIdx.x / 8)] = (uint8_t)threadIdx.x;

    uint32_t at = group.at;
    Head head = head_of(from, at, bad ? 0 : group.count);
    bad = bad || head.bytes > 8;
    uint32_t bytes = bad ? 0 : head.bytes;
    // Nine bits, seven, and sixteen for DC, which is counted modulo 2^16.
    Sum first = sum_of(shared, bytes | head.is_large << 9 | (head.is_large ? 0 : (uint32_t)head.difference << 16));
    uint32_t positions_at = at + 1 + group.count + (group.count + 1) / 2, mine = positions_at + (first.up_to & 0x1FF) - bytes;
    uint32_t codes_at = positions_at + (first.all & 0x1FF);

    // The positions themselves: DC, at position 0, is not among them.
    uint32_t low = word_of_bytes(from, mine) & lowest(8 * min(bytes, 4u)), high = 0;
    if (bytes > 4) high = word_of_bytes(from, mine + 4) & lowest(8 * (bytes - 4));
    if (high >> 31 != 0) bad = true;
    Own own = {0, {low << 1, high << 1 | low >> 31}, nullptr, nullptr, nullptr};
    shared.masks[threadIdx.x][0] = own.mask[0];
    shared.masks[threadIdx.x][1] = own.mask[1];
    uint32_t twos = count_of(own.mask, plane.twos), fours = count_of(own.mask, plane.fours);
    uint32_t eights = count_ones(own.mask[0]) + count_ones(own.mask[1]) - twos - fours;
    Sum second = sum_of(shared, twos | fours << 11 | (bad ? 1u << 22 : 0));
    bad = second.all >> 22 != 0;
    uint32_t all_twos = second.all & 0x7FF, all_fours = second.all >> 11 & 0x7FF;

    // How many of the codes of two bits are followed by one of four, and of eight.
    Share of_twos = share_of(all_twos), of_fours = share_of(all_fours);
    of_twos.codes = codes_at * 8 + 2 * of_twos.first;
    uint32_t steps = steps_of_twos(from, of_twos.codes, of_twos.count);
    Sum third = sum_of(shared, steps);
    uint32_t nibbles_at = codes_at + (all_twos + 3) / 4, after_twos = third.all & 0xFFFF;
    uint32_t bytes_at = nibbles_at + (after_twos + all_fours + 1) / 2;
    of_twos.after_twos = nibbles_at * 8 + 4 * ((third.up_to - steps) & 0xFFFF);
    of_twos.bytes = bytes_at + ((third.up_to - steps) >> 16);

    // How many of the codes of four bits are followed by one of eight.
    of_fours.codes = nibbles_at * 8 + 4 * (after_twos + of_fours.first);
    uint32_t to_eight = steps_of_fours(from, of_fours.codes, of_fours.count);
    Sum fourth = sum_of(shared, to_eight | eights << 16);
    of_fours.bytes = bytes_at + (third.all >> 16) + (fourth.up_to & 0xFFFF) - to_eight;
    uint32_t eights_at = bytes_at + (third.all >> 16) + (fourth.all & 0xFFFF), all_eights = fourth.all >> 16;
    Share of_eights = share_of(all_eights);
    of_eights.bytes = eights_at + of_eights.first;

    uint32_t large_at = eights_at + all_eights, patches_at = large_at + 2 * (first.all >> 9 & 0x7F);
    int8_t* values = shared.values[threadIdx.x / FEEDLINE_EXPANDED];
    make_twos(from, of_twos, values);
    make_fours(from, of_fours, values + all_twos);
    make_eights(from, of_eights, values + all_twos + all_fours);
    __syncthreads();

    // Each stream begins where the one before it ends, so this is wrong if any of them goes beyond the group.
    uint32_t length = patches_at - at;
    bad = bad || length > group.length || (group.length - length) % 4 != 0;
    int16_t* block = is_group && there && !bad ? block_at(image, group, lane) : nullptr;
    if (block != nullptr) {
        own.dc = (int)(first.up_to >> 16);
        for (uint32_t i = 0; i < (first.up_to >> 9 & 0x7F); i++) own.dc += short_at(from, large_at + 2 * i);
        own.two = values + (second.up_to & 0x7FF) - twos;
        own.four = values + all_twos + (second.up_to >> 11 & 0x7FF) - fours;
        own.eight = values + all_twos + all_fours + (fourth.up_to >> 16) - eights;
        put_block(block, plane, shared, own);
    }
    __syncthreads();
    if (is_group && !bad) bad = !put_patches(from, image, group, shared, patches_at, at + group.length);
    if (is_group && bad) atomicOr(&status[group.image], FEEDLINE_BAD_GROUP);
}
