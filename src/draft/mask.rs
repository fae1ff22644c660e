//! Outlines that a layer is seen inside of: moved with their canvas, and rasterised once it stands still.
//!
//! Only the host does this. Plans hold runs of pixels, so that no device has edges to compute. The masks of objects in a batch
//! are rasterised by the same rule.

use super::flip::Flip;
use super::matrix::Matrix;
use crate::geometry::{Rect, Size};
use crate::plan::Run;

/// Points x, y on a canvas; inside by the even-odd rule.
pub(crate) type Polygon = Vec<[f64; 2]>;

pub(super) fn shift(mask: &mut [Polygon], dx: i32, dy: i32) {
    let by = [dx, dy].map(f64::from);
    mask.iter_mut().flatten().for_each(|[x, y]| (*x, *y) = (*x + by[0], *y + by[1]));
}

pub(super) fn mirror(mask: &mut [Polygon], flip: Flip, canvas: Size) {
    let [width, height] = [canvas.width, canvas.height].map(f64::from);
    for [x, y] in mask.iter_mut().flatten() {
        match flip {
            Flip::LeftRight => *x = width - *x,
            Flip::TopBottom => *y = height - *y,
        }
    }
}

/// The outlines through a map; `None` where one meets the horizon of a perspective, beyond which it would come back.
pub(super) fn mapped(mask: &[Polygon], map: &Matrix) -> Option<Vec<Polygon>> {
    let through = |&[x, y]: &[f64; 2]| {
        let [u, v, w] = map.map(|row| row[0] * x + row[1] * y + row[2]);
        (w > 1e-6).then(|| [u / w, v / w])
    };
    mask.iter().map(|polygon| polygon.iter().map(through).collect()).collect()
}

/// The pixels of `canvas` whose centres an outline may hold.
pub(super) fn pixels_of(polygon: &Polygon, canvas: Rect) -> Rect {
    let ends = |axis: usize, low: i32, high: i64| {
        let at = || polygon.iter().map(|point| point[axis]);
        let (least, most) = (at().fold(f64::INFINITY, f64::min), at().fold(f64::NEG_INFINITY, f64::max));
        let (first, last) = ((least - 0.5).ceil(), (most - 0.5).floor() + 1.0);
        let inside = |edge: f64| edge.clamp(f64::from(low), high as f64) as i32;
        (inside(first), inside(last))
    };
    let ((left, right), (top, bottom)) =
        (ends(0, canvas.x, canvas.right()), ends(1, canvas.y, canvas.bottom()));
    between([left, top], [right, bottom])
}

/// The rectangle from one corner to the other; an empty one where they are the wrong way round.
pub(super) fn between([left, top]: [i32; 2], [right, bottom]: [i32; 2]) -> Rect {
    match left < right && top < bottom {
        true => Rect::new(left, top, (right - left) as u32, (bottom - top) as u32),
        false => Rect::default(),
    }
}

/// How often outlines cross the middle of a row of `window`: what rasterising them takes.
pub(super) fn crossings(mask: &[Polygon], window: Rect) -> usize {
    edges(mask).map(|[a, b]| rows_of(a, b, window).len()).sum()
}

/// The pixels that outlines hold, row by row, from the first row that has any to the last.
#[derive(Clone, Debug, Default)]
pub(crate) struct MaskRuns {
    first: u32,
    /// Where the runs of each row end.
    ends: Vec<u32>,
    runs: Vec<Run>,
}

impl MaskRuns {
    /// The pixels of a canvas of this size whose centres one of the outlines holds.
    pub(crate) fn of(mask: &[Polygon], size: Size) -> Self {
        let reached =
            mask.iter().map(|polygon| pixels_of(polygon, size.rect())).filter(|rect| rect.width > 0);
        let Some(window) = reached.reduce(Rect::hull) else { return Self::default() };
        let mut held = Self { first: window.y as u32, ..Self::default() };
        for mut runs in rows(mask, window) {
            held.runs.append(&mut runs);
            held.ends.push(held.runs.len() as u32);
        }
        held
    }

