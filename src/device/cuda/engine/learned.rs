//! What the device has found out of a file while decoding it, from which the host puts a decode index together.

use super::source_bytes::{FileScan, StagedFile};
use super::staging::StagingBuffer;
use crate::device::backend::KnownFiles;
use crate::device::cuda::jpeg::layout::JpegPoint;
use std::sync::Arc;

/// The points of a file's decode index, and what they are points of.
pub(super) struct Learned {
    /// The index of the image in the source.
    image: u64,
    bytes: Arc<StagingBuffer>,
    scan: Arc<FileScan>,
    points: Vec<JpegPoint>,
}

impl Learned {
    /// Nothing where the worker has made no scan of the file.
    pub(super) fn new(image: u64, file: &StagedFile, points: Vec<JpegPoint>) -> Option<Self> {
        let (bytes, scan) = (Arc::clone(&file.bytes), Arc::clone(file.scan.as_ref()?));
        Some(Self { image, bytes, scan, points })
    }

    pub(super) fn image(&self) -> u64 {
        self.image
    }

    /// Makes the index, for which the file is read once more, and keeps it.
    pub(super) fn keep(&self, known: &dyn KnownFiles) {
        if let Some(index) = self.scan.scan.index(self.bytes.bytes(), &self.points) {
            known.learn(self.image, &index);
        }
    }
}
