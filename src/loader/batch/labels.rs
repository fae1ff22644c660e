//! How objects reach a batch: what they are asked for as, and which of them are kept.

use crate::error::{Error, Result};
use crate::label::{BoxFormat, Label, Unit};
use crate::loader::LoaderBuilder;
use crate::plan::carry::{self, Seen};
use crate::plan::moves::{How, Keep, Move};
use crate::plan::{Plan, Span};
use crate::source::Source;

/// What is asked of the labels of a batch.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::loader) struct LabelRules {
    /// Whether a batch has objects even where none of its labels has any.
    pub(in crate::loader) expected: bool,
    pub(in crate::loader) format: BoxFormat,
    pub(in crate::loader) unit: Unit,
    min_area: f64,
    min_visibility: f64,
    /// Whether masks are asked for, and what is where no image is.
    pub(in crate::loader) mask_fill: Option<u8>,
}

impl LoaderBuilder {
    /// How the boxes of a batch say where they are, and what their coordinates are counted in (default: left, top,
    /// right and bottom in pixels of the sample). The unit is that of polygons and keypoints as well.
    pub fn boxes(mut self, format: BoxFormat, unit: Unit) -> Self {
        self.labels = LabelRules { expected: true, format, unit, ..self.labels };
        self
    }

    /// Drops objects whose box is smaller than `min_area` pixels at the end, or of which less than the part
    /// `min_visibility` is left of what it would be if no canvas had cut it: the two numbers of Albumentations'
    /// `BboxParams` (default 0 and 0). Boxes without area are always dropped.
    ///
    /// `YoloPerspective` counts anew: what a mosaic cut off a box before is not missed. A box that it derives from
    /// outlines is compared with the box around its turned corners.
    pub fn box_filter(mut self, min_area: f64, min_visibility: f64) -> Self {
        self.labels = LabelRules { min_area, min_visibility, ..self.labels };
        self
    }

    /// Asks for semantic masks, which move with the pixels, nearest neighbour by nearest neighbour: [`crate::loader::Batch::masks`].
    /// What shows no image, and a sample without a mask, has the class `fill`; 255 is what most losses are told to ignore.
    pub fn masks(mut self, fill: u8) -> Self {
        self.labels.mask_fill = Some(fill);
        self
    }
}

impl LabelRules {
    pub(in crate::loader) fn check(&self) -> Result<()> {
        let Self { min_area, min_visibility, .. } = *self;
        if !(min_area >= 0.0 && min_area.is_finite()) {
            return Err(Error::config(format!(
                "min_area is {min_area}: give the least area of a box in pixels, or leave it out"
            )));
        }
        match (0.0..=1.0).contains(&min_visibility) {
            true => Ok(()),
            false => Err(Error::config(format!(
                "min_visibility is {min_visibility}: give the part of a box that must be left, in 0..=1"
            ))),
        }
    }

    /// The objects that are kept of a finished sample, in the unit that is asked for; `None` where no image's label says
    /// what is seen in it.
    pub(in crate::loader) fn objects(&self, source: &dyn Source, plan: &Plan) -> Option<Vec<Seen>> {
        let of_image = |index: u64| match source.label(index as usize) {
            Label::Objects(objects) => Some(objects),
            _ => None,
        };
        let known: Vec<_> = plan.images.iter().map(|image| of_image(image.index)).collect();
        known.iter().any(Option::is_some).then(|| self.kept(plan, plan.objects(&known)))
    }

    fn kept(&self, plan: &Plan, mut seen: Vec<Seen>) -> Vec<Seen> {
        let images = Span { start: 0, len: plan.images.len() as u32 };
        let Self { min_area, min_visibility, unit, .. } = *self;
        let canvas = plan.size().rect();
        let last = [How::Clip(canvas), How::Keep(Keep::Visible { min_area, min_visibility })];
        carry::carry(&mut seen, &last.map(|how| Move { images, how }));
        if unit == Unit::Normalized {
            let [x, y] = [canvas.width, canvas.height].map(|edge| 1.0 / f64::from(edge));
            let shrink = How::Map([x, 0.0, 0.0, 0.0, y, 0.0, 0.0, 0.0, 1.0]);
            carry::carry(&mut seen, &[Move { images, how: shrink }]);
        }
        seen
    }
}
