/* What the test programs share: a check that ends the program, a loader of the photographs, and DLPack's structs. */
#pragma once

#include <feedline.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECK(truth)                                                                                   \
    do {                                                                                               \
        if (!(truth)) {                                                                                \
            fprintf(stderr, "%s:%d: not so: %s (%s)\n", __FILE__, __LINE__, #truth, feedline_last_error()); \
            exit(1);                                                                                   \
        }                                                                                              \
    } while (0)

#define OK(call) CHECK((call) == FEEDLINE_STATUS_OK)

/* A loader of small samples; `more` is NULL, or a key and its value. */
static inline feedline_loader *open_small(const char *folder, const char *key, const char *value) {
    feedline_options *options;
    feedline_loader *loader;
    OK(feedline_options_new(&options));
    OK(feedline_options_set(options, "data", folder));
    OK(feedline_options_set(options, "recipe_text",
                            "name = \"small\"\n[output]\nsize = [32, 32]\n"
                            "[[augment]]\nop = \"RandomResizedCrop\"\nsize = 32\n"));
    OK(feedline_options_set(options, "batch_size", "4"));
    OK(feedline_options_set(options, "prefetch", "1"));
    OK(feedline_options_set(options, "workers", "2"));
    OK(feedline_options_set(options, "shuffle", "true"));
    if (key) OK(feedline_options_set(options, key, value));
    OK(feedline_loader_open(options, &loader));
    feedline_options_free(options);
    return loader;
}

struct dl_device { int32_t device_type, device_id; };
struct dl_type { uint8_t code, bits; uint16_t lanes; };
struct dl_tensor {
    void *data;
    struct dl_device device;
    int32_t ndim;
    struct dl_type dtype;
    int64_t *shape, *strides;
    uint64_t byte_offset;
};
struct DLManagedTensor {
    struct dl_tensor dl_tensor;
    void *manager_ctx;
    void (*deleter)(struct DLManagedTensor *self);
};
struct DLManagedTensorVersioned {
    uint32_t major, minor;
    void *manager_ctx;
    void (*deleter)(struct DLManagedTensorVersioned *self);
    uint64_t flags;
    struct dl_tensor dl_tensor;
};
