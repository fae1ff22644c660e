//! The end of rendering: colour steps, normalise, number format and layout, row by row.

use super::image_view::Canvas;
use super::interleave::{self, with_level};
use super::lanes::{GROUP, LANES};
use super::pixel_block::{PixelBlock, Resolved};
use super::recolour;
use crate::output::{DType, Layout, Output};
use crate::simd::Level;
use half::slice::HalfFloatSliceExt;

/// Where finished rows go.
pub(crate) enum RowOutput<'a> {
    /// A pass's u8 image.
    Pass(&'a mut Canvas),
    /// The sample.
    Sample(Sample<'a>),
}

/// One sample's values, by number format.
pub(crate) enum Values<'a> {
    F32(&'a mut [f32]),
    F16(&'a mut [half::f16]),
    Bf16(&'a mut [half::bf16]),
    U8(&'a mut [u8]),
}

/// One sample of a batch.
pub(crate) struct Sample<'a> {
    pub(crate) values: Values<'a>,
    pub(crate) width: usize,
    pub(crate) height: usize,
    pub(crate) layout: Layout,
    /// a and b of fma(x, a, b), per channel.
    pub(crate) factors: [[f32; 2]; 3],
}

impl<'a> Sample<'a> {
    /// A sample in `bytes`, or `None` where length or alignment do not fit the output.
    pub(crate) fn new(bytes: &'a mut [u8], output: &Output) -> Option<Self> {
        if bytes.len() != output.sample_bytes() {
            return None;
        }
        let values = match output.dtype {
            DType::F32 => Values::F32(bytemuck::try_cast_slice_mut(bytes).ok()?),
            DType::F16 => Values::F16(bytemuck::try_cast_slice_mut(bytes).ok()?),
            DType::Bf16 => Values::Bf16(bytemuck::try_cast_slice_mut(bytes).ok()?),
            DType::U8 => Values::U8(bytes),
        };
        Some(Self {
            values,
            width: output.size.width as usize,
            height: output.size.height as usize,
            layout: output.layout,
            factors: output.factors(),
        })
    }
}

impl RowOutput<'_> {
    /// Finishes one row of u8 levels.
    pub(crate) fn row(&mut self, y: usize, rgb: &[u8], steps: &[Resolved], level: Level) {
        match self {
            RowOutput::Pass(canvas) => {
                let stride = canvas.stride();
                let row = &mut canvas.rows_mut()[y * stride..][..stride];
                row.copy_from_slice(rgb);
                recolour::run(row, steps, level);
            }
            RowOutput::Sample(sample) => with_level!(level, sample.row(y, rgb, steps, level)),
        }
    }
}

impl Sample<'_> {
    #[inline(always)]
    fn row(&mut self, y: usize, rgb: &[u8], steps: &[Resolved], level: Level) {
        let done = if steps.is_empty() { self.plain_row(y, rgb, level) } else { 0 };
        let rgb = &rgb[done * 3..];
        if rgb.is_empty() {
            return;
        }
        let mut block = PixelBlock::default();
        let floats = !matches!(self.values, Values::U8(_));
        // Around an image all pixels are the same, and become the same.
        let mut before: &[u8] = &[];
        for (chunk, pixels) in rgb.chunks(LANES * 3).enumerate() {
            if pixels != before {
                block.load(pixels, level);
                block.run(steps);
                if floats {
                    scale(&mut block, &self.factors);
                }
                before = pixels;
            }
            self.put(done + chunk * LANES, y, &block, pixels.len() / 3, level);
        }
    }

    /// Stores the whole groups of a row that is only to be normalised, if they go to planes of f32: the commonest
    /// output, and the only work of it. Returns how many pixels are stored.
    #[inline(always)]
    fn plain_row(&mut self, y: usize, rgb: &[u8], level: Level) -> usize {
        let (plane, nchw) = (self.width * self.height, self.layout == Layout::Nchw);
        let Values::F32(out) = &mut self.values else { return 0 };
        if !nchw {
            return 0;
        }
        let (red, rest) = out.split_at_mut(plane);
        let (green, blue) = rest.split_at_mut(plane);
        let row = y * self.width..(y + 1) * self.width;
        let planes = [red, green, blue].map(|channel| channel[row.clone()].as_chunks_mut().0);
        let groups = rgb.as_chunks::<{ GROUP * 3 }>().0;
        interleave::split_scaled(groups, &self.factors, planes, level);
        groups.len() * GROUP
    }

    /// Stores `count` finished pixels at (`x`, `y`).
    #[inline(always)]
    pub(crate) fn put(&mut self, x: usize, y: usize, block: &PixelBlock, count: usize, level: Level) {
        let plane = self.width * self.height;
        let at = y * self.width + x;
        let nchw = self.layout == Layout::Nchw;
        if self.layout.channels() == 1 {
            return self.put_one(at, block, count, level);
        }
        match &mut self.values {
            Values::F32(out) => {
                put(out, at, nchw.then_some(plane), (block, count), |o, l| o.copy_from_slice(l))
            }
            Values::F16(out) => {
                put(out, at, nchw.then_some(plane), (block, count), |o, l| o.convert_from_f32_slice(l))
            }
            Values::Bf16(out) => put(out, at, nchw.then_some(plane), (block, count), brain),
            Values::U8(out) if nchw => {
                for (c, lanes) in block.planes.iter().enumerate() {
                    let (out, bytes) = (&mut out[c * plane + at..], interleave::bytes(lanes, level));
                    match out.first_chunk_mut() {
                        // A copy of fixed length is one store, where one of any length is a call.
                        Some(out) if count == LANES => *out = bytes,
                        _ => out[..count].copy_from_slice(&bytes[..count]),
                    }
                }
            }
            Values::U8(out) => block.store(&mut out[at * 3..][..count * 3], level),
        }
    }
}

impl Sample<'_> {
    /// Stores `count` finished pixels from pixel `at` on, where a pixel is one value.
    fn put_one(&mut self, at: usize, block: &PixelBlock, count: usize, level: Level) {
        let [first, second, _] = &block.planes;
        match &mut self.values {
            Values::U8(out) => out[at..at + count].copy_from_slice(&interleave::bytes(first, level)[..count]),
            Values::F32(out) if self.layout == Layout::NhwWide => {
                let values = first.iter().zip(second).map(|(high, low)| high + low);
                out[at..at + count].iter_mut().zip(values).for_each(|(to, value)| *to = value);
            }
            Values::F32(out) => out[at..at + count].copy_from_slice(&first[..count]),
            Values::F16(out) => out[at..at + count].convert_from_f32_slice(&first[..count]),
            Values::Bf16(out) => brain(&mut out[at..at + count], &first[..count]),
        }
    }
}

