//! Sample planes, two rows of MCUs deep, and their conversion to rows of RGB.
//!
//! The last output row of an MCU row needs the chroma of the next one, so each plane is a ring that holds the MCU row
//! being filled and the one before. Only the blocks that the region and its chroma halo touch are stored.

use std::ops::Range;

use super::convert;
use super::rows::Rows;
use super::scale::{Part, Scale, Scaled};
use super::upsample::{self, SLACK};
use crate::decode_memory::grow;
use crate::geometry::Rect;
use crate::jpeg::header::{ColorModel, Component, Frame};
use crate::jpeg::transform::{Target, TargetRow};
use crate::simd::Vectors;

/// Bytes before the first sample of each row: room for the left neighbour, and aligned rows.
const MARGIN: usize = 32;

/// How a component is upsampled to full size.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Upsampling {
    #[default]
    Full,
    H2V1,
    H1V2,
    H2V2,
    Replicate,
}

impl Upsampling {
    /// libjpeg's choice: planes of one or two columns are replicated where it filters horizontally. A `width` of 0
    /// replicates all, which is what it does where a sample is a whole block.
    pub(crate) fn of(across: usize, down: usize, width: usize) -> Self {
        match (across, down) {
            (1, 1) => Upsampling::Full,
            (2, 1) if width > 2 => Upsampling::H2V1,
            (2, 2) if width > 2 => Upsampling::H2V2,
            (1, 2) if width > 0 => Upsampling::H1V2,
            _ => Upsampling::Replicate,
        }
    }

    fn filters_across(self) -> bool {
        matches!(self, Upsampling::H2V1 | Upsampling::H2V2)
    }

    fn filters_down(self) -> bool {
        matches!(self, Upsampling::H1V2 | Upsampling::H2V2)
    }
}

/// One component's ring of rows.
#[derive(Clone, Debug, Default)]
struct Plane {
    kind: Upsampling,
    /// Output columns and rows of one sample.
    across: usize,
    down: usize,
    /// Samples a side of a block.
    block: usize,
    /// Samples of the whole component; at its edges samples are repeated.
    width: usize,
    height: usize,
    /// Blocks that are stored here.
    columns: Range<usize>,
    rows: Range<usize>,
    /// Offset of the sample in the first needed column of ring row 0.
    base: usize,
    stride: usize,
    ring: usize,
    /// Rows of samples of one MCU row.
    mcu_height: usize,
    /// Columns of samples of one MCU.
    mcu_width: usize,
}

impl Plane {
    fn new(frame: &Frame, component: &Component, part: Part) -> Self {
        let Part { scale, region } = part;
        let Scaled { block, across, down, width, height } = Scaled::new(frame, component, scale);
        let kind = Upsampling::of(across, down, if scale == Scale::Eighth { 0 } else { width });
        let blocks = |start: i32, length: u32, ratio: usize, samples: usize, halo: bool| {
            let (first, last) = (start as usize / ratio, (start as usize + length as usize - 1) / ratio);
            let halo = usize::from(halo);
            first.saturating_sub(halo) / block..(last + halo).min(samples - 1) / block + 1
        };
        let columns = blocks(region.x, region.width, across, width, kind.filters_across());
        let rows = blocks(region.y, region.height, down, height, kind.filters_down());
        let stride = (MARGIN + columns.len() * block + SLACK).next_multiple_of(32);
        let mcu_height = component.v * block;
        Self {
            kind,
            across,
            down,
            block,
            width,
            height,
            columns,
            rows,
            base: 0,
            stride,
            ring: 2 * mcu_height,
            mcu_height,
            mcu_width: component.h * block,
        }
    }

    /// Offset of sample `column` of row `row`, which may be one column outside of the needed blocks.
    fn offset(&self, column: usize, row: usize) -> usize {
        self.base + (row % self.ring) * self.stride + column - self.columns.start * self.block
    }

    /// The row that an output row lies in, the next nearest one, and the rounding for it.
    fn near_and_far(&self, y: usize) -> (usize, usize, u16) {
        let near = y / self.down;
        if y.is_multiple_of(self.down) {
            (near, near.saturating_sub(1), 1)
        } else {
            (near, (near + 1).min(self.height - 1), 2)
        }
    }
}

