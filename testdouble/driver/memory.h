// Device memory and pinned host memory, both of them memory of this process with a watch over its edges.
#pragma once
#include <stddef.h>
#include <stdint.h>

#include <deque>
#include <map>

struct Context;

enum class Kind { device, pinned };

struct Allocation {
    char* start;
    size_t bytes;
    Kind kind;
    Context* context;
    int number;       // as reports name it
    char* mapping;    // of whole pages, `start` in it; or what malloc gave
    size_t mapped;    // bytes, 0 if it comes from malloc
};

class Memory {
public:
    // A device hands out whole granules, as a driver does: small memory takes as much as its granule.
    void configure(size_t bytes_per_device, size_t alignment, size_t granularity);

    // nullptr if the device's memory does not suffice. The content is rubbish.
    char* allocate(size_t bytes, Kind kind, Context* context);
    // False if nothing of that kind begins there. Whoever touches it from now on is caught.
    bool free(void* start, Kind kind);

    // The allocation that holds the whole range, or nullptr.
    const Allocation* find(const void* start, size_t bytes) const;
    const std::map<char*, Allocation>& live() const { return live_; }
    // What the device's allocations take: whole granules.
    size_t used(const Context* context) const;
    // Bytes of all page-locked allocations.
    size_t pinned() const;
    size_t size() const { return bytes_per_device_; }
    size_t peak() const { return peak_; }

private:
    bool map(Allocation& allocation);
    size_t taken(size_t bytes) const;
    void check_slack(const Allocation& allocation) const;
    void retire(const Allocation& allocation);

    size_t bytes_per_device_ = 0, alignment_ = 256, granularity_ = 1, peak_ = 0;
    int numbers_ = 0;
    std::map<char*, Allocation> live_;
    std::deque<Allocation> quarantine_;
    size_t quarantined_ = 0;
};
