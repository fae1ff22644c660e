/* Decodes JPEG files to packed RGB with libjpeg-turbo, as torchvision and Pillow do, to count its instructions:
 * `libjpeg FILE...`. Files that it cannot decode are an error. */
#include <stdio.h>
#include <stdlib.h>
#include "jpeglib.h"

int main(int count, char **arguments)
{
    unsigned long sum = 0;
    for (int i = 1; i < count; i++) {
        struct jpeg_decompress_struct info;
        struct jpeg_error_mgr errors;
        FILE *file = fopen(arguments[i], "rb");
        if (!file) {
            perror(arguments[i]);
            return 1;
        }
        info.err = jpeg_std_error(&errors);
        jpeg_create_decompress(&info);
        jpeg_stdio_src(&info, file);
        jpeg_read_header(&info, TRUE);
        info.out_color_space = info.jpeg_color_space == JCS_CMYK || info.jpeg_color_space == JCS_YCCK ? JCS_CMYK : JCS_RGB;
        jpeg_start_decompress(&info);
        size_t stride = (size_t)info.output_width * info.output_components;
        unsigned char *pixels = malloc(stride * info.output_height);
        if (!pixels)
            abort();
        while (info.output_scanline < info.output_height) {
            JSAMPROW row = pixels + info.output_scanline * stride;
            jpeg_read_scanlines(&info, &row, 1);
        }
        sum += pixels[stride * info.output_height - 1];
        jpeg_finish_decompress(&info);
        jpeg_destroy_decompress(&info);
        free(pixels);
        fclose(file);
    }
    printf("%d files, last bytes %lu\n", count - 1, sum);
    return 0;
}
