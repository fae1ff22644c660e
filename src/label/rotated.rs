//! Rotated boxes: the rectangle of least area around points.

use std::f64::consts::FRAC_PI_2;

/// An angle that is less than this below a quarter turn is none: the sides change places instead.
const QUARTER_TURN: f64 = 1e-6;

/// A rectangle that may be turned.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct RotatedBox {
    /// x and y of the centre.
    pub center: [f64; 2],
    /// Width and height: the lengths of the sides along the angle, and at right angles to it.
    pub size: [f64; 2],
    /// By how much it is turned, in radians, clockwise as an image is seen: from 0 up to, and without, a quarter turn.
    ///
    /// A rectangle that is turned further is the same as one that is turned less with its sides exchanged.
    pub angle: f64,
    /// x and y of the corners, clockwise as an image is seen, from the one that is the top left one before the turn.
    pub corners: [[f64; 2]; 4],
}

impl RotatedBox {
    /// The rectangle of least area around points; `None` where there are none. Points that are no numbers do not count.
    pub fn around(points: impl IntoIterator<Item = [f64; 2]>) -> Option<Self> {
        let hull =
            hull(points.into_iter().filter(|point| point.iter().all(|edge| edge.is_finite())).collect());
        match hull[..] {
            [] => None,
            [point] => Some(Self::new(point, [0.0; 2], 0.0)),
            [a, b] => Some(Self::along(a, b, Extent { low: 0.0, high: distance(a, b), depth: 0.0 })),
            _ => Calipers::new(&hull).smallest(),
        }
    }

    fn new(center: [f64; 2], size: [f64; 2], angle: f64) -> Self {
        let (sin, cos) = angle.sin_cos();
        let corner = |across: f64, down: f64| {
            let (along, aside) = (across * size[0] / 2.0, down * size[1] / 2.0);
            [center[0] + along * cos - aside * sin, center[1] + along * sin + aside * cos]
        };
        let corners = [corner(-1.0, -1.0), corner(1.0, -1.0), corner(1.0, 1.0), corner(-1.0, 1.0)];
        Self { center, size, angle, corners }
    }

    /// The rectangle with a side on the line from `a` to `b`, which reaches from `low` to `high` along the line, counted from
    /// `a`, and to `depth` on its left in a system whose y axis points up, which is its right as an image is seen.
    fn along(a: [f64; 2], b: [f64; 2], Extent { low, high, depth }: Extent) -> Self {
        let [dx, dy] = direction(a, b);
        let middle = (low + high) / 2.0;
        let center = [a[0] + dx * middle - dy * depth / 2.0, a[1] + dy * middle + dx * depth / 2.0];
        let turned = dy.atan2(dx);
        let quarters = (turned / FRAC_PI_2).floor();
        let (mut angle, mut size) = (turned - quarters * FRAC_PI_2, [high - low, depth]);
        if quarters.rem_euclid(2.0) == 1.0 {
            size.reverse();
        }
        if FRAC_PI_2 - angle < QUARTER_TURN {
            angle = 0.0;
            size.reverse();
        }
        Self::new(center, size, angle.max(0.0))
    }

    /// Its coordinates times `x` and `y`, as boxes are made parts of an image: centre, size and corners; the angle stays.
    #[must_use]
    pub fn scaled(self, [x, y]: [f64; 2]) -> Self {
        let scaled = |[a, b]: [f64; 2]| [a * x, b * y];
        let Self { center, size, angle, corners } = self;
        Self { center: scaled(center), size: scaled(size), angle, corners: corners.map(scaled) }
    }
}

/// What a rectangle covers beside a line.
#[derive(Clone, Copy)]
struct Extent {
    low: f64,
    high: f64,
    depth: f64,
}

/// The points of a convex hull that are farthest along each edge, against it and aside of it. As the edge goes round, so do
/// they: all edges together take as many steps as the hull has points, a few times.
struct Calipers<'a> {
    hull: &'a [[f64; 2]],
    ahead: usize,
    aside: usize,
    behind: usize,
}

impl<'a> Calipers<'a> {
    fn new(hull: &'a [[f64; 2]]) -> Self {
        Self { hull, ahead: 1, aside: 1, behind: 1 }
    }

    fn smallest(mut self) -> Option<RotatedBox> {
        let mut best: Option<(f64, RotatedBox)> = None;
        for edge in 0..self.hull.len() {
            let (a, b) = (self.at(edge), self.at(edge + 1));
            let extent = self.extent(edge, direction(a, b));
            let area = (extent.high - extent.low) * extent.depth;
            if best.is_none_or(|(least, _)| area < least) {
                best = Some((area, RotatedBox::along(a, b, extent)));
            }
        }
        best.map(|(_, smallest)| smallest)
    }

