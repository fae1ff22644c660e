//! A trainer's side: a stream of its own that copies each batch's pixels away, through the driver's own functions.

#![expect(unsafe_code, reason = "a trainer vouches for its own stream")]

use crate::client::{Client, Pinned, Stream};
use feedline::device::DeviceImages;
use feedline::loader::Batch;
use std::error::Error;

/// Copies batches to pinned memory on its own stream, and looks at the copies only at the end.
pub(crate) struct Trainer<'a> {
    client: &'a Client,
    stream: Stream<'a>,
    copies: Vec<Pinned<'a>>,
}

impl<'a> Trainer<'a> {
    /// The client works in the primary context, as the loader does.
    pub(crate) fn new(client: &'a Client) -> Result<Self, Box<dyn Error>> {
        Ok(Self { client, stream: Stream::new(client)?, copies: Vec::new() })
    }

    /// Enqueues a copy of the batch's pixels, which are floats; the host waits for nothing.
    pub(crate) fn copy(&mut self, batch: &Batch) -> Result<(), Box<dyn Error>> {
        self.copy_of(&batch.on_device().ok_or("a batch that is not on the device")?)
    }

    /// The same of any of its arrays, of four bytes a number.
    pub(crate) fn copy_of(&mut self, images: &DeviceImages<'_>) -> Result<(), Box<dyn Error>> {
        // First of all: on an early return it is freed with the others, and not under the loader's work.
        self.copies.push(Pinned::new(self.client, images.len() / 4)?);
        // SAFETY: the stream lives until the trainer is dropped, which is behind every batch.
        unsafe { images.use_on(self.stream.raw) }?;
        let copy = self.copies.last().ok_or("no copy")?;
        Ok(self.client.download_from(copy, images.ptr(), &self.stream)?)
    }

    /// Waits once, and returns all copies.
    pub(crate) fn finish(self) -> Result<Vec<Vec<u8>>, Box<dyn Error>> {
        self.client.synchronize_stream(&self.stream)?;
        Ok(self.copies.iter().map(|copy| bytemuck::cast_slice(&copy.values()).to_vec()).collect())
    }
}

impl Drop for Trainer<'_> {
    fn drop(&mut self) {
        // The copies are freed next, on an early return too; nobody is left to be told of an error.
        let _ = self.client.synchronize().or_else(|_| self.client.synchronize());
    }
}
