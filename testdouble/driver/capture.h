// Captures of graphs: which calls they forbid, on which threads. What a captured stream is given does not run, since nobody
// replays it here.
#pragma once
#include <memory>
#include <thread>
#include <vector>

#include "results.h"
#include "stream.h"

class Captures {
public:
    // Of the stream, by this thread, in CUDA's mode of this number.
    CUresult begin(const std::shared_ptr<Stream>& stream, int mode);
    // An error where something has ended it before.
    CUresult end(const std::shared_ptr<Stream>& stream);
    bool is_valid(const Stream& stream) const;

    // Ends each capture that forbids a call of this name on this thread; the result for the caller.
    CUresult refuse(const char* name, const Context* context);
    // Ends the capture of this stream, by something that no thread may do.
    CUresult spoil(const Stream& stream, CUresult code);

private:
    struct Capture {
        std::shared_ptr<Stream> stream;
        int mode;
        std::thread::id thread;
        bool valid;
    };
    std::vector<Capture> captures_;
};

// This thread's mode.
extern thread_local int capture_mode;