/// The planes of one picture; the buffers stay for the next one.
#[derive(Default)]
pub(crate) struct Planes {
    samples: Vec<u8>,
    planes: [Plane; 4],
    lines: [Vec<u8>; 4],
    count: usize,
    region: Rect,
    model: ColorModel,
    /// 1 if some component's rows need the row below them, else 0.
    lag: usize,
    /// Output rows of one MCU row.
    step: usize,
    /// The next output row, counted in the whole image.
    next: usize,
    vectors: Vectors,
}

impl Planes {
    /// No picture yet.
    pub(crate) fn new(vectors: Vectors) -> Self {
        Self { vectors, ..Self::default() }
    }

    /// Prepares for a picture of which `part` (inside of it, not empty) is wanted.
    pub(crate) fn begin(&mut self, frame: &Frame, model: ColorModel, part: Part) {
        let region = part.region;
        (self.count, self.region, self.model) = (frame.count, region, model);
        self.step = frame.v_max * part.scale.block();
        self.next = region.y as usize;
        let mut total = 0;
        for (plane, component) in self.planes.iter_mut().zip(frame.used()) {
            *plane = Plane::new(frame, component, part);
            plane.base = total + MARGIN;
            total += plane.stride * plane.ring;
        }
        let planes = &self.planes[..self.count];
        self.lag = usize::from(planes.iter().any(|plane| plane.kind.filters_down()));
        // A line starts up to three samples before the region and is written in whole vectors.
        let line = region.width as usize + 2 * SLACK;
        for (buffer, plane) in self.lines.iter_mut().zip(planes) {
            if plane.kind != Upsampling::Full {
                grow(buffer, line);
            }
        }
        // After every block there is room for the rows of the widest plane, as the vector transforms require.
        let stride = planes.iter().map(|plane| plane.stride).max().unwrap_or(0);
        grow(&mut self.samples, total + 8 * stride + SLACK);
    }

    /// Rows of MCUs that hold a needed block, in the grid of interleaved MCUs.
    pub(crate) fn mcu_rows(&self) -> Range<usize> {
        rows(&self.planes[..self.count])
    }

    /// Columns of MCUs that hold a needed block.
    pub(crate) fn mcu_columns(&self) -> Range<usize> {
        columns(&self.planes[..self.count])
    }

    /// The count of components.
    pub(crate) fn count(&self) -> usize {
        self.count
    }

    /// Rows of blocks that an MCU row holds of a component.
    pub(crate) fn blocks_down(&self, component: usize) -> usize {
        self.planes[component & 3].mcu_height / self.planes[component & 3].block
    }

    /// The needed blocks of a component, as columns and rows.
    pub(crate) fn needed(&self, component: usize) -> (Range<usize>, Range<usize>) {
        let plane = &self.planes[component & 3];
        (plane.columns.clone(), plane.rows.clone())
    }

    /// The target of a block, `None` if it is not needed.
    #[inline(always)]
    pub(crate) fn target(&self, component: usize, column: usize, row: usize) -> Option<Target> {
        self.target_row(component, row).target(column)
    }

    /// The targets of the blocks of a row.
    pub(crate) fn target_row(&self, component: usize, row: usize) -> TargetRow {
        let plane = &self.planes[component & 3];
        if !plane.rows.contains(&row) {
            return TargetRow::default();
        }
        // `ring` is twice `mcu_height`, and an MCU row holds whole blocks, so a block never wraps.
        let target = Target {
            offset: plane.offset(plane.columns.start * plane.block, row * plane.block),
            stride: plane.stride,
            size: plane.block,
        };
        TargetRow::new(&plane.columns, target)
    }

    /// The samples of all planes, which targets point into.
    #[inline(always)]
    pub(crate) fn samples(&mut self) -> &mut [u8] {
        &mut self.samples
    }

    /// To be called when MCU row `row` is complete: converts every output row that is complete now to `out`. `last` is
    /// whether this is the last MCU row.
    pub(crate) fn finish_mcu_row(&mut self, row: usize, last: bool, out: &mut dyn Rows) {
        self.repeat_edges(row);
        let bottom = self.region.bottom() as usize;
        let ready = if last { bottom } else { ((row + 1) * self.step - self.lag).min(bottom) };
        let width = self.region.width as usize * 3;
        while self.next < ready {
            let row = self.next - self.region.y as usize;
            self.convert_row(self.next, &mut out.row(row)[..width]);
            out.done(row);
            self.next += 1;
        }
    }

