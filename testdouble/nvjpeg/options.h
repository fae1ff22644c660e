// What the environment variable FAKENVJPEG asks of the simulated nvJPEG.
#pragma once
#include <string>
#include <utility>
#include <vector>

#include "status.h"

struct NvjpegOptions {
    int version[3] = {13, 3, 2};
    int engines = 4;        // hardware decoders; 0: the device has none
    int cores = 1;          // of each
    // Backends with the flags that they refuse to be opened with.
    std::vector<std::pair<int, unsigned>> refused_flags;
    // Part of a path: copies of this library that lie there do not open, as one that is newer than the driver's CUDA.
    std::string refused_path;
    std::string faults;     // `NAME@N:STATUS`, joined by `+`; see driver/faults.h
    // What the batched decoders do to images; see README.md.
    int odd_width = -1;     // a call fails with odd_status for a file of this width; 0: for every file
    int odd_status = 0;
    int unsupported = -1;   // files of this width are not supported; 0: none is
    int parts = 1;          // 0: the engines take whole images only
    int mixed = 1;          // 0: the engines take files of one sampling only
    int skip = 0, late = 0, zero = 0, copy = 0, noise = 0;  // what becomes of each so-many-th image; 0: of none
    int small = 1;          // 0: the GPU's processors must not be given batches so small that the host would decode them

    // What opening a backend with these flags comes to.
    Status refusal(int backend, unsigned flags) const;
};

// Reads the words of README.md, joined by commas; an unknown word ends the process.
NvjpegOptions parse_nvjpeg_options(const char* text);