    /// The runs of row `y`.
    pub(crate) fn row(&self, y: u32) -> &[Run] {
        let at = |row: usize| self.ends.get(row).map(|&end| end as usize);
        let Some(row) = y.checked_sub(self.first).map(|row| row as usize) else { return &[] };
        let Some(end) = at(row) else { return &[] };
        &self.runs[row.checked_sub(1).and_then(at).unwrap_or(0)..end]
    }

    /// The rows with their runs.
    pub(crate) fn rows_and_runs(&self) -> impl Iterator<Item = (u32, &[Run])> {
        (self.first..self.first + self.ends.len() as u32).map(|y| (y, self.row(y)))
    }

    pub(crate) fn area(&self) -> u64 {
        self.runs.iter().map(|run| u64::from(run.len)).sum()
    }

    /// What bounds its memory: rows and runs.
    pub(crate) fn len(&self) -> usize {
        self.ends.len() + self.runs.len()
    }
}

/// The pixels of each row of `window` whose centres one of the outlines holds, as runs of the canvas's columns in order.
pub(super) fn rows(mask: &[Polygon], window: Rect) -> Vec<Vec<Run>> {
    let mut rows = vec![Vec::new(); window.height as usize];
    let mut crossed: Vec<Vec<i32>> = vec![Vec::new(); window.height as usize];
    for polygon in mask {
        for [a, b] in edges(std::slice::from_ref(polygon)) {
            for row in rows_of(a, b, window) {
                let y = f64::from(row) + 0.5;
                let x = a[0] + (y - a[1]) / (b[1] - a[1]) * (b[0] - a[0]);
                // The first pixel whose centre lies after the crossing.
                let column = (x - 0.5).floor() + 1.0;
                let column = column.max(f64::from(window.x)).min(window.right() as f64) as i32;
                crossed[(row - window.y) as usize].push(column);
            }
        }
        for (runs, columns) in rows.iter_mut().zip(&mut crossed) {
            columns.sort_unstable();
            // A closed outline crosses every line an even number of times.
            let pairs = columns.chunks_exact(2).filter(|pair| pair[0] < pair[1]);
            runs.extend(pairs.map(|pair| [pair[0], pair[1]]));
            columns.clear();
        }
    }
    rows.into_iter().map(united).collect()
}

/// Ranges of columns as runs that neither touch nor overlap.
fn united(mut ranges: Vec<[i32; 2]>) -> Vec<Run> {
    ranges.sort_unstable();
    let mut runs: Vec<[i32; 2]> = Vec::with_capacity(ranges.len());
    for [start, end] in ranges {
        match runs.last_mut() {
            Some(last) if start <= last[1] => last[1] = last[1].max(end),
            _ => runs.push([start, end]),
        }
    }
    let run = |[start, end]: [i32; 2]| Run { start: start as u32, len: (end - start) as u32 };
    runs.into_iter().map(run).collect()
}

/// All edges, the upper point first, so that an edge that is passed both ways is crossed at one position.
fn edges(mask: &[Polygon]) -> impl Iterator<Item = [[f64; 2]; 2]> {
    let edges = mask.iter().flat_map(|polygon| polygon.iter().zip(polygon.iter().cycle().skip(1)));
    edges.map(|(&a, &b)| if a[1] <= b[1] { [a, b] } else { [b, a] })
}

