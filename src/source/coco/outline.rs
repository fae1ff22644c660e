//! The outline of a mask's pixels as polygons: exact, one for each connected part.
//!
//! Pixels that touch at a corner only are different parts. A hole is joined to the outline around it by a cut without
//! width, so that each polygon by itself covers exactly its pixels, whichever rule fills it and however parts are united.

use super::rle::Columns;
use std::collections::BTreeMap;

/// The polygons of a mask, in whole pixels.
pub(super) fn outline(mask: &Columns) -> Vec<Vec<[f32; 2]>> {
    let corners = Corners::of(mask);
    let mut rings = Rings::of(&corners);
    rings.join_holes();
    rings.outer.iter().map(|&start| rings.points(start)).collect()
}

/// The corners of the outline, by column and then by row. Each vertical piece of it is a corner of even index and the
/// one after it; where four pieces meet there are two corners.
#[derive(Default)]
struct Corners {
    at: Vec<[u32; 2]>,
    /// Whether the object is on the right of the piece that begins here.
    object_on_right: Vec<bool>,
    /// Of two corners at one point, the one that the horizontal piece on the right belongs to.
    belongs_right: Vec<bool>,
}

impl Corners {
    fn of(mask: &Columns) -> Self {
        let mut corners = Self::default();
        for x in 0..=mask.len() {
            let left = x.checked_sub(1).map_or(&[][..], |before| mask.column(before));
            corners.add_line(x as u32, left, mask.column(x));
        }
        corners
    }

    /// The corners between two columns.
    fn add_line(&mut self, x: u32, left: &[u32], right: &[u32]) {
        let (mut l, mut r) = (0, 0);
        while l < left.len() || r < right.len() {
            let y = left.get(l).into_iter().chain(right.get(r)).copied().min().unwrap_or(0);
            let (turns_left, turns_right) = (left.get(l) == Some(&y), right.get(r) == Some(&y));
            let begins_left = l % 2 == 0;
            // Both sides begin or end here: the outline goes straight on. Else pixels touch at this corner.
            let straight = turns_left && turns_right && l % 2 == r % 2;
            l += usize::from(turns_left);
            r += usize::from(turns_right);
            let mut add = |belongs_right| {
                self.at.push([x, y]);
                self.object_on_right.push(r % 2 == 1);
                self.belongs_right.push(belongs_right);
            };
            if turns_left != turns_right {
                add(false);
            } else if !straight {
                // Left below and right above: the piece above bounds the right one. Left above and right below: the left.
                add(begins_left);
                add(!begins_left);
            }
        }
    }

    /// For each corner the one at the other end of its horizontal piece.
    fn across(&self) -> Vec<usize> {
        let mut by_row: Vec<usize> = (0..self.at.len()).collect();
        by_row.sort_unstable_by_key(|&corner| {
            let [x, y] = self.at[corner];
            (y, x, self.belongs_right[corner])
        });
        let mut across = vec![0; self.at.len()];
        for &[left, right] in by_row.as_chunks::<2>().0 {
            (across[left], across[right]) = (right, left);
        }
        across
    }
}

/// Closed walks along the outline: outer ones, and those of holes until they are joined to the outer ones.
struct Rings {
    at: Vec<[u32; 2]>,
    next: Vec<usize>,
    /// A corner of each outer ring.
    outer: Vec<usize>,
    /// The first corner of each hole, in ascending order, and the corner before it.
    holes: Vec<[usize; 2]>,
}

impl Rings {
    fn of(corners: &Corners) -> Self {
        let across = corners.across();
        let mut next = vec![usize::MAX; corners.at.len()];
        let (mut outer, mut holes) = (Vec::new(), Vec::new());
        // The first corner of a ring that is met is its topmost on the left. From there an outer ring goes down and a
        // hole's across, so that all have the object on the same side.
        for start in (0..corners.at.len()).step_by(2) {
            if next[start] != usize::MAX {
                continue;
            }
            let is_outer = corners.object_on_right[start];
            let mut corner = start;
            loop {
                let other = if is_outer { corner ^ 1 } else { across[corner] };
                next[corner] = other;
                next[other] = if is_outer { across[other] } else { other ^ 1 };
                corner = next[other];
                if corner == start {
                    break;
                }
            }
            match is_outer {
                true => outer.push(start),
                false => holes.push([start, start ^ 1]),
            }
        }
        Self { at: corners.at.clone(), next, outer, holes }
    }

