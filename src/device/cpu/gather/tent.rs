//! The widened filter: a tent as wide as the source's stride from one pixel to the next.
//!
//! The weights along an axis are divided by their sum. Columns are summed from the left, in each column rows from the
//! top. So a map that keeps rows and columns apart can
//! sum whole rows of the source first and gives the same bits; [`super::straight`] does.

use super::{Gather, LANES, Places, Plane, level_of};
use crate::device::cpu::pixel_block::PixelBlock;

impl Gather<'_> {
    #[inline(always)]
    pub(super) fn widened(&self, places: &Places, count: usize, block: &mut PixelBlock) {
        let mut sums = [[0.0; LANES]; 4];
        let mut radii = [[1.0; 2]; LANES];
        for (radius, column) in radii.iter_mut().zip(&places.columns) {
            *radius = self.warp.radius(*column, places.row);
        }
        if radii == [[1.0; 2]; LANES] {
            self.four_taps(places, count, &mut sums);
        } else {
            for lane in 0..count {
                let place = [places.xs[lane], places.ys[lane]];
                if self.is_reached(place, radii[lane]) {
                    let pixel = self.tent(place, radii[lane]);
                    sums.iter_mut().zip(pixel).for_each(|(sums, sum)| sums[lane] = sum);
                }
            }
        }
        self.finish(&sums, block);
    }

    /// Where nothing shrinks: the two nearest taps along each axis, since a third could only weigh nothing.
    #[inline(always)]
    fn four_taps(&self, Places { xs, ys, .. }: &Places, count: usize, sums: &mut [Plane; 4]) {
        let (mut lefts, mut tops) = ([0.0; LANES], [0.0; LANES]);
        for lane in 0..LANES {
            (lefts[lane], tops[lane]) = (xs[lane].floor(), ys[lane].floor());
        }
        let words = self.quads(&lefts, &tops, count);
        let weigh = |place: f32| {
            let (tent, at) = (Tent::new(place, 1.0), place.floor());
            let [near, far] = [tent.weight(at), tent.weight(at + 1.0)];
            let part = 1.0 / (near + far);
            [near * part, far * part]
        };
        let (mut across, mut down) = ([[0.0; LANES]; 2], [[0.0; LANES]; 2]);
        for lane in 0..LANES {
            [across[0][lane], across[1][lane]] = weigh(xs[lane]);
            [down[0][lane], down[1][lane]] = weigh(ys[lane]);
        }
        for (channel, sums) in sums[..self.sums()].iter_mut().enumerate() {
            for lane in 0..LANES {
                let tap = |i: usize| level_of(words[i][lane], channel);
                let line =
                    |column: usize| tap(column + 2).mul_add(down[1][lane], tap(column) * down[0][lane]);
                let sum = line(1).mul_add(across[1][lane], line(0) * across[0][lane]);
                // Where no tap can lie inside there may be no number either, at a perspective's horizon.
                sums[lane] = if words[0][lane] | words[1][lane] | words[2][lane] | words[3][lane] == 0 {
                    0.0
                } else {
                    sum
                };
            }
        }
    }

    /// Sums of levels and of the taps inside.
    #[inline(always)]
    fn tent(&self, [x, y]: [f32; 2], radius: [f32; 2]) -> [f32; 4] {
        let (columns, rows) = (Tent::new(x, radius[0]), Tent::new(y, radius[1]));
        let (across, down) = (columns.part(), rows.part());
        let mut sums = [0.0; 4];
        for tap in 0..columns.count {
            let (left, weight) = columns.tap(tap);
            let mut line = [0.0f32; 4];
            for tap in 0..rows.count {
                let (top, weight) = rows.tap(tap);
                let word = self.tap(left, top);
                for (channel, sum) in line.iter_mut().enumerate() {
                    *sum = level_of(word, channel).mul_add(weight * down, *sum);
                }
            }
            for (sum, line) in sums.iter_mut().zip(line) {
                *sum = line.mul_add(weight * across, *sum);
            }
        }
        sums
    }
}

/// The taps of a widened filter along one axis.
#[derive(Clone, Copy)]
pub(super) struct Tent {
    centre: f32,
    radius: f32,
    pub(super) first: f32,
    pub(super) count: i32,
}

impl Tent {
    /// From the first whole number that is not below centre - radius to the last that is not above centre + radius.
    #[inline(always)]
    pub(super) fn new(centre: f32, radius: f32) -> Self {
        let first = (centre - radius).ceil();
        Self { centre, radius, first, count: ((centre + radius).floor() - first) as i32 + 1 }
    }

    /// The same without taps at its ends that weigh nothing; adding them would change no sum.
    pub(super) fn without_idle_taps(mut self) -> Self {
        while self.count > 1 && self.tap(self.count - 1).1 == 0.0 {
            self.count -= 1;
        }
        while self.count > 1 && self.tap(0).1 == 0.0 {
            (self.first, self.count) = (self.first + 1.0, self.count - 1);
        }
        self
    }

    /// What a weight is multiplied with, so that all of them sum to 1.
    #[inline(always)]
    pub(super) fn part(self) -> f32 {
        let mut whole = 0.0;
        for tap in 0..self.count {
            whole += self.tap(tap).1;
        }
        1.0 / whole
    }

    /// Where a tap lies, and its weight before it is divided.
    #[inline(always)]
    pub(super) fn tap(self, number: i32) -> (f32, f32) {
        let at = self.first + number as f32;
        (at, self.weight(at))
    }

    #[inline(always)]
    fn weight(self, at: f32) -> f32 {
        (1.0 - (at - self.centre).abs() / self.radius).max(0.0)
    }
}
