// In the plain build an allocation ends at a guard page, up to the alignment's slack, which is filled with a pattern and
// checked when the memory is freed. The sanitizer builds take memory from malloc, whose edges they watch to the byte. Large
// memory is an exception under AddressSanitizer, which would write shadow bytes for all of it: it lies between guard pages too,
// and only the slack is poisoned.
#include "memory.h"

#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
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
// A file full of rubbish, or -1. Mapped again and again it fills large memory without touching it: programs reserve far
// more than small tests use.
constexpr size_t chunk = size_t(1) << 20;
constexpr size_t large = 2 * chunk;
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
    if (bytes >= large) {
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

// Whether an allocation lies between pages that nobody may touch.
constexpr bool guarded([[maybe_unused]] size_t bytes) {
#if defined(__SANITIZE_ADDRESS__)
    return bytes >= large;
#elif defined(TESTDOUBLE_TSAN)
    return false;
#else
    return true;
#endif
}

#ifdef TESTDOUBLE_TSAN
// Which pages were ever touched; all of them where the system does not say.
std::vector<bool> touched_pages(const char* first, size_t pages) {
    std::vector<uint64_t> entries(pages);
    const size_t bytes = pages * sizeof entries[0];
    const int file = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
    const bool known = pread(file, entries.data(), bytes, off_t(uintptr_t(first) / page * sizeof entries[0])) == ssize_t(bytes);
    if (file >= 0) close(file);
    std::vector<bool> touched;
    // An entry has bit 63 for a page in memory, and bit 62 for one that was swapped out.
    for (const uint64_t entry : entries) touched.push_back(!known || entry >> 62 != 0);
    return touched;
}
#endif

// Tells ThreadSanitizer that memory goes away. It writes four bytes for each one that it is told of, so of large memory it is
// told of the touched pages only: no work can be late with the others.
void end_accesses(const Allocation& allocation) {
    char *const start = allocation.start, *const end = start + allocation.bytes;
#ifdef TESTDOUBLE_TSAN
    if (allocation.bytes >= large) {
        char* at = start - uintptr_t(start) % page;
        for (const bool touched : touched_pages(at, (end - at + page - 1) / page)) {
            char *const from = std::max(start, at), *const to = std::min(end, at + page);
            if (touched) race::write(from, to - from);
            at += page;
        }
        return;
    }
#endif
    race::write(start, end - start);
}

void poison([[maybe_unused]] const char* start, [[maybe_unused]] const char* end) {
#ifdef __SANITIZE_ADDRESS__
    __asan_poison_memory_region(start, end - start);
#endif
}

void unpoison([[maybe_unused]] const char* start, [[maybe_unused]] const char* end) {
#ifdef __SANITIZE_ADDRESS__
    __asan_unpoison_memory_region(start, end - start);
#endif
}
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
    if (!guarded(allocation.bytes)) {
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
    poison(allocation.mapping, allocation.start);
    poison(allocation.start + allocation.bytes, allocation.mapping + mapped);
    return true;
}

bool Memory::free(void* start, Kind kind) {
    auto found = live_.find(static_cast<char*>(start));
    if (found == live_.end() || found->second.kind != kind) return false;
    Allocation allocation = found->second;
    live_.erase(found);
    check_slack(allocation);
    end_accesses(allocation);
    retire(allocation);
    return true;
}

void Memory::check_slack(const Allocation& allocation) const {
    if (allocation.mapped == 0) return;
    const char* end = allocation.mapping + allocation.mapped;
    unpoison(allocation.mapping, allocation.start);
    unpoison(allocation.start + allocation.bytes, end);
    for (const char* at = allocation.start + allocation.bytes; at < end; at++) {
        if (static_cast<unsigned char>(*at) == slack_pattern) continue;
        problem("%s allocation %d of %zu bytes: written %zu bytes behind its end",
                allocation.kind == Kind::device ? "device" : "pinned", allocation.number, allocation.bytes,
                size_t(at - allocation.start) - allocation.bytes + 1);
        return;
    }
}

void Memory::retire(const Allocation& allocation) {
    if (allocation.mapped != 0) mprotect(allocation.mapping, allocation.mapped, PROT_NONE);
    else poison(allocation.start, allocation.start + allocation.bytes);
    quarantine_.push_back(allocation);
    quarantined_ += allocation.bytes;
    while (quarantined_ > quarantine_bytes) {
        Allocation oldest = quarantine_.front();
        quarantine_.pop_front();
        quarantined_ -= oldest.bytes;
        if (oldest.mapped != 0) {
            munmap(oldest.mapping - page, oldest.mapped + 2 * page);
        } else {
            unpoison(oldest.start, oldest.start + oldest.bytes);
            ::free(oldest.mapping);
        }
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
