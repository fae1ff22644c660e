/* libjpeg-turbo's shortest way to a rectangle of an image, with its errors as text instead of a call of exit(). */

#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jpeglib.h>

/* Rows that are asked for at once: those of an iMCU row at most. */
#define ROWS 16
#define TEXT(number) #number
#define TEXT_OF(macro) TEXT(macro)

/* Of libjpeg-turbo's own headers, which are not installed: whether its vector code is there. */
extern int jsimd_can_idct_islow(void);

struct turbo {
  struct jpeg_decompress_struct cinfo;
  struct jpeg_error_mgr errors;
  jmp_buf failed;
  char message[JMSG_LENGTH_MAX];
};

static void fail(j_common_ptr cinfo) {
  struct turbo *turbo = cinfo->client_data;
  cinfo->err->format_message(cinfo, turbo->message);
  longjmp(turbo->failed, 1);
}

/* Warnings are damage that is gone on from: files with such are none to compare with. */
static void warn(j_common_ptr cinfo, int level) {
  if (level < 0) fail(cinfo);
}

const char *turbo_version(void) { return TEXT_OF(LIBJPEG_TURBO_VERSION); }

int turbo_has_simd(void) { return jsimd_can_idct_islow(); }

/* A decoder that is kept from image to image; NULL where there is no memory. */
struct turbo *turbo_new(void) {
  struct turbo *volatile turbo = calloc(1, sizeof *turbo);
  if (turbo == NULL) return NULL;
  turbo->cinfo.err = jpeg_std_error(&turbo->errors);
  turbo->errors.error_exit = fail;
  turbo->errors.emit_message = warn;
  turbo->cinfo.client_data = turbo;
  if (setjmp(turbo->failed)) {
    free(turbo);
    return NULL;
  }
  jpeg_create_decompress(&turbo->cinfo);
  return turbo;
}

void turbo_free(struct turbo *turbo) {
  jpeg_destroy_decompress(&turbo->cinfo);
  free(turbo);
}

const char *turbo_message(const struct turbo *turbo) { return turbo->message; }

/*
 * Decodes `rect` (left, top, width, height) to packed RGB in `out`, with ISLOW and fancy upsampling. The library moves
 * the left edge to the left, to a multiple of an iMCU, and `rect` comes back with what was decoded; rows follow each
 * other without a gap. What lies below is not read. Returns 0, or 1 where there is a message.
 */
int turbo_decode(struct turbo *turbo, const uint8_t *bytes, size_t length, uint32_t rect[4], uint8_t *out,
                 size_t capacity) {
  struct jpeg_decompress_struct *cinfo = &turbo->cinfo;
  JDIMENSION left = rect[0], width = rect[2], bottom = rect[1] + rect[3];
  if (setjmp(turbo->failed)) {
    jpeg_abort_decompress(cinfo);
    return 1;
  }
  jpeg_mem_src(cinfo, bytes, length);
  jpeg_read_header(cinfo, TRUE);
  cinfo->out_color_space = JCS_RGB;
  cinfo->dct_method = JDCT_ISLOW;
  cinfo->do_fancy_upsampling = TRUE;
  jpeg_start_decompress(cinfo);
  if (width != cinfo->output_width) jpeg_crop_scanline(cinfo, &left, &width);
  if (bottom > cinfo->output_height || (size_t)width * 3 * rect[3] > capacity) {
    strcpy(turbo->message, "the rectangle leaves the image, or is larger than the buffer");
    jpeg_abort_decompress(cinfo);
    return 1;
  }
  if (rect[1] > 0) jpeg_skip_scanlines(cinfo, rect[1]);
  while (cinfo->output_scanline < bottom) {
    JSAMPROW rows[ROWS];
    JDIMENSION count = bottom - cinfo->output_scanline;
    if (count > ROWS) count = ROWS;
    for (JDIMENSION i = 0; i < count; i++)
      rows[i] = out + (size_t)(cinfo->output_scanline - rect[1] + i) * width * 3;
    jpeg_read_scanlines(cinfo, rows, count);
  }
  jpeg_abort_decompress(cinfo);
  rect[0] = left;
  rect[2] = width;
  return 0;
}
