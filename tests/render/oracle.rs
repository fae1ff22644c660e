//! The naive meaning of every op: whole u8 images, one op after the other, a pixel at a time.

use feedline::draft::op::{Chain, Extent, Interpolation, LensModel, Op, PaddingMode};
use feedline::geometry::Size;
use feedline_test_support::noise;

/// A whole image: `levels[(y * width + x) * 3 + c]`.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Picture {
    pub(crate) width: i64,
    pub(crate) height: i64,
    pub(crate) levels: Vec<u8>,
}

impl Picture {
    /// Deterministic noise with flat parts and extremes.
    pub(crate) fn noise(size: Size, seed: u32) -> Self {
        let levels = noise::levels((size.pixels() * 3) as usize, seed);
        Self { width: size.width.into(), height: size.height.into(), levels }
    }

    fn make(width: i64, height: i64, mut at: impl FnMut(i64, i64, usize) -> u8) -> Self {
        let mut levels = Vec::new();
        for y in 0..height {
            for x in 0..width {
                levels.extend((0..3).map(|c| at(x, y, c)));
            }
        }
        Self { width, height, levels }
    }

    fn at(&self, x: i64, y: i64, c: usize) -> u8 {
        self.levels[((y * self.width + x) * 3) as usize + c]
    }

    fn or(&self, x: i64, y: i64, c: usize, fill: u8) -> u8 {
        let inside = (0..self.width).contains(&x) && (0..self.height).contains(&y);
        if inside { self.at(x, y, c) } else { fill }
    }

    fn map(&self, change: impl Fn([f32; 3]) -> [f32; 3]) -> Self {
        let pixels = self.levels.chunks_exact(3).flat_map(|p| change([p[0], p[1], p[2]].map(f32::from)));
        Self { levels: pixels.map(|x| x.clamp(0.0, 255.0) as u8).collect(), ..*self }
    }

    fn crop(&self, left: i64, top: i64, width: i64, height: i64, fill: [u8; 3]) -> Self {
        Self::make(width, height, |x, y, c| self.or(x + left, y + top, c, fill[c]))
    }

    fn turned(&self) -> Self {
        Self::make(self.height, self.width, |x, y, c| self.at(y, x, c))
    }

    /// Along x alone; torchvision's whole-number tables, straight from their definition.
    fn resize_x(&self, width: i64, bicubic: bool) -> Self {
        if width == self.width {
            return self.clone();
        }
        let scale = self.width as f64 / width as f64;
        let radius = if bicubic { 2.0 } else { 1.0 } * scale.max(1.0);
        let rows: Vec<(i64, Vec<f64>)> = (0..width)
            .map(|i| {
                let centre = (i as f64 + 0.5) * scale;
                let low = (centre - radius + 0.5).max(0.0) as i64;
                let high = ((centre + radius + 0.5) as i64).min(self.width);
                let weight = |j: i64| kernel((j as f64 - centre + 0.5) / scale.max(1.0), bicubic);
                let total: f64 = (low..high).map(weight).sum();
                (low, (low..high).map(|j| weight(j) / total).collect())
            })
            .collect();
        let largest = rows.iter().flat_map(|row| &row.1).copied().fold(0.0, f64::max);
        let p = (0..22).find(|p| (0.5 + largest * 2f64.powi(p + 1)) as i64 >= 32768).unwrap_or(22);
        Self::make(width, self.height, |x, y, c| {
            let (low, weights) = &rows[x as usize];
            let whole = |w: f64| (w * 2f64.powi(p) + if w < 0.0 { -0.5 } else { 0.5 }) as i64;
            let taps =
                weights.iter().enumerate().map(|(k, &w)| whole(w) * i64::from(self.at(low + k as i64, y, c)));
            ((taps.sum::<i64>() + (1 << (p - 1))) >> p).clamp(0, 255) as u8
        })
    }

