#include "jpeg_header.h"

namespace {
int subsampling_of(const unsigned char* component, int components) {
    if (components == 1) return 6;
    int across = component[1] >> 4, down = component[1] & 15;
    for (int i = 1; i < components && i < 3; i++) {
        if (component[3 * i + 1] != 0x11) return -1;
    }
    static constexpr struct { int across, down, value; } names[] = {
        {1, 1, 0}, {2, 1, 1}, {2, 2, 2}, {1, 2, 3}, {4, 1, 4}, {4, 2, 5}};
    for (const auto& name : names) {
        if (name.across == across && name.down == down) return name.value;
    }
    return -1;
}

bool read_frame(const unsigned char* segment, size_t length, JpegHeader& header) {
    if (length < 6) return false;
    header.precision = segment[0];
    header.height = segment[1] << 8 | segment[2];
    header.width = segment[3] << 8 | segment[4];
    header.components = segment[5];
    if (header.components < 1 || length < 6 + 3 * size_t(header.components)) return false;
    header.subsampling = subsampling_of(segment + 6, header.components);
    return header.width > 0 && header.height > 0;
}
}  // namespace

bool read_jpeg_header(const unsigned char* bytes, size_t length, JpegHeader& header) {
    if (length < 4 || bytes[0] != 0xFF || bytes[1] != 0xD8) return false;
    for (size_t at = 2; at + 4 <= length;) {
        if (bytes[at] != 0xFF) return false;
        int marker = bytes[at + 1];
        if (marker == 0xFF) {
            at++;  // fill
            continue;
        }
        size_t segment = size_t(bytes[at + 2]) << 8 | bytes[at + 3];
        if (segment < 2 || at + 2 + segment > length) return false;
        const unsigned char* content = bytes + at + 4;
        if (marker == 0xDA) {
            header.first_scan = content[0];
            return header.width > 0;
        }
        bool frame = marker >= 0xC0 && marker <= 0xCF && marker != 0xC4 && marker != 0xC8 && marker != 0xCC;
        if (frame) {
            header.process = marker - 0xC0;
            if (!read_frame(content, segment - 2, header)) return false;
        }
        at += 2 + segment;
    }
    return false;
}
