/* feedline for C: training batches from compressed images.
 *
 * Functions return a feedline_status; what they make is written through their last argument. Handles are freed by the
 * functions that say so, in any order. docs/c.md is a tour.
 *
 * Made by capi/header.sh; changes belong into capi/src. */

#ifndef FEEDLINE_H
#define FEEDLINE_H

#include <stddef.h>
#include <stdint.h>

/* Of DLPack's dlpack.h, which whoever uses the tensors includes. */
struct DLManagedTensor;
struct DLManagedTensorVersioned;

// Grows when something in this header changes that programs rely on.
#define FEEDLINE_ABI_VERSION 1

// How a call ended. Negative numbers are errors, which feedline_last_error() explains.
enum feedline_status
#ifdef __cplusplus
  : int32_t
#endif // __cplusplus
 {
    // It did what it should.
    FEEDLINE_STATUS_OK = 0,
    // The epoch has no further batch.
    FEEDLINE_STATUS_END = 1,
    // The batch has no such array.
    FEEDLINE_STATUS_ABSENT = 2,
    // An argument cannot be: a null pointer, a name that is not UTF-8, a field that there is not.
    FEEDLINE_STATUS_INVALID = -1,
    // The pipeline cannot work as it was set up: fix the options.
    FEEDLINE_STATUS_CONFIG = -2,
    // Something that this machine lacks, or a device that failed: use the CPU, or follow the remedy.
    FEEDLINE_STATUS_UNAVAILABLE = -3,
    // One sample is bad: skip or substitute such samples (`bad_sample`), or mend the file.
    FEEDLINE_STATUS_SAMPLE = -4,
    // A file or folder of the data set cannot be read.
    FEEDLINE_STATUS_IO = -5,
    // A bug in feedline: please report it.
    FEEDLINE_STATUS_PANIC = -6,
};
#ifndef __cplusplus
typedef int32_t feedline_status;
#endif // __cplusplus

// How a row came to be in its batch.
enum feedline_row_status
#ifdef __cplusplus
  : int32_t
#endif // __cplusplus
 {
    // It is the sample that the epoch's order names.
    FEEDLINE_ROW_STATUS_OK = 0,
    // It stands in for a bad sample.
    FEEDLINE_ROW_STATUS_SUBSTITUTED = 1,
    // It repeats a sample to fill the last batch up: leave it out of metrics.
    FEEDLINE_ROW_STATUS_PADDED = 2,
};
#ifndef __cplusplus
typedef int32_t feedline_row_status;
#endif // __cplusplus

// What the values of a field are.
enum feedline_value_type
#ifdef __cplusplus
  : int32_t
#endif // __cplusplus
 {
    // UTF-8, without a zero at the end.
    FEEDLINE_VALUE_TYPE_TEXT = 0,
    // Any bytes.
    FEEDLINE_VALUE_TYPE_BYTES = 1,
    // JSON as text, which was checked.
    FEEDLINE_VALUE_TYPE_JSON = 2,
    // 64-bit integers.
    FEEDLINE_VALUE_TYPE_INTEGER = 3,
    // 64-bit floats.
    FEEDLINE_VALUE_TYPE_FLOAT = 4,
    // Lists of 64-bit integers.
    FEEDLINE_VALUE_TYPE_INTEGERS = 5,
    // Lists of 64-bit floats.
    FEEDLINE_VALUE_TYPE_FLOATS = 6,
};
#ifndef __cplusplus
typedef int32_t feedline_value_type;
#endif // __cplusplus

// The format of a file, by its bytes.
enum feedline_image_format
#ifdef __cplusplus
  : int32_t
#endif // __cplusplus
 {
    // JPEG.
    FEEDLINE_IMAGE_FORMAT_JPEG = 0,
    // PNG.
    FEEDLINE_IMAGE_FORMAT_PNG = 1,
    // WebP.
    FEEDLINE_IMAGE_FORMAT_WEBP = 2,
    // The coefficients of a JPEG (docs/coefficients.md).
    FEEDLINE_IMAGE_FORMAT_COEFFICIENTS = 3,
    // Binary PNM: PGM and PPM.
    FEEDLINE_IMAGE_FORMAT_PNM = 4,
};
#ifndef __cplusplus
typedef int32_t feedline_image_format;
#endif // __cplusplus

