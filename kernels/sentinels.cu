// Sentinels: bytes that decoders must overwrite. A decoder that reports success and has not written an image, or not yet,
// leaves them as they were.
//
// A thread a place, in blocks of 256; each reads or writes four bytes.

#include "device.cuh"
#include "layout.h"

// With `check`, counts for each image the places that still hold their sentinel; without, puts the sentinels there. Places
// begin at any byte.
extern "C" __global__ void __launch_bounds__(FEEDLINE_THREADS)
sentinels(const Sentinel* __restrict__ places, uint32_t* __restrict__ unwritten, uint32_t count, uint32_t check) {
    uint32_t at = blockIdx.x * FEEDLINE_THREADS + threadIdx.x;
    if (at >= count) return;
    const Sentinel& place = places[at];
    uint8_t* bytes = reinterpret_cast<uint8_t*>(static_cast<uintptr_t>(place.address));
    bool same = true;
    for (uint32_t i = 0; i < 4; i++) {
        uint8_t byte = (uint8_t)(place.bytes >> (8 * i));
        if (check) {
            same = same && bytes[i] == byte;
        } else {
            bytes[i] = byte;
        }
    }
    if (check && same) atomicAdd(&unwritten[place.image], 1u);
}
