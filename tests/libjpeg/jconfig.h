/* What libjpeg-turbo's build would write here, as far as jpeglib.h asks: the interface of libjpeg 6b. */
#define JPEG_LIB_VERSION 62
#define LIBJPEG_TURBO_VERSION_NUMBER 3001000
#define C_ARITH_CODING_SUPPORTED 1
#define D_ARITH_CODING_SUPPORTED 1
#define MEM_SRCDST_SUPPORTED 1
#define BITS_IN_JSAMPLE 8
