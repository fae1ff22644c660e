/* One epoch of a data set that options name: `data NAME VALUE [NAME VALUE ...]`. Prints the number of rows, what is to be
 * noted, the bytes of the first batch's images, those of its masks, what was wrong with its files, and what the loader was
 * told. */

#include "common.h"

/* Of a copy, since the array may lie on a device. */
static uint64_t sum(const feedline_batch *batch, int32_t field, const feedline_tensor *tensor) {
    uint64_t sum = 0;
    uint8_t *bytes = malloc(tensor->bytes + 1);
    CHECK(bytes);
    OK(feedline_batch_field_to_host(batch, field, bytes, tensor->bytes));
    for (uint64_t at = 0; at < tensor->bytes; at++) sum += bytes[at];
    free(bytes);
    return sum;
}

int main(int count, char **arguments) {
    feedline_options *options;
    feedline_loader *loader;
    feedline_epoch *epoch;
    feedline_batch *batch;
    feedline_tensor tensor;
    uint64_t samples, notes;
    char *text;
    OK(feedline_options_new(&options));
    for (int at = 1; at + 1 < count; at += 2) OK(feedline_options_set(options, arguments[at], arguments[at + 1]));
    OK(feedline_loader_open(options, &loader));
    feedline_options_free(options);
    OK(feedline_loader_samples(loader, &samples));
    printf("samples %llu\n", (unsigned long long)samples);
    OK(feedline_loader_notes(loader, &notes));
    for (uint64_t at = 0; at < notes; at++) {
        const char *note;
        OK(feedline_loader_note(loader, at, &note));
        printf("note %s\n", note);
    }
    OK(feedline_loader_epoch(loader, 0, &epoch));
    OK(feedline_epoch_next(epoch, &batch));
    OK(feedline_batch_tensor(batch, FEEDLINE_FIELD_IMAGES, &tensor));
    CHECK(tensor.dtype == FEEDLINE_DTYPE_U8);
    printf("images %llu\n", (unsigned long long)sum(batch, FEEDLINE_FIELD_IMAGES, &tensor));
    if (feedline_batch_tensor(batch, FEEDLINE_FIELD_MASKS, &tensor) == FEEDLINE_STATUS_OK)
        printf("masks %llu\n", (unsigned long long)sum(batch, FEEDLINE_FIELD_MASKS, &tensor));
    if (feedline_batch_tensor(batch, FEEDLINE_FIELD_INSTANCE_MASKS, &tensor) == FEEDLINE_STATUS_OK)
        printf("instance_masks %d: %lld x %lld x %lld, sum of bytes %llu\n", (int)tensor.dtype, (long long)tensor.shape[0],
               (long long)tensor.shape[1], (long long)tensor.shape[2],
               (unsigned long long)sum(batch, FEEDLINE_FIELD_INSTANCE_MASKS, &tensor));
    if (feedline_batch_tensor(batch, FEEDLINE_FIELD_BOXES, &tensor) == FEEDLINE_STATUS_OK)
        printf("boxes %lld x %lld\n", (long long)tensor.shape[0], (long long)tensor.shape[1]);
    OK(feedline_loader_report_json(loader, &text));
    printf("report %s\n", text);
    feedline_string_free(text);
    OK(feedline_loader_options(loader, &text));
    printf("%s\n", text);
    feedline_string_free(text);
    feedline_batch_free(batch);
    feedline_epoch_free(epoch);
    feedline_loader_free(loader);
    return 0;
}
