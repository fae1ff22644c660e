// Streams and events.
#include "driver.h"

namespace {
constexpr unsigned stream_non_blocking = 1, event_disable_timing = 2;
}

CUDA_API CUresult cuStreamCreateWithPriority(void** handle, unsigned flags, int) {
    return enter(__func__, Needs::context, [&](Driver& d) -> CUresult {
        if (flags != stream_non_blocking) {
            problem("a stream that waits for the default stream is slowed down by a trainer's work");
            return result::invalid_value;
        }
        *handle = d.scheduler.create(current_context).get();
        return result::success;
    });
}

CUDA_API CUresult cuStreamDestroy_v2(void* handle) {
    return enter(__func__, Needs::cleanup, [&](Driver& d) -> CUresult {
        d.scheduler.destroy(d.stream(handle));
        return result::success;
    });
}

CUDA_API CUresult cuStreamSynchronize(void* handle) {
    return enter(__func__, Needs::context, [&](Driver& d) -> CUresult {
        auto stream = d.stream(handle);
        if (stream->captured) return d.captures.spoil(*stream, result::stream_capture_unsupported);
        d.scheduler.wait(d.scheduler.end_of(stream));
        return current_context->broken;
    });
}

static CUresult asked(Driver& d, const Point& point) {
    d.scheduler.poll(point);
    if (!point.passed()) return result::not_ready;
    return current_context->broken;
}

CUDA_API CUresult cuStreamQuery(void* handle) {
    return enter(__func__, Needs::context, [&](Driver& d) -> CUresult {
        return asked(d, d.scheduler.end_of(d.stream(handle)));
    });
}

CUDA_API CUresult cuStreamWaitEvent(void* handle, void* event_handle, unsigned) {
    return enter(__func__, Needs::context, [&](Driver& d) -> CUresult {
        auto stream = d.stream(handle);
        const Event& event = d.event(event_handle);
        if (stream->captured && !event.captured) return d.captures.spoil(*stream, result::stream_capture_isolation);
        if (event.captured && !stream->captured) {
            problem("stream %d waits for an event of a graph, and so becomes a part of it", stream->id);
            return result::stream_capture_isolation;
        }
        const Point point = event.point;  // as it is recorded now; later recordings do not matter
        if (point.stream) d.scheduler.give(stream, {"wait", [] {}, {point}, {}, {}});
        return result::success;
    });
}

CUDA_API CUresult cuEventCreate(void** handle, unsigned flags) {
    return enter(__func__, Needs::context, [&](Driver& d) -> CUresult {
        Event* event = new Event{(flags & event_disable_timing) == 0, current_context, {}, false, nullptr};
        d.events.insert(event);
        *handle = event;
        return result::success;
    });
}

CUDA_API CUresult cuEventDestroy_v2(void* handle) {
    return enter(__func__, Needs::cleanup, [&](Driver& d) -> CUresult {
        Event* event = &d.event(handle);
        d.events.erase(event);
        delete event;  // who waits for it holds its point
        return result::success;
    });
}

CUDA_API CUresult cuEventRecord(void* handle, void* stream_handle) {
    return enter(__func__, Needs::context, [&](Driver& d) -> CUresult {
        auto stream = d.stream(stream_handle);
        Event& event = d.event(handle);
        event.captured = stream->captured;
        auto passed_at = std::make_shared<double>(0);
        event.passed_at = passed_at;
        event.point = d.scheduler.give(stream, {"event", [passed_at] {
            *passed_at = driver().scheduler.milliseconds();
        }, {}, {}, {}});
        return result::success;
    });
}

CUDA_API CUresult cuEventSynchronize(void* handle) {
    return enter(__func__, Needs::context, [&](Driver& d) -> CUresult {
        const Event& event = d.event(handle);
        if (event.captured) return result::captured_event;
        d.scheduler.wait(Point(event.point));
        return current_context->broken;
    });
}

CUDA_API CUresult cuEventQuery(void* handle) {
    return enter(__func__, Needs::context, [&](Driver& d) -> CUresult {
        const Event& event = d.event(handle);
        return event.captured ? CUresult(result::captured_event) : asked(d, Point(event.point));
    });
}

CUDA_API CUresult cuEventElapsedTime(float* milliseconds, void* from_handle, void* to_handle) {
    return enter(__func__, Needs::context, [&](Driver& d) -> CUresult {
        const Event &from = d.event(from_handle), &to = d.event(to_handle);
        if (!from.timed || !to.timed || !from.passed_at || !to.passed_at) return result::invalid_handle;
        if (!from.point.passed() || !to.point.passed()) return result::not_ready;
        *milliseconds = float(*to.passed_at - *from.passed_at);
        return result::success;
    });
}
