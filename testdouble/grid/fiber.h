// A fiber: a stack of its own whose code runs until it hands control back. Only one thread at a time may use them.
#pragma once
#include <stddef.h>
#if !defined(__x86_64__)
#include <ucontext.h>
#endif

class Fiber {
public:
    // `body` is started by the first resume and must never return.
    explicit Fiber(void (*body)());
    Fiber(const Fiber&) = delete;

    // Runs the fiber until it pauses.
    void resume();
    // Called by the running fiber: back to whoever resumed it.
    static void pause();
    static Fiber* current();
    // After a jump out of a fiber: none runs any more.
    static void forget_current();

private:
    void switch_to();
    void switch_back();
    static void begin();

    void (*body_)();
    char* stack_;
    void* fake_stack_ = nullptr;  // AddressSanitizer's
#if defined(__x86_64__)
    void* stack_pointer_;
#else
    ucontext_t context_;
#endif
};
