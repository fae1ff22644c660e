// The simulated libnvidia-ml.so.1: which GPUs there are, what they are called, how busy they are, and their memory.
//
// FAKENVML lists the GPUs, separated by `;`, and for each, separated by `,`:
//   NAME             what it is called; this comes first
//   busy=N/N         utilization in percent, at one look after another
//   used=N,total=N   its memory in MiB
//   lost             it has fallen off the bus
// What is left out, that GPU does not report. `init=STATUS` in place of the list makes the library fail to start.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <atomic>
#include <deque>
#include <mutex>
#include <sstream>
#include <string>
#include <vector>

#define NVML_API extern "C" __attribute__((visibility("default")))

namespace {
enum Status {
    success = 0,
    uninitialized = 1,
    invalid_argument = 2,
    not_supported = 3,
    insufficient_size = 7,
    gpu_is_lost = 15,
    version_mismatch = 25,
};

struct Gpu {
    std::string name;
    std::vector<unsigned> busy;
    std::atomic<size_t> looks{0};
    unsigned long long used = 0, total = 0;
    bool lost = false;
};

struct Utilization {
    unsigned gpu, memory;
};

struct Memory {
    unsigned version;
    unsigned long long total, reserved, free, used;
};

struct Library {
    std::mutex lock;
    unsigned users = 0;
    int refusal = success;
    std::deque<Gpu> gpus;
};

void problem(const char* what) { fprintf(stderr, "PROBLEM: NVML: %s\n", what); }

void read_word(const std::string& word, Gpu& gpu) {
    if (word == "lost") {
        gpu.lost = true;
    } else if (word.rfind("busy=", 0) == 0) {
        std::istringstream numbers(word.substr(5));
        for (std::string number; std::getline(numbers, number, '/');) gpu.busy.push_back(unsigned(std::stoul(number)));
    } else if (sscanf(word.c_str(), "used=%llu", &gpu.used) != 1 && sscanf(word.c_str(), "total=%llu", &gpu.total) != 1) {
        fprintf(stderr, "fakenvml: FAKENVML: unknown word '%s'\n", word.c_str());
        abort();
    }
}

Library& library() {
    static Library library;
    static std::once_flag once;
    std::call_once(once, [] {
        const char* text = getenv("FAKENVML");
        if (text == nullptr || sscanf(text, "init=%d", &library.refusal) == 1) return;
        std::istringstream gpus(text);
        for (std::string one; std::getline(gpus, one, ';');) {
            std::istringstream words(one);
            Gpu& gpu = library.gpus.emplace_back();
            std::getline(words, gpu.name, ',');
            for (std::string word; std::getline(words, word, ',');) read_word(word, gpu);
        }
    });
    return library;
}

// Why no call can be made.
Status begun() {
    std::lock_guard<std::mutex> held(library().lock);
    if (library().users > 0) return success;
    problem("a call ahead of nvmlInit_v2, or behind nvmlShutdown");
    return uninitialized;
}

// Why nothing can be asked of a GPU.
Status reached(const Gpu* gpu) {
    if (Status status = begun()) return status;
    for (const Gpu& known : library().gpus) {
        if (&known == gpu) return gpu->lost ? gpu_is_lost : success;
    }
    problem("a device that it did not name");
    return invalid_argument;
}
}  // namespace

NVML_API int nvmlInit_v2() {
    std::lock_guard<std::mutex> held(library().lock);
    if (library().refusal != success) return library().refusal;
    library().users++;
    return success;
}

NVML_API int nvmlShutdown() {
    if (Status status = begun()) return status;
    std::lock_guard<std::mutex> held(library().lock);
    library().users--;
    return success;
}

NVML_API int nvmlDeviceGetCount_v2(unsigned* count) {
    if (Status status = begun()) return status;
    *count = unsigned(library().gpus.size());
    return success;
}

NVML_API int nvmlDeviceGetHandleByIndex_v2(unsigned index, Gpu** gpu) {
    if (Status status = begun()) return status;
    if (index >= library().gpus.size()) return invalid_argument;
    *gpu = &library().gpus[index];
    return (*gpu)->lost ? gpu_is_lost : success;
}

NVML_API int nvmlDeviceGetName(Gpu* gpu, char* name, unsigned length) {
    if (Status status = reached(gpu)) return status;
    if (gpu->name.size() >= length) return insufficient_size;
    memcpy(name, gpu->name.c_str(), gpu->name.size() + 1);
    return success;
}

NVML_API int nvmlDeviceGetUtilizationRates(Gpu* gpu, Utilization* rates) {
    if (Status status = reached(gpu)) return status;
    if (gpu->busy.empty()) return not_supported;
    rates->gpu = gpu->busy[gpu->looks++ % gpu->busy.size()];
    rates->memory = 0;
    return success;
}

NVML_API int nvmlDeviceGetMemoryInfo_v2(Gpu* gpu, Memory* memory) {
    if (Status status = reached(gpu)) return status;
    if (memory->version != (sizeof(Memory) | (2u << 24))) return version_mismatch;
    if (gpu->total == 0) return not_supported;
    memory->total = gpu->total << 20;
    memory->reserved = 0;
    memory->used = gpu->used << 20;
    memory->free = memory->total - memory->used;
    return success;
}
