//! Devices decode and render.

pub mod cpu;
