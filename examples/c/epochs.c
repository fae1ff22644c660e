/* Goes through two epochs of a folder of images, and prints what the batches are and a checksum of their pixels.
 *
 *     capi/install.sh /usr/local
 *     cc -std=c99 examples/c/epochs.c $(pkg-config --cflags --libs feedline) -o epochs
 *     ./epochs data/photos imagenet-train 42
 *
 * The arguments may be left out. The examples of the same name in Rust, C++ and Python print the very same.
 */

#include <feedline.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* Ends the program where a call failed; at the end of an epoch it returns what it was given. */
static feedline_status check(feedline_status status) {
    if (status < 0) {
        fprintf(stderr, "epochs: %s\n", feedline_last_error());
        exit(1);
    }
    return status;
}

/* CRC-32, as Python's zlib has it: the same in every language. */
static uint32_t checksum(uint32_t sum, const void *data, uint64_t bytes) {
    static uint32_t table[256];
    const unsigned char *at = data;
    for (uint32_t i = 0; i < 256 && !table[255]; i++) {
        uint32_t entry = i;
        for (int bit = 0; bit < 8; bit++) entry = entry >> 1 ^ (entry & 1 ? 0xEDB88320u : 0);
        table[i] = entry;
    }
    sum = ~sum;
    for (uint64_t i = 0; i < bytes; i++) sum = sum >> 8 ^ table[(sum ^ at[i]) & 255];
    return ~sum;
}

static feedline_loader *open_loader(const char *folder, const char *recipe, const char *seed) {
    const char *wanted[][2] = {
        {"data", folder}, {"recipe", recipe}, {"batch_size", "8"},
        {"seed", seed},   {"workers", "2"},   {"last_batch", "partial"},
    };
    feedline_options *options;
    feedline_loader *loader;
    check(feedline_options_new(&options));
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        check(feedline_options_set(options, wanted[i][0], wanted[i][1]));
    }
    check(feedline_loader_open(options, &loader));
    feedline_options_free(options);
    return loader;
}

int main(int count, char **arguments) {
    const char *folder = count > 1 ? arguments[1] : "data/photos";
    const char *recipe = count > 2 ? arguments[2] : "imagenet-train";
    feedline_loader *loader = open_loader(folder, recipe, count > 3 ? arguments[3] : "42");
    uint64_t samples, classes, batches;
    check(feedline_loader_samples(loader, &samples));
    check(feedline_loader_classes(loader, &classes));
    check(feedline_loader_batches(loader, &batches));
    printf("feedline %s: %" PRIu64 " images of %" PRIu64 " classes, %" PRIu64 " batches an epoch\n", feedline_version(),
           samples, classes, batches);

    for (uint64_t number = 0; number < 2; number++) {
        feedline_epoch *epoch;
        feedline_batch *batch;
        uint32_t sum = 0;
        check(feedline_loader_epoch(loader, number, &epoch));
        while (check(feedline_epoch_next(epoch, &batch)) != FEEDLINE_STATUS_END) {
            feedline_tensor images, labels;
            const char *key;
            check(feedline_batch_tensor(batch, FEEDLINE_FIELD_IMAGES, &images));
            check(feedline_batch_tensor(batch, FEEDLINE_FIELD_LABELS, &labels));
            check(feedline_batch_key(batch, 0, &key));
            printf("  [%" PRId64 ", %" PRId64 ", %" PRId64 ", %" PRId64 "], first class %" PRId64 ": %s\n",
                   images.shape[0], images.shape[1], images.shape[2], images.shape[3],
                   ((const int64_t *)labels.data)[0], key);
            sum = checksum(sum, images.data, images.bytes);
            sum = checksum(sum, labels.data, labels.bytes);
            feedline_batch_free(batch);
        }
        feedline_epoch_free(epoch);
        printf("epoch %" PRIu64 ": checksum %08" PRIx32 "\n", number, sum);
    }
    feedline_loader_free(loader);
    return 0;
}
