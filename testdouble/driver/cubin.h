// A cubin: machine code for one architecture, in an ELF file. It is looked at and not run: its kernels run as compiled for
// the host.
#pragma once
#include "module.h"
#include "options.h"

bool is_cubin(const void* image);

// Compares the cubin's architecture with the device's, and its kernels' parameters with what was compiled for the host.
CUresult load_cubin(const void* image, const Options& options, Module& module);
