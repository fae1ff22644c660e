// One block of a grid: its threads run one after another, each until a barrier or its end.
#pragma once
#include <string>
#include <vector>

#include "grid.h"

// Runs the block at testdouble_thread.block with its threads in `order`. Returns what was wrong, or nothing.
std::string run_block(const Launch& launch, void** parameters, const std::vector<unsigned>& order);
// After a jump out of a kernel: the fibers it ran on are left where they are.
void abandon_block();
