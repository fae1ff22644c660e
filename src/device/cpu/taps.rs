//! Which source pixels make an output pixel, and with what whole-number weights: torchvision's uint8 tables.

use crate::device::reach::Scale;
use crate::plan::filter;

/// The taps of all outputs of one axis, in the order in which outputs are written.
#[derive(Debug, Default)]
pub(crate) struct Axis {
    /// First tap of each output, counted from [`Axis::first`]; padded to a multiple of [`Axis::GROUP`] outputs.
    pub(crate) starts: Vec<u32>,
    /// `stride` weights for each output, zeros behind the real ones.
    pub(crate) weights: Vec<i16>,
    /// Weights an output, a multiple of [`Axis::GROUP`].
    pub(crate) stride: usize,
    /// Weights are whole numbers of 2^-precision.
    pub(crate) precision: u32,
    /// Outputs that are wanted.
    pub(crate) outputs: usize,
    /// Source positions read: `first..last`.
    pub(crate) first: u32,
    /// One past the last source position read.
    pub(crate) last: u32,
    /// First tap of each output, and one past its last.
    bounds: Vec<(u32, u32)>,
    exact: Vec<f64>,
}

impl Axis {
    /// Weights are stored, and outputs padded, by so many.
    pub(crate) const GROUP: usize = 4;

    /// Fills the tables, reusing their memory.
    pub(crate) fn build(&mut self, scale: &Scale) {
        self.outputs = scale.count as usize;
        (self.first, self.last) = scale.span();
        let span = self.last - self.first;
        let taps = Taps::new(scale);
        self.bounds.clear();
        self.bounds.extend((0..self.outputs).map(|position| scale.bounds(scale.shown(position))));
        let widest = self.bounds.iter().map(|(low, high)| high - low).max().unwrap_or(1);
        self.stride = (widest as usize).next_multiple_of(Self::GROUP);
        let padded = self.outputs.next_multiple_of(Self::GROUP);
        self.starts.clear();
        self.starts.resize(padded, 0);
        self.weights.clear();
        self.weights.resize(padded * self.stride, 0);
        let whole = scale.offset == 0 && scale.count == scale.output;
        let mut largest = if whole { 0.0 } else { taps.largest(&mut self.exact) };
        self.exact.clear();
        for (position, bounds) in self.bounds.iter().enumerate() {
            taps.weigh(scale.shown(position), *bounds, &mut self.exact);
            let row = &self.exact[position * taps.stride..];
            largest = row.iter().copied().fold(largest, f64::max);
        }
        self.precision = precision(largest);
        // Near the end a start moves left, zeros ahead of its weights, so that a full row of taps stays inside.
        let latest = span.saturating_sub(self.stride as u32);
        let unit = f64::from(1u32 << self.precision);
        for (position, (low, high)) in self.bounds.iter().enumerate() {
            let start = low - self.first;
            self.starts[position] = start.min(latest);
            let ahead = (start - self.starts[position]) as usize;
            let row = &mut self.weights[position * self.stride + ahead..][..(high - low) as usize];
            for (whole, exact) in row.iter_mut().zip(&self.exact[position * taps.stride..]) {
                *whole = (exact * unit + if *exact < 0.0 { -0.5 } else { 0.5 }) as i16;
            }
        }
    }
}

/// The smallest p in 0..=22 whose successor would make the largest weight overflow int16.
fn precision(largest: f64) -> u32 {
    (0..22).find(|p| (0.5 + largest * f64::from(1u32 << (p + 1))) as i64 >= 1 << 15).unwrap_or(22)
}

/// The real weights of an axis.
struct Taps<'a> {
    scale: &'a Scale,
    ratio: f64,
    /// Weights are stored by so many, zeros behind the real ones.
    stride: usize,
}

impl<'a> Taps<'a> {
    fn new(scale: &'a Scale) -> Self {
        Self { scale, ratio: scale.ratio(), stride: scale.widest() as usize }
    }

    /// The largest weight of the whole axis, shown or not: it fixes the precision.
    fn largest(&self, exact: &mut Vec<f64>) -> f64 {
        let mut largest = 0.0f64;
        for output in 0..self.scale.output {
            exact.clear();
            self.weigh(output, self.scale.bounds(output), exact);
            largest = exact.iter().copied().fold(largest, f64::max);
        }
        largest
    }

