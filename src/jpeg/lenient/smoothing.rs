//! Coefficients that a progressive file has left out, guessed from the DC of the blocks around.
//!
//! The standard suggests it (ITU-T T.81, K.8); libjpeg-turbo extends it to 24 neighbours. A guess fills in a coefficient
//! that is zero and not known to the last bit.

use super::blocks::Store;
use super::segments::{Component, Frame};

/// What is known of a component's coefficients: the lowest known bit of each in zigzag order, -1 for none.
pub(super) type Known = [i8; 64];

/// The coefficients that are guessed, in zigzag order.
pub(super) const GUESSED: std::ops::RangeInclusive<usize> = 1..=9;

/// Their indices in a block, in the same order; DC's first.
const POSITIONS: [usize; 10] = [0, 1, 8, 16, 9, 2, 3, 10, 17, 24];

/// Weights of the 25 blocks, row by row, for each coefficient, where nothing but DC is known.
#[rustfmt::skip]
const WIDE: [[i32; 25]; 10] = [
    [ -2, -6, -8, -6, -2,  -6,  6, 42,  6, -6,  -8, 42,152, 42, -8,  -6,  6, 42,  6, -6,  -2, -6, -8, -6, -2],
    [ -1, -1,  0,  1,  1,  -3, 13,  0,-13,  3,  -3, 38,  0,-38,  3,  -3, 13,  0,-13,  3,  -1, -1,  0,  1,  1],
    [ -1, -3, -3, -3, -1,  -1, 13, 38, 13, -1,   0,  0,  0,  0,  0,   1,-13,-38,-13,  1,   1,  3,  3,  3,  1],
    [  0,  0,  1,  0,  0,   0,  2,  7,  2,  0,   0, -5,-14, -5,  0,   0,  2,  7,  2,  0,   0,  0,  1,  0,  0],
    [ -1,  0,  0,  0,  1,   0,  9,  0, -9,  0,   0,  0,  0,  0,  0,   0, -9,  0,  9,  0,   1,  0,  0,  0, -1],
    [  0,  0,  0,  0,  0,   0,  2, -5,  2,  0,   1,  7,-14,  7,  1,   0,  2, -5,  2,  0,   0,  0,  0,  0,  0],
    [  0,  0,  0,  0,  0,   0,  1,  0, -1,  0,   0,  2,  0, -2,  0,   0,  1,  0, -1,  0,   0,  0,  0,  0,  0],
    [  0,  0,  0,  0,  0,   0,  1, -3,  1,  0,   0,  0,  0,  0,  0,   0, -1,  3, -1,  0,   0,  0,  0,  0,  0],
    [  0,  0,  0,  0,  0,   0,  1,  0, -1,  0,   0, -3,  0,  3,  0,   0,  1,  0, -1,  0,   0,  0,  0,  0,  0],
    [  0,  0,  0,  0,  0,   0,  1,  2,  1,  0,   0,  0,  0,  0,  0,   0, -1, -2, -1,  0,   0,  0,  0,  0,  0],
];

/// The same where something of other coefficients is known: DC stays, and the last four are not guessed.
#[rustfmt::skip]
const NARROW: [[i32; 25]; 6] = [
    [0; 25],
    [  0,  0,  0,  0,  0,   0,  0,  0,  0,  0,  -7, 50,  0,-50,  7,   0,  0,  0,  0,  0,   0,  0,  0,  0,  0],
    [  0,  0, -7,  0,  0,   0,  0, 50,  0,  0,   0,  0,  0,  0,  0,   0,  0,-50,  0,  0,   0,  0,  7,  0,  0],
    [  0,  0, -1,  0,  0,   0,  0, 13,  0,  0,   0,  0,-24,  0,  0,   0,  0, 13,  0,  0,   0,  0, -1,  0,  0],
    [  0, -1,  0,  1,  0,  -1, 10,  0,-10,  1,   0,  0,  0,  0,  0,   1,-10,  0, 10, -1,   0,  1,  0, -1,  0],
    [  0,  0,  0,  0,  0,   0,  0,  0,  0,  0,  -1, 13,-24, 13, -1,   0,  0,  0,  0,  0,   0,  0,  0,  0,  0],
];

