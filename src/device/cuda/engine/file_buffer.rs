//! The bytes of a file in the memory of the batch that shows it: the device decodes them from where they were read to.

use super::staging::{Staging, StagingBuffer, Use};
use crate::destination::Destination;
use crate::device::backend::FileMemory;
use crate::error::Cause;
use crate::image::Header;
use std::sync::Arc;

/// A file on its way from the source to the device, or to the worker's decoder, which gives the memory back.
pub(crate) struct FileBuffer {
    staging: Arc<Staging>,
    /// `None` until the file is read.
    bytes: Option<Arc<StagingBuffer>>,
}

/// A file and what its header says.
#[derive(Clone, Copy)]
pub(crate) struct FileInput<'a> {
    pub(super) file: &'a FileBuffer,
    pub(super) header: &'a Header,
}

impl FileBuffer {
    /// One that is still to be read, to memory of `staging`.
    pub(super) fn new(staging: &Arc<Staging>) -> Self {
        Self { staging: Arc::clone(staging), bytes: None }
    }

    /// The bytes, for the device.
    ///
    /// # Errors
    /// Those of [`Staging::check`].
    pub(super) fn staged(&self) -> Result<Arc<StagingBuffer>, Cause> {
        let bytes = self.bytes.as_ref().ok_or("it was not read")?;
        self.staging.check(bytes)?;
        Ok(Arc::clone(bytes))
    }
}

impl Destination for FileBuffer {
    fn room(&mut self, len: usize) -> &mut [u8] {
        let bytes = self.bytes.insert(Arc::new(self.staging.take(Use::Files, len)));
        // Nobody else has it yet.
        Arc::get_mut(bytes).map_or(&mut [], StagingBuffer::bytes_mut)
    }

    fn bytes(&self) -> &[u8] {
        self.bytes.as_ref().map_or(&[], |bytes| bytes.bytes())
    }
}

impl FileMemory for FileBuffer {
    fn as_vec(&mut self) -> Option<&mut Vec<u8>> {
        None
    }

    fn spare(self) -> Option<Self> {
        None
    }
}
