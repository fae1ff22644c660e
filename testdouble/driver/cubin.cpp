#include "cubin.h"

#include <elf.h>
#include <string.h>

#include <string>
#include <vector>

#include "../grid/registry.h"
#include "report.h"

namespace {
constexpr unsigned cuda_machine = 190;
// Cubins of CUDA 13 keep the architecture elsewhere, and older drivers know nothing of them.
constexpr unsigned char abi_of_13 = 8;

template <typename T>
T read(const char* at) {
    T value;
    memcpy(&value, at, sizeof value);
    return value;
}

struct Section {
    std::string name;
    const char* bytes;
    size_t length;
};

std::vector<Section> sections_of(const char* image, const Elf64_Ehdr& head) {
    auto section = [&](unsigned index) { return read<Elf64_Shdr>(image + head.e_shoff + index * sizeof(Elf64_Shdr)); };
    const char* names = image + section(head.e_shstrndx).sh_offset;
    std::vector<Section> sections;
    for (unsigned index = 0; index < head.e_shnum; index++) {
        Elf64_Shdr one = section(index);
        sections.push_back({names + one.sh_name, image + one.sh_offset, one.sh_type == SHT_NOBITS ? 0 : one.sh_size});
    }
    return sections;
}

// The attributes of a kernel: a byte for the form, one for the attribute, and two for a value or the length of a long one.
void read_attributes(const Section& info, std::vector<unsigned>& parameter_bytes, unsigned& most_threads) {
    constexpr unsigned char long_form = 4, max_threads = 0x05, parameter = 0x17;
    for (size_t at = 0; at + 4 <= info.length;) {
        unsigned char form = static_cast<unsigned char>(info.bytes[at]), attribute = static_cast<unsigned char>(info.bytes[at + 1]);
        unsigned short length = form == long_form ? read<unsigned short>(info.bytes + at + 2) : 0;
        const char* value = info.bytes + at + 4;
        if (form == long_form && attribute == max_threads && length >= 12) {
            most_threads = read<unsigned>(value) * read<unsigned>(value + 4) * read<unsigned>(value + 8);
        }
        if (form == long_form && attribute == parameter && length >= 12) {
            unsigned short ordinal = read<unsigned short>(value + 4);
            if (parameter_bytes.size() <= ordinal) parameter_bytes.resize(size_t(ordinal) + 1);
            parameter_bytes[ordinal] = read<unsigned>(value + 8) >> 18;
        }
        at += 4 + length;
    }
}

void compare(const Kernel& kernel, const std::vector<unsigned>& parameter_bytes) {
    if (parameter_bytes.size() != kernel.parameters) {
        return problem("kernel %s: the cubin has %zu parameters, the sources %u", kernel.name, parameter_bytes.size(),
                       kernel.parameters);
    }
    for (unsigned i = 0; i < kernel.parameters; i++) {
        if (parameter_bytes[i] == kernel.parameter[i].bytes) continue;
        problem("kernel %s, parameter %u: the cubin has %u bytes, the sources %u", kernel.name, i, parameter_bytes[i],
                kernel.parameter[i].bytes);
    }
}
}  // namespace

bool is_cubin(const void* image) { return memcmp(image, ELFMAG, SELFMAG) == 0; }

CUresult load_cubin(const void* image, const Options& options, Module& module) {
    const char* bytes = static_cast<const char*>(image);
    const Elf64_Ehdr head = read<Elf64_Ehdr>(bytes);
    const bool of_13 = head.e_ident[EI_ABIVERSION] >= abi_of_13;
    if (head.e_machine != cuda_machine || (of_13 && options.version < 13000)) return result::invalid_image;
    const int architecture = int(of_13 ? head.e_flags >> 8 : head.e_flags) & 0xFF;
    // Code runs on its own generation of processors, from its own member on.
    if (architecture / 10 != options.capability / 10 || architecture > options.capability) {
        return result::no_binary_for_gpu;
    }
    const std::vector<Section> sections = sections_of(bytes, head);
    for (const Section& text : sections) {
        if (text.name.rfind(".text.", 0) != 0) continue;
        const std::string name = text.name.substr(6);
        const Kernel* kernel = find_kernel(name);
        if (kernel == nullptr) {
            problem("kernel %s is in the cubin, but no source of it was compiled for the host", name.c_str());
            continue;
        }
        unsigned most_threads = 1024;
        std::vector<unsigned> parameter_bytes;
        for (const Section& info : sections) {
            if (info.name == ".nv.info." + name) read_attributes(info, parameter_bytes, most_threads);
        }
        compare(*kernel, parameter_bytes);
        module.functions[name].reset(new Function{kernel, &module, most_threads});
    }
    return result::success;
}
