#include "grid.h"

#include <signal.h>
#include <stdarg.h>
#include <stdio.h>

#include <algorithm>
#include <numeric>
#include <random>

#include "../driver/results.h"
#include "block.h"
#include "shared_memory.h"
#include "trap.h"

ThreadPosition testdouble_thread;
// There where kernels are counted: ptx/count/warps.cpp.
extern "C" __attribute__((weak)) void testdouble_block_ended(const char* kernel);
extern "C" __attribute__((weak)) void testdouble_grid_ended(const char* kernel, uint64_t blocks);

namespace {
unsigned char rubbish_of(const Order& order) {
    // Two seeds that give different pixels show a read of undefined memory that one value would hide.
    return order.kind == Order::forwards ? 0xCB : order.kind == Order::backwards ? 0x35 : order.seed * 37 % 255 + 1;
}

template <class T>
std::vector<T> arranged(T count, const Order& order) {
    std::vector<T> list(count);
    std::iota(list.begin(), list.end(), T(0));
    if (order.kind == Order::backwards) std::reverse(list.begin(), list.end());
    if (order.kind == Order::shuffled) std::shuffle(list.begin(), list.end(), std::mt19937_64(order.seed));
    return list;
}

void trapped(const Launch& launch, const Trap& trap, Outcome& outcome) {
    abandon_block();
    const ThreadPosition& at = testdouble_thread;
    char position[96];
    snprintf(position, sizeof position, "block (%u, %u, %u), thread (%u, %u, %u)", at.block.x, at.block.y, at.block.z,
             at.index.x, at.index.y, at.index.z);
    const char* name = launch.kernel->name;
    if (trap.signal == SIGILL) {
        outcome.fail(result::misaligned_address, "%s: misaligned access, or index beyond an array, %s", name, position);
    } else {
        outcome.fail(result::illegal_address, "%s: access to %p, which is in no allocation, %s", name, trap.address,
                     position);
    }
}

void run_blocks(const Launch& launch, void** parameters, Outcome& outcome) {
    const unsigned* size = launch.grid;
    std::vector<unsigned> threads = arranged(launch.block[0] * launch.block[1] * launch.block[2], launch.order);
    for (uint64_t block : arranged(uint64_t(size[0]) * size[1] * size[2], launch.order)) {
        testdouble_thread.block = {unsigned(block % size[0]), unsigned(block / size[0] % size[1]),
                                   unsigned(block / (uint64_t(size[0]) * size[1]))};
        spoil_shared_memory(rubbish_of(launch.order));
        run_block(launch, parameters, threads, outcome);
        if (outcome.code != 0) return;
        if (testdouble_block_ended) testdouble_block_ended(launch.kernel->name);
    }
}
}  // namespace

void Outcome::fail(int with, const char* format, ...) {
    code = with;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(what, sizeof what, format, arguments);
    va_end(arguments);
}

void run_grid(const Launch& launch, void** parameters, Outcome& outcome) {
    renew_shared_memory();
    use_stacks_of(launch.stream);
    testdouble_thread.block_size = {launch.block[0], launch.block[1], launch.block[2]};
    testdouble_thread.grid_size = {launch.grid[0], launch.grid[1], launch.grid[2]};
    Trap trap;
    // Nothing between here and the jump may own memory that matters: a trapped kernel's vectors are leaked.
    if (sigsetjmp(trap.back, 1)) {
        watch_for_traps(nullptr);
        trapped(launch, trap, outcome);
        return;
    }
    watch_for_traps(&trap);
    run_blocks(launch, parameters, outcome);
    watch_for_traps(nullptr);
    if (testdouble_grid_ended) testdouble_grid_ended(launch.kernel->name, uint64_t(launch.grid[0]) * launch.grid[1]);
}
