//! Walks from marker to marker; every length is checked against the bytes that are there.

use crate::jpeg::error::{JpegError, corrupt};

/// Start of image.
pub(crate) const SOI: u8 = 0xD8;
/// End of image.
pub(crate) const EOI: u8 = 0xD9;
/// Start of scan.
pub(crate) const SOS: u8 = 0xDA;
/// Quantisation tables.
pub(crate) const DQT: u8 = 0xDB;
/// Huffman tables.
pub(crate) const DHT: u8 = 0xC4;
/// Conditioning of arithmetic coding.
pub(crate) const DAC: u8 = 0xCC;
/// Restart interval.
pub(crate) const DRI: u8 = 0xDD;
/// Number of lines, which decoders pass.
pub(crate) const DNL: u8 = 0xDC;
/// JFIF.
pub(crate) const APP0: u8 = 0xE0;
/// EXIF.
pub(crate) const APP1: u8 = 0xE1;
/// Adobe.
pub(crate) const APP14: u8 = 0xEE;

/// A comment.
pub(crate) const COM: u8 = 0xFE;

/// A marker and the bytes that belong to it, without its length field.
#[derive(Clone, Copy)]
pub(crate) struct Segment<'a> {
    /// The byte after FF.
    pub(crate) marker: u8,
    /// Its payload; empty for the markers that have none.
    pub(crate) body: &'a [u8],
    /// Whether the file ends in it; only scan headers may be so.
    pub(crate) is_cut: bool,
}

/// A position between two segments of a file.
#[derive(Clone, Copy)]
pub(crate) struct Markers<'a> {
    bytes: &'a [u8],
    /// Offset of the next unread byte.
    pub(crate) at: usize,
}

impl<'a> Markers<'a> {
    /// Starts after SOI, which must be the first two bytes.
    pub(crate) fn new(bytes: &'a [u8]) -> Result<Self, JpegError> {
        if bytes.len() < 2 || bytes[0] != 0xFF || bytes[1] != SOI {
            return Err(JpegError::NotJpeg);
        }
        Ok(Self { bytes, at: 2 })
    }

    /// Continues at offset `at` of the same file.
    pub(crate) fn resume(bytes: &'a [u8], at: usize) -> Self {
        Self { bytes, at }
    }

    /// The next segment, or `None` where the bytes end between markers.
    ///
    /// Bytes before a marker are skipped, as every decoder does: some cameras pad there.
    pub(crate) fn next(&mut self) -> Result<Option<Segment<'a>>, JpegError> {
        let Some(marker) = self.next_marker() else { return Ok(None) };
        if matches!(marker, 0x01 | 0xD0..=0xD9) {
            return Ok(Some(Segment { marker, body: &[], is_cut: false }));
        }
        if matches!(marker, 0x02..=0xBF | 0xDF | 0xF0..=0xFD) {
            return corrupt("a marker that no decoder knows");
        }
        let truncated = JpegError::Truncated { place: "a marker segment" };
        let Some(&[high, low]) = self.bytes.get(self.at..self.at + 2) else { return Err(truncated) };
        let mut length = usize::from(u16::from_be_bytes([high, low]));
        if length < 2 {
            // libjpeg passes such a segment where it would not read it.
            if !matches!(marker, APP0..=0xEF | COM | DNL) {
                return corrupt("a marker segment is shorter than its own length field");
            }
            length = 2;
        }
        let all = &self.bytes[self.at + 2..];
        let (body, is_cut) = match all.get(..length - 2) {
            Some(body) => (body, false),
            // libjpeg completes a scan header from the end marker that it puts behind each file.
            None if marker == SOS => (all, true),
            None => return Err(truncated),
        };
        self.at += 2 + body.len();
        Ok(Some(Segment { marker, body, is_cut }))
    }

    fn next_marker(&mut self) -> Option<u8> {
        loop {
            let skip = self.bytes.get(self.at..)?.iter().position(|&byte| byte == 0xFF)?;
            self.at += skip;
            while *self.bytes.get(self.at)? == 0xFF {
                self.at += 1;
            }
            let marker = self.bytes[self.at];
            self.at += 1;
            if marker != 0 {
                return Some(marker);
            }
        }
    }
}
