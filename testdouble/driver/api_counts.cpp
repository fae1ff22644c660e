// What a test asks the double, and no driver has: what was called, and how much memory is handed out.
#include "driver.h"

static std::lock_guard<std::recursive_mutex> locked() { return std::lock_guard<std::recursive_mutex>(driver().lock); }

// How often the function of this name was called, whether or not it failed; also "a primary context is made",
// "a module of PTX", "a module of a cubin", and "kernel NAME", which was taken from a module.
CUDA_API uint64_t fakecuda_calls(const char* name) {
    auto guard = locked();
    auto found = driver().calls_of.find(name);
    return found == driver().calls_of.end() ? 0 : found->second;
}

// How many operations of this name were given to streams: "h2d", "d2h", "fill", a kernel's name.
CUDA_API uint64_t fakecuda_operations(const char* name) {
    auto guard = locked();
    return driver().scheduler.given(name);
}

// How many copies were from or to ordinary memory.
CUDA_API uint64_t fakecuda_pageable_copies() {
    auto guard = locked();
    return driver().pageable_copies;
}

// Bytes of the device's memory that are handed out: whole granules.
CUDA_API uint64_t fakecuda_device_bytes(int ordinal) {
    auto guard = locked();
    Driver& d = driver();
    return ordinal < 0 || ordinal >= d.options.devices ? 0 : d.memory.used(&d.contexts[size_t(ordinal)]);
}

// Bytes of page-locked memory.
CUDA_API uint64_t fakecuda_pinned_bytes() {
    auto guard = locked();
    return driver().memory.pinned();
}

// How often the device's primary context is retained.
CUDA_API int fakecuda_references(int ordinal) {
    auto guard = locked();
    Driver& d = driver();
    return ordinal < 0 || ordinal >= d.options.devices ? 0 : d.contexts[size_t(ordinal)].retained;
}
