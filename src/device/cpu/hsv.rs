//! Hue, saturation and value of levels as OpenCV's uint8 HSV has them: changed, and back to red, green and blue.
//!
//! OpenCV's integers are small enough for f32, so this is its arithmetic and no approximation of it; each trick below is
//! held to whole numbers by a test over all colours. Rounding to a whole number costs twice a sum, so where a sum with
//! [`WHOLE`] can do it, it does.

use super::lanes::{LANES, Plane};

/// 1.5 * 2^23: in a sum with it, what lies after the point is rounded away.
const WHOLE: f32 = 12_582_912.0;
/// 1.5 * 2^11: in a sum with it, what lies after the twelfth binary digit is rounded away.
const FINE: f32 = 3072.0;
/// A little more than 1, so that halves are rounded up.
const ABOVE: f32 = 1.0 + 2.0 * f32::EPSILON;

/// Turns the hue by `turn` half degrees (a whole number in 30..210), and multiplies saturation and value.
///
/// The factors are those of a step: no product of one of them and a level lies just below a whole number.
#[inline(always)]
pub(super) fn change(planes: &mut [Plane; 3], [turn, saturation, value]: [f32; 3]) {
    to_hsv(planes, turn);
    let [r, g, b] = planes;
    for i in 0..LANES {
        let (h, s, v) = (r[i], g[i], b[i]);
        let (s, v) = (less(s * saturation, 255.0).floor(), less(v * value, 255.0).floor());
        (r[i], g[i], b[i]) = from_hsv(h, s, v);
    }
}

/// Turns the hue likewise, and adds whole numbers to saturation and value; what has no saturation gets none.
#[inline(always)]
pub(super) fn shift(planes: &mut [Plane; 3], [turn, saturation, value]: [f32; 3]) {
    to_hsv(planes, turn);
    let [r, g, b] = planes;
    let level = |x: f32| less(greater(x, 0.0), 255.0);
    for i in 0..LANES {
        let (h, s, v) = (r[i], g[i], b[i]);
        (r[i], g[i], b[i]) = from_hsv(h, select(s == 0.0, s, level(s + saturation)), level(v + value));
    }
}

/// `s = (d * rint(1044480 / v) + 2048) >> 12`; `h = (x * rint(737280 / (6 d)) + 2048) >> 12`, in 0..180, and turned.
///
/// All quotients first, and all colours after them: results of one pixel wait for each other, and a processor looks ahead
/// only so far for those of others.
#[inline(always)]
fn to_hsv([r, g, b]: &mut [Plane; 3], turn: f32) {
    // One reciprocal for both; their tables' entries, in 4096ths, are then exact. Grey has d = 0 and needs neither.
    let mut both = [0.0; LANES];
    for i in 0..LANES {
        let (v, d) = value_and_range(r[i], g[i], b[i]);
        both[i] = 1.0 / greater(v * d, 1.0);
    }
    for i in 0..LANES {
        let (red, green, blue) = (r[i], g[i], b[i]);
        let (v, d) = value_and_range(red, green, blue);
        let over_v = (both[i] * d).mul_add(255.0, FINE).mul_add(ABOVE, -FINE * ABOVE);
        let over_d = (both[i] * v).mul_add(30.0, FINE) - FINE;
        let s = d.mul_add(over_v, WHOLE) - WHOLE;
        let of_red = green - blue;
        let (of_green, of_blue) = (d.mul_add(2.0, blue - red), d.mul_add(4.0, red - green));
        let x = select(v == red, of_red, select(v == green, of_green, of_blue));
        // A hue between -30 and 150 and a turn of 30 or more: one circle too many at most, and a sign is a high bit.
        let h = x.mul_add(over_d, turn + 0.5).floor();
        (r[i], g[i], b[i]) = (f32::from_bits(h.to_bits().min((h - 180.0).to_bits())), s, v);
    }
}

/// The greatest of three levels, and how far it is from the least.
#[inline(always)]
fn value_and_range(r: f32, g: f32, b: f32) -> (f32, f32) {
    let v = greater(greater(r, g), b);
    (v, v - less(less(r, g), b))
}

/// floor(v (7650 - s w) / 7650) per channel, with the distance w from the channel's third of the circle, in 0..=30.
#[inline(always)]
fn from_hsv(h: f32, s: f32, v: f32) -> (f32, f32, f32) {
    let slope = v * s * (1.0 / 7650.0);
    // Half of the least distance below a whole number, so that rounding does not miss one.
    let most = v + 0.5 / 7650.0;
    let channel = |away: f32| less(greater(away, 0.0), 30.0).mul_add(-slope, most).floor();
    (channel(60.0 - (h - 90.0).abs()), channel((h - 60.0).abs() - 30.0), channel((h - 120.0).abs() - 30.0))
}

