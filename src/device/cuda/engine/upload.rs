//! Pixels on their way to the device: laid out there as they lie in the host's memory, so that few copies carry many
//! images.

use super::source_bytes::{SourceBytes, StagedPixels};
use super::staging::StagingBuffer;
use super::submitted_row::SubmittedRow;
use crate::device::cuda::driver::DevicePtr;

/// Bytes that one copy carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Run {
    pub(super) from: *const u8,
    pub(super) to: DevicePtr,
    pub(super) len: usize,
}

/// Lays the images of rows out anew in as much of the arena as before: pixels in the order of their addresses, behind what
/// the device decodes. Those that adjoin on the host then adjoin there.
pub(super) fn lay_out_in_a_row(rows: &mut [SubmittedRow]) {
    let (mut pixels, mut end) = (Vec::new(), 0);
    let good = rows.iter_mut().filter(|row| row.failed.is_none());
    for (source, location) in good.flat_map(SubmittedRow::laid_out) {
        match source {
            Some(SourceBytes::Pixels(staged)) => pixels.push((staged.bytes.as_ptr(), location)),
            _ => end = location.lay_out(end),
        }
    }
    pixels.sort_unstable_by_key(|(address, _)| *address);
    for (_, location) in pixels {
        end = location.lay_out(end);
    }
}

/// The copies that carry all pixels among `images` to their addresses.
pub(super) fn runs<'a>(images: impl Iterator<Item = (&'a SourceBytes, DevicePtr)>) -> Vec<Run> {
    let pixels = images.filter_map(|(source, to)| match source {
        SourceBytes::Pixels(StagedPixels { bytes, .. }) if !bytes.bytes().is_empty() => Some((&**bytes, to)),
        _ => None,
    });
    let mut pixels: Vec<(&StagingBuffer, DevicePtr)> = pixels.collect();
    pixels.sort_unstable_by_key(|(bytes, _)| bytes.as_ptr());
    let mut runs: Vec<Run> = Vec::new();
    let mut last: Option<(&StagingBuffer, DevicePtr)> = None;
    for (bytes, to) in pixels {
        let from = bytes.as_ptr();
        let behind = |(before, at): (&StagingBuffer, DevicePtr)| {
            before.adjoins(bytes) && to.wrapping_sub(at) as usize == from.addr() - before.as_ptr().addr()
        };
        match runs.last_mut().filter(|_| last.is_some_and(behind)) {
            Some(run) => run.len = from.addr() - run.from.addr() + bytes.bytes().len(),
            None => runs.push(Run { from, to, len: bytes.bytes().len() }),
        }
        last = Some((bytes, to));
    }
    runs
}
