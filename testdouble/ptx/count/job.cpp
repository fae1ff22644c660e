// Runs the kernels on random crops of a photograph, as a training recipe has them, and counts what is executed.
//
//     job KERNEL     prints "LINE THREADS WARPS" for each counted line of KERNEL.ptx, and "pixels N"
//
// The kernels are translated with --count: each straight run of instructions calls testdouble_count with its first line.
// THREADS is how many threads ran it, WARPS how often a warp did, if its 32 threads go through a loop together until the
// last of them has left it. `kernels/report.py` makes instructions for each pixel of that.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <algorithm>
#include <map>
#include <vector>

#include "../../grid/grid.h"
#include "../../grid/registry.h"
#include "layout.h"

namespace {
constexpr uint32_t width = 500, height = 375, edge = 224, across = edge / FEEDLINE_TILE_WIDTH;

struct Crop {
    uint32_t x, y, width, height;
};
// The mean of their scales is 1.25 along either axis.
constexpr Crop crops[] = {{101, 43, 280, 280}, {131, 17, 240, 320}, {97, 55, 320, 240}};
constexpr uint32_t jobs = 2 * sizeof crops / sizeof crops[0];  // as it is, and mirrored
constexpr uint32_t sample_values = 3 * edge * edge;

struct Counted {
    uint64_t threads = 0, warps = 0;
};
std::map<int, Counted> counted;
// By thread, of the block that runs.
std::map<int, std::vector<uint32_t>> running;
uint3_of_thread block = {~0u, 0, 0};

void close_block() {
    for (auto& [line, threads] : running) {
        for (size_t first = 0; first < threads.size(); first += 32) {
            uint32_t most = 0;
            for (size_t at = first; at < first + 32; at++) {
                counted[line].threads += threads[at];
                most = std::max(most, threads[at]);
            }
            counted[line].warps += most;
        }
        std::fill(threads.begin(), threads.end(), 0);
    }
}

// The arrays of a batch, and the memory that its kernels need between them.
struct Tables {
    std::vector<uint8_t> bytes = std::vector<uint8_t>(sizeof(Batch));
    uint64_t scratch_bytes = 0;

    template <class T>
    uint32_t append(const std::vector<T>& array) {
        bytes.resize((bytes.size() + 15) / 16 * 16);
        uint32_t at = uint32_t(bytes.size());
        const uint8_t* from = reinterpret_cast<const uint8_t*>(array.data());
        bytes.insert(bytes.end(), from, from + array.size() * sizeof(T));
        return at;
    }

    // As src/device/cuda/render/layers.rs makes it, with room for its table.
    Axis axis(uint32_t input, bool reversed) {
        uint32_t widest = uint32_t(ceil(2.0 * std::max(1.0, double(input) / edge))) + 1;
        Axis axis = {};
        axis.input = input;
        axis.output = axis.count = edge;
        axis.reversed = reversed;
        axis.filter = FEEDLINE_FILTER_BILINEAR;
        axis.groups = (std::min(widest, input) + 3 + 3) / 4;
        axis.table = scratch_bytes;
        scratch_bytes += sizeof(AxisTable) + edge * 4 + axis.groups * edge * 8;
        scratch_bytes = (scratch_bytes + 15) / 16 * 16;
        return axis;
    }
};

// The jobs as either kernel takes them.
struct Jobs {
    std::vector<Source> sources;
    std::vector<LayerDesc> layers;
    std::vector<BlendInput> inputs;
    std::vector<RenderJob> general;
    std::vector<CropJob> plain;
    std::vector<uint32_t> taps;

