//! A mosaic made in two steps of f32 pictures, a pixel at a time: tiles resized and pasted on a canvas, then a warp.

use feedline::geometry::Size;

/// A picture in f32, and for each pixel what it shows: 0 is the canvas.
#[derive(Clone)]
pub(crate) struct Floats {
    pub(crate) width: usize,
    pub(crate) height: usize,
    pub(crate) levels: Vec<[f32; 3]>,
    pub(crate) shows: Vec<u8>,
}

impl Floats {
    pub(crate) fn filled(size: Size, level: f32) -> Self {
        let (width, height) = (size.width as usize, size.height as usize);
        Self { width, height, levels: vec![[level; 3]; width * height], shows: vec![0; width * height] }
    }

    /// One axis resampled with a triangle, widened when shrinking or not.
    fn across(&self, width: usize, widened: bool) -> Self {
        let mut out = Self::filled(Size::new(width as u32, self.height as u32), 0.0);
        let ratio = self.width as f32 / width as f32;
        let radius = if widened { ratio.max(1.0) } else { 1.0 };
        for x in 0..width {
            let centre = (x as f32 + 0.5) * ratio;
            let weights: Vec<(usize, f32)> = (0..self.width)
                .map(|at| (at, 1.0 - ((at as f32 + 0.5 - centre) / radius).abs()))
                .filter(|(_, weight)| *weight > 0.0)
                .collect();
            let whole: f32 = weights.iter().map(|(_, weight)| weight).sum();
            for y in 0..self.height {
                let mut sum = [0.0; 3];
                for (at, weight) in &weights {
                    let level = self.levels[y * self.width + at];
                    (0..3).for_each(|c| sum[c] += level[c] * weight / whole);
                }
                out.levels[y * width + x] = sum;
            }
        }
        out
    }

    fn transposed(&self) -> Self {
        let mut out = Self::filled(Size::new(self.height as u32, self.width as u32), 0.0);
        for y in 0..self.height {
            for x in 0..self.width {
                out.levels[x * self.height + y] = self.levels[y * self.width + x];
            }
        }
        out
    }

    pub(crate) fn resized(&self, size: Size, widened: bool) -> Self {
        let narrow = self.across(size.width as usize, widened).transposed();
        narrow.across(size.height as usize, widened).transposed()
    }

    /// Puts `tile` at (`left`, `top`), marked as `shows`.
    pub(crate) fn paste(&mut self, tile: &Self, [left, top]: [i32; 2], shows: u8) {
        for y in 0..tile.height {
            for x in 0..tile.width {
                let (to_x, to_y) = (left + x as i32, top + y as i32);
                let inside = |at: i32, edge: usize| (0..edge as i32).contains(&at);
                if inside(to_x, self.width) && inside(to_y, self.height) {
                    let at = to_y as usize * self.width + to_x as usize;
                    (self.levels[at], self.shows[at]) = (tile.levels[y * tile.width + x], shows);
                }
            }
        }
    }

    /// Each pixel of a picture of `size` from where `inverse` leads, by a triangle as wide as the step from pixel to
    /// pixel, or as wide as a pixel.
    pub(crate) fn warped(&self, inverse: &[[f64; 3]; 3], size: Size, around: f32, widened: bool) -> Self {
        let mut out = Self::filled(size, around);
        let place = |x: f64, y: f64| {
            let [u, v, w] = inverse.map(|row| row[0] * x + row[1] * y + row[2]);
            [(u / w) as f32, (v / w) as f32]
        };
        for y in 0..out.height {
            for x in 0..out.width {
                let (x0, y0) = (x as f64 + 0.5, y as f64 + 0.5);
                let at = place(x0, y0);
                let (right, below) = (place(x0 + 1.0, y0), place(x0, y0 + 1.0));
                let stride = |axis: usize| (right[axis] - at[axis]).hypot(below[axis] - at[axis]);
                let radius = [0, 1].map(|axis| if widened { stride(axis).max(1.0) } else { 1.0 });
                let pixel = y * out.width + x;
                (out.levels[pixel], out.shows[pixel]) = self.sampled(at, radius, around);
            }
        }
        out
    }

    fn sampled(&self, [x, y]: [f32; 2], [across, down]: [f32; 2], around: f32) -> ([f32; 3], u8) {
        let (mut sum, mut whole) = ([0.0; 3], 0.0);
        for row in (y - down).floor() as i32..=(y + down).ceil() as i32 {
            for column in (x - across).floor() as i32..=(x + across).ceil() as i32 {
                let tent = |at: i32, centre: f32, radius: f32| {
                    (1.0 - ((at as f32 + 0.5 - centre) / radius).abs()).max(0.0)
                };
                let weight = tent(column, x, across) * tent(row, y, down);
                let level = self.pixel(column, row).map_or([around; 3], |at| self.levels[at]);
                (0..3).for_each(|c| sum[c] += level[c] * weight);
                whole += weight;
            }
        }
        let shows = self.pixel(x.floor() as i32, y.floor() as i32).map_or(0, |at| self.shows[at]);
        (sum.map(|level| level / whole), shows)
    }

    fn pixel(&self, x: i32, y: i32) -> Option<usize> {
        let inside = (0..self.width as i32).contains(&x) && (0..self.height as i32).contains(&y);
        inside.then(|| y as usize * self.width + x as usize)
    }

    /// Whether all pixels at most one away show the same.
    pub(crate) fn is_within(&self, x: usize, y: usize) -> bool {
        let own = self.shows[y * self.width + x];
        let near = |at: usize, edge: usize| at.saturating_sub(1)..(at + 2).min(edge);
        near(y, self.height).all(|y| near(x, self.width).all(|x| self.shows[y * self.width + x] == own))
    }
}
