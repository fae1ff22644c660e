// A module: the kernels that a PTX text holds, each with its host-compiled twin.
#pragma once
#include <map>
#include <memory>
#include <string>

#include "../shim/kernel.h"
#include "options.h"
#include "results.h"

struct Module;

struct Function {
    const Kernel* kernel;
    const Module* module;
    unsigned most_threads;  // of a block, as __launch_bounds__ says
};

struct Module {
    std::map<std::string, std::unique_ptr<Function>> functions;
};

// Reads the heads of the text's kernels and compares them with what was compiled for the host; a kernel that was
// translated from PTX must come from this very text. `why` is what a driver would write into the log.
CUresult load_ptx(const char* text, const Options& options, Module& module, std::string& why);
