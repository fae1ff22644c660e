//! feedline keeps the accelerator fed.

pub mod geometry;
