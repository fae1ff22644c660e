#include "grid.h"

#include <signal.h>
#include <stdio.h>

#include <algorithm>
#include <numeric>
#include <random>

#include "../driver/results.h"
#include "block.h"
#include "shared_memory.h"
#include "trap.h"

ThreadPosition testdouble_thread;

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

std::string position() {
    const ThreadPosition& at = testdouble_thread;
    char text[96];
    snprintf(text, sizeof text, "block (%u, %u, %u), thread (%u, %u, %u)", at.block.x, at.block.y, at.block.z,
             at.index.x, at.index.y, at.index.z);
    return text;
}

Outcome trapped(const Launch& launch, const Trap& trap) {
    abandon_block();
    char text[160];
    if (trap.signal == SIGILL) {
        snprintf(text, sizeof text, "%s: misaligned access, or index beyond an array, ", launch.kernel->name);
        return {result::misaligned_address, text + position()};
    }
    snprintf(text, sizeof text, "%s: access to %p, which is in no allocation, ", launch.kernel->name, trap.address);
    return {result::illegal_address, text + position()};
}

Outcome run_blocks(const Launch& launch, void** parameters) {
    const unsigned* size = launch.grid;
    std::vector<unsigned> threads = arranged(launch.block[0] * launch.block[1] * launch.block[2], launch.order);
    for (uint64_t block : arranged(uint64_t(size[0]) * size[1] * size[2], launch.order)) {
        testdouble_thread.block = {unsigned(block % size[0]), unsigned(block / size[0] % size[1]),
                                   unsigned(block / (uint64_t(size[0]) * size[1]))};
        spoil_shared_memory(rubbish_of(launch.order));
        std::string wrong = run_block(launch, parameters, threads);
        if (!wrong.empty()) return {result::launch_failed, std::string(launch.kernel->name) + ": " + wrong};
    }
    return {};
}
}  // namespace

Outcome run_grid(const Launch& launch, void** parameters) {
    renew_shared_memory();
    testdouble_thread.block_size = {launch.block[0], launch.block[1], launch.block[2]};
    testdouble_thread.grid_size = {launch.grid[0], launch.grid[1], launch.grid[2]};
    Trap trap;
    // Nothing between here and the jump may own memory that matters: a trapped kernel's vectors are leaked.
    if (sigsetjmp(trap.back, 1)) {
        watch_for_traps(nullptr);
        return trapped(launch, trap);
    }
    watch_for_traps(&trap);
    Outcome outcome = run_blocks(launch, parameters);
    watch_for_traps(nullptr);
    return outcome;
}
