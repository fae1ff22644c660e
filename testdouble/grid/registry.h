// All kernels that were compiled for the host, by name.
#pragma once
#include <string>

#include "../shim/kernel.h"

// The kernel of this name, or nullptr.
const Kernel* find_kernel(const std::string& name);
