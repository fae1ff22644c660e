// What every call of the simulated nvJPEG does first, and what is still alive.
#pragma once
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "../driver/bridge.h"
#include "../driver/faults.h"
#include "options.h"
#include "status.h"

#define NVJPEG_API extern "C" __attribute__((visibility("default")))

// The live objects of one kind, by address.
template <class T>
class Live {
public:
    template <class... Arguments>
    Status create(T** handle, Arguments&&... arguments) {
        auto object = std::make_shared<T>(std::forward<Arguments>(arguments)...);
        *handle = object.get();
        objects_[object.get()] = std::move(object);
        return status::success;
    }
    // Ends the call if there is no such object.
    std::shared_ptr<T> find(T* handle) const {
        auto found = objects_.find(handle);
        if (found != objects_.end()) return found->second;
        refuse();
    }
    Status destroy(T* handle) {
        if (objects_.erase(handle) == 1) return status::success;
        refuse();
    }
    size_t size() const { return objects_.size(); }

private:
    [[noreturn]] static void refuse();
    std::map<T*, std::shared_ptr<T>> objects_;
};

// Ends a call from within.
struct NvjpegRefusal {
    Status status;
};
// Ends it and says that no correct program does that.
[[noreturn]] void refuse(const std::string& problem, Status status);

template <class T>
void Live<T>::refuse() {
    ::refuse("nvJPEG was given an object that is none, or no more", status::invalid_parameter);
}

struct Nvjpeg {
    // Held while a call runs; taken before the driver's, never the other way round.
    std::recursive_mutex lock;
    NvjpegOptions options;
    Faults faults;
    uint64_t calls = 0;
    uint64_t images = 0;  // that batches have taken
};
Nvjpeg& nvjpeg();

enum class Kind {
    work,     // may fail on demand
    cleanup,  // frees even where it reports an error
};

// Counts the call, fails on demand, and runs it. Returns what the application gets.
Status enter(const char* name, Kind kind, const std::function<Status()>& body);
inline Status enter(const char* name, const std::function<Status()>& body) { return enter(name, Kind::work, body); }
