// The batched calls: all images of a batch, or none.
#include <string.h>

#include <algorithm>

#include "objects.h"

namespace {
constexpr int largest_side = 16384;
// Batches of so many images and fewer are decoded by the host where the GPU's processors are asked to.
constexpr int small_batch = 50;

// Whether a backend's batched call takes such a file.
bool takes(int backend, const JpegHeader& header, const Roi& roi) {
    const NvjpegOptions& options = nvjpeg().options;
    if (options.unsupported == 0 || options.unsupported == header.width) return false;
    if (backend == hardware && options.parts == 0 && !roi.whole()) return false;
    if (header.components != 1 && header.components != 3) return false;
    if (header.precision != 8 || header.process > 2 || header.subsampling < 0) return false;
    if (header.width > largest_side || header.height > largest_side) return false;
    if (backend != hardware) return true;
    bool sampling = header.subsampling != 4 && header.subsampling != 5;
    return header.process == 0 && sampling && header.first_scan == header.components;
}

// What is done to an image whose batch succeeds.
enum class Deed { write, skip, late };

struct Item {
    const unsigned char* bytes;
    size_t length;
    uint64_t hash;
    OutputImage target;
    Pixels pixels;
    int subsampling;
    Deed deed;
};
using Items = std::vector<Item>;

// Decodes one image of a batch here and now; its pixels are written when the device gets there.
Status decode_item(int backend, const Parameters& parameters, Item& item) {
    JpegHeader header;
    if (!read_jpeg_header(item.bytes, item.length, header)) return status::bad_jpeg;
    const Roi& roi = parameters.roi;
    const NvjpegOptions& options = nvjpeg().options;
    if (!takes(backend, header, roi)) return status::jpeg_not_supported;
    if (options.odd_width == 0 || options.odd_width == header.width) return options.odd_status;
    item.subsampling = header.subsampling;
    check_target(item.target, roi.whole() ? header.width : roi.width, roi.whole() ? header.height : roi.height,
                 "nvjpegDecodeBatchedEx");
    item.hash = hash_of(item.bytes, item.length);
    return decode_pixels(item.bytes, item.length, header, roi, item.pixels);
}

// Runs when the device gets there. nvJPEG nowhere says that it is done with the bytes earlier, so they must still be
// there and unchanged.
void write_batch(const Items& items) {
    for (const Item& item : items) {
        if (hash_of(item.bytes, item.length) != item.hash) {
            bridge::problem("nvjpegDecodeBatchedEx: a file's bytes changed before the batch was decoded");
        }
        if (item.deed == Deed::write) write_rows(item.target, item.pixels);
    }
}

// Whether it is the turn of this one of the images that succeed.
bool is_turn(int every) { return every > 0 && nvjpeg().images % uint64_t(every) == 0; }

// Does to images what the options say, and reports success.
void misbehave(Items& items) {
    const NvjpegOptions& options = nvjpeg().options;
    for (size_t i = 0; i < items.size(); i++) {
        std::vector<unsigned char>& rgb = items[i].pixels.rgb;
        nvjpeg().images++;
        if (is_turn(options.skip)) items[i].deed = Deed::skip;
        if (is_turn(options.late)) items[i].deed = Deed::late;
        if (is_turn(options.zero)) std::fill(rgb.begin(), rgb.end(), 0);
        if (is_turn(options.noise)) {
            for (size_t at = 0; at < rgb.size(); at++) rgb[at] = static_cast<unsigned char>(at * 2654435761u >> 13);
        }
        if (is_turn(options.copy)) {
            const std::vector<unsigned char> other = items[i > 0 ? i - 1 : items.size() - 1].pixels.rgb;
            for (size_t at = 0; at < rgb.size(); at++) rgb[at] = other[at % other.size()];
        }
    }
}

// A batch that fails may have written anything to what it got to.
void spoil_targets(Items& items) {
    for (Item& item : items) memset(item.pixels.rgb.data(), 0xEE, item.pixels.rgb.size());
}

// nvJPEG does not promise that a state can take a batch while it still works on another.
void check_idle(const JpegState& state, const char* who) {
    if (state.ended && !state.ended()) {
        bridge::problem((std::string(who) + ": the state's last batch is still being decoded").c_str());
    }
}

void give(int backend, JpegState& state, void* stream, Items items) {
    auto batch = std::make_shared<const Items>(std::move(items));
    auto work = [batch] { write_batch(*batch); };
    for (size_t i = 0; i < batch->size(); i++) {
        if ((*batch)[i].deed != Deed::late) continue;
        state.late.push_back([batch, i] { write_rows((*batch)[i].target, (*batch)[i].pixels); });
    }
    if (backend != hardware) {
        state.ended = bridge::give(stream, "nvjpeg", work);
        return;
    }
    // As on Hopper: the engines write their output without waiting for what is ahead of them in the stream.
    if (!state.engine) state.engine = bridge::new_engine();
    state.ended = bridge::give(state.engine, stream, "nvjpeg", work);
}
}  // namespace

