// Runs the grid of a host-compiled kernel, one CUDA thread at a time, on the calling thread.
#pragma once
#include <stdint.h>

#include <string>

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
};

// `code` is a CUresult, 0 where all went well; `what` says what the kernel did wrong and which thread it was.
struct Outcome {
    int code = 0;
    std::string what;
};

Outcome run_grid(const Launch& launch, void** parameters);
