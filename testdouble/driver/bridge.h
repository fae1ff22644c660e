// What the simulated nvJPEG asks of the simulated driver: both are built together, so this is plain C++.
#pragma once
#include <stddef.h>

#include <functional>
#include <memory>

#define BRIDGE __attribute__((visibility("default")))

namespace bridge {
// Whether this thread has a context that work may be given to; says so if not.
BRIDGE bool ready(const char* who);
// Whether this is a stream of the current context; says so if not.
BRIDGE bool is_stream(void* stream, const char* who);
// Whether the range lies in one live allocation of device memory of the current context; says so if not.
BRIDGE bool is_device(const void* start, size_t bytes, const char* who);
// At execution: whether the range is alive; breaks the context if not.
BRIDGE bool still_device(const void* start, size_t bytes, const char* what);
BRIDGE void problem(const char* text);

// Device memory of the current context for nvJPEG's own use, as long as this lives; `start` is nullptr if there is none
// left.
class BRIDGE OwnMemory {
public:
    explicit OwnMemory(size_t bytes);
    ~OwnMemory();
    OwnMemory(const OwnMemory&) = delete;
    void* const start;
};

// Says whether work that was given has ended.
using Ended = std::function<bool()>;

// Puts work behind all that the stream was given.
BRIDGE Ended give(void* stream, const char* what, std::function<void()> work);

// An engine beside the streams, such as the JPEG hardware: what it is told it starts at once, whatever the stream that
// it was told with still has to do. Only later work of the stream waits for it.
class Engine;
BRIDGE std::shared_ptr<Engine> new_engine();
BRIDGE Ended give(const std::shared_ptr<Engine>& engine, void* stream, const char* what, std::function<void()> work);
}  // namespace bridge
