//! What becomes of labels, said as plainly as it can be: one 3x3 matrix an op, put together from its parts.

use feedline::draft::op::{Op, Padding};
use feedline::geometry::Size;

pub(crate) type Matrix = [[f64; 3]; 3];
pub(crate) type Point = [f64; 2];

/// One object: a box, a convex polygon (as a set of corners) and points with their visibility.
#[derive(Clone, Debug)]
pub(crate) struct Thing {
    pub(crate) bbox: [f64; 4],
    pub(crate) polygon: Vec<Point>,
    pub(crate) points: Vec<(Point, bool)>,
}

/// Takes a thing through one op, from a canvas of `before` to one of `after`.
pub(crate) fn follow(thing: &mut Thing, op: &Op, before: Size, after: Size) {
    let [w, h] = [before.width, before.height].map(f64::from);
    let [nw, nh] = [after.width, after.height].map(f64::from);
    match *op {
        Op::Crop { top, left, .. } => {
            thing.go(shift(-f64::from(left), -f64::from(top)));
            thing.cut(after);
        }
        Op::ResizedCrop { top, left, height, width, .. } => {
            thing.go(shift(-f64::from(left), -f64::from(top)));
            thing.cut(Size::new(width, height));
            thing.go(stretch(nw / f64::from(width), nh / f64::from(height)));
        }
        Op::Resize { .. } => thing.go(stretch(nw / w, nh / h)),
        Op::Pad { padding: Padding::Sides([left, top, _, _]), .. } => {
            thing.go(shift(left.into(), top.into()));
            thing.cut(after);
        }
        Op::Hflip {} => thing.go([[-1.0, 0.0, w], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]),
        Op::Vflip {} => thing.go([[1.0, 0.0, 0.0], [0.0, -1.0, h], [0.0, 0.0, 1.0]]),
        Op::Transpose {} => thing.go([[0.0, 1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]]),
        Op::WarpAffine { matrix: [across, down], .. } => {
            thing.go([across, down, [0.0, 0.0, 1.0]]);
            thing.cut(after);
        }
        Op::Affine { angle, translate: [x, y], scale, shear, center, .. } => {
            let [cx, cy] = center.unwrap_or([w / 2.0, h / 2.0]);
            let [sx, sy] = shear.both().map(f64::to_radians);
            let along_y = [[1.0, 0.0, 0.0], [-sy.tan(), 1.0, 0.0], [0.0, 0.0, 1.0]];
            let along_x = [[1.0, -sx.tan(), 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
            let parts = [
                shift(x, y),
                shift(cx, cy),
                turn(angle),
                along_y,
                along_x,
                stretch(scale, scale),
                shift(-cx, -cy),
            ];
            thing.go(parts.into_iter().reduce(times).expect("seven"));
            thing.cut(after);
        }
        Op::Rotate { angle, center, .. } => {
            // The middle of the image stays the middle of the canvas, however large that becomes.
            let [cx, cy] = center.unwrap_or([w / 2.0, h / 2.0]);
            let grown = shift((nw - w) / 2.0, (nh - h) / 2.0);
            let parts = [grown, shift(cx, cy), turn(-angle), shift(-cx, -cy)];
            thing.go(parts.into_iter().reduce(times).expect("four"));
            thing.cut(after);
        }
        Op::Perspective { startpoints, endpoints, .. } => {
            thing.go(homography(startpoints.map(|p| p.map(f64::from)), endpoints.map(|p| p.map(f64::from))));
            thing.cut(after);
        }
        _ => {}
    }
}

impl Thing {
    fn go(&mut self, m: Matrix) {
        let [l, t, r, b] = self.bbox;
        let corners = [[l, t], [r, t], [l, b], [r, b]].map(|corner| through(&m, corner));
        let least = |axis: usize| corners.iter().map(|c| c[axis]).fold(f64::INFINITY, f64::min);
        let most = |axis: usize| corners.iter().map(|c| c[axis]).fold(f64::NEG_INFINITY, f64::max);
        self.bbox = [least(0), least(1), most(0), most(1)];
        self.polygon.iter_mut().for_each(|point| *point = through(&m, *point));
        self.points.iter_mut().for_each(|(point, _)| *point = through(&m, *point));
    }

    fn cut(&mut self, canvas: Size) {
        let [w, h] = [canvas.width, canvas.height].map(f64::from);
        let [l, t, r, b] = self.bbox;
        self.bbox = [l.clamp(0.0, w), t.clamp(0.0, h), r.clamp(0.0, w), b.clamp(0.0, h)];
        let inside = |&[x, y]: &Point| (0.0..=w).contains(&x) && (0.0..=h).contains(&y);
        for (point, seen) in &mut self.points {
            *seen = *seen && inside(point);
        }
        self.polygon = common_part(&self.polygon, [[0.0, 0.0], [w, 0.0], [w, h], [0.0, h]]);
    }
}

/// The corners of what two convex polygons share: corners of each inside the other, and where their edges cross.
fn common_part(polygon: &[Point], frame: [Point; 4]) -> Vec<Point> {
    let mut corners: Vec<Point> = polygon.iter().copied().filter(|&point| holds(&frame, point)).collect();
    corners.extend(frame.iter().copied().filter(|&point| holds(polygon, point)));
    for (i, &a) in polygon.iter().enumerate() {
        let b = polygon[(i + 1) % polygon.len()];
        for (k, &c) in frame.iter().enumerate() {
            corners.extend(crossing(a, b, c, frame[(k + 1) % 4]));
        }
    }
    let n = corners.len().max(1) as f64;
    let middle = [0, 1].map(|axis| corners.iter().map(|corner| corner[axis]).sum::<f64>() / n);
    let around = |point: &Point| (point[1] - middle[1]).atan2(point[0] - middle[0]);
    corners.sort_by(|a, b| around(a).total_cmp(&around(b)));
    corners
}

/// Whether a convex polygon holds the point: it is on one side of all edges.
fn holds(polygon: &[Point], [x, y]: Point) -> bool {
    let side = |i: usize| {
        let ([ax, ay], [bx, by]) = (polygon[i], polygon[(i + 1) % polygon.len()]);
        (bx - ax) * (y - ay) - (by - ay) * (x - ax)
    };
    let sides: Vec<f64> = (0..polygon.len()).map(side).collect();
    polygon.len() > 2 && (sides.iter().all(|&s| s >= -1e-9) || sides.iter().all(|&s| s <= 1e-9))
}

fn crossing(a: Point, b: Point, c: Point, d: Point) -> Option<Point> {
    let (u, v) = ([b[0] - a[0], b[1] - a[1]], [d[0] - c[0], d[1] - c[1]]);
    let cross = u[0] * v[1] - u[1] * v[0];
    let w = [c[0] - a[0], c[1] - a[1]];
    let (s, t) = ((w[0] * v[1] - w[1] * v[0]) / cross, (w[0] * u[1] - w[1] * u[0]) / cross);
    ((0.0..=1.0).contains(&s) && (0.0..=1.0).contains(&t)).then(|| [a[0] + s * u[0], a[1] + s * u[1]])
}

/// The area of a convex polygon whose corners stand in order.
pub(crate) fn area(polygon: &[Point]) -> f64 {
    let doubled = |i: usize| {
        let ([ax, ay], [bx, by]) = (polygon[i], polygon[(i + 1) % polygon.len()]);
        ax * by - bx * ay
    };
    ((0..polygon.len()).map(doubled).sum::<f64>() / 2.0).abs()
}

/// How far a point is from the outline.
pub(crate) fn distance(polygon: &[Point], [x, y]: Point) -> f64 {
    let to_edge = |i: usize| {
        let ([ax, ay], [bx, by]) = (polygon[i], polygon[(i + 1) % polygon.len()]);
        let (u, v) = (bx - ax, by - ay);
        let length = (u * u + v * v).max(1e-30);
        let part = (((x - ax) * u + (y - ay) * v) / length).clamp(0.0, 1.0);
        (x - ax - part * u).hypot(y - ay - part * v)
    };
    (0..polygon.len()).map(to_edge).fold(f64::INFINITY, f64::min)
}

pub(crate) fn through(m: &Matrix, [x, y]: Point) -> Point {
    let [u, v, w] = m.map(|[a, b, c]| a * x + b * y + c);
    [u / w, v / w]
}

fn times(a: Matrix, b: Matrix) -> Matrix {
    std::array::from_fn(|i| std::array::from_fn(|k| (0..3).map(|j| a[i][j] * b[j][k]).sum()))
}

fn shift(x: f64, y: f64) -> Matrix {
    [[1.0, 0.0, x], [0.0, 1.0, y], [0.0, 0.0, 1.0]]
}

fn stretch(x: f64, y: f64) -> Matrix {
    [[x, 0.0, 0.0], [0.0, y, 0.0], [0.0, 0.0, 1.0]]
}

/// Clockwise as seen, since y points down.
fn turn(degrees: f64) -> Matrix {
    let (sin, cos) = degrees.to_radians().sin_cos();
    [[cos, -sin, 0.0], [sin, cos, 0.0], [0.0, 0.0, 1.0]]
}

/// The map that takes four points to four others, by way of the unit square (Heckbert's formula for a quadrilateral).
fn homography(from: [Point; 4], to: [Point; 4]) -> Matrix {
    times(of_square(to), inverse(of_square(from)))
}

fn of_square([a, b, c, d]: [Point; 4]) -> Matrix {
    let minus = |p: Point, q: Point| [p[0] - q[0], p[1] - q[1]];
    let (u, v) = (minus(b, c), minus(d, c));
    let s = [a[0] - b[0] + c[0] - d[0], a[1] - b[1] + c[1] - d[1]];
    let cross = |p: Point, q: Point| p[0] * q[1] - p[1] * q[0];
    let (g, h) = (cross(s, v) / cross(u, v), cross(u, s) / cross(u, v));
    let row = |i: usize| [b[i] - a[i] + g * b[i], d[i] - a[i] + h * d[i], a[i]];
    [row(0), row(1), [g, h, 1.0]]
}

fn inverse(m: Matrix) -> Matrix {
    let minor = |r: usize, c: usize| {
        let (r1, r2, c1, c2) = ((r + 1) % 3, (r + 2) % 3, (c + 1) % 3, (c + 2) % 3);
        m[r1][c1] * m[r2][c2] - m[r1][c2] * m[r2][c1]
    };
    let determinant: f64 = (0..3).map(|c| m[0][c] * minor(0, c)).sum();
    std::array::from_fn(|i| std::array::from_fn(|k| minor(k, i) / determinant))
}
