//! The scan header (SOS).

use super::frame::Frame;
use crate::jpeg::error::{JpegError, corrupt};

/// One component's part in a scan.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ScanComponent {
    /// Its index in the frame.
    pub(crate) index: usize,
    /// The indices of its Huffman tables.
    pub(crate) dc: usize,
    pub(crate) ac: usize,
}

/// A checked scan header.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Scan {
    /// The first `count` are used.
    pub(crate) components: [ScanComponent; 4],
    pub(crate) count: usize,
    /// First and last coefficient in zigzag order, and the successive approximation's high and low bit.
    pub(crate) start: u8,
    pub(crate) end: u8,
    pub(crate) high: u8,
    pub(crate) low: u8,
}

impl Scan {
    /// Reads an SOS payload.
    pub(crate) fn parse(body: &[u8], frame: &Frame) -> Result<Self, JpegError> {
        let Some((&count, rest)) = body.split_first() else { return corrupt("a scan header is too short") };
        let count = usize::from(count);
        if !(1..=frame.count).contains(&count) || rest.len() != count * 2 + 3 {
            return corrupt("a scan header's length does not fit its components");
        }
        let mut scan = Scan { count, ..Scan::default() };
        let (fields, spectrum) = rest.split_at(count * 2);
        for (i, field) in fields.chunks_exact(2).enumerate() {
            let Some(index) = frame.used().iter().position(|component| component.id == field[0]) else {
                return corrupt("a scan names a component that the frame lacks");
            };
            if index < i {
                return corrupt("a scan names its components in another order than the frame");
            }
            let (dc, ac) = (usize::from(field[1] >> 4), usize::from(field[1] & 15));
            if dc > 3 || ac > 3 || scan.components[..i].iter().any(|earlier| earlier.index == index) {
                return corrupt("a scan names a component twice or a Huffman table above 3");
            }
            scan.components[i] = ScanComponent { index, dc, ac };
        }
        (scan.start, scan.end) = (spectrum[0], spectrum[1]);
        (scan.high, scan.low) = (spectrum[2] >> 4, spectrum[2] & 15);
        let blocks: usize = scan.used().iter().map(|c| frame.components[c.index]).map(|c| c.h * c.v).sum();
        if count > 1 && blocks > 10 {
            return corrupt("an MCU has more than ten blocks");
        }
        Ok(scan)
    }

    /// The components in the scan.
    pub(crate) fn used(&self) -> &[ScanComponent] {
        &self.components[..self.count]
    }
}
