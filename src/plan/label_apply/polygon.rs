//! Polygons cut to rectangles, one edge of the rectangle after the other.

use super::edges;
use crate::geometry::Rect;

/// Keeps the parts inside `rect` that have an area; inside and outside by the even-odd rule.
///
/// What hangs together only outside becomes several polygons, so that the box around them is that of what is seen. Those
/// of an outline that crosses itself may lie over each other.
pub(super) fn clip(polygons: &mut Vec<Vec<[f64; 2]>>, rect: Rect) {
    let (low, high) = edges(rect);
    for axis in 0..2 {
        for (limit, side) in [(low[axis], 1.0), (high[axis], -1.0)] {
            let line = Line { axis, limit, side };
            let inside = |polygon: &Vec<[f64; 2]>| polygon.iter().all(|point| line.depth(point) >= 0.0);
            if !polygons.iter().all(inside) {
                *polygons = polygons.iter().flat_map(|polygon| line.cut(polygon)).collect();
            }
        }
    }
}

/// Takes the part inside `rect` out of the polygons: what is left becomes the parts at its left and right, and those
/// above and below it.
pub(super) fn cut_out(polygons: &mut Vec<Vec<[f64; 2]>>, rect: Rect) {
    let (low, high) = edges(rect);
    let beyond = |axis: usize, limit: f64, side: f64| Line { axis, limit, side };
    let between = [beyond(0, low[0], 1.0), beyond(0, high[0], -1.0)];
    let sides = [
        vec![beyond(0, low[0], -1.0)],
        vec![beyond(0, high[0], 1.0)],
        [&between[..], &[beyond(1, low[1], -1.0)]].concat(),
        [&between[..], &[beyond(1, high[1], 1.0)]].concat(),
    ];
    let is_beside = |polygon: &Vec<[f64; 2]>| {
        let all = |line: &Line| polygon.iter().all(|point| line.depth(point) >= 0.0);
        sides.iter().filter_map(|lines| lines.last()).any(all)
    };
    let left = |polygon: Vec<[f64; 2]>| {
        if is_beside(&polygon) {
            return vec![polygon];
        }
        let cut = |parts: Vec<Vec<[f64; 2]>>, line: &Line| {
            parts.iter().flat_map(|part| line.cut(part)).collect::<Vec<_>>()
        };
        sides.iter().flat_map(|lines| lines.iter().fold(vec![polygon.clone()], cut)).collect()
    };
    *polygons = std::mem::take(polygons).into_iter().flat_map(left).collect();
}

/// An edge of the rectangle, drawn out on both sides.
#[derive(Clone, Copy)]
struct Line {
    axis: usize,
    limit: f64,
    side: f64,
}

/// One end of a chain of points, where the outline crosses the line.
#[derive(Clone, Copy)]
struct End {
    chain: usize,
    is_last: bool,
    /// Where on the line.
    at: f64,
}

impl Line {
    /// LabelOpKind far a point is on the right side.
    fn depth(&self, point: &[f64; 2]) -> f64 {
        (point[self.axis] - self.limit) * self.side
    }

    /// The parts on the right side; all of it where that is all.
    fn cut(&self, polygon: &[[f64; 2]]) -> Vec<Vec<[f64; 2]>> {
        if polygon.iter().all(|point| self.depth(point) >= 0.0) {
            return vec![polygon.to_vec()];
        }
        let chains = self.chains(polygon);
        let end = |(chain, points): (usize, &Vec<[f64; 2]>)| {
            let at = |point: Option<&[f64; 2]>| point.map_or(0.0, |point| point[1 - self.axis]);
            let (first, last) = (at(points.first()), at(points.last()));
            [End { chain, is_last: false, at: first }, End { chain, is_last: true, at: last }]
        };
        let mut ends: Vec<End> = chains.iter().enumerate().flat_map(end).collect();
        // Along the line the outside and the inside take turns.
        ends.sort_by(|a, b| a.at.total_cmp(&b.at));
        // The end that the line leads to from each end, by chain.
        let mut across = vec![[(0, false); 2]; chains.len()];
        for (at, end) in ends.iter().enumerate() {
            let other = ends[at ^ 1];
            across[end.chain][usize::from(end.is_last)] = (other.chain, other.is_last);
        }
        let mut parts = joined(&chains, &across);
        parts.retain(|part| area(part) > 0.0);
        parts
    }

    /// The runs of points on the right side, each from a crossing to a crossing.
    fn chains(&self, polygon: &[[f64; 2]]) -> Vec<Vec<[f64; 2]>> {
        let outside = polygon.iter().position(|point| self.depth(point) < 0.0).unwrap_or(0);
        let (mut chains, mut chain) = (Vec::new(), Vec::new());
        let mut last = &polygon[outside];
        for point in polygon.iter().cycle().skip(outside + 1).take(polygon.len()) {
            let (from, to) = (self.depth(last), self.depth(point));
            if (from >= 0.0) != (to >= 0.0) {
                chain.push(self.crossing(last, point, from / (from - to)));
            }
            if to >= 0.0 {
                chain.push(*point);
            } else if from >= 0.0 {
                chains.push(std::mem::take(&mut chain));
            }
            last = point;
        }
        chains
    }

    fn crossing(&self, from: &[f64; 2], to: &[f64; 2], part: f64) -> [f64; 2] {
        let mut crossing = [0, 1].map(|i| from[i] + (to[i] - from[i]) * part);
        // Exactly on the line, whatever the rounding.
        crossing[self.axis] = self.limit;
        crossing
    }
}

/// Polygons of chains, which are walked either way, and of the pieces of the line between them.
fn joined(chains: &[Vec<[f64; 2]>], across: &[[(usize, bool); 2]]) -> Vec<Vec<[f64; 2]>> {
    let mut used = vec![false; chains.len()];
    let mut parts = Vec::new();
    for start in 0..chains.len() {
        let (mut chain, mut from_last, mut part) = (start, false, Vec::new());
        while !used[chain] {
            used[chain] = true;
            match from_last {
                false => part.extend(chains[chain].iter()),
                true => part.extend(chains[chain].iter().rev()),
            }
            (chain, from_last) = across[chain][usize::from(!from_last)];
        }
        if !part.is_empty() {
            parts.push(part);
        }
    }
    parts
}

/// By the shoelace formula, counted from the first point, so that what lies on a line has exactly none.
fn area(polygon: &[[f64; 2]]) -> f64 {
    let Some(&[x, y]) = polygon.first() else { return 0.0 };
    let cross = |pair: &[[f64; 2]]| (pair[0][0] - x) * (pair[1][1] - y) - (pair[1][0] - x) * (pair[0][1] - y);
    (polygon.windows(2).map(cross).sum::<f64>() / 2.0).abs()
}
