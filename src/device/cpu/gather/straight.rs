//! Widened warps that keep rows and columns apart: scaled and moved, but neither turned nor sheared.
//!
//! Each output row first sums rows of the source, which lie in one piece, and then columns of that sum. The sums are
//! those of [`super::tent`] in the same order, so the bits are too; what many pixels have in common is done once.

use super::Gather;
use super::tent::Tent;
use crate::device::warp::MAX_RADIUS;
use crate::plan::{around, filter};

/// Bytes, or sums of them, that are worked on at a time.
const CHUNK: usize = 64;
/// Columns that the first and the last one are repeated for: taps of a covered pixel reach no further.
const MARGIN: usize = MAX_RADIUS as usize + 2;
/// Most taps of a column.
const WIDEST: usize = 2 * MAX_RADIUS as usize + 1;
/// Pixels that are finished at a time.
const PIXELS: usize = 64;
/// Added to a number from 0 to 255, it leaves the nearest whole one, the even one of two, in the lowest bits.
const ROUND: f32 = 12_582_912.0;

/// What the rows of a layer have in common.
pub(super) struct Straight {
    /// Number of the first column of the window that is covered; the others follow it.
    first: usize,
    columns: Vec<Column>,
    /// As many for each column, from its first tap on.
    weights: Vec<f32>,
    /// How many.
    taps: usize,
    /// One source row's sums with a margin on both sides.
    line: Vec<f32>,
    /// Byte where each source row of the current output row begins, and its weight.
    rows: Vec<(usize, f32)>,
}

/// One column of the window.
struct Column {
    /// Where its first tap's red is in the line.
    at: usize,
    /// Its weights together.
    whole: f32,
}

impl Straight {
    /// What there is to share; `None` where rows and columns mix, or taps can miss the source.
    pub(super) fn of(gather: &Gather<'_>) -> Option<Self> {
        let keeps_apart = gather.warp.keeps_axes() && gather.around == around::NOTHING;
        if !keeps_apart || gather.filter != filter::BILINEAR || gather.view.data.is_empty() {
            return None;
        }
        let [radius, _] = gather.warp.radius(0.0, 0.0);
        let count = gather.columns.count as usize;
        let place = |number| gather.warp.place(gather.columns.shown(number) as i32 as f32, 0.0)[0];
        // Places move one way, so what is covered is one run.
        let first = (0..count).find(|&number| gather.covers_column(place(number))).unwrap_or(count);
        let places = (first..count).map(place).take_while(|&place| gather.covers_column(place));
        let tents: Vec<Tent> = places.map(|place| Tent::new(place, radius).without_idle_taps()).collect();
        let taps = tents.iter().map(|tent| tent.count).max().unwrap_or(1) as usize;
        let mut weights = vec![0.0; tents.len() * taps];
        let column = |(tent, weights): (&Tent, &mut [f32])| {
            let at = (tent.first as i32 - gather.corner[0] + MARGIN as i32) as usize * 3;
            let mut whole = 0.0;
            for (tap, weight) in weights.iter_mut().enumerate().take(tent.count as usize) {
                *weight = tent.tap(tap as i32).1;
                whole += *weight;
            }
            Column { at, whole }
        };
        let columns = tents.iter().zip(weights.chunks_exact_mut(taps)).map(column).collect();
        let line = vec![0.0; (gather.view.size.width as usize + 2 * MARGIN + WIDEST) * 3 + 1];
        Some(Self { first, columns, weights, taps, line, rows: Vec::new() })
    }

    /// Row `y` of the window.
    #[inline(always)]
    pub(super) fn row(&mut self, gather: &Gather<'_>, y: usize, pixels: &mut [u8]) {
        let [_, place] = gather.warp.place(0.0, gather.rows.shown(y) as i32 as f32);
        if !gather.covers_row(place) || self.columns.is_empty() {
            return;
        }
        let tent = Tent::new(place, gather.warp.radius(0.0, 0.0)[1]).without_idle_taps();
        let mut down = 0.0;
        self.rows.clear();
        for tap in 0..tent.count {
            let (top, weight) = tent.tap(tap);
            self.rows.push((gather.row_of(top), weight));
            down += weight;
        }
        self.sum_rows(gather);
        let pixels = &mut pixels[self.first * 3..][..self.columns.len() * 3];
        match self.taps {
            1 => self.sum_columns::<1>(down, pixels),
            2 => self.sum_columns::<2>(down, pixels),
            3 => self.sum_columns::<3>(down, pixels),
            4 => self.sum_columns::<4>(down, pixels),
            5 => self.sum_columns::<5>(down, pixels),
            _ => self.sum_columns::<0>(down, pixels),
        }
    }

    /// Fills the line with the weighted sums of the source's rows.
    #[inline(always)]
    fn sum_rows(&mut self, gather: &Gather<'_>) {
        let bytes = gather.view.size.width as usize * 3;
        let inner = &mut self.line[MARGIN * 3..][..bytes];
        for (number, sums) in inner.chunks_mut(CHUNK).enumerate() {
            let mut block = [0.0f32; CHUNK];
            for &(row, weight) in &self.rows {
                let levels = &gather.view.data[row + number * CHUNK..];
                match levels.first_chunk::<CHUNK>() {
                    Some(levels) => add(&mut block, levels, weight),
                    None => add(&mut block[..sums.len()], levels, weight),
                }
            }
            sums.copy_from_slice(&block[..sums.len()]);
        }
        let (left, right) = (MARGIN * 3, MARGIN * 3 + bytes - 3);
        for margin in 0..MARGIN {
            self.line.copy_within(left..left + 3, margin * 3);
            self.line.copy_within(right..right + 3, right + (margin + 1) * 3);
        }
    }

    /// Weighs the line's columns and stores the levels; `TAPS` is the number of taps, or 0 where it is not one of the
    /// usual ones.
    #[inline(always)]
    fn sum_columns<const TAPS: usize>(&self, down: f32, pixels: &mut [u8]) {
        let taps = if TAPS == 0 { self.taps } else { TAPS };
        let blocks = self.columns.chunks(PIXELS).zip(self.weights.chunks(PIXELS * taps));
        for ((columns, weights), pixels) in blocks.zip(pixels.chunks_mut(PIXELS * 3)) {
            let mut sums = [[0.0f32; 4]; PIXELS];
            for ((column, weights), sums) in columns.iter().zip(weights.chunks_exact(taps)).zip(&mut sums) {
                let line = &self.line[column.at..][..taps * 3 + 1];
                let mut sum = [0.0f32; 4];
                for (tap, weight) in weights.iter().enumerate() {
                    for channel in 0..4 {
                        sum[channel] = line[tap * 3 + channel].mul_add(*weight, sum[channel]);
                    }
                }
                let whole = column.whole * down;
                *sums = sum.map(|sum| sum / whole);
            }
            let levels = sums.map(|sums| sums.map(|sum| (sum.clamp(0.0, 255.0) + ROUND).to_bits() as u8));
            for (pixel, [levels @ .., _]) in pixels.chunks_exact_mut(3).zip(&levels) {
                pixel.copy_from_slice(levels);
            }
        }
    }
}

#[inline(always)]
fn add(sums: &mut [f32], levels: &[u8], weight: f32) {
    for (sum, level) in sums.iter_mut().zip(levels) {
        *sum = f32::from(*level).mul_add(weight, *sum);
    }
}
