// Where the pixels come from: a decoder of the program under test, behind two C functions.
#pragma once
#include <stddef.h>

#include <memory>
#include <vector>

#include "jpeg_header.h"
#include "status.h"

// Decodes a whole JPEG into width * height * 3 bytes of R, G, B. Returns 0, 1 for bytes that are no sound JPEG, or 2 for
// a kind of JPEG that it does not decode. Called on one thread at a time.
using DecodeFunction = int (*)(const unsigned char* bytes, size_t length, unsigned width, unsigned height,
                               unsigned char* pixels);

struct Roi {
    int x = 0, y = 0, width = -1, height = -1;
    bool whole() const { return width < 0; }
};

// Decoded rows without gaps.
struct Pixels {
    int width = 0, height = 0;
    std::vector<unsigned char> rgb;
};

// The part of the file that `roi` names.
Status decode_pixels(const unsigned char* bytes, size_t length, const JpegHeader& header, const Roi& roi,
                     Pixels& pixels);
