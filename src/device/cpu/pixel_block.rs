//! Up to 64 pixels as three planes of f32: what colour steps and the output work on.
//!
//! Levels stay whole numbers between steps, so nothing is lost by not going back to u8. The loops are plain Rust on
//! fixed arrays, compiled once per instruction set; `mul_add` is one fused operation in all of them.

use super::histogram::Table;
use super::lanes::{LANES, Plane};
use super::{hsv, interleave};
use crate::color::ColorOp;
use crate::simd::Level;

/// Up to [`LANES`] pixels; lanes after the used ones hold whatever is left over.
#[derive(Clone, Debug)]
#[repr(align(64))]
pub(crate) struct PixelBlock {
    pub(crate) planes: [Plane; 3],
}

impl Default for PixelBlock {
    fn default() -> Self {
        Self { planes: [[0.0; LANES]; 3] }
    }
}

/// A colour step with its statistic filled in.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Resolved {
    pub(crate) op: ColorOp,
    pub(crate) args: [f32; 6],
    /// The measured mean, for contrast.
    pub(crate) mean: f32,
    /// What becomes of each level, for steps that look it up.
    pub(crate) table: Option<Box<Table>>,
}

impl PixelBlock {
    /// Loads packed RGB levels; the lanes after them become 0.
    #[inline(always)]
    pub(crate) fn load(&mut self, rgb: &[u8], level: Level) {
        match <&[u8; LANES * 3]>::try_from(rgb) {
            Ok(packed) => interleave::split(packed, &mut self.planes, level),
            Err(_) => {
                let mut packed = [0; LANES * 3];
                packed[..rgb.len()].copy_from_slice(rgb);
                interleave::split(&packed, &mut self.planes, level);
            }
        }
    }

    /// Stores levels, which are in 0..256, as packed RGB, cut off.
    #[inline(always)]
    pub(crate) fn store(&self, rgb: &mut [u8], level: Level) {
        match <&mut [u8; LANES * 3]>::try_from(&mut *rgb) {
            Ok(packed) => interleave::join(&self.planes, packed, level),
            Err(_) => {
                let mut packed = [0; LANES * 3];
                interleave::join(&self.planes, &mut packed, level);
                rgb.copy_from_slice(&packed[..rgb.len()]);
            }
        }
    }

    /// The sum of the luma of the first `count` pixels.
    #[inline(always)]
    pub(crate) fn luma_sum(&self, count: usize) -> u64 {
        let [r, g, b] = &self.planes;
        let mut lumas = [0.0; LANES];
        for i in 0..LANES {
            lumas[i] = luma(r[i], g[i], b[i]);
        }
        lumas[count..].fill(0.0);
        // 64 whole numbers up to 255: every partial sum is exact in f32, in any order.
        for half in [32, 16, 8, 4, 2, 1] {
            for i in 0..half {
                lumas[i] += lumas[i + half];
            }
        }
        lumas[0] as u64
    }

    /// Runs the steps in order.
    #[inline(always)]
    pub(crate) fn run(&mut self, steps: &[Resolved]) {
        for step in steps {
            self.step(step);
        }
    }

    /// Changes every level; a plain loop a plane, which compilers turn into vectors where they don't a chain.
    #[inline(always)]
    fn each(&mut self, change: impl Fn(f32) -> f32) {
        for plane in &mut self.planes {
            for level in plane {
                *level = change(*level);
            }
        }
    }

    #[inline(always)]
    fn step(&mut self, step: &Resolved) {
        let [factor, rest, ..] = step.args;
        match step.op {
            ColorOp::Brightness => self.each(|level| truncate(factor * level)),
            ColorOp::Contrast => {
                let grey = step.mean;
                self.each(|level| truncate(grey.mul_add(rest, factor * level)));
            }
            ColorOp::Saturation => {
                let [r, g, b] = &mut self.planes;
                for i in 0..LANES {
                    let grey = luma(r[i], g[i], b[i]);
                    r[i] = truncate(grey.mul_add(rest, factor * r[i]));
                    g[i] = truncate(grey.mul_add(rest, factor * g[i]));
                    b[i] = truncate(grey.mul_add(rest, factor * b[i]));
                }
            }
            ColorOp::Grayscale => {
                let [r, g, b] = &mut self.planes;
                for i in 0..LANES {
                    let grey = luma(r[i], g[i], b[i]);
                    (r[i], g[i], b[i]) = (grey, grey, grey);
                }
            }
            ColorOp::Hue => {
                let [r, g, b] = &mut self.planes;
                for i in 0..LANES {
                    (r[i], g[i], b[i]) = turn_hue(r[i], g[i], b[i], factor);
                }
            }
            ColorOp::Hsv => {
                let [turn, saturation, value, ..] = step.args;
                hsv::change(&mut self.planes, [turn, saturation, value]);
            }
            ColorOp::Solarize => self.each(|level| if level >= factor { 255.0 - level } else { level }),
            ColorOp::SolarizeAdd => {
                self.each(|level| if level < factor { (level + rest).min(255.0) } else { level });
            }
            ColorOp::Posterize => self.each(|level| (level * rest).floor() * factor),
            ColorOp::PermuteChannels => {
                let [r, g, b, ..] = step.args.map(|channel| self.planes[channel as usize]);
                self.planes = [r, g, b];
            }
            ColorOp::Autocontrast | ColorOp::Equalize | ColorOp::Gamma => {
                self.look_up(step.table.as_deref());
            }
            ColorOp::BrightnessContrast => self.each(|level| truncate(level * factor + rest)),
            ColorOp::ShiftRgb => self.shift(step.args),
            ColorOp::ShiftHsv => {
                let [turn, saturation, value, ..] = step.args;
                hsv::shift(&mut self.planes, [turn, saturation, value]);
            }
            ColorOp::ToGray => {
                let [r, g, b] = &mut self.planes;
                for i in 0..LANES {
                    let grey = rounded_luma(r[i], g[i], b[i]);
                    (r[i], g[i], b[i]) = (grey, grey, grey);
                }
            }
        }
    }

