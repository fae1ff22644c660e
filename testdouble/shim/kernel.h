// What the simulated driver knows of a kernel: its name, its parameters' sizes, and how to call it for one thread.
#pragma once
#include <stddef.h>
#include <stdint.h>

#include <type_traits>
#include <utility>

struct uint3_of_thread {
    unsigned x, y, z;
};

// Who is running: the kernels read these as threadIdx, blockIdx, blockDim and gridDim. One thread runs at a time.
struct ThreadPosition {
    uint3_of_thread index, block, block_size, grid_size;
};
extern "C" __attribute__((visibility("hidden"))) ThreadPosition testdouble_thread;
extern "C" __attribute__((visibility("hidden"))) void testdouble_barrier(int line);

enum class ParameterKind : unsigned char { value, pointer };

struct Parameter {
    unsigned short bytes, alignment;
    ParameterKind kind;
};

struct Kernel {
    const char* name;
    unsigned parameters;
    const Parameter* parameter;
    void (*call)(void** values);
    uint64_t ptx;  // FNV-1a of the PTX text that it was translated from; 0 where its source was compiled
};
extern "C" __attribute__((visibility("hidden"))) void testdouble_register(const Kernel*);

// Derives all of it from the function's own type, so that it cannot differ from the kernel.
template <auto Function>
struct KernelOf;

template <class... Parameters, void (*Function)(Parameters...)>
struct KernelOf<Function> {
    template <class T>
    static constexpr Parameter describe() {
        return {sizeof(T), alignof(T), std::is_pointer_v<T> ? ParameterKind::pointer : ParameterKind::value};
    }
    // The last entry only keeps the array from being empty.
    static constexpr Parameter parameter[] = {describe<Parameters>()..., {0, 0, ParameterKind::value}};

    template <size_t... Index>
    static void apply(void** values, std::index_sequence<Index...>) {
        Function(*static_cast<std::remove_reference_t<Parameters>*>(values[Index])...);
    }
    static void call(void** values) { apply(values, std::index_sequence_for<Parameters...>{}); }
    static constexpr Kernel named(const char* name) {
        return {name, sizeof...(Parameters), parameter, call, 0};
    }
};

#define TESTDOUBLE_KERNEL(name)                                                          \
    static constexpr Kernel testdouble_kernel_##name = KernelOf<&name>::named(#name);    \
    __attribute__((constructor)) static void testdouble_register_##name() {              \
        testdouble_register(&testdouble_kernel_##name);                                  \
    }
