//! Pixels on their way to the device: laid out there as they lie in the host's memory, so that few copies carry many
//! images.

use super::source_bytes::{SourceBytes, StagedPixels};
use super::staging::InFlight;
use super::submitted_row::SubmittedRow;
use crate::device::cuda::driver::DevicePtr;
use crate::device::cuda::host_bytes::{self, Run};

/// Lays the images of rows out anew in as much of the arena as before: pixels in the order of their addresses, behind what
/// the device decodes. Those that adjoin on the host then adjoin there.
pub(super) fn lay_out_in_a_row(rows: &mut [SubmittedRow]) {
    let (mut pixels, mut end) = (Vec::new(), 0);
    let good = rows.iter_mut().filter(|row| row.failed.is_none());
    for (source, location) in good.flat_map(SubmittedRow::laid_out) {
        match source {
            Some(SourceBytes::Pixels(staged)) => pixels.push((staged.bytes.address(), location)),
            _ => end = location.lay_out(end),
        }
    }
    pixels.sort_unstable_by_key(|(address, _)| *address);
    for (_, location) in pixels {
        end = location.lay_out(end);
    }
}

/// The copies that carry all pixels among `images` to their addresses, which `in_flight` keeps.
pub(super) fn runs<'a>(
    images: impl Iterator<Item = (&'a SourceBytes, DevicePtr)>,
    in_flight: &mut InFlight,
) -> Vec<Run> {
    host_bytes::runs(images.filter_map(|(source, to)| match source {
        SourceBytes::Pixels(StagedPixels { bytes, .. }) => Some((in_flight.lend(bytes), to)),
        _ => None,
    }))
}
