//! Run lengths and outlines against loops over single pixels.

use super::outline::outline;
use super::rle::{Columns, decode};
use crate::rng::{Draws, Rng};

/// A mask as rows of `#` and anything else.
struct Mask {
    width: usize,
    height: usize,
    object: Vec<bool>,
}

impl Mask {
    fn new(rows: &[&str]) -> Self {
        let object = rows.iter().flat_map(|row| row.bytes().map(|byte| byte == b'#')).collect();
        Self { width: rows[0].len(), height: rows.len(), object }
    }

    fn at(&self, x: usize, y: usize) -> bool {
        self.object[y * self.width + x]
    }

    /// Run lengths by definition: down each column, one pixel at a time.
    fn counts(&self) -> Vec<u64> {
        let (mut counts, mut current) = (vec![0], false);
        for x in 0..self.width {
            for y in 0..self.height {
                if self.at(x, y) != current {
                    counts.push(0);
                    current = !current;
                }
                *counts.last_mut().unwrap() += 1;
            }
        }
        counts
    }

    fn outline(&self) -> Vec<Vec<[f32; 2]>> {
        outline(&Columns::new(self.height as u32, self.width as u32, &self.counts()).unwrap())
    }

    /// How many parts hang together by the sides of their pixels.
    fn parts(&self) -> usize {
        let mut met = vec![false; self.object.len()];
        let mut parts = 0;
        for start in 0..met.len() {
            if !self.object[start] || met[start] {
                continue;
            }
            parts += 1;
            let mut stack = vec![(start % self.width, start / self.width)];
            while let Some((x, y)) = stack.pop() {
                let inside = x < self.width && y < self.height && self.at(x, y);
                if inside && !std::mem::replace(&mut met[y * self.width + x], true) {
                    let before = usize::MAX; // below zero is beyond the mask too
                    stack.extend([
                        (x + 1, y),
                        (x.wrapping_add(before), y),
                        (x, y + 1),
                        (x, y.wrapping_add(before)),
                    ]);
                }
            }
        }
        parts
    }
}

/// Whether a point is inside a polygon by the even-odd rule: how many sides a ray to the right meets.
fn is_inside(polygon: &[[f32; 2]], [x, y]: [f32; 2]) -> bool {
    let meets = |at: usize| {
        let ([ax, ay], [bx, by]) = (polygon[at], polygon[(at + 1) % polygon.len()]);
        (ay > y) != (by > y) && x < ax + (y - ay) / (by - ay) * (bx - ax)
    };
    (0..polygon.len()).filter(|&at| meets(at)).count() % 2 == 1
}

/// Twice the area, negative one way round.
fn area(polygon: &[[f32; 2]]) -> f32 {
    let next = polygon.iter().cycle().skip(1);
    polygon.iter().zip(next).map(|(a, b)| a[0] * b[1] - b[0] * a[1]).sum()
}

fn check(mask: &Mask) {
    let polygons = mask.outline();
    assert_eq!(polygons.len(), mask.parts());
    for y in 0..mask.height {
        for x in 0..mask.width {
            let centre = [x as f32 + 0.5, y as f32 + 0.5];
            let covering = polygons.iter().filter(|polygon| is_inside(polygon, centre)).count();
            assert_eq!(covering, usize::from(mask.at(x, y)), "pixel {x}, {y}");
        }
    }
    let pixels = mask.object.iter().filter(|&&object| object).count() as f32;
    assert_eq!(polygons.iter().map(|polygon| area(polygon)).sum::<f32>().abs(), 2.0 * pixels);
}

#[test]
fn a_rectangle_has_four_corners() {
    let polygons = Mask::new(&["....", ".##.", ".##.", "...."]).outline();
    assert_eq!(polygons.len(), 1);
    let mut corners = polygons[0].clone();
    corners.sort_by(|a, b| a.partial_cmp(b).unwrap());
    assert_eq!(corners, [[1.0, 1.0], [1.0, 3.0], [3.0, 1.0], [3.0, 3.0]]);
}

#[test]
fn small_masks_come_back_from_their_polygons() {
    let masks: [&[&str]; 8] = [
        &["#"],
        &["##", "##"],
        &["#.", ".#"],
        &[".#", "#."],
        &["###", "#.#", "###"],
        &["#####", "#.#.#", "#####", "#.#.#", "#####"],
        &["#######", "#.....#", "#.###.#", "#.#.#.#", "#.###.#", "#.....#", "#######"],
        &["####", "#.##", "##.#", "####"],
    ];
    masks.iter().for_each(|rows| check(&Mask::new(rows)));
}

