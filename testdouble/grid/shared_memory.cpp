#include "shared_memory.h"

#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>

// From shared.ld.
extern "C" __attribute__((visibility("hidden"))) char testdouble_shared_begin[], testdouble_shared_end[];

namespace {
// The linker defines both ends, but the compiler would take two arrays for different objects.
char* first_byte() {
    char* at = testdouble_shared_begin;
    asm("" : "+r"(at));
    return at;
}
size_t bytes() {
    return reinterpret_cast<uintptr_t>(testdouble_shared_end) - reinterpret_cast<uintptr_t>(first_byte());
}
}  // namespace

// Word by word and unchecked: the sanitizers watch memset, and this also writes the red zones between variables.
__attribute__((no_sanitize_address, no_sanitize_thread, optimize("no-tree-loop-distribute-patterns")))
void spoil_shared_memory(unsigned char rubbish) {
    uint64_t word = 0x0101010101010101u * rubbish;
    volatile uint64_t* at = reinterpret_cast<volatile uint64_t*>(first_byte());
    for (size_t left = bytes() / sizeof word; left > 0; left--) *at++ = word;
}

void renew_shared_memory() {
#ifdef __SANITIZE_THREAD__
#error "the runner is not instrumented; the makefile says -DTESTDOUBLE_TSAN"
#endif
#ifdef TESTDOUBLE_TSAN
    if (bytes() > 0) {
        mmap(first_byte(), bytes(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    }
#endif
}
