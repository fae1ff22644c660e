// When the operations of the streams run. They run on the threads that call the driver, one at a time, under its lock.
#pragma once
#include <map>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "options.h"
#include "stream.h"

class Scheduler {
public:
    void start(Mode mode, uint64_t seed);

    std::shared_ptr<Stream> create(Context* context);
    // What the stream still holds runs on; then it is gone.
    void destroy(const std::shared_ptr<Stream>& stream);
    // The live stream of this handle, or nullptr.
    std::shared_ptr<Stream> find(void* handle) const;
    const std::vector<std::shared_ptr<Stream>>& streams() const { return streams_; }

    // An operation of the context that has not run, or nullptr.
    const Operation* next_of(const Context* context) const;

    // Puts an operation behind all others of the stream. `at_once`: it does not wait for the host's next call; for
    // engines beside the streams, which start when they are told.
    Point give(const std::shared_ptr<Stream>& stream, Operation operation, bool at_once = false);
    // Behind all that the stream was given.
    Point end_of(const std::shared_ptr<Stream>& stream) const;

    // The host waits.
    void wait(const Point& point);
    // The host asks: gives what it asks for a chance to have run.
    void poll(const Point& point);
    // Random mode, at any call: the device works while the host goes on.
    void progress();

    uint64_t operations() const { return operations_; }
    // How many of this name were given so far.
    uint64_t given(const std::string& what) const {
        auto found = given_.find(what);
        return found == given_.end() ? 0 : found->second;
    }
    // Milliseconds that the simulated device has worked: the same in every run of one seed, unlike a clock.
    double milliseconds() const { return double(operations_) * 0.01; }
    Mode mode() const { return mode_; }
    uint64_t seed() const { return seed_; }

private:
    void run_to(const Point& point);
    void run_one_towards(const Point& point);
    void run_next(Stream& stream);

    Mode mode_ = Mode::sync;
    uint64_t seed_ = 1;
    std::mt19937_64 random_;
    std::vector<std::shared_ptr<Stream>> streams_;
    uint64_t operations_ = 0;
    std::map<std::string, uint64_t> given_;
    int ids_ = 0;
    // Freeing what another timeline read would look like a race, so ThreadSanitizer's build keeps them all.
    std::vector<Operation> finished_;
};
