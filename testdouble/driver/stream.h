// Streams: queues of operations, each of which may wait for points in other queues.
#pragma once
#include <stdint.h>

#include <deque>
#include <functional>
#include <memory>
#include <vector>

#include "race.h"

struct Context;
class Stream;

// Behind the `number`th operation of a stream.
struct Point {
    std::shared_ptr<Stream> stream;
    uint64_t number = 0;
    race::MarkPtr reached;
    bool passed() const;
};

struct Operation {
    const char* what;             // for faults and reports: a kernel's name, h2d, d2h, fill, event, wait
    std::function<void()> work;
    std::vector<Point> after;     // besides all earlier operations of its stream
    race::MarkPtr given, done;
};

class Stream {
public:
    Stream(Context* context, int id) : context(context), id(id) {}

    Context* const context;
    const int id;
    bool hidden = false;          // an engine beside the streams, which no application sees
    bool captured = false;        // what it is given belongs to a graph, and does not run
    bool destroyed = false;       // takes no more operations, and goes when the last has run
    std::deque<Operation> queue;
    uint64_t given = 0, finished = 0;
    int pace = -1;                // in random mode, how likely it gets on at a call, of 16; not drawn yet
    race::MarkPtr last;           // the mark of the operation given last
    race::Timeline timeline;

    bool runnable() const;
};