    /// Appends the weights of one output, whose taps are `low..high`.
    fn weigh(&self, output: u32, (low, high): (u32, u32), exact: &mut Vec<f64>) {
        let start = exact.len();
        match self.scale.filter {
            filter::NEAREST => exact.push(1.0),
            filter::BILINEAR_PLAIN if high - low == 1 => exact.push(1.0),
            filter::BILINEAR_PLAIN => {
                let share = (self.scale.plain_position(output) - f64::from(low)).clamp(0.0, 1.0);
                exact.extend([1.0 - share, share]);
            }
            filter::BICUBIC => self.widened(output, low..high, exact, cubic),
            _ => self.widened(output, low..high, exact, triangle),
        }
        exact.resize(start + self.stride, 0.0);
    }

    #[inline(always)]
    fn widened(
        &self,
        output: u32,
        taps: std::ops::Range<u32>,
        exact: &mut Vec<f64>,
        weigh: impl Fn(f64) -> f64,
    ) {
        let start = exact.len();
        let centre = (f64::from(output) + 0.5) * self.ratio;
        let invert = 1.0 / self.ratio.max(1.0);
        exact.extend(taps.map(|j| weigh((f64::from(j) - centre + 0.5) * invert)));
        let total: f64 = exact[start..].iter().sum();
        exact[start..].iter_mut().for_each(|weight| *weight /= total);
    }
}

fn triangle(x: f64) -> f64 {
    (1.0 - x.abs()).max(0.0)
}

/// Keys' cubic convolution with a = -0.5.
fn cubic(x: f64) -> f64 {
    const A: f64 = -0.5;
    let x = x.abs();
    if x < 1.0 {
        ((A + 2.0) * x - (A + 3.0)) * x * x + 1.0
    } else if x < 2.0 {
        (((x - 5.0) * x + 8.0) * x - 4.0) * A
    } else {
        0.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn axis(input: u32, output: u32, filter: u32) -> Axis {
        let mut axis = Axis::default();
        axis.build(&Scale { input, output, offset: 0, count: output, reversed: false, filter });
        axis
    }

    #[test]
    fn equal_lengths_copy_each_pixel() {
        let same = axis(7, 7, filter::BILINEAR);
        assert_eq!(same.precision, 14);
        for i in 0..7 {
            let row = &same.weights[i * same.stride..][..same.stride];
            let used: Vec<usize> = (0..same.stride).filter(|&tap| row[tap] != 0).collect();
            assert_eq!(used.len(), 1);
            assert_eq!((row[used[0]], (same.first + same.starts[i]) as usize + used[0]), (1 << 14, i));
        }
    }

    #[test]
    fn weights_of_each_output_sum_to_about_one_and_stay_inside() {
        for (input, output) in [(500, 224), (10, 224), (3, 2), (1, 5), (4000, 224), (225, 224)] {
            for kind in [filter::BILINEAR, filter::BILINEAR_PLAIN, filter::BICUBIC, filter::NEAREST] {
                let axis = axis(input, output, kind);
                for i in 0..output as usize {
                    let row = &axis.weights[i * axis.stride..][..axis.stride];
                    let sum: i32 = row.iter().map(|&w| i32::from(w)).sum();
                    let off = (sum - (1 << axis.precision)).unsigned_abs() as usize;
                    assert!(off <= axis.stride, "{input} to {output}: {sum}");
                    let used = row.iter().rposition(|&w| w != 0).unwrap_or(0) as u32;
                    assert!(axis.first + axis.starts[i] + used < input);
                }
            }
        }
    }

    #[test]
    fn a_window_of_an_axis_has_the_taps_of_the_whole_axis() {
        let whole = axis(341, 256, filter::BILINEAR);
        let mut part = Axis::default();
        part.build(&Scale {
            input: 341,
            output: 256,
            offset: 16,
            count: 224,
            reversed: true,
            filter: filter::BILINEAR,
        });
        for i in 0..224 {
            let taps = |axis: &Axis, output: usize| -> Vec<(u32, i16)> {
                let row = axis.weights[output * axis.stride..][..axis.stride].iter();
                let placed =
                    row.enumerate().map(|(tap, &w)| (axis.first + axis.starts[output] + tap as u32, w));
                placed.filter(|&(_, w)| w != 0).collect()
            };
            assert_eq!(taps(&part, i), taps(&whole, 16 + 223 - i));
        }
        assert_eq!((part.precision, part.first), (whole.precision, 21));
    }
}
