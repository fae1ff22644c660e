//! Rendering on a CUDA device: what `src/device/cpu/render.rs` does, to the bit, for whole batches at a time.
//!
//! ```text
//! plans, surfaces --lower--> Tables --schedule--> Program: one block of bytes, and a short list of launches
//! ```
//!
//! [`Program`] is plain host data. [`Kernels`] are the loaded kernels, which run it. Launches follow each other in levels:
//! first the taps of all resampled layers, then, once for each statistic or pass that others wait for, a canvas in the
//! scratch memory, and at last the samples. A batch without statistics and passes takes two.

mod append;
mod check;
mod crop;
mod error_word;
mod filters;
mod kernels;
mod layers;
#[doc(hidden)]
pub mod layout;
mod lower;
mod renderer;
mod schedule;
mod source;
mod steps;
mod tables;
#[cfg(test)]
mod tests;

pub(crate) use check::plan as check_plan;
pub(crate) use error_word::ErrorWord;
pub(crate) use kernels::Kernels;
pub use renderer::Renderer;

use super::driver::DevicePtr;
use crate::error::Cause;
use crate::geometry::{Rect, Size};
use crate::output::Output;
use crate::plan::Plan;
use lower::Lowering;
use schedule::Launch;
use tables::Tables;

/// Decoded pixels in the device's memory: packed RGB rows of a region of a stored image.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Surface {
    /// Address of the first row, a multiple of four.
    pub(crate) ptr: DevicePtr,
    /// Bytes from one row to the next.
    pub(crate) pitch: u32,
    /// The part of the stored image that is there.
    pub(crate) region: Rect,
    /// Size of the whole stored image.
    pub(crate) stored: Size,
}

/// One sample of a batch.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sample<'a> {
    /// What is to be done.
    pub(crate) plan: &'a Plan,
    /// One for each image of the plan.
    pub(crate) surfaces: &'a [Surface],
    /// Where the sample goes, a multiple of the bytes of one value.
    pub(crate) output: DevicePtr,
}

/// The work on a batch: tables for the device, and launches in order. It makes no call of the driver.
#[derive(Debug, Default)]
pub(crate) struct Program {
    /// What the device reads; it goes to an address that is a multiple of 256.
    pub(crate) tables: Vec<u8>,
    /// Bytes of memory that the kernels need between them.
    pub(crate) scratch_bytes: usize,
    /// Offset and bytes of the statistics' sums in the scratch memory, which are zero at first.
    sums: (u64, usize),
    launches: Vec<Launch>,
}

impl Program {
    /// Works out what the device has to do for `samples`. Kernels report at the address `errors`, that of
    /// [`ErrorWord::address`].
    ///
    /// # Errors
    /// When a plan asks for what the surfaces do not hold, or for something that the kernels lack.
    pub(crate) fn build(samples: &[Sample<'_>], output: &Output, errors: DevicePtr) -> Result<Self, Cause> {
        let mut tables = Tables::default();
        for sample in samples {
            let lowered =
                check::sample(sample, output).and_then(|()| Lowering::new(&mut tables, sample, output).run());
            lowered.map_err(|cause| {
                let index = sample.plan.images.first().map_or(0, |image| image.index);
                Cause::from(format!("sample {index}: {cause}"))
            })?;
        }
        tables.finish(output, errors)
    }
}
