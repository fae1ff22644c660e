// Turns a kernel's bad access into a result, as a GPU does, instead of the end of the process.
#pragma once
#include <setjmp.h>

struct Trap {
    sigjmp_buf back;
    int signal;
    void* address;
};

// Watches this thread while `trap` is given; nullptr ends it. Where a signal comes, it jumps to trap->back.
void watch_for_traps(Trap* trap);