    /// Joins each hole to the ring on its left. That ring begins further left, so it has been joined already.
    fn join_holes(&mut self) {
        if self.holes.is_empty() {
            return;
        }
        let mut pieces = self.vertical_pieces();
        // Cuts divide pieces and move none, so the corners as they were still give the positions of the pieces.
        let (mut nearest, mut met, corners) = (Nearest::default(), 0, self.at.len());
        for [start, last] in std::mem::take(&mut self.holes) {
            let [x, row] = self.at[start];
            while met < corners && self.at[met][0] < x {
                let ([column, top], [_, bottom]) = (self.at[met], self.at[met + 1]);
                nearest.cover(column, top, bottom);
                met += 2;
            }
            let Some(left) = nearest.at(row) else { continue };
            let Some((&(_, top), _)) = pieces.range((left, 0)..=(left, row)).next_back() else { continue };
            let Some(Piece { bottom, from }) = pieces.remove(&(left, top)) else { continue };
            let to = self.next[from];
            let goes_down = self.at[from][1] < self.at[to][1];
            // from -> cut -> start ... last -> start again -> cut again -> to
            let again = self.add([left, row], to);
            let start_again = self.add([x, row], again);
            let cut = self.add([left, row], start);
            self.next[from] = cut;
            self.next[last] = start_again;
            let (above, below) = if goes_down { (from, again) } else { (again, from) };
            pieces.insert((left, row), Piece { bottom, from: below });
            if top < row {
                pieces.insert((left, top), Piece { bottom: row, from: above });
            }
        }
    }

    fn add(&mut self, at: [u32; 2], next: usize) -> usize {
        self.at.push(at);
        self.next.push(next);
        self.at.len() - 1
    }

    fn vertical_pieces(&self) -> Pieces {
        let piece = |from: usize| {
            let ([x, a], [_, b]) = (self.at[from], self.at[self.next[from]]);
            (self.next[from] == from ^ 1).then(|| ((x, a.min(b)), Piece { bottom: a.max(b), from }))
        };
        (0..self.next.len()).filter_map(piece).collect()
    }

    fn points(&self, start: usize) -> Vec<[f32; 2]> {
        let mut points: Vec<[f32; 2]> = Vec::new();
        let mut corner = start;
        loop {
            let point = self.at[corner].map(|value| value as f32);
            if points.last() != Some(&point) {
                points.push(point);
            }
            corner = self.next[corner];
            if corner == start {
                return points;
            }
        }
    }
}

/// Vertical pieces of rings by column and top.
type Pieces = BTreeMap<(u32, u32), Piece>;

/// One of them, from the corner that the walk leaves to the next.
struct Piece {
    bottom: u32,
    from: usize,
}

/// For each row the column of the last vertical piece on the way to the right: from each key to the next.
#[derive(Default)]
struct Nearest(BTreeMap<u32, Option<u32>>);

impl Nearest {
    /// Adds a piece that lies further right than all before it. Each of them adds two keys and a key is removed but
    /// once, so that however many holes there are, the time stays that of a sort.
    fn cover(&mut self, column: u32, top: u32, bottom: u32) {
        let below = self.at(bottom);
        while let Some((&row, _)) = self.0.range(top..bottom).next() {
            self.0.remove(&row);
        }
        self.0.insert(top, Some(column));
        self.0.insert(bottom, below);
    }

    fn at(&self, row: u32) -> Option<u32> {
        self.0.range(..=row).next_back().and_then(|(_, column)| *column)
    }
}
