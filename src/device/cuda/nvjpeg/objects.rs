//! The small objects of the library: parsers, parameters, and the buffers of a state.

#![expect(unsafe_code, reason = "calls of nvJPEG")]

use super::handle::Handle;
use super::result::{NvjpegError, call};
use crate::geometry::Rect;
use nvjpeg_sys::{BufferDevice, BufferPinned, DecodeParams, JpegState, JpegStream, OUTPUT_RGBI};
use std::ffi::c_int;
use std::ptr::null_mut;

/// Declares the owner of one kind of object, with the calls that create and destroy it.
macro_rules! owner {
    ($(#[$doc:meta])* $name:ident, $kind:ty, $create:ident($($settings:expr),*), $destroy:ident) => {
        $(#[$doc])*
        pub(crate) struct $name {
            pub(super) handle: Handle,
            /// Created once, destroyed in Drop.
            pub(super) pointer: *mut $kind,
        }

        // SAFETY: nvJPEG's objects may move between threads; they must not be used by two at a time, and the owner is
        // not Sync.
        unsafe impl Send for $name {}

        impl $name {
            pub(crate) fn new(handle: &Handle) -> Result<Self, NvjpegError> {
                let mut pointer = null_mut();
                // SAFETY: one pointer to be written, and a handle that is alive.
                handle.within(|library, handle| unsafe {
                    call!(library, $create(handle, $($settings,)* &mut pointer))
                })?;
                Ok(Self { handle: handle.clone(), pointer })
            }
        }

        impl Drop for $name {
            fn drop(&mut self) {
                // SAFETY: created once, destroyed once, while its handle is alive.
                self.handle.destroying(|library| unsafe { call!(library, $destroy(self.pointer)) });
            }
        }
    };
}

owner!(
    /// A parsed file.
    Parser, JpegStream,
    nvjpegJpegStreamCreate(), nvjpegJpegStreamDestroy
);
owner!(
    /// How one image is decoded: to interleaved RGB, whole or in part.
    Params, DecodeParams,
    nvjpegDecodeParamsCreate(), nvjpegDecodeParamsDestroy
);
owner!(
    /// The state that batched decoding keeps between batches.
    State, JpegState,
    nvjpegJpegStateCreate(), nvjpegJpegStateDestroy
);
owner!(
    /// A state's page-locked buffer, which grows as needed.
    Pinned, BufferPinned,
    nvjpegBufferPinnedCreate(null_mut()), nvjpegBufferPinnedDestroy
);
owner!(
    /// A state's device buffer, which grows as needed.
    Scratch, BufferDevice,
    nvjpegBufferDeviceCreate(null_mut()), nvjpegBufferDeviceDestroy
);

impl Parser {
    /// Parses a file. Later uses of the parse refer to `bytes`.
    ///
    /// After a failure some versions leave the parser unusable: the caller makes a new one.
    ///
    /// # Safety
    /// `bytes` stay alive as long as the parse is used: until the next one, or until the parser is dropped.
    pub(crate) unsafe fn parse(&mut self, bytes: &[u8]) -> Result<(), NvjpegError> {
        // SAFETY: the parser is alive, and the bytes stay as long as the parse is used.
        self.handle.within(|library, handle| unsafe {
            call!(library, nvjpegJpegStreamParse(handle, bytes.as_ptr(), bytes.len(), 0, 0, self.pointer))
        })
    }
}

impl Params {
    /// Sets the part to decode, or the whole image.
    pub(super) fn set(&mut self, part: Option<Rect>) -> Result<(), NvjpegError> {
        let [x, y, width, height] = part.map_or([0, 0, -1, -1], |part| {
            // Images are at most 65535 wide and high.
            [part.x, part.y, part.width as c_int, part.height as c_int]
        });
        // SAFETY: the parameters are alive.
        self.handle.within(|library, _| unsafe {
            call!(library, nvjpegDecodeParamsSetOutputFormat(self.pointer, OUTPUT_RGBI))?;
            call!(library, nvjpegDecodeParamsSetROI(self.pointer, x, y, width, height))
        })
    }
}
