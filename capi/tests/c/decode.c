/* Files that are decoded without a loader: what is in them, what they are decoded to, and what is refused. */

#include "common.h"

static void says(feedline_status got, feedline_status want, const char *word) {
    if (got == want && strstr(feedline_last_error(), word)) return;
    fprintf(stderr, "status %d, not %d, or no `%s` in: %s\n", (int)got, (int)want, word, feedline_last_error());
    exit(1);
}

static feedline_file_bytes load(const char *path) {
    FILE *file = fopen(path, "rb");
    CHECK(file && !fseek(file, 0, SEEK_END));
    const long size = ftell(file);
    uint8_t *bytes = malloc((size_t)size + 1);
    CHECK(size >= 0 && bytes && !fseek(file, 0, SEEK_SET) && fread(bytes, 1, (size_t)size, file) == (size_t)size);
    fclose(file);
    return (feedline_file_bytes){bytes, (size_t)size};
}

static uint64_t checksum(const uint8_t *pixels, size_t bytes) {
    uint64_t sum = 0;
    for (size_t at = 0; at < bytes; at++) sum = sum * 31 + pixels[at];
    return sum;
}

static void print(const char *what, const feedline_image *image) {
    const size_t bytes = (size_t)image->width * image->height * 3;
    printf("%s %u x %u: %llu\n", what, image->height, image->width, (unsigned long long)checksum(image->pixels, bytes));
}

static void decode(feedline_file_bytes file) {
    feedline_image_header header;
    feedline_image image;
    uint32_t width, height;
    OK(feedline_read_header(file.bytes, file.size, &header));
    printf("format %d, %u x %u, stored %u x %u, orientation %u, %u components of %u bits, progressive %d, %s\n", (int)header.format,
           header.height, header.width, header.stored_height, header.stored_width, header.orientation, header.components,
           header.bits, header.progressive, header.sampling ? header.sampling : "none");
    OK(feedline_decode(file.bytes, file.size, NULL, &image));
    CHECK(image.width == header.width && image.height == header.height);
    print("whole", &image);
    feedline_image_free(&image);
    CHECK(!image.pixels);
    feedline_image_free(&image);

    feedline_decode_options options = {0};
    options.ignore_exif = 1;
    OK(feedline_decode(file.bytes, file.size, &options, &image));
    print("stored", &image);
    feedline_image_free(&image);
    options.ignore_exif = 0;
    options.top = 3;
    options.left = 5;
    options.height = 20;
    options.width = 24;
    options.min_height = options.min_width = 9;
    OK(feedline_decoded_size(file.bytes, file.size, &options, &width, &height));
    const size_t stride = (size_t)width * 3 + 7, room = stride * (height - 1) + (size_t)width * 3;
    uint8_t *rows = malloc(room), *packed = malloc((size_t)width * height * 3);
    CHECK(rows && packed);
    memset(rows, 9, room);
    OK(feedline_decode_into(file.bytes, file.size, &options, rows, room, stride));
    for (size_t row = 0; row < height; row++) {
        memcpy(packed + row * width * 3, rows + row * stride, (size_t)width * 3);
        CHECK(row + 1 == height || rows[row * stride + (size_t)width * 3] == 9);
    }
    const feedline_image part = {packed, width, height};
    print("part", &part);
    says(feedline_decode_into(file.bytes, file.size, &options, rows, room - 1, stride), FEEDLINE_STATUS_INVALID, "too small");
    free(rows);
    free(packed);
}

