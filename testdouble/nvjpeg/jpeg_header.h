// What nvJPEG's backends ask of a file before they take it, from its markers alone.
#pragma once
#include <stddef.h>

struct JpegHeader {
    int width = 0, height = 0, components = 0;
    int process = 0;           // 0 baseline, 1 extended, 2 progressive
    int precision = 0;
    int subsampling = -1;      // nvjpegChromaSubsampling: 444, 422, 420, 440, 411, 410, grey; -1 is another one
    int first_scan = 0;        // components in the first scan
};

// False where the bytes are no JPEG with a frame and a scan.
bool read_jpeg_header(const unsigned char* bytes, size_t length, JpegHeader& header);
