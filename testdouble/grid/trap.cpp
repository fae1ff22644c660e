// SIGSEGV and SIGBUS come from the guard pages around allocations, SIGILL from the checks that the makefile has the
// compiler put into kernels (alignment, array bounds). The sanitizer builds report by themselves and stop the process.
#include "trap.h"

#include <signal.h>

namespace {
thread_local Trap* active = nullptr;
constexpr int watched[] = {SIGSEGV, SIGBUS, SIGILL};
struct sigaction earlier[NSIG];

void on_signal(int signal, siginfo_t* info, void* context) {
    if (Trap* trap = active) {
        trap->signal = signal;
        trap->address = info->si_addr;
        siglongjmp(trap->back, 1);
    }
    // Not a kernel's: whoever was asked before us, such as Rust's report of a stack overflow, or the default.
    const struct sigaction& before = earlier[signal];
    if (before.sa_flags & SA_SIGINFO) {
        before.sa_sigaction(signal, info, context);
    } else if (before.sa_handler != SIG_DFL && before.sa_handler != SIG_IGN) {
        before.sa_handler(signal);
    } else {
        ::signal(signal, SIG_DFL);
    }
}

bool install() {
    struct sigaction action = {};
    action.sa_sigaction = on_signal;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
    for (int signal : watched) sigaction(signal, &action, &earlier[signal]);
    return true;
}
}  // namespace

void watch_for_traps(Trap* trap) {
#if !defined(__SANITIZE_ADDRESS__) && !defined(TESTDOUBLE_TSAN)
    static bool installed = install();
    (void)installed;
    active = trap;
#else
    (void)trap, (void)install, (void)active;
#endif
}
