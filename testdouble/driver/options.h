// What the environment variable FAKECUDA asks of the simulated driver.
#pragma once
#include <stddef.h>
#include <stdint.h>

#include <string>

enum class Mode {
    sync,    // an operation runs when it is given: what a simple mock would do
    lazy,    // an operation runs when the host waits for it, and not earlier
    random,  // the streams run at paces drawn from the seed, in any order that the events allow
};

struct Options {
    Mode mode = Mode::sync;
    uint64_t seed = 1;
    size_t memory = size_t(4) << 30;  // bytes of each device
    size_t alignment = 256;           // of device and pinned memory
    size_t granularity = size_t(2) << 20;  // in which a device's memory is handed out
    int devices = 1;
    int version = 13000;              // of the driver: 12040 is 12.4
    int capability = 90;              // of the devices: 75 is 7.5
    int multiprocessors = 4;
    bool stub = false;                // the library that a toolkit links against: every call but the version fails
    bool default_stream = false;      // a trainer works on it; nobody else may
    bool report = true;               // leaks and totals at the end
    uint64_t unknown = 0;             // the launch of one of feedline's kernels that reports a code that it does not know
    bool ptx = false;                 // kernels must be those of the PTX and not of the sources
    std::string faults;               // see faults.h
};

// Reads `key=value,...`; a word that it does not know ends the process, since a test would pass for the wrong reason.
Options parse_options(const char* text);