NVJPEG_API Status nvjpegDecodeBatchedInitialize(Handle* handle, JpegState* state, int batch, int threads, int format) {
    return enter(__func__, [&]() -> Status {
        objects().handles.find(handle);
        auto found = objects().states.find(state);
        check_idle(*found, "nvjpegDecodeBatchedInitialize");
        if (batch < 1 || threads < 0 || format != format_rgb_interleaved) return status::invalid_parameter;
        found->batch = batch;
        return status::success;
    });
}

NVJPEG_API Status nvjpegDecodeBatchedPreAllocate(Handle* handle, JpegState* state, int batch, int width, int height,
                                                 int subsampling, int format) {
    return enter(__func__, [&]() -> Status {
        objects().handles.find(handle);
        objects().states.find(state);
        bool sound = batch > 0 && width > 0 && height > 0 && subsampling >= 0 && subsampling <= 6;
        return sound && format == format_rgb_interleaved ? status::success : status::invalid_parameter;
    });
}

NVJPEG_API Status nvjpegDecodeBatchedSupportedEx(Handle* handle, JpegStream* jpeg, Parameters* parameters,
                                                 int* unsupported) {
    return enter(__func__, [&]() -> Status {
        auto stream = objects().streams.find(jpeg);
        auto own = objects().parameters.find(parameters);
        if (stream->bytes == nullptr) return status::invalid_parameter;
        *unsupported = takes(objects().handles.find(handle)->backend, stream->header, own->roi) ? 0 : 1;
        return status::success;
    });
}

NVJPEG_API Status nvjpegDecodeBatchedEx(Handle* handle, JpegState* state, const unsigned char* const* bytes,
                                        const size_t* lengths, OutputImage* targets, Parameters** parameters,
                                        void* stream) {
    const char* name = __func__;
    return enter(name, [&]() -> Status {
        int backend = objects().handles.find(handle)->backend;
        auto found = objects().states.find(state);
        check_stream(stream, name);
        check_idle(*found, name);
        // Spoiled by a batch that failed, or never initialised.
        if (found->batch == 0) return status::execution_failed;
        if (backend == gpu_hybrid && found->batch <= small_batch && nvjpeg().options.small == 0) {
            bridge::problem("nvjpegDecodeBatchedEx: so few images are decoded by the calling thread");
        }
        Items items;
        Status failed = status::success;
        for (int i = 0; i < found->batch && failed == 0; i++) {
            auto own = objects().parameters.find(parameters[i]);
            Item item = {bytes[i], lengths[i], 0, targets[i], {}, -1, Deed::write};
            failed = decode_item(backend, *own, item);
            bool mixed = failed == 0 && !items.empty() && items[0].subsampling != item.subsampling;
            if (mixed && backend == hardware && nvjpeg().options.mixed == 0) failed = status::jpeg_not_supported;
            if (failed == 0) items.push_back(std::move(item));
        }
        if (failed != 0) {
            found->batch = 0;
            spoil_targets(items);
        }
        if (failed == 0) misbehave(items);
        if (!items.empty()) give(backend, *found, stream, std::move(items));
        return failed;
    });
}
