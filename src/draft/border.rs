//! Borders that are made of the image's own pixels: mirrored at its edge, or the edge itself.

use super::flip::Flip;
use super::op::PaddingMode;
use super::{Draft, DraftInput, DraftLayer, MAX_EDGE};
use crate::error::{Error, bail, ensure};
use crate::geometry::{Rect, Size};
use crate::plan::label_ops::LabelOpKind;

/// A run of columns (or rows) of the padded canvas, and those of the image that it shows.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Strip {
    /// First position on the canvas, and how many.
    at: u32,
    len: u32,
    /// First position in the image, and how many: all of them, or one that is repeated.
    from: u32,
    of: u32,
    mirrored: bool,
}

impl Draft {
    /// Pads with copies of the image, one for each side and corner.
    pub(super) fn pad_with_image(
        &mut self,
        [left, top, right, bottom]: [u32; 4],
        mode: PaddingMode,
    ) -> Result<(), Error> {
        let old = self.canvas.size;
        if [left, top, right, bottom] == [0; 4] {
            self.relabel(LabelOpKind::Clip(old.rect()));
            return Ok(());
        }
        let columns = strips(mode, [left, right], old.width)?;
        let rows = strips(mode, [top, bottom], old.height)?;
        // A statistic of the image is measured once, and not for each of its copies.
        if self.canvas.plain().is_none() || self.has_measured_layers() {
            self.flush_pass()?;
        }
        let Some(image) = self.canvas.inputs.first().and_then(|input| input.layers.first()) else {
            return Ok(());
        };
        let size = Size::new(old.width + left + right, old.height + top + bottom);
        let layers = rows.iter().flat_map(|row| columns.iter().map(|column| copy(image, old, *column, *row)));
        self.canvas.inputs = vec![DraftInput::whole(size, layers.collect())];
        self.canvas.resized_to(size);
        self.record_shift(f64::from(left), f64::from(top));
        Ok(())
    }

    fn has_measured_layers(&self) -> bool {
        let layers = self.canvas.inputs.iter().flat_map(|input| &input.layers);
        layers.flat_map(|drawn| &drawn.steps).any(|step| step.measured.is_some())
    }
}

/// The image where two strips cross.
fn copy(image: &DraftLayer, size: Size, column: Strip, row: Strip) -> DraftLayer {
    let mut part = image.clone();
    part.cut(Rect::new(column.from as i32, row.from as i32, column.of, row.of));
    if column.mirrored {
        part.mirror(Flip::LeftRight, size);
    }
    if row.mirrored {
        part.mirror(Flip::TopBottom, size);
    }
    let window = Rect::new(column.at as i32, row.at as i32, column.len, row.len);
    part.layer.window = window;
    if let Some(sampled) = part.layer.sampled_mut() {
        // A single column or row is as wide as the border: its pixels are the nearest ones.
        sampled.scaled = window.size();
    }
    part
}

/// What an axis shows: the border before, the image, and the border after, as far as they are there.
fn strips(mode: PaddingMode, [before, after]: [u32; 2], edge: u32) -> Result<Vec<Strip>, Error> {
    let whole = u64::from(edge) + u64::from(before) + u64::from(after);
    ensure!(whole <= u64::from(MAX_EDGE), "pad: the canvas would be wider or higher than {MAX_EDGE}");
    let most = match mode {
        PaddingMode::Reflect => edge - 1,
        PaddingMode::Symmetric => edge,
        PaddingMode::Edge | PaddingMode::Constant => MAX_EDGE,
    };
    if before.max(after) > most {
        let mode = if mode == PaddingMode::Reflect { "reflect" } else { "symmetric" };
        bail!(
            "pad: padding_mode {mode} can add at most {most} to an edge of {edge} pixels, not {}: pad with edge or \
             constant, or put a Resize ahead",
            before.max(after)
        );
    }
    let (first, last) = match mode {
        PaddingMode::Reflect => ([1, before], [edge.saturating_sub(1 + after), after]),
        PaddingMode::Symmetric => ([0, before], [edge - after, after]),
        PaddingMode::Edge | PaddingMode::Constant => ([0, 1], [edge - 1, 1]),
    };
    let mirrored = mode != PaddingMode::Edge;
    let border = |at, len, [from, of]: [u32; 2]| Strip { at, len, from, of, mirrored };
    let image = Strip { at: before, len: edge, from: 0, of: edge, mirrored: false };
    let all = [border(0, before, first), image, border(before + edge, after, last)];
    Ok(all.into_iter().filter(|strip| strip.len > 0).collect())
}
