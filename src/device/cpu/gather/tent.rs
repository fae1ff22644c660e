//! The widened filter: a tent as wide as the source's stride from one pixel to the next.

use super::{Gather, Places, level_of};
use crate::device::cpu::block::{Block, LANES};

impl Gather<'_> {
    /// Rows from the top, in each row taps from the left; where the tent is not wider than the plain filter, that one.
    #[inline(always)]
    pub(super) fn widened(&self, places: &Places, count: usize, block: &mut Block) {
        let mut sums = [[0.0; LANES]; 4];
        let mut narrow = [false; LANES];
        for lane in 0..count {
            let radius = self.warp.radius(places.columns[lane], places.row);
            let place = [places.xs[lane], places.ys[lane]];
            narrow[lane] = radius == [1.0; 2];
            if !narrow[lane] && self.is_reached(place, radius) {
                let pixel = self.tent(place, radius);
                sums.iter_mut().zip(pixel).for_each(|(sums, sum)| sums[lane] = sum);
            }
        }
        self.finish(&sums, block);
        if narrow.contains(&true) {
            let mut plain = Block::default();
            self.plain(places, count, &mut plain);
            for (plane, plain) in block.planes.iter_mut().zip(&plain.planes) {
                for lane in 0..LANES {
                    plane[lane] = if narrow[lane] { plain[lane] } else { plane[lane] };
                }
            }
        }
    }

    /// Sums of levels and of the taps inside, over the sum of all weights.
    #[inline(always)]
    fn tent(&self, [x, y]: [f32; 2], radius: [f32; 2]) -> [f32; 4] {
        let (columns, rows) = (Tent::new(x, radius[0]), Tent::new(y, radius[1]));
        let mut sums = [0.0; 4];
        let (mut across, mut down) = (0.0, 0.0);
        for tap in 0..rows.count {
            let (top, weight) = rows.tap(tap);
            let mut line = [0.0f32; 4];
            across = 0.0;
            for tap in 0..columns.count {
                let (left, weight) = columns.tap(tap);
                let word = self.tap(left, top);
                for (channel, sum) in line.iter_mut().enumerate() {
                    *sum = level_of(word, channel).mul_add(weight, *sum);
                }
                across += weight;
            }
            for (sum, line) in sums.iter_mut().zip(line) {
                *sum = line.mul_add(weight, *sum);
            }
            down += weight;
        }
        let whole: f32 = across * down;
        sums.map(|sum: f32| sum / whole)
    }
}

/// The taps of a widened filter along one axis.
#[derive(Clone, Copy)]
struct Tent {
    centre: f32,
    radius: f32,
    first: f32,
    count: i32,
}

impl Tent {
    /// From the first whole number that is not below centre - radius to the last that is not above centre + radius.
    #[inline(always)]
    fn new(centre: f32, radius: f32) -> Self {
        let first = (centre - radius).ceil();
        Self { centre, radius, first, count: ((centre + radius).floor() - first) as i32 + 1 }
    }

    /// Where a tap lies, and its weight.
    #[inline(always)]
    fn tap(self, number: i32) -> (f32, f32) {
        let at = self.first + number as f32;
        (at, (1.0 - (at - self.centre).abs() / self.radius).max(0.0))
    }
}