/// fma(x, a, b), per channel.
#[inline(always)]
fn scale(block: &mut PixelBlock, factors: &[[f32; 2]; 3]) {
    for (plane, [a, b]) in block.planes.iter_mut().zip(factors) {
        for level in plane {
            *level = level.mul_add(*a, *b);
        }
    }
}

/// bfloat16, rounded to nearest even; none of the values is NaN.
#[inline(always)]
fn brain(out: &mut [half::bf16], from: &[f32]) {
    for (value, level) in out.iter_mut().zip(from) {
        let bits = level.to_bits();
        *value = half::bf16::from_bits(((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16) as u16);
    }
}

/// Stores `count` pixels from pixel `at` on: in planes of so many values, or side by side.
#[inline(always)]
fn put<T>(
    out: &mut [T],
    at: usize,
    plane: Option<usize>,
    (block, count): (&PixelBlock, usize),
    convert: impl Fn(&mut [T], &[f32]),
) {
    if let Some(plane) = plane {
        for (c, lanes) in block.planes.iter().enumerate() {
            convert(&mut out[c * plane + at..][..count], &lanes[..count]);
        }
        return;
    }
    let mut mixed = [0.0f32; LANES * 3];
    let [r, g, b] = &block.planes;
    for (i, pixel) in mixed.chunks_exact_mut(3).enumerate() {
        pixel.copy_from_slice(&[r[i], g[i], b[i]]);
    }
    convert(&mut out[at * 3..][..count * 3], &mixed[..count * 3]);
}
