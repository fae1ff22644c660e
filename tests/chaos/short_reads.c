/* Loaded ahead of a program, it lets most of its reads give less than was asked for, and some none at all with EINTR: both
   are the system's right. What a program makes of its files must not depend on it. */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdint.h>
#include <sys/types.h>

static __thread uint32_t state;

static uint32_t next(void) {
    if (state == 0) state = (uint32_t)(uintptr_t)&state | 1;
    state ^= state << 13;
    state ^= state >> 17;
    state ^= state << 5;
    return state;
}

/* How many bytes of `count` to ask for; 0 to be interrupted. */
static size_t less(size_t count) {
    uint32_t drawn = next();
    if (count < 2) return count;
    if (drawn % 16 == 0) return 0;
    return drawn % 4 == 0 ? count : 1 + drawn % count;
}

typedef ssize_t (*read_function)(int, void *, size_t);
typedef ssize_t (*pread_function)(int, void *, size_t, off_t);

ssize_t read(int file, void *bytes, size_t count) {
    static read_function real;
    if (!real) real = (read_function)dlsym(RTLD_NEXT, "read");
    size_t some = less(count);
    if (count > 0 && some == 0) {
        errno = EINTR;
        return -1;
    }
    return real(file, bytes, some);
}

ssize_t pread64(int file, void *bytes, size_t count, off_t offset) {
    static pread_function real;
    if (!real) real = (pread_function)dlsym(RTLD_NEXT, "pread64");
    size_t some = less(count);
    if (count > 0 && some == 0) {
        errno = EINTR;
        return -1;
    }
    return real(file, bytes, some, offset);
}
