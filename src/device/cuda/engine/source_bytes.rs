//! What an image is made from, in memory that the device's copy engine and decoders read: a file, or decoded pixels.

use super::staging::{InFlight, Staging, StagingBuffer, Use};
use crate::device::cuda::decode::{Dispatch, Request, StagedScan, Target};
use crate::device::cuda::jpeg::Scan;
use crate::error::Cause;
use crate::geometry::Rect;
use crate::image::{Header, PixelsMut};
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
    /// Of these the image ends there.
    pub(super) len: usize,
    pub(super) header: Arc<Header>,
    /// The part of the image that the plan reads.
    pub(super) wanted: Rect,
    /// Whether samples share it: then it is bad for all of them where any part of it is, whatever they read.
    pub(super) shared: bool,
    /// What the device's own decoder needs of it: for just that part, or for all of it where samples share it.
    pub(super) scan: Option<Arc<FileScan>>,
}

/// A scan and its bits.
pub(super) struct FileScan {
    pub(super) scan: Scan,
    pub(super) words: Arc<StagingBuffer>,
}

/// Packed RGB rows of a region.
#[derive(Clone)]
pub(super) struct StagedPixels {
    pub(super) bytes: Arc<StagingBuffer>,
    pub(super) region: Rect,
    pub(super) pitch: usize,
}

impl StagedFile {
    /// What is asked of a decoder, which reads the file, and the scan where somebody has made that, until the submission ends.
    pub(super) fn request(&self, target: Target, in_flight: &mut InFlight) -> Request<'_> {
        in_flight.lend(&self.bytes);
        let scan = self
            .scan
            .as_deref()
            .map(|FileScan { scan, words }| StagedScan { scan, words: in_flight.lend(words) });
        Request { bytes: self.image(), header: &self.header, target, scan, shared: self.shared }
    }

    /// The part that a decoder is asked for.
    pub(super) fn target_region(&self, dispatch: Option<&Dispatch>) -> Rect {
        match (dispatch, &self.scan) {
            // The scan is that of all of it, and so is the verdict on the file.
            (_, Some(_)) if self.shared => self.header.size.rect(),
            (Some(dispatch), _) => dispatch.region(&self.header, self.wanted),
            (None, _) => self.wanted,
        }
    }

    /// The bytes up to the image's end.
    pub(super) fn image(&self) -> &[u8] {
        &self.bytes.bytes()[..self.len]
    }
}

impl SourceBytes {
    /// The file, where it is one.
    pub(super) fn file(&self) -> Option<&StagedFile> {
        match self {
            SourceBytes::File(file) => Some(file),
            SourceBytes::Pixels(_) => None,
        }
    }
}

impl StagedPixels {
    /// Pixels of a region in memory of `staging`, each row at a multiple of [`PITCH`], that `decode` writes; where it fails the
    /// memory returns at once.
    pub(super) fn make(
        region: Rect,
        staging: &Staging,
        decode: impl FnOnce(PixelsMut<'_>) -> Result<(), Cause>,
    ) -> Result<Self, Cause> {
        let pitch = (region.width as usize * 3).next_multiple_of(PITCH);
        let mut bytes = staging.reserve(Use::Pixels, pitch * region.height as usize)?;
        decode(PixelsMut { data: bytes.bytes_mut(), stride: pitch })?;
        Ok(Self { bytes: Arc::new(bytes), region, pitch })
    }
}
