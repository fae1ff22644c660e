//! Which source pixels make an output pixel, and with what whole-number weights: torchvision's uint8 tables.

use super::interleave::with_level;
use crate::device::roi::scale::Scale;
use crate::plan::Filter;
use crate::simd::Level;

/// The taps of all outputs of one axis, in the order in which outputs are written.
#[derive(Debug, Default)]
pub(crate) struct Axis {
    /// First tap of each output, counted from [`Axis::first`]; padded to a multiple of [`Axis::GROUP`] outputs.
    pub(crate) starts: Vec<u32>,
    /// `stride` weights for each output: zeros after the real ones, and near the end of the axis before them.
    pub(crate) weights: Vec<i16>,
    /// Weights an output, an even number.
    pub(crate) stride: usize,
    /// Weights are whole numbers of 2^-precision.
    pub(crate) precision: u32,
    /// Outputs that are wanted.
    pub(crate) outputs: usize,
    /// Source positions read: `first..last`.
    pub(crate) first: u32,
    /// One past the last source position read.
    pub(crate) last: u32,
    groups: Vec<Group>,
    exact: Vec<[f64; LANES]>,
}

/// Outputs whose weights are worked out at once.
const LANES: usize = 8;

/// Outputs that are neighbours, with their first taps and one past their last. The last output of an axis is repeated
/// until its group is full.
#[derive(Clone, Copy, Debug, Default)]
struct Group {
    output: [u32; LANES],
    low: [i32; LANES],
    high: [i32; LANES],
}

impl Axis {
    /// Outputs are padded to a multiple of it.
    pub(crate) const GROUP: usize = 4;

    /// Fills the tables, reusing their memory.
    pub(crate) fn build(&mut self, scale: &Scale, level: Level) {
        with_level!(level, self.fill(scale));
    }

    #[inline(always)]
    fn fill(&mut self, scale: &Scale) {
        self.outputs = scale.visible.count as usize;
        (self.first, self.last) = scale.span();
        let mut largest = 0.0;
        if scale.visible.offset != 0 || scale.visible.count != scale.output {
            // The largest weight of the whole axis, shown or not, fixes the precision.
            self.weigh(scale, scale.output as usize, |output| output as u32);
            largest = self.largest(largest);
        }
        let widest = self.weigh(scale, self.outputs, |position| scale.visible.shown(position));
        self.precision = precision(self.largest(largest));
        self.stride = widest.next_multiple_of(2);
        self.round(widest);
    }

    /// Works out the exact weights of `count` outputs, a group after the other. Returns the most taps that one has, which
    /// is how many each has then.
    #[inline(always)]
    fn weigh(&mut self, scale: &Scale, count: usize, shown: impl Fn(usize) -> u32) -> usize {
        self.groups.clear();
        self.groups.extend((0..count).step_by(LANES).map(|start| {
            let mut group = Group::default();
            for lane in 0..LANES {
                let output = shown((start + lane).min(count - 1));
                let (low, high) = scale.bounds(output);
                (group.output[lane], group.low[lane], group.high[lane]) = (output, low as i32, high as i32);
            }
            group
        }));
        let taps = self.groups.iter().map(Group::widest).max().unwrap_or(1).max(1) as usize;
        // What is there already is overwritten.
        self.exact.resize(self.groups.len() * taps, [0.0; LANES]);
        let filter = Taps::new(scale);
        for (group, weights) in self.groups.iter().zip(self.exact.chunks_exact_mut(taps)) {
            filter.weigh(group, weights);
        }
        taps
    }

    /// The largest of the exact weights, and of what was the largest so far.
    #[inline(always)]
    fn largest(&self, so_far: f64) -> f64 {
        let mut largest = [so_far; LANES];
        for weights in &self.exact {
            for (largest, weight) in largest.iter_mut().zip(weights) {
                *largest = if *weight > *largest { *weight } else { *largest };
            }
        }
        largest.into_iter().fold(so_far, f64::max)
    }

    /// Makes whole numbers of the exact weights, of which there are `taps` for each output.
    #[inline(always)]
    fn round(&mut self, taps: usize) {
        let padded = self.outputs.next_multiple_of(Self::GROUP);
        self.starts.clear();
        self.starts.resize(padded, 0);
        self.weights.clear();
        self.weights.resize(padded * self.stride, 0);
        // Near the end a start moves left, zeros ahead of its weights, so that a full row of taps stays inside.
        let latest = (self.last - self.first).saturating_sub(self.stride as u32);
        let unit = f64::from(1u32 << self.precision);
        let outputs = self.starts[..self.outputs].iter_mut().zip(self.weights.chunks_exact_mut(self.stride));
        for (position, (moved, row)) in outputs.enumerate() {
            let (number, lane) = (position / LANES, position % LANES);
            let group = &self.groups[number];
            let start = group.low[lane] as u32 - self.first;
            *moved = start.min(latest);
            let row = &mut row[(start - *moved) as usize..];
            let used = (group.high[lane] - group.low[lane]) as usize;
            for (whole, exact) in row.iter_mut().zip(&self.exact[number * taps..][..used]) {
                let exact = exact[lane];
                *whole = (exact * unit + if exact < 0.0 { -0.5 } else { 0.5 }) as i16;
            }
        }
    }
}

