//! A lens: points move along lines through the middle.

use crate::geometry::Size;

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Radial {
    /// Half the edges: a point that stays, counted from the centre of the first pixel.
    pub(crate) middle: [f64; 2],
    pub(crate) scale: [f64; 2],
    pub(crate) k: [f64; 2],
}

impl Radial {
    pub(super) fn new(size: Size, scale: [f64; 2], k: [f64; 2]) -> Self {
        Self { middle: [size.width, size.height].map(|edge| 0.5 * f64::from(edge)), scale, k }
    }

    pub(super) fn row(&self, y: u32, places: &mut [[f32; 2]]) {
        let ([mx, my], [sx, sy], [k1, k2]) = (self.middle, self.scale, self.k);
        let dy = f64::from(y) - my;
        let v = dy * sy;
        for (x, place) in places.iter_mut().enumerate() {
            let dx = x as f64 - mx;
            let u = dx * sx;
            let r = u * u + v * v;
            let factor = 1.0 + (k2 * r + k1) * r;
            *place = [(dx * factor + mx) as f32, (dy * factor + my) as f32];
        }
    }

    /// Along a line through the middle, the first place that shows the point; where none does, the place that shows the
    /// furthest.
    pub(super) fn found(&self, point: [f64; 2]) -> [f64; 2] {
        // Counted from the corner.
        let middle = self.middle.map(|middle| middle + 0.5);
        let [dx, dy] = [point[0] - middle[0], point[1] - middle[1]];
        let r = (dx * self.scale[0]).powi(2) + (dy * self.scale[1]).powi(2);
        let [k1, k2] = [self.k[0] * r, self.k[1] * r * r];
        // A place s times as far away as the point shows what is shown(s) times as far away.
        let shown = |s: f64| s * (1.0 + (k2 * s * s + k1) * s * s);
        let rises = |s: f64| 1.0 + (5.0 * k2 * s * s + 3.0 * k1) * s * s > 0.0;
        let mut most = 1.0;
        while shown(most) < 1.0 && rises(most) && most < 8.0 {
            most *= 1.05;
        }
        let (mut low, mut high) = (0.0, most);
        for _ in 0..60 {
            let s = 0.5 * (low + high);
            if shown(s) < 1.0 { low = s } else { high = s }
        }
        [middle[0] + dx * high, middle[1] + dy * high]
    }

    /// A sixteenth of the longer edge.
    pub(super) fn straight(&self) -> f64 {
        (self.middle[0].max(self.middle[1]) / 8.0).max(2.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_pixel_shows_is_found_at_that_pixel() {
        let size = Size::new(64, 48);
        for (scale, k) in [([1.0 / 64.0, 1.0 / 48.0], [0.3, 0.3]), ([0.02, 0.02], [-0.3, 0.0])] {
            let radial = Radial::new(size, scale, k);
            let mut places = vec![[0.0; 2]; 64];
            for y in 0..48 {
                radial.row(y, &mut places);
                for (x, place) in places.iter().enumerate() {
                    let [u, v] = radial.found(place.map(|at| f64::from(at) + 0.5));
                    let apart = [u - x as f64 - 0.5, v - f64::from(y) - 0.5];
                    assert!(apart.iter().all(|apart| apart.abs() < 1e-3), "{x}, {y}: {u}, {v}");
                }
            }
        }
    }
}
