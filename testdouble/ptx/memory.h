// How translated kernels reach memory: by typed accesses, whose alignment the compiler checks as it does a kernel's.
#pragma once
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../shim/kernel.h"
#include "integers.h"
#include "rounding.h"

namespace ptx {
// A register that was never written, or what memory of a thread's own holds before.
constexpr unsigned char undefined_byte = 0xCB;
template <class T>
constexpr T undefined = T(0xCBCBCBCBCBCBCBCB);

template <class T, unsigned count>
struct alignas(count * sizeof(T)) Vector {
    T at[count];
};

template <class T>
T* global(uint64_t address) {
    return reinterpret_cast<T*>(address);
}

template <class T>
T parameter(const unsigned char* at) {
    T value;
    memcpy(&value, at, sizeof value);
    return value;
}
template <class T>
void set_parameter(unsigned char* at, T value) {
    memcpy(at, &value, sizeof value);
}

// As the checks of the compiler: what the runner takes for an index beyond an array, or a sanitizer's report.
[[noreturn]] inline void beyond(const char* what) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    fprintf(stderr, "runtime error: access beyond %s memory\n", what);
    abort();
#else
    (void)what;
    __builtin_trap();
#endif
}

// Memory of the thread's own; addresses are the host's.
template <class T>
T* local(uint64_t address, unsigned char* memory, uint64_t bytes) {
    uint64_t offset = address - reinterpret_cast<uint64_t>(memory);
    if (bytes < sizeof(T) || offset > bytes - sizeof(T)) beyond("local");
    return reinterpret_cast<T*>(address);
}

// One thread runs at a time, so nothing has to be atomic here.
template <class T, class Change>
T atomic(T* at, Change change) {
    T old = *at;
    *at = T(change(old));
    return old;
}
}  // namespace ptx
