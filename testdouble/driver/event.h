// An event: where in a stream it was recorded last, and when that was passed.
#pragma once
#include <memory>

#include "stream.h"

struct Event {
    bool timed;
    Context* context;
    Point point;                          // passed from the start, until it is recorded
    bool captured = false;                // recorded in a graph
    std::shared_ptr<double> passed_at;    // milliseconds; of its own for each recording
};
