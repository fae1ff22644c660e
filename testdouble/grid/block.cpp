// Threads share fibers: one that meets no barrier ends on the fiber it began on, and the next thread takes that. So a
// kernel without barriers costs no stack switch per thread, and one with barriers costs a fiber per waiting thread.
#include "block.h"

#include <stdio.h>
#include <stdlib.h>

#include "fiber.h"

namespace {
struct Worker : Fiber {
    Worker();
    unsigned thread = 0;
    bool waiting = false;
    int line = 0;  // of the barrier it waits at
};

struct Block {
    const Launch* launch = nullptr;
    void** parameters = nullptr;
    const std::vector<unsigned>* order = nullptr;
    size_t started = 0, returned = 0;
    std::vector<Worker*> idle, waiting;
};
Block& block() {
    static Block* one = new Block;  // never destroyed: kernels may run while the process ends
    return *one;
}

void become(unsigned thread) {
    const uint3_of_thread& size = testdouble_thread.block_size;
    testdouble_thread.index = {thread % size.x, thread / size.x % size.y, thread / (size.x * size.y)};
}

[[noreturn]] void run_threads() {
    for (;;) {
        Block& b = block();
        Worker* self = static_cast<Worker*>(Fiber::current());
        while (b.started < b.order->size()) {
            self->thread = (*b.order)[b.started++];
            become(self->thread);
            b.launch->kernel->call(b.parameters);
            b.returned++;
        }
        self->waiting = false;
        Fiber::pause();  // until there is another block
    }
}
Worker::Worker() : Fiber(run_threads) {}

void run(Worker* worker) {
    Block& b = block();
    become(worker->thread);
    worker->waiting = false;
    worker->resume();
    (worker->waiting ? b.waiting : b.idle).push_back(worker);
}

Worker* idle_worker() {
    Block& b = block();
    if (b.idle.empty()) return new Worker;
    Worker* worker = b.idle.back();
    b.idle.pop_back();
    return worker;
}

// All threads must meet at one barrier, or all must have returned.
std::string divergence() {
    const Block& b = block();
    if (b.waiting.empty()) return "";
    char text[160];
    int line = b.waiting.front()->line;
    if (b.returned > 0) {
        snprintf(text, sizeof text, "__syncthreads() in line %d was reached by %zu threads of a block, %zu returned without it",
                 line, b.waiting.size(), b.returned);
        return text;
    }
    for (const Worker* worker : b.waiting) {
        if (worker->line == line) continue;
        snprintf(text, sizeof text, "threads of a block wait at different __syncthreads(), in lines %d and %d", line,
                 worker->line);
        return text;
    }
    return "";
}
}  // namespace

extern "C" void testdouble_barrier(int line) {
    Worker* self = static_cast<Worker*>(Fiber::current());
    self->waiting = true;
    self->line = line;
    Fiber::pause();
    become(self->thread);
}

std::string run_block(const Launch& launch, void** parameters, const std::vector<unsigned>& order) {
    Block& b = block();
    b.launch = &launch;
    b.parameters = parameters;
    b.order = &order;
    b.started = b.returned = 0;
    b.waiting.clear();
    while (b.started < order.size()) run(idle_worker());
    while (!b.waiting.empty()) {
        std::string wrong = divergence();
        if (!wrong.empty()) {
            abandon_block();
            return wrong;
        }
        std::vector<Worker*> released;
        released.swap(b.waiting);
        for (Worker* worker : released) run(worker);
    }
    return "";
}

void abandon_block() {
    Fiber::forget_current();
    block().idle.clear();
    block().waiting.clear();
}
