//! The verbs themselves: what each op does to the canvas.

use super::flip::Flip;
use super::op::{Extent, Fill, Interpolation, Value};
use super::{Draft, DraftLayer, MAX_EDGE};
use crate::color::Normalize;
use crate::error::{Error, bail, ensure};
use crate::geometry::{Rect, Size};
use crate::plan::label_ops::{LabelOpKind, ObjectFilter};
use crate::plan::{Erase, EraseFill, Filter, Method};

impl Draft {
    pub(super) fn crop(&mut self, rect: Rect) -> Result<(), Error> {
        check_size("crop", rect.size())?;
        let far = |edge: i32| edge.unsigned_abs() > MAX_EDGE;
        if far(rect.x) || far(rect.y) {
            bail!("crop: top {} and left {} must be in -{MAX_EDGE}..={MAX_EDGE}", rect.y, rect.x);
        }
        if self.canvas.size.rect() == rect {
            self.relabel(LabelOpKind::Clip(rect));
            return Ok(());
        }
        let inside = self.canvas.size.rect().contains(rect);
        if !inside {
            self.check_no_border("crop")?;
        }
        if self.canvas.has_measured_steps() || (self.canvas.has_steps() && !inside) {
            self.flush_pass()?;
        }
        self.canvas.inputs.iter_mut().for_each(|input| input.crop(rect));
        self.canvas.resized_to(rect.size());
        self.record_shift(-f64::from(rect.x), -f64::from(rect.y));
        Ok(())
    }

    /// torchvision's: pads with black when smaller, then rounds half to even.
    pub(super) fn center_crop(&mut self, want: Size) -> Result<(), Error> {
        check_size("center_crop", want)?;
        let have = self.canvas.size;
        if want.width > have.width || want.height > have.height {
            let (dx, dy) = (want.width.saturating_sub(have.width), want.height.saturating_sub(have.height));
            self.check_no_border("center_crop")?;
            self.pad([dx / 2, dy / 2, dx.div_ceil(2), dy.div_ceil(2)], Fill::Grey(0))?;
        }
        let have = self.canvas.size;
        let offset = |have: u32, want: u32| (f64::from(have - want) / 2.0).round_ties_even() as i32;
        let (x, y) = (offset(have.width, want.width), offset(have.height, want.height));
        self.crop(Rect::new(x, y, want.width, want.height))
    }

    pub(super) fn resize_target(&self, size: Extent, max_size: Option<u32>) -> Result<Size, Error> {
        let edge = match size {
            Extent::Two(_) if max_size.is_some() => {
                bail!("resize: max_size needs size to be one number, the shorter edge");
            }
            Extent::Two([height, width]) => return Ok(Size::new(width, height)),
            Extent::One(edge) | Extent::Single([edge]) => edge,
        };
        if max_size.is_some_and(|limit| limit <= edge) {
            bail!("resize: max_size must be greater than size, which is {edge}");
        }
        Ok(shorter_edge(self.canvas.size, edge, max_size))
    }

    pub(super) fn resize(
        &mut self,
        size: Size,
        interpolation: Interpolation,
        antialias: bool,
    ) -> Result<(), Error> {
        check_size("resize", size)?;
        if size == self.canvas.size {
            return Ok(());
        }
        let filter = match (interpolation, antialias) {
            (Interpolation::Bilinear, true) => Filter::Bilinear,
            (Interpolation::Bilinear, false) => Filter::BilinearPlain,
            (Interpolation::Bicubic, true) => Filter::Bicubic,
            (Interpolation::Bicubic, false) => {
                bail!("resize: bicubic needs antialias = true here; bilinear works with both");
            }
            (Interpolation::Nearest, _) => Filter::Nearest,
        };
        let ratio = |new: u32, old: u32| f64::from(new) / f64::from(old);
        let old = self.canvas.size;
        self.resample(size, Method::Upright(filter))?;
        let (x, y) = (ratio(size.width, old.width), ratio(size.height, old.height));
        self.relabel(LabelOpKind::Map([x, 0.0, 0.0, 0.0, y, 0.0, 0.0, 0.0, 1.0]));
        Ok(())
    }