    #[inline(always)]
    fn shift(&mut self, shifts: [f32; 6]) {
        for (plane, shift) in self.planes.iter_mut().zip(shifts) {
            for level in plane {
                *level = truncate(*level + shift);
            }
        }
    }

    #[inline(always)]
    fn look_up(&mut self, table: Option<&Table>) {
        let Some(table) = table else { return };
        for (plane, table) in self.planes.iter_mut().zip(table) {
            // Apart from each other, so that only the reads between them go from pixel to pixel.
            let mut levels = [0i32; LANES];
            for (to, level) in levels.iter_mut().zip(&*plane) {
                *to = *level as i32;
            }
            for level in &mut levels {
                *level = i32::from(table[usize::from(*level as u8)]);
            }
            for (level, found) in plane.iter_mut().zip(levels) {
                *level = found as f32;
            }
        }
    }
}

/// torchvision's conversion back to u8: clamped, then cut off.
#[inline(always)]
fn truncate(x: f32) -> f32 {
    x.clamp(0.0, 255.0).trunc()
}

/// torchvision's grey: a whole number.
#[inline(always)]
fn luma(r: f32, g: f32, b: f32) -> f32 {
    b.mul_add(0.114, g.mul_add(0.587, r * 0.2989)).floor()
}

/// OpenCV's grey: sums of whole numbers below 2^24, so nothing is rounded before the end.
#[inline(always)]
fn rounded_luma(r: f32, g: f32, b: f32) -> f32 {
    let sum = b.mul_add(3735.0, g.mul_add(19_235.0, r.mul_add(9798.0, 16_384.0)));
    (sum * (1.0 / 32_768.0)).floor()
}

/// torchvision's hue shift on levels: to HSV, turned, and back; no fused operation anywhere.
#[inline(always)]
fn turn_hue(r: f32, g: f32, b: f32, turn: f32) -> (f32, f32, f32) {
    const UNIT: f32 = 1.0 / 255.0;
    const SIXTH: f32 = 1.0 / 6.0;
    let (r, g, b) = (r * UNIT, g * UNIT, b * UNIT);
    let (high, low) = (r.max(g).max(b), r.min(g).min(b));
    let range = high - low;
    let grey = range == 0.0;
    let saturation = range / if grey { 1.0 } else { high };
    let divisor = if grey { 1.0 } else { range };
    let (rc, gc, bc) = ((high - r) / divisor, (high - g) / divisor, (high - b) / divisor);
    let of_red = bc - gc;
    let of_green = (2.0 + rc) - bc;
    let of_blue = (4.0 + gc) - rc;
    let hue = if high == r {
        of_red
    } else if high == g {
        of_green
    } else {
        of_blue
    };
    let hue = hue * SIXTH + 1.0;
    let turned = (hue - hue.trunc()) + turn;
    // Python's modulo 1 of a number in -0.5..1.5.
    let hue = if turned < 0.0 {
        turned + 1.0
    } else if turned >= 1.0 {
        turned - 1.0
    } else {
        turned
    };
    from_hsv(hue, saturation, high)
}

#[inline(always)]
fn from_hsv(hue: f32, s: f32, v: f32) -> (f32, f32, f32) {
    let sixth = 6.0 * hue;
    let whole = sixth.floor();
    let f = sixth - whole;
    let unit = |x: f32| x.clamp(0.0, 1.0);
    let p = unit((1.0 - s) * v);
    let q = unit((1.0 - s * f) * v);
    let t = unit((s * f + (1.0 - s)) * v);
    // A hue that rounds up to 1 is the first sextant again.
    let sextant = if whole >= 6.0 { 0.0 } else { whole };
    let pick = |table: [f32; 6]| {
        let mut value = table[0];
        for (i, &other) in table.iter().enumerate().skip(1) {
            value = if sextant == i as f32 { other } else { value };
        }
        (255.999 * value).trunc()
    };
    (pick([v, q, p, p, t, v]), pick([t, v, v, q, p, p]), pick([p, p, t, v, v, q]))
}
