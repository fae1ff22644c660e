// Huffman symbols, and the bits that they are read from.
#ifndef FEEDLINE_JPEG_SYMBOLS_CUH
#define FEEDLINE_JPEG_SYMBOLS_CUH

#include "../device.cuh"
#include "layout.h"

// A symbol: the length of its code from bit 12 on, the count of coefficients that it passes (its own among them) from bit 4
// on, and the bits of its value in the lowest four. Zero is no symbol.
#define LENGTH_SHIFT 12
#define ADVANCE_SHIFT 4
// The advance of the end of a block: so far that no run of zeros reaches it.
#define END_OF_BLOCK 128u

FEEDLINE_INLINE uint32_t advance_of(uint32_t symbol) { return symbol >> ADVANCE_SHIFT & 0xFF; }
FEEDLINE_INLINE uint32_t size_of(uint32_t symbol) { return symbol & 15; }
FEEDLINE_INLINE uint32_t length_of(uint32_t symbol) { return symbol >> LENGTH_SHIFT; }

FEEDLINE_INLINE uint32_t meaning(uint32_t byte, bool is_ac) {
    uint32_t run = byte >> 4, size = byte & 15;
    uint32_t advance = !is_ac ? 1 : size != 0 ? run + 1 : run == 15 ? 16 : END_OF_BLOCK;
    return advance << ADVANCE_SHIFT | size;
}

// The symbol that 16 bits begin with, if its code has between `least` and `most` bits.
FEEDLINE_INLINE uint32_t find_symbol(const JpegCode& code, uint32_t bits, uint32_t least, uint32_t most) {
    uint32_t first = 0, index = 0;
    for (uint32_t length = 1; length <= most; length++) {
        uint32_t count = code.counts[length - 1];
        // Codes of a length are consecutive numbers.
        uint32_t over = (bits >> (16 - length)) - first;
        if (length >= least && over < count) {
            return length << LENGTH_SHIFT | meaning(code.symbols[(index + over) & 255], code.is_ac != 0);
        }
        index += count;
        first = (first + count) << 1;
    }
    return 0;
}

// Reads the bits of an image from the highest of each word to the lowest; past the last word there are zeros.
struct Bits {
    const uint32_t* words;
    uint32_t count;
    uint32_t next;
    // The word behind those that are in the buffer: loaded before it is needed.
    uint32_t ahead;
    // The next `have` bits, at the top; zeros below them.
    uint64_t buffer;
    uint32_t have;
};

FEEDLINE_INLINE uint32_t word_at(const Bits& bits, uint32_t at) { return at < bits.count ? __ldg(bits.words + at) : 0; }

FEEDLINE_INLINE void refill(Bits& bits) {
    if (bits.have > 32) return;
    bits.buffer |= (uint64_t)bits.ahead << (32 - bits.have);
    bits.have += 32;
    bits.next++;
    bits.ahead = word_at(bits, bits.next);
}

FEEDLINE_INLINE Bits bits_from(const uint32_t* words, uint32_t count, uint32_t at) {
    Bits bits = {words, count, at >> 5, 0, 0, 0};
    bits.ahead = word_at(bits, bits.next);
    refill(bits);
    bits.buffer <<= at & 31;
    bits.have -= at & 31;
    refill(bits);
    return bits;
}

FEEDLINE_INLINE uint32_t position(const Bits& bits) { return bits.next * 32 - bits.have; }

// Whether the last word is behind, with all of its bits: whatever a record says, there is no end to zeros. Positions may wrap
// where a record begins close to 2^32; this does not.
FEEDLINE_INLINE bool exhausted(const Bits& bits) { return bits.next > bits.count + 2; }

// Drops up to 31 bits.
FEEDLINE_INLINE void skip(Bits& bits, uint32_t count) {
    bits.buffer <<= count;
    bits.have -= count;
}

// Reads a symbol and its value; at least 31 bits must be there.
FEEDLINE_INLINE uint32_t read_symbol(Bits& bits, const uint16_t* lookup, const JpegCode& code, int& value) {
    uint32_t symbol = lookup[(uint32_t)(bits.buffer >> (64 - FEEDLINE_LOOKUP_BITS))];
    if (symbol == 0) {
        symbol = find_symbol(code, (uint32_t)(bits.buffer >> 48), FEEDLINE_LOOKUP_BITS + 1, 16);
        if (symbol == 0) return 0;
    }
    uint32_t length = length_of(symbol), size = size_of(symbol);
    uint32_t rest = (uint32_t)((bits.buffer << length) >> 32);
    // With no bits, a shift by 32 in two steps leaves zero.
    uint32_t magnitude = rest >> 1 >> (31 - size);
    // A value that begins with a zero is negative.
    value = (int)magnitude - ((int)rest < 0 || size == 0 ? 0 : (1 << size) - 1);
    skip(bits, length + size);
    return symbol;
}

#endif  // FEEDLINE_JPEG_SYMBOLS_CUH
