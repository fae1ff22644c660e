/* Whatever is wrong with a call is an error with a remedy, and never a crash. */

#include "common.h"

static void says(feedline_status got, feedline_status want, const char *word) {
    if (got == want && strstr(feedline_last_error(), word)) return;
    fprintf(stderr, "status %d, not %d, or no `%s` in: %s\n", (int)got, (int)want, word, feedline_last_error());
    exit(1);
}

static void refused(const char *folder, const char *key, const char *value, feedline_status want, const char *word) {
    feedline_options *options;
    feedline_loader *loader = NULL;
    OK(feedline_options_new(&options));
    if (folder) OK(feedline_options_set(options, "data", folder));
    if (key) OK(feedline_options_set(options, key, value));
    says(feedline_loader_open(options, &loader), want, word);
    CHECK(!loader);
    feedline_options_free(options);
}

static void options(const char *folder) {
    feedline_options *options;
    feedline_loader *loader = NULL;
    refused(NULL, NULL, NULL, FEEDLINE_STATUS_CONFIG, "set the option data");
    refused("no/such/folder", NULL, NULL, FEEDLINE_STATUS_IO, "no/such/folder");
    refused(folder, "batch_size", "many", FEEDLINE_STATUS_CONFIG, "batch_size");
    refused(folder, "batch_size", "0", FEEDLINE_STATUS_CONFIG, "batch_size");
    refused(folder, "batch_sise", "4", FEEDLINE_STATUS_CONFIG, "`batch_size`");
    refused(folder, "output.dtype", "f64", FEEDLINE_STATUS_CONFIG, "f64");
    refused(folder, "recipe", "imagenet-trai", FEEDLINE_STATUS_CONFIG, "`imagenet-train`");
    refused(folder, "crop_sise", "96", FEEDLINE_STATUS_CONFIG, "`crop_size`");
    refused(folder, "mosaic", "0.5", FEEDLINE_STATUS_CONFIG, "yolo-train have it");
    refused(folder, "parameters.hflip_prob", "2", FEEDLINE_STATUS_CONFIG, "give a number from 0 to 1");
    refused(folder, "name.first", "x", FEEDLINE_STATUS_CONFIG, "no option `name.first`");
    refused(folder, "source", "zip", FEEDLINE_STATUS_CONFIG, "`parquet`, `yolo`, `coco`");
    refused(folder, "split", "val", FEEDLINE_STATUS_CONFIG, "for data of the kind yolo");
    refused(folder, "rank", "1", FEEDLINE_STATUS_CONFIG, "world_size");
    refused(folder, "max_failures", "-1", FEEDLINE_STATUS_CONFIG, "a whole number");
    refused(folder, "low_priority", "1", FEEDLINE_STATUS_CONFIG, "true or false");
    refused(folder, "device", "gpu", FEEDLINE_STATUS_CONFIG, "cuda:N");
    refused(folder, "device", "cuda:31", FEEDLINE_STATUS_UNAVAILABLE, "CUDA device 31");
    OK(feedline_options_new(&options));
    OK(feedline_options_set(options, "data", folder));
    OK(feedline_options_set(options, "last_batch", "pad"));
    OK(feedline_options_set(options, "batch_size", "1000000"));
    says(feedline_loader_open(options, &loader), FEEDLINE_STATUS_CONFIG, "use a smaller batch_size or prefetch");
    says(feedline_options_set(options, "", "1"), FEEDLINE_STATUS_INVALID, "the key is empty");
    says(feedline_options_set(options, "data", "\xff\xfe"), FEEDLINE_STATUS_INVALID, "UTF-8");
    feedline_options_free(options);
}

static void nulls(feedline_loader *loader) {
    feedline_options *options;
    feedline_epoch *epoch;
    feedline_tensor tensor;
    feedline_row_status row;
    uint64_t number;
    const char *text;
    feedline_batch *batch;
    char *state;
    struct DLManagedTensor *old;
    says(feedline_options_new(NULL), FEEDLINE_STATUS_INVALID, "`options` is null");
    OK(feedline_options_new(&options));
    says(feedline_options_set(NULL, "data", "x"), FEEDLINE_STATUS_INVALID, "`options` is null");
    says(feedline_options_set(options, NULL, "x"), FEEDLINE_STATUS_INVALID, "`key` is null");
    says(feedline_options_set(options, "data", NULL), FEEDLINE_STATUS_INVALID, "`value` is null");
    says(feedline_recipe_parameters_json(NULL, &state), FEEDLINE_STATUS_INVALID, "`recipe` is null");
    says(feedline_recipe_parameters_json("mae", NULL), FEEDLINE_STATUS_INVALID, "`json` is null");
    says(feedline_recipe_parameters_json("mea", &state), FEEDLINE_STATUS_CONFIG, "`mae`");
    says(feedline_loader_stats_json(NULL, &state), FEEDLINE_STATUS_INVALID, "`loader` is null");
    says(feedline_loader_stats_json(loader, NULL), FEEDLINE_STATUS_INVALID, "`stats` is null");
    says(feedline_loader_report_json(NULL, &state), FEEDLINE_STATUS_INVALID, "`loader` is null");
    says(feedline_loader_report_json(loader, NULL), FEEDLINE_STATUS_INVALID, "`report` is null");
    says(feedline_loader_explain(NULL, &state), FEEDLINE_STATUS_INVALID, "`loader` is null");
    says(feedline_loader_explain(loader, NULL), FEEDLINE_STATUS_INVALID, "`explanation` is null");
    says(feedline_loader_open(NULL, &loader), FEEDLINE_STATUS_INVALID, "`options` is null");
    feedline_options_free(options);
    says(feedline_loader_batches(NULL, &number), FEEDLINE_STATUS_INVALID, "`loader` is null");
    says(feedline_loader_batches(loader, NULL), FEEDLINE_STATUS_INVALID, "`batches` is null");
    says(feedline_loader_epoch(loader, 0, NULL), FEEDLINE_STATUS_INVALID, "`epoch` is null");
    says(feedline_loader_resume(loader, NULL, &epoch), FEEDLINE_STATUS_INVALID, "`state` is null");
    says(feedline_epoch_next(NULL, &batch), FEEDLINE_STATUS_INVALID, "`epoch` is null");
    says(feedline_epoch_state(NULL, &state), FEEDLINE_STATUS_INVALID, "`epoch` is null");
    says(feedline_batch_rows(NULL, &number), FEEDLINE_STATUS_INVALID, "`batch` is null");
    says(feedline_batch_key(NULL, 0, &text), FEEDLINE_STATUS_INVALID, "`batch` is null");
    says(feedline_batch_row_status(NULL, 0, &row), FEEDLINE_STATUS_INVALID, "`batch` is null");
    says(feedline_batch_tensor(NULL, 0, &tensor), FEEDLINE_STATUS_INVALID, "`batch` is null");
    says(feedline_batch_to_dlpack_unversioned(NULL, 0, &old), FEEDLINE_STATUS_INVALID, "`batch` is null");
    says(feedline_batch_wait(NULL), FEEDLINE_STATUS_INVALID, "`batch` is null");
    feedline_options_free(NULL);
    feedline_loader_free(NULL);
    feedline_epoch_free(NULL);
    feedline_batch_free(NULL);
    feedline_string_free(NULL);
}

