//! How objects reach a batch: what they are asked for as, and which of them are kept.

use crate::error::{Result, ensure};
use crate::label::{BoxFormat, Label, Unit};
use crate::options::LabelsOptions;
use crate::plan::label_apply::{self, TransformedObject};
use crate::plan::label_ops::{LabelOp, LabelOpKind, ObjectFilter};
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
    /// Whether class 0 of masks is ignored, and the others count from 0.
    pub(in crate::loader) reduce_zero_label: bool,
}

impl LabelRules {
    pub(in crate::loader) fn of(options: &LabelsOptions) -> Self {
        Self {
            expected: options.format.is_some() || options.unit.is_some(),
            format: options.format(),
            unit: options.unit(),
            min_area: options.min_area(),
            min_visibility: options.min_visibility(),
            mask_fill: options.mask_fill,
            reduce_zero_label: options.reduce_zero_label(),
        }
    }

    pub(in crate::loader) fn check(&self) -> Result<()> {
        let Self { min_area, min_visibility, .. } = *self;
        ensure!(
            min_area >= 0.0 && min_area.is_finite(),
            "min_area is {min_area}: give the least area of a box in pixels, or leave it out"
        );
        ensure!(
            (0.0..=1.0).contains(&min_visibility),
            "min_visibility is {min_visibility}: give the part of a box that must be left, in 0..=1"
        );
        ensure!(
            !self.reduce_zero_label || self.mask_fill.is_some(),
            "[labels]: reduce_zero_label means nothing without semantic masks: name their folder (mask_dir), ask for those of \
             a source of your own (masks = 255), or leave it out"
        );
        Ok(())
    }

    /// The objects that are kept of a finished sample, in the unit that is asked for; `None` where no image's label says
    /// what is seen in it.
    pub(in crate::loader) fn objects(
        &self,
        source: &dyn Source,
        plan: &Plan,
    ) -> Option<Vec<TransformedObject>> {
        let of_image = |index: u64| match source.label(index as usize) {
            Label::Objects(objects) => Some(objects),
            _ => None,
        };
        let known: Vec<_> = plan.images.iter().map(|image| of_image(image.index)).collect();
        known.iter().any(Option::is_some).then(|| self.kept(plan, plan.objects(&known)))
    }

    fn kept(&self, plan: &Plan, mut seen: Vec<TransformedObject>) -> Vec<TransformedObject> {
        let images = Span { start: 0, len: plan.images.len() as u32 };
        let Self { min_area, min_visibility, unit, .. } = *self;
        let canvas = plan.size().rect();
        let last = [
            LabelOpKind::Clip(canvas),
            LabelOpKind::Keep(ObjectFilter::Visible { min_area, min_visibility }),
        ];
        label_apply::apply(&mut seen, &last.map(|kind| LabelOp { images, kind }));
        if unit == Unit::Normalized {
            let [x, y] = [canvas.width, canvas.height].map(|edge| 1.0 / f64::from(edge));
            let shrink = LabelOpKind::Map([x, 0.0, 0.0, 0.0, y, 0.0, 0.0, 0.0, 1.0]);
            label_apply::apply(&mut seen, &[LabelOp { images, kind: shrink }]);
        }
        seen
    }
}
