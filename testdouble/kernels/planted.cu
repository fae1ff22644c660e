// Kernels with one mistake each, for the double's own tests: what it must notice. The last two are correct.
// One thread per element; a block has 256 threads. Each reads `in` and writes `out`, four bytes an element.

static __device__ int element() { return blockIdx.x * blockDim.x + threadIdx.x; }

// Writes out[n], one beyond the end.
extern "C" __global__ void planted_write_beyond(float* out, int n) {
    int i = element();
    if (i <= n) out[i] = 1.0f;
}

// Reads in[n], one beyond the end.
extern "C" __global__ void planted_read_beyond(const float* in, float* out, int n) {
    int i = element();
    if (i < n) out[i] = in[i + 1];
}

// Turns each block round, without waiting until all of it is there.
extern "C" __global__ void planted_missing_barrier(const float* in, float* out, int n) {
    __shared__ float part[256];
    int i = element();
    part[threadIdx.x] = i < n ? in[i] : 0.0f;
    out[i] = part[blockDim.x - 1 - threadIdx.x];
}

// Uses shared memory again for the second half, without waiting for the readers of the first.
extern "C" __global__ void planted_missing_second_barrier(const float* in, float* out, int n) {
    __shared__ float part[256];
    for (int half = 0; half < 2; half++) {
        int i = half * n / 2 + threadIdx.x;
        part[threadIdx.x] = in[i];
        __syncthreads();
        out[i] = part[blockDim.x - 1 - threadIdx.x];
    }
}

// Threads beyond the end return ahead of a barrier that the others wait at.
extern "C" __global__ void planted_divergent_return(const float* in, float* out, int n) {
    __shared__ float part[256];
    int i = element();
    if (i >= n) return;
    part[threadIdx.x] = in[i];
    __syncthreads();
    out[i] = part[threadIdx.x];
}

// Half of the threads wait at one barrier, half at another.
extern "C" __global__ void planted_divergent_barriers(const float* in, float* out, int n) {
    __shared__ float part[256];
    int i = element();
    part[threadIdx.x] = i < n ? in[i] : 0.0f;
    if (threadIdx.x < 128) {
        __syncthreads();
    } else {
        part[threadIdx.x] += 1.0f;
        __syncthreads();
    }
    if (i < n) out[i] = part[255 - threadIdx.x];
}

// A shared array that is one element short.
extern "C" __global__ void planted_shared_beyond(const float* in, float* out, int n) {
    __shared__ float part[255];
    int i = element();
    part[threadIdx.x] = i < n ? in[i] : 0.0f;
    __syncthreads();
    if (i < n) out[i] = part[threadIdx.x];
}

// Reads an element of shared memory that none wrote.
extern "C" __global__ void planted_shared_undefined(const float* in, float* out, int n) {
    __shared__ float part[256];
    int i = element();
    if (threadIdx.x != 7 && i < n) part[threadIdx.x] = in[i];
    __syncthreads();
    if (i < n) out[i] = part[threadIdx.x];
}

// Loads 16 bytes from an address that is a multiple of only 4.
extern "C" __global__ void planted_misaligned(const float* in, float* out, int n) {
    int i = element() * 4;
    if (i + 5 <= n) out[i] = reinterpret_cast<const float4*>(in + i + 1)->x;
}

// Correct: out = in + 1.
extern "C" __global__ void planted_add_one(const float* in, float* out, int n) {
    int i = element();
    if (i < n) out[i] = in[i] + 1.0f;
}

// Correct: turns each block of 256 round; with two barriers, shared memory and an atomic.
template <class T>
static __device__ void turn_round(const T* in, T* out, unsigned* count, int n) {
    __shared__ T part[256];
    __shared__ unsigned seen;
    int i = element();
    if (threadIdx.x == 0) seen = 0;
    __syncthreads();
    if (i < n) atomicAdd(&seen, 1);
    part[threadIdx.x] = i < n ? in[i] : T(0);
    __syncthreads();
    if (i < n) out[i] = part[blockDim.x - 1 - threadIdx.x];
    if (threadIdx.x == 0) atomicAdd(count, seen);
}
#define TURN_ROUND(name, T)                                                                             \
    extern "C" __global__ void __launch_bounds__(256)                                                   \
        name(const T* __restrict__ in, T* __restrict__ out, unsigned* __restrict__ count, int n) {      \
        turn_round(in, out, count, n);                                                                  \
    }
TURN_ROUND(planted_turn_round, float)
TURN_ROUND(planted_turn_round_bytes, unsigned char)
