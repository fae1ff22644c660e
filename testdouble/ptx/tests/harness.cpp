// Runs translated kernels without the double: one thread after another, from Python.
#include <string.h>

#include <map>
#include <string>

#include "../../shim/kernel.h"

ThreadPosition testdouble_thread;

namespace {
std::map<std::string, const Kernel*>& kernels() {
    static auto* all = new std::map<std::string, const Kernel*>;
    return *all;
}
int last_barrier = 0;
}  // namespace

extern "C" void testdouble_register(const Kernel* kernel) { kernels()[kernel->name] = kernel; }
extern "C" void testdouble_barrier(int line) { last_barrier = line; }

#define SEEN extern "C" __attribute__((visibility("default")))

// Whether there was such a kernel.
SEEN int run(const char* name, unsigned threads, void** values) {
    auto found = kernels().find(name);
    if (found == kernels().end()) return 0;
    testdouble_thread.block_size = {threads, 1, 1};
    testdouble_thread.grid_size = {1, 1, 1};
    for (unsigned x = 0; x < threads; x++) {
        testdouble_thread.index = {x, 0, 0};
        found->second->call(values);
    }
    return 1;
}
// Bytes and alignment of a parameter, as the double is told: 256 * bytes + alignment.
SEEN unsigned layout(const char* name, unsigned parameter) {
    const Kernel& kernel = *kernels().at(name);
    if (parameter >= kernel.parameters) return 0;
    return 256u * kernel.parameter[parameter].bytes + kernel.parameter[parameter].alignment;
}
SEEN unsigned long long text(const char* name) { return kernels().at(name)->ptx; }
SEEN int barrier() { return last_barrier; }
