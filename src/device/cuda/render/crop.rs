//! Samples that show an upright image and nothing else: what most recipes come to, and a kernel of their own renders.
//!
//! `kernels/crop.cu` needs half the instructions of `kernels/render.cu`, because the host has decided what that one finds
//! out for each tile. The pixels are the same. What the kernel relies on is asked for here.

use super::layout::{
    Axis, CROP_GROUPS, CROP_WEIGHTS, CropJob, KIND_UPRIGHT, LayerDesc, NONE, RenderJob, Source, TILE_HEIGHT,
    TILE_WIDTH,
};
use super::lower::{Lowered, Lowering};
use crate::plan::Span;

impl Lowering<'_> {
    /// The job of an input that fills its sample, if it is such a one.
    pub(super) fn crop(&self, drawn: &Lowered, erases: Span, sample: &RenderJob) -> Option<CropJob> {
        let is_plain = self.layout.channels() == 3
            && sample.pitch == 0
            && drawn.steps.span.len == 0
            && erases.len == 0
            && drawn.layers.len == 1;
        let layer = self.tables.layers.get(drawn.layers.start as usize).filter(|_| is_plain)?;
        let source = self.tables.sources.get(layer.source as usize)?;
        let four_bytes = 4 * self.dtype.bytes() as u64;
        let whole_fours = sample.size.width.is_multiple_of(4) && sample.target.is_multiple_of(four_bytes);
        if !whole_fours || !fills(layer, sample) {
            return None;
        }
        let (origin, skipped) = (source.origin & !3, (source.origin & 3) as u32);
        let columns = readable_columns(source)?;
        let (across, tiles) = tiles(sample)?;
        if !is_narrow(&layer.columns) || layer.columns.groups < 2 || !is_near(source, skipped) {
            return None;
        }
        Some(CropJob {
            target: sample.target,
            origin,
            size: sample.size,
            across,
            reciprocal: reciprocal(across),
            source: source.size,
            columns,
            down: source.down.unsigned_abs(),
            skipped,
            tiles,
            column_groups: layer.columns.groups,
            row_groups: layer.rows.groups,
            column_table: layer.columns.table,
            row_table: layer.rows.table,
        })
    }
}

/// Whether the layer is resampled, as it is, to the whole sample.
fn fills(layer: &LayerDesc, sample: &RenderJob) -> bool {
    let shows_all = layer.window == sample.size.rect()
        && layer.columns.count == sample.size.width
        && layer.rows.count == sample.size.height;
    layer.kind == KIND_UPRIGHT && layer.steps.len == 0 && layer.mask == NONE && shows_all
}

/// Pixels of a row that may be read from its first one on, where rows lie as they are shown and from the top.
fn readable_columns(source: &Source) -> Option<u32> {
    let upright = source.right == 3 && source.down > 0 && source.columns > 0 && source.in_scratch == 0;
    source.columns.checked_add_signed(source.column.checked_neg()?).filter(|_| upright)
}

/// Tiles in a row and all together, where [`reciprocal`] tells the row of each.
fn tiles(sample: &RenderJob) -> Option<(u32, u32)> {
    let (across, down) = (sample.size.width.div_ceil(TILE_WIDTH), sample.size.height.div_ceil(TILE_HEIGHT));
    let tiles = across.checked_mul(down)?;
    (u64::from(tiles) * u64::from(across) <= 1 << 16).then_some((across, tiles))
}

/// A little above 2^16 / across: times a tile's index it is above the exact product by at most index * across.
fn reciprocal(across: u32) -> u32 {
    (1 << 16) / across + 1
}

/// Whether no tile reads more columns than shared memory holds.
fn is_narrow(columns: &Axis) -> bool {
    let apart = f64::from(TILE_WIDTH) * f64::from(columns.input) / f64::from(columns.output);
    // First taps are rounded to whole groups, at either end of the tile.
    let most = (apart / 4.0).ceil() + 2.0 + f64::from(columns.groups);
    columns.groups <= CROP_WEIGHTS && most <= f64::from(CROP_GROUPS)
}

/// Whether all that is read lies within 4 GiB.
fn is_near(source: &Source, skipped: u32) -> bool {
    let rows = u64::from(source.size.height) * u64::from(source.down.unsigned_abs());
    rows + u64::from(source.columns) * 3 + u64::from(skipped) <= u64::from(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::geometry::Size;

    fn sample(width: u32, height: u32) -> RenderJob {
        RenderJob { size: Size::new(width, height), ..RenderJob::default() }
    }

    #[test]
    fn the_reciprocal_tells_the_row_of_every_tile() {
        for (width, height) in [(224, 224), (4, 65_535), (1280, 1280), (8192, 32), (2048, 352), (1312, 1216)]
        {
            let (across, tiles) = tiles(&sample(width, height)).expect("few enough");
            for tile in 0..tiles {
                assert_eq!((tile * reciprocal(across)) >> 16, tile / across, "{tile} of {width}x{height}");
            }
        }
        assert_eq!(tiles(&sample(1312, 1248)), None);
        assert_eq!(tiles(&sample(65_535, 65_535)), None);
    }

    #[test]
    fn only_rows_that_lie_as_they_are_shown_are_read() {
        let upright = Source { right: 3, down: 96, column: 2, columns: 32, ..Source::default() };
        assert_eq!(readable_columns(&upright), Some(30));
        let others = [
            Source { right: -3, ..upright },
            Source { down: -96, ..upright },
            Source { columns: 0, ..upright },
            Source { in_scratch: 1, ..upright },
        ];
        assert!(others.iter().all(|source| readable_columns(source).is_none()));
    }

    #[test]
    fn far_rows_and_wide_tiles_are_left_to_the_other_kernel() {
        let source =
            |height| Source { size: Size::new(4, height), down: 1 << 20, columns: 4, ..Source::default() };
        assert!(is_near(&source(4095), 3));
        assert!(!is_near(&source(4096), 3));
        let columns = |input, groups| Axis { input, output: 32, groups, ..Axis::default() };
        assert!(is_narrow(&columns(4 * 222, 32)));
        assert!(!is_narrow(&columns(4 * 223, 32)));
        assert!(!is_narrow(&columns(4, 33)));
    }
}
