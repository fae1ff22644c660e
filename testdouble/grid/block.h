// One block of a grid: its threads run one after another, each until a barrier or its end.
#pragma once
#include <vector>

#include "grid.h"

// Runs the block at testdouble_thread.block with its threads in `order`.
void run_block(const Launch& launch, void** parameters, const std::vector<unsigned>& order, Outcome& outcome);
// After a jump out of a kernel: the fibers it ran on are left where they are.
void abandon_block();
// For ThreadSanitizer: the stacks of the next grid's threads are not those of the previous one's.
void renew_stacks();
