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
    scan: Option<Arc<FileScan>>,
    points: Vec<JpegPoint>,
}

impl Learned {
    pub(super) fn new(image: u64, file: &StagedFile, points: Vec<JpegPoint>) -> Self {
        Self { image, bytes: Arc::clone(&file.bytes), scan: file.scan.clone(), points }
    }

    /// Makes the index, for which the file is read once more, and keeps it.
    pub(super) fn keep(&self, known: &dyn KnownFiles) {
        let Some(file) = &self.scan else { return };
        if let Some(index) = file.scan.index(self.bytes.bytes(), &self.points) {
            known.learn(self.image, &index);
        }
    }
}
