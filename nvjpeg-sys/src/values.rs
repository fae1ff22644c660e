//! The numbers: enumerations of the C header, which are plain integers here, and its flags.

use crate::declared::{Enumeration, Value, span};
use std::ffi::{c_int, c_uint};

macro_rules! enumerations {
    ($(
        $(#[$doc:meta])* $name:ident: $number:ident = $c:literal {
            $(
                $(#[$value_doc:meta])*
                $value:ident = $amount:literal $c_value:ident
                $(since($major:literal, $minor:literal, $patch:literal))?,
            )*
        }
    )*) => {
        $(
            $(#[$doc])*
            pub type $name = $number;
            $(
                $(#[$value_doc])*
                $(#[doc = concat!("Since ", $major, ".", $minor, ".", $patch, ".")])?
                pub const $value: $name = $amount;
            )*
        )*

        /// All enumerations, and the flags.
        pub const ENUMERATIONS: &[Enumeration] = &[$(Enumeration {
            name: stringify!($name),
            c: $c,
            bytes: size_of::<$name>(),
            values: &[$(Value {
                c: stringify!($c_value),
                value: $value as i64,
                span: span!($(since($major, $minor, $patch))?),
            }),*],
        }),*];
    };
}

enumerations! {
    /// What a function returns; [`SUCCESS`] or why not.
    Status: c_int = "nvjpegStatus_t" {
        /// Everything went well.
        SUCCESS = 0 NVJPEG_STATUS_SUCCESS,
        /// The library handle was not initialised.
        NOT_INITIALIZED = 1 NVJPEG_STATUS_NOT_INITIALIZED,
        /// An argument makes no sense.
        INVALID_PARAMETER = 2 NVJPEG_STATUS_INVALID_PARAMETER,
        /// The bytes are no sound JPEG.
        BAD_JPEG = 3 NVJPEG_STATUS_BAD_JPEG,
        /// A kind of JPEG that the backend does not decode.
        JPEG_NOT_SUPPORTED = 4 NVJPEG_STATUS_JPEG_NOT_SUPPORTED,
        /// Memory could not be reserved.
        ALLOCATOR_FAILURE = 5 NVJPEG_STATUS_ALLOCATOR_FAILURE,
        /// A kernel or copy failed.
        EXECUTION_FAILED = 6 NVJPEG_STATUS_EXECUTION_FAILED,
        /// The device is not one that the backend runs on: it has no decoding engine, say.
        ARCH_MISMATCH = 7 NVJPEG_STATUS_ARCH_MISMATCH,
        /// The library failed within itself.
        INTERNAL_ERROR = 8 NVJPEG_STATUS_INTERNAL_ERROR,
        /// The backend does not have this function.
        IMPLEMENTATION_NOT_SUPPORTED = 9 NVJPEG_STATUS_IMPLEMENTATION_NOT_SUPPORTED,
        /// The bytes end too early.
        INCOMPLETE_BITSTREAM = 10 NVJPEG_STATUS_INCOMPLETE_BITSTREAM,
    }

    /// Who decodes.
    Backend: c_int = "nvjpegBackend_t" {
        /// As the library sees fit.
        BACKEND_DEFAULT = 0 NVJPEG_BACKEND_DEFAULT,
        /// Entropy decoding on the CPU, the rest on the GPU.
        BACKEND_HYBRID = 1 NVJPEG_BACKEND_HYBRID,
        /// Entropy decoding on the GPU too, for batches of more than 50 baseline images.
        BACKEND_GPU_HYBRID = 2 NVJPEG_BACKEND_GPU_HYBRID,
        /// The decoding engines that some GPUs have.
        BACKEND_HARDWARE = 3 NVJPEG_BACKEND_HARDWARE,
        /// As [`BACKEND_GPU_HYBRID`], from bytes that are in device memory already; batches only.
        BACKEND_GPU_HYBRID_DEVICE = 4 NVJPEG_BACKEND_GPU_HYBRID_DEVICE,
        /// As [`BACKEND_HARDWARE`], from bytes that are in device memory already; batches only.
        BACKEND_HARDWARE_DEVICE = 5 NVJPEG_BACKEND_HARDWARE_DEVICE,
        /// Lossless JPEG, which no other backend decodes.
        BACKEND_LOSSLESS_JPEG = 6 NVJPEG_BACKEND_LOSSLESS_JPEG since(12, 1, 1),
    }

    /// How a handle works, joined by `|`.
    Flags: c_uint = "" {
        /// None of the others.
        FLAG_DEFAULT = 0 NVJPEG_FLAGS_DEFAULT,
        /// The batched call keeps no further images in hand, which takes less memory; engines only.
        FLAG_HW_DECODE_NO_PIPELINE = 1 NVJPEG_FLAGS_HW_DECODE_NO_PIPELINE,
        /// Without effect since CUDA 11.1.
        FLAG_ENABLE_MEMORY_POOLS = 2 NVJPEG_FLAGS_ENABLE_MEMORY_POOLS,
        /// A truncated or otherwise unsound bitstream is an error, not a guess.
        FLAG_BITSTREAM_STRICT = 4 NVJPEG_FLAGS_BITSTREAM_STRICT,
        /// Takes less memory where that can be; not on engines.
        FLAG_REDUCED_MEMORY_DECODE = 8 NVJPEG_FLAGS_REDUCED_MEMORY_DECODE,
        /// The device reads page-locked memory where it lies, where that can be.
        FLAG_REDUCED_MEMORY_DECODE_ZERO_COPY = 16 NVJPEG_FLAGS_REDUCED_MEMORY_DECODE_ZERO_COPY,
        /// Chroma is interpolated as libjpeg does, not repeated.
        FLAG_UPSAMPLING_WITH_INTERPOLATION = 32 NVJPEG_FLAGS_UPSAMPLING_WITH_INTERPOLATION,
    }

    /// What is written. Of formats without "interleaved", each component goes to a channel of its own.
    OutputFormat: c_int = "nvjpegOutputFormat_t" {
        /// The components as they are stored, without upsampling or conversion.
        OUTPUT_UNCHANGED = 0 NVJPEG_OUTPUT_UNCHANGED,
        /// Luma and chroma as they are stored; of grey images luma alone.
        OUTPUT_YUV = 1 NVJPEG_OUTPUT_YUV,
        /// Luma alone.
        OUTPUT_Y = 2 NVJPEG_OUTPUT_Y,
        /// Red, green and blue.
        OUTPUT_RGB = 3 NVJPEG_OUTPUT_RGB,
        /// Blue, green and red.
        OUTPUT_BGR = 4 NVJPEG_OUTPUT_BGR,
        /// Red, green and blue, interleaved.
        OUTPUT_RGBI = 5 NVJPEG_OUTPUT_RGBI,
        /// Blue, green and red, interleaved.
        OUTPUT_BGRI = 6 NVJPEG_OUTPUT_BGRI,
        /// The components as they are stored, of 16 bits, interleaved; of lossless files.
        OUTPUT_UNCHANGEDI_U16 = 7 NVJPEG_OUTPUT_UNCHANGEDI_U16 since(12, 1, 1),
        /// Luma, and chroma of 4:2:0 interleaved in a second channel.
        OUTPUT_NV12 = 8 NVJPEG_OUTPUT_NV12 since(12, 4, 0),
        /// Luma and chroma of 4:2:2, interleaved as Y U Y V.
        OUTPUT_YUY2 = 9 NVJPEG_OUTPUT_YUY2 since(12, 4, 0),
        /// The components as they are stored, interleaved.
        OUTPUT_UNCHANGEDI = 10 NVJPEG_OUTPUT_UNCHANGEDI since(13, 1, 0),
    }

    /// How densely chroma is stored.
    ChromaSubsampling: c_int = "nvjpegChromaSubsampling_t" {
        /// 4:4:4.
        CSS_444 = 0 NVJPEG_CSS_444,
        /// 4:2:2.
        CSS_422 = 1 NVJPEG_CSS_422,
        /// 4:2:0.
        CSS_420 = 2 NVJPEG_CSS_420,
        /// 4:4:0.
        CSS_440 = 3 NVJPEG_CSS_440,
        /// 4:1:1.
        CSS_411 = 4 NVJPEG_CSS_411,
        /// 4:1:0.
        CSS_410 = 5 NVJPEG_CSS_410,
        /// One component.
        CSS_GRAY = 6 NVJPEG_CSS_GRAY,
        /// A variant of 4:1:0.
        CSS_410V = 7 NVJPEG_CSS_410V,
        /// None of these.
        CSS_UNKNOWN = -1 NVJPEG_CSS_UNKNOWN,
    }

    /// How the frame is coded: the low byte of its marker.
    JpegEncoding: c_int = "nvjpegJpegEncoding_t" {
        /// None of these.
        ENCODING_UNKNOWN = 0 NVJPEG_ENCODING_UNKNOWN,
        /// Baseline.
        ENCODING_BASELINE_DCT = 0xc0 NVJPEG_ENCODING_BASELINE_DCT,
        /// Extended sequential, with Huffman codes.
        ENCODING_EXTENDED_SEQUENTIAL_DCT_HUFFMAN = 0xc1 NVJPEG_ENCODING_EXTENDED_SEQUENTIAL_DCT_HUFFMAN,
        /// Progressive, with Huffman codes.
        ENCODING_PROGRESSIVE_DCT_HUFFMAN = 0xc2 NVJPEG_ENCODING_PROGRESSIVE_DCT_HUFFMAN,
        /// Lossless, with Huffman codes.
        ENCODING_LOSSLESS_HUFFMAN = 0xc3 NVJPEG_ENCODING_LOSSLESS_HUFFMAN since(12, 1, 1),
    }

    /// How the stored image is to be turned: the numbers of Exif.
    ExifOrientation: c_int = "nvjpegExifOrientation_t" {
        /// Not told.
        ORIENTATION_UNKNOWN = 0 NVJPEG_ORIENTATION_UNKNOWN,
        /// As it is.
        ORIENTATION_NORMAL = 1 NVJPEG_ORIENTATION_NORMAL,
        /// Mirrored left to right.
        ORIENTATION_FLIP_HORIZONTAL = 2 NVJPEG_ORIENTATION_FLIP_HORIZONTAL,
        /// Upside down.
        ORIENTATION_ROTATE_180 = 3 NVJPEG_ORIENTATION_ROTATE_180,
        /// Mirrored top to bottom.
        ORIENTATION_FLIP_VERTICAL = 4 NVJPEG_ORIENTATION_FLIP_VERTICAL,
        /// Mirrored at the diagonal from the top left.
        ORIENTATION_TRANSPOSE = 5 NVJPEG_ORIENTATION_TRANSPOSE,
        /// Turned by a quarter.
        ORIENTATION_ROTATE_90 = 6 NVJPEG_ORIENTATION_ROTATE_90,
        /// Mirrored at the diagonal from the top right.
        ORIENTATION_TRANSVERSE = 7 NVJPEG_ORIENTATION_TRANSVERSE,
        /// Turned by three quarters.
        ORIENTATION_ROTATE_270 = 8 NVJPEG_ORIENTATION_ROTATE_270,
    }

    /// How much smaller an image is decoded; engines only.
    ScaleFactor: c_int = "nvjpegScaleFactor_t" {
        /// Not at all.
        SCALE_NONE = 0 NVJPEG_SCALE_NONE,
        /// A half of width and height.
        SCALE_1_BY_2 = 1 NVJPEG_SCALE_1_BY_2,
        /// A quarter.
        SCALE_1_BY_4 = 2 NVJPEG_SCALE_1_BY_4,
        /// An eighth.
        SCALE_1_BY_8 = 3 NVJPEG_SCALE_1_BY_8,
    }

    /// What an encoder is given.
    InputFormat: c_int = "nvjpegInputFormat_t" {
        /// Luma and chroma, each in a channel.
        INPUT_YUV = 1 NVJPEG_INPUT_YUV since(12, 4, 0),
        /// Red, green and blue, each in a channel.
        INPUT_RGB = 3 NVJPEG_INPUT_RGB,
        /// Blue, green and red, each in a channel.
        INPUT_BGR = 4 NVJPEG_INPUT_BGR,
        /// Red, green and blue, interleaved.
        INPUT_RGBI = 5 NVJPEG_INPUT_RGBI,
        /// Blue, green and red, interleaved.
        INPUT_BGRI = 6 NVJPEG_INPUT_BGRI,
        /// Luma, and chroma of 4:2:0 interleaved in a second channel.
        INPUT_NV12 = 8 NVJPEG_INPUT_NV12 since(12, 4, 0),
    }

    /// Who encodes.
    EncoderBackend: c_int = "nvjpegEncBackend_t" {
        /// As the library sees fit.
        ENC_BACKEND_DEFAULT = 0 NVJPEG_ENC_BACKEND_DEFAULT since(12, 4, 0),
        /// The GPU's processors.
        ENC_BACKEND_GPU = 1 NVJPEG_ENC_BACKEND_GPU since(12, 4, 0),
        /// An encoding engine, which few GPUs have.
        ENC_BACKEND_HARDWARE = 2 NVJPEG_ENC_BACKEND_HARDWARE since(12, 4, 0),
    }

    /// Which part of a version [`crate::Functions::nvjpegGetProperty`] is asked for.
    Property: c_int = "libraryPropertyType" {
        /// The number before the first dot.
        MAJOR_VERSION = 0 MAJOR_VERSION,
        /// The number after the first dot.
        MINOR_VERSION = 1 MINOR_VERSION,
        /// The number after the second dot.
        PATCH_LEVEL = 2 PATCH_LEVEL,
    }
}

/// A status' name in the C header; none for one that it does not know.
pub fn status_name(status: Status) -> Option<&'static str> {
    let statuses = ENUMERATIONS.iter().find(|enumeration| enumeration.name == "Status")?;
    statuses.values.iter().find(|value| value.value == i64::from(status)).map(|value| value.c)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_status_of_a_newer_library_has_no_name() {
        assert_eq!(status_name(BAD_JPEG), Some("NVJPEG_STATUS_BAD_JPEG"));
        assert_eq!(status_name(INCOMPLETE_BITSTREAM), Some("NVJPEG_STATUS_INCOMPLETE_BITSTREAM"));
        assert_eq!(status_name(77), None);
    }

    #[test]
    fn no_number_of_an_enumeration_stands_for_two_things() {
        for enumeration in ENUMERATIONS {
            let mut values: Vec<i64> = enumeration.values.iter().map(|value| value.value).collect();
            values.sort_unstable();
            values.dedup();
            assert_eq!(values.len(), enumeration.values.len(), "{}", enumeration.name);
        }
    }
}
