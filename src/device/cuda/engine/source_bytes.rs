//! What an image is made from, in memory that the device's copy engine and decoders read: a file, or decoded pixels.

use super::staging::StagingBuffer;
use crate::error::Cause;
use crate::geometry::Rect;
use crate::image::Image;
use crate::jpeg;
use std::sync::Arc;

/// Rows of staged pixels start at a multiple of this.
pub(super) const PITCH: usize = 16;

/// The bytes of one image.
#[derive(Clone)]
pub(super) enum SourceBytes {
    File(StagedFile),
    /// The CPU has decoded it.
    Pixels(StagedPixels),
}

/// A whole file, for the device to decode.
#[derive(Clone)]
pub(super) struct StagedFile {
    pub(super) bytes: Arc<StagingBuffer>,
    pub(super) header: Arc<jpeg::Header>,
    /// The part of the image that the plan reads.
    pub(super) wanted: Rect,
    /// Whether samples share it: then it is bad for all of them where any part of it is, whatever they read.
    pub(super) shared: bool,
}

/// Packed RGB rows of a region.
#[derive(Clone)]
pub(super) struct StagedPixels {
    pub(super) bytes: Arc<StagingBuffer>,
    pub(super) region: Rect,
    pub(super) pitch: usize,
}

impl SourceBytes {
    /// What copies and decoders read of it.
    pub(super) fn bytes(&self) -> &Arc<StagingBuffer> {
        match self {
            SourceBytes::File(file) => &file.bytes,
            SourceBytes::Pixels(pixels) => &pixels.bytes,
        }
    }

    /// The file, where it is one.
    pub(super) fn file(&self) -> Option<&StagedFile> {
        match self {
            SourceBytes::File(file) => Some(file),
            SourceBytes::Pixels(_) => None,
        }
    }
}

impl StagedPixels {
    /// Copies an image's rows to memory from `reserve`, each to a multiple of [`PITCH`].
    pub(super) fn copy(
        image: &Image,
        reserve: impl FnOnce(usize) -> Result<StagingBuffer, Cause>,
    ) -> Result<Self, Cause> {
        let (width, height) = (image.region.width as usize * 3, image.region.height as usize);
        let pitch = width.next_multiple_of(PITCH);
        let mut bytes = reserve(pitch * height)?;
        if width > 0 {
            let rows = image.data.chunks(image.stride).take(height);
            for (to, from) in bytes.bytes_mut().chunks_exact_mut(pitch).zip(rows) {
                to[..width].copy_from_slice(&from[..width]);
                to[width..].fill(0);
            }
        }
        Ok(Self { bytes: Arc::new(bytes), region: image.region, pitch })
    }
}