// The type of an array's elements.
enum feedline_dtype
#ifdef __cplusplus
  : int32_t
#endif // __cplusplus
 {
    // 32-bit float.
    FEEDLINE_DTYPE_F32 = 0,
    // IEEE half precision.
    FEEDLINE_DTYPE_F16 = 1,
    // bfloat16.
    FEEDLINE_DTYPE_BF16 = 2,
    // Bytes.
    FEEDLINE_DTYPE_U8 = 3,
    // 64-bit integers.
    FEEDLINE_DTYPE_I64 = 4,
    // One byte, 0 or 1.
    FEEDLINE_DTYPE_BOOL = 5,
    // 32-bit integers: masks of objects that share a plane, and indices and offsets on 32-bit machines.
    FEEDLINE_DTYPE_I32 = 6,
};
#ifndef __cplusplus
typedef int32_t feedline_dtype;
#endif // __cplusplus

// What becomes of a damaged JPEG: the words of the option `damaged`.
enum feedline_damaged
#ifdef __cplusplus
  : int32_t
#endif // __cplusplus
 {
    // Damage inside is accepted, with the pixels that libjpeg-turbo makes of it; a file that ends early is refused.
    FEEDLINE_DAMAGED_TORCHVISION = 0,
    // It is refused.
    FEEDLINE_DAMAGED_REFUSE = 1,
    // All that libjpeg-turbo decodes is accepted; what is missing is grey.
    FEEDLINE_DAMAGED_LIBJPEG = 2,
};
#ifndef __cplusplus
typedef int32_t feedline_damaged;
#endif // __cplusplus

// The arrays of a batch of n rows and m objects.
enum feedline_field
#ifdef __cplusplus
  : int32_t
#endif // __cplusplus
 {
    // The pixels, `[n, 3, height, width]` or `[n, height, width, 3]`.
    FEEDLINE_FIELD_IMAGES = 0,
    // The class of each row's own image, -1 where there is none: `[n]`, i64.
    FEEDLINE_FIELD_LABELS = 1,
    // The index of each row's sample in the data set: `[n]`, i64.
    FEEDLINE_FIELD_INDICES = 2,
    // Semantic masks: `[n, height, width]`, u8, where the pixels are.
    FEEDLINE_FIELD_MASKS = 3,
    // The row that each object is in: `[m]`, i64. This and what follows is there where the data set knows objects.
    FEEDLINE_FIELD_BATCH_INDEX = 4,
    // Class indices: `[m]`, i64.
    FEEDLINE_FIELD_CLASSES = 5,
    // Boxes, in the format and unit of the options `labels.format` and `labels.unit`: `[m, 4]`, f32; `[m, 5]` for `xywhr`,
    // `[m, 8]` for `xyxyxyxy`.
    FEEDLINE_FIELD_BOXES = 6,
    // What each object counts for: 1, or the share of its image where images were mixed: `[m]`, f32.
    FEEDLINE_FIELD_SHARES = 7,
    // Whether it stands for a crowd: `[m]`, bool.
    FEEDLINE_FIELD_CROWD = 8,
    // Object i has the polygons `offsets[i]..offsets[i + 1]`: `[m + 1]`, i64.
    FEEDLINE_FIELD_POLYGON_OFFSETS = 9,
    // Polygon p has the points `offsets[p]..offsets[p + 1]`: `[polygons + 1]`, i64.
    FEEDLINE_FIELD_POINT_OFFSETS = 10,
    // x and y of the polygons' points: `[points, 2]`, f32.
    FEEDLINE_FIELD_POINTS = 11,
    // Object i has the keypoints `offsets[i]..offsets[i + 1]`: `[m + 1]`, i64.
    FEEDLINE_FIELD_KEYPOINT_OFFSETS = 12,
    // x, y and visibility (0 not labelled or outside, 1 hidden, 2 visible): `[keypoints, 3]`, f32.
    FEEDLINE_FIELD_KEYPOINTS = 13,
    // Masks of objects, where `instance_masks` asks for them: `[m, height, width]`, u8, with `per-object`; with `overlap`
    // `[n, height, width]`, i32. They lie where the pixels are.
    FEEDLINE_FIELD_INSTANCE_MASKS = 14,
    // Which pixels are padding, with `pad_to_largest`: `[n, height, width]`, bool.
    FEEDLINE_FIELD_PADDING = 15,
    // Height and width of each sample without its padding, with `pad_to_largest`: `[n, 2]`, i64.
    FEEDLINE_FIELD_SIZES = 16,
    // The first second image or depth map; feedline_batch_picture() says which number each has.
    FEEDLINE_FIELD_FIRST_PICTURE = 100,
};
#ifndef __cplusplus
typedef int32_t feedline_field;
#endif // __cplusplus

