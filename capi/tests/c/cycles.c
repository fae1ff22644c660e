/* Loaders that are made, used and freed many times leave neither memory nor threads behind: cycles FOLDER COUNT KB, where
 * KB is how much more memory the process may hold at the end. */

#include "common.h"

/* A number of /proc/self/status: kB, or a count. */
static long status_of(const char *name) {
    char line[256];
    long value = -1;
    FILE *file = fopen("/proc/self/status", "r");
    CHECK(file);
    while (fgets(line, sizeof line, file)) {
        if (!strncmp(line, name, strlen(name))) value = strtol(line + strlen(name), NULL, 10);
    }
    fclose(file);
    return value;
}

static void cycle(const char *folder, long number) {
    feedline_loader *loader = open_small(folder, NULL, NULL);
    feedline_epoch *epoch;
    feedline_batch *batch;
    struct DLManagedTensorVersioned *shared = NULL;
    OK(feedline_loader_epoch(loader, (uint64_t)number, &epoch));
    /* Some are left in the middle of an epoch, with batches on the way. */
    for (long taken = 0; taken < 1 + number % 3; taken++) {
        const char *key;
        OK(feedline_epoch_next(epoch, &batch));
        OK(feedline_batch_key(batch, 0, &key));
        if (shared) shared->deleter(shared);
        OK(feedline_batch_to_dlpack(batch, FEEDLINE_FIELD_IMAGES, &shared));
        feedline_batch_free(batch);
    }
    if (number % 2) feedline_epoch_free(epoch);
    feedline_loader_free(loader);
    if (number % 2 == 0) feedline_epoch_free(epoch);
    shared->deleter(shared);
}

int main(int count, char **arguments) {
    CHECK(count == 4);
    const long cycles = strtol(arguments[2], NULL, 10), warm = cycles / 5, most = strtol(arguments[3], NULL, 10);
    long memory = 0;
    for (long number = 0; number < cycles; number++) {
        if (number == warm) memory = status_of("VmRSS:");
        cycle(arguments[1], number);
    }
    const long growth = status_of("VmRSS:") - memory, threads = status_of("Threads:");
    printf("%ld cycles: %ld kB at the start, %ld kB more at the end, %ld threads\n", cycles, memory, growth, threads);
    CHECK(threads == 1);
    CHECK(growth < most);
    return 0;
}