    fn resize(&self, width: i64, height: i64, interpolation: Interpolation) -> Self {
        if interpolation == Interpolation::Nearest {
            let near =
                |i: i64, from: i64, to: i64| ((i as f32 * (from as f32 / to as f32)) as i64).min(from - 1);
            return Self::make(width, height, |x, y, c| {
                self.at(near(x, self.width, width), near(y, self.height, height), c)
            });
        }
        let bicubic = interpolation == Interpolation::Bicubic;
        self.resize_x(width, bicubic).turned().resize_x(height, bicubic).turned()
    }

    fn mean_luma(&self) -> f32 {
        let sum: f64 =
            self.levels.chunks_exact(3).map(|p| f64::from(luma([p[0], p[1], p[2]].map(f32::from)))).sum();
        (sum / (self.width * self.height) as f64) as f32
    }

    /// Changes each channel by itself.
    fn by_channel(&self, change: fn(&[u8]) -> Vec<u8>) -> Self {
        let channels: Vec<Vec<u8>> = (0..3)
            .map(|c| change(&self.levels.iter().skip(c).step_by(3).copied().collect::<Vec<u8>>()))
            .collect();
        Self::make(self.width, self.height, |x, y, c| channels[c][(y * self.width + x) as usize])
    }

    fn sharpened(&self, x: i64, y: i64, c: usize, factor: f64) -> u8 {
        let own = f32::from(self.at(x, y, c));
        if x == 0 || y == 0 || x + 1 == self.width || y + 1 == self.height {
            return own as u8;
        }
        let near = (-1..=1).flat_map(|dy| (-1..=1).map(move |dx| (dx, dy)));
        let sum: f64 = near.map(|(dx, dy)| f64::from(self.at(x + dx, y + dy, c))).sum();
        let mean = ((sum + 4.0 * f64::from(own)) / 13.0).round_ties_even() as f32;
        (mean - own).mul_add((1.0 - factor) as f32, own).clamp(0.0, 255.0) as u8
    }

    /// What `make` makes of the levels in a window round each one, row by row.
    fn by_window(
        &self,
        [columns, rows]: [u32; 2],
        beyond: fn(i64, i64) -> i64,
        make: impl Fn(&mut Vec<u8>) -> u8,
    ) -> Self {
        let (columns, rows) = (i64::from(columns), i64::from(rows));
        Self::make(self.width, self.height, |x, y, c| {
            let window = (0..rows).flat_map(|dy| (0..columns).map(move |dx| (dx, dy)));
            let tap = |(dx, dy): (i64, i64)| {
                self.at(beyond(x + dx - columns / 2, self.width), beyond(y + dy - rows / 2, self.height), c)
            };
            make(&mut window.map(tap).collect())
        })
    }

    /// Pillow's filters at a position whose whole numbers are the pixels' centres.
    fn between(&self, [x, y]: [f64; 2], c: usize, resample: Interpolation) -> u8 {
        let (left, top) = (x.floor(), y.floor());
        let tap = |dx: i64, dy: i64| {
            let (x, y) = (left as i64 + dx, top as i64 + dy);
            f64::from(self.at(x.clamp(0, self.width - 1), y.clamp(0, self.height - 1), c))
        };
        let line = |at: f64, tap: &dyn Fn(i64) -> f64| match resample {
            Interpolation::Bilinear => tap(0) + (tap(1) - tap(0)) * at,
            _ => {
                let [a, b, c, d] = [-1, 0, 1, 2].map(tap);
                b + at * (-a + c + at * (2.0 * (a - b) + c - d + at * (-a + b - c + d)))
            }
        };
        let level = line(y - top, &|dy| line(x - left, &|dx| tap(dx, dy)));
        level.clamp(0.0, 255.0) as u8
    }

