//! How the pixels of a file are stored: what its header says beyond size and orientation.

use super::{Format, Header, png, pnm, webp};

/// Channels, bits and passes of a file's pixels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PixelLayout {
    /// Channels of a stored pixel, alpha included; an index into a palette is one.
    pub(crate) components: u8,
    /// Bits of a channel.
    pub(crate) bits: u8,
    /// Whether a JPEG is progressive, or a PNG interlaced.
    pub(crate) progressive: bool,
}

impl PixelLayout {
    /// The layout of a file; `header` must come from [`super::parse_header`] of the same bytes.
    pub(crate) fn of(bytes: &[u8], header: &Header) -> Self {
        let (components, bits, progressive) = match (&header.jpeg, header.format) {
            (None, Format::Coefficients) => (components(header), 8, false),
            (Some(jpeg), _) => (jpeg.components, jpeg.precision, jpeg.progressive),
            (None, Format::Png) => png::layout(bytes),
            (None, Format::Pnm) => pnm::layout(bytes),
            (None, _) => (if webp::has_alpha(bytes) { 4 } else { 3 }, 8, false),
        };
        Self { components, bits, progressive }
    }
}

/// The components of a file of coefficients.
fn components(header: &Header) -> u8 {
    header.coefficients.as_ref().map_or(0, |header| header.color.components())
}
