// Instructions that C++ has no word for, each with a twin of the same bits for a host compiler.
//
// Nothing else in the kernels may depend on the machine: no warp intrinsics, no textures, no approximate functions.
// Built with -fmad=false (nvcc) or -ffp-contract=off (g++), so that a product and a sum are fused only where a kernel
// says fmaf.
#ifndef FEEDLINE_DEVICE_CUH
#define FEEDLINE_DEVICE_CUH

#include <stdint.h>

#if defined(__CUDACC__) || defined(FEEDLINE_TESTDOUBLE)
#define FEEDLINE_INLINE static __device__ __forceinline__
#else
#define FEEDLINE_INLINE static inline
#endif
// For what is long, and called from several places: one copy of it. Not static, because nvcc would make a name up.
#ifdef __CUDACC__
#define FEEDLINE_CALLED extern "C" __device__ __noinline__
#else
#define FEEDLINE_CALLED static
#endif

#ifndef __CUDA_ARCH__
// What the instruction dp2a does: two signed 16-bit weights on the two low (at = 0) or high (at = 16) bytes.
FEEDLINE_INLINE int weigh_two(uint32_t weights, uint32_t levels, int at, int sum) {
    int low = (int16_t)(weights & 0xFFFF) * (int)((levels >> at) & 0xFF);
    int high = (int16_t)(weights >> 16) * (int)((levels >> (at + 8)) & 0xFF);
    // Unsigned, because a sum that wraps is defined on the device.
    return (int)((uint32_t)sum + (uint32_t)low + (uint32_t)high);
}
#endif

/* sum + four weights times four levels; weights.x holds the first two. */
FEEDLINE_INLINE int weigh(uint32_t first, uint32_t second, uint32_t levels, int sum) {
#ifdef __CUDA_ARCH__
    asm("dp2a.lo.s32.u32 %0, %1, %2, %0;" : "+r"(sum) : "r"(first), "r"(levels));
    asm("dp2a.hi.s32.u32 %0, %1, %2, %0;" : "+r"(sum) : "r"(second), "r"(levels));
    return sum;
#else
    return weigh_two(second, levels, 16, weigh_two(first, levels, 0, sum));
#endif
}

/* Four bytes out of eight (those of `low`, then those of `high`), chosen by the four low nibbles of `picks`, 0 to 7. */
FEEDLINE_INLINE uint32_t pick_bytes(uint32_t low, uint32_t high, uint32_t picks) {
#ifdef __CUDA_ARCH__
    uint32_t picked;
    asm("prmt.b32 %0, %1, %2, %3;" : "=r"(picked) : "r"(low), "r"(high), "r"(picks));
    return picked;
#else
    uint64_t bytes = (uint64_t)high << 32 | low;
    uint32_t picked = 0;
    for (int i = 0; i < 4; i++) {
        picked |= (uint32_t)(bytes >> (8 * (picks >> (4 * i) & 7)) & 0xFF) << (8 * i);
    }
    return picked;
#endif
}

/* Four sums, shifted right, as bytes: what is below 0 or above 255 is moved there. The first is the lowest byte. */
FEEDLINE_INLINE uint32_t pack_levels(int first, int second, int third, int fourth, int shift) {
#ifdef __CUDA_ARCH__
    uint32_t high, all;
    asm("cvt.pack.sat.u8.s32.b32 %0, %1, %2, 0;" : "=r"(high) : "r"(fourth >> shift), "r"(third >> shift));
    asm("cvt.pack.sat.u8.s32.b32 %0, %1, %2, %3;" : "=r"(all) : "r"(second >> shift), "r"(first >> shift), "r"(high));
    return all;
#else
    int sums[4] = {first, second, third, fourth};
    uint32_t all = 0;
    for (int i = 0; i < 4; i++) all |= (uint32_t)min(max(sums[i] >> shift, 0), 255) << (8 * i);
    return all;
#endif
}