    /// The sum of what chains make of the image, in f32 and cut off, or that laid over the image.
    fn summed(&self, chains: &[Chain], blend: Option<f32>) -> Self {
        let summed = chains.iter().fold(vec![0.0f32; self.levels.len()], |sums, chain| {
            let made = chain.ops.iter().fold(self.clone(), |picture, op| picture.apply(op));
            let weighed = made.levels.iter().map(|&level| chain.weight * f32::from(level));
            sums.iter().zip(weighed).map(|(sum, level)| sum + level).collect()
        });
        let levels = summed.iter().map(|sum| sum.clamp(0.0, 255.0) as u8).zip(&self.levels);
        let blended = levels.map(|(level, &own)| match blend {
            Some(weight) => (f32::from(own) + weight * (f32::from(level) - f32::from(own))) as u8,
            None => level,
        });
        Self { levels: blended.collect(), ..*self }
    }

    /// Does one op on the whole image.
    pub(crate) fn apply(&self, op: &Op) -> Self {
        match *op {
            Op::Crop { top, left, height, width } => {
                self.crop(left.into(), top.into(), width.into(), height.into(), [0; 3])
            }
            Op::ResizedCrop {
                top,
                left,
                height,
                width,
                size: Extent::Two([h, w]),
                interpolation,
                antialias: true,
            } => self.crop(left.into(), top.into(), width.into(), height.into(), [0; 3]).resize(
                w.into(),
                h.into(),
                interpolation,
            ),
            Op::Resize { size: Extent::Two([h, w]), interpolation, antialias: true, .. } => {
                self.resize(w.into(), h.into(), interpolation)
            }
            Op::Pad { padding, fill, padding_mode } => {
                let [l, t, r, b] = padding.sides().map(i64::from);
                let (width, height) = (self.width + l + r, self.height + t + b);
                if padding_mode == PaddingMode::Constant {
                    return self.crop(-l, -t, width, height, fill.rgb());
                }
                let at = |at, edge| beyond(at, edge, padding_mode);
                Self::make(width, height, |x, y, c| self.at(at(x - l, self.width), at(y - t, self.height), c))
            }
            Op::Hflip {} => Self::make(self.width, self.height, |x, y, c| self.at(self.width - 1 - x, y, c)),
            Op::Vflip {} => Self::make(self.width, self.height, |x, y, c| self.at(x, self.height - 1 - y, c)),
            Op::Transpose {} => self.turned(),
            Op::FillRectangles { ref rectangles, fill } => Self::make(self.width, self.height, |x, y, c| {
                let hides = |&[left, top, right, bottom]: &[u32; 4]| {
                    (left.into()..right.into()).contains(&x) && (top.into()..bottom.into()).contains(&y)
                };
                if rectangles.iter().any(hides) { fill.rgb()[c] } else { self.at(x, y, c) }
            }),
            Op::PillowAffine { data, resample, fillcolor } => {
                Self::make(self.width, self.height, |x, y, c| {
                    let [x, y] = [x, y].map(|at| at as f64 + 0.5);
                    let [a, b, tx, d, e, ty] = data;
                    let (u, v) = (a * x + b * y + tx, d * x + e * y + ty);
                    let inside = u >= 0.0 && u < self.width as f64 && v >= 0.0 && v < self.height as f64;
                    if inside { self.between([u - 0.5, v - 0.5], c, resample) } else { fillcolor.rgb()[c] }
                })
            }
            Op::SumChains { ref chains, blend } => self.summed(chains, blend),
            Op::BoxBlur { .. } | Op::MedianBlur { .. } | Op::Convolve { .. } | Op::Sharpness { .. } => {
                self.filtered(op)
            }
            Op::GridDistortion { ref steps_x, ref steps_y, interpolation, fill } => {
                let [xs, ys] =
                    [(steps_x, self.width), (steps_y, self.height)].map(|(steps, edge)| cells(steps, edge));
                self.looked_up(|x, y| [xs[x as usize], ys[y as usize]], interpolation, fill.rgb())
            }
            Op::OpticalDistortion { k, mode, interpolation, fill } => {
                self.looked_up(|x, y| self.through_lens(k, mode, [x, y]), interpolation, fill.rgb())
            }
            _ => self.recoloured(op),
        }
    }

