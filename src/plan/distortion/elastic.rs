//! A smooth field of displacements, made of noise.
//!
//! Noise on every pixel that is smoothed by a normal distribution has nothing finer than that distribution. So a field with the
//! same deviations and correlations needs one normal number for a square whose edge is `sigma`, and not one a pixel: cubic
//! B-splines on such squares smooth by a variance of a third of the square's, and their weights are smoothed by the rest.
//! Beyond the edges the outermost pixels' noise is repeated, as in Albumentations, so that an image moves most at its edges and
//! corners.

use crate::geometry::Size;
use crate::rng::{inverse_normal, philox};

/// Displacements of all pixels, as weights of cubic B-splines.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Field {
    /// Nodes along x and y; two lie beyond each edge.
    pub(crate) count: [u32; 2],
    /// Nodes for a pixel along x and y.
    pub(crate) density: [f32; 2],
    /// Weights along x and y of each node, row by row.
    pub(crate) nodes: Vec<[f32; 2]>,
    sigma: f64,
}

/// Squares along an edge.
fn squares(edge: u32, sigma: f64) -> u32 {
    ((f64::from(edge) / sigma).ceil() as u32).max(1)
}

/// Nodes along an edge.
pub(super) fn nodes(edge: u32, sigma: f64) -> u32 {
    squares(edge, sigma) + 4
}

/// Weights of a normal distribution that sum to 1, as far as four deviations: half of them, from the middle one on.
fn normal_weights(deviation: f64) -> Vec<f64> {
    let reach = (4.0 * deviation).ceil() as u32;
    let power = |at: u32| (-0.5 * (f64::from(at) / deviation).powi(2)).exp();
    let sum = 2.0 * (1..=reach).map(power).sum::<f64>() + 1.0;
    (0..=reach).map(|at| power(at) / sum).collect()
}

/// One axis of the squares.
struct Axis {
    squares: u32,
    /// Pixels of a square.
    pixels: f64,
    weights: Vec<f64>,
}

impl Axis {
    fn new(edge: u32, sigma: f64) -> Self {
        let squares = squares(edge, sigma);
        let pixels = f64::from(edge) / f64::from(squares);
        // What the splines leave to be smoothed, in squares.
        let rest = ((sigma / pixels).powi(2) - 1.0 / 3.0).sqrt();
        Self { squares, pixels, weights: normal_weights(rest) }
    }

    /// The mean noise of a square, of normal numbers that are independent of each other; the first and the last stand for the
    /// outermost pixels, which are repeated beyond the edges and are a part of the squares there.
    fn mean(&self, square: u32, normal: impl Fn(u32) -> [f64; 2]) -> [f64; 2] {
        let last = self.squares + 1;
        if square == 0 || square == last {
            return normal(square);
        }
        let [first_one, last_one] = [square == 1, square == self.squares];
        let others = self.pixels - f64::from(u8::from(first_one)) - f64::from(u8::from(last_one));
        // An edge of one pixel is both.
        let parts = [
            (square, others.max(0.0).sqrt()),
            (0, f64::from(u8::from(first_one))),
            (last, f64::from(u8::from(last_one && (!first_one || self.pixels > 1.0)))),
        ];
        let mut sum = [0.0; 2];
        for (from, weight) in parts.into_iter().filter(|part| part.1 > 0.0) {
            let number = normal(from);
            sum = [sum[0] + number[0] * weight, sum[1] + number[1] * weight];
        }
        sum.map(|sum| sum / self.pixels)
    }

    /// The noise at a number of squares from the one of a node, repeated beyond the edges; the first of it stands for those.
    fn source(&self, node: u32, apart: i64) -> usize {
        (i64::from(node) - 1 + apart).clamp(0, i64::from(self.squares) + 1) as usize
    }

    /// The weighted sum of noise around a node.
    fn smoothed(&self, node: u32, noise: impl Fn(usize) -> [f64; 2]) -> [f64; 2] {
        let mut sum = noise(self.source(node, 0)).map(|number| number * self.weights[0]);
        for (apart, weight) in (1..).zip(&self.weights[1..]) {
            for side in [-apart, apart] {
                let number = noise(self.source(node, side));
                sum = [sum[0] + number[0] * weight, sum[1] + number[1] * weight];
            }
        }
        sum
    }
}

