//! What a loader says about itself: timings, limits, and the samples that it could not use.

pub(super) mod clock;
pub(super) mod errors;
pub(super) mod prometheus;
pub(super) mod stats;
pub(super) mod timing;
pub(super) mod trace;
