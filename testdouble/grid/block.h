// One block of a grid: its threads run one after another, each until a barrier or its end.
#pragma once
#include <vector>

#include "grid.h"

// Runs the block at testdouble_thread.block with its threads in `order`.
void run_block(const Launch& launch, void** parameters, const std::vector<unsigned>& order, Outcome& outcome);
// After a jump out of a kernel: the fibers it ran on are left where they are.
void abandon_block();
// Each stream's threads have stacks of their own: else ThreadSanitizer would take what one stream's threads and then
// another's write there for a race.
void use_stacks_of(int stream);
