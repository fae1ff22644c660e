// Memory, copies and fills.
#include <string.h>

#include "driver.h"
#include "live.h"

static void* address(CUdeviceptr at) { return reinterpret_cast<void*>(at); }

CUDA_API CUresult cuMemGetInfo_v2(size_t* free, size_t* total) {
    return enter(__func__, Needs::context, [&](Driver& d) -> CUresult {
        *total = d.memory.size();
        *free = *total - d.memory.used(current_context);
        return result::success;
    });
}

static CUresult allocate(Driver& d, size_t bytes, Kind kind, void** start) {
    if (bytes == 0) return result::invalid_value;
    *start = d.memory.allocate(bytes, kind, current_context);
    return *start == nullptr ? result::out_of_memory : result::success;
}

// A driver waits for the whole device here, a trainer's kernels included, though it does not promise to: a program that
// frees under work is slow where it waits and wrong where it does not. This one does not wait, so an operation that is
// still to come finds the memory gone. A device that has failed has nothing to wait for.
static CUresult release(Driver& d, const char* name, void* start, Kind kind) {
    const Operation* next = d.scheduler.next_of(current_context);
    if (next != nullptr && current_context->broken == 0) {
        problem("%s: work is still to run, for which a device waits here; the next of it is: %s", name, next->what);
    }
    if (d.memory.free(start, kind)) return result::success;
    problem("%s: nothing begins at %p, or it was freed before", name, start);
    return result::invalid_value;
}

CUDA_API CUresult cuMemAlloc_v2(CUdeviceptr* start, size_t bytes) {
    return enter(__func__, Needs::context, [&](Driver& d) -> CUresult {
        void* memory = nullptr;
        CUresult code = allocate(d, bytes, Kind::device, &memory);
        if (code == 0) *start = reinterpret_cast<CUdeviceptr>(memory);
        return code;
    });
}

CUDA_API CUresult cuMemFree_v2(CUdeviceptr start) {
    const char* name = __func__;
    return enter(name, Needs::cleanup, [&](Driver& d) -> CUresult {
        return start == 0 ? result::success : release(d, name, address(start), Kind::device);
    });
}

CUDA_API CUresult cuMemHostAlloc(void** start, size_t bytes, unsigned) {
    return enter(__func__, Needs::context, [&](Driver& d) { return allocate(d, bytes, Kind::pinned, start); });
}

CUDA_API CUresult cuMemFreeHost(void* start) {
    const char* name = __func__;
    return enter(name, Needs::cleanup, [&](Driver& d) { return release(d, name, start, Kind::pinned); });
}

// Whether all of it is page-locked. Copies of other memory run as late as those: the driver's documentation says only
// that they "might be synchronous", so a program must not count on it.
static bool pinned(Driver& d, const void* start, size_t bytes) {
    const Allocation* allocation = d.memory.find(start, bytes);
    if (allocation != nullptr && allocation->kind == Kind::pinned) return true;
    d.pageable_copies++;
    return false;
}

CUDA_API CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr to, const void* from, size_t bytes, void* handle) {
    const char* name = __func__;
    return enter(name, Needs::context, [&](Driver& d) -> CUresult {
        auto stream = d.stream(handle);
        if (bytes == 0) return result::success;
        d.require_device(to, bytes, name);
        d.scheduler.give(stream, {"h2d", [=, watched = pinned(d, from, bytes)] {
            bool source = !watched || live(from, bytes, Kind::pinned, "h2d");
            if (source && live(address(to), bytes, Kind::device, "h2d")) race::copy(address(to), from, bytes);
        }, {}, {}, {}});
        return result::success;
    });
}

CUDA_API CUresult cuMemcpyDtoHAsync_v2(void* to, CUdeviceptr from, size_t bytes, void* handle) {
    const char* name = __func__;
    return enter(name, Needs::context, [&](Driver& d) -> CUresult {
        auto stream = d.stream(handle);
        if (bytes == 0) return result::success;
        d.require_device(from, bytes, name);
        d.scheduler.give(stream, {"d2h", [=, watched = pinned(d, to, bytes)] {
            bool target = !watched || live(to, bytes, Kind::pinned, "d2h");
            if (target && live(address(from), bytes, Kind::device, "d2h")) race::copy(to, address(from), bytes);
        }, {}, {}, {}});
        return result::success;
    });
}

CUDA_API CUresult cuMemcpyDtoDAsync_v2(CUdeviceptr to, CUdeviceptr from, size_t bytes, void* handle) {
    const char* name = __func__;
    return enter(name, Needs::context, [&](Driver& d) -> CUresult {
        auto stream = d.stream(handle);
        if (bytes == 0) return result::success;
        d.require_device(to, bytes, name);
        d.require_device(from, bytes, name);
        d.scheduler.give(stream, {"d2d", [=] {
            if (live(address(to), bytes, Kind::device, "d2d") && live(address(from), bytes, Kind::device, "d2d")) {
                race::copy(address(to), address(from), bytes);
            }
        }, {}, {}, {}});
        return result::success;
    });
}

CUDA_API CUresult cuMemsetD8Async(CUdeviceptr at, unsigned char value, size_t bytes, void* handle) {
    const char* name = __func__;
    return enter(name, Needs::context, [&](Driver& d) -> CUresult {
        auto stream = d.stream(handle);
        if (bytes == 0) return result::success;
        d.require_device(at, bytes, name);
        d.scheduler.give(stream, {"fill", [=] {
            if (!live(address(at), bytes, Kind::device, "fill")) return;
            race::write(address(at), bytes);
            memset(address(at), value, bytes);
        }, {}, {}, {}});
        return result::success;
    });
}
