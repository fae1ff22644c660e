// Counts what warps execute, for kernels that are translated with --count: make COUNT=yes KERNELS=ptx.
//
// FAKECUDA_COUNTS names the file that it appends to: for each launch "launch KERNEL BLOCKS STEPS", where STEPS is how often
// threads came to the line that they came to most, a loop's head; and at the end "line KERNEL LINE THREADS WARPS LEAST" for
// each counted line. A warp runs a line in a round of the loop if any of its threads does, as on a device whose threads meet
// again at the loop's head. That is right for a kernel that is one loop. LEAST is for those of many loops, behind each of
// which the threads of a warp meet: there a warp runs a line as often as that thread which runs it most.
#include <stdio.h>
#include <stdlib.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "../../grid/grid.h"

namespace {
struct Ran {
    uint64_t threads = 0, warps = 0, least = 0;
};

struct Counter {
    std::map<std::string, std::map<int, Ran>> lines;
    // By thread of the block that runs: the lines that it came to.
    std::vector<std::vector<int>> threads;
    uint3_of_thread block = {~0u, 0, 0};
    uint64_t steps = 0;
    FILE* file = nullptr;

    Counter() {
        if (const char* path = getenv("FAKECUDA_COUNTS")) file = fopen(path, "a");
    }
    ~Counter() {
        if (!file) return;
        for (const auto& [kernel, ran] : lines) {
            for (const auto& [line, count] : ran) {
                fprintf(file, "line %s %d %llu %llu %llu\n", kernel.c_str(), line, (unsigned long long)count.threads,
                        (unsigned long long)count.warps, (unsigned long long)count.least);
            }
        }
        fclose(file);
    }

    void close_block(const char* kernel) {
        std::map<int, uint64_t> visits;
        for (const auto& thread : threads) {
            for (int line : thread) visits[line]++;
        }
        int head = 0;
        for (const auto& [line, count] : visits) {
            if (count > visits[head]) head = line;
        }
        steps += visits[head];
        for (size_t first = 0; first < threads.size(); first += 32) {
            std::map<int, std::set<uint32_t>> rounds;
            std::map<int, uint64_t> most;
            for (size_t at = first; at < std::min(first + 32, threads.size()); at++) {
                uint32_t round = 0;
                std::map<int, uint64_t> own;
                for (int line : threads[at]) {
                    round += line == head;
                    rounds[line].insert(round);
                    own[line]++;
                }
                for (const auto& [line, count] : own) most[line] = std::max(most[line], count);
            }
            for (const auto& [line, of] : rounds) lines[kernel][line].warps += of.size();
            for (const auto& [line, count] : most) lines[kernel][line].least += count;
        }
        for (const auto& [line, count] : visits) lines[kernel][line].threads += count;
        for (auto& thread : threads) thread.clear();
    }
};

Counter& counter() {
    static Counter one;
    return one;
}
}  // namespace

// The double runs one thread of the device at a time where it is asked for mode=sync.
extern "C" void testdouble_count(int line) {
    Counter& now = counter();
    const uint3_of_thread& at = testdouble_thread.index;
    if (now.threads.size() <= at.x) now.threads.resize(at.x + 1);
    now.threads[at.x].push_back(line);
}

extern "C" void testdouble_block_ended(const char* kernel) { counter().close_block(kernel); }

extern "C" void testdouble_grid_ended(const char* kernel, uint64_t blocks) {
    Counter& now = counter();
    if (now.file) fprintf(now.file, "launch %s %llu %llu\n", kernel, (unsigned long long)blocks, (unsigned long long)now.steps);
    now.steps = 0;
}