/// The rows of `window` whose middle an edge crosses; one that ends just there does not.
fn rows_of(a: [f64; 2], b: [f64; 2], window: Rect) -> std::ops::Range<i32> {
    // What is no number becomes an edge.
    let row = |y: f64| (y - 0.5).ceil().max(f64::from(window.y)).min(window.bottom() as f64) as i32;
    row(a[1])..row(b[1])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::{Draws, Rng};

    /// By counting the edges that a ray to the left meets.
    fn holds(polygon: &Polygon, [x, y]: [f64; 2]) -> bool {
        let meets = |(a, b): (&[f64; 2], &[f64; 2])| {
            (a[1] <= y) != (b[1] <= y) && (b[0] - a[0]) * (y - a[1]) / (b[1] - a[1]) + a[0] < x
        };
        polygon.iter().zip(polygon.iter().cycle().skip(1)).filter(|&edge| meets(edge)).count() % 2 == 1
    }

    fn is_set(rows: &[Vec<Run>], window: Rect, x: i32, y: i32) -> bool {
        let runs = &rows[(y - window.y) as usize];
        runs.iter().any(|run| (run.start..run.start + run.len).contains(&(x as u32)))
    }

    #[test]
    fn a_pixel_is_set_where_an_outline_holds_its_centre() {
        for case in 0..400 {
            let mut rng = Rng::new(51, 0, case, 0);
            let mut between = |low: f32, high: f32| f64::from(rng.uniform_between(low, high));
            let mask: Vec<Polygon> = (0..1 + case % 3)
                .map(|_| (0..3 + case % 7).map(|_| [between(-5.0, 30.0), between(-5.0, 25.0)]).collect())
                .collect();
            let window = Rect::new(2, 1, 20, 17);
            let rows = rows(&mask, window);
            for (x, y) in (2..22).flat_map(|x| (1..18).map(move |y| (x, y))) {
                let centre = [f64::from(x) + 0.5, f64::from(y) + 0.5];
                let want = mask.iter().any(|polygon| holds(polygon, centre));
                assert_eq!(is_set(&rows, window, x, y), want, "case {case}: {x}, {y} of {mask:?}");
            }
            for pair in rows.iter().flat_map(|runs| runs.windows(2)) {
                assert!(pair[0].start + pair[0].len < pair[1].start, "runs touch: {pair:?}");
            }
            let held = MaskRuns::of(&mask, window.size());
            let whole = super::rows(&mask, window.size().rect());
            assert!((0..).zip(&whole).all(|(y, runs)| held.row(y) == &runs[..]), "case {case}");
            assert!(held.rows_and_runs().all(|(y, runs)| whole[y as usize] == runs), "case {case}");
            let inside = mask.iter().map(|polygon| pixels_of(polygon, window)).reduce(Rect::hull).unwrap();
            for (x, y) in (2..22).flat_map(|x| (1..18).map(move |y| (x, y))) {
                let within = inside.contains(Rect::new(x, y, 1, 1));
                assert!(
                    within || !is_set(&rows, window, x, y),
                    "case {case}: {x}, {y} is outside {inside:?}"
                );
            }
        }
    }

    #[test]
    fn a_hole_that_a_cut_without_width_joins_to_the_outline_stays_open() {
        let ring = vec![
            [1.1, 1.2],
            [9.3, 1.7],
            [9.9, 9.1],
            [1.4, 9.8],
            [1.1, 1.2],
            [3.3, 3.1],
            [3.2, 7.7],
            [7.4, 7.3],
            [7.1, 3.9],
            [3.3, 3.1],
        ];
        let window = Rect::new(0, 0, 12, 12);
        let rows = rows(&[ring], window);
        assert!(is_set(&rows, window, 2, 5) && !is_set(&rows, window, 5, 5) && is_set(&rows, window, 8, 5));
        // Along the cut nothing is missing.
        assert!((1..4).all(|at| rows[at].len() == 1 || at == 3), "{rows:?}");
    }

    #[test]
    fn what_is_no_number_sets_no_pixel_and_ends() {
        let window = Rect::new(3, 2, 9, 9);
        assert!(MaskRuns::of(&[vec![]], window.size()).rows_and_runs().next().is_none());
        for odd in [f64::NAN, f64::INFINITY, 1e300] {
            let mask = [vec![[1.0, 1.0], [odd, 5.0], [3.0, odd], [odd, odd]]];
            assert_eq!(rows(&mask, window).len(), 9);
            assert!(crossings(&mask, window) <= 4 * 9);
        }
        assert_eq!(pixels_of(&vec![], window), Rect::default());
    }
}
