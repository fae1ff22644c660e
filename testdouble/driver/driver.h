// The state of the simulated driver, and what every call of it does first.
#pragma once
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "capture.h"
#include "event.h"
#include "faults.h"
#include "memory.h"
#include "module.h"
#include "options.h"
#include "report.h"
#include "results.h"
#include "scheduler.h"

#define CUDA_API extern "C" __attribute__((visibility("default")))

using CUdevice = int;
using CUdeviceptr = unsigned long long;

// A device's primary context; the double has no others.
struct Context {
    CUdevice device;
    int retained = 0;
    std::shared_ptr<Stream> default_stream = nullptr;  // once it is used
    CUresult broken = 0;  // the error that sticks: every later call in this context returns it
    const race::MarkPtr ran = std::make_shared<race::Mark>();  // released after each operation
    std::vector<race::MarkPtr> last_of_destroyed;  // the mark of each destroyed stream's last operation
};

struct Driver {
    std::recursive_mutex lock;
    Options options;
    bool initialized = false;
    std::deque<Context> contexts;  // one per device; a deque, so that they stay where they are
    Scheduler scheduler;
    Captures captures;
    Memory memory;
    Faults faults;
    std::set<Event*> events;
    std::set<Module*> modules;
    std::map<std::string, uint64_t> calls_of;  // by name
    uint64_t calls = 0, faultable_calls = 0, pageable_copies = 0, rendered = 0;
    int problems = 0;
    Stream* running = nullptr;     // whose operation runs now

    // Of a handle; an invalid one ends the call.
    std::shared_ptr<Stream> stream(void* handle);
    Event& event(void* handle);
    Module& module(void* handle);
    Context& context_of(CUdevice device);
    // Ends the call unless the range lies in one allocation of device memory.
    void require_device(CUdeviceptr start, size_t bytes, const char* what);
};
Driver& driver();

// The context that is current on this thread, or nullptr.
extern thread_local Context* current_context;

// Ends a call from within.
struct Refusal {
    CUresult code;
};

enum class Needs {
    nothing,     // also ahead of cuInit; never fails on demand
    init,        // cuInit
    no_context,  // may be called on a thread without one
    context,     // fails where the context is broken
    cleanup,     // needs a context, and frees even where it reports an error: the error is that of earlier work
    last,        // as cleanup, and gives the context itself back
};

// Counts the call, fails on demand, checks what it needs, and runs it. Returns what the application gets.
CUresult enter(const char* name, Needs needs, const std::function<CUresult(Driver&)>& body);
