// nvJPEG's status codes, backends and formats, with NVIDIA's numbers.
#pragma once
#include <stddef.h>

using Status = int;

namespace status {
enum : Status {
    success = 0,
    not_initialized = 1,
    invalid_parameter = 2,
    bad_jpeg = 3,
    jpeg_not_supported = 4,
    allocator_failure = 5,
    execution_failed = 6,
    arch_mismatch = 7,
    implementation_not_supported = 9,
    incomplete_bitstream = 10,
};
}  // namespace status

enum Backend { hybrid = 1, gpu_hybrid = 2, hardware = 3 };
constexpr int format_rgb_interleaved = 5;
// Strict bitstreams and interpolated upsampling: the flags whose meaning the double's pixels have.
constexpr unsigned known_flags = 4 | 32;

struct OutputImage {
    unsigned char* channel[4];
    size_t pitch[4];
};
