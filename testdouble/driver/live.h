// Whether memory is still there when an operation uses it, which may be long after the call that gave the operation.
#pragma once
#include "memory.h"

// If not, says so and breaks the device's context, as an access to unmapped memory does.
bool live(const void* start, size_t bytes, Kind kind, const char* what);