    void add(Tables& tables, const Crop& crop, bool mirrored, const uint8_t* image, const uint16_t* sample) {
        uint32_t number = uint32_t(taps.size());
        Source source = {};
        source.origin = reinterpret_cast<uint64_t>(image + (crop.y * width + crop.x) * 3);
        source.right = 3;
        source.down = width * 3;
        source.size = {crop.width, crop.height};
        source.column = int32_t(crop.x);
        source.columns = width;
        LayerDesc layer = {};
        layer.window = {0, 0, edge, edge};
        layer.source = number;
        layer.mask = FEEDLINE_NONE;
        layer.columns = tables.axis(crop.width, mirrored);
        layer.rows = tables.axis(crop.height, false);
        RenderJob render = {};
        render.target = reinterpret_cast<uint64_t>(sample);
        render.size = {edge, edge};
        render.inputs = {number, 1};
        render.measured = FEEDLINE_NONE;
        sources.push_back(source);
        layers.push_back(layer);
        inputs.push_back({layer.window, {number, 1}, {0, 0}, {0, 0}, 1.0f, {}});
        general.push_back(render);
        // As src/device/cuda/render/crop.rs makes it.
        plain.push_back({render.target, source.origin / 4 * 4, render.size, across, 65536 / across + 1, source.size,
                         width - crop.x, width * 3, uint32_t(source.origin % 4), across * across, layer.columns.groups,
                         layer.rows.groups, layer.columns.table, layer.rows.table});
        taps.push_back(number);
    }
};

void run(const char* name, uint8_t* tables, uint8_t* scratch, uint32_t first, unsigned blocks) {
    const Kernel* kernel = find_kernel(name);
    void* parameters[] = {&tables, &scratch, &first};
    Outcome outcome;
    if (kernel) run_grid({kernel, {blocks, jobs, 1}, {FEEDLINE_THREADS, 1, 1}, {}, 0}, parameters, outcome);
    if (!kernel || outcome.code) {
        fprintf(stderr, "%s: %s\n", name, kernel ? outcome.what : "no such kernel");
        exit(1);
    }
    close_block();
    block.x = ~0u;
}
}  // namespace

extern "C" void testdouble_count(int line) {
    const uint3_of_thread& now = testdouble_thread.block;
    if (now.x != block.x || now.y != block.y) {
        close_block();
        block = now;
    }
    std::vector<uint32_t>& threads = running[line];
    threads.resize(FEEDLINE_THREADS);
    threads[testdouble_thread.index.x]++;
}

int main(int count, char** arguments) {
    const char* kernel = count == 2 ? arguments[1] : "";
    std::vector<uint8_t> image(width * height * 3 + 8);
    uint32_t state = 1;
    for (uint8_t& byte : image) byte = uint8_t((state = state * 1664525 + 1013904223) >> 24);
    std::vector<uint16_t> samples(jobs * sample_values);
    Tables tables;
    Jobs all;
    for (uint32_t job = 0; job < jobs; job++) {
        all.add(tables, crops[job / 2], job % 2, image.data(), &samples[job * sample_values]);
    }
    Batch batch = {};
    batch.dtype = FEEDLINE_DTYPE_F16;
    batch.layout = FEEDLINE_LAYOUT_NCHW;
    for (int i = 0; i < 6; i++) batch.factors[i] = i % 2 ? -2.0f : 0.017f;
    batch.sources = tables.append(all.sources);
    batch.layers = tables.append(all.layers);
    batch.inputs = tables.append(all.inputs);
    uint32_t taps = tables.append(all.taps);
    uint32_t first = strcmp(kernel, "crop") ? tables.append(all.general) : tables.append(all.plain);
    memcpy(tables.bytes.data(), &batch, sizeof batch);
    std::vector<uint8_t> scratch(tables.scratch_bytes + 256);
    run("taps", tables.bytes.data(), scratch.data(), taps, 2);
    counted.clear();
    run(kernel, tables.bytes.data(), scratch.data(), first, across * across);
    for (const auto& [line, ran] : counted) {
        if (ran.threads) printf("%d %llu %llu\n", line, (unsigned long long)ran.threads, (unsigned long long)ran.warps);
    }
    printf("pixels %u\n", jobs * edge * edge);
}
