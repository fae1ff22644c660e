//! What the tests share: noise, image files, gates that a test opens, a clock that it moves, orders of events, and random
//! chains of ops.
//!
//! It does not depend on feedline, so that its unit tests can use it as well as the programs in `tests/`, the benchmarks
//! and the C library's tests. Ops are JSON here, which is what `feedline apply` reads and what other libraries are given.

pub mod chains;
pub mod clock;
pub mod damage;
pub mod explore;
pub mod gate;
pub mod jpeg;
pub mod memory;
pub mod noise;
pub mod packed;
pub mod pipe;
pub mod png;
pub mod scribble;
