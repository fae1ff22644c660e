#include "live.h"

#include "driver.h"

bool live(const void* start, size_t bytes, Kind kind, const char* what) {
    Driver& d = driver();
    const Allocation* allocation = d.memory.find(start, bytes);
    if (allocation != nullptr && allocation->kind == kind) return true;
    problem("%s: %s memory at %p (%zu bytes) was freed before the operation ran", what,
            kind == Kind::device ? "device" : "pinned", start, bytes);
    d.running->context->broken = result::illegal_address;
    return false;
}
