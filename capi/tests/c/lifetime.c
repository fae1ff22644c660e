/* Tensors outlive whatever they came from, states are gone on from, handles are freed in any order, and forks are safe. */

#include "common.h"

#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

static void *delete_it(void *tensor) {
    struct DLManagedTensorVersioned *shared = tensor;
    shared->deleter(shared);
    return NULL;
}

static void tensors(const char *folder) {
    feedline_loader *loader = open_small(folder, NULL, NULL);
    feedline_epoch *epoch;
    feedline_batch *batch;
    feedline_tensor images, labels;
    struct DLManagedTensorVersioned *shared, *shared_labels;
    struct DLManagedTensor *old;
    pthread_t thread;
    OK(feedline_loader_epoch(loader, 0, &epoch));
    OK(feedline_epoch_next(epoch, &batch));
    OK(feedline_batch_wait(batch));
    OK(feedline_batch_use_on(batch, NULL));
    OK(feedline_batch_tensor(batch, FEEDLINE_FIELD_IMAGES, &images));
    OK(feedline_batch_tensor(batch, FEEDLINE_FIELD_LABELS, &labels));
    CHECK(images.bytes == 4 * 3 * 32 * 32 * 4 && images.ndim == 4 && images.dtype == FEEDLINE_DTYPE_F32);
    CHECK(images.shape[0] == 4 && images.shape[1] == 3 && images.shape[2] == 32 && images.shape[3] == 32);
    CHECK(images.device_type == 1 && (uintptr_t)images.data % 256 == 0);
    CHECK(labels.bytes == 4 * 8 && labels.ndim == 1 && labels.shape[1] == 0 && labels.dtype == FEEDLINE_DTYPE_I64);
    OK(feedline_batch_to_dlpack(batch, FEEDLINE_FIELD_IMAGES, &shared));
    OK(feedline_batch_to_dlpack(batch, FEEDLINE_FIELD_LABELS, &shared_labels));
    OK(feedline_batch_to_dlpack_unversioned(batch, FEEDLINE_FIELD_IMAGES, &old));
    CHECK(shared->major == 1 && shared->flags == 0 && shared_labels->flags == 1);
    CHECK(shared->dl_tensor.data == images.data && old->dl_tensor.data == images.data);
    CHECK(shared->dl_tensor.strides[0] == 3 * 32 * 32 && shared->dl_tensor.dtype.code == 2);

    unsigned char *copy = malloc(images.bytes);
    OK(feedline_batch_to_host(batch, copy, images.bytes));
    feedline_loader_free(loader);
    feedline_epoch_free(epoch);
    feedline_batch_free(batch);
    CHECK(!memcmp(copy, shared->dl_tensor.data, images.bytes));
    old->deleter(old);
    shared_labels->deleter(shared_labels);
    memset(shared->dl_tensor.data, 7, images.bytes);
    CHECK(!pthread_create(&thread, NULL, delete_it, shared) && !pthread_join(thread, NULL));
    free(copy);
}

/* Tensors lie in the loader's slots, one more than two where one batch is made ahead: epochs use the same few addresses
 * again and again, apart from one that a tensor still holds. */
static void slots(const char *folder) {
    feedline_loader *loader = open_small(folder, NULL, NULL);
    struct DLManagedTensorVersioned *held = NULL;
    const void *seen[3] = {NULL};
    for (uint64_t number = 0; number < 3; number++) {
        feedline_epoch *epoch;
        feedline_batch *batch;
        int again = 0;
        OK(feedline_loader_epoch(loader, number, &epoch));
        while (feedline_epoch_next(epoch, &batch) == FEEDLINE_STATUS_OK) {
            feedline_tensor images;
            size_t at = 0;
            OK(feedline_batch_tensor(batch, FEEDLINE_FIELD_IMAGES, &images));
            if (held) again += held->dl_tensor.data == images.data;
            while (at < 3 && seen[at] && seen[at] != images.data) at++;
            CHECK(at < 3);
            seen[at] = images.data;
            if (number == 1 && !held) OK(feedline_batch_to_dlpack(batch, FEEDLINE_FIELD_IMAGES, &held));
            feedline_batch_free(batch);
        }
        CHECK(!again);
        feedline_epoch_free(epoch);
    }
    feedline_loader_free(loader);
    held->deleter(held);
}

