//! Outlines without any clipping: a polygon, and the maps and rectangles that it has gone through, which are only asked.
//!
//! Whether a point belongs to what is left is found by taking the point back; the box around what is left is that of all
//! corners and crossings that belong to it.

pub(crate) type Matrix = [[f64; 3]; 3];
pub(crate) type Point = [f64; 2];
pub(crate) type Box4 = [f64; 4];

/// What counts as on an edge, in pixels.
const ON_EDGE: f64 = 1e-7;

#[derive(Clone, Debug)]
enum Step {
    Map {
        forward: Matrix,
        back: Matrix,
    },
    /// What lies outside is gone.
    Cut(Box4),
    /// What lies inside is gone.
    Hide(Box4),
}

/// A polygon by the even-odd rule, and what was done to it.
#[derive(Clone, Debug)]
pub(crate) struct Region {
    polygon: Vec<Point>,
    steps: Vec<Step>,
}

impl Region {
    pub(crate) fn new(polygon: Vec<Point>) -> Self {
        Self { polygon, steps: Vec::new() }
    }

    pub(crate) fn map(&mut self, forward: Matrix) {
        self.steps.push(Step::Map { forward, back: inverse(&forward) });
    }

    pub(crate) fn cut(&mut self, to: Box4) {
        self.steps.push(Step::Cut(to));
    }

    pub(crate) fn hide(&mut self, under: Box4) {
        self.steps.push(Step::Hide(under));
    }

    /// Whether what is left holds the point; one on an edge may count either way, or with `closed` always.
    pub(crate) fn holds(&self, mut point: Point, closed: bool) -> bool {
        let slack = if closed { ON_EDGE } else { 0.0 };
        for step in self.steps.iter().rev() {
            match step {
                Step::Map { back, .. } => point = through(back, point),
                Step::Cut([left, top, right, bottom]) => {
                    let [x, y] = point;
                    if x < left - slack || x > right + slack || y < top - slack || y > bottom + slack {
                        return false;
                    }
                }
                Step::Hide([left, top, right, bottom]) => {
                    let [x, y] = point;
                    if x > left + slack && x < right - slack && y > top + slack && y < bottom - slack {
                        return false;
                    }
                }
            }
        }
        is_inside(&self.polygon, point) || (closed && distance(&self.polygon, point) <= slack)
    }

    /// How far a point is from the nearest edge, of the outline or of what it was cut with.
    pub(crate) fn distance(&self, point: Point) -> f64 {
        let to = |&[a, b]: &[Point; 2]| distance(&[a, b], point);
        self.edges().iter().map(to).fold(f64::INFINITY, f64::min)
    }

    /// The box around what is left, or `None` where that has no area.
    pub(crate) fn bounds(&self) -> Option<Box4> {
        let edges = self.edges();
        let mut corners: Vec<Point> = edges.iter().map(|edge| edge[0]).collect();
        for (at, &one) in edges.iter().enumerate() {
            corners.extend(edges[..at].iter().filter_map(|&other| crossing(one, other)));
        }
        corners.retain(|&corner| self.holds(corner, true));
        let each = corners.into_iter().map(|[x, y]| [x, y, x, y]);
        let both = |a: Box4, b: Box4| [a[0].min(b[0]), a[1].min(b[1]), a[2].max(b[2]), a[3].max(b[3])];
        each.reduce(both).filter(|&bbox| area(bbox) > 1e-6)
    }

    /// All edges where they are now: those of the polygon, and those of every rectangle.
    fn edges(&self) -> Vec<[Point; 2]> {
        let mut edges = closed(&self.polygon);
        for step in &self.steps {
            match step {
                Step::Map { forward, .. } => {
                    edges.iter_mut().flatten().for_each(|point| *point = through(forward, *point));
                }
                Step::Cut([l, t, r, b]) | Step::Hide([l, t, r, b]) => {
                    edges.extend(closed(&[[*l, *t], [*r, *t], [*r, *b], [*l, *b]]))
                }
            }
        }
        edges
    }
}

fn closed(points: &[Point]) -> Vec<[Point; 2]> {
    (0..points.len()).map(|at| [points[at], points[(at + 1) % points.len()]]).collect()
}

/// By counting the edges to the right of the point.
pub(crate) fn is_inside(polygon: &[Point], [x, y]: Point) -> bool {
    let is_right = |&[[ax, ay], [bx, by]]: &[Point; 2]| {
        (ay <= y) != (by <= y) && ax + (y - ay) / (by - ay) * (bx - ax) > x
    };
    closed(polygon).iter().filter(|edge| is_right(edge)).count() % 2 == 1
}

fn distance(polygon: &[Point], [x, y]: Point) -> f64 {
    let to_edge = |&[[ax, ay], [bx, by]]: &[Point; 2]| {
        let (u, v) = (bx - ax, by - ay);
        let part = (((x - ax) * u + (y - ay) * v) / (u * u + v * v).max(1e-30)).clamp(0.0, 1.0);
        (x - ax - part * u).hypot(y - ay - part * v)
    };
    closed(polygon).iter().map(to_edge).fold(f64::INFINITY, f64::min)
}

fn crossing([a, b]: [Point; 2], [c, d]: [Point; 2]) -> Option<Point> {
    let (u, v) = ([b[0] - a[0], b[1] - a[1]], [d[0] - c[0], d[1] - c[1]]);
    let cross = u[0] * v[1] - u[1] * v[0];
    let w = [c[0] - a[0], c[1] - a[1]];
    let (s, t) = ((w[0] * v[1] - w[1] * v[0]) / cross, (w[0] * u[1] - w[1] * u[0]) / cross);
    ((0.0..=1.0).contains(&s) && (0.0..=1.0).contains(&t)).then(|| [a[0] + s * u[0], a[1] + s * u[1]])
}

pub(crate) fn area([left, top, right, bottom]: Box4) -> f64 {
    (right - left) * (bottom - top)
}

pub(crate) fn through(m: &Matrix, [x, y]: Point) -> Point {
    let [u, v, w] = m.map(|[a, b, c]| a * x + b * y + c);
    [u / w, v / w]
}

fn inverse(m: &Matrix) -> Matrix {
    let minor = |r: usize, c: usize| {
        let (r1, r2, c1, c2) = ((r + 1) % 3, (r + 2) % 3, (c + 1) % 3, (c + 2) % 3);
        m[r1][c1] * m[r2][c2] - m[r1][c2] * m[r2][c1]
    };
    let determinant: f64 = (0..3).map(|c| m[0][c] * minor(0, c)).sum();
    std::array::from_fn(|i| std::array::from_fn(|k| minor(k, i) / determinant))
}
