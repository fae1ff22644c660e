//! Decoding from the middle of a scan: the index of points to start at, and the segments of a scan that a decode reads.

mod index;
mod plan;

pub(crate) use index::{Grid, Point};
pub use index::{Index, IndexUse};
pub(crate) use plan::{Scanned, SeekPlan, Segment};