/* In a forked child each use is an error that says so, and freeing waits for nobody. */
static void forks(const char *folder) {
    feedline_loader *loader = open_small(folder, NULL, NULL);
    feedline_epoch *epoch, *other;
    feedline_batch *batch, *none = NULL;
    uint64_t left;
    int status;
    OK(feedline_loader_epoch(loader, 0, &epoch));
    OK(feedline_epoch_next(epoch, &batch));
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        alarm(60);
        CHECK(feedline_epoch_next(epoch, &none) < 0 && !none);
        CHECK(strstr(feedline_last_error(), "make the loader in the process that uses it"));
        CHECK(feedline_loader_epoch(loader, 1, &other) < 0 || feedline_epoch_next(other, &none) < 0);
        feedline_batch_free(batch);
        feedline_epoch_free(epoch);
        feedline_loader_free(loader);
        execlp("true", "true", (char *)NULL); /* what the child cannot free is no leak of this test's */
        _exit(1);
    }
    CHECK(waitpid(child, &status, 0) == child && status == 0);
    OK(feedline_epoch_left(epoch, &left));
    feedline_batch_free(batch);
    for (; left; left--) {
        OK(feedline_epoch_next(epoch, &batch));
        feedline_batch_free(batch);
    }
    feedline_epoch_free(epoch);
    feedline_loader_free(loader);
}

/* A run that stops behind a batch goes on with the very same ones, in another loader. */
static void states(const char *folder) {
    feedline_loader *loader = open_small(folder, NULL, NULL), *later = open_small(folder, NULL, NULL);
    feedline_epoch *epoch, *rest;
    feedline_batch *batch, *same;
    char *state;
    uint64_t left, rows, number;
    OK(feedline_loader_epoch(loader, 3, &epoch));
    OK(feedline_epoch_next(epoch, &batch));
    feedline_batch_free(batch);
    OK(feedline_epoch_state(epoch, &state));
    OK(feedline_loader_resume(later, state, &rest));
    feedline_string_free(state);
    OK(feedline_epoch_left(rest, &left));
    CHECK(left == 9);
    while (feedline_epoch_next(epoch, &batch) == FEEDLINE_STATUS_OK) {
        feedline_tensor want, got;
        feedline_row_status status;
        const char *key, *again;
        OK(feedline_epoch_next(rest, &same));
        OK(feedline_batch_tensor(batch, FEEDLINE_FIELD_IMAGES, &want));
        OK(feedline_batch_tensor(same, FEEDLINE_FIELD_IMAGES, &got));
        CHECK(want.bytes == got.bytes && !memcmp(want.data, got.data, want.bytes));
        OK(feedline_batch_key(batch, 3, &key));
        OK(feedline_batch_key(same, 3, &again));
        OK(feedline_batch_row_status(same, 3, &status));
        OK(feedline_batch_rows(same, &rows));
        OK(feedline_batch_number(same, &number));
        CHECK(!strcmp(key, again) && status == FEEDLINE_ROW_STATUS_OK && rows == 4 && number == 10 - left);
        left--;
        feedline_batch_free(batch);
        feedline_batch_free(same);
    }
    CHECK(left == 0 && feedline_epoch_next(rest, &same) == FEEDLINE_STATUS_END);
    feedline_loader_free(loader);
    feedline_epoch_free(rest);
    feedline_epoch_free(epoch);
    feedline_loader_free(later);
}

/* The figures are those of the batches so far. */
static void figures(const char *folder) {
    feedline_loader *loader = open_small(folder, NULL, NULL);
    feedline_epoch *epoch;
    feedline_batch *batch;
    char *text;
    OK(feedline_loader_explain(loader, &text));
    CHECK(strstr(text, "take some batches first"));
    feedline_string_free(text);
    OK(feedline_loader_epoch(loader, 0, &epoch));
    while (feedline_epoch_next(epoch, &batch) == FEEDLINE_STATUS_OK) feedline_batch_free(batch);
    feedline_epoch_free(epoch);
    OK(feedline_loader_stats_json(loader, &text));
    CHECK(strstr(text, "\"samples\":40,") && strstr(text, "\"limiting_stage\":\"") && strstr(text, "\"p99_seconds\":"));
    feedline_string_free(text);
    OK(feedline_loader_explain(loader, &text));
    CHECK(strstr(text, "the limit"));
    feedline_string_free(text);
    feedline_loader_free(loader);
}

int main(int count, char **arguments) {
    CHECK(count == 2);
    tensors(arguments[1]);
    states(arguments[1]);
    slots(arguments[1]);
    figures(arguments[1]);
    forks(arguments[1]);
    return 0;
}
