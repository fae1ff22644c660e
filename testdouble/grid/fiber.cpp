// Fibers: two stack switches per barrier and thread, so they must be cheap; ucontext makes a system call for each.
#include "fiber.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/common_interface_defs.h>
#endif

namespace {
// Never touched pages cost nothing, and the sanitizers make frames large.
constexpr size_t stack_bytes = 256 << 10, guard_bytes = 4096;

Fiber* running = nullptr;

#ifdef __SANITIZE_ADDRESS__
// The stack of whoever resumes; AddressSanitizer wants to be told of every switch.
void* resumer_fake_stack = nullptr;
const void* resumer_bottom = nullptr;
size_t resumer_bytes = 0;
#endif

char* new_stack() {
    void* memory = mmap(nullptr, stack_bytes + guard_bytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED || mprotect(memory, guard_bytes, PROT_NONE) != 0) {
        fprintf(stderr, "fakecuda: no memory for a kernel's stack\n");
        abort();
    }
    return static_cast<char*>(memory) + guard_bytes;
}
}  // namespace

#if defined(__x86_64__)
// testdouble_switch(&saved, wanted): keeps the callee-saved registers on the old stack and takes those of the new one.
extern "C" void testdouble_switch(void** saved, void* wanted);
asm(R"(
.text
.globl testdouble_switch
.hidden testdouble_switch
.type testdouble_switch, @function
testdouble_switch:
    pushq %rbp
    pushq %rbx
    pushq %r12
    pushq %r13
    pushq %r14
    pushq %r15
    movq %rsp, (%rdi)
    movq %rsi, %rsp
    popq %r15
    popq %r14
    popq %r13
    popq %r12
    popq %rbx
    popq %rbp
    ret
.size testdouble_switch, .-testdouble_switch
)");

static void* resumer_pointer = nullptr;

Fiber::Fiber(void (*body)()) : body_(body), stack_(new_stack()) {
    void** top = reinterpret_cast<void**>(stack_ + stack_bytes - 64);
    *--top = nullptr;  // where a return address would lie, so that the entry finds the stack aligned as after a call
    *--top = reinterpret_cast<void*>(&Fiber::begin);
    for (int saved_registers = 0; saved_registers < 6; saved_registers++) *--top = nullptr;
    stack_pointer_ = top;
}
void Fiber::switch_to() { testdouble_switch(&resumer_pointer, stack_pointer_); }
void Fiber::switch_back() { testdouble_switch(&stack_pointer_, resumer_pointer); }
#else
static ucontext_t resumer_context;

Fiber::Fiber(void (*body)()) : body_(body), stack_(new_stack()) {
    getcontext(&context_);
    context_.uc_stack.ss_sp = stack_;
    context_.uc_stack.ss_size = stack_bytes;
    context_.uc_link = nullptr;
    makecontext(&context_, &Fiber::begin, 0);
}
void Fiber::switch_to() { swapcontext(&resumer_context, &context_); }
void Fiber::switch_back() { swapcontext(&context_, &resumer_context); }
#endif

void Fiber::begin() {
#ifdef __SANITIZE_ADDRESS__
    __sanitizer_finish_switch_fiber(nullptr, &resumer_bottom, &resumer_bytes);
#endif
    running->body_();
    abort();  // nothing to return to
}

void Fiber::resume() {
    running = this;
#ifdef __SANITIZE_ADDRESS__
    __sanitizer_start_switch_fiber(&resumer_fake_stack, stack_, stack_bytes);
#endif
    switch_to();
#ifdef __SANITIZE_ADDRESS__
    __sanitizer_finish_switch_fiber(resumer_fake_stack, nullptr, nullptr);
#endif
    running = nullptr;
}

void Fiber::pause() {
    Fiber* self = running;
#ifdef __SANITIZE_ADDRESS__
    __sanitizer_start_switch_fiber(&self->fake_stack_, resumer_bottom, resumer_bytes);
#endif
    self->switch_back();
#ifdef __SANITIZE_ADDRESS__
    __sanitizer_finish_switch_fiber(self->fake_stack_, &resumer_bottom, &resumer_bytes);
#endif
}

Fiber* Fiber::current() { return running; }
void Fiber::forget_current() { running = nullptr; }