#[test]
fn every_mask_of_twelve_pixels_comes_back_from_its_polygons() {
    for bits in 0..1 << 12 {
        let object: Vec<bool> = (0..12).map(|bit| bits >> bit & 1 == 1).collect();
        check(&Mask { width: 4, height: 3, object: object.clone() });
        check(&Mask { width: 3, height: 4, object });
    }
}

#[test]
fn random_masks_come_back_from_their_polygons() {
    let mut rng = Rng::new(7, 0, 0, 0);
    for round in 0..400 {
        let (width, height) = (1 + rng.below(24) as usize, 1 + rng.below(24) as usize);
        let share = [0.1, 0.5, 0.9][round % 3];
        let object = (0..width * height).map(|_| rng.chance(share)).collect();
        check(&Mask { width, height, object });
    }
}

#[test]
fn the_largest_mask_with_holes_far_from_its_edge_takes_no_minutes() {
    // All of 65,536 x 65,536 pixels, except every other one of the last column but one.
    let (side, holes) = (1u64 << 16, (1u64 << 15) - 1);
    let mut counts = vec![0, side * (side - 2) + 1];
    (1..holes).for_each(|_| counts.extend([1, 1]));
    counts.extend([1, 2 + side]);
    let polygons = outline(&Columns::new(1 << 16, 1 << 16, &counts).unwrap());
    let next = polygons[0].iter().cycle().skip(1);
    let twice = |(a, b): (&[f32; 2], &[f32; 2])| {
        f64::from(a[0]) * f64::from(b[1]) - f64::from(b[0]) * f64::from(a[1])
    };
    let area: f64 = polygons[0].iter().zip(next).map(twice).sum();
    assert_eq!((polygons.len(), area.abs()), (1, 2.0 * (side * side - holes) as f64));
}

#[test]
fn a_run_goes_on_in_the_next_column_and_empty_runs_join_their_neighbours() {
    let columns = Columns::new(3, 3, &[2, 5, 2]).unwrap();
    assert_eq!([columns.column(0), columns.column(1), columns.column(2)], [&[2, 3][..], &[0, 3], &[0, 1]]);
    assert_eq!(Columns::new(3, 3, &[2, 2, 0, 3, 2]).unwrap(), columns);
    assert_eq!(Columns::new(3, 3, &[2, 1, 0, 0, 0, 4, 2, 0]).unwrap(), columns);
}

/// The string of run lengths, written from its description: differences from the fourth on, five bits a character.
fn encode(counts: &[i64]) -> String {
    let mut text = String::new();
    for (at, &count) in counts.iter().enumerate() {
        let mut value = if at > 2 { count - counts[at - 2] } else { count };
        loop {
            let bits = value & 31;
            value >>= 5;
            let ends = if bits & 16 == 0 { value == 0 } else { value == -1 };
            text.push((48 + bits + if ends { 0 } else { 32 }) as u8 as char);
            if ends {
                break;
            }
        }
    }
    text
}

#[test]
fn compressed_run_lengths_are_read_back() {
    let mut rng = Rng::new(8, 0, 0, 0);
    for _ in 0..300 {
        let counts: Vec<i64> =
            (0..rng.below(40)).map(|_| i64::from(rng.below(1 << 20) >> rng.below(20))).collect();
        let read = decode(&encode(&counts)).unwrap();
        assert!(read.iter().map(|&count| count as i64).eq(counts));
    }
}

#[test]
fn known_strings_mean_known_run_lengths() {
    // 31 needs a second character, since the fifth bit of the last one is the sign.
    assert_eq!(decode("61X13").unwrap(), [6, 1, 40, 4]);
    assert_eq!(decode("o0").unwrap(), [31]);
    assert_eq!(decode("").unwrap(), [] as [u64; 0]);
}

#[test]
fn run_lengths_that_make_no_mask_are_refused() {
    for (text, cause) in [
        ("P", "end in the middle"),
        ("\u{7f}", "has no place"),
        ("!", "has no place"),
        ("ooooooooooooo0", "too long"),
        ("O", "-1 is no run length"),
        ("000N", "-2 is no run length"),
    ] {
        let error = decode(text).unwrap_err();
        assert!(error.contains(cause), "{text}: {error}");
    }
    for (height, width, counts) in
        [(2, 2, &[3][..]), (2, 2, &[4, 1]), (2, 2, &[u64::MAX, 5]), (0, 2, &[]), (1 << 17, 1, &[1 << 17])]
    {
        assert!(Columns::new(height, width, counts).is_err(), "{height} x {width}: {counts:?}");
    }
}