// One batch. Its memory goes back to the loader when the handle is freed and all its DLPack tensors are deleted.
typedef struct feedline_batch feedline_batch;

// The batches of one epoch, in order. It may be used by one thread at a time.
typedef struct feedline_epoch feedline_epoch;

// Delivers the batches of any epoch. It may be used by several threads at once.
typedef struct feedline_loader feedline_loader;

// What a loader is to do.
typedef struct feedline_options feedline_options;

// Where a sample shows its image: what lies at x in the image, as a viewer shows it, lies at `ratio_x * x + pad_x` in the
// sample, in pixels, so `(x - pad_x) / ratio_x` leads a prediction back to the image. For y likewise.
typedef struct feedline_place {
    // By how much the image was made larger along x.
    double ratio_x;
    // By how much it was made larger along y.
    double ratio_y;
    // How far from the sample's left edge the image begins; negative where it was cropped there.
    double pad_x;
    // How far from its upper edge.
    double pad_y;
} feedline_place;

// The values of a field in the n rows of a batch.
typedef struct feedline_values {
    // What they are.
    feedline_value_type kind;
    // n.
    uint64_t rows;
    // Text, bytes and JSON of all rows, one after the other; of no meaning where there are none, null for numbers.
    const uint8_t *bytes;
    // The value of row i is `bytes[offsets[i]]` to `bytes[offsets[i + 1]]`, or of lists the numbers there: n + 1 of them; null for
    // numbers, and for lists that have a length.
    const size_t *offsets;
    // Integers, one for each row, or those of lists one after the other; null for other types.
    const int64_t *integers;
    // Floats, likewise; null for other types.
    const double *floats;
    // How many numbers each list has, where the field says so; else 0.
    uint64_t length;
} feedline_values;

// What a file says of its image before it is decoded.
typedef struct feedline_image_header {
    // The file's format.
    feedline_image_format format;
    // Columns of the upright image.
    uint32_t width;
    // Rows of the upright image.
    uint32_t height;
    // Columns as they are stored.
    uint32_t stored_width;
    // Rows as they are stored.
    uint32_t stored_height;
    // The EXIF orientation, 1 to 8; 1 is upright.
    uint32_t orientation;
    // Channels of a stored pixel: 1 (grey, or a palette), 2 (grey and alpha), 3, or 4 (colour and alpha, or four inks).
    uint32_t components;
    // Bits of a stored channel.
    uint32_t bits;
    // 1 for a progressive JPEG or an interlaced PNG, else 0.
    int32_t progressive;
    // The chroma sampling of a JPEG or of its coefficients, such as "4:2:0"; null for other formats. Always valid.
    const char *sampling;
} feedline_image_header;

// What a file is decoded to. All zeros mean the whole upright image at full scale.
typedef struct feedline_decode_options {
    // The part that is wanted, in pixels of the upright image at full scale; all of it where these four are 0. At a smaller
    // scale its edges are rounded outwards. This is its top row.
    uint32_t top;
    // Its left column.
    uint32_t left;
    // Its rows.
    uint32_t height;
    // Its columns.
    uint32_t width;
    // 1, 2, 4 or 8: a JPEG or a file of coefficients is decoded at this part of its width and height. 0 is 1, or what
    // min_height and min_width ask for.
    uint32_t scale_denominator;
    // Where not 0, with min_width: the smallest scale at which what is wanted still has as many rows and columns, without
    // counting parts of pixels; the full one where there is none, and for PNG, WebP and PNM.
    uint32_t min_height;
    // The least columns.
    uint32_t min_width;
    // Where not 0, the image is left as it is stored, whatever its EXIF orientation says.
    int32_t ignore_exif;
    // A FEEDLINE_DAMAGED_...
    int32_t damaged;
    // The most scans of a progressive JPEG; 0 is the default of the option `max_scans`.
    uint32_t max_scans;
    // The most pixels of an image; 0 is the default of the option `max_pixels`.
    uint64_t max_pixels;
} feedline_decode_options;

