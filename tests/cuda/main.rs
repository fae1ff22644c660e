//! The CUDA path, on a simulated driver, nvJPEG and NVML or, with `FEEDLINE_CUDA=real`, on a GPU.
//!
//! Each scenario runs in a process of its own, because a driver can only be started once in each: this program starts
//! itself with the scenario's name in the environment. `docs/cuda-testing.md` says what that can find and what not.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod any_op;
mod bare_device;
mod captures;
mod child;
mod client;
mod compare;
mod counts;
mod cubin;
mod decoding;
mod dispatch;
mod double;
mod driver_calls;
mod engines;
mod faults;
mod gpu_use;
mod kernels;
mod libraries;
mod limits;
mod measured;
mod memory;
mod object_masks;
mod ordering;
mod own_decoder;
mod packed;
mod parallel;
mod parity;
mod pasting;
mod pictures;
mod pinning;
mod pipeline;
mod pixels;
mod planted;
mod probe;
mod refused;
mod ring;
mod scenario;
mod sharing;
mod sizes;
mod staging;
mod sweep;
mod tensors;
#[cfg(feature = "tch")]
mod torch;
mod trainer;
mod trial;
mod verification;
mod views;
mod wild_records;

use std::process::ExitCode;

fn main() -> ExitCode {
    if let Some(name) = std::env::var_os(child::SCENARIO) {
        return child::run(&name.to_string_lossy());
    }
    let arguments = libtest_mimic::Arguments::from_args();
    let mut trials = trial::all();
    trials.extend(sweep::all());
    libtest_mimic::run(&arguments, trials).exit_code()
}