    fn through_lens(&self, k: f64, mode: LensModel, [x, y]: [i64; 2]) -> [f32; 2] {
        let [mx, my] = [self.width, self.height].map(|edge| edge as f64 / 2.0);
        let (dx, dy) = (x as f64 - mx, y as f64 - my);
        let factor = match mode {
            LensModel::Camera => {
                let r = (dx / (2.0 * mx)).powi(2) + (dy / (2.0 * my)).powi(2);
                1.0 + k * r + k * r * r
            }
            LensModel::Fisheye => 1.0 + k * (dx * dx + dy * dy) / (mx * mx + my * my),
        };
        [mx + factor * dx, my + factor * dy].map(|at| at as f32)
    }

    /// Each pixel from where `place` says, in 32nds of a pixel.
    fn looked_up(
        &self,
        place: impl Fn(i64, i64) -> [f32; 2],
        interpolation: Interpolation,
        fill: [u8; 3],
    ) -> Self {
        Self::make(self.width, self.height, |x, y, c| {
            let level = |x: i64, y: i64| f64::from(self.or(x, y, c, fill[c]));
            if interpolation == Interpolation::Nearest {
                let [x, y] = place(x, y).map(|at| at.round_ties_even() as i64);
                return level(x, y) as u8;
            }
            let [x, y] = place(x, y).map(|at| f64::from(at * 32.0).round_ties_even() / 32.0);
            let ([left, top], [right, below]) = ([x, y].map(f64::floor), [x - x.floor(), y - y.floor()]);
            let (left, top) = (left as i64, top as i64);
            let upper = level(left, top) * (1.0 - right) + level(left + 1, top) * right;
            let lower = level(left, top + 1) * (1.0 - right) + level(left + 1, top + 1) * right;
            (upper * (1.0 - below) + lower * below + 0.5).floor() as u8
        })
    }

    fn recoloured(&self, op: &Op) -> Self {
        match *op {
            Op::Gamma { gamma } => {
                self.map(|p| p.map(|x| ((f64::from(x) * (1.0 / 255.0)).powf(gamma) * 255.0) as u8 as f32))
            }
            Op::BrightnessContrast { alpha, beta } => self.map(|p| p.map(|x| x * alpha as f32 + beta as f32)),
            Op::ShiftRgb { shift } => self.map(|p| std::array::from_fn(|c| p[c] + shift[c] as i32 as f32)),
            Op::ShiftHsv { hue, saturation, value } => {
                let level = |x: i64, shift: f64| (x + shift as i64).clamp(0, 255);
                self.map(|p| {
                    changed_hsv(p, |[h, s, v]| {
                        let s = if s == 0 { 0 } else { level(s, saturation) };
                        [(h as f64 + hue).rem_euclid(180.0) as i64 % 180, s, level(v, value)]
                    })
                })
            }
            Op::ToGray {} => self.map(|[r, g, b]| {
                let grey = 9798 * r as u32 + 19_235 * g as u32 + 3735 * b as u32;
                [((grey + 16_384) >> 15) as f32; 3]
            }),
            Op::Brightness { factor } => self.map(|p| p.map(|x| factor as f32 * x)),
            Op::Contrast { factor } => {
                let mean = self.mean_luma();
                self.map(|p| p.map(|x| mean.mul_add((1.0 - factor) as f32, factor as f32 * x)))
            }
            Op::Saturation { factor } => {
                self.map(|p| p.map(|x| luma(p).mul_add((1.0 - factor) as f32, factor as f32 * x)))
            }
            Op::Hue { factor } => self.map(|p| hue(p, factor as f32)),
            Op::Hsv { hue, saturation, value } => self.map(|p| hsv(p, hue, saturation, value)),
            Op::Grayscale { .. } => self.map(|p| [luma(p); 3]),
            Op::Solarize { threshold } => {
                self.map(|p| p.map(|x| if x >= threshold as f32 { 255.0 - x } else { x }))
            }
            Op::Posterize { bits } => {
                let mask = !(0xFF_u32 >> bits) & 0xFF;
                self.map(|p| p.map(|x| (x as u32 & mask) as f32))
            }
            Op::SolarizeAdd { addition, threshold } => {
                let [addition, threshold] = [addition, threshold].map(f32::from);
                self.map(|p| p.map(|x| if x < threshold { x + addition } else { x }))
            }
            Op::Invert {} => self.map(|p| p.map(|x| 255.0 - x)),
            Op::PermuteChannels { permutation } => self.map(|p| permutation.map(|c| p[c as usize])),
            Op::Autocontrast {} => self.by_channel(autocontrast),
            Op::Equalize {} => self.by_channel(equalize),
            _ => panic!("the oracle does not know {op:?}"),
        }
    }

