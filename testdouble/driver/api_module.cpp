// Modules and kernel launches.
#include <stdio.h>
#include <string.h>

#include <vector>

#include "../../kernels/layout.h"
#include "../grid/grid.h"
#include "cubin.h"
#include "driver.h"

namespace {
// CUjit_option: a buffer for the translator's words, and its size in the place of a pointer.
constexpr int error_log_buffer = 5, error_log_bytes = 6;

void write_log(const std::string& why, unsigned count, const int* options, void** values) {
    char* buffer = nullptr;
    size_t bytes = 0;
    for (unsigned i = 0; i < count; i++) {
        if (options[i] == error_log_buffer) buffer = static_cast<char*>(values[i]);
        if (options[i] == error_log_bytes) bytes = reinterpret_cast<size_t>(values[i]);
    }
    if (buffer != nullptr && bytes > 0) snprintf(buffer, bytes, "%s", why.c_str());
}
}  // namespace

CUDA_API CUresult cuModuleLoadDataEx(void** handle, const void* image, unsigned count, int* options, void** values) {
    return enter(__func__, Needs::context, [&](Driver& d) -> CUresult {
        if (image == nullptr) return result::invalid_value;
        auto module = std::make_unique<Module>();
        std::string why;
        d.calls_of[is_cubin(image) ? "a module of a cubin" : "a module of PTX"]++;
        CUresult code = is_cubin(image)
            ? load_cubin(image, d.options, *module)
            : load_ptx(static_cast<const char*>(image), d.options, *module, why);
        if (code != 0) {
            write_log(why, count, options, values);
            return code;
        }
        d.modules.insert(module.get());
        *handle = module.release();
        return result::success;
    });
}

CUDA_API CUresult cuModuleLoadData(void** handle, const void* image) {
    return cuModuleLoadDataEx(handle, image, 0, nullptr, nullptr);
}

CUDA_API CUresult cuModuleUnload(void* handle) {
    return enter(__func__, Needs::cleanup, [&](Driver& d) -> CUresult {
        Module* module = &d.module(handle);
        d.modules.erase(module);  // a launch that is still queued notices
        delete module;
        return result::success;
    });
}

CUDA_API CUresult cuModuleGetFunction(Function** function, void* handle, const char* name) {
    return enter(__func__, Needs::context, [&](Driver& d) -> CUresult {
        Module& module = d.module(handle);
        auto found = module.functions.find(name);
        if (found == module.functions.end()) return result::not_found;
        d.calls_of["kernel " + found->first]++;
        *function = found->second.get();
        return result::success;
    });
}

namespace {
bool within_limits(const Launch& launch, unsigned most_threads) {
    const unsigned *grid = launch.grid, *block = launch.block;
    for (int axis = 0; axis < 3; axis++) {
        if (grid[axis] == 0 || block[axis] == 0) return false;
    }
    return grid[0] <= 0x7FFFFFFF && grid[1] <= 65535 && grid[2] <= 65535 && block[0] <= 1024 && block[1] <= 1024 &&
           block[2] <= 64 && uint64_t(block[0]) * block[1] * block[2] <= most_threads;
}

// Parameters are copied when the launch is given, as CUDA does.
using Values = std::vector<std::vector<uint64_t>>;

Values copied(Driver& d, const Kernel& kernel, void** parameters) {
    Values values;
    for (unsigned i = 0; i < kernel.parameters; i++) {
        const Parameter& parameter = kernel.parameter[i];
        values.emplace_back(size_t(parameter.bytes + 7) / 8);
        memcpy(values.back().data(), parameters[i], parameter.bytes);
        void* at = reinterpret_cast<void*>(values.back()[0]);
        if (parameter.kind == ParameterKind::pointer && at != nullptr && d.memory.find(at, 1) == nullptr) {
            problem("%s: parameter %u, %p, is no address of device or pinned memory", kernel.name, i, at);
            throw Refusal{result::invalid_value};
        }
    }
    return values;
}

// The order of a block's threads is another one in each mode, and another one for each launch in random mode.
Order order_of(const Scheduler& scheduler) {
    switch (scheduler.mode()) {
        case Mode::sync: return {Order::forwards, 0};
        case Mode::lazy: return {Order::backwards, 0};
        default: return {Order::shuffled, scheduler.seed() * 1000003 + scheduler.operations()};
    }
}

void run(Launch launch, const Values& values, const Module* module) {
    Driver& d = driver();
    // The kernel's name lies in our own code, not in the module, so it may be told either way.
    if (d.modules.count(const_cast<Module*>(module)) == 0) {
        problem("%s: its module was unloaded before it ran", launch.kernel->name);
    }
    std::vector<void*> pointers;
    for (const auto& value : values) pointers.push_back(const_cast<uint64_t*>(value.data()));
    launch.order = order_of(d.scheduler);
    launch.stream = d.running->id;
    Outcome outcome;
    run_grid(launch, pointers.data(), outcome);
    bool renders = !strcmp(launch.kernel->name, "render") || !strcmp(launch.kernel->name, "crop");
    if (d.options.unknown != 0 && renders && ++d.rendered == d.options.unknown) {
        // As a kernel does that is older than the library; see kernels/color.cuh.
        const Batch& batch = *reinterpret_cast<const Batch*>(values[0][0]);
        *reinterpret_cast<uint32_t*>(batch.errors) = FEEDLINE_ERROR_COLOR_OP | 99;
    }
    if (outcome.code == 0) return;
    problem("%s", outcome.what);
    d.running->context->broken = outcome.code;
}
}  // namespace

CUDA_API CUresult cuLaunchKernel(Function* function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                                 unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared_bytes,
                                 void* stream_handle, void** parameters, void** extra) {
    return enter(__func__, Needs::context, [&](Driver& d) -> CUresult {
        auto stream = d.stream(stream_handle);
        if (function == nullptr) return result::invalid_handle;
        // Dynamic shared memory is not part of the dialect.
        if (extra != nullptr || shared_bytes != 0) return result::not_supported;
        Launch launch = {function->kernel, {grid_x, grid_y, grid_z}, {block_x, block_y, block_z}, {}, 0};
        if (!within_limits(launch, function->most_threads)) return result::invalid_value;
        Values values = copied(d, *function->kernel, parameters);
        const Module* module = function->module;
        d.scheduler.give(stream, {function->kernel->name, [=] { run(launch, values, module); }, {}, {}, {}});
        return result::success;
    });
}
