// The dialect of CUDA C++ that feedline's kernels are written in, for a host compiler.
//
// The makefile includes this ahead of every kernels/*.cu, so that g++ compiles the very files that nvcc compiles.
// It is no CUDA implementation: it holds what the kernels may use and nothing else. Warp shuffles, textures and
// dynamic parallelism fail to compile, on purpose.
#pragma once
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <type_traits>

#include "kernel.h"

// Kernels ask for this where they need a host twin of an instruction.
#define FEEDLINE_TESTDOUBLE 1

// The listing pass (see list_kernels.sh) looks for this word, so there it must survive the preprocessor.
#ifndef TESTDOUBLE_LISTING
#define __global__ __attribute__((visibility("hidden"), used))
#endif
#define __device__
#define __host__
#define __forceinline__ inline __attribute__((always_inline))
#define __launch_bounds__(...)
#define __constant__ const
// Everything that is static and not constant in a kernel's object is shared memory: shared.ld collects it in one
// section, which the grid runner fills with rubbish ahead of each block.
#ifndef __shared__
#define __shared__ static
#endif

#define threadIdx (testdouble_thread.index)
#define blockIdx (testdouble_thread.block)
#define blockDim (testdouble_thread.block_size)
#define gridDim (testdouble_thread.grid_size)
// The line tells barriers apart: threads of one block that wait at two of them have diverged.
#define __syncthreads() testdouble_barrier(__LINE__)

struct dim3 {
    unsigned x, y, z;
};

#define TESTDOUBLE_VECTORS(name, T)                                                                      \
    struct alignas(2 * sizeof(T)) name##2 { T x, y; };                                                   \
    struct name##3 { T x, y, z; };                                                                       \
    struct alignas(4 * sizeof(T) > 16 ? 16 : 4 * sizeof(T)) name##4 { T x, y, z, w; };                   \
    static inline name##2 make_##name##2(T x, T y) { return {x, y}; }                                    \
    static inline name##3 make_##name##3(T x, T y, T z) { return {x, y, z}; }                            \
    static inline name##4 make_##name##4(T x, T y, T z, T w) { return {x, y, z, w}; }
TESTDOUBLE_VECTORS(char, signed char)
TESTDOUBLE_VECTORS(uchar, unsigned char)
TESTDOUBLE_VECTORS(short, short)
TESTDOUBLE_VECTORS(ushort, unsigned short)
TESTDOUBLE_VECTORS(int, int)
TESTDOUBLE_VECTORS(uint, unsigned)
TESTDOUBLE_VECTORS(float, float)
#undef TESTDOUBLE_VECTORS

#define TESTDOUBLE_MIN_MAX(T)                                       \
    static inline T min(T a, T b) { return b < a ? b : a; }         \
    static inline T max(T a, T b) { return a < b ? b : a; }
TESTDOUBLE_MIN_MAX(int)
TESTDOUBLE_MIN_MAX(unsigned)
TESTDOUBLE_MIN_MAX(long)
TESTDOUBLE_MIN_MAX(unsigned long)
TESTDOUBLE_MIN_MAX(long long)
TESTDOUBLE_MIN_MAX(unsigned long long)
#undef TESTDOUBLE_MIN_MAX
// As CUDA's: of a number and a NaN, the number.
static inline float min(float a, float b) { return fminf(a, b); }
static inline float max(float a, float b) { return fmaxf(a, b); }

template <class T>
static inline T __ldg(const T* at) { return *at; }

// One CUDA thread runs at a time, so nothing has to be atomic here. Sums of floats would depend on the order of the
// threads, so only integers are taken.
#define TESTDOUBLE_ATOMIC(name, expression)                                                               \
    template <class T>                                                                                    \
    static inline T name(T* at, std::common_type_t<T> value) {                                            \
        static_assert(std::is_integral_v<T>, "atomics of floats depend on the order of the threads");     \
        T old = *at;                                                                                      \
        *at = (expression);                                                                               \
        return old;                                                                                       \
    }
TESTDOUBLE_ATOMIC(atomicAdd, old + value)
TESTDOUBLE_ATOMIC(atomicMin, value < old ? value : old)
TESTDOUBLE_ATOMIC(atomicMax, old < value ? value : old)
TESTDOUBLE_ATOMIC(atomicAnd, old & value)
TESTDOUBLE_ATOMIC(atomicOr, old | value)
TESTDOUBLE_ATOMIC(atomicExch, value)
#undef TESTDOUBLE_ATOMIC
