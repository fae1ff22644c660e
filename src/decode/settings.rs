//! What a file is decoded to.

use crate::geometry::{Rect, Size};
use crate::image::{Limits, Scale};

/// What a file is decoded to: by default the whole upright image at full scale.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// The part of the image that is wanted, in pixels of the upright image at full scale, whatever `scale` is; all of it
    /// where `None`. At a smaller scale its edges are rounded outwards, in the file's own coordinates.
    pub region: Option<Rect>,
    /// The scale.
    pub scale: Scaling,
    /// Whether the image is turned upright as its EXIF orientation says. If not, it counts as upright as it is stored.
    pub exif: bool,
    /// What is refused.
    pub limits: Limits,
}

impl Default for Settings {
    fn default() -> Self {
        Self { region: None, scale: Scaling::default(), exif: true, limits: Limits::default() }
    }
}

impl Settings {
    setters! {
        /// Decodes a part of the image only, in pixels of the upright image at full scale.
        region: some Rect;
        /// Sets the scale: a [`Scale`], or a [`Scaling`].
        scale: into Scaling;
        /// Says whether the image is turned upright as its EXIF orientation says.
        exif: bool;
        /// Sets what is refused.
        limits: Limits;
    }
}

/// How the scale of a decode is chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scaling {
    /// This one. Only JPEGs and files of coefficients can be decoded at a smaller scale than full.
    Fixed(Scale),
    /// The smallest at which the wanted part of the upright image still has so many columns and rows, without counting
    /// parts of pixels; full scale where it has fewer, and for PNG, WebP and PNM. Pillow's `draft` chooses so.
    AtLeast(Size),
}

impl Default for Scaling {
    fn default() -> Self {
        Scaling::Fixed(Scale::Full)
    }
}

impl From<Scale> for Scaling {
    fn from(scale: Scale) -> Self {
        Scaling::Fixed(scale)
    }
}
