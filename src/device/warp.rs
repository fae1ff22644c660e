//! Where the pixels of a warped layer lie in its source: one arithmetic for decoding, rendering and every device.
//!
//! All of it is f32, and a fused multiply-add stands where `mul_add` does and nowhere else, so that a kernel can give
//! the same bits. It is the arithmetic of torchvision's grids on the CPU (seen with torch 2.15 and MKL, from 67 pixels
//! on) and of torch's `grid_sample` without aligned corners:
//!
//! ```text
//! x = column + 0.5 - origin, y likewise                 exact; origin: see WarpMap::map
//! u = fma(y, m1, x * m0) + m2, v = fma(y, m4, x * m3) + m5
//! where the last row is not 0 0 1:
//!     d = fma(y, m7, x * m6) + m8, u = u / d - 1, v = v / d - 1
//! place = fma(u + 1, clip.width / 2, -0.5), fma(v + 1, clip.height / 2, -0.5)
//! ```

mod bounds;

pub(crate) use bounds::taps_of;

use crate::plan::{Sampled, WarpMap};

/// Furthest that a widened filter reaches from its centre, in source pixels; shrinking by more is undersampled.
pub(crate) const MAX_RADIUS: f32 = 8.0;

/// The map of a warped layer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Warp {
    map: [f32; 9],
    /// What is subtracted from pixel centres.
    origin: [f32; 2],
    /// Half the clip's edges.
    half: [f32; 2],
    /// Whether the result is divided.
    divides: bool,
}

impl Warp {
    pub(crate) fn of(sampled: &Sampled, warp: &WarpMap) -> Self {
        let Sampled { clip, scaled, .. } = sampled;
        let divides = warp.map[6..] != [0.0, 0.0, 1.0];
        let middle = |edge: u32| if divides { 0.0 } else { 0.5 * edge as f32 };
        Self {
            map: warp.map,
            origin: [middle(scaled.width), middle(scaled.height)],
            half: [0.5 * clip.width as f32, 0.5 * clip.height as f32],
            divides,
        }
    }

    /// Whether a pixel's column alone says its place's x, and its row the y.
    pub(crate) fn keeps_axes(&self) -> bool {
        !self.divides && self.map[1] == 0.0 && self.map[3] == 0.0
    }

    /// Where a pixel of the warped image falls: 0, 0 is the centre of the clip's first pixel.
    #[inline(always)]
    pub(crate) fn place(&self, column: f32, row: f32) -> [f32; 2] {
        let [mut u, mut v, d] = self.mapped(column, row);
        if self.divides {
            (u, v) = (u / d - 1.0, v / d - 1.0);
        }
        [(u + 1.0).mul_add(self.half[0], -0.5), (v + 1.0).mul_add(self.half[1], -0.5)]
    }

    /// The radius of the widened filter along the source's x and y: how far a coordinate moves from one pixel of the
    /// warped image to the next, but within 1..=8.
    #[inline(always)]
    pub(crate) fn radius(&self, column: f32, row: f32) -> [f32; 2] {
        let m = &self.map;
        let mut slopes = [[m[0], m[1]], [m[3], m[4]]];
        if self.divides {
            let [u, v, d] = self.mapped(column, row);
            for (slope, ratio) in slopes.iter_mut().zip([u / d, v / d]) {
                *slope = [(-ratio).mul_add(m[6], slope[0]) / d, (-ratio).mul_add(m[7], slope[1]) / d];
            }
        }
        let length = |[x, y]: [f32; 2], half: f32| half * y.mul_add(y, x * x).sqrt();
        #[expect(
            clippy::manual_clamp,
            reason = "at a perspective's horizon there is no length, and `max` gives 1"
        )]
        [0, 1].map(|axis| length(slopes[axis], self.half[axis]).max(1.0).min(MAX_RADIUS))
    }

    /// The map's three results; the last is 1 where nothing is divided.
    #[inline(always)]
    fn mapped(&self, column: f32, row: f32) -> [f32; 3] {
        let (x, y) = (column + 0.5 - self.origin[0], row + 0.5 - self.origin[1]);
        let m = &self.map;
        let line = |a: f32, b: f32, c: f32| y.mul_add(b, x * a) + c;
        [line(m[0], m[1], m[2]), line(m[3], m[4], m[5]), line(m[6], m[7], m[8])]
    }
}