    fn extent(&mut self, edge: usize, [dx, dy]: [f64; 2]) -> Extent {
        self.ahead = self.farthest(self.ahead.max(edge + 1), [dx, dy]);
        self.aside = self.farthest(self.aside.max(self.ahead), [-dy, dx]);
        self.behind = self.farthest(self.behind.max(self.aside), [-dx, -dy]);
        let from = self.at(edge);
        let along = |at: usize, [x, y]: [f64; 2]| dot([x, y], difference(from, self.at(at)));
        let (low, high) = (along(self.behind, [dx, dy]), along(self.ahead, [dx, dy]));
        Extent { low, high, depth: along(self.aside, [-dy, dx]) }
    }

    /// From `start` on, the first point after which the hull turns back.
    fn farthest(&self, start: usize, towards: [f64; 2]) -> usize {
        let goes_on = |at: &usize| dot(towards, difference(self.at(*at), self.at(at + 1))) > 0.0;
        (start..start + self.hull.len()).find(|at| !goes_on(at)).unwrap_or(start)
    }

    fn at(&self, number: usize) -> [f64; 2] {
        self.hull[number % self.hull.len()]
    }
}

/// The corners of the convex hull, counter-clockwise in a system whose y axis points up, none of them on a line between its
/// neighbours.
fn hull(mut points: Vec<[f64; 2]>) -> Vec<[f64; 2]> {
    points.sort_unstable_by(|a, b| a[0].total_cmp(&b[0]).then(a[1].total_cmp(&b[1])));
    points.dedup();
    if points.len() < 3 {
        return points;
    }
    let mut lower = half(points.iter());
    let mut upper = half(points.iter().rev());
    // Each ends where the other begins.
    lower.pop();
    upper.pop();
    lower.append(&mut upper);
    lower
}

/// One side of the hull of points in order.
fn half<'a>(points: impl Iterator<Item = &'a [f64; 2]>) -> Vec<[f64; 2]> {
    let mut side: Vec<[f64; 2]> = Vec::new();
    for &point in points {
        while let [.., a, b] = side[..] {
            let (along, next) = (difference(a, b), difference(b, point));
            if along[0] * next[1] - along[1] * next[0] > 0.0 {
                break;
            }
            side.pop();
        }
        side.push(point);
    }
    side
}

fn difference([x0, y0]: [f64; 2], [x1, y1]: [f64; 2]) -> [f64; 2] {
    [x1 - x0, y1 - y0]
}

fn dot([a, b]: [f64; 2], [c, d]: [f64; 2]) -> f64 {
    a * c + b * d
}

fn distance(a: [f64; 2], b: [f64; 2]) -> f64 {
    let [x, y] = difference(a, b);
    x.hypot(y)
}

fn direction(a: [f64; 2], b: [f64; 2]) -> [f64; 2] {
    let length = distance(a, b);
    difference(a, b).map(|edge| edge / length)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]
mod tests {
    use super::*;

