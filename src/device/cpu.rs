//! The CPU backend.

pub(crate) mod resample;
pub(crate) mod taps;
pub(crate) mod view;
