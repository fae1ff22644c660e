#include "scheduler.h"

#include <algorithm>

#include "driver.h"

bool Point::passed() const { return !stream || stream->finished >= number; }

bool Stream::runnable() const {
    if (queue.empty()) return false;
    const std::vector<Point>& after = queue.front().after;
    return std::all_of(after.begin(), after.end(), [](const Point& point) { return point.passed(); });
}

void Scheduler::start(Mode mode, uint64_t seed) {
    mode_ = mode;
    seed_ = seed;
    random_.seed(seed);
}

std::shared_ptr<Stream> Scheduler::create(Context* context) {
    streams_.push_back(std::make_shared<Stream>(context, ++ids_));
    return streams_.back();
}

void Scheduler::destroy(const std::shared_ptr<Stream>& stream) {
    stream->destroyed = true;
    auto over = [](const std::shared_ptr<Stream>& s) { return s->destroyed && s->queue.empty(); };
    streams_.erase(std::remove_if(streams_.begin(), streams_.end(), over), streams_.end());
}

std::shared_ptr<Stream> Scheduler::find(void* handle) const {
    for (const auto& stream : streams_) {
        if (stream.get() == handle && !stream->destroyed) return stream;
    }
    return nullptr;
}

Point Scheduler::give(const std::shared_ptr<Stream>& stream, Operation operation, bool at_once) {
    operation.given = std::make_shared<race::Mark>();
    operation.done = std::make_shared<race::Mark>();
    race::release(operation.given);
    stream->last = operation.done;
    stream->queue.push_back(std::move(operation));
    stream->given++;
    if (mode_ == Mode::random) {
        progress();
    } else if (mode_ == Mode::sync || at_once) {
        while (stream->runnable()) run_next(*stream);
    }
    return end_of(stream);
}

Point Scheduler::end_of(const std::shared_ptr<Stream>& stream) const {
    return {stream, stream->given, stream->last};
}

void Scheduler::wait(const Point& point) {
    // Half of the waits run only what they need, so that other streams are found far behind.
    if (mode_ == Mode::random && random_() % 2) {
        while (!point.passed() && step()) {
        }
    }
    run_to(point);
    race::acquire(point.reached);
}

void Scheduler::poll(const Point& point) {
    if (!point.passed()) {
        // A host that only ever asks must see an end of it, in lazy mode too.
        if (mode_ == Mode::lazy && point.stream->runnable()) run_next(*point.stream);
        else step();
    }
    if (point.passed()) race::acquire(point.reached);
}

// How busy the device is while the host does something else is drawn once per seed: never, seldom, often, always.
// So seeds are very different from each other, and four of them already show a device that lags and one that leads.
void Scheduler::progress() {
    if (mode_ != Mode::random) return;
    static constexpr unsigned eager_of_16[] = {0, 2, 8, 16};
    if (random_() % 16 >= eager_of_16[seed_ % 4]) return;
    for (unsigned steps = 1 + random_() % 8; steps > 0 && step(); steps--) {
    }
}

// The stream of the highest priority runs; now and then one gets another priority. With few such changes this finds
// orders that a fair choice at each step almost never draws (probabilistic concurrency testing).
bool Scheduler::step() {
    std::vector<Stream*> ready;
    for (const auto& stream : streams_) {
        if (!stream->runnable()) continue;
        if (stream->priority == 0) stream->priority = random_() | 1;
        ready.push_back(stream.get());
    }
    if (ready.empty()) return false;
    if (random_() % 12 == 0) ready[random_() % ready.size()]->priority = random_() | 1;
    auto lower = [](const Stream* a, const Stream* b) { return a->priority < b->priority; };
    run_next(**std::max_element(ready.begin(), ready.end(), lower));
    return true;
}

void Scheduler::run_to(const Point& point) {
    while (!point.passed()) {
        // A copy: running the others may move the queue.
        std::vector<Point> after = point.stream->queue.front().after;
        for (const Point& other : after) run_to(other);
        if (!point.passed()) run_next(*point.stream);
    }
}

void Scheduler::run_next(Stream& stream) {
    Operation operation = std::move(stream.queue.front());
    stream.queue.pop_front();
    Context& context = *stream.context;
    operations_++;
    if (context.broken == 0) context.broken = driver().faults.of_operation(operation.what);
    {
        race::OnTimeline scope(stream.timeline);
        race::acquire(operation.given);
        for (const Point& point : operation.after) race::acquire(point.reached);
        // After an error that sticks nothing runs any more, but all of it counts as done: nobody may wait for ever.
        if (context.broken == 0) {
            driver().running = &context;
            operation.work();
            driver().running = nullptr;
        }
        race::release(operation.done);
    }
    stream.finished++;
#ifdef TESTDOUBLE_TSAN
    finished_.push_back(std::move(operation));
#endif
}
