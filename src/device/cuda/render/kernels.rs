//! The kernels, loaded, and how a program is run on them.

#![expect(unsafe_code, reason = "starts kernels on memory that the caller vouches for")]

use super::Program;
use super::layout::THREADS;
use super::schedule::{Kernel, Launch};
use crate::device::cuda::driver::{Context, CudaError, DevicePtr, Function, Stream};
use crate::device::cuda::kernel;
use std::ptr::from_mut;
use std::sync::{Mutex, OnceLock, PoisonError};

/// The kernels on one device, each loaded when it is first needed: where the driver has to translate them, all together take
/// a second, and most recipes need two.
pub(crate) struct Kernels {
    context: Context,
    /// In the order of [`Kernel`].
    loaded: [OnceLock<Function>; NAMES.len()],
    /// Two threads do not load one kernel twice.
    loading: Mutex<()>,
}

/// In the order of [`Kernel`].
const NAMES: [&str; 16] = [
    "taps",
    "measure",
    "tables",
    "filter",
    "neighbours",
    "clahe_tables",
    "clahe",
    "lightness_sums",
    "sensor",
    "compress_planes",
    "compress_pixels",
    "distort",
    "crop",
    "render",
    "blend",
    "blend_erased",
];

impl Kernels {
    pub(crate) fn new(context: &Context) -> Self {
        Self { context: context.clone(), loaded: Default::default(), loading: Mutex::default() }
    }

    /// A kernel, loaded now if it was not before. What the driver translates it keeps on disk, so that the next time is fast.
    fn function(&self, kernel: Kernel) -> Result<&Function, CudaError> {
        let place = &self.loaded[kernel as usize];
        if let Some(function) = place.get() {
            return Ok(function);
        }
        let _one = self.loading.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(function) = place.get() {
            return Ok(function);
        }
        let function = kernel::load(&self.context, NAMES[kernel as usize])?;
        Ok(place.get_or_init(|| function))
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
        // All of them first: where one is missing, nothing is launched.
        let launches: Vec<(&Function, &Launch)> = program
            .launches
            .iter()
            .map(|launch| Ok((self.function(launch.kernel)?, launch)))
            .collect::<Result<_, CudaError>>()?;
        let (place, bytes) = program.sums;
        if bytes > 0 {
            // SAFETY: the sums lie in the scratch memory, which stays, and is nobody else's, until the stream has reached this point.
            unsafe { stream.clear(scratch + place, bytes)? };
        }
        for (function, launch) in launches {
            let (mut tables, mut scratch, mut jobs) = (tables, scratch, launch.jobs);
            let parameters = &mut [
                from_mut(&mut tables).cast(),
                from_mut(&mut scratch).cast(),
                from_mut(&mut jobs).cast(),
            ];
            // SAFETY: all kernels take two addresses and an offset in the tables; tables, scratch, surfaces and outputs stay, and
            // nobody writes them or reads what is written, until the stream has reached this point.
            unsafe { stream.launch(function, launch.grid, THREADS, parameters)? };
        }
        Ok(())
    }
}
