#include "driver.h"

#include <stdlib.h>

thread_local Context* current_context = nullptr;

Driver& driver() {
    // Never destroyed: other threads may still call while the process ends.
    static Driver* one = [] {
        Driver* d = new Driver;
        d->options = parse_options(getenv("FAKECUDA"));
        d->faults = Faults(d->options.faults);
        d->scheduler.start(d->options.mode, d->options.seed);
        d->memory.configure(d->options.memory, d->options.alignment, d->options.granularity);
        for (int device = 0; device < d->options.devices; device++) d->contexts.push_back({device});
        return d;
    }();
    return *one;
}

std::shared_ptr<Stream> Driver::stream(void* handle) {
    if (handle == nullptr && options.default_stream && current_context != nullptr) {
        // The loader's streams do not wait for it, so it is one like any other.
        std::shared_ptr<Stream>& stream = current_context->default_stream;
        if (!stream) {
            stream = scheduler.create(current_context);
            stream->hidden = true;
        }
        return stream;
    }
    if (handle == nullptr) {
        problem("the default stream is used, which orders a trainer's work with ours");
        throw Refusal{result::invalid_handle};
    }
    auto stream = scheduler.find(handle);
    if (!stream) {
        problem("%p is no stream, or no more", handle);
        throw Refusal{result::invalid_handle};
    }
    if (stream->context != current_context) {
        problem("stream %d belongs to another device than the current context", stream->id);
        throw Refusal{result::invalid_context};
    }
    return stream;
}

Event& Driver::event(void* handle) {
    auto found = events.find(static_cast<Event*>(handle));
    if (found == events.end()) {
        problem("%p is no event, or no more", handle);
        throw Refusal{result::invalid_handle};
    }
    return **found;
}

Module& Driver::module(void* handle) {
    auto found = modules.find(static_cast<Module*>(handle));
    if (found == modules.end()) {
        problem("%p is no module, or no more", handle);
        throw Refusal{result::invalid_handle};
    }
    return **found;
}

Context& Driver::context_of(CUdevice device) {
    if (device < 0 || device >= options.devices) throw Refusal{result::invalid_device};
    return contexts[size_t(device)];
}

void Driver::require_device(CUdeviceptr start, size_t bytes, const char* what) {
    const Allocation* allocation = memory.find(reinterpret_cast<void*>(start), bytes);
    if (allocation != nullptr && allocation->kind == Kind::device && allocation->context == current_context) return;
    problem("%s: %zu bytes at %#llx do not lie in one allocation of this device", what, bytes, start);
    throw Refusal{result::invalid_value};
}

// A broken device runs nothing more: whatever it has run happens before anything the host does after it sees the error.
static CUresult broken_by_now(const Context& context) {
    if (context.broken != 0) race::acquire(context.ran);
    return context.broken;
}

static CUresult checked(Driver& d, const char* name, Needs needs, const std::function<CUresult(Driver&)>& body) {
    if (needs == Needs::nothing) return body(d);
    d.faultable_calls++;
    CUresult fault = d.faults.of_call(name);
    if (needs == Needs::init) return fault != 0 ? fault : body(d);
    if (!d.initialized) return result::not_initialized;
    if (needs == Needs::last) {
        CUresult done = body(d);
        return fault != 0 ? fault : done;
    }
    if (fault != 0 && needs != Needs::cleanup) return fault;
    if (needs == Needs::no_context) return body(d);
    if (current_context == nullptr || current_context->retained == 0) {
        problem("%s: no context is current on this thread", name);
        return result::invalid_context;
    }
    d.scheduler.progress();
    const Context& context = *current_context;
    CUresult broken = broken_by_now(context);
    if (broken != 0 && needs == Needs::context) return broken;
    if (CUresult refused = d.captures.refuse(name, current_context)) return refused;
    CUresult done = body(d);
    broken_by_now(context);
    return fault != 0 ? fault : broken != 0 ? broken : done;
}

CUresult enter(const char* name, Needs needs, const std::function<CUresult(Driver&)>& body) {
    Driver& d = driver();
    std::lock_guard<std::recursive_mutex> guard(d.lock);
    d.calls++;
    d.calls_of[name]++;
    if (d.options.stub) return result::stub_library;
    try {
        return checked(d, name, needs, body);
    } catch (const Refusal& refusal) {
        return refusal.code;
    }
}
