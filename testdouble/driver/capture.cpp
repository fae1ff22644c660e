#include "capture.h"

#include <string.h>

#include <algorithm>

#include "report.h"

namespace {
enum Mode { global = 0, of_thread = 1, relaxed = 2 };

// What a captured stream might depend on without the driver seeing it.
constexpr const char* unsafe_calls[] = {
    "cuEventQuery",   "cuEventSynchronize", "cuMemAlloc_v2",      "cuMemFree_v2",  "cuMemFreeHost",
    "cuMemHostAlloc", "cuModuleLoadDataEx", "cuStreamSynchronize", "cuStreamQuery",
};

bool is_unsafe(const char* name) {
    return std::any_of(std::begin(unsafe_calls), std::end(unsafe_calls), [&](auto call) { return !strcmp(call, name); });
}
}  // namespace

thread_local int capture_mode = global;

CUresult Captures::begin(const std::shared_ptr<Stream>& stream, int mode) {
    if (stream->captured) return result::stream_capture_unsupported;
    stream->captured = true;
    captures_.push_back({stream, mode, std::this_thread::get_id(), true});
    return result::success;
}

CUresult Captures::end(const std::shared_ptr<Stream>& stream) {
    auto found = std::find_if(captures_.begin(), captures_.end(), [&](auto& each) { return each.stream == stream; });
    if (found == captures_.end()) return result::invalid_value;
    const bool valid = found->valid;
    captures_.erase(found);
    stream->captured = false;
    return valid ? result::success : result::stream_capture_invalidated;
}

bool Captures::is_valid(const Stream& stream) const {
    return std::any_of(captures_.begin(), captures_.end(), [&](auto& each) {
        return each.stream.get() == &stream && each.valid;
    });
}

CUresult Captures::refuse(const char* name, const Context* context) {
    // To wait for a device is to wait for its captured streams, which no mode allows.
    const bool waits_for_all = !strcmp(name, "cuCtxSynchronize");
    if (!waits_for_all && (capture_mode == relaxed || !is_unsafe(name))) return result::success;
    CUresult refused = result::success;
    for (Capture& capture : captures_) {
        const bool forbids = capture.mode == global || (capture.mode == of_thread && capture.thread == std::this_thread::get_id());
        if (waits_for_all ? capture.stream->context != context : !forbids) continue;
        capture.valid = false;
        refused = result::stream_capture_unsupported;
    }
    return refused;
}

CUresult Captures::spoil(const Stream& stream, CUresult code) {
    for (Capture& capture : captures_) {
        if (capture.stream.get() == &stream) capture.valid = false;
    }
    return code;
}
