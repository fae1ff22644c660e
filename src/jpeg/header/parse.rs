//! The properties of a JPEG that are known before it is decoded: size, orientation, sampling, kind.

use super::exif;
use super::frame::Frame;
use super::marker::{self, Markers, Segment};
use crate::geometry::{Orientation, Size};
use crate::jpeg::error::{JpegError, corrupt, unsupported};

/// The meaning of the components, and so how they become RGB.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ColorModel {
    /// One component, replicated to red, green and blue.
    #[default]
    Grey,
    /// Luma and two colour differences, as JFIF defines them.
    YCbCr,
    /// Red, green and blue as they are.
    Rgb,
    /// Four inks, stored inverted as Adobe's programs do.
    Cmyk,
    /// Four inks of which the first three are coded like YCbCr.
    Ycck,
}

impl ColorModel {
    /// How many components it has.
    pub(crate) fn components(self) -> u8 {
        match self {
            Self::Grey => 1,
            Self::YCbCr | Self::Rgb => 3,
            Self::Cmyk | Self::Ycck => 4,
        }
    }
}

/// The sampling factors of each component: how many blocks of it an MCU holds, across and down.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sampling {
    factors: [(u8, u8); 4],
    count: u8,
}

impl Sampling {
    pub(crate) fn of(frame: &Frame) -> Self {
        let mut factors = [(0, 0); 4];
        for (factor, component) in factors.iter_mut().zip(frame.used()) {
            *factor = (component.h as u8, component.v as u8);
        }
        Self { factors, count: frame.count as u8 }
    }

    /// (across, down) of each component, each 1 to 4.
    pub fn factors(&self) -> &[(u8, u8)] {
        &self.factors[..usize::from(self.count)]
    }

    /// The usual name (`4:2:0`), `grey` for one component, or `other` where no name is in use.
    pub fn name(&self) -> &'static str {
        let &[luma, cb, cr, ..] = self.factors() else { return "grey" };
        let black_fits = self.factors().get(3).is_none_or(|&black| black == luma);
        if cb != cr || !black_fits || luma.0 % cb.0 != 0 || luma.1 % cb.1 != 0 {
            return "other";
        }
        match (luma.0 / cb.0, luma.1 / cb.1) {
            (1, 1) => "4:4:4",
            (2, 1) => "4:2:2",
            (2, 2) => "4:2:0",
            (1, 2) => "4:4:0",
            (4, 1) => "4:1:1",
            (4, 2) => "4:1:0",
            (1, 4) => "4:4:1",
            _ => "other",
        }
    }
}

impl std::fmt::Display for Sampling {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

/// The properties of the image that the bytes before the first scan give.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Header {
    /// Stored size in pixels, before the orientation is applied; each side is 1 to 65535.
    pub size: Size,
    /// 1 (grey), 3 or 4.
    pub components: u8,
    /// How densely each component is stored.
    pub sampling: Sampling,
    /// Bits per sample: always 8; other depths are refused.
    pub precision: u8,
    /// Whether the coefficients come in several passes.
    pub progressive: bool,
    /// Whether the frame is a baseline one (SOF0), which every decoder takes.
    pub baseline: bool,
    /// Whether the coefficients are coded arithmetically, and not by Huffman codes.
    pub arithmetic: bool,
    /// Components in the first scan; if these are fewer than `components`, the scans are not interleaved.
    pub first_scan: u8,
    /// MCUs between restart markers at the first scan; 0 means none.
    pub restart_interval: u16,
    /// How to turn the stored pixels upright, from EXIF; upright if the file has no orientation.
    pub orientation: Orientation,
    /// The transform that an Adobe marker names: 0 none, 1 YCbCr, 2 YCCK.
    pub adobe_transform: Option<u8>,
    /// Whether a JFIF marker is there.
    pub jfif: bool,
    /// How the components become RGB.
    pub color: ColorModel,
    /// The frame. The decoder compares it with the one in the bytes, to notice a header of another file.
    pub(crate) frame: Frame,
}

#[cfg(feature = "cuda")]
impl Header {
    /// Whether it is a baseline file whose first scan holds all components, so that there is no other.
    pub(crate) fn has_one_scan(&self) -> bool {
        self.baseline && self.first_scan == self.components
    }
}

/// Parses everything up to and including the first scan header. Allocates nothing and reads nothing out of bounds.
///
/// Tables are not looked at: a header that parses can still belong to a file that does not decode.
pub fn parse_header(bytes: &[u8]) -> Result<Header, JpegError> {
    let mut markers = Markers::new(bytes)?;
    let mut found = Found::default();
    loop {
        let segment = markers.next()?.ok_or(JpegError::Truncated { place: "the header" })?;
        match segment.marker {
            marker::SOS => return found.finish(segment.body),
            marker::EOI => return corrupt("the file ends before its first scan"),
            _ => found.note(&segment)?,
        }
    }
}

#[derive(Default)]
struct Found {
    frame: Option<Frame>,
    baseline: bool,
    restart_interval: u16,
    orientation: Option<Orientation>,
    adobe_transform: Option<u8>,
    jfif: bool,
}

impl Found {
    fn note(&mut self, segment: &Segment<'_>) -> Result<(), JpegError> {
        let body = segment.body;
        match segment.marker {
            marker::DHT | marker::DAC => {}
            marker::SOI => return corrupt("a second image begins inside the first"),
            0xC0..=0xCF if self.frame.is_some() => return corrupt("there are two frame headers"),
            0xC0..=0xCF => {
                self.frame = Some(Frame::parse(segment.marker, body)?);
                self.baseline = segment.marker == 0xC0;
            }
            0xDE => return unsupported("hierarchical coding"),
            marker::DRI if body.len() == 2 => self.restart_interval = u16::from_be_bytes([body[0], body[1]]),
            marker::APP0 if body.len() >= 14 && body.starts_with(b"JFIF\0") => self.jfif = true,
            marker::APP1 => self.orientation = self.orientation.or_else(|| exif::orientation(body)),
            marker::APP14 if body.len() >= 12 && body.starts_with(b"Adobe") => {
                self.adobe_transform = Some(body[11]);
            }
            _ => {}
        }
        Ok(())
    }

    fn finish(self, scan: &[u8]) -> Result<Header, JpegError> {
        let Some(frame) = self.frame else { return corrupt("a scan comes before the frame header") };
        Ok(Header {
            size: frame.size,
            components: frame.count as u8,
            sampling: Sampling::of(&frame),
            precision: frame.precision,
            progressive: frame.progressive,
            baseline: self.baseline,
            arithmetic: frame.arithmetic,
            first_scan: scan.first().copied().unwrap_or(0),
            restart_interval: self.restart_interval,
            orientation: self.orientation.unwrap_or_default(),
            adobe_transform: self.adobe_transform,
            jfif: self.jfif,
            color: self.color(&frame),
            frame,
        })
    }

    /// libjpeg's guess: JFIF means YCbCr; without it Adobe's transform decides, then the components' identifiers.
    fn color(&self, frame: &Frame) -> ColorModel {
        match (frame.count, self.adobe_transform) {
            (1, _) => ColorModel::Grey,
            (3, _) if self.jfif => ColorModel::YCbCr,
            (3, Some(0)) => ColorModel::Rgb,
            (3, None) if frame.used().iter().map(|c| c.id).eq(*b"RGB") => ColorModel::Rgb,
            (3, _) => ColorModel::YCbCr,
            (_, None | Some(0)) => ColorModel::Cmyk,
            _ => ColorModel::Ycck,
        }
    }
}
