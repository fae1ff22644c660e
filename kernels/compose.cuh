// Layers laid over each other in one tile: what src/device/cpu/render.rs composes.
#ifndef FEEDLINE_COMPOSE_CUH
#define FEEDLINE_COMPOSE_CUH

#include "gather.cuh"
#include "resample.cuh"

// The tables of the batch and the memory beside them. What lies in them is loaded where it is needed: registers are
// dearer.
struct Tables {
    const uint8_t* constants;
    const uint8_t* scratch;
};

FEEDLINE_INLINE const Batch& batch_of(const Tables& tables) {
    return *table<Batch>(tables.constants, 0);
}

FEEDLINE_INLINE const LayerDesc* layers_of(const Tables& tables) {
    return table<LayerDesc>(tables.constants, batch_of(tables).layers);
}

FEEDLINE_INLINE const BlendInput* inputs_of(const Tables& tables) {
    return table<BlendInput>(tables.constants, batch_of(tables).inputs);
}

FEEDLINE_INLINE const Erase* erases_of(const Tables& tables, const BlendInput& input) {
    return table<Erase>(tables.constants, batch_of(tables).erases) + input.erases.start;
}

// A part of a canvas, and the thread's place in it: its four pixels begin at (x, y).
struct Tile {
    int left, top, right, bottom;
    int x, y;
};

// Tile number `number` of a canvas, in rows.
FEEDLINE_INLINE Tile open_tile(Size size, uint32_t number) {
    uint32_t across = (size.width + FEEDLINE_TILE_WIDTH - 1) / FEEDLINE_TILE_WIDTH;
    Tile tile;
    tile.left = (int)(number % across) * FEEDLINE_TILE_WIDTH;
    tile.top = (int)(number / across) * FEEDLINE_TILE_HEIGHT;
    tile.right = min(tile.left + FEEDLINE_TILE_WIDTH, (int)size.width);
    tile.bottom = min(tile.top + FEEDLINE_TILE_HEIGHT, (int)size.height);
    tile.x = tile.left + (int)threadIdx.x % 8 * 4;
    tile.y = tile.top + (int)threadIdx.x / 8;
    return tile;
}

FEEDLINE_INLINE uint32_t tiles_of(Size size) {
    uint32_t across = (size.width + FEEDLINE_TILE_WIDTH - 1) / FEEDLINE_TILE_WIDTH;
    return across * ((size.height + FEEDLINE_TILE_HEIGHT - 1) / FEEDLINE_TILE_HEIGHT);
}

// Puts what a job's steps name into shared memory, where all see it behind the next barrier.
FEEDLINE_INLINE void load_figures(const Tables& tables, Span stats, Figures& figures) {
    if (threadIdx.x == 0) {
        figures.first = stats.start;
        figures.histograms = reinterpret_cast<const Histogram*>(tables.scratch + batch_of(tables).histograms);
        figures.constants = tables.constants;
        figures.errors = reinterpret_cast<uint32_t*>(static_cast<uintptr_t>(batch_of(tables).errors));
    }
    if (threadIdx.x < stats.len) {
        uint32_t at = stats.start + threadIdx.x;
        uint64_t count = table<uint64_t>(tables.constants, batch_of(tables).counts)[at];
        const uint64_t* sums = reinterpret_cast<const uint64_t*>(tables.scratch + batch_of(tables).sums);
        figures.means[threadIdx.x] = count == 0 ? 0.0f : (float)((double)sums[at] / (double)count);
    }
}

FEEDLINE_INLINE Steps open_steps(const Tables& tables, Span steps, const Figures& figures) {
    return {table<Step>(tables.constants, batch_of(tables).steps) + steps.start, steps.len, &figures};
}

FEEDLINE_INLINE Pixels open_source(const Tables& tables, uint32_t number) {
    return open_source(table<Source>(tables.constants, batch_of(tables).sources)[number], tables.scratch);
}

// One bit for each of the thread's pixels that lies in `rect`.
FEEDLINE_INLINE uint32_t inside(Rect rect, const Tile& tile) {
    uint32_t line = (uint32_t)(tile.y - rect.y);
    uint32_t bits = 0;
    for (int i = 0; i < 4; i++) bits |= (uint32_t)((uint32_t)(tile.x + i - rect.x) < rect.width) << i;
    return line < rect.height ? bits : 0;
}

// 0xFF for each of the four bits that is set.
FEEDLINE_INLINE uint32_t bytes_of(uint32_t bits) {
    return ((bits & 1) | (bits & 2) << 7 | (bits & 4) << 14 | (bits & 8) << 21) * 0xFF;
}

FEEDLINE_INLINE bool touches(const Rect& window, const Tile& tile) {
    return window.x < tile.right && window.x + (int)window.width > tile.left && window.y < tile.bottom &&
           window.y + (int)window.height > tile.top;
}

FEEDLINE_INLINE bool covers(const Rect& window, const Tile& tile) {
    return window.x <= tile.left && window.x + (int)window.width >= tile.right && window.y <= tile.top &&
           window.y + (int)window.height >= tile.bottom;
}

