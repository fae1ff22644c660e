// Failures on demand: the n-th call of a function returns an error, or the n-th operation breaks its context.
#pragma once
#include <stdint.h>

#include <string>
#include <vector>

// `NAME@N:CODE`, several joined by `+`. NAME is a function's, an operation's with `exec-` ahead, `any` or `exec-any`.
class Faults {
public:
    Faults() = default;
    explicit Faults(const std::string& text);
    // The code to fail with, or 0. Counts this event.
    int of_call(const std::string& name) { return strike(name, false); }
    int of_operation(const std::string& name) { return strike(name, true); }

private:
    struct Fault {
        std::string name;
        bool operation;
        uint64_t number, seen;
        int code;
    };
    int strike(const std::string& name, bool operation);
    std::vector<Fault> faults_;
};
