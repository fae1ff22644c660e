// cuInit, devices and contexts.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "driver.h"

namespace {
// The attributes that are asked for, with NVIDIA's numbers.
enum Attribute {
    max_threads_per_block = 1,
    max_shared_memory_per_block = 8,
    warp_size = 10,
    multiprocessor_count = 16,
    compute_capability_major = 75,
    compute_capability_minor = 76,
};

int attribute_value(const Options& options, int attribute) {
    switch (attribute) {
        case max_threads_per_block: return 1024;
        case max_shared_memory_per_block: return 48 << 10;
        case warp_size: return 32;
        case multiprocessor_count: return options.multiprocessors;
        case compute_capability_major: return options.capability / 10;
        case compute_capability_minor: return options.capability % 10;
        default: return 0;
    }
}
}  // namespace

CUDA_API CUresult cuInit(unsigned flags) {
    return enter(__func__, Needs::init, [&](Driver& d) -> CUresult {
        if (flags != 0) return result::invalid_value;
        if (d.options.devices == 0) return result::no_device;
        if (!d.initialized) atexit(report_at_exit);
        d.initialized = true;
        return result::success;
    });
}

CUDA_API CUresult cuDriverGetVersion(int* version) {
    return enter(__func__, Needs::nothing, [&](Driver& d) -> CUresult {
        *version = d.options.version;
        return result::success;
    });
}

CUDA_API CUresult cuDeviceGetCount(int* count) {
    return enter(__func__, Needs::no_context, [&](Driver& d) -> CUresult {
        *count = d.options.devices;
        return result::success;
    });
}

CUDA_API CUresult cuDeviceGet(CUdevice* device, int ordinal) {
    return enter(__func__, Needs::no_context, [&](Driver& d) -> CUresult {
        *device = d.context_of(ordinal).device;
        return result::success;
    });
}

CUDA_API CUresult cuDeviceGetName(char* name, int length, CUdevice device) {
    return enter(__func__, Needs::no_context, [&](Driver& d) -> CUresult {
        d.context_of(device);
#ifdef TESTDOUBLE_NULL
        snprintf(name, size_t(length), "FAKE (simulated driver that does NOTHING, not a GPU)");
#else
        snprintf(name, size_t(length), "FAKE (simulated driver, not a GPU)");
#endif
        return result::success;
    });
}

CUDA_API CUresult cuDeviceTotalMem_v2(size_t* bytes, CUdevice device) {
    return enter(__func__, Needs::no_context, [&](Driver& d) -> CUresult {
        d.context_of(device);
        *bytes = d.memory.size();
        return result::success;
    });
}

CUDA_API CUresult cuDeviceGetAttribute(int* value, int attribute, CUdevice device) {
    return enter(__func__, Needs::no_context, [&](Driver& d) -> CUresult {
        d.context_of(device);
        *value = attribute_value(d.options, attribute);
        return result::success;
    });
}

CUDA_API CUresult cuDevicePrimaryCtxGetState(CUdevice device, unsigned* flags, int* active) {
    return enter(__func__, Needs::no_context, [&](Driver& d) -> CUresult {
        *flags = 0;
        *active = d.context_of(device).retained > 0;
        return result::success;
    });
}

CUDA_API CUresult cuDevicePrimaryCtxRetain(Context** context, CUdevice device) {
    return enter(__func__, Needs::no_context, [&](Driver& d) -> CUresult {
        Context& primary = d.context_of(device);
        if (primary.retained++ == 0) d.calls_of["a primary context is made"]++;
        *context = &primary;
        return result::success;
    });
}

// The last release ends the context with all that it holds. Work that is still queued runs here, to show whether what
// it uses is still alive: a program that leaves it behind has not waited.
CUDA_API CUresult cuDevicePrimaryCtxRelease_v2(CUdevice device) {
    return enter(__func__, Needs::last, [&](Driver& d) -> CUresult {
        Context& primary = d.context_of(device);
        if (primary.retained == 0) {
            problem("the primary context of device %d is released more often than retained", device);
            return result::invalid_context;
        }
        if (--primary.retained > 0) return result::success;
        for (const auto& stream : std::vector<std::shared_ptr<Stream>>(d.scheduler.streams())) {
            if (stream->context == &primary) d.scheduler.wait(d.scheduler.end_of(stream));
        }
        primary.broken = 0;
        return result::success;
    });
}

CUDA_API CUresult cuCtxGetCurrent(Context** context) {
    return enter(__func__, Needs::nothing, [&](Driver&) -> CUresult {
        *context = current_context;
        return result::success;
    });
}

CUDA_API CUresult cuCtxSetCurrent(Context* context) {
    return enter(__func__, Needs::nothing, [&](Driver& d) -> CUresult {
        if (context != nullptr && &d.context_of(context->device) != context) return result::invalid_context;
        current_context = context;
        return result::success;
    });
}

CUDA_API CUresult cuCtxSynchronize() {
    return enter(__func__, Needs::context, [&](Driver& d) -> CUresult {
        for (const auto& stream : std::vector<std::shared_ptr<Stream>>(d.scheduler.streams())) {
            if (stream->context == current_context) d.scheduler.wait(d.scheduler.end_of(stream));
        }
        // What a stream was given before it was destroyed is waited for as well.
        for (const race::MarkPtr& last : current_context->last_of_destroyed) race::acquire(last);
        return current_context->broken;
    });
}

CUDA_API CUresult cuCtxGetStreamPriorityRange(int* least, int* greatest) {
    return enter(__func__, Needs::context, [&](Driver&) -> CUresult {
        if (least != nullptr) *least = 0;
        if (greatest != nullptr) *greatest = -5;
        return result::success;
    });
}