    pub(super) fn pad(&mut self, [left, top, right, bottom]: [u32; 4], fill: Fill) -> Result<(), Error> {
        if [left, top, right, bottom] == [0; 4] {
            self.relabel(LabelOpKind::Clip(self.canvas.size.rect()));
            return Ok(());
        }
        let old = self.canvas.size;
        let grown =
            |edge: u32, a: u32, b: u32| edge.checked_add(a)?.checked_add(b).filter(|&e| e <= MAX_EDGE);
        let (Some(width), Some(height)) = (grown(old.width, left, right), grown(old.height, top, bottom))
        else {
            bail!("pad: the canvas would be wider or higher than {MAX_EDGE}");
        };
        if self.canvas.inputs.len() > 1 || self.canvas.has_steps() {
            self.flush_pass()?;
        }
        let moved = Rect::new(-(left as i32), -(top as i32), width, height);
        let input = &mut self.canvas.inputs[0];
        let covered = input.layers.first().is_some_and(|first| first.covers(old.rect()));
        input.crop(moved);
        let border = fill.rgb();
        if border != [0; 3] {
            let hole = Rect::new(left as i32, top as i32, old.width, old.height);
            let border = DraftLayer::solid(moved.size().rect(), border);
            let hole = (!covered).then(|| DraftLayer::solid(hole, [0; 3]));
            input.layers.splice(0..0, [border].into_iter().chain(hole));
        }
        self.canvas.resized_to(Size::new(width, height));
        self.record_shift(f64::from(left), f64::from(top));
        Ok(())
    }

    /// Labels move with the corner of the canvas, and are cut to what the canvas has become.
    pub(super) fn record_shift(&mut self, x: f64, y: f64) {
        self.record_map([1.0, 0.0, x, 0.0, 1.0, y, 0.0, 0.0, 1.0]);
    }

    /// Mirrors the canvas and its labels; a left hand becomes a right one either way, since upside down is only turned.
    pub(super) fn flip(&mut self, flip: Flip) -> Result<(), Error> {
        let [width, height] = [self.size().width, self.size().height].map(f64::from);
        self.relabel(LabelOpKind::Map(match flip {
            Flip::LeftRight => [-1.0, 0.0, width, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0],
            Flip::TopBottom => [1.0, 0.0, 0.0, 0.0, -1.0, height, 0.0, 0.0, 1.0],
        }));
        self.relabel(LabelOpKind::Mirrored);
        self.mirror(flip)
    }

    /// Mirrors the pixels of the canvas.
    pub(super) fn mirror(&mut self, flip: Flip) -> Result<(), Error> {
        let size = self.canvas.size;
        self.canvas.inputs.iter_mut().for_each(|input| input.mirror(flip, size));
        Ok(())
    }

    pub(super) fn erase(&mut self, rect: Rect, value: Value) -> Result<(), Error> {
        let window = rect.intersect(self.canvas.size.rect());
        let fill = match value {
            Value::One(v) => EraseFill::Constant([v; 3]),
            Value::Rgb(rgb) => EraseFill::Constant(rgb),
            Value::Noise { key } => EraseFill::Noise(key),
        };
        let [input] = self.canvas.inputs.as_mut_slice() else {
            bail!("erase comes after a mix: erase each sample before it is mixed");
        };
        if !window.is_empty() {
            input.erases.push(Erase { window, fill });
        }
        Ok(())
    }

    pub(super) fn sanitize(&mut self, min_size: f64, min_area: f64) -> Result<(), Error> {
        for (name, value) in [("min_size", min_size), ("min_area", min_area)] {
            ensure!(
                value >= 1.0 && value.is_finite(),
                "sanitize_bounding_boxes: {name} must be >= 1, got {value}: boxes without an area are no boxes"
            );
        }
        self.relabel(LabelOpKind::Keep(ObjectFilter::Sane {
            canvas: self.canvas.size.rect(),
            min_size,
            min_area,
        }));
        Ok(())
    }

    /// The arithmetic is the output's; the draft only keeps the order.
    pub(super) fn normalize(&mut self, mean: [f64; 3], std: [f64; 3]) -> Result<(), Error> {
        if !(Normalize { mean, std }).is_sound() {
            bail!("normalize: every mean must be finite and every std greater than 0");
        }
        self.normalized = true;
        Ok(())
    }
}

/// torchvision's `Resize(int)`: the shorter edge becomes `edge`, the longer int(edge * long / short), at most `max_size`.
fn shorter_edge(have: Size, edge: u32, max_size: Option<u32>) -> Size {
    let (short, long) = (have.width.min(have.height), have.width.max(have.height));
    let scaled = |a: u32, b: u32, c: u32| (f64::from(a) * f64::from(b) / f64::from(c)) as u32;
    let (mut new_short, mut new_long) = (edge, scaled(edge, long, short));
    if let Some(limit) = max_size.filter(|&limit| new_long > limit) {
        (new_short, new_long) = (scaled(limit, new_short, new_long), limit);
    }
    if have.width <= have.height { Size::new(new_short, new_long) } else { Size::new(new_long, new_short) }
}

pub(super) fn check_size(op: &str, size: Size) -> Result<(), Error> {
    ensure!(
        (1..=MAX_EDGE).contains(&size.width) && (1..=MAX_EDGE).contains(&size.height),
        "{op}: {size} is not a size from 1x1 to {MAX_EDGE}x{MAX_EDGE}"
    );
    Ok(())
}