// The source position that is shown at `position` of the window, where each output is one source pixel.
FEEDLINE_INLINE int copied(const Axis& axis, int position) {
    int output = shown(axis, position);
    if (axis.input != axis.output) {
        // torch's nearest: floor(i * in / out) in f32.
        float ratio = (float)axis.input / (float)axis.output;
        output = min((int)((float)output * ratio), (int)axis.input - 1);
    }
    return output - (int)axis.first;
}

FEEDLINE_INLINE Quad copy(const LayerDesc& layer, const Pixels& source, const Tile& tile) {
    int left = tile.x - layer.window.x, y = copied(layer.rows, tile.y - layer.window.y);
    if (layer.columns.input == layer.columns.output) {
        int x = copied(layer.columns, left);
        return layer.columns.reversed ? reversed(read_four(source, x - 3, y)) : read_four(source, x, y);
    }
    Quad quad = {0, 0, 0};
#pragma unroll 1
    for (int i = 0; i < 4; i++) {
        Quad one = read_one(source, copied(layer.columns, left + i), y);
        quad.r |= one.r << (8 * i);
        quad.g |= one.g << (8 * i);
        quad.b |= one.b << (8 * i);
    }
    return quad;
}

FEEDLINE_INLINE Quad solid(const LayerDesc& layer) {
    return {layer.fill[0] * 0x01010101u, layer.fill[1] * 0x01010101u, layer.fill[2] * 0x01010101u};
}

// The thread's pixels of a layer; all threads of the block call it. `covered` keeps the bits of those that it covers.
FEEDLINE_INLINE Quad show_layer(const Tables& tables, const LayerDesc& layer, const Tile& tile, Shared& shared,
                                 uint32_t& covered) {
    if (layer.kind == FEEDLINE_KIND_SOLID) return solid(layer);
    // A warp that leaves its clip everywhere has no source and reads none.
    Pixels source = open_source(tables, layer.source == FEEDLINE_NONE ? 0 : layer.source);
    Steps steps = open_steps(tables, layer.steps, shared.figures);
    if (layer.kind == FEEDLINE_KIND_COPY) return recoloured(copy(layer, source, tile), steps);
    if (layer.kind == FEEDLINE_KIND_WARP) {
        uint32_t gathered;
        Quad quad = gather(layer, source, steps, tile.x - layer.window.x, tile.y - layer.window.y, gathered);
        covered &= gathered;
        return quad;
    }
    int left = tile.left - layer.window.x, top = tile.top - layer.window.y;
    return resample(layer, source, steps, tables.scratch, left, top, shared);
}

// One bit for each of the thread's pixels that the layer may cover.
FEEDLINE_INLINE uint32_t let_through(const Tables& tables, const LayerDesc& layer, const Tile& tile) {
    uint32_t line = (uint32_t)(tile.y - layer.window.y), bits = 0;
    if (line >= layer.window.height) return 0;
    const Span row = table<Span>(tables.constants, batch_of(tables).rows)[layer.mask + line];
    const Run* runs = table<Run>(tables.constants, batch_of(tables).runs) + row.start;
#pragma unroll 1
    for (uint32_t at = 0; at < row.len; at++) {
        uint32_t start = runs[at].start, len = runs[at].len;
        for (int i = 0; i < 4; i++) bits |= (uint32_t)((uint32_t)(tile.x + i) - start < len) << i;
    }
    return bits;
}

// The thread's pixels of an input ahead of its steps; all threads of the block call it. What no layer covers is black.
FEEDLINE_INLINE Quad compose(const Tables& tables, const BlendInput& input, const Tile& tile, Shared& shared) {
    uint32_t lowest = input.layers.start, end = lowest + input.layers.len;
    // Layers are opaque: what lies below one that covers the tile is not seen.
#pragma unroll 1
    for (uint32_t at = end; at > lowest; at--) {
        const LayerDesc& layer = layers_of(tables)[at - 1];
        bool opaque = layer.kind != FEEDLINE_KIND_WARP || layer.around != FEEDLINE_AROUND_NOTHING;
        if (opaque && layer.mask == FEEDLINE_NONE && covers(layer.window, tile)) lowest = at - 1;
    }
    Quad quad = {0, 0, 0};
#pragma unroll 1
    for (uint32_t at = lowest; at < end; at++) {
        const LayerDesc& layer = layers_of(tables)[at];
        if (!touches(layer.window, tile)) continue;
        uint32_t covered = inside(layer.window, tile);
        Quad own = show_layer(tables, layer, tile, shared, covered);
        if (layer.mask != FEEDLINE_NONE) covered &= let_through(tables, layer, tile);
        uint32_t mask = bytes_of(covered);
        quad.r = (own.r & mask) | (quad.r & ~mask);
        quad.g = (own.g & mask) | (quad.g & ~mask);
        quad.b = (own.b & mask) | (quad.b & ~mask);
    }
    return quad;
}

#endif  // FEEDLINE_COMPOSE_CUH