// A decoded image, which feedline_image_free() frees.
typedef struct feedline_image {
    // Rows without gaps of R, G, B: height * width * 3 bytes, which may be written. Null where there is no image.
    uint8_t *pixels;
    // Columns.
    uint32_t width;
    // Rows.
    uint32_t height;
} feedline_image;

// The bytes of a file.
typedef struct feedline_file_bytes {
    // The first byte; may be null where there is none.
    const uint8_t *bytes;
    // Number of bytes.
    size_t size;
} feedline_file_bytes;

// What became of a file of a batch, which feedline_decoded_free() frees.
typedef struct feedline_decoded {
    // FEEDLINE_STATUS_OK, or why there is no image: FEEDLINE_STATUS_SAMPLE for a file that cannot be decoded.
    feedline_status status;
    // The image.
    struct feedline_image image;
    // What is wrong with the file, with the remedy; null where it was decoded.
    char *error;
} feedline_decoded;

// Where the elements of an array lie, row-major without gaps.
typedef struct feedline_tensor {
    // The first element; null where there is none. An address of the device where device_type is 2.
    const void *data;
    // Bytes of all elements.
    uint64_t bytes;
    // Length of each axis; 0 behind the last.
    int64_t shape[4];
    // Number of axes.
    int32_t ndim;
    // The type of the elements.
    feedline_dtype dtype;
    // 1: the host's memory; 2: a CUDA device's. These are DLPack's numbers.
    int32_t device_type;
    // The device's number.
    int32_t device_id;
} feedline_tensor;

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

// ABI_VERSION of the library that is running; a program that was built with another one must not go on.
uint32_t feedline_abi_version(void);

// The version of feedline, such as "0.1.0".
const char *feedline_version(void);

// Number of rows.
//
// What must hold:
// `batch` is from feedline_epoch_next(); `rows` may be written.
feedline_status feedline_batch_rows(const struct feedline_batch *batch, uint64_t *rows);

// Which batch of its epoch it is, from 0.
//
// What must hold:
// `batch` is from feedline_epoch_next(); `number` may be written.
feedline_status feedline_batch_number(const struct feedline_batch *batch, uint64_t *number);

// Number of views of each sample: 1 where the recipe has none.
//
// What must hold:
// `batch` is from feedline_epoch_next(); `views` may be written.
feedline_status feedline_batch_view_count(const struct feedline_batch *batch, uint64_t *views);

// Another handle for the same batch, whose pixels, masks and objects are those of view `number`, counted from 0; those of
// a batch itself are the first view's. It keeps the batch's memory, and is freed with feedline_batch_free() like the batch.
//
// What must hold:
// `batch` is from feedline_epoch_next(); `view` may be written.
feedline_status feedline_batch_view(const struct feedline_batch *batch,
                                    uint64_t number,
                                    struct feedline_batch **view);

// The name of a row's sample: its path, or its key in a shard. Valid as long as the batch's handle.
//
// What must hold:
// `batch` is from feedline_epoch_next(); `key` may be written.
feedline_status feedline_batch_key(const struct feedline_batch *batch, uint64_t row, const char **key);

// How a row came to be there.
//
// What must hold:
// `batch` is from feedline_epoch_next(); `status` may be written.
feedline_status feedline_batch_row_status(const struct feedline_batch *batch,
                                          uint64_t row,
                                          feedline_row_status *status);