impl Group {
    /// Maximum number of taps of one output.
    #[inline(always)]
    fn widest(&self) -> i32 {
        self.high.iter().zip(&self.low).map(|(high, low)| high - low).max().unwrap_or(1)
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
    invert: f64,
}

impl<'a> Taps<'a> {
    #[inline(always)]
    fn new(scale: &'a Scale) -> Self {
        let ratio = scale.ratio();
        Self { scale, ratio, invert: 1.0 / ratio.max(1.0) }
    }

    /// The weights of some outputs, tap by tap; zeros after the last.
    #[inline(always)]
    fn weigh(&self, group: &Group, weights: &mut [[f64; LANES]]) {
        match self.scale.filter {
            Filter::Nearest => weights.fill([1.0; LANES]),
            Filter::BilinearPlain => self.plain(group, weights),
            Filter::Bicubic => self.widened(group, weights, cubic),
            Filter::Bilinear => self.widened(group, weights, triangle),
        }
    }

    /// A tap, or two that share by distance.
    #[inline(always)]
    fn plain(&self, group: &Group, weights: &mut [[f64; LANES]]) {
        for lane in 0..LANES {
            let low = f64::from(group.low[lane]);
            let share = match group.high[lane] - group.low[lane] {
                1 => 0.0,
                _ => (self.scale.plain_position(group.output[lane]) - low).clamp(0.0, 1.0),
            };
            for (weights, weight) in weights.iter_mut().zip([1.0 - share, share]) {
                weights[lane] = weight;
            }
        }
    }

    /// Values of a filter as wide as the ratio, divided by their sum.
    #[inline(always)]
    fn widened(&self, group: &Group, weights: &mut [[f64; LANES]], value: impl Fn(f64) -> f64) {
        let centre = group.output.map(|output| (f64::from(output) + 0.5) * self.ratio);
        let mut total = [0.0; LANES];
        for (tap, weights) in (0..).zip(weights.iter_mut()) {
            for lane in 0..LANES {
                let at = group.low[lane] + tap;
                let value = value((f64::from(at) - centre[lane] + 0.5) * self.invert);
                weights[lane] = if at < group.high[lane] { value } else { 0.0 };
                total[lane] += weights[lane];
            }
        }
        for weights in weights {
            for lane in 0..LANES {
                weights[lane] /= total[lane];
            }
        }
    }
}

#[inline(always)]
fn triangle(x: f64) -> f64 {
    (1.0 - x.abs()).max(0.0)
}

/// Keys' cubic convolution with a = -0.5.
#[inline(always)]
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
    use crate::device::roi::scale::Visible;
    use crate::simd;

    fn axis(input: u32, output: u32, filter: Filter) -> Axis {
        let mut axis = Axis::default();
        let scale =
            Scale { input, output, visible: Visible { offset: 0, count: output, reversed: false }, filter };
        axis.build(&scale, Level::Avx512);
        axis
    }

    #[test]
    fn equal_lengths_copy_each_pixel() {
        let same = axis(7, 7, Filter::Bilinear);
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
            for kind in [Filter::Bilinear, Filter::BilinearPlain, Filter::Bicubic, Filter::Nearest] {
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
        let whole = axis(341, 256, Filter::Bilinear);
        let mut part = Axis::default();
        let (offset, count, filter) = (16, 224, Filter::Bilinear);
        let scale =
            Scale { input: 341, output: 256, visible: Visible { offset, count, reversed: true }, filter };
        part.build(&scale, Level::Avx2);
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

    #[test]
    fn the_largest_weight_counts_where_it_is_not_shown_too() {
        // The weights in the middle alone would leave room for a bit more.
        let (offset, count, filter) = (1, 2, Filter::Bilinear);
        let mut middle = Axis::default();
        let scale =
            Scale { input: 3, output: 4, visible: Visible { offset, count, reversed: false }, filter };
        middle.build(&scale, Level::Avx512);
        let largest = middle.weights.iter().copied().max().unwrap_or(0);
        assert_eq!((middle.precision, axis(3, 4, filter).precision), (14, 14));
        assert!(largest < 1 << 14, "{largest}");
    }

    #[test]
    fn tables_depend_on_neither_the_level_nor_what_was_there_before() {
        let mut reused = Axis::default();
        for (input, output) in [(900, 333), (5, 3), (40, 22), (22, 40), (97, 31)] {
            for filter in [Filter::Bicubic, Filter::Bilinear, Filter::BilinearPlain, Filter::Nearest] {
                let scale = Scale {
                    input,
                    output,
                    visible: Visible { offset: 0, count: output, reversed: true },
                    filter,
                };
                let mut fresh = Axis::default();
                fresh.build(&scale, Level::Scalar);
                for level in simd::levels() {
                    reused.build(&scale, level);
                    assert_eq!(fresh.starts, reused.starts, "{scale:?} {level:?}");
                    assert_eq!(fresh.weights, reused.weights, "{scale:?} {level:?}");
                    assert_eq!((fresh.stride, fresh.precision), (reused.stride, reused.precision));
                }
            }
        }
    }
}
