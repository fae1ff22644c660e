#include "bridge.h"

#include "driver.h"
#include "live.h"

namespace {
std::lock_guard<std::recursive_mutex> locked() { return std::lock_guard<std::recursive_mutex>(driver().lock); }

bridge::Ended ended(const Point& point) {
    return [point] {
        auto guard = locked();
        return point.passed();
    };
}
}  // namespace

namespace bridge {
// A stream that no application sees.
class Engine {
public:
    Engine() : stream(driver().scheduler.create(current_context)) { stream->hidden = true; }
    ~Engine() {
        auto guard = locked();
        driver().scheduler.destroy(stream);
    }
    const std::shared_ptr<Stream> stream;
};

bool ready(const char* who) {
    auto guard = locked();
    if (current_context != nullptr && current_context->retained > 0) return current_context->broken == 0;
    ::problem("%s: no context is current on this thread", who);
    return false;
}

bool is_stream(void* stream, const char* who) {
    auto guard = locked();
    try {
        driver().stream(stream);
        return true;
    } catch (const Refusal&) {
        ::problem("%s was given that stream", who);
        return false;
    }
}

bool is_device(const void* start, size_t bytes, const char* who) {
    auto guard = locked();
    try {
        driver().require_device(reinterpret_cast<CUdeviceptr>(start), bytes, who);
        return true;
    } catch (const Refusal&) {
        return false;
    }
}

bool still_device(const void* start, size_t bytes, const char* what) {
    // Operations run under the lock already, and ThreadSanitizer would take the stream's timeline for another thread.
    return live(start, bytes, Kind::device, what);
}

void problem(const char* text) { ::problem("%s", text); }

OwnMemory::OwnMemory(size_t bytes)
    : start([bytes] {
          auto guard = locked();
          return driver().memory.allocate(bytes, Kind::device, current_context);
      }()) {}

OwnMemory::~OwnMemory() {
    auto guard = locked();
    if (start != nullptr) driver().memory.free(start, Kind::device);
}

Ended give(void* stream, const char* what, std::function<void()> work) {
    auto guard = locked();
    return ended(driver().scheduler.give(driver().stream(stream), {what, std::move(work), {}, {}, {}}));
}

std::shared_ptr<Engine> new_engine() {
    auto guard = locked();
    return std::make_shared<Engine>();
}

Ended give(const std::shared_ptr<Engine>& engine, void* stream, const char* what, std::function<void()> work) {
    auto guard = locked();
    Driver& d = driver();
    auto own = d.stream(stream);
    Point written = d.scheduler.give(engine->stream, {what, std::move(work), {}, {}, {}}, true);
    d.scheduler.give(own, {"wait", [] {}, {written}, {}, {}});
    return ended(written);
}
}  // namespace bridge
