// Captures of graphs. A graph is nothing here: it can be had and destroyed.
#include "driver.h"

CUDA_API CUresult cuStreamBeginCapture_v2(void* handle, int mode) {
    return enter(__func__, Needs::context, [&](Driver& d) { return d.captures.begin(d.stream(handle), mode); });
}

CUDA_API CUresult cuStreamEndCapture(void* handle, void** graph) {
    return enter(__func__, Needs::context, [&](Driver& d) -> CUresult {
        *graph = nullptr;
        return d.captures.end(d.stream(handle));
    });
}

CUDA_API CUresult cuStreamIsCapturing(void* handle, int* status) {
    return enter(__func__, Needs::context, [&](Driver& d) -> CUresult {
        auto stream = d.stream(handle);
        enum Status { none, active, invalidated };
        *status = !stream->captured ? none : d.captures.is_valid(*stream) ? active : invalidated;
        return result::success;
    });
}

CUDA_API CUresult cuThreadExchangeStreamCaptureMode(int* mode) {
    return enter(__func__, Needs::nothing, [&](Driver&) -> CUresult {
        std::swap(*mode, capture_mode);
        return result::success;
    });
}
