#include "registry.h"

#include <stdio.h>

#include <map>

#include "grid.h"

namespace {
// Filled by constructors in any order, so it must exist at its first use.
std::map<std::string, const Kernel*>& kernels() {
    static auto* all = new std::map<std::string, const Kernel*>;
    return *all;
}
}  // namespace

extern "C" void testdouble_register(const Kernel* kernel) { kernels()[kernel->name] = kernel; }

const Kernel* find_kernel(const std::string& name) {
    auto found = kernels().find(name);
    return found == kernels().end() ? nullptr : found->second;
}

// Runs a kernel without the driver, for tests of kernels alone: 0, or the CUresult with the reason on stderr.
// `order`: 0 forwards, 1 backwards, else the seed of a shuffle.
extern "C" __attribute__((visibility("default"))) int testdouble_run_kernel(
    const char* name, const unsigned grid[3], const unsigned block[3], unsigned long long order, void** parameters) {
    const Kernel* kernel = find_kernel(name);
    if (kernel == nullptr) {
        fprintf(stderr, "fakecuda: no kernel of the name %s was compiled\n", name);
        return 500;
    }
    Order how{order == 0 ? Order::forwards : order == 1 ? Order::backwards : Order::shuffled, order};
    Outcome outcome;
    run_grid({kernel, {grid[0], grid[1], grid[2]}, {block[0], block[1], block[2]}, how, 0}, parameters, outcome);
    if (outcome.code != 0) fprintf(stderr, "fakecuda: PROBLEM: %s\n", outcome.what);
    return outcome.code;
}
