//! Soak and chaos: random data sets, random pipelines and everything that can go wrong with them, held against an oracle
//! that works each sample out alone.
//!
//! Each case follows from its seed. By default a few fixed seeds run; environment variables ask for more:
//!
//! ```sh
//! FEEDLINE_CHAOS_SECONDS=600 cargo test --release --test chaos -- --nocapture     # ten minutes
//! FEEDLINE_CHAOS_SEED=4711 FEEDLINE_CHAOS_ON=cpu cargo test --test chaos           # one case; `device`: the simulated GPU
//! ```
//!
//! `docs/reliability.md` says what is promised by it.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod case;
mod chain;
mod children;
mod dataset;
mod device;
mod disturbance;
mod draw;
mod files;
mod judge;
mod oracle;
#[path = "../cuda/pixels.rs"]
mod pixels;
mod role;
mod run;
mod share;
mod soak;
mod tally;
mod trials;
mod watch;
#[path = "../source/write.rs"]
mod write;

use std::process::ExitCode;

fn main() -> ExitCode {
    match role::Role::of_this_process() {
        Some(role) => role.play(),
        None => libtest_mimic::run(&trials::arguments(), trials::all()).exit_code(),
    }
}
