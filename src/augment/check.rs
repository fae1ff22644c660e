//! Defaults and checks that several augmentations share.

use crate::draft::MAX_EDGE;
use crate::draft::op::{Extent, Interpolation};
use crate::error::{Result, bail, ensure};

/// torchvision's default probability.
pub(super) const fn half() -> f32 {
    0.5
}

/// For what always runs where nothing else is said.
pub(super) const fn one() -> f32 {
    1.0
}

/// torchvision's default interpolation for warps.
pub(super) const fn nearest() -> Interpolation {
    Interpolation::Nearest
}

/// For serde: options that torchvision turns on by default.
pub(super) const fn yes() -> bool {
    true
}

/// A single magnitude would have no strongest one.
pub(super) fn magnitudes(name: &str, bins: u32) -> Result<()> {
    ensure!(
        (2..=1 << 16).contains(&bins),
        "{name}: num_magnitude_bins should be from 2 to 65536, but is {bins}"
    );
    Ok(())
}

pub(super) fn probability(name: &str, p: f32) -> Result<()> {
    ensure!(
        (0.0..=1.0).contains(&p),
        "{name}: p should be a floating point value in the interval [0.0, 1.0], but is {p}"
    );
    Ok(())
}

/// A parameter of a beta distribution.
pub(super) fn alpha(name: &str, what: &str, alpha: f64) -> Result<()> {
    ensure!((1e-4..=1e4).contains(&alpha), "{name}: {what} should be from 0.0001 to 10000, but is {alpha}");
    Ok(())
}

pub(super) fn size(name: &str, size: Extent) -> Result<()> {
    let edges = size.square();
    ensure!(
        (1..=MAX_EDGE).contains(&edges.width) && (1..=MAX_EDGE).contains(&edges.height),
        "{name}: size must be from 1 to {MAX_EDGE} a side, but is {edges}"
    );
    Ok(())
}

/// A number from `low` to `high`.
pub(super) fn within(name: &str, what: &str, value: f64, [low, high]: [f64; 2]) -> Result<()> {
    ensure!((low..=high).contains(&value), "{name}: {what} should be from {low} to {high}, but is {value}");
    Ok(())
}

/// A (min, max) pair; torchvision only warns where it is reversed, and then draws outside it.
pub(super) fn range(name: &str, what: &str, [min, max]: [f64; 2], lowest: f64, highest: f64) -> Result<()> {
    if min > max {
        bail!("{name}: {what} should be of kind (min, max), but is [{min}, {max}]: swap them");
    }
    ensure!(
        min >= lowest && max <= highest,
        "{name}: {what} should be between {lowest} and {highest}, but is [{min}, {max}]"
    );
    Ok(())
}

pub(super) fn filter(name: &str, interpolation: Interpolation, antialias: bool) -> Result<()> {
    ensure!(
        antialias || interpolation != Interpolation::Bicubic,
        "{name}: bicubic needs antialias = true here; bilinear works with both"
    );
    Ok(())
}

/// Warps have no cubic filter, as torchvision's have none for tensors.
pub(super) fn warp_filter(name: &str, interpolation: Interpolation) -> Result<()> {
    ensure!(
        interpolation != Interpolation::Bicubic,
        "{name}: interpolation must be nearest or bilinear, not bicubic"
    );
    Ok(())
}

pub(super) fn center(name: &str, center: Option<[f64; 2]>) -> Result<()> {
    ensure!(
        center.into_iter().flatten().all(f64::is_finite),
        "{name}: center must be two finite numbers, [x, y]"
    );
    Ok(())
}