    /// Numbers from 0 to 1 in no order that matters.
    fn numbers(seed: u64) -> impl FnMut() -> f64 {
        let mut state = seed;
        move || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 40) as f64 / f64::from(1u32 << 24)
        }
    }

    /// The sides of the rectangle around points whose sides lie at `angle`, by trying all points.
    fn sides(points: &[[f64; 2]], angle: f64) -> [f64; 2] {
        let (sin, cos) = angle.sin_cos();
        let length = |towards: [f64; 2]| {
            let along = || points.iter().map(|&point| dot(point, towards));
            along().fold(f64::NEG_INFINITY, f64::max) - along().fold(f64::INFINITY, f64::min)
        };
        [length([cos, sin]), length([-sin, cos])]
    }

    /// The least area of a rectangle with a side through any two of the points: one of them has the least of all.
    fn least_area(points: &[[f64; 2]]) -> f64 {
        let pairs = points.iter().flat_map(|a| points.iter().map(move |b| difference(*a, *b)));
        let areas = pairs.filter(|step| *step != [0.0; 2]).map(|[x, y]| {
            let [width, height] = sides(points, y.atan2(x));
            width * height
        });
        areas.fold(f64::INFINITY, f64::min)
    }

    #[test]
    fn no_rectangle_around_the_points_is_smaller() {
        for case in 0..300u64 {
            let mut number = numbers(case);
            let mut place = || 750.0 * number() - 50.0;
            let points: Vec<[f64; 2]> = (0..3 + case % 25).map(|_| [place(), place() / 3.0]).collect();
            let RotatedBox { center, size, angle, corners } = RotatedBox::around(points.clone()).unwrap();
            let area = size[0] * size[1];
            assert!((area - least_area(&points)).abs() < 1e-6 * area, "case {case}: {size:?} of {points:?}");
            let grid = (0..900).map(|step| sides(&points, f64::from(step) * FRAC_PI_2 / 900.0));
            assert!(
                grid.into_iter().all(|[width, height]| width * height > area * (1.0 - 1e-9)),
                "case {case}"
            );
            // It is where it says it is.
            assert!(
                (0.0..FRAC_PI_2).contains(&angle) && (angle as f32) < FRAC_PI_2 as f32,
                "case {case}: {angle}"
            );
            let own = sides(&points, angle);
            assert!((0..2).all(|at| (own[at] - size[at]).abs() < 1e-6), "case {case}: {own:?}, {size:?}");
            let (sin, cos) = angle.sin_cos();
            for point in &points {
                let [x, y] = difference(center, *point);
                let (along, aside) = (x * cos + y * sin, y * cos - x * sin);
                let inside = along.abs() <= size[0] / 2.0 + 1e-6 && aside.abs() <= size[1] / 2.0 + 1e-6;
                assert!(inside, "case {case}: {point:?}");
            }
            // Clockwise, with y downwards, from the corner against the angle.
            let edges = [0, 1, 2, 3].map(|at| difference(corners[at], corners[(at + 1) % 4]));
            assert!((edges[0][0] - size[0] * cos).abs() < 1e-6 && (edges[0][1] - size[0] * sin).abs() < 1e-6);
            assert!((edges[1][0] + size[1] * sin).abs() < 1e-6 && (edges[1][1] - size[1] * cos).abs() < 1e-6);
            let middle = [0, 1].map(|axis| corners.iter().map(|corner| corner[axis]).sum::<f64>() / 4.0);
            assert!(distance(middle, center) < 1e-6, "case {case}");
        }
    }

    #[test]
    fn a_rectangle_is_its_own_box_whatever_corner_comes_first_and_whichever_way_round() {
        for degrees in [0.0, 20.0, 45.0, 89.0, 90.0, 110.0, 200.0, 300.0] {
            let (sin, cos) = f64::to_radians(degrees).sin_cos();
            let corner = |x: f64, y: f64| {
                [100.0 + 30.0 * x * cos - 10.0 * y * sin, 50.0 + 30.0 * x * sin + 10.0 * y * cos]
            };
            let mut corners =
                vec![corner(-1.0, -1.0), corner(1.0, -1.0), corner(1.0, 1.0), corner(-1.0, 1.0)];
            for start in 0..8 {
                corners.rotate_left(1);
                if start == 4 {
                    corners.reverse();
                }
                let found = RotatedBox::around(corners.clone()).unwrap();
                let turned = f64::rem_euclid(degrees, 180.0);
                let (angle, size) = match turned < 90.0 - 1e-9 {
                    true => (turned, [60.0, 20.0]),
                    false => (turned - 90.0, [20.0, 60.0]),
                };
                assert!((found.angle.to_degrees() - angle).abs() < 1e-4, "{degrees}: {found:?}");
                assert!((0..2).all(|at| (found.size[at] - size[at]).abs() < 1e-4), "{degrees}: {found:?}");
                assert!(distance(found.center, [100.0, 50.0]) < 1e-4, "{degrees}: {found:?}");
            }
        }
    }

    #[test]
    fn few_points_and_odd_ones_have_boxes_without_area_or_none() {
        assert_eq!(RotatedBox::around([]), None);
        assert_eq!(RotatedBox::around([[f64::NAN, 1.0], [f64::INFINITY, 0.0]]), None);
        let point = RotatedBox::around([[2.0, 3.0], [2.0, 3.0], [f64::NAN, 0.0]]).unwrap();
        assert_eq!((point.center, point.size, point.angle), ([2.0, 3.0], [0.0; 2], 0.0));
        let line = RotatedBox::around([[0.0, 0.0], [3.0, 3.0], [1.0, 1.0]]).unwrap();
        assert!((line.angle.to_degrees() - 45.0).abs() < 1e-9 && line.size[1] == 0.0, "{line:?}");
        assert!((line.size[0] - 18f64.sqrt()).abs() < 1e-9);
        let down = RotatedBox::around([[5.0, 9.0], [5.0, 1.0]]).unwrap();
        assert_eq!((down.center, down.angle, down.size), ([5.0, 5.0], 0.0, [0.0, 8.0]));
    }

    #[test]
    fn a_circle_of_very_many_points_is_boxed_at_once() {
        let points = (0..200_000).map(|at| f64::from(at) / 1e4).map(|at| [at.cos() * 1e3, at.sin() * 1e3]);
        let found = RotatedBox::around(points).unwrap();
        assert!(found.size.iter().all(|side| (side - 2e3).abs() < 1e-3), "{found:?}");
    }
}
