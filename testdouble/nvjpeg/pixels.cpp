// The decoder is set by the program itself (fakenvjpeg_set_decoder), or comes from the library that the environment
// variable FAKENVJPEG_DECODER names, in its function `fakenvjpeg_decode`. The double has none of its own: a second
// decoder would have pixels of its own, and then nothing could be compared bit for bit.
#include "pixels.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "call.h"

static DecodeFunction decoder = nullptr;

NVJPEG_API void fakenvjpeg_set_decoder(DecodeFunction function) { decoder = function; }

static DecodeFunction find_decoder() {
    const char* path = getenv("FAKENVJPEG_DECODER");
    void* library = path != nullptr ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : nullptr;
    void* found = library != nullptr ? dlsym(library, "fakenvjpeg_decode") : nullptr;
    if (found == nullptr) {
        fprintf(stderr, "fakenvjpeg: no decoder: FAKENVJPEG_DECODER names no library with fakenvjpeg_decode (%s)\n",
                path != nullptr ? dlerror() : "it is not set");
        abort();
    }
    return reinterpret_cast<DecodeFunction>(found);
}

Status decode_pixels(const unsigned char* bytes, size_t length, const JpegHeader& header, const Roi& roi,
                     Pixels& pixels) {
#ifdef TESTDOUBLE_NULL
    const bool part = !roi.whole();
    return pixels = {part ? roi.width : header.width, part ? roi.height : header.height, {}}, (void)bytes, (void)length,
           status::success;
#endif
    if (decoder == nullptr) decoder = find_decoder();
    std::vector<unsigned char> whole(size_t(header.width) * size_t(header.height) * 3);
    int code = decoder(bytes, length, unsigned(header.width), unsigned(header.height), whole.data());
    if (code != 0) return code == 1 ? status::bad_jpeg : status::jpeg_not_supported;
    if (roi.whole()) {
        pixels = {header.width, header.height, std::move(whole)};
        return status::success;
    }
    bool inside = roi.x >= 0 && roi.y >= 0 && roi.width > 0 && roi.height > 0 && roi.x + roi.width <= header.width &&
                  roi.y + roi.height <= header.height;
    if (!inside) return status::invalid_parameter;
    pixels = {roi.width, roi.height, std::vector<unsigned char>(size_t(roi.width) * size_t(roi.height) * 3)};
    for (int row = 0; row < roi.height; row++) {
        const unsigned char* from = &whole[(size_t(roi.y + row) * size_t(header.width) + size_t(roi.x)) * 3];
        memcpy(&pixels.rgb[size_t(row) * size_t(roi.width) * 3], from, size_t(roi.width) * 3);
    }
    return status::success;
}
