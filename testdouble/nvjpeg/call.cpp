#include "call.h"

#include <stdio.h>
#include <stdlib.h>

#include "objects.h"

static void report() {
    Nvjpeg& n = nvjpeg();
    std::lock_guard<std::recursive_mutex> guard(n.lock);
    size_t leaked = objects().count();
    if (leaked > 0) {
        fprintf(stderr,
                "fakenvjpeg: LEAK: %zu handles, %zu states, %zu streams, %zu parameters, %zu decoders, %zu pinned and "
                "%zu device buffers\n",
                objects().handles.size(), objects().states.size(), objects().streams.size(),
                objects().parameters.size(), objects().decoders.size(), objects().pinned.size(),
                objects().device.size());
    }
    fprintf(stderr, "fakenvjpeg: SIMULATED nvJPEG: %llu nvJPEG calls\n", (unsigned long long)n.calls);
}

Nvjpeg& nvjpeg() {
    // Never destroyed: other threads may still call while the process ends.
    static Nvjpeg* one = [] {
        Nvjpeg* n = new Nvjpeg;
        n->options = parse_nvjpeg_options(getenv("FAKENVJPEG"));
        n->faults = Faults(n->options.faults);
        atexit(report);
        return n;
    }();
    return *one;
}

void refuse(const std::string& problem, Status status) {
    bridge::problem(problem.c_str());
    throw NvjpegRefusal{status};
}

Status enter(const char* name, Kind kind, const std::function<Status()>& body) {
    Nvjpeg& n = nvjpeg();
    std::lock_guard<std::recursive_mutex> guard(n.lock);
    n.calls++;
    Status fault = n.faults.of_call(name);
    if (fault != 0 && kind == Kind::work) return fault;
    try {
        Status done = body();
        return fault != 0 ? fault : done;
    } catch (const NvjpegRefusal& refusal) {
        return refusal.status;
    }
}