/// One instruction where `f32::max`, which minds what is not a number, is three.
#[inline(always)]
fn greater(a: f32, b: f32) -> f32 {
    if a > b { a } else { b }
}

#[inline(always)]
fn less(a: f32, b: f32) -> f32 {
    if a < b { a } else { b }
}

#[inline(always)]
fn select(first: bool, a: f32, b: f32) -> f32 {
    if first { a } else { b }
}

#[cfg(test)]
mod tests {
    use super::super::pixel_block::Resolved;
    use super::super::recolour;
    use crate::color::ColorOp;
    use crate::simd::{self, Level};

    /// OpenCV's integers, a table for saturation and value, and the exact quotient back.
    fn by_integers([r, g, b]: [i32; 3], turn: i32, tables: &[[i32; 256]; 2]) -> [u8; 3] {
        let table =
            |scale: f64, at: i32| if at == 0 { 0 } else { (scale / f64::from(at)).round_ties_even() as i32 };
        let v = r.max(g).max(b);
        let d = v - r.min(g).min(b);
        let s = (d * table(255.0 * 4096.0, v) + 2048) >> 12;
        let x = match () {
            () if v == r => g - b,
            () if v == g => b - r + 2 * d,
            () => r - g + 4 * d,
        };
        let h = (((x * table(180.0 * 4096.0 / 6.0, d) + 2048) >> 12) + 180 + turn) % 180;
        let [s, v] = [tables[0][s as usize], tables[1][v as usize]];
        // The textbook's six sextants.
        let (sextant, f) = (h / 30, h % 30);
        let [p, q, t] = [30, f, 30 - f].map(|w| v * (7650 - s * w) / 7650);
        let all = [[v, t, p], [q, v, p], [p, v, t], [p, q, v], [t, p, v], [v, p, q]];
        all[sextant as usize].map(|level| level as u8)
    }

    fn by_step(level: Level, rgb: &[u8], args: [f32; 3]) -> Vec<u8> {
        let [a, b, c] = args;
        let steps = [Resolved { op: ColorOp::Hsv, args: [a, b, c, 0.0, 0.0, 0.0], mean: 0.0, table: None }];
        let mut changed = rgb.to_vec();
        recolour::run(&mut changed, &steps, level);
        changed
    }

    /// All colours with this much red.
    fn colours(red: u8) -> Vec<u8> {
        (0..=u16::MAX).flat_map(|i| [red, (i >> 8) as u8, i as u8]).collect()
    }

    fn table(factor: f64) -> [i32; 256] {
        std::array::from_fn(|i| (i as f64 * factor).min(255.0) as i32)
    }

    #[test]
    fn every_colour_becomes_what_whole_numbers_make_of_it_in_all_instruction_sets() {
        // Factors in the middle between those with other tables.
        for (args, tables) in [
            ([180.0, 1.0001, 1.0001], [table(1.0), table(1.0)]),
            ([47.0, 1.3001, 0.6001], [table(1.3), table(0.6)]),
        ] {
            let turn = args[0] as i32;
            for red in 0..=255 {
                let rgb = colours(red);
                let want: Vec<u8> = rgb
                    .chunks(3)
                    .flat_map(|pixel| {
                        by_integers([pixel[0], pixel[1], pixel[2]].map(i32::from), turn, &tables)
                    })
                    .collect();
                for level in simd::levels() {
                    assert!(by_step(level, &rgb, args) == want, "red {red}, turn {turn}, {level:?}");
                }
            }
        }
    }

    #[test]
    fn all_hues_saturations_and_values_come_back_by_whole_numbers() {
        for h in 0..180 {
            for (s, v) in (0..=255).flat_map(|s| (0..=255).map(move |v| (s, v))) {
                let (sextant, f) = (h / 30, h % 30);
                let [p, q, t] = [30, f, 30 - f].map(|w| v * (7650 - s * w) / 7650);
                let all = [[v, t, p], [q, v, p], [p, v, t], [p, q, v], [t, p, v], [v, p, q]];
                let (r, g, b) = super::from_hsv(h as f32, s as f32, v as f32);
                assert_eq!([r, g, b], all[sextant as usize].map(|level| level as f32), "{h} {s} {v}");
            }
        }
    }
}
