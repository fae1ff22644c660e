//! Random ops for a canvas of any size.

use feedline::draft::op::Op;
use feedline::geometry::Size;
use feedline::rng::{Draws, Rng};
use feedline_test_support::chains::{Dice, LAST, OPS};

/// Something for the device to do with a canvas of `size`, short of finishing it; what is bounded keeps simulated runs short.
pub(crate) fn any_op(rng: &mut Rng, size: Size) -> Op {
    let among: Vec<&str> = OPS.iter().filter(|name| !LAST.contains(name)).copied().collect();
    op(rng, |dice| dice.any(&among, [size.width, size.height]))
}

/// A warp with a map that is composed with what came before, upright every other time.
pub(crate) fn folding_warp(rng: &mut Rng, size: Size) -> Op {
    op(rng, |dice| dice.folding_warp([size.width, size.height]))
}

fn op(rng: &mut Rng, draw: impl FnOnce(&mut Dice<'_>) -> serde_json::Value) -> Op {
    let drawn = draw(&mut Dice { bits: &mut || rng.bits(), longest: 75 });
    serde_json::from_value(drawn).expect("an op")
}
