//! Batched decoding: one call for many images, all or nothing.

#![expect(unsafe_code, reason = "calls of nvJPEG")]

use super::handle::Handle;
use super::objects::{Params, Parser, State};
use super::result::{self, NvjpegError, call};
use crate::device::cuda::driver::{DevicePtr, Stream};
use crate::geometry::{Rect, Size};
use nvjpeg_sys::{CSS_444, Image, OUTPUT_RGBI};
use std::ffi::c_int;
use std::ptr::null_mut;

/// One image: its bytes, the part to decode, and the target for interleaved RGB.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Item<'a> {
    pub(crate) bytes: &'a [u8],
    pub(crate) to: DevicePtr,
    /// Bytes from one row to the next.
    pub(crate) pitch: usize,
    /// `None` for the whole image.
    pub(crate) part: Option<Rect>,
}

impl Item<'_> {
    pub(super) fn image(&self) -> Image {
        let (to, pitch) = (self.to as *mut u8, self.pitch);
        Image { channel: [to, null_mut(), null_mut(), null_mut()], pitch: [pitch, 0, 0, 0] }
    }
}

/// Decodes batches of images. A failed batch fails as a whole.
pub(crate) struct Batch {
    /// One for each image of the largest batch so far.
    params: Vec<Params>,
    state: State,
    /// The batch size that the state is set up for; `None` after a failure, which requires setting it up again.
    ready_for: Option<usize>,
    handle: Handle,
}

impl Batch {
    pub(crate) fn new(handle: &Handle) -> Result<Self, NvjpegError> {
        let state = State::new(handle)?;
        Ok(Self { params: Vec::new(), state, ready_for: None, handle: handle.clone() })
    }

    /// Reserves the memory for batches of `images` images of this size, to save the first batches from doing so.
    pub(crate) fn reserve(&mut self, images: usize, size: Size) -> Result<(), NvjpegError> {
        self.set_up(images)?;
        let (width, height) = (size.width as c_int, size.height as c_int);
        let state = self.state.pointer;
        let count = count(images);
        // SAFETY: handle and state are alive. 4:4:4 needs the most memory.
        self.handle.within(|library, handle| unsafe {
            call!(
                library,
                nvjpegDecodeBatchedPreAllocate(handle, state, count, width, height, CSS_444, OUTPUT_RGBI)
            )
        })
    }

    /// Whether the backend accepts this file, according to the library; if not, as an error.
    pub(crate) fn supports(&mut self, item: &Item<'_>, parser: &mut Parser) -> Result<(), NvjpegError> {
        self.set_params(std::slice::from_ref(item))?;
        // SAFETY: the bytes outlive this call, and the parse is not used after it.
        unsafe { parser.parse(item.bytes)? };
        let mut unsupported = -1;
        let params = self.params[0].pointer;
        // SAFETY: handle, parser and parameters are alive; one number to be written.
        self.handle.within(|library, handle| unsafe {
            call!(library, nvjpegDecodeBatchedSupportedEx(handle, parser.pointer, params, &mut unsupported))
        })?;
        match unsupported {
            0 => Ok(()),
            _ => result::check("nvjpegDecodeBatchedSupportedEx", nvjpeg_sys::JPEG_NOT_SUPPORTED),
        }
    }

    /// Queues the decoding of all images.
    ///
    /// # Safety
    /// The targets are device memory of their parts' sizes; nothing else uses them, and the bytes stay alive, until `stream`
    /// has reached this point. The hardware backend writes without waiting for the stream's earlier work.
    pub(crate) unsafe fn decode(&mut self, items: &[Item<'_>], stream: &Stream) -> Result<(), NvjpegError> {
        self.set_up(items.len())?;
        self.set_params(items)?;
        let files = items.iter().map(|item| (item.bytes.as_ptr(), item.bytes.len()));
        let (data, lengths): (Vec<*const u8>, Vec<usize>) = files.unzip();
        let mut images: Vec<Image> = items.iter().map(Item::image).collect();
        let mut params: Vec<_> = self.params.iter().map(|params| params.pointer).take(items.len()).collect();
        let (data, lengths) = (data.as_ptr(), lengths.as_ptr());
        let (images, params) = (images.as_mut_ptr(), params.as_mut_ptr());
        let (state, stream) = (self.state.pointer, stream.raw());
        // Any failure from here on leaves the state unusable until it is set up again.
        self.ready_for = None;
        // SAFETY: four lists as long as the batch that the state is set up for; the targets are memory of their parts, which nobody
        // else uses, and the bytes stay, until the stream has reached this point.
        self.handle.within(|library, handle| unsafe {
            call!(library, nvjpegDecodeBatchedEx(handle, state, data, lengths, images, params, stream))
        })?;
        self.ready_for = Some(items.len());
        Ok(())
    }

    fn set_up(&mut self, images: usize) -> Result<(), NvjpegError> {
        if self.ready_for == Some(images) {
            return Ok(());
        }
        let state = self.state.pointer;
        // SAFETY: handle and state are alive. One thread, the calling one.
        self.handle.within(|library, handle| unsafe {
            call!(library, nvjpegDecodeBatchedInitialize(handle, state, count(images), 1, OUTPUT_RGBI))
        })?;
        self.ready_for = Some(images);
        Ok(())
    }

    fn set_params(&mut self, items: &[Item<'_>]) -> Result<(), NvjpegError> {
        while self.params.len() < items.len() {
            self.params.push(Params::new(&self.handle)?);
        }
        items.iter().zip(&mut self.params).try_for_each(|(item, params)| params.set(item.part))
    }
}

fn count(images: usize) -> c_int {
    c_int::try_from(images).unwrap_or(c_int::MAX)
}
