//! The kernels, loaded, and how a program is run on them.

#![expect(unsafe_code, reason = "starts kernels on memory that the caller vouches for")]

use super::Program;
use super::layout::THREADS;
use super::schedule::{Kernel, Launch};
use crate::device::cuda::driver::{Context, CudaError, DevicePtr, Function, Stream};
use std::ffi::{CStr, CString};
use std::ptr::from_mut;
use std::sync::{Mutex, OnceLock, PoisonError};

/// The kernels on one device, each loaded when it is first needed: where the driver has to translate them, all together take
/// a second, and most recipes need two.
pub(crate) struct Kernels {
    context: Context,
    /// In the order of [`Kernel`].
    loaded: [OnceLock<Function>; PTX.len()],
    /// Two threads do not load one kernel twice.
    loading: Mutex<()>,
}

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

/// Machine code by kernel and architecture: none, unless the build was told to embed some.
const CUBINS: &[(&str, u32, &[u8])] = include!(concat!(env!("OUT_DIR"), "/cubins.rs"));

/// The architecture of the machine code that such a device runs, 90 for 9.0; `None` where its driver translates the PTX.
pub(crate) fn compiled_for(compute_capability: (u32, u32)) -> Option<u32> {
    best(CUBINS.iter().map(|&(_, architecture, _)| architecture), compute_capability)
}

/// Code runs on its own generation of processors, from its own member on.
fn best(architectures: impl Iterator<Item = u32>, (major, minor): (u32, u32)) -> Option<u32> {
    architectures.filter(|architecture| architecture / 10 == major && architecture % 10 <= minor).max()
}

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
        let function = self.load(PTX[kernel as usize])?;
        Ok(place.get_or_init(|| function))
    }

    /// Loads machine code where there is some that the driver takes, and PTX else.
    fn load(&self, (name, ptx): (&str, &[u8])) -> Result<Function, CudaError> {
        let kernel = CString::new(name).unwrap_or_default();
        let architecture = compiled_for(self.context.compute_capability()?);
        let compiled = CUBINS.iter().find(|cubin| cubin.0 == name && Some(cubin.1) == architecture);
        if let Some((.., cubin)) = compiled {
            match Function::load_compiled(&self.context, cubin, &kernel) {
                // An older driver, most likely: PTX is for all.
                Err(error) if error.is_unfit_image() => {}
                loaded => return loaded,
            }
        }
        let ptx = CStr::from_bytes_until_nul(ptx).unwrap_or_default();
        Function::load(&self.context, ptx, &kernel)
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
            // SAFETY: the sums lie in the scratch memory, which the caller promises.
            unsafe { stream.clear(scratch + place, bytes)? };
        }
        for (function, launch) in launches {
            let (mut tables, mut scratch, mut jobs) = (tables, scratch, launch.jobs);
            let parameters = &mut [
                from_mut(&mut tables).cast(),
                from_mut(&mut scratch).cast(),
                from_mut(&mut jobs).cast(),
            ];
            // SAFETY: all kernels take two addresses and an offset in the tables; the memory is the caller's promise.
            unsafe { stream.launch(function, launch.grid, THREADS, parameters)? };
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_is_chosen_of_the_devices_own_generation_and_not_above_it() {
        let of = |capability| best([80, 90, 100, 103].into_iter(), capability);
        assert_eq!([(8, 0), (8, 6), (9, 0), (10, 0), (10, 3)].map(of), [80, 80, 90, 100, 103].map(Some));
        assert_eq!([(7, 5), (11, 0), (12, 0)].map(of), [None; 3]);
        assert_eq!(best(std::iter::empty(), (9, 0)), None);
    }

    #[test]
    fn where_there_is_machine_code_there_is_some_of_every_kernel() {
        for (_, architecture, _) in CUBINS {
            let has = |name| CUBINS.iter().any(|cubin| (cubin.0, cubin.1) == (name, *architecture));
            assert!(PTX.iter().all(|(name, _)| has(name)), "sm_{architecture}");
        }
    }
}
