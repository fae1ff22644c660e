//! The segments of a file up to its first scan.

use crate::jpeg::entropy::Tables;
use crate::jpeg::error::{JpegError, corrupt};
use crate::jpeg::header::marker::{self, Markers};
use crate::jpeg::header::{Frame, Header, Scan};

/// The first scan, the offset of its data, and in `tables` what the segments ahead of it define.
///
/// `header` must come from [`crate::jpeg::parse_header`] of the same bytes.
pub(in crate::jpeg) fn find(
    bytes: &[u8],
    header: &Header,
    tables: &mut Tables,
) -> Result<(Scan, usize), JpegError> {
    tables.reset();
    let mut markers = Markers::new(bytes)?;
    let mut frame = None;
    loop {
        let segment = markers.next()?.ok_or(JpegError::Truncated { place: "the header" })?;
        match segment.marker {
            marker::SOS if segment.is_cut => return Err(JpegError::Truncated { place: "a scan header" }),
            marker::SOS => {
                let scan = Scan::parse(segment.body, &header.frame)?;
                if frame != Some(header.frame) {
                    let what = "the header belongs to another file";
                    return Err(JpegError::Request { what, region: header.size.rect(), size: header.size });
                }
                return Ok((scan, markers.at));
            }
            marker::EOI => return corrupt("the file ends before its first scan"),
            marker::DHT => tables.apply(&segment)?,
            marker::DAC => return corrupt("conditioning of arithmetic coding in a file without it"),
            0xC0..=0xCF => frame = Some(Frame::parse(segment.marker, segment.body)?),
            _ => tables.apply(&segment)?,
        }
    }
}