// Height and width of a row's image as a viewer shows it, before anything was done to it, in pixels; in what is mixed, those
// of the row's own image.
//
// What must hold:
// `batch` is from feedline_epoch_next(); `height` and `width` may be written.
feedline_status feedline_batch_original_size(const struct feedline_batch *batch,
                                             uint64_t row,
                                             int64_t *height,
                                             int64_t *width);

// Where a row shows its image, in the view of the handle; FEEDLINE_STATUS_ABSENT, and nothing written, for a row that shows
// several images, or shows its image mirrored, turned, sheared or distorted.
//
// What must hold:
// `batch` is from feedline_epoch_next(); `place` may be written.
feedline_status feedline_batch_place(const struct feedline_batch *batch,
                                     uint64_t row,
                                     struct feedline_place *place);

// The values of the field that is called `name` (see the option `fields`); FEEDLINE_STATUS_ABSENT, and nothing written,
// where the batch has none of it. They lie in the host's memory on every device, and are valid as long as the batch's
// handle.
//
// What must hold:
// `batch` is from feedline_epoch_next(); `name` ends with a zero; `values` may be written.
feedline_status feedline_batch_values(const struct feedline_batch *batch,
                                      const char *name,
                                      struct feedline_values *values);

// The number that the second images or depth maps of the field that is called `name` have in place of a
// FEEDLINE_FIELD_..., which is the same in every batch of a loader; FEEDLINE_STATUS_ABSENT, and nothing written, where
// there are none. They lie where the pixels are: second images in the form of the pixels, depth maps as
// `[n, height, width]`, f32.
//
// What must hold:
// `batch` is from feedline_epoch_next(); `name` ends with a zero; `field` may be written.
feedline_status feedline_batch_picture(const struct feedline_batch *batch,
                                       const char *name,
                                       int32_t *field);

// Waits until the pixels are finished, which a device may still be working on.
//
// What must hold:
// `batch` is from feedline_epoch_next().
feedline_status feedline_batch_wait(const struct feedline_batch *batch);

// Orders what is enqueued on a CUDA stream from now on behind the finished pixels, and their memory's next use behind
// what has been enqueued there when the batch and its tensors are gone. The host does not wait. Null is the default
// stream. Without effect where the pixels lie in the host's memory.
//
// What must hold:
// `batch` is from feedline_epoch_next(); `stream` is null or a stream (CUstream, cudaStream_t) of the batch's device, no
// per-thread default stream, and lives as long as the batch and its tensors; where they go while it is captured into a CUDA
// graph, until the loader and all its batches are gone. While it is captured the batch cannot be used on it: FEEDLINE_STATUS_CONFIG.
feedline_status feedline_batch_use_on(const struct feedline_batch *batch,
                                      void *stream);

// Writes the labels as one row of `classes` numbers for each sample, by their shares in mixes: one-hot, soft, or multi-hot where
// images have several classes. `smoothing`, in 0 to 1, is taken from the shares and spread evenly over all classes. A sample
// without a label has a row of zeros. A handle of a view has those of its view.
//
// What must hold:
// `batch` is from feedline_epoch_next(); `count` numbers may be written at `targets`.
feedline_status feedline_batch_one_hot(const struct feedline_batch *batch,
                                       uint64_t classes,
                                       float smoothing,
                                       float *targets,
                                       uint64_t count);

// Frees a batch's handle; null is let pass. Pointers into the batch are not valid any more, but its DLPack tensors are.
//
// What must hold:
// `batch` is null or from feedline_epoch_next(), and is not used again.
void feedline_batch_free(struct feedline_batch *batch);

// What went wrong in this thread's latest call that failed, with the remedy; empty where none has. Never null, and valid
// until the next call that fails in this thread.
const char *feedline_last_error(void);

// Frees text that a function of feedline gave; null is let pass.
//
// What must hold:
// `text` is from a function that says so, and is not used again.
void feedline_string_free(char *text);

// Reads what a file in memory says of its image. Nothing is decoded.
//
// What must hold:
// `size` bytes may be read at `bytes`; `header` may be written.
feedline_status feedline_read_header(const uint8_t *bytes, size_t size, struct feedline_image_header *header);

