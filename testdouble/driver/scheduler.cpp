#include "scheduler.h"

#include <string.h>

#include <algorithm>

#include "driver.h"

namespace {
// On the null device nothing happens but what streams need to get on.
bool is_done(const Operation& operation) {
#ifdef TESTDOUBLE_NULL
    return strcmp(operation.what, "event") == 0;
#else
    (void)operation;
    return true;
#endif
}
}  // namespace

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
    stream->context->last_of_destroyed.push_back(stream->last);
    auto over = [](const std::shared_ptr<Stream>& s) { return s->destroyed && s->queue.empty(); };
    streams_.erase(std::remove_if(streams_.begin(), streams_.end(), over), streams_.end());
}

std::shared_ptr<Stream> Scheduler::find(void* handle) const {
    for (const auto& stream : streams_) {
        if (stream.get() == handle && !stream->destroyed) return stream;
    }
    return nullptr;
}

const Operation* Scheduler::next_of(const Context* context) const {
    for (const auto& stream : streams_) {
        if (stream->context == context && !stream->queue.empty()) return &stream->queue.front();
    }
    return nullptr;
}

Point Scheduler::give(const std::shared_ptr<Stream>& stream, Operation operation, bool at_once) {
    if (stream->captured) return {};
    operation.given = std::make_shared<race::Mark>();
    operation.done = std::make_shared<race::Mark>();
    race::release(operation.given);
    given_[operation.what]++;
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
    // Other streams get on only at their own pace, so that they may be found far behind.
    for (unsigned rounds = mode_ == Mode::random ? random_() % 4 : 0; rounds > 0; rounds--) progress();
    run_to(point);
    race::acquire(point.reached);
}

void Scheduler::poll(const Point& point) {
    // A host that only ever asks must see an end of it, whatever the pace.
    if (!point.passed() && (mode_ == Mode::lazy || random_() % 4 == 0)) run_one_towards(point);
    if (point.passed()) race::acquire(point.reached);
}

// Each stream has a pace of its own, which seldom changes: copies are done at once while kernels never start, or the
// other way round. A scheduler that gives all streams the same chance almost never draws such a run, and the mistakes
// of pipelines need them.
void Scheduler::progress() {
    if (mode_ != Mode::random) return;
    for (const auto& stream : std::vector<std::shared_ptr<Stream>>(streams_)) {
        if (stream->pace < 0 || random_() % 128 == 0) {
            static constexpr int paces[] = {0, 1, 4, 16};
            stream->pace = paces[random_() % 4];
        }
        if (int(random_() % 16) >= stream->pace) continue;
        for (unsigned left = 1 + random_() % 4; left > 0 && stream->runnable(); left--) run_next(*stream);
    }
}

void Scheduler::run_one_towards(const Point& point) {
    for (const Point& other : point.stream->queue.front().after) {
        if (!other.passed()) return run_one_towards(Point(other));
    }
    run_next(*point.stream);
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
            driver().running = &stream;
            if (is_done(operation)) operation.work();
            driver().running = nullptr;
        }
        race::release(operation.done);
        race::release(context.ran);
    }
    stream.finished++;
#ifdef TESTDOUBLE_TSAN
    finished_.push_back(std::move(operation));
#endif
}
