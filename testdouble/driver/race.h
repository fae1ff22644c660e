// What ThreadSanitizer is told of the simulated device: each stream is a fiber of its own, and only the events that a
// program records and waits for order them. Without -DTESTDOUBLE_TSAN all of it is nothing.
#pragma once
#include <stddef.h>
#include <string.h>

#include <memory>

#ifdef TESTDOUBLE_TSAN
#include <sanitizer/tsan_interface.h>
extern "C" void __tsan_write_range(void* at, long bytes);
extern "C" void __tsan_read_range(void* at, long bytes);
#endif

namespace race {
// A place for ThreadSanitizer to hang an order on: what is ahead of the release is ahead of what follows an acquire.
struct Mark {
    char place = 0;
};
using MarkPtr = std::shared_ptr<Mark>;

inline void release(const MarkPtr& mark) {
#ifdef TESTDOUBLE_TSAN
    if (mark) __tsan_release(mark.get());
#else
    (void)mark;
#endif
}
inline void acquire(const MarkPtr& mark) {
#ifdef TESTDOUBLE_TSAN
    if (mark) __tsan_acquire(mark.get());
#else
    (void)mark;
#endif
}
// Memory that goes away is written by whoever frees it.
inline void write(void* at, size_t bytes) {
#ifdef TESTDOUBLE_TSAN
    __tsan_write_range(at, long(bytes));
#else
    (void)at, (void)bytes;
#endif
}

inline void read(const void* at, size_t bytes) {
#ifdef TESTDOUBLE_TSAN
    __tsan_read_range(const_cast<void*>(at), long(bytes));
#else
    (void)at, (void)bytes;
#endif
}

// Tests run with ignore_interceptors_accesses, because the host's accesses are not judged; so copies are told.
inline void copy(void* to, const void* from, size_t bytes) {
    read(from, bytes);
    write(to, bytes);
    memmove(to, from, bytes);
}

// The timeline of one stream.
class Timeline {
public:
    Timeline() = default;
    Timeline(const Timeline&) = delete;
#ifdef TESTDOUBLE_TSAN
    ~Timeline() {
        if (fiber_ != nullptr) __tsan_destroy_fiber(fiber_);
    }
    void* fiber() { return fiber_ != nullptr ? fiber_ : fiber_ = __tsan_create_fiber(0); }

private:
    void* fiber_ = nullptr;
#endif
};

// While it lives, this thread's accesses belong to the timeline, and not to the host.
class OnTimeline {
public:
#ifdef TESTDOUBLE_TSAN
    // The flag says that the switch itself orders nothing.
    explicit OnTimeline(Timeline& timeline) : host_(__tsan_get_current_fiber()) {
        __tsan_switch_to_fiber(timeline.fiber(), __tsan_switch_to_fiber_no_sync);
    }
    ~OnTimeline() { __tsan_switch_to_fiber(host_, __tsan_switch_to_fiber_no_sync); }

private:
    void* host_;
#else
    explicit OnTimeline(Timeline&) {}
#endif
};
}  // namespace race