// Columns and rows of what a file in memory is decoded to with these options, which may be null.
//
// What must hold:
// `size` bytes may be read at `bytes`; `options` is null or may be read; `width` and `height` may be written.
feedline_status feedline_decoded_size(const uint8_t *bytes,
                                      size_t size,
                                      const struct feedline_decode_options *options,
                                      uint32_t *width,
                                      uint32_t *height);

// Decodes a file in memory: JPEG, PNG, WebP, PNM or a file of coefficients. `options` may be null. The image is to be freed by feedline_image_free(); on an
// error it has no pixels.
//
// What must hold:
// `size` bytes may be read at `bytes`; `options` is null or may be read; `image` may be written.
feedline_status feedline_decode(const uint8_t *bytes,
                                size_t size,
                                const struct feedline_decode_options *options,
                                struct feedline_image *image);

// Decodes a file in memory to rows of R, G, B that begin `stride` bytes from each other, in memory of `room` bytes from
// `pixels` on. feedline_decoded_size() tells how many there will be. `options` may be null. On an error the memory holds no
// particular pixels.
//
// What must hold:
// `size` bytes may be read at `bytes`, and `room` bytes written at `pixels`, which are others; `options` is null or may be
// read.
feedline_status feedline_decode_into(const uint8_t *bytes,
                                     size_t size,
                                     const struct feedline_decode_options *options,
                                     uint8_t *pixels,
                                     size_t room,
                                     size_t stride);

// Decodes `count` files in memory on `threads` threads, of which the calling one is one; 0 is one for each core. `options`, which
// may be null, are those of all files. `results` gets one result for each file, in order, and is to be freed by
// feedline_decoded_free(). A file that cannot be decoded is no error of the call; where the call fails, each result is
// FEEDLINE_STATUS_INVALID without image and text. The threads end with the call, so that a forked process can make it too.
//
// What must hold:
// `count` files may be read at `files`, and their bytes; `options` is null or may be read; `count` results may be written.
feedline_status feedline_decode_batch(const struct feedline_file_bytes *files,
                                      size_t count,
                                      const struct feedline_decode_options *options,
                                      size_t threads,
                                      struct feedline_decoded *results);

// Frees the pixels of an image, which has none then; null is let pass.
//
// What must hold:
// `image` is null, or was written by feedline_decode().
void feedline_image_free(struct feedline_image *image);

// Frees the images and texts of `count` results, which have none then; null is let pass.
//
// What must hold:
// `results` is null, or `count` results were written there by feedline_decode_batch().
void feedline_decoded_free(struct feedline_decoded *results, size_t count);

// Waits for the next batch. FEEDLINE_STATUS_END, and null in `batch`, where there is no further one; after an error there
// is none.
//
// What must hold:
// `epoch` is from a function of a loader and used by no other thread; `batch` may be written.
feedline_status feedline_epoch_next(struct feedline_epoch *epoch,
                                    struct feedline_batch **batch);

// Batches that are still to come.
//
// What must hold:
// `epoch` is from a function of a loader; `batches` may be written.
feedline_status feedline_epoch_left(const struct feedline_epoch *epoch, uint64_t *batches);

// Where the run stands behind the last batch that was handed out, as JSON of a few hundred bytes, for
// feedline_loader_resume(). To be freed by feedline_string_free().
//
// What must hold:
// `epoch` is from a function of a loader and used by no other thread; `state` may be written.
feedline_status feedline_epoch_state(const struct feedline_epoch *epoch, char **state);

// Ends an epoch and frees it; null is let pass. Its batches stay valid.
//
// What must hold:
// `epoch` is null or from a function of a loader, and is not used again.
void feedline_epoch_free(struct feedline_epoch *epoch);

// Opens a loader. It checks everything that can be checked before the first epoch.
//
// What must hold:
// `options` is from feedline_options_new() and not changed meanwhile; `loader` may be written.
feedline_status feedline_loader_open(const struct feedline_options *options, struct feedline_loader **loader);

// Frees a loader; null is let pass. Its epochs and batches stay valid.
//
// What must hold:
// `loader` is null or from feedline_loader_open(), and is not used again.
void feedline_loader_free(struct feedline_loader *loader);

