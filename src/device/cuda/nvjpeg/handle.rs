//! The library, opened for one backend on one device.

#![expect(unsafe_code, reason = "calls of nvJPEG")]

use super::flags::NvjpegFlags;
use super::library::Nvjpeg;
use super::result::{NvjpegError, call};
use super::{exit, result};
use crate::device::cuda::driver::Context;
use nvjpeg_sys::{ALLOCATOR_FAILURE, EXECUTION_FAILED, NOT_INITIALIZED};
use std::ptr::null_mut;
use std::sync::Arc;

/// Device memory is reserved in these steps, so that a slightly larger image does not cause a reallocation.
const DEVICE_PADDING: usize = 16 << 20;
/// Page-locked memory likewise.
const PINNED_PADDING: usize = 8 << 20;

/// The decoders of the library.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Backend {
    /// Entropy decoding on the CPU, the rest on the GPU.
    Hybrid,
    /// Entropy decoding on the GPU as well.
    GpuHuffman,
    /// The device's decoding engines.
    Hardware,
}

/// The library, opened for one backend. Clones share it; what is made from it keeps it alive.
#[derive(Clone)]
pub(crate) struct Handle(Arc<Opened>);

struct Opened {
    library: &'static Nvjpeg,
    context: Context,
    /// What the backend has accepted.
    flags: NvjpegFlags,
    /// Created once, destroyed in Drop.
    handle: *mut nvjpeg_sys::Handle,
}

// SAFETY: nvJPEG documents its handle as safe to use from any thread.
unsafe impl Send for Opened {}
// SAFETY: as above.
unsafe impl Sync for Opened {}

impl Handle {
    /// Opens the library. A device without decoding engines refuses [`Backend::Hardware`].
    ///
    /// Bitstreams are to be read strictly, and chroma is to be interpolated: a file that other decoders would refuse
    /// must not be accepted here, and nearest-neighbour chroma is far from that of any CPU decoder. A backend that
    /// refuses one of the two, or both together, is opened with less: [`Handle::flags`] tells.
    pub(crate) fn open(
        library: &'static Nvjpeg,
        context: &Context,
        backend: Backend,
    ) -> Result<Self, NvjpegError> {
        let (flags, handle) = context.within(|| create(library, backend))??;
        let opened = Self(Arc::new(Opened { library, context: context.clone(), flags, handle }));
        // SAFETY: the handle was just created.
        opened.within(|library, handle| unsafe {
            call!(library, nvjpegSetDeviceMemoryPadding(DEVICE_PADDING, handle))?;
            call!(library, nvjpegSetPinnedMemoryPadding(PINNED_PADDING, handle))
        })?;
        Ok(opened)
    }

    /// The library.
    pub(crate) fn library(&self) -> &'static Nvjpeg {
        self.0.library
    }

    /// What the backend has accepted of what is wanted: whether it is strict, and whether it interpolates chroma.
    pub(crate) fn flags(&self) -> NvjpegFlags {
        self.0.flags
    }

    /// The number of decoding engines of the device, and of cores per engine: known for [`Backend::Hardware`] only.
    pub(crate) fn engines(&self) -> Option<(u32, u32)> {
        let ask = self.0.library.functions.nvjpegGetHardwareDecoderInfo?;
        let (mut engines, mut cores) = (0, 0);
        let asked = self.within(|_, handle| {
            // SAFETY: two numbers to be written, and a handle that is alive.
            result::check("nvjpegGetHardwareDecoderInfo", unsafe { ask(handle, &mut engines, &mut cores) })
        });
        asked.ok().map(|()| (engines, cores))
    }

    /// Calls the library with the handle's context current.
    pub(super) fn within<T>(
        &self,
        calls: impl FnOnce(&'static Nvjpeg, *mut nvjpeg_sys::Handle) -> Result<T, NvjpegError>,
    ) -> Result<T, NvjpegError> {
        let Opened { library, ref context, handle, .. } = *self.0;
        context.within(|| calls(library, handle))?
    }

    /// Runs the destroying calls of an object of this handle, unless the process is ending.
    pub(super) fn destroying(&self, calls: impl FnOnce(&'static Nvjpeg) -> Result<(), NvjpegError>) {
        if !exit::is_ending() {
            // A failure cannot be reported from here, and a driver that has shut down refuses the context.
            drop(self.within(|library, _| calls(library)));
        }
    }
}

/// A handle with the first flags that the backend accepts; else what it said of all of them.
fn create(library: &Nvjpeg, backend: Backend) -> Result<(NvjpegFlags, *mut nvjpeg_sys::Handle), NvjpegError> {
    let backend = match backend {
        Backend::Hybrid => nvjpeg_sys::BACKEND_HYBRID,
        Backend::GpuHuffman => nvjpeg_sys::BACKEND_GPU_HYBRID,
        Backend::Hardware => nvjpeg_sys::BACKEND_HARDWARE,
    };
    let mut handle = null_mut();
    let mut with = |flags: NvjpegFlags| {
        // SAFETY: one handle to be written; null allocators mean CUDA's own.
        unsafe { call!(library, nvjpegCreateEx(backend, null_mut(), null_mut(), flags.bits(), &mut handle)) }
    };
    let [wanted, less @ ..] = NvjpegFlags::TRIED;
    let mut accepted = wanted;
    if let Err(refused) = with(wanted) {
        if !may_concern_flags(&refused) {
            return Err(refused);
        }
        // Where nothing helps it was something else, such as a device without engines.
        accepted = less.into_iter().find(|&flags| with(flags).is_ok()).ok_or(refused)?;
    }
    Ok((accepted, handle))
}

/// Whether other flags may help. Not where memory or the device failed: fewer flags, if that works a moment later, would
/// change the pixels for an accident.
fn may_concern_flags(error: &NvjpegError) -> bool {
    let accidents = [NOT_INITIALIZED, ALLOCATOR_FAILURE, EXECUTION_FAILED];
    matches!(error, NvjpegError::Status { status, .. } if !accidents.contains(status))
}

impl Drop for Opened {
    fn drop(&mut self) {
        if exit::is_ending() {
            return;
        }
        // SAFETY: created once, destroyed once; everything made from it held a clone.
        drop(self.context.within(|| unsafe { call!(self.library, nvjpegDestroy(self.handle)) }));
    }
}
