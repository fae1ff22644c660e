/*
 * What libjpeg-turbo makes of a file: the reference for damaged JPEGs.
 *
 * Decodes as feedline promises to: jpeg_mem_src, ISLOW, fancy upsampling, block smoothing, to the end of the file. Built
 * by build.sh as a shared library, which the differential tests and the fuzzers load.
 */
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jpeglib.h>

enum { INTACT = 0, DAMAGED = 1, REFUSED = 2 };

struct answer {
    uint8_t *pixels; /* RGB, to be given back with reference_free; NULL where there are none */
    uint32_t width, height;
    char message[JMSG_LENGTH_MAX]; /* the first warning, or why the file was refused */
};

struct errors {
    struct jpeg_error_mgr base;
    jmp_buf refused;
    struct answer *answer;
};

static void refuse(j_common_ptr jpeg)
{
    struct errors *errors = (struct errors *)jpeg->err;
    jpeg->err->format_message(jpeg, errors->answer->message);
    longjmp(errors->refused, 1);
}

/* Level -1 is a warning, all others are traces. */
static void note(j_common_ptr jpeg, int level)
{
    struct errors *errors = (struct errors *)jpeg->err;
    if (level < 0 && jpeg->err->num_warnings++ == 0)
        jpeg->err->format_message(jpeg, errors->answer->message);
}

static uint8_t ink(uint8_t color, uint8_t black)
{
    unsigned product = (255u - color) * black + 128;
    product = ((product >> 8) + product) >> 8;
    return product > black ? 0 : (uint8_t)(black - product);
}

static void row_of_inks(const uint8_t *from, uint8_t *to, uint32_t width)
{
    for (uint32_t x = 0; x < width; x++)
        for (int i = 0; i < 3; i++)
            to[3 * x + i] = ink(from[4 * x + i], from[4 * x + 3]);
}

/* At a scale of 1/1, 1/2, 1/4 or 1/8. */
int reference_decode(const uint8_t *bytes, size_t length, uint64_t max_pixels, unsigned scale, struct answer *answer)
{
    struct jpeg_decompress_struct jpeg;
    struct errors errors;
    uint8_t *volatile row = NULL;

    memset(answer, 0, sizeof(*answer));
    jpeg.err = jpeg_std_error(&errors.base);
    errors.base.error_exit = refuse;
    errors.base.emit_message = note;
    errors.answer = answer;
    if (setjmp(errors.refused)) {
        free(row);
        free(answer->pixels);
        answer->pixels = NULL;
        jpeg_destroy_decompress(&jpeg);
        return REFUSED;
    }
    jpeg_create_decompress(&jpeg);
    jpeg_mem_src(&jpeg, (unsigned char *)bytes, length);
    jpeg_read_header(&jpeg, TRUE);
    if (jpeg.num_components != 1 && jpeg.num_components != 3 && jpeg.num_components != 4) {
        strcpy(answer->message, "a count of components that has no colours");
        longjmp(errors.refused, 1);
    }
    if ((uint64_t)jpeg.image_width * jpeg.image_height > max_pixels) {
        strcpy(answer->message, "too many pixels");
        longjmp(errors.refused, 1);
    }
    jpeg.scale_num = 1;
    jpeg.scale_denom = scale;
    jpeg.dct_method = JDCT_ISLOW;
    jpeg.do_fancy_upsampling = TRUE;
    jpeg.do_block_smoothing = TRUE;
    jpeg.out_color_space = jpeg.num_components == 4 ? JCS_CMYK : JCS_RGB;
    jpeg_start_decompress(&jpeg);
    answer->width = jpeg.output_width;
    answer->height = jpeg.output_height;
    answer->pixels = malloc((size_t)3 * answer->width * answer->height);
    row = malloc((size_t)4 * answer->width);
    if (!answer->pixels || !row) {
        strcpy(answer->message, "out of memory");
        longjmp(errors.refused, 1);
    }
    while (jpeg.output_scanline < jpeg.output_height) {
        uint8_t *to = answer->pixels + (size_t)3 * answer->width * jpeg.output_scanline;
        uint8_t *line = jpeg.num_components == 4 ? row : to;
        jpeg_read_scanlines(&jpeg, &line, 1);
        if (jpeg.num_components == 4)
            row_of_inks(row, to, answer->width);
    }
    jpeg_finish_decompress(&jpeg);
    long warnings = jpeg.err->num_warnings;
    jpeg_destroy_decompress(&jpeg);
    free(row);
    return warnings ? DAMAGED : INTACT;
}

/* Writes the coefficients of a file as an arithmetic-coded one; returns its length, 0 if that cannot be done. */
size_t reference_arithmetic(const uint8_t *bytes, size_t length, int progressive, int restart, uint8_t *to, size_t room)
{
    struct jpeg_decompress_struct from;
    struct jpeg_compress_struct into;
    struct errors errors;
    struct answer answer;
    unsigned char *written = NULL;
    unsigned long size = 0;

    memset(&answer, 0, sizeof(answer));
    from.err = into.err = jpeg_std_error(&errors.base);
    errors.base.error_exit = refuse;
    errors.answer = &answer;
    if (setjmp(errors.refused))
        return 0;
    jpeg_create_decompress(&from);
    jpeg_create_compress(&into);
    jpeg_mem_src(&from, (unsigned char *)bytes, length);
    jpeg_mem_dest(&into, &written, &size);
    jpeg_read_header(&from, TRUE);
    jvirt_barray_ptr *coefficients = jpeg_read_coefficients(&from);
    jpeg_copy_critical_parameters(&from, &into);
    into.arith_code = TRUE;
    into.restart_interval = restart;
    if (progressive)
        jpeg_simple_progression(&into);
    jpeg_write_coefficients(&into, coefficients);
    jpeg_finish_compress(&into);
    jpeg_finish_decompress(&from);
    jpeg_destroy_compress(&into);
    jpeg_destroy_decompress(&from);
    if (size <= room)
        memcpy(to, written, size);
    free(written);
    return size <= room ? size : 0;
}

void reference_free(struct answer *answer)
{
    free(answer->pixels);
    answer->pixels = NULL;
}