impl Field {
    pub(super) fn new(size: Size, key: [u32; 2], [alpha, sigma]: [f64; 2], shared: bool) -> Self {
        let [across, down] = [size.width, size.height].map(|edge| Axis::new(edge, sigma));
        let count = [across.squares, down.squares].map(|squares| squares + 4);
        let normal = |x: u32, y: u32| {
            let [first, second, ..] = philox([x, y, 0, 0], key);
            [first, if shared { first } else { second }].map(|bits| inverse_normal(bits) * alpha)
        };
        let rows = (0..down.squares + 2).map(|y| {
            let numbers: Vec<[f64; 2]> = (0..across.squares + 2).map(|x| normal(x, y)).collect();
            let mean = |square| across.mean(square, |at| numbers[at as usize]);
            let means: Vec<[f64; 2]> = (0..across.squares + 2).map(mean).collect();
            (0..count[0]).map(|node| across.smoothed(node, |at| means[at])).collect()
        });
        let rows: Vec<Vec<[f64; 2]>> = rows.collect();
        let mean = |square, x| down.mean(square, |at| rows[at as usize][x as usize]);
        let means = (0..down.squares + 2).map(|y| (0..count[0]).map(|x| mean(y, x)).collect());
        let means: Vec<Vec<[f64; 2]>> = means.collect();
        let places = (0..count[1]).flat_map(|y| (0..count[0]).map(move |x| (x, y)));
        let node = |(x, y): (u32, u32)| down.smoothed(y, |at| means[at][x as usize]);
        let nodes = places.map(|place| node(place).map(|number| number as f32)).collect();
        Self {
            count,
            density: [across.pixels, down.pixels].map(|pixels| pixels.recip() as f32),
            nodes,
            sigma,
        }
    }

    pub(super) fn row(&self, y: u32, places: &mut [[f32; 2]]) {
        let line = self.line(y as f32 + 0.5);
        for (x, place) in places.iter_mut().enumerate() {
            let moved = self.along(&line, x as f32 + 0.5);
            *place = [x as f32 + moved[0], y as f32 + moved[1]];
        }
    }

    /// The weights of a row at `y` pixels from the edge.
    fn line(&self, y: f32) -> Vec<[f32; 2]> {
        let (first, weights) = spline(y * self.density[1], self.count[1]);
        let width = self.count[0] as usize;
        let rows = &self.nodes[first * width..];
        (0..width).map(|x| weighed(weights, [0, 1, 2, 3].map(|row| rows[row * width + x]))).collect()
    }

    fn along(&self, line: &[[f32; 2]], x: f32) -> [f32; 2] {
        let (first, weights) = spline(x * self.density[0], self.count[0]);
        weighed(weights, [0, 1, 2, 3].map(|at| line[first + at]))
    }

    fn at(&self, [x, y]: [f32; 2]) -> [f32; 2] {
        let (first, weights) = spline(y * self.density[1], self.count[1]);
        let (left, across) = spline(x * self.density[0], self.count[0]);
        let width = self.count[0] as usize;
        let node = |row: usize, column: usize| self.nodes[(first + row) * width + left + column];
        weighed(across, [0, 1, 2, 3].map(|x| weighed(weights, [0, 1, 2, 3].map(|row| node(row, x)))))
    }

    /// The place whose lookup is nearest to the point of those that are met on the way to it, step by step.
    pub(super) fn found(&self, point: [f64; 2]) -> [f64; 2] {
        let (mut place, mut best, mut least) = (point, point, f64::INFINITY);
        for step in 0..60 {
            let moved = self.at(place.map(|at| at as f32)).map(f64::from);
            let [x, y] = [0, 1].map(|axis| point[axis] - place[axis] - moved[axis]);
            let apart = x.hypot(y);
            if apart < least {
                (best, least) = (place, apart);
            }
            if least < 1e-3 {
                break;
            }
            // Where whole steps go round and round, smaller ones settle.
            let part = if step < 20 { 1.0 } else { 0.3 };
            place = [place[0] + part * x, place[1] + part * y];
        }
        best
    }

    /// Half of what is smoothed together.
    pub(super) fn straight(&self) -> f64 {
        (0.5 * self.sigma).max(2.0)
    }
}

/// The first of the four nodes around a place, which is counted in nodes from the edge, and their weights. Beyond the edges
/// it is as at the edge.
fn spline(place: f32, count: u32) -> (usize, [f32; 4]) {
    // The first node lies one and a half ahead of the edge.
    let place = (place + 0.5).clamp(0.5, count as f32 - 3.5);
    let first = place.floor();
    let t = place - first;
    let (s, square) = (1.0 - t, t * t);
    let cube = square * t;
    let sixth = 1.0 / 6.0;
    let weights = [
        s * s * s * sixth,
        (3.0 * cube - 6.0 * square + 4.0) * sixth,
        (3.0 * square - 3.0 * cube + 3.0 * t + 1.0) * sixth,
        cube * sixth,
    ];
    (first as usize, weights)
}