// Batches of an epoch, exactly.
//
// What must hold:
// `loader` is from feedline_loader_open(); `batches` may be written.
feedline_status feedline_loader_batches(const struct feedline_loader *loader, uint64_t *batches);

// Number of samples in the data set.
//
// What must hold:
// `loader` is from feedline_loader_open(); `samples` may be written.
feedline_status feedline_loader_samples(const struct feedline_loader *loader, uint64_t *samples);

// Number of class names that the data set knows; 0 where it knows none.
//
// What must hold:
// `loader` is from feedline_loader_open(); `classes` may be written.
feedline_status feedline_loader_classes(const struct feedline_loader *loader, uint64_t *classes);

// The name of a class, valid as long as the loader.
//
// What must hold:
// `loader` is from feedline_loader_open(); `name` may be written.
feedline_status feedline_loader_class_name(const struct feedline_loader *loader,
                                           uint64_t class_index,
                                           const char **name);

// The figures since the loader was opened, as JSON: count, mean, p50 and p99 of each stage, waits, ready batches, slots,
// workers, bytes, caches, decode indexes, and the limiting stage. To be freed by feedline_string_free().
//
// What must hold:
// `loader` is from feedline_loader_open(); `stats` may be written.
feedline_status feedline_loader_stats_json(const struct feedline_loader *loader,
                                           char **stats);

// What was wrong with the files so far, as JSON: `failures` (how often a bad sample was met), `files` (the first 1000
// different ones: stage, key, index, cause), `damaged` (how often a damaged file was decoded, as the option of that name
// allows) and `damaged_files` (the first 1000 different ones: key, index, damage, times). To be freed by
// feedline_string_free().
//
// What must hold:
// `loader` is from feedline_loader_open(); `report` may be written.
feedline_status feedline_loader_report_json(const struct feedline_loader *loader,
                                            char **report);

// What limits the speed so far, why, and what to do about it, in one sentence. To be freed by feedline_string_free().
//
// What must hold:
// `loader` is from feedline_loader_open(); `explanation` may be written.
feedline_status feedline_loader_explain(const struct feedline_loader *loader,
                                        char **explanation);

// Why batches are not page-locked, or not all of them, although the option `pin_memory` asks for it, so far; to be freed by
// feedline_string_free(). FEEDLINE_STATUS_ABSENT, and nothing written, where they are or need not be.
//
// What must hold:
// `loader` is from feedline_loader_open(); `reason` may be written.
feedline_status feedline_loader_unpinned(const struct feedline_loader *loader,
                                         char **reason);

// Number of notes: what a user should know of the data, such as images that belong to no class and labels that were
// left out.
//
// What must hold:
// `loader` is from feedline_loader_open(); `notes` may be written.
feedline_status feedline_loader_notes(const struct feedline_loader *loader,
                                      uint64_t *notes);

// A note, valid as long as the loader.
//
// What must hold:
// `loader` is from feedline_loader_open(); `note` may be written.
feedline_status feedline_loader_note(const struct feedline_loader *loader,
                                     uint64_t note_index,
                                     const char **note);

// What the loader was told, section by section, as TOML. To be freed by feedline_string_free().
//
// What must hold:
// `loader` is from feedline_loader_open(); `text` may be written.
feedline_status feedline_loader_options(const struct feedline_loader *loader, char **text);

// Starts epoch `number`, which ends the one that still runs.
//
// What must hold:
// `loader` is from feedline_loader_open(); `epoch` may be written.
feedline_status feedline_loader_epoch(const struct feedline_loader *loader,
                                      uint64_t number,
                                      struct feedline_epoch **epoch);

// Goes on where feedline_epoch_state() was asked: the rest of that epoch. Which epoch it is stands in the text (JSON).
//
// What must hold:
// `loader` is from feedline_loader_open(); `state` is text; `epoch` may be written.
feedline_status feedline_loader_resume(const struct feedline_loader *loader,
                                       const char *state,
                                       struct feedline_epoch **epoch);

// Makes empty options.
//
// What must hold:
// `options` may be written.
feedline_status feedline_options_new(struct feedline_options **options);