static void refused(feedline_file_bytes file) {
    static const uint8_t text[] = "no image";
    feedline_decode_options options = {0};
    feedline_image image = {NULL, 7, 7};
    feedline_image_header header;
    uint32_t edge;
    uint8_t pixel[3];
    says(feedline_read_header(text, 8, &header), FEEDLINE_STATUS_SAMPLE, "not an image: it holds text");
    says(feedline_decode(text, 8, NULL, &image), FEEDLINE_STATUS_SAMPLE, "not an image");
    CHECK(!image.pixels && !image.width);
    says(feedline_decode(NULL, 0, NULL, &image), FEEDLINE_STATUS_SAMPLE, "the file is empty");
    says(feedline_decode(NULL, 8, NULL, &image), FEEDLINE_STATUS_INVALID, "`bytes` is null");
    says(feedline_decode(text, 8, NULL, NULL), FEEDLINE_STATUS_INVALID, "`image` is null");
    says(feedline_read_header(file.bytes, file.size, NULL), FEEDLINE_STATUS_INVALID, "`header` is null");
    says(feedline_decoded_size(file.bytes, file.size, NULL, NULL, &edge), FEEDLINE_STATUS_INVALID, "`width` is null");
    says(feedline_decoded_size(file.bytes, file.size, NULL, &edge, NULL), FEEDLINE_STATUS_INVALID, "`height` is null");
    says(feedline_decode_into(file.bytes, file.size, NULL, NULL, 3, 3), FEEDLINE_STATUS_INVALID, "`pixels` is null");
    says(feedline_decode_into(file.bytes, file.size, NULL, pixel, 3, 3), FEEDLINE_STATUS_INVALID, "too small");
    says(feedline_decode_batch(NULL, 1, NULL, 1, (feedline_decoded[1]){{0}}), FEEDLINE_STATUS_INVALID, "`files` is null");
    says(feedline_decode_batch(&file, 1, NULL, 1, NULL), FEEDLINE_STATUS_INVALID, "`results` is null");
    OK(feedline_decode_batch(NULL, 0, NULL, 1, NULL));
    options.scale_denominator = 3;
    says(feedline_decode(file.bytes, file.size, &options, &image), FEEDLINE_STATUS_INVALID, "scale_denominator is 3");
    options.scale_denominator = 2;
    options.min_width = 8;
    says(feedline_decode(file.bytes, file.size, &options, &image), FEEDLINE_STATUS_INVALID, "both say the scale");
    options = (feedline_decode_options){0};
    options.damaged = 3;
    says(feedline_decode(file.bytes, file.size, &options, &image), FEEDLINE_STATUS_INVALID, "damaged is 3");
    options = (feedline_decode_options){0};
    options.height = 1;
    says(feedline_decode(file.bytes, file.size, &options, &image), FEEDLINE_STATUS_INVALID, "is empty");
    options.width = UINT32_MAX;
    says(feedline_decode(file.bytes, file.size, &options, &image), FEEDLINE_STATUS_INVALID, "leaves the upright image");
    options.top = UINT32_MAX;
    says(feedline_decode(file.bytes, file.size, &options, &image), FEEDLINE_STATUS_INVALID, "beyond every image");
    options = (feedline_decode_options){0};
    options.max_pixels = 1;
    says(feedline_decode(file.bytes, file.size, &options, &image), FEEDLINE_STATUS_SAMPLE, "max_pixels");
    feedline_image_free(NULL);
    feedline_decoded_free(NULL, 3);
}

int main(int count, char **arguments) {
    feedline_file_bytes files[16];
    feedline_decoded results[16];
    CHECK(count >= 2 && count <= 16);
    const size_t given = (size_t)count - 1;
    for (size_t at = 0; at < given; at++) {
        files[at] = load(arguments[at + 1]);
        decode(files[at]);
    }
    refused(files[0]);
    files[given] = (feedline_file_bytes){(const uint8_t *)"no image", 8};
    /* A call that fails leaves nothing behind that could not be freed. */
    feedline_decode_options unknown = {0};
    unknown.damaged = 7;
    memset(results, 0x5A, sizeof results);
    says(feedline_decode_batch(files, given + 1, &unknown, 3, results), FEEDLINE_STATUS_INVALID, "damaged is 7");
    CHECK(results[given].status == FEEDLINE_STATUS_INVALID && !results[given].image.pixels && !results[given].error);
    feedline_decoded_free(results, given + 1);
    OK(feedline_decode_batch(files, given + 1, NULL, 3, results));
    for (size_t at = 0; at < given; at++) {
        CHECK(results[at].status == FEEDLINE_STATUS_OK && !results[at].error);
        print("of the batch", &results[at].image);
    }
    CHECK(results[given].status == FEEDLINE_STATUS_SAMPLE && !results[given].image.pixels);
    CHECK(strstr(results[given].error, "not an image"));
    feedline_decoded_free(results, given + 1);
    CHECK(!results[0].image.pixels && !results[given].error);
    for (size_t at = 0; at < given; at++) free((void *)(uintptr_t)files[at].bytes);
    return 0;
}
