//! The kernels, loaded, and how a program is run on them.

#![expect(unsafe_code, reason = "starts kernels on memory that the caller vouches for")]

use super::Program;
use super::layout::THREADS;
#[cfg(doc)]
use super::schedule::Kernel;
use crate::device::cuda::driver::{Context, CudaError, DevicePtr, Function, Stream};
use std::ffi::{CStr, CString};
use std::ptr::from_mut;

/// The kernels on one device, in the order of [`Kernel`].
pub(crate) struct Kernels(Vec<Function>);

/// A kernel's name, and its PTX with the trailing zero that the driver needs; the build script puts it there.
macro_rules! ptx {
    ($name:literal) => {
        ($name, include_bytes!(concat!(env!("OUT_DIR"), "/", $name, ".ptx")))
    };
}

/// In the order of [`Kernel`].
const PTX: [(&str, &[u8]); 7] = [
    ptx!("taps"),
    ptx!("measure"),
    ptx!("tables"),
    ptx!("filter"),
    ptx!("render"),
    ptx!("blend"),
    ptx!("blend_erased"),
];

impl Kernels {
    /// Has the driver translate the kernels for its device; it keeps the result on disk, so that the next time is fast.
    pub(crate) fn load(context: &Context) -> Result<Self, CudaError> {
        let load = |(name, ptx): (&str, &[u8])| {
            let ptx = CStr::from_bytes_until_nul(ptx).unwrap_or_default();
            Function::load(context, ptx, &CString::new(name).unwrap_or_default())
        };
        Ok(Self(PTX.into_iter().map(load).collect::<Result<_, _>>()?))
    }

    /// Runs a program on `stream`.
    ///
    /// # Safety
    /// `tables` holds [`Program::tables`] and `scratch` [`Program::scratch_bytes`] bytes, both at multiples of 256. They,
    /// the surfaces and the outputs that the program was built for stay alive, and nothing else writes them or reads
    /// what is written, until the stream has reached this point.
    pub(crate) unsafe fn launch(
        &self,
        program: &Program,
        tables: DevicePtr,
        scratch: DevicePtr,
        stream: &Stream,
    ) -> Result<(), CudaError> {
        let (place, bytes) = program.sums;
        if bytes > 0 {
            // SAFETY: the sums lie in the scratch memory, which the caller promises.
            unsafe { stream.clear(scratch + place, bytes)? };
        }
        for launch in &program.launches {
            let (mut tables, mut scratch, mut jobs) = (tables, scratch, launch.jobs);
            let parameters = &mut [
                from_mut(&mut tables).cast(),
                from_mut(&mut scratch).cast(),
                from_mut(&mut jobs).cast(),
            ];
            let function = &self.0[launch.kernel as usize];
            // SAFETY: all kernels take two addresses and an offset in the tables; the memory is the caller's promise.
            unsafe { stream.launch(function, launch.grid, THREADS, parameters)? };
        }
        Ok(())
    }
}