// Sets an option. The last value counts; what it means is checked when the loader is opened.
//
// docs/options.md lists all options with their values and defaults. They are named alone (`batch_size`, `mask_dir`) or by
// section and key (`output.dtype`); the value is a bare word, a path, or what TOML has (`true`, `[224, 224]`), where a list
// may lack its brackets. `data`, a path or a URL, is the only one that must be set.
//
// What is set is laid over a recipe: `recipe` is a built-in one's name (`imagenet-train`, which is the default) or the path
// of a TOML file, `recipe_text` the TOML itself. A recipe's parameters are set by their names, as options are (`imgsz`), or
// as `parameters.imgsz`; feedline_recipe_parameters_json() lists them.
//
// What must hold:
// `options` is from feedline_options_new() and used by no other thread; `key` and `value` are text.
feedline_status feedline_options_set(struct feedline_options *options,
                                     const char *key,
                                     const char *value);

// What a loader would be opened with: the recipe with the options laid over it, as TOML. To be freed by
// feedline_string_free().
//
// What must hold:
// `options` is from feedline_options_new() and not changed meanwhile; `text` may be written.
feedline_status feedline_options_text(const struct feedline_options *options, char **text);

// Frees options; null is let pass. Loaders that were opened with them stay.
//
// What must hold:
// `options` is null or from feedline_options_new(), and is not used again.
void feedline_options_free(struct feedline_options *options);

// The parameters of a recipe (its name, or the path of a TOML file) in their order, as a JSON array of objects with `name`,
// `type` (`integer`, `float`, `bool`, `word`, `text`, `integers` or `floats`), `default`, `min`, `max`, `words` and `about`,
// of which those that mean nothing are left out. To be freed by feedline_string_free().
//
// What must hold:
// `recipe` is text; `json` may be written.
feedline_status feedline_recipe_parameters_json(const char *recipe,
                                                char **json);

// Where an array lies; FEEDLINE_STATUS_ABSENT, and nothing written, where the batch has none of it. `field` is a
// FEEDLINE_FIELD_... What is found is valid as long as the batch's handle. On a device the pixels may not be finished:
// see feedline_batch_wait() and feedline_batch_use_on().
//
// What must hold:
// `batch` is from feedline_epoch_next(); `tensor` may be written.
feedline_status feedline_batch_tensor(const struct feedline_batch *batch,
                                      int32_t field,
                                      struct feedline_tensor *tensor);

// Copies the pixels to the host's memory, wherever they lie, waiting for them.
//
// What must hold:
// `batch` is from feedline_epoch_next(); `bytes` bytes may be written at `buffer`.
feedline_status feedline_batch_to_host(const struct feedline_batch *batch, void *buffer, size_t bytes);

// Copies an array to the host's memory, wherever it lies, waiting for it: of a view's handle that of the view. `bytes` are
// those that feedline_batch_tensor() says. FEEDLINE_STATUS_ABSENT, and nothing written, where the batch has none of it.
//
// What must hold:
// `batch` is from feedline_epoch_next(); `bytes` bytes may be written at `buffer`.
feedline_status feedline_batch_field_to_host(const struct feedline_batch *batch,
                                             int32_t field,
                                             void *buffer,
                                             size_t bytes);

// An array as a tensor of DLPack 1, which shares the batch's memory and keeps it: it may outlive the batch's handle, the
// epoch and the loader, and its deleter may be called on any thread. Pixels may be written as well, while nobody else uses
// them; all other arrays are marked as read-only.
// FEEDLINE_STATUS_ABSENT, and nothing written, where the batch has none of it. On a device call feedline_batch_use_on()
// or feedline_batch_wait() first.
//
// What must hold:
// `batch` is from feedline_epoch_next(); `tensor` may be written.
feedline_status feedline_batch_to_dlpack(const struct feedline_batch *batch,
                                         int32_t field,
                                         struct DLManagedTensorVersioned **tensor);

// The same as DLPack had it before version 1, which cannot say that an array may only be read.
//
// What must hold:
// As feedline_batch_to_dlpack().
feedline_status feedline_batch_to_dlpack_unversioned(const struct feedline_batch *batch,
                                                     int32_t field,
                                                     struct DLManagedTensor **tensor);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* FEEDLINE_H */
