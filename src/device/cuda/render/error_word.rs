//! The word in which kernels report what they do not know: in the host's pinned memory, so that the host reads it where it
//! has waited for the device anyhow.

#![expect(unsafe_code, reason = "reads and writes a word that the device writes too")]

use super::layout::{ERROR_COLOR_OP, ERROR_LEVEL_TABLE};
use crate::device::cuda::driver::{Context, CudaError, DevicePtr, PinnedBuffer};
use crate::error::Cause;

/// A word that kernels may store an error in; 0 where they met none.
pub(crate) struct ErrorWord(PinnedBuffer);

impl ErrorWord {
    pub(crate) fn new(context: &Context) -> Result<Self, CudaError> {
        Ok(Self(PinnedBuffer::new(context, size_of::<u32>())?))
    }

    /// Where kernels find it. Pinned memory has one address for host and device, on every device with unified addressing.
    pub(crate) fn address(&self) -> DevicePtr {
        self.0.as_ptr() as DevicePtr
    }

    /// What the kernels have reported. The caller has waited for all that were launched with the address.
    pub(crate) fn check(&self) -> Result<(), Cause> {
        // SAFETY: the buffer holds an aligned u32, and no kernel writes it any more.
        let word = unsafe { self.0.as_ptr().cast::<u32>().read_volatile() };
        let (kind, code) = (word & !0xFFFF, word & 0xFFFF);
        let what = match kind {
            0 => return Ok(()),
            ERROR_COLOR_OP => "a colour operation",
            ERROR_LEVEL_TABLE => "a table of levels",
            _ => "something",
        };
        Err(format!(
            "the CUDA kernels met {what} with the unknown code {code}, and left pixels as they were: kernels and library do \
             not fit together"
        )
        .into())
    }

    /// The same, and forgets it.
    pub(crate) fn take(&self) -> Result<(), Cause> {
        let reported = self.check();
        // SAFETY: as in `check`.
        unsafe { self.0.as_mut_ptr().cast::<u32>().write_volatile(0) };
        reported
    }
}