    fn filtered(&self, op: &Op) -> Self {
        match *op {
            Op::Sharpness { factor } => {
                Self::make(self.width, self.height, |x, y, c| self.sharpened(x, y, c, factor))
            }
            Op::BoxBlur { kernel_size: [columns, rows] } => {
                let mean = |levels: &mut Vec<u8>| {
                    let sum: u32 = levels.iter().map(|&level| u32::from(level)).sum();
                    (f64::from(sum) / levels.len() as f64).round() as u8
                };
                self.by_window([columns, rows], reflected, mean)
            }
            Op::MedianBlur { kernel_size } => {
                let nearest = |at: i64, length: i64| at.clamp(0, length - 1);
                let median = |levels: &mut Vec<u8>| {
                    levels.sort_unstable();
                    levels[levels.len() / 2]
                };
                self.by_window([kernel_size; 2], nearest, median)
            }
            Op::Convolve { ref kernel } => {
                let sum = |levels: &mut Vec<u8>| {
                    let taps = levels.iter().zip(kernel.iter().flatten());
                    let sum = taps.fold(0f32, |sum, (&level, &w)| f32::from(level).mul_add(w as f32, sum));
                    sum.round_ties_even().clamp(0.0, 255.0) as u8
                };
                self.by_window([kernel[0].len() as u32, kernel.len() as u32], reflected, sum)
            }
            _ => panic!("the oracle does not filter by {op:?}"),
        }
    }
}

/// Where the pixels of an axis are looked up: each cell from its first edge to its last.
fn cells(steps: &[f64], edge: i64) -> Vec<f32> {
    let cell = edge / (steps.len() as i64 - 1);
    let (mut places, mut from) = (vec![f32::NAN; edge as usize], 0.0);
    for (at, step) in steps.iter().enumerate() {
        let (first, to) = (at as i64 * cell, from + cell as f64 * step);
        let last = (first + cell).min(edge) - 1;
        for pixel in first..=last {
            let part = if last > first { (pixel - first) as f64 / (last - first) as f64 } else { 0.0 };
            places[pixel as usize] = (from + part * (to - from)) as f32;
        }
        from = to;
    }
    places.iter().map(|place| if place.is_nan() { from as f32 } else { *place }).collect()
}

/// A position beyond an edge, mirrored at the outermost pixels until it is inside.
fn reflected(mut at: i64, length: i64) -> i64 {
    while length > 1 && !(0..length).contains(&at) {
        at = if at < 0 { -at } else { 2 * (length - 1) - at };
    }
    if length == 1 { 0 } else { at }
}

/// Which pixel of an axis is seen at `at`, which may lie before the first or after the last.
fn beyond(at: i64, edge: i64, mode: PaddingMode) -> i64 {
    match mode {
        PaddingMode::Reflect => at.abs().min(2 * (edge - 1) - at.abs()),
        PaddingMode::Symmetric if at < 0 => -1 - at,
        PaddingMode::Symmetric if at >= edge => 2 * edge - 1 - at,
        _ => at.clamp(0, edge - 1),
    }
}

fn autocontrast(levels: &[u8]) -> Vec<u8> {
    let (min, max) = (levels.iter().min().copied().unwrap_or(0), levels.iter().max().copied().unwrap_or(0));
    let scale = f32::from(max - min) * (1.0 / 255.0);
    let stretched = |x: u8| (f32::from(x - min) / scale).clamp(0.0, 255.0) as u8;
    levels.iter().map(|&x| if min == max { x } else { stretched(x) }).collect()
}

