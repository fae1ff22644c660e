//! Draws from a range, with the arithmetic that torchvision writes by hand.

use crate::rng::Draws;

/// `low + torch.rand(1) * (high - low)`: each step in f32, where `uniform_` rounds once.
pub(super) fn stretched(rng: &mut dyn Draws, low: f64, high: f64) -> f32 {
    low as f32 + rng.uniform() * (high - low) as f32
}

/// Uniform in [low, high), with the arithmetic of Python's `random.uniform`.
pub(super) fn between([low, high]: [f64; 2], rng: &mut dyn Draws) -> f64 {
    low + (high - low) * f64::from(rng.uniform())
}

/// `int(edge * part)`, of an integer and a float32 tensor.
pub(super) fn part_of(edge: u32, part: f32) -> u32 {
    (edge as f32 * part) as u32
}
