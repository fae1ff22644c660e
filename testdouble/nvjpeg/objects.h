// nvJPEG's objects, as the double has them.
#pragma once

#include "../driver/race.h"
#include "call.h"
#include "pixels.h"

struct Handle {
    explicit Handle(int backend) : backend(backend) {}
    const int backend;
};

struct Parameters {
    int format = format_rgb_interleaved;
    Roi roi;
};

// A parsed file. The bytes stay the caller's.
struct JpegStream {
    const unsigned char* bytes = nullptr;
    size_t length = 0;
    uint64_t hash = 0;      // of the bytes as they were parsed
    JpegHeader header;
    bool spoiled = false;   // a file that could not be parsed leaves the parser unusable
};

struct JpegDecoder {
    int backend;
};

// Pinned or device memory that a state works in: which image it holds, and for ThreadSanitizer a byte of it.
struct WorkBuffer {
    std::shared_ptr<const Pixels> image;
    bool destroyed = false;
    char byte = 0;
};
struct PinnedBuffer : WorkBuffer {};
struct DeviceBuffer : WorkBuffer {};

struct JpegState {
    // What a state takes of the device's memory, whatever it is for.
    const bridge::OwnMemory memory{size_t(64) << 10};
    // Of the batched calls.
    int batch = 0;                              // 0: not initialised, or spoiled by a batch that failed
    std::shared_ptr<bridge::Engine> engine;     // of the hardware, made at its first use
    bridge::Ended ended;                        // whether the last batch is decoded; empty ahead of the first
    std::vector<std::function<void()>> late;    // what is written when the state is destroyed, long after its stream went on
    // Of the phases.
    std::shared_ptr<PinnedBuffer> pinned;
    std::shared_ptr<DeviceBuffer> device;
    std::shared_ptr<const Pixels> decoded;      // by the host phase, not transferred yet
    std::shared_ptr<const Pixels> transferred;  // by the second phase, not written yet
};

struct Objects {
    Live<Handle> handles;
    Live<JpegState> states;
    Live<JpegStream> streams;
    Live<Parameters> parameters;
    Live<JpegDecoder> decoders;
    Live<PinnedBuffer> pinned;
    Live<DeviceBuffer> device;

    size_t count() const {
        return handles.size() + states.size() + streams.size() + parameters.size() + decoders.size() + pinned.size() +
               device.size();
    }
};
Objects& objects();

uint64_t hash_of(const unsigned char* bytes, size_t length);

// Whether the target holds the image: ends the call with a word about it if not.
void check_target(const OutputImage& target, int width, int height, const char* who);
// At execution: writes the rows, if the target is still alive.
void write_rows(const OutputImage& target, const Pixels& pixels);
// Ends the call where no work can be given to this stream, or none at all.
void check_stream(void* stream, const char* who);
