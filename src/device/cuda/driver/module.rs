//! Kernels: PTX that the driver translates for the device, or machine code.

#![expect(unsafe_code, reason = "calls of the CUDA driver")]

use super::context::Context;
use super::result::CudaError;
use cudarc::driver::sys::{CUfunction, CUjit_option, CUmodule};
use std::ffi::{CStr, c_void};

/// Maximum bytes of the translator's message about what it refuses.
const LOG_BYTES: usize = 4096;

/// One kernel, in a module of its own.
pub(crate) struct Function {
    context: Context,
    /// Loaded once, unloaded in Drop.
    module: CUmodule,
    function: CUfunction,
}

// SAFETY: the driver takes both handles on any thread.
unsafe impl Send for Function {}
// SAFETY: as above; nothing in it changes.
unsafe impl Sync for Function {}

impl Function {
    /// Translates PTX for this device, and looks for the kernel of this name in it. The error holds the translator's message.
    pub(crate) fn load(context: &Context, ptx: &CStr, name: &CStr) -> Result<Self, CudaError> {
        // SAFETY: a text that ends in a zero.
        unsafe { Self::load_image(context, ptx.as_ptr().cast(), name) }
    }

    /// Loads machine code for this device, a cubin, and looks for the kernel of this name in it.
    pub(crate) fn load_compiled(context: &Context, cubin: &[u8], name: &CStr) -> Result<Self, CudaError> {
        // The driver reads the file's head as structures.
        let mut aligned = vec![0u64; cubin.len().div_ceil(size_of::<u64>())];
        bytemuck::cast_slice_mut(&mut aligned)[..cubin.len()].copy_from_slice(cubin);
        // SAFETY: a whole cubin, which says itself how long it is.
        unsafe { Self::load_image(context, aligned.as_ptr().cast(), name) }
    }

    /// # Safety
    /// `image` is PTX with a zero at its end, or a whole cubin.
    unsafe fn load_image(context: &Context, image: *const c_void, name: &CStr) -> Result<Self, CudaError> {
        let mut log = vec![0u8; LOG_BYTES];
        let mut options =
            [CUjit_option::CU_JIT_ERROR_LOG_BUFFER, CUjit_option::CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES];
        // The driver expects the size in place of a pointer, not a pointer to it.
        let mut values = [log.as_mut_ptr().cast::<c_void>(), LOG_BYTES as *mut c_void];
        let mut module = std::ptr::null_mut();
        let count = options.len() as u32;
        let (options, values) = (options.as_mut_ptr(), values.as_mut_ptr());
        // SAFETY: one handle to be written; an image that says itself where it ends, as PTX by its zero; and two options with
        // their values, of which the first is a buffer of the second's length that outlives the call.
        let loaded = context
            .call(|driver| unsafe { driver.cuModuleLoadDataEx(&mut module, image, count, options, values) });
        let kernel = |error: CudaError| CudaError {
            name: format!("{}, loading the kernel `{}`", error.name, name.to_string_lossy()),
            ..error
        };
        loaded.map_err(|error| kernel(with_log(error, &log)))?;
        // From here on Drop unloads it.
        let mut loaded = Self { context: context.clone(), module, function: std::ptr::null_mut() };
        let function = &mut loaded.function;
        // SAFETY: one handle to be written, a module that is alive, a name that ends in a zero.
        let found =
            context.call(|driver| unsafe { driver.cuModuleGetFunction(function, module, name.as_ptr()) });
        found.map_err(kernel)?;
        Ok(loaded)
    }

    pub(super) fn handle(&self) -> CUfunction {
        self.function
    }
}

impl Drop for Function {
    fn drop(&mut self) {
        // SAFETY: loaded once, unloaded once.
        drop(self.context.call(|driver| unsafe { driver.cuModuleUnload(self.module) }));
    }
}

/// The error with the first lines of the translator's message.
fn with_log(error: CudaError, log: &[u8]) -> CudaError {
    let said = CStr::from_bytes_until_nul(log).map(CStr::to_string_lossy).unwrap_or_default();
    let lines: Vec<&str> = said.lines().map(str::trim).filter(|line| !line.is_empty()).take(4).collect();
    match lines.is_empty() {
        true => error,
        false => CudaError { name: format!("{}, {}", error.name, lines.join("; ")), ..error },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_translators_words_are_in_the_error() {
        let error =
            CudaError { call: "cuModuleLoadDataEx", code: 218, name: "CUDA_ERROR_INVALID_PTX".into() };
        let told = with_log(
            error.clone(),
            b"ptxas application ptx input, line 1; fatal\n\n   : missing .version\0\0",
        );
        assert_eq!(
            told.name,
            "CUDA_ERROR_INVALID_PTX, ptxas application ptx input, line 1; fatal; : missing .version"
        );
        assert_eq!(with_log(error.clone(), &[0; 8]), error);
    }
}
