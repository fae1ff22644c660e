//! Devices decode and render.

pub mod cpu;
mod reach;

pub use reach::region;
