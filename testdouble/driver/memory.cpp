// In the plain build an allocation ends at a page that nobody may touch, up to the alignment's slack, which is filled
// with a pattern and looked at when the memory is freed. The sanitizer builds take memory from malloc, whose edges they
// watch to the byte.
#include "memory.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <vector>

#include "driver.h"
#include "race.h"
#include "report.h"
#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/asan_interface.h>
#endif

namespace {
constexpr size_t page = 4096;
constexpr unsigned char rubbish = 0xCB, slack_pattern = 0xA5;
// Freed memory that stays out of reach, so that late users are caught and do not find somebody else's data.
constexpr size_t quarantine_bytes = size_t(64) << 20;
#if defined(__SANITIZE_ADDRESS__) || defined(TESTDOUBLE_TSAN)
constexpr bool guarded = false;
#else
constexpr bool guarded = true;
#endif

// A file full of rubbish, or -1. Mapped again and again it fills large memory without touching it: programs reserve far
// more than small tests use.
constexpr size_t chunk = size_t(1) << 20;
int rubbish_file() {
    static const int file = [] {
        int made = memfd_create("rubbish", MFD_CLOEXEC);
        const std::vector<unsigned char> content(chunk, rubbish);
        return made >= 0 && write(made, content.data(), chunk) == ssize_t(chunk) ? made : -1;
    }();
    return file;
}

// Fills memory with rubbish. Large memory, which malloc has mapped for this allocation alone, gets other pages instead.
void spoil(char* at, size_t bytes) {
    if (bytes >= 2 * chunk) {
        const size_t ahead = -reinterpret_cast<uintptr_t>(at) % page;
        memset(at, rubbish, ahead);
        at += ahead, bytes -= ahead;
        for (; bytes >= chunk && rubbish_file() >= 0; at += chunk, bytes -= chunk) {
            void* mapped = mmap(at, chunk, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_FIXED, rubbish_file(), 0);
            if (mapped == MAP_FAILED) break;
        }
    }
    memset(at, rubbish, bytes);
}

size_t round_up(size_t bytes, size_t to) { return (bytes + to - 1) / to * to; }
}  // namespace

void Memory::configure(size_t bytes_per_device, size_t alignment, size_t granularity) {
    bytes_per_device_ = bytes_per_device;
    alignment_ = alignment;
    granularity_ = granularity;
}

size_t Memory::taken(size_t bytes) const { return round_up(bytes, granularity_); }

char* Memory::allocate(size_t bytes, Kind kind, Context* context) {
    size_t used_now = used(context) + (kind == Kind::device ? taken(bytes) : 0);
    if (kind == Kind::device && used_now > bytes_per_device_) return nullptr;
    Allocation allocation = {nullptr, bytes, kind, context, ++numbers_, nullptr, 0};
    if (!map(allocation)) return nullptr;
    live_[allocation.start] = allocation;
    if (kind == Kind::device && used_now > peak_) peak_ = used_now;
    return allocation.start;
}

bool Memory::map(Allocation& allocation) {
    if (!guarded) {
        void* memory = nullptr;
        if (posix_memalign(&memory, alignment_, allocation.bytes) != 0) return false;
        allocation.start = allocation.mapping = static_cast<char*>(memory);
        spoil(allocation.start, allocation.bytes);
        return true;
    }
    size_t rounded = round_up(allocation.bytes, alignment_), mapped = round_up(rounded, page);
    void* memory = mmap(nullptr, mapped + 2 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) return false;
    allocation.mapping = static_cast<char*>(memory) + page;
    allocation.mapped = mapped;
    if (mprotect(allocation.mapping, mapped, PROT_READ | PROT_WRITE) != 0) return false;
    spoil(allocation.mapping, mapped);
    allocation.start = allocation.mapping + mapped - rounded;
    memset(allocation.start + allocation.bytes, slack_pattern, rounded - allocation.bytes);
    return true;
}

bool Memory::free(void* start, Kind kind) {
    auto found = live_.find(static_cast<char*>(start));
    if (found == live_.end() || found->second.kind != kind) return false;
    Allocation allocation = found->second;
    live_.erase(found);
    check_slack(allocation);
    race::write(allocation.start, allocation.bytes);
    retire(allocation);
    return true;
}

void Memory::check_slack(const Allocation& allocation) const {
    if (allocation.mapped == 0) return;
    const char* end = allocation.mapping + allocation.mapped;
    for (const char* at = allocation.start + allocation.bytes; at < end; at++) {
        if (static_cast<unsigned char>(*at) == slack_pattern) continue;
        problem("%s allocation %d of %zu bytes: written %zu bytes behind its end",
                allocation.kind == Kind::device ? "device" : "pinned", allocation.number, allocation.bytes,
                size_t(at - allocation.start) - allocation.bytes + 1);
        return;
    }
}

void Memory::retire(const Allocation& allocation) {
#ifdef __SANITIZE_ADDRESS__
    __asan_poison_memory_region(allocation.start, allocation.bytes);
#else
    if (guarded) mprotect(allocation.mapping, allocation.mapped, PROT_NONE);
#endif
    quarantine_.push_back(allocation);
    quarantined_ += allocation.bytes;
    while (quarantined_ > quarantine_bytes) {
        Allocation oldest = quarantine_.front();
        quarantine_.pop_front();
        quarantined_ -= oldest.bytes;
#ifdef __SANITIZE_ADDRESS__
        __asan_unpoison_memory_region(oldest.start, oldest.bytes);
#endif
        if (guarded) munmap(oldest.mapping - page, oldest.mapped + 2 * page);
        else ::free(oldest.mapping);
    }
}

const Allocation* Memory::find(const void* start, size_t bytes) const {
    const char* at = static_cast<const char*>(start);
    auto next = live_.upper_bound(const_cast<char*>(at));
    if (next == live_.begin()) return nullptr;
    const Allocation& allocation = std::prev(next)->second;
    size_t offset = size_t(at - allocation.start);
    return offset <= allocation.bytes && bytes <= allocation.bytes - offset ? &allocation : nullptr;
}

size_t Memory::used(const Context* context) const {
    size_t bytes = 0;
    for (const auto& [start, allocation] : live_) {
        if (allocation.kind == Kind::device && allocation.context == context) {
            bytes += taken(allocation.bytes);
        }
    }
    return bytes;
}

size_t Memory::pinned() const {
    size_t bytes = 0;
    for (const auto& [start, allocation] : live_) bytes += allocation.kind == Kind::pinned ? allocation.bytes : 0;
    return bytes;
}
