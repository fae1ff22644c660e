//! Upright resampling of packed RGB: across first, along the rows, then down, along the columns; u8 between the two.
//!
//! The source rows that any wanted output reads are resampled across once, all of them or some at a time as they are
//! decoded; resampling down then makes one output row at a time, so that what follows finds it in L1.

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
#[cfg(target_arch = "aarch64")]
mod neon;
mod scalar;
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
mod vector;

use super::image_view::ImageView;
use super::taps::Axis;
use crate::decode_memory::{give_back, grow};
use crate::device::roi::scale::Scale;
use crate::geometry::Size;
use crate::simd::{self, Level};

/// Bytes after each horizontally resampled row that a vector store may overwrite.
const SLACK: usize = 64;

/// Tables, and the rows that were resampled across; reused from sample to sample.
#[derive(Debug)]
pub(crate) struct Resampler {
    /// What the tables are for.
    scales: Option<(Scale, Scale)>,
    columns: Axis,
    rows: Axis,
    middle: Vec<u8>,
    middle_stride: usize,
    level: Level,
}

impl Default for Resampler {
    fn default() -> Self {
        Self::with_level(simd::level())
    }
}

impl Resampler {
    /// Uses `level`, or what the machine has if that is less: the vector versions rely on it.
    pub(crate) fn with_level(level: Level) -> Self {
        let level = level.min(simd::level());
        let (columns, rows, middle) = (Axis::default(), Axis::default(), Vec::new());
        Self { scales: None, columns, rows, middle, middle_stride: 0, level }
    }

    /// Resamples rows across; [`Resampler::row`] then gives the output rows.
    ///
    /// `view` holds just what the taps read: the spans of the two scales.
    pub(crate) fn prepare(&mut self, view: ImageView<'_>, columns: &Scale, rows: &Scale) {
        self.begin(columns, rows, drop);
        let (first, end) = rows.span();
        self.feed(ImageView { size: Size::new(view.size.width, end - first), ..view }, 0);
    }

    /// Makes the tables, and room for the rows that [`Resampler::feed`] is then given; `take` is told ahead how many bytes.
    pub(crate) fn begin(&mut self, columns: &Scale, rows: &Scale, take: impl FnOnce(usize)) {
        self.scales = Some((*columns, *rows));
        self.columns.build(columns, self.level);
        self.rows.build(rows, self.level);
        let padded = self.columns.outputs.next_multiple_of(Axis::GROUP) * 3;
        self.middle_stride = (padded + SLACK).next_multiple_of(64);
        let height = (self.rows.last - self.rows.first) as usize;
        let bytes = self.middle_stride * height + SLACK;
        take(bytes);
        grow(&mut self.middle, bytes);
    }

    /// Frees rows that are too many to be kept for the next sample.
    pub(crate) fn give_back(&mut self) {
        give_back(&mut self.middle);
    }

    /// Whether it was begun for these scales.
    pub(crate) fn is_for(&self, columns: &Scale, rows: &Scale) -> bool {
        self.scales == Some((*columns, *rows))
    }

    /// Resamples some rows across, of which the first is row `first` of those that the taps read.
    ///
    /// Each of them must come before [`Resampler::row`] is asked for what reads it; one that comes twice replaces
    /// itself.
    pub(crate) fn feed(&mut self, view: ImageView<'_>, first: usize) {
        let middle = &mut self.middle[first * self.middle_stride..];
        match self.level {
            #[cfg(target_arch = "x86_64")]
            Level::Avx512 => {
                vector::horizontal(avx512::HORIZONTAL, view, &self.columns, middle, self.middle_stride);
            }
            #[cfg(target_arch = "x86_64")]
            Level::Avx2 => {
                vector::horizontal(avx2::HORIZONTAL, view, &self.columns, middle, self.middle_stride);
            }
            #[cfg(target_arch = "aarch64")]
            Level::Neon => {
                vector::horizontal(neon::HORIZONTAL, view, &self.columns, middle, self.middle_stride);
            }
            _ => scalar::horizontal(view, &self.columns, middle, self.middle_stride),
        }
    }

    /// Writes output row `y` (in writing order) to `row`, packed RGB.
    pub(crate) fn row(&self, y: usize, row: &mut [u8]) {
        let weights = &self.rows.weights[y * self.rows.stride..][..self.rows.stride];
        let ahead = weights.iter().position(|&w| w != 0).unwrap_or(0);
        let used = weights.iter().rposition(|&w| w != 0).map_or(ahead + 1, |last| last + 1);
        let start = self.rows.starts[y] as usize + ahead;
        let lines = Lines { data: &self.middle[start * self.middle_stride..], stride: self.middle_stride };
        let (weights, precision) = (&weights[ahead..used], self.rows.precision);
        match self.level {
            #[cfg(target_arch = "x86_64")]
            Level::Avx512 if row.len() >= avx512::BYTES => {
                vector::vertical(avx512::VERTICAL, lines, weights, precision, row);
            }
            #[cfg(target_arch = "x86_64")]
            Level::Avx2 | Level::Avx512 if row.len() >= avx2::BYTES => {
                vector::vertical(avx2::VERTICAL, lines, weights, precision, row);
            }
            #[cfg(target_arch = "aarch64")]
            Level::Neon if row.len() >= neon::BYTES => {
                vector::vertical(neon::VERTICAL, lines, weights, precision, row);
            }
            _ => scalar::vertical(lines, weights, precision, row),
        }
    }
}

