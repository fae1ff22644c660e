// What the environment variable FAKENVJPEG asks of the simulated nvJPEG.
#pragma once
#include <string>

struct NvjpegOptions {
    int version[3] = {13, 3, 2};
    int engines = 4;        // hardware decoders; 0: the device has none
    int cores = 1;          // of each
    std::string faults;     // `NAME@N:STATUS`, joined by `+`; see driver/faults.h
};

// Reads `version=13.2.0`, `engines=0`, `cores=5` and `NAME@N:STATUS`, joined by commas; an unknown word ends the process.
NvjpegOptions parse_nvjpeg_options(const char* text);
