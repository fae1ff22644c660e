//! The error of an nvJPEG call: which call, and its status.

use crate::device::cuda::driver::CudaError;

/// An nvJPEG call that failed, or the driver before it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum NvjpegError {
    /// The call's own status.
    #[error("{call}: {} ({status})", nvjpeg_sys::status_name(*status).unwrap_or("a status without a name"))]
    Status {
        /// The function's name in the library.
        call: &'static str,
        /// The returned status: kept as a number, since a newer library may have more.
        status: i32,
    },
    /// The context could not be made current.
    #[error(transparent)]
    Driver(#[from] CudaError),
}

impl NvjpegError {
    /// Whether the file is the cause, so that the same call may work for other files.
    pub(crate) fn blames_the_file(&self) -> bool {
        use nvjpeg_sys::{BAD_JPEG, INCOMPLETE_BITSTREAM, INVALID_PARAMETER, JPEG_NOT_SUPPORTED};
        let to_blame = [BAD_JPEG, JPEG_NOT_SUPPORTED, INCOMPLETE_BITSTREAM, INVALID_PARAMETER];
        matches!(self, NvjpegError::Status { status, .. } if to_blame.contains(status))
    }

    /// Whether it is what the file is, and not damage, that the library does not take: a sampling, a size, a part.
    pub(crate) fn blames_the_kind(&self) -> bool {
        use nvjpeg_sys::{IMPLEMENTATION_NOT_SUPPORTED, INVALID_PARAMETER, JPEG_NOT_SUPPORTED};
        let to_blame = [JPEG_NOT_SUPPORTED, INVALID_PARAMETER, IMPLEMENTATION_NOT_SUPPORTED];
        matches!(self, NvjpegError::Status { status, .. } if to_blame.contains(status))
    }

    /// Whether the backend does not exist on this device.
    pub(crate) fn lacks_the_engine(&self) -> bool {
        use nvjpeg_sys::{ARCH_MISMATCH, IMPLEMENTATION_NOT_SUPPORTED};
        let lacking = [ARCH_MISMATCH, IMPLEMENTATION_NOT_SUPPORTED];
        matches!(self, NvjpegError::Status { status, .. } if lacking.contains(status))
    }
}

/// The result of a call that returned `status`.
pub(super) fn check(call: &'static str, status: i32) -> Result<(), NvjpegError> {
    match status {
        nvjpeg_sys::SUCCESS => Ok(()),
        status => Err(NvjpegError::Status { call, status }),
    }
}

/// Calls a function of the library and checks what it returned: `call!(library, nvjpegDestroy(handle))`.
macro_rules! call {
    ($library:expr, $name:ident($($argument:expr),* $(,)?)) => {
        super::result::check(stringify!($name), ($library.functions.$name)($($argument),*))
    };
}
pub(super) use call;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_names_the_call_and_the_status() {
        let error = check("nvjpegDecodeJpegHost", 3).unwrap_err();
        assert_eq!(error.to_string(), "nvjpegDecodeJpegHost: NVJPEG_STATUS_BAD_JPEG (3)");
        assert!(error.blames_the_file() && !error.lacks_the_engine());
        let unknown = check("nvjpegDestroy", 99).unwrap_err();
        assert_eq!(unknown.to_string(), "nvjpegDestroy: a status without a name (99)");
        assert!(!unknown.blames_the_file());
    }
}
