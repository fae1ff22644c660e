#include "objects.h"

Objects& objects() {
    static Objects* all = new Objects;
    return *all;
}

uint64_t hash_of(const unsigned char* bytes, size_t length) {
#ifdef TESTDOUBLE_NULL
    return (void)bytes, length;
#endif
    uint64_t hash = 0xcbf29ce484222325u;  // FNV-1a
    for (size_t at = 0; at < length; at++) hash = (hash ^ bytes[at]) * 0x100000001b3u;
    return hash;
}

static size_t extent(const OutputImage& target, int width, int height) {
    return target.pitch[0] * size_t(height - 1) + size_t(width) * 3;
}

void check_target(const OutputImage& target, int width, int height, const char* who) {
    if (target.pitch[0] < size_t(width) * 3) refuse(std::string(who) + ": the pitch is below the rows' bytes", status::invalid_parameter);
    if (!bridge::is_device(target.channel[0], extent(target, width, height), who)) {
        throw NvjpegRefusal{status::invalid_parameter};
    }
}

void write_rows(const OutputImage& target, const Pixels& pixels) {
    if (!bridge::still_device(target.channel[0], extent(target, pixels.width, pixels.height), "nvjpeg")) return;
    size_t bytes = size_t(pixels.width) * 3;
    for (int row = 0; row < pixels.height; row++) {
        race::copy(target.channel[0] + size_t(row) * target.pitch[0], &pixels.rgb[size_t(row) * bytes], bytes);
    }
}

void check_stream(void* stream, const char* who) {
    if (!bridge::ready(who)) throw NvjpegRefusal{status::execution_failed};
    if (!bridge::is_stream(stream, who)) throw NvjpegRefusal{status::invalid_parameter};
}
