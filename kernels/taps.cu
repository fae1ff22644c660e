// Works out which source pixels make each output of a resampled axis, and with what whole-number weights:
// torchvision's uint8 tables, as src/device/cpu/taps.rs computes them, in f64.
//
// Grid (2, jobs): columns and rows of one layer each. A block of 256 threads takes one axis, a thread every 256th output.
// Reads next to nothing; writes 4 bytes an output and 8 bytes for each of its groups of four weights.

#include "pixels.cuh"

// The taps of one output: their weights are weight(first..last) / total.
struct Reach {
    uint32_t low, high;
    double centre, total;
};

FEEDLINE_INLINE double ratio_of(const Axis& axis) {
    return (double)axis.input / (double)axis.output;
}

FEEDLINE_INLINE double triangle(double x) {
    return fmax(1.0 - fabs(x), 0.0);
}

// Keys' cubic convolution with a = -0.5.
FEEDLINE_INLINE double cubic(double x) {
    const double a = -0.5;
    x = fabs(x);
    if (x < 1.0) return ((a + 2.0) * x - (a + 3.0)) * x * x + 1.0;
    if (x < 2.0) return (((x - 5.0) * x + 8.0) * x - 4.0) * a;
    return 0.0;
}

// The weight of source position `at`, before the sum is made one.
FEEDLINE_INLINE double weight(const Axis& axis, const Reach& reach, double inverse, uint32_t at) {
    if (axis.filter == FEEDLINE_FILTER_BILINEAR_PLAIN) {
        if (reach.high - reach.low == 1) return 1.0;
        double share = fmin(fmax(reach.centre - (double)reach.low, 0.0), 1.0);
        return at == reach.low ? 1.0 - share : share;
    }
    double x = ((double)at - reach.centre + 0.5) * inverse;
    return axis.filter == FEEDLINE_FILTER_BICUBIC ? cubic(x) : triangle(x);
}

FEEDLINE_INLINE Reach reach_of(const Axis& axis, double ratio, double inverse, uint32_t output) {
    Reach reach;
    reach.total = 1.0;
    if (axis.filter == FEEDLINE_FILTER_BILINEAR_PLAIN) {
        reach.centre = fmax(ratio * ((double)output + 0.5) - 0.5, 0.0);
        reach.low = min((uint32_t)reach.centre, axis.input - 1);
        reach.high = min(reach.low + 2, axis.input);
        return reach;
    }
    double radius = axis.filter == FEEDLINE_FILTER_BICUBIC ? 2.0 : 1.0;
    double support = radius * fmax(ratio, 1.0);
    reach.centre = ((double)output + 0.5) * ratio;
    reach.low = (uint32_t)fmax(reach.centre - support + 0.5, 0.0);
    reach.high = min((uint32_t)(reach.centre + support + 0.5), axis.input);
    reach.total = 0.0;
#pragma unroll 1
    for (uint32_t at = reach.low; at < reach.high; at++) reach.total += weight(axis, reach, inverse, at);
    return reach;
}

// The largest weight of the whole axis, shown or not, of every 256th output.
FEEDLINE_INLINE double largest_weight(const Axis& axis, double ratio, double inverse) {
    double largest = 0.0;
#pragma unroll 1
    for (uint32_t output = threadIdx.x; output < axis.output; output += FEEDLINE_THREADS) {
        Reach reach = reach_of(axis, ratio, inverse, output);
        double heaviest = 0.0;
#pragma unroll 1
        for (uint32_t at = reach.low; at < reach.high; at++) heaviest = fmax(heaviest, weight(axis, reach, inverse, at));
        // Rounded division keeps the order, so the heaviest stays the heaviest.
        largest = fmax(largest, heaviest / reach.total);
    }
    return largest;
}

// The smallest p in 0..=22 whose successor would make the largest weight overflow int16.
FEEDLINE_INLINE uint32_t precision_of(double largest) {
    for (uint32_t p = 0; p < 22; p++) {
        if ((int64_t)(0.5 + largest * (double)(2u << p)) >= 1 << 15) return p;
    }
    return 22;
}

extern "C" __global__ void __launch_bounds__(FEEDLINE_THREADS)
taps(const uint8_t* __restrict__ constants, uint8_t* __restrict__ scratch, uint32_t jobs) {
    __shared__ double heaviest[FEEDLINE_THREADS];
    const Batch& batch = *table<Batch>(constants, 0);
    const LayerDesc& layer = table<LayerDesc>(constants, batch.layers)[table<uint32_t>(constants, jobs)[blockIdx.y]];
    const Axis& axis = blockIdx.x == 0 ? layer.columns : layer.rows;
    double ratio = ratio_of(axis), inverse = 1.0 / fmax(ratio, 1.0);
    heaviest[threadIdx.x] = largest_weight(axis, ratio, inverse);
    __syncthreads();
    for (uint32_t half = FEEDLINE_THREADS / 2; half > 0; half /= 2) {
        if (threadIdx.x < half) heaviest[threadIdx.x] = fmax(heaviest[threadIdx.x], heaviest[threadIdx.x + half]);
        __syncthreads();
    }
    uint32_t precision = precision_of(heaviest[0]);
    double scale = (double)(1u << precision);
    AxisTable* head = reinterpret_cast<AxisTable*>(scratch + axis.table);
    if (threadIdx.x == 0) head->precision = precision;
    uint32_t* starts = reinterpret_cast<uint32_t*>(head + 1);
    uint2* weights = reinterpret_cast<uint2*>(starts + (axis.count + 3) / 4 * 4);
#pragma unroll 1
    for (uint32_t position = threadIdx.x; position < axis.count; position += FEEDLINE_THREADS) {
        uint32_t shown = (axis.reversed ? axis.count - 1 - position : position) + (uint32_t)axis.offset;
        Reach reach = reach_of(axis, ratio, inverse, shown);
        uint32_t start = (reach.low - axis.first) / 4;
        starts[position] = start;
#pragma unroll 1
        for (uint32_t group = 0; group < axis.groups; group++) {
            uint32_t four[4];
            for (uint32_t i = 0; i < 4; i++) {
                uint32_t at = axis.first + (start + group) * 4 + i;
                bool used = at >= reach.low && at < reach.high;
                double exact = used ? weight(axis, reach, inverse, at) / reach.total : 0.0;
                four[i] = (uint32_t)(int)(exact * scale + (exact < 0.0 ? -0.5 : 0.5)) & 0xFFFF;
            }
            weights[group * axis.count + position] = make_uint2(four[0] | four[1] << 16, four[2] | four[3] << 16);
        }
    }
}