fn equalize(levels: &[u8]) -> Vec<u8> {
    let pixels_below = |x: u8| levels.iter().filter(|&&other| other < x).count();
    let step = pixels_below(levels.iter().max().copied().unwrap_or(0)) / 255;
    let table: Vec<u8> = (0..=255)
        .map(|x| (pixels_below(x) + step / 2).checked_div(step).map_or(x, |level| level.min(255) as u8))
        .collect();
    levels.iter().map(|&x| table[usize::from(x)]).collect()
}

fn kernel(x: f64, bicubic: bool) -> f64 {
    let x = x.abs();
    match (bicubic, x) {
        (false, _) => (1.0 - x).max(0.0),
        (true, ..1.0) => (1.5 * x - 2.5) * x * x + 1.0,
        (true, ..2.0) => (((x - 5.0) * x + 8.0) * x - 4.0) * -0.5,
        _ => 0.0,
    }
}

fn luma([r, g, b]: [f32; 3]) -> f32 {
    b.mul_add(0.114, g.mul_add(0.587, r * 0.2989)).floor()
}

/// Hue, saturation and value through Ultralytics' tables.
fn hsv(pixel: [f32; 3], hue: f64, saturation: f64, value: f64) -> [f32; 3] {
    changed_hsv(pixel, |[h, s, v]| {
        let [s, v] = [(s, saturation), (v, value)].map(|(x, factor)| (x as f64 * factor).min(255.0) as i64);
        [(h as f64 + 180.0 * hue).rem_euclid(180.0) as i64 % 180, s, v]
    })
}

/// OpenCV's integers to hue, saturation and value, a change, and the exact quotient back.
fn changed_hsv(pixel: [f32; 3], change: impl Fn([i64; 3]) -> [i64; 3]) -> [f32; 3] {
    let [r, g, b] = pixel.map(|x| x as i64);
    let (v, d) = (r.max(g).max(b), r.max(g).max(b) - r.min(g).min(b));
    let part =
        |whole: f64, of: i64| if of == 0 { 0 } else { (whole * 4096.0 / of as f64).round_ties_even() as i64 };
    let s = (d * part(255.0, v) + 2048) >> 12;
    let x = match () {
        () if v == r => g - b,
        () if v == g => b - r + 2 * d,
        () => r - g + 4 * d,
    };
    let h = ((x * part(30.0, d) + 2048) >> 12).rem_euclid(180);
    let [h, s, v] = change([h, s, v]);
    let [p, q, t] = [30, h % 30, 30 - h % 30].map(|w| v * (7650 - s * w) / 7650);
    let rgb = [[v, t, p], [q, v, p], [p, v, t], [p, q, v], [t, p, v], [v, p, q]];
    rgb[h as usize / 30].map(|x| x as f32)
}

fn hue(pixel: [f32; 3], turn: f32) -> [f32; 3] {
    let [r, g, b] = pixel.map(|x| x * (1.0 / 255.0));
    let (max, min) = (r.max(g).max(b), r.min(g).min(b));
    let (s, d) = if max == min { (0.0, 1.0) } else { ((max - min) / max, max - min) };
    let (rc, gc, bc) = ((max - r) / d, (max - g) / d, (max - b) / d);
    let h = match () {
        () if max == r => bc - gc,
        () if max == g => 2.0 + rc - bc,
        () => 4.0 + gc - rc,
    };
    let h = ((h * (1.0 / 6.0) + 1.0) % 1.0 + turn).rem_euclid(1.0);
    let i = (h * 6.0).floor();
    let f = h * 6.0 - i;
    let unit = |x: f32| x.clamp(0.0, 1.0);
    let (p, q, t) = (unit((1.0 - s) * max), unit((1.0 - s * f) * max), unit((s * f + (1.0 - s)) * max));
    let rgb = [[max, t, p], [q, max, p], [p, max, t], [p, q, max], [t, p, max], [max, p, q]][i as usize % 6];
    rgb.map(|x| 255.999 * x)
}
