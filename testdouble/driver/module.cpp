#include "module.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>

#include <sstream>
#include <vector>

#include "../grid/registry.h"
#include "report.h"

namespace {
// The oldest driver that takes a PTX version: 7.x came with CUDA 11.x, 8.x with 12.x, 9.x with 13.x, and 8.6 with 12.7.
int driver_for(int major, int minor) {
    if (major == 8 && minor >= 6) minor++;
    return (major + 4) * 1000 + minor * 10;
}

// Blanks comments, which may hold anything.
std::string without_comments(std::string text) {
    for (size_t at = text.find('/'); at != std::string::npos; at = text.find('/', at + 1)) {
        bool line = text.compare(at, 2, "//") == 0;
        if (!line && text.compare(at, 2, "/*") != 0) continue;
        size_t end = line ? text.find('\n', at) : text.find("*/", at + 2);
        end = end == std::string::npos ? text.size() : end + (line ? 0 : 2);
        text.replace(at, end - at, end - at, ' ');
    }
    return text;
}

// `.param .u64 .ptr .align 1 name` or `.param .align 8 .b8 name[56]`.
Parameter parameter_of(const std::string& text) {
    unsigned bytes = 0, alignment = 0, count = 0;
    std::istringstream words(text);
    for (std::string word; words >> word;) {
        bool type = word.size() >= 3 && word[0] == '.' && isdigit(static_cast<unsigned char>(word[2]));
        size_t bracket = word.find('[');
        if (type) bytes = unsigned(atoi(word.c_str() + 2)) / 8;
        else if (bracket != std::string::npos) count = unsigned(atoi(word.c_str() + bracket + 1));
        else if (word == ".align") words >> alignment;
    }
    // A pointer's alignment is that of what it points at.
    if (count == 0) return {(unsigned short)bytes, (unsigned short)bytes, ParameterKind::value};
    return {(unsigned short)(bytes * count), (unsigned short)alignment, ParameterKind::value};
}

std::vector<Parameter> parameters_of(const std::string& list) {
    std::vector<Parameter> parameters;
    for (size_t at = list.find(".param"); at != std::string::npos; at = list.find(".param", at + 1)) {
        parameters.push_back(parameter_of(list.substr(at, list.find(',', at) - at)));
    }
    return parameters;
}

void compare(const Kernel& kernel, const std::vector<Parameter>& parameters) {
    if (parameters.size() != kernel.parameters) {
        problem("kernel %s: the module has %zu parameters, the sources %u", kernel.name, parameters.size(),
                kernel.parameters);
        return;
    }
    for (size_t i = 0; i < parameters.size(); i++) {
        const Parameter &theirs = parameters[i], &ours = kernel.parameter[i];
        if (theirs.bytes == ours.bytes && theirs.alignment == ours.alignment) continue;
        problem("kernel %s, parameter %zu: the module has %u bytes aligned to %u, the sources %u and %u", kernel.name,
                i, theirs.bytes, theirs.alignment, ours.bytes, ours.alignment);
    }
}

// FNV-1a, 64 bits, as testdouble/ptx/translate.py computes it.
uint64_t hash_of(const std::string& text) {
    uint64_t state = 0xCBF29CE484222325;
    for (unsigned char byte : text) state = (state ^ byte) * 0x100000001B3;
    return state;
}

// `.maxntid 256` or `.maxntid 16, 16, 1`.
unsigned most_threads(const std::string& directives) {
    size_t at = directives.find(".maxntid");
    if (at == std::string::npos) at = directives.find(".reqntid");
    unsigned x = 1, y = 1, z = 1;
    if (at == std::string::npos || sscanf(directives.c_str() + at + 8, "%u , %u , %u", &x, &y, &z) < 1) return 1024;
    return x * y * z;
}

// Is what runs what was given? The planted kernels have no PTX of their own.
void check_origin(const Kernel& kernel, uint64_t text, bool from_ptx) {
    bool planted = std::string(kernel.name).rfind("planted_", 0) == 0;
    if (from_ptx && kernel.ptx == 0 && !planted) {
        problem("kernel %s was compiled from its source, and its PTX was asked for", kernel.name);
    }
    if (kernel.ptx != 0 && kernel.ptx != text) {
        problem("kernel %s: the module is another text than the PTX that runs here", kernel.name);
    }
}

// The head of one kernel, from its name to the brace that opens its body.
const Kernel* add_kernel(const std::string& head, Module& module) {
    size_t open = head.find('('), close = head.find(')');
    std::string name = head.substr(0, head.find_first_of(" \t\n("));
    std::string list = open < close && close != std::string::npos ? head.substr(open, close - open) : "";
    const Kernel* kernel = find_kernel(name);
    if (kernel == nullptr) {
        problem("kernel %s is in the module, but no source of it was compiled for the host", name.c_str());
        return nullptr;
    }
    compare(*kernel, parameters_of(list));
    std::string directives = close == std::string::npos ? head : head.substr(close);
    module.functions[name].reset(new Function{kernel, &module, most_threads(directives)});
    return kernel;
}
}  // namespace

CUresult load_ptx(const char* image, const Options& options, Module& module, std::string& why) {
    std::string text = without_comments(image);
    int major = 0, minor = 0, target = 0;
    size_t version = text.find(".version"), architecture = text.find(".target");
    if (version == std::string::npos || architecture == std::string::npos ||
        sscanf(text.c_str() + version, ".version %d.%d", &major, &minor) != 2 ||
        sscanf(text.c_str() + architecture, ".target sm_%d", &target) != 1) {
        why = "ptxas fatal: Missing .version or .target directive";
        return result::invalid_ptx;
    }
    if (driver_for(major, minor) > options.version) {
        char wrong[96];
        snprintf(wrong, sizeof wrong, "ptxas fatal: Unsupported .version %d.%d", major, minor);
        why = wrong;
        return result::unsupported_ptx_version;
    }
    if (target > options.capability) {
        why = "ptxas fatal: SM version of the code is above that of the device";
        return result::invalid_ptx;
    }
    for (size_t at = text.find(".entry "); at != std::string::npos; at = text.find(".entry ", at + 1)) {
        size_t name = text.find_first_not_of(" \t\n", at + 7), body = text.find('{', name);
        if (body == std::string::npos) break;
        const Kernel* kernel = add_kernel(text.substr(name, body - name), module);
        if (kernel != nullptr) check_origin(*kernel, hash_of(image), options.ptx);
    }
    return result::success;
}