    /// Repeats the outermost samples of each row beside them, for the horizontal filters.
    fn repeat_edges(&mut self, mcu_row: usize) {
        for plane in self.planes[..self.count].iter().filter(|plane| plane.kind.filters_across()) {
            let at_left = plane.columns.start == 0;
            let at_right = plane.columns.end * plane.block >= plane.width;
            for row in mcu_row * plane.mcu_height..(mcu_row + 1) * plane.mcu_height {
                if at_left {
                    let first = plane.offset(0, row);
                    self.samples[first - 1] = self.samples[first];
                }
                if at_right {
                    let beyond = plane.offset(plane.width, row);
                    self.samples[beyond] = self.samples[beyond - 1];
                }
            }
        }
    }

    fn convert_row(&mut self, y: usize, out: &mut [u8]) {
        let x = self.region.x as usize;
        let width = self.region.width as usize;
        for (plane, line) in self.planes[..self.count].iter().zip(&mut self.lines) {
            upsample_row(self.vectors, plane, &self.samples, y, x..x + width, line);
        }
        let mut rows: [&[u8]; 4] = [&[]; 4];
        for ((row, plane), line) in rows.iter_mut().zip(&self.planes[..self.count]).zip(&self.lines) {
            *row = match plane.kind {
                Upsampling::Full => &self.samples[plane.offset(x, y)..][..width],
                Upsampling::H1V2 => &line[..width],
                _ => &line[x % plane.across..][..width],
            };
        }
        convert::row(self.vectors, self.model, rows, out);
    }
}

/// What `part` of an image needs: rows and columns of MCUs, and of each component columns and rows of blocks.
#[cfg(feature = "cuda")]
pub(crate) struct NeededParts {
    pub(crate) mcus: (Range<usize>, Range<usize>),
    pub(crate) blocks: [(Range<usize>, Range<usize>); 4],
}

#[cfg(feature = "cuda")]
impl NeededParts {
    pub(crate) fn of(frame: &Frame, part: Part) -> Self {
        let mut planes: [Plane; 4] = Default::default();
        for (plane, component) in planes.iter_mut().zip(frame.used()) {
            *plane = Plane::new(frame, component, part);
        }
        let used = &planes[..frame.count];
        let mcus = (rows(used), columns(used));
        Self { mcus, blocks: planes.map(|plane| (plane.columns, plane.rows)) }
    }
}

fn rows(planes: &[Plane]) -> Range<usize> {
    mcus(planes, |plane| (&plane.rows, plane.mcu_height))
}

fn columns(planes: &[Plane]) -> Range<usize> {
    mcus(planes, |plane| (&plane.columns, plane.mcu_width))
}

/// The MCUs that hold the needed blocks, which `along` gives with the MCU's edge in samples.
fn mcus(planes: &[Plane], along: fn(&Plane) -> (&Range<usize>, usize)) -> Range<usize> {
    let of_plane = |plane| {
        let (needed, edge) = along(plane);
        let blocks = edge / plane.block;
        (needed.start / blocks, (needed.end - 1) / blocks + 1)
    };
    let each = planes.iter().map(of_plane);
    each.reduce(|(a, b), (c, d)| (a.min(c), b.max(d))).map_or(0..1, |(first, end)| first..end)
}

/// Writes a plane's part of output row `y` to `line`, from the output column on where the sample that covers
/// `columns.start` begins.
fn upsample_row(
    vectors: Vectors,
    plane: &Plane,
    samples: &[u8],
    y: usize,
    columns: Range<usize>,
    line: &mut [u8],
) {
    let first = columns.start / plane.across;
    let count = (columns.end - 1) / plane.across + 1 - first;
    let (near, far, bias) = plane.near_and_far(y);
    let from = |row: usize| &samples[plane.offset(first, row)..];
    let with_left = |row: usize| &samples[plane.offset(first, row) - 1..];
    match plane.kind {
        Upsampling::Full => {}
        Upsampling::H2V1 => upsample::h2v1(vectors, with_left(near), count, line),
        Upsampling::H2V2 => upsample::h2v2(vectors, with_left(near), with_left(far), count, line),
        Upsampling::H1V2 => upsample::h1v2(vectors, from(near), from(far), bias, count, line),
        Upsampling::Replicate => upsample::replicate(from(near), plane.across, count, line),
    }
}