/* How many bits are 1. */
FEEDLINE_INLINE uint32_t count_ones(uint32_t bits) {
#ifdef __CUDA_ARCH__
    uint32_t count;
    asm("popc.b32 %0, %1;" : "=r"(count) : "r"(bits));
    return count;
#else
    return (uint32_t)__builtin_popcount(bits);
#endif
}

/* 32 bits out of 64 (those of `low`, then those of `high`), from number `at` (modulo 32) on. */
FEEDLINE_INLINE uint32_t shift_bits(uint32_t low, uint32_t high, uint32_t at) {
#ifdef __CUDA_ARCH__
    uint32_t shifted;
    asm("shf.r.wrap.b32 %0, %1, %2, %3;" : "=r"(shifted) : "r"(low), "r"(high), "r"(at));
    return shifted;
#else
    return (uint32_t)(((uint64_t)high << 32 | low) >> (at % 32));
#endif
}

/* The four bytes that start `bytes` (modulo 4) bytes into `low`, followed by `high`. */
FEEDLINE_INLINE uint32_t shift_bytes(uint32_t low, uint32_t high, uint32_t bytes) {
    return shift_bits(low, high, bytes * 8);
}

FEEDLINE_INLINE uint32_t bits_of(float value) {
#ifdef __CUDA_ARCH__
    return __float_as_uint(value);
#else
    uint32_t bits;
    __builtin_memcpy(&bits, &value, 4);
    return bits;
#endif
}

FEEDLINE_INLINE uint64_t bits_of(double value) {
#ifdef __CUDA_ARCH__
    return (uint64_t)__double_as_longlong(value);
#else
    uint64_t bits;
    __builtin_memcpy(&bits, &value, 8);
    return bits;
#endif
}

FEEDLINE_INLINE double double_of(uint64_t bits) {
#ifdef __CUDA_ARCH__
    return __longlong_as_double((long long)bits);
#else
    double value;
    __builtin_memcpy(&value, &bits, 8);
    return value;
#endif
}

/* The bits of IEEE half precision, rounded to nearest even; what is too large becomes infinite. No NaN. */
FEEDLINE_INLINE uint32_t half_bits(float value) {
#ifdef __CUDA_ARCH__
    uint16_t half;
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(half) : "f"(value));
    return half;
#else
    uint32_t bits = bits_of(value);
    uint32_t sign = bits >> 16 & 0x8000;
    bits &= 0x7FFFFFFF;
    if (bits >= 0x47800000) return sign | 0x7C00;  // 2^16 and more; what rounds up to it comes out below
    if (bits < 0x38800000) {
        // Below 2^-14 a half is a whole number of 2^-24, and adding 2^-1 rounds a float to just that.
        float size;
        __builtin_memcpy(&size, &bits, 4);
        return sign | (bits_of(size + 0.5f) - 0x3F000000);
    }
    return sign | ((bits + 0xFFF + (bits >> 13 & 1) - 0x38000000) >> 13);
#endif
}

/* The same of two values, the first in the lower half. */
FEEDLINE_INLINE uint32_t half_pair(float first, float second) {
#ifdef __CUDA_ARCH__
    // As one: devices from 8.0 on have an instruction for just this.
    uint16_t low, high;
    uint32_t both;
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(low) : "f"(first));
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(high) : "f"(second));
    asm("mov.b32 %0, {%1, %2};" : "=r"(both) : "h"(low), "h"(high));
    return both;
#else
    return half_bits(first) | half_bits(second) << 16;
#endif
}

/* The bits of bfloat16, rounded to nearest even. No NaN. Older devices have no instruction for it. */
FEEDLINE_INLINE uint32_t brain_bits(float value) {
    uint32_t bits = bits_of(value);
    return (bits + 0x7FFF + (bits >> 16 & 1)) >> 16;
}

#endif  // FEEDLINE_DEVICE_CUH
