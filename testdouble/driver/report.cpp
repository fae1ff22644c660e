#include "report.h"

#include <stdarg.h>
#include <stdio.h>

#include <memory>
#include <mutex>
#include <vector>

#include "driver.h"

void problem(const char* format, ...) {
    char text[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    driver().problems++;
    fprintf(stderr, "fakecuda: PROBLEM: %s\n", text);
}

static void report_leaks(Driver& d) {
    size_t allocations[2] = {}, bytes[2] = {}, streams = 0;
    for (const auto& [start, allocation] : d.memory.live()) {
        int kind = allocation.kind == Kind::pinned;
        allocations[kind]++;
        bytes[kind] += allocation.bytes;
    }
    for (const auto& stream : d.scheduler.streams()) streams += !stream->destroyed && !stream->hidden;
    // A library may keep each device that it uses started until the process ends, as CUDA's own runtime does.
    int retained = 0;
    for (const Context& context : d.contexts) retained += context.retained > 1 ? context.retained - 1 : 0;
    if (allocations[0] + allocations[1] + streams + d.events.size() + d.modules.size() + size_t(retained) == 0) return;
    fprintf(stderr,
            "fakecuda: LEAK: %zu device allocations (%zu bytes), %zu pinned (%zu bytes), %zu streams, %zu events, "
            "%zu modules, %d references to contexts too many\n",
            allocations[0], bytes[0], allocations[1], bytes[1], streams, d.events.size(), d.modules.size(), retained);
}

void report_at_exit() {
    Driver& d = driver();
    std::lock_guard<std::recursive_mutex> guard(d.lock);
#ifdef TESTDOUBLE_NULL
    fprintf(stderr, "fakecuda: NULL: nothing was copied, decoded or rendered; all results are rubbish\n");
#endif
    if (!d.options.report) return;
    // What is still queued runs now, to show whether what it uses is still alive.
    for (const auto& stream : std::vector<std::shared_ptr<Stream>>(d.scheduler.streams())) {
        d.scheduler.wait(d.scheduler.end_of(stream));
    }
    report_leaks(d);
    fprintf(stderr,
            "fakecuda: SIMULATED driver, not a GPU: %llu calls, %llu faultable, %llu operations, "
            "%llu copies of pageable memory, peak %zu bytes, %d problems\n",
            (unsigned long long)d.calls, (unsigned long long)d.faultable_calls,
            (unsigned long long)d.scheduler.operations(), (unsigned long long)d.pageable_copies, d.memory.peak(),
            d.problems);
}