/// A sum in f32, from the first on.
fn weighed([a, b, c, d]: [f32; 4], [p, q, r, s]: [[f32; 2]; 4]) -> [f32; 2] {
    [0, 1].map(|axis| ((a * p[axis] + b * q[axis]) + c * r[axis]) + d * s[axis])
}

#[cfg(test)]
mod tests {
    use super::*;

    const SIZE: Size = Size::new(61, 47);

    /// What noise of 1 on every pixel, its outermost pixels repeated, has to do with itself at two places of an axis once it
    /// is smoothed: summed up over all pixels, as Albumentations and OpenCV do it.
    fn naive(edge: u32, sigma: f64, [a, b]: [u32; 2]) -> f64 {
        let reach = (4.0 * sigma).round() as i64;
        let weight = |at: i64| (-0.5 * (at as f64 / sigma).powi(2)).exp();
        let sum: f64 = (-reach..=reach).map(weight).sum();
        let share = |place: u32| {
            let mut share = vec![0.0; edge as usize];
            for at in -reach..=reach {
                share[(i64::from(place) + at).clamp(0, i64::from(edge) - 1) as usize] += weight(at) / sum;
            }
            share
        };
        share(a).iter().zip(share(b)).map(|(a, b)| a * b).sum()
    }

    /// Means of products of displacements at pairs of pixels, over many fields.
    fn measured(sigma: f64, pairs: &[[[u32; 2]; 2]]) -> Vec<f64> {
        let keys = 3000;
        let mut means = vec![0.0; pairs.len()];
        for key in 0..keys {
            let field = Field::new(SIZE, [key, 7], [1.0, sigma], false);
            for (mean, pair) in means.iter_mut().zip(pairs) {
                let [one, other] = pair.map(|place| field.at(place.map(|at| at as f32 + 0.5)).map(f64::from));
                *mean += (one[0] * other[0] + one[1] * other[1]) / f64::from(2 * keys);
            }
        }
        means
    }

    fn wanted(sigma: f64, [a, b]: [[u32; 2]; 2]) -> f64 {
        naive(SIZE.width, sigma, [a[0], b[0]]) * naive(SIZE.height, sigma, [a[1], b[1]])
    }

    #[test]
    fn a_field_deviates_as_smoothed_noise_does_inside_at_edges_and_in_corners() {
        let pairs = [[30, 23], [0, 23], [30, 46], [60, 0], [3, 5]].map(|place| [place; 2]);
        for sigma in [1.5, 4.0, 50.0] {
            for (pair, got) in pairs.into_iter().zip(measured(sigma, &pairs)) {
                let want = wanted(sigma, pair);
                let apart = (got / want).sqrt() - 1.0;
                assert!(apart.abs() < 0.06, "{sigma}, {pair:?}: {got}, not {want}");
            }
        }
    }

    #[test]
    fn neighbours_move_together_as_far_as_noise_is_smoothed() {
        let first = [22, 14];
        for (sigma, others) in [(4.0, [[25, 16], [28, 14]]), (9.0, [[31, 23], [22, 32]])] {
            let pairs = [first, others[0], others[1]].map(|other| [first, other]);
            let got = measured(sigma, &pairs);
            for (pair, together) in pairs.into_iter().zip(&got) {
                let (want, got) = (wanted(sigma, pair) / wanted(sigma, pairs[0]), together / got[0]);
                assert!((want - got).abs() < 0.03, "{sigma}, {pair:?}: {got}, not {want}");
            }
        }
    }

    #[test]
    fn rows_and_points_have_the_same_displacements_and_what_a_pixel_shows_is_found_there() {
        let field = Field::new(SIZE, [1, 2], [5.0, 6.0], false);
        let mut places = vec![[0.0; 2]; SIZE.width as usize];
        for y in 0..SIZE.height {
            field.row(y, &mut places);
            for (x, place) in places.iter().enumerate() {
                let moved = field.at([x as f32 + 0.5, y as f32 + 0.5]);
                assert_eq!(*place, [x as f32 + moved[0], y as f32 + moved[1]]);
                let [u, v] = field.found(place.map(|at| f64::from(at) + 0.5));
                let apart = (u - x as f64 - 0.5).hypot(v - f64::from(y) - 0.5);
                assert!(apart < 0.02, "{x}, {y}: {u}, {v}");
            }
        }
    }

    #[test]
    fn x_and_y_move_alike_where_they_share_their_noise() {
        let alike =
            |shared: bool| Field::new(SIZE, [3, 4], [1.0, 5.0], shared).nodes.iter().all(|[x, y]| x == y);
        assert!(alike(true) && !alike(false));
    }
}