static void batches(feedline_loader *loader) {
    feedline_epoch *epoch, *other;
    feedline_batch *batch, *none = NULL;
    feedline_tensor tensor;
    struct DLManagedTensorVersioned *shared;
    const char *text;
    char pixel;
    OK(feedline_loader_epoch(loader, 0, &epoch));
    says(feedline_epoch_next(epoch, NULL), FEEDLINE_STATUS_INVALID, "`batch` is null");
    says(feedline_epoch_state(epoch, NULL), FEEDLINE_STATUS_INVALID, "`state` is null");
    OK(feedline_epoch_next(epoch, &batch));
    says(feedline_batch_tensor(batch, 17, &tensor), FEEDLINE_STATUS_INVALID, "no field 17");
    says(feedline_batch_tensor(batch, -1, &tensor), FEEDLINE_STATUS_INVALID, "no field -1");
    says(feedline_batch_tensor(batch, 0, NULL), FEEDLINE_STATUS_INVALID, "`tensor` is null");
    says(feedline_batch_to_dlpack(batch, 0, NULL), FEEDLINE_STATUS_INVALID, "`tensor` is null");
    CHECK(feedline_batch_tensor(batch, FEEDLINE_FIELD_BOXES, &tensor) == FEEDLINE_STATUS_ABSENT);
    CHECK(feedline_batch_to_dlpack(batch, FEEDLINE_FIELD_MASKS, &shared) == FEEDLINE_STATUS_ABSENT);
    says(feedline_batch_key(batch, 4, &text), FEEDLINE_STATUS_INVALID, "no row 4");
    says(feedline_batch_to_host(batch, &pixel, 1), FEEDLINE_STATUS_INVALID, "the buffer has 1 bytes");
    says(feedline_batch_to_host(batch, NULL, 4 * 3 * 32 * 32 * 4), FEEDLINE_STATUS_INVALID, "`buffer` is null");
    says(feedline_batch_field_to_host(batch, FEEDLINE_FIELD_LABELS, &pixel, 1), FEEDLINE_STATUS_INVALID, "the array 32");
    says(feedline_batch_field_to_host(batch, 99, &pixel, 1), FEEDLINE_STATUS_INVALID, "feedline_batch_picture()");
    says(feedline_batch_field_to_host(NULL, 0, &pixel, 1), FEEDLINE_STATUS_INVALID, "`batch` is null");
    CHECK(feedline_batch_field_to_host(batch, FEEDLINE_FIELD_MASKS, &pixel, 1) == FEEDLINE_STATUS_ABSENT);
    CHECK(feedline_batch_field_to_host(batch, FEEDLINE_FIELD_FIRST_PICTURE, &pixel, 1) == FEEDLINE_STATUS_ABSENT);
    says(feedline_loader_resume(loader, "{}", &other), FEEDLINE_STATUS_INVALID, "feedline_epoch_state()");
    says(feedline_loader_class_name(loader, 99, &text), FEEDLINE_STATUS_INVALID, "no class 99");
    OK(feedline_loader_epoch(loader, 1, &other));
    says(feedline_epoch_next(epoch, &none), FEEDLINE_STATUS_CONFIG, "another one was started");
    CHECK(!none && feedline_epoch_next(epoch, &none) == FEEDLINE_STATUS_END);
    feedline_epoch_free(other);
    feedline_epoch_free(epoch);
    feedline_batch_free(batch);
}

int main(int count, char **arguments) {
    CHECK(count == 2);
    CHECK(feedline_abi_version() == FEEDLINE_ABI_VERSION && !*feedline_last_error());
    options(arguments[1]);
    feedline_loader *loader = open_small(arguments[1], NULL, NULL);
    nulls(loader);
    batches(loader);
    feedline_loader_free(loader);
    return 0;
}
