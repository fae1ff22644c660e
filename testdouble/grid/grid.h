// Runs the grid of a host-compiled kernel, one CUDA thread at a time, on the calling thread.
#pragma once
#include <stdint.h>

#include "../shim/kernel.h"

// In which order the threads of a block, and the blocks, run: all are right for a correct kernel.
struct Order {
    enum Kind { forwards, backwards, shuffled } kind = forwards;
    uint64_t seed = 0;
};

struct Launch {
    const Kernel* kernel;
    unsigned grid[3], block[3];
    Order order;
    int stream = 0;  // whose timeline the grid runs on
};

// `code` is a CUresult, 0 where all went well; `what` says what the kernel did wrong and which thread it was. An array
// and no string: this runs on the device's timeline, and ThreadSanitizer watches what strings do with memory.
struct Outcome {
    int code = 0;
    char what[240];
    Outcome() { what[0] = 0; }
    __attribute__((format(printf, 3, 4))) void fail(int with, const char* format, ...);
};

// The outcome is the caller's, who may look at it off the device's timeline.
void run_grid(const Launch& launch, void** parameters, Outcome& outcome);
