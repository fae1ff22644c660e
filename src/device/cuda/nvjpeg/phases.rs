//! Decoding in phases, one image at a time: entropy decoding on this thread, the rest on the device.

#![expect(unsafe_code, reason = "calls of nvJPEG")]

use super::batch::Item;
use super::handle::Handle;
use super::objects::{Params, Parser, Pinned, Scratch};
use super::result::{NvjpegError, call};
use crate::device::cuda::driver::Stream;
use nvjpeg_sys::{BACKEND_HYBRID, JpegDecoder, JpegState};
use std::ptr::null_mut;

/// Everything that one image needs. Two alternating lanes keep the CPU busy while the device works on the previous
/// image.
pub(crate) struct Lane {
    parser: Parser,
    params: Params,
    /// Made for `decoder`, so destroyed before it.
    state: *mut JpegState,
    decoder: *mut JpegDecoder,
    /// The state's buffers, which outlive it, since fields are dropped after `Lane`'s own Drop.
    _pinned: Pinned,
    _scratch: Scratch,
    handle: Handle,
}

// SAFETY: nvJPEG's objects may move between threads; they must not be used by two at a time, and a lane is not Sync.
unsafe impl Send for Lane {}

impl Lane {
    pub(crate) fn new(handle: &Handle) -> Result<Self, NvjpegError> {
        // From here on the lane's Drop destroys what has been created.
        let mut lane = Self {
            parser: Parser::new(handle)?,
            params: Params::new(handle)?,
            state: null_mut(),
            decoder: null_mut(),
            _pinned: Pinned::new(handle)?,
            _scratch: Scratch::new(handle)?,
            handle: handle.clone(),
        };
        let Self { state, decoder, _pinned: pinned, _scratch: scratch, .. } = &mut lane;
        // SAFETY: two pointers to be written, each from objects that are alive.
        handle.within(|library, handle| unsafe {
            call!(library, nvjpegDecoderCreate(handle, BACKEND_HYBRID, decoder))?;
            call!(library, nvjpegDecoderStateCreate(handle, *decoder, state))?;
            call!(library, nvjpegStateAttachPinnedBuffer(*state, pinned.pointer))?;
            call!(library, nvjpegStateAttachDeviceBuffer(*state, scratch.pointer))
        })?;
        Ok(lane)
    }

    /// Replaces the parser, since some versions leave it unusable after a bad file.
    pub(crate) fn renew_parser(&mut self) -> Result<(), NvjpegError> {
        self.parser = Parser::new(&self.handle)?;
        Ok(())
    }

    /// Decodes the file's entropy-coded part on this thread and queues the rest. An error concerns this file, or the
    /// lane, which then has to be replaced.
    ///
    /// # Safety
    /// The device is done with the lane's image before. The target is device memory of the part's size; nothing else uses it,
    /// and the bytes stay alive, until `stream` has reached this point.
    pub(crate) unsafe fn decode(&mut self, item: &Item<'_>, stream: &Stream) -> Result<(), NvjpegError> {
        self.params.set(item.part)?;
        // SAFETY: the bytes outlive all the phases below.
        unsafe { self.parser.parse(item.bytes)? };
        let mut image = item.image();
        let Self { ref parser, ref params, state, decoder, ref handle, .. } = *self;
        let (parsed, params, stream) = (parser.pointer, params.pointer, stream.raw());
        // SAFETY: all objects are alive and this lane's own; the device is done with the image before; the target is memory of the
        // part, which nobody else uses, and the bytes stay, until the stream has reached this point.
        handle.within(|library, handle| unsafe {
            call!(library, nvjpegDecodeJpegHost(handle, decoder, state, params, parsed))?;
            call!(library, nvjpegDecodeJpegTransferToDevice(handle, decoder, state, parsed, stream))?;
            call!(library, nvjpegDecodeJpegDevice(handle, decoder, state, &mut image, stream))
        })
    }
}

impl Drop for Lane {
    fn drop(&mut self) {
        let Self { state, decoder, ref handle, .. } = *self;
        // One by one: a failure to destroy the first must not keep the other alive.
        if !state.is_null() {
            // SAFETY: created once, destroyed once, before its decoder.
            handle.destroying(|library| unsafe { call!(library, nvjpegJpegStateDestroy(state)) });
        }
        if !decoder.is_null() {
            // SAFETY: created once, destroyed once.
            handle.destroying(|library| unsafe { call!(library, nvjpegDecoderDestroy(decoder)) });
        }
    }
}
