//! The device's kernels, run on this machine by the simulated driver.

use std::ffi::{CStr, c_char, c_int, c_void};

unsafe extern "C" {
    /// `testdouble/grid/registry.cpp`
    fn testdouble_run_kernel(
        name: *const c_char,
        grid: *const [u32; 3],
        block: *const [u32; 3],
        order: u64,
        parameters: *mut *mut c_void,
    ) -> c_int;
    /// `testdouble/fuzz/coverage.cpp`
    fn testdouble_allow_steps(steps: u64);
}

/// Runs a kernel on so many blocks of so many threads, in this order.
pub fn run(name: &CStr, [blocks, threads]: [u32; 2], order: u64, values: &mut [u64]) {
    let mut parameters: Vec<*mut c_void> =
        values.iter_mut().map(|value| (&raw mut *value).cast::<c_void>()).collect();
    let (grid, block, parameters) = ([blocks, 1, 1], [threads, 1, 1], parameters.as_mut_ptr());
    // SAFETY: the kernel takes as many values, and addresses are those of whole arrays.
    let result = unsafe { testdouble_run_kernel(name.as_ptr(), &grid, &block, order, parameters) };
    assert_eq!(result, 0, "{name:?}");
}

/// Ends the process where the kernels take more steps than these from now on.
pub fn allow_steps(steps: u64) {
    // SAFETY: it sets a number.
    unsafe { testdouble_allow_steps(steps) };
}
