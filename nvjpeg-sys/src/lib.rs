//! nvJPEG as its C header declares it, looked up at run time: what links this starts without nvJPEG.
//!
//! Only what decoding needs is declared, for nvJPEG 12 and 13, whose functions and numbers are the same. Numbers that C
//! has as enumerations are plain integers here, since a newer library may return ones that no declaration knows.
//! [`Library::open`] finds the library and all of its functions, or says what is missing.

#![warn(missing_docs)]

mod find;
mod functions;

pub use find::{Library, OpenError, VARIABLE, candidates};
pub use functions::Functions;

use std::ffi::{c_int, c_uchar, c_void};

/// What a function returns; [`SUCCESS`] or why not.
pub type Status = c_int;

/// Everything went well.
pub const SUCCESS: Status = 0;
/// The library handle was not initialised.
pub const NOT_INITIALIZED: Status = 1;
/// An argument makes no sense.
pub const INVALID_PARAMETER: Status = 2;
/// The bytes are no sound JPEG.
pub const BAD_JPEG: Status = 3;
/// A kind of JPEG that the backend does not decode.
pub const JPEG_NOT_SUPPORTED: Status = 4;
/// Memory could not be reserved.
pub const ALLOCATOR_FAILURE: Status = 5;
/// A kernel or copy failed.
pub const EXECUTION_FAILED: Status = 6;
/// The device is not one that the backend runs on: it has no decoding engine, say.
pub const ARCH_MISMATCH: Status = 7;
/// The library failed within itself.
pub const INTERNAL_ERROR: Status = 8;
/// The backend does not have this function.
pub const IMPLEMENTATION_NOT_SUPPORTED: Status = 9;
/// The bytes end too early.
pub const INCOMPLETE_BITSTREAM: Status = 10;

/// A status' name in the C header; none for one that it does not know.
pub fn status_name(status: Status) -> Option<&'static str> {
    Some(match status {
        SUCCESS => "NVJPEG_STATUS_SUCCESS",
        NOT_INITIALIZED => "NVJPEG_STATUS_NOT_INITIALIZED",
        INVALID_PARAMETER => "NVJPEG_STATUS_INVALID_PARAMETER",
        BAD_JPEG => "NVJPEG_STATUS_BAD_JPEG",
        JPEG_NOT_SUPPORTED => "NVJPEG_STATUS_JPEG_NOT_SUPPORTED",
        ALLOCATOR_FAILURE => "NVJPEG_STATUS_ALLOCATOR_FAILURE",
        EXECUTION_FAILED => "NVJPEG_STATUS_EXECUTION_FAILED",
        ARCH_MISMATCH => "NVJPEG_STATUS_ARCH_MISMATCH",
        INTERNAL_ERROR => "NVJPEG_STATUS_INTERNAL_ERROR",
        IMPLEMENTATION_NOT_SUPPORTED => "NVJPEG_STATUS_IMPLEMENTATION_NOT_SUPPORTED",
        INCOMPLETE_BITSTREAM => "NVJPEG_STATUS_INCOMPLETE_BITSTREAM",
        _ => return None,
    })
}

/// Who decodes.
pub type Backend = c_int;

/// Entropy decoding on the CPU, the rest on the GPU.
pub const BACKEND_HYBRID: Backend = 1;
/// Entropy decoding on the GPU too, for batches of more than 50 baseline images.
pub const BACKEND_GPU_HYBRID: Backend = 2;
/// The decoding engines that some GPUs have.
pub const BACKEND_HARDWARE: Backend = 3;

/// A truncated or otherwise unsound bitstream is an error, not a guess.
pub const FLAG_BITSTREAM_STRICT: u32 = 4;
/// Chroma is interpolated as libjpeg does, not repeated. Since 12.1.
pub const FLAG_UPSAMPLING_WITH_INTERPOLATION: u32 = 32;

/// What is written.
pub type OutputFormat = c_int;

/// Red, green and blue, byte by byte, into the first channel.
pub const OUTPUT_RGBI: OutputFormat = 5;

/// How densely chroma is stored.
pub type ChromaSubsampling = c_int;

/// 4:4:4.
pub const CSS_444: ChromaSubsampling = 0;
/// 4:2:2.
pub const CSS_422: ChromaSubsampling = 1;
/// 4:2:0.
pub const CSS_420: ChromaSubsampling = 2;
/// 4:4:0.
pub const CSS_440: ChromaSubsampling = 3;
/// 4:1:1.
pub const CSS_411: ChromaSubsampling = 4;
/// 4:1:0.
pub const CSS_410: ChromaSubsampling = 5;
/// One component.
pub const CSS_GRAY: ChromaSubsampling = 6;

/// Which part of a version [`Functions::nvjpegGetProperty`] is asked for.
pub type Property = c_int;

/// The number before the first dot.
pub const MAJOR_VERSION: Property = 0;
/// The number after the first dot.
pub const MINOR_VERSION: Property = 1;
/// The number after the second dot.
pub const PATCH_LEVEL: Property = 2;

/// Where an image is written, in device memory; interleaved formats use the first channel only.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Image {
    /// The first byte of each channel.
    pub channel: [*mut c_uchar; 4],
    /// Bytes from one row to the next, of each channel.
    pub pitch: [usize; 4],
}

const _: () = assert!(size_of::<Image>() == 4 * (size_of::<usize>() + size_of::<*mut u8>()));

/// A CUDA stream.
pub type CudaStream = *mut c_void;

macro_rules! opaque {
    ($($(#[$doc:meta])* $name:ident;)*) => {
        $(
            $(#[$doc])*
            #[repr(C)]
            pub struct $name {
                _private: [u8; 0],
                // Neither Send nor Sync, and never moved: only the library knows what is behind the pointer.
                _marker: core::marker::PhantomData<(*mut u8, core::marker::PhantomPinned)>,
            }
        )*
    };
}

opaque! {
    /// The library, opened for one backend and one device. Safe to use from any thread.
    Handle;
    /// What a decoder keeps between its phases or batches.
    JpegState;
    /// A parsed file.
    JpegStream;
    /// How one image is to be decoded.
    DecodeParams;
    /// A decoder of the decoupled phases.
    JpegDecoder;
    /// Page-locked memory that a state works in.
    BufferPinned;
    /// Device memory that a state works in.
    BufferDevice;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_status_of_a_newer_library_has_no_name() {
        assert_eq!(status_name(BAD_JPEG), Some("NVJPEG_STATUS_BAD_JPEG"));
        assert_eq!(status_name(77), None);
    }
}
