// The driver's result codes that the double gives, with NVIDIA's numbers.
#pragma once

using CUresult = int;

namespace result {
enum : CUresult {
    success = 0,
    invalid_value = 1,
    out_of_memory = 2,
    not_initialized = 3,
    stub_library = 34,
    no_device = 100,
    invalid_device = 101,
    invalid_image = 200,
    invalid_context = 201,
    no_binary_for_gpu = 209,
    ecc_uncorrectable = 214,
    invalid_ptx = 218,
    unsupported_ptx_version = 222,
    invalid_handle = 400,
    not_found = 500,
    not_ready = 600,
    illegal_address = 700,
    launch_out_of_resources = 701,
    misaligned_address = 716,
    launch_failed = 719,
    not_permitted = 800,
    not_supported = 801,
    stream_capture_unsupported = 900,
    stream_capture_invalidated = 901,
    stream_capture_isolation = 905,
    captured_event = 907,
};
}  // namespace result