/// Rows that were resampled across, from the first tap on.
#[derive(Clone, Copy)]
struct Lines<'a> {
    data: &'a [u8],
    stride: usize,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::roi::scale::Visible;
    use crate::image::Image;
    use crate::plan::Filter;

    fn noise(size: Size) -> Vec<u8> {
        let mut state = 1u32;
        let next = |_| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            // Extremes are common, so that sums reach both clamps.
            [0, 255, (state >> 24) as u8, (state >> 16) as u8][(state >> 8) as usize % 4]
        };
        (0..size.pixels() as usize * 3 + Image::TAIL).map(next).collect()
    }

    fn resample(level: Level, size: Size, columns: &Scale, rows: &Scale) -> Vec<u8> {
        let data = noise(size);
        let (left, top) = (columns.span().0 as usize, rows.span().0 as usize);
        let stride = size.width as usize * 3;
        let view = ImageView { data: &data[top * stride + left * 3..], stride, size };
        let mut resampler = Resampler::with_level(level);
        resampler.prepare(view, columns, rows);
        let width = columns.visible.count as usize * 3;
        let mut out = vec![0; width * rows.visible.count as usize];
        out.chunks_exact_mut(width).enumerate().for_each(|(y, row)| resampler.row(y, row));
        out
    }

    /// A resampler that was begun for 300 by `height` pixels at their size, of which each is made of two.
    fn begun(height: u32) -> Resampler {
        let axis = |edge| Scale {
            input: edge,
            output: edge,
            visible: Visible { offset: 0, count: edge, reversed: false },
            filter: Filter::BilinearPlain,
        };
        let mut resampler = Resampler::default();
        resampler.begin(&axis(300), &axis(height), drop);
        resampler
    }

    #[test]
    fn rows_that_are_not_there_are_not_written() {
        for height in 1..=5 {
            let mut resampler = begun(height);
            let ours = resampler.middle_stride * height as usize;
            resampler.middle.resize(ours + 8 * resampler.middle_stride, 0);
            resampler.middle[ours..].fill(77);
            let size = Size::new(300, height);
            let data = noise(size);
            resampler.feed(ImageView { data: &data, stride: 900, size }, 0);
            assert!(resampler.middle[ours..].iter().all(|&byte| byte == 77), "{height} rows");
        }
    }

    /// Feeds two rows of 300 pixels whose data end `missing` bytes short of what the vector versions read.
    fn feed_without(missing: usize) {
        let mut resampler = begun(2);
        assert!(resampler.level > Level::Scalar, "NOT RUN: this machine has no vector instructions");
        let last = *resampler.columns.starts.iter().max().unwrap_or(&0) as usize * 3;
        let data = vec![0; 900 + last + 16 - missing];
        resampler.feed(ImageView { data: &data, stride: 900, size: Size::new(300, 2) }, 0);
    }

    #[test]
    fn rows_may_be_read_to_the_end_of_the_data() {
        if simd::level() > Level::Scalar {
            feed_without(0);
        }
    }

    #[test]
    #[should_panic]
    fn rows_are_not_read_one_byte_beyond_the_data() {
        feed_without(1);
    }

    #[test]
    #[should_panic(expected = "taps leave the rows")]
    fn lines_are_not_read_beyond_the_rows_between_the_passes() {
        let mut resampler = begun(2);
        assert!(
            resampler.level > Level::Scalar,
            "taps leave the rows: where there are no vector instructions, another panic"
        );
        resampler.middle.truncate(resampler.middle_stride + 899);
        resampler.row(1, &mut [0; 900]);
    }

    #[test]
    fn every_instruction_set_gives_the_scalar_pixels() {
        let shapes = [
            (31, 17, 64, 5),
            (1, 1, 3, 2),
            (300, 2, 7, 9),
            (500, 375, 224, 224),
            (1000, 900, 32, 33),
            // Seven and eight taps, and rows of which a vector holds just all.
            (97, 97, 40, 31),
            (40, 20, 80, 11),
            (9, 9, 20, 20),
        ];
        let shapes = if cfg!(miri) { &shapes[..2] } else { &shapes[..] };
        let kinds = [Filter::Bilinear, Filter::Bicubic, Filter::BilinearPlain, Filter::Nearest];
        for &(width, height, out_width, out_height) in shapes {
            for (filter, reversed) in kinds.into_iter().flat_map(|k| [(k, false), (k, true)]) {
                let axis = |input, output: u32| {
                    let skipped = output / 5;
                    let visible = Visible { offset: skipped as i32, count: output - skipped, reversed };
                    Scale { input, output, visible, filter }
                };
                let (columns, rows) = (axis(width, out_width), axis(height, out_height));
                let size = Size::new(width, height);
                let oracle = resample(Level::Scalar, size, &columns, &rows);
                for level in simd::levels() {
                    assert!(
                        oracle == resample(level, size, &columns, &rows),
                        "{level:?} {columns:?} {rows:?}"
                    );
                }
            }
        }
    }
}
