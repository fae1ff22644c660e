// Threads share fibers: one that meets no barrier ends on the fiber it began on, and the next thread takes that. So a
// kernel without barriers costs no stack switch per thread, and one with barriers costs a fiber per waiting thread.
#include "block.h"

#include <stdlib.h>

#include <map>

#include "../driver/results.h"
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
    std::map<int, std::vector<Worker*>> stacks;
    std::vector<Worker*>* idle = nullptr;  // of the stream that runs
    std::vector<Worker*> waiting;
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
    (worker->waiting ? b.waiting : *b.idle).push_back(worker);
}

Worker* idle_worker() {
    Block& b = block();
    if (b.idle->empty()) return new Worker;
    Worker* worker = b.idle->back();
    b.idle->pop_back();
    return worker;
}

// All threads must meet at one barrier, or all must have returned.
void check_divergence(Outcome& outcome) {
    const Block& b = block();
    const char* name = b.launch->kernel->name;
    int line = b.waiting.front()->line;
    if (b.returned > 0) {
        outcome.fail(result::launch_failed,
                     "%s: __syncthreads() in line %d was reached by %zu threads of a block, %zu returned without it",
                     name, line, b.waiting.size(), b.returned);
        return;
    }
    for (const Worker* worker : b.waiting) {
        if (worker->line == line) continue;
        outcome.fail(result::launch_failed, "%s: threads of a block wait at different __syncthreads(), in lines %d and %d",
                     name, line, worker->line);
        return;
    }
}
}  // namespace

extern "C" void testdouble_barrier(int line) {
    Worker* self = static_cast<Worker*>(Fiber::current());
    self->waiting = true;
    self->line = line;
    Fiber::pause();
    become(self->thread);
}

void run_block(const Launch& launch, void** parameters, const std::vector<unsigned>& order, Outcome& outcome) {
    Block& b = block();
    b.launch = &launch;
    b.parameters = parameters;
    b.order = &order;
    b.started = b.returned = 0;
    b.waiting.clear();
    while (b.started < order.size()) run(idle_worker());
    while (!b.waiting.empty()) {
        check_divergence(outcome);
        if (outcome.code != 0) return abandon_block();
        std::vector<Worker*> released(b.waiting);
        b.waiting.clear();
        for (Worker* worker : released) run(worker);
    }
}

void abandon_block() {
    Fiber::forget_current();
    block().idle->clear();
    block().waiting.clear();
}

void use_stacks_of(int stream) {
#ifndef TESTDOUBLE_TSAN
    stream = 0;  // all may use the same
#endif
    Block& b = block();
    // Room for the largest block, so that they never grow where ThreadSanitizer would see it.
    b.waiting.reserve(1024);
    b.idle = &b.stacks[stream];
    b.idle->reserve(1024);
}
