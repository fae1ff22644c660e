//! The kernels, loaded, and how a program is run on them.

#![expect(unsafe_code, reason = "starts kernels on memory that the caller vouches for")]

use super::Program;
use super::layout::THREADS;
use super::schedule::Kernel;
use crate::device::cuda::driver::{Context, CudaError, DevicePtr, Function, Module, Stream};
use std::ffi::CStr;
use std::ptr::from_mut;

/// The kernels on one device.
pub(crate) struct Kernels {
    taps: Function,
    measure: Function,
    tables: Function,
    filter: Function,
    render: Function,
    blend: Function,
    blend_erased: Function,
}

/// PTX with the trailing zero that the driver needs; the build script puts it there.
macro_rules! ptx {
    ($name:literal) => {
        include_bytes!(concat!(env!("OUT_DIR"), "/", $name, ".ptx"))
    };
}

impl Kernels {
    /// Has the driver translate the kernels for its device; it keeps the result on disk, so that the next time is fast.
    pub(crate) fn load(context: &Context) -> Result<Self, CudaError> {
        let load = |ptx: &[u8], name: &CStr| {
            let ptx = CStr::from_bytes_until_nul(ptx).unwrap_or_default();
            Module::load(context, ptx)?.function(name)
        };
        Ok(Self {
            taps: load(ptx!("taps"), c"taps")?,
            measure: load(ptx!("measure"), c"measure")?,
            tables: load(ptx!("tables"), c"tables")?,
            filter: load(ptx!("filter"), c"filter")?,
            render: load(ptx!("render"), c"render")?,
            blend: load(ptx!("blend"), c"blend")?,
            blend_erased: load(ptx!("blend_erased"), c"blend_erased")?,
        })
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
            unsafe { stream.fill(scratch + place, 0, bytes)? };
        }
        for launch in &program.launches {
            let (mut tables, mut scratch, mut jobs) = (tables, scratch, launch.jobs);
            let parameters = &mut [
                from_mut(&mut tables).cast(),
                from_mut(&mut scratch).cast(),
                from_mut(&mut jobs).cast(),
            ];
            let [blocks, jobs] = launch.grid;
            let function = self.function(launch.kernel);
            // SAFETY: all kernels take two addresses and an offset in the tables; the memory is the caller's promise.
            unsafe { stream.launch(function, [blocks, jobs, 1], [THREADS, 1, 1], 0, parameters)? };
        }
        Ok(())
    }

    fn function(&self, kernel: Kernel) -> &Function {
        match kernel {
            Kernel::Taps => &self.taps,
            Kernel::Measure => &self.measure,
            Kernel::Tables => &self.tables,
            Kernel::Filter => &self.filter,
            Kernel::Render => &self.render,
            Kernel::Blend => &self.blend,
            Kernel::BlendErased => &self.blend_erased,
        }
    }
}
