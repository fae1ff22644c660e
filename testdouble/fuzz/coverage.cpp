// What libFuzzer is told of the kernels: g++ has them call a function wherever they get to (the makefile gives it its name),
// which counts that, and which ends the process if it is called too often.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

extern "C" int testdouble_run_kernel(const char*, const unsigned*, const unsigned*, unsigned long long, void**);

namespace {
constexpr size_t places = 1 << 16;
// libFuzzer finds the section by its name, takes each byte for a counter, and clears it ahead of each input.
__attribute__((section("__libfuzzer_extra_counters"), used)) uint8_t counters[places];
uint64_t steps_left = ~uint64_t(0);
}  // namespace

// Steps that kernels may take from now on: branches, more or less.
extern "C" void testdouble_allow_steps(uint64_t steps) { steps_left = steps; }

extern "C" __attribute__((no_sanitize_address)) void testdouble_reached() {
    // By distance, since where all of it lies differs from run to run. No two calls are within four bytes.
    uintptr_t here = reinterpret_cast<uintptr_t>(__builtin_return_address(0));
    uint8_t& counter = counters[(here - reinterpret_cast<uintptr_t>(&testdouble_run_kernel)) / 4 % places];
    if (counter < 255) counter++;
    if (steps_left-- == 0) {
        fprintf(stderr, "fakecuda: PROBLEM: kernels that do not end, or not in the time that their work should take\n");
        abort();
    }
}