/// What is known of the whole file, and what of its components was known before their last scan.
pub(super) struct Smoothing {
    known: [Known; 4],
    before: [Known; 4],
    /// The last row of interleaved MCUs for which the last scan had data.
    last_good: usize,
}

impl Smoothing {
    /// The guesses for a progressive file, if it needs any.
    pub(super) fn new(
        frame: &Frame,
        quants: &[Option<[u16; 64]>; 4],
        known: &[Known; 4],
        before: &[Known; 4],
        (scans, last_good): (u32, usize),
    ) -> Option<Self> {
        let count = frame.components.len();
        let divides = |quant: &Option<[u16; 64]>| {
            quant.is_some_and(|quant| POSITIONS.iter().all(|&position| quant[position] != 0))
        };
        let is_possible = quants[..count].iter().all(divides) && known[..count].iter().all(|k| k[0] >= 0);
        let helps = known[..count].iter().any(|known| known[GUESSED].iter().any(|&bit| bit != 0));
        let before = if scans > 1 { *before } else { [[-1; 64]; 4] };
        (is_possible && helps).then_some(Self { known: *known, before, last_good })
    }

    /// The block of a component at column `x` of row `y`, with what is guessed of it.
    pub(super) fn block(
        &self,
        store: &Store,
        frame: &Frame,
        quant: &[u16; 64],
        (component, x, y): (usize, usize, usize),
    ) -> [i16; 64] {
        let mut block = *store.block(component, x, y);
        let Component { v, blocks_across, blocks_down, .. } = frame.components[component];
        let (mcu_row, last_mcu_row) = (y / v, frame.mcus_down() - 1);
        let known = if mcu_row > self.last_good { &self.before[component] } else { &self.known[component] };
        let only_dc = known[GUESSED].iter().all(|&bit| bit == -1);
        // libjpeg counts the rows of blocks as if all rows of MCUs had as many as this one.
        let of_mcu_row = match blocks_down % v {
            left if mcu_row == last_mcu_row && left > 0 => left,
            _ => v,
        };
        let row = mcu_row * of_mcu_row + y % v;
        let rows_below = (of_mcu_row * (last_mcu_row + 1)).saturating_sub(row + 1);
        // Rows and columns that do not exist are those at the edge.
        let above = |n: usize| y - n.min(row);
        let below = |n: usize| y + n.min(rows_below);
        let last = blocks_across - 1;
        let rows = [above(2), above(1), y, below(1), below(2)];
        let columns = [x.saturating_sub(2), x.saturating_sub(1), x, (x + 1).min(last), (x + 2).min(last)];
        let around: [i64; 25] =
            std::array::from_fn(|i| store.block(component, columns[i % 5], rows[i / 5])[0].into());
        let weights: &[[i32; 25]] = if only_dc { &WIDE } else { &NARROW };
        let guess = |k: usize, known: i8| {
            let sum: i64 = weights[k].iter().zip(&around).map(|(&weight, &dc)| i64::from(weight) * dc).sum();
            rounded(sum * i64::from(quant[0]), quant[POSITIONS[k]].into(), known)
        };
        for k in (1..weights.len()).filter(|&k| known[k] != 0) {
            if block[POSITIONS[k]] == 0 {
                block[POSITIONS[k]] = guess(k, known[k]);
            }
        }
        if only_dc {
            block[0] = guess(0, 0);
        }
        block
    }
}

/// A 256th of `sum` in steps of `quant`, and no more than the bits that are not known can hold.
fn rounded(sum: i64, quant: i64, known: i8) -> i16 {
    let mut magnitude = ((quant << 7) + sum.abs()) / (quant << 8);
    if known > 0 {
        magnitude = magnitude.min((1 << known) - 1);
    }
    (if sum < 0 { -magnitude } else { magnitude }) as i16
}
