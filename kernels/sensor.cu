// Adds the noise of a camera's sensor to canvases, as src/device/cpu/sensor.rs does.
//
// Grid (tiles, jobs). A block of 256 threads makes a tile of 32x32 pixels of one canvas, a thread four pixels side by side;
// it reads three bytes a pixel and two sums of the canvas, and writes three bytes.

#include "canvas.cuh"
#include "hls.cuh"

// What is counted on average, and how probable it is that nothing is.
struct Rate {
    double mean, none;
};

FEEDLINE_INLINE Rate open_rate(const unsigned long long* sums, const Pixels& source, float intensity) {
    double count = (double)source.width * (double)source.height;
    double mean = (double)sums[0] / count, variance = (double)sums[1] / count - mean * mean;
    double rate = sqrt(fmax(variance, 0.0)) / 510.0 * (double)intensity;
    // exp(-rate), of a rate of at most a half.
    double none = 1.0;
    for (int k = 20; k >= 1; k--) none = 1.0 - none * rate / (double)k;
    return {rate, none};
}

// How often something that is counted at this rate happens.
FEEDLINE_INLINE int poisson(uint32_t bits, const Rate& rate) {
    double place = ((double)bits + 0.5) / 4294967296.0, part = rate.none, below = rate.none;
    int count = 0;
#pragma unroll 1
    while (place >= below && count < 16) {
        count++;
        part = part * rate.mean / (double)count;
        below = below + part;
    }
    return count;
}

FEEDLINE_INLINE uint32_t to_level(float part) {
    return (uint32_t)rintf(fminf(fmaxf(part, 0.0f), 1.0f) * 255.0f);
}

extern "C" __global__ void __launch_bounds__(FEEDLINE_THREADS)
sensor(const uint8_t* __restrict__ constants, uint8_t* __restrict__ scratch, uint32_t jobs) {
    auto [job, source, tile, is_there] = open_canvas(constants, scratch, jobs);
    if (!is_there || !is_shown(tile)) return;
    Rate rate = open_rate(reinterpret_cast<const unsigned long long*>(scratch + job.tables), source, job.amount);
    Quad own = read_four(source, tile.x, tile.y), quad = {0, 0, 0};
    const float unit = 1.0f / 255.0f;
#pragma unroll 1
    for (int i = 0; i < 4; i++) {
        uint32_t index = (uint32_t)tile.y * (uint32_t)source.width + (uint32_t)(tile.x + i);
        Words words = philox_words(index, 0, job.key);
        Hls hls = to_hls({(float)(own.r >> (8 * i) & 0xFF) * unit, (float)(own.g >> (8 * i) & 0xFF) * unit,
                          (float)(own.b >> (8 * i) & 0xFF) * unit});
        hls.hue = hls.hue + normal_of(words.b) * job.mean;
        float lighter = (float)poisson(words.a, rate) * job.amount * (1.0f - hls.lightness);
        hls.lightness = fminf(hls.lightness + lighter, 1.0f);
        Rgb made = from_hls(hls);
        quad.r |= to_level(made.r) << (8 * i);
        quad.g |= to_level(made.g) << (8 * i);
        quad.b |= to_level(made.b) << (8 * i);
    }
    store_canvas(job.target, job.pitch, scratch, tile, quad);
}
