//! How objects reach a batch: what they are asked for as, and which of them are kept.

use super::instances::InstanceRules;
use crate::error::{Cause, Result, ensure};
use crate::label::{BoxFormat, InstanceMasks, Label, Unit};
use crate::options::{LabelsOptions, Options};
use crate::plan::label_apply::{self, TransformedObject};
use crate::plan::label_ops::{LabelOp, LabelOpKind, ObjectFilter};
use crate::plan::{ObjectRuns, Plan, Span};
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
    /// Whether masks that are not there are made of outlines.
    pub(in crate::loader) outline_masks: bool,
    /// The masks of objects that are asked for.
    pub(in crate::loader) instances: Option<InstanceRules>,
    /// Whether their ratio is said without them.
    has_ratio: bool,
    /// Whether samples are padded to their batch.
    pub(in crate::loader) pads: bool,
}

/// What is seen in a finished sample.
pub(in crate::loader) struct SeenObjects {
    /// In the unit that is asked for.
    pub(in crate::loader) list: Vec<TransformedObject>,
    /// Their masks, where those are asked for and the device has not been given them.
    pub(in crate::loader) masks: Option<ObjectRuns>,
}

impl LabelRules {
    pub(in crate::loader) fn of(Options { labels: options, output, loader, .. }: &Options) -> Self {
        let LabelsOptions { format, unit, instance_masks, mask_ratio, .. } = options;
        Self {
            expected: format.is_some() || unit.is_some() || instance_masks.is_some(),
            format: options.format(),
            unit: options.unit(),
            min_area: options.min_area(),
            min_visibility: options.min_visibility(),
            mask_fill: options.mask_fill,
            reduce_zero_label: options.reduce_zero_label(),
            outline_masks: options.outline_masks(),
            // Where nothing is rendered, samples have no size.
            instances: InstanceRules::of(options).filter(|_| !output.decode_only()),
            pads: loader.pad_to_largest(),
            has_ratio: mask_ratio.is_some() && instance_masks.is_none(),
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
        ensure!(
            !self.has_ratio,
            "[labels]: mask_ratio means nothing here: set instance_masks, or leave it out"
        );
        self.instances.as_ref().map_or(Ok(()), InstanceRules::check)?;
        Ok(())
    }

    /// Refuses masks of objects that have no outlines. Labels are looked through up to the first outline.
    pub(in crate::loader) fn check_outlines(&self, source: &dyn Source) -> Result<()> {
        let is_outlined = |index: usize| match source.label(index) {
            Label::Objects(objects) => objects.list.iter().any(|object| !object.polygons.is_empty()),
            _ => false,
        };
        let asked = match (&self.instances, self.outline_masks) {
            (Some(_), _) => "instance_masks",
            (None, true) => "outline_masks",
            (None, false) => return Ok(()),
        };
        ensure!(
            (0..source.len()).any(is_outlined),
            "[labels]: {asked} are made of outlines, and no object of the data has one: give labels with them (COCO's \
             `segmentation`, or YOLO lines of points), or leave it out"
        );
        Ok(())
    }

    /// The objects that are kept of a finished sample, and their masks; `None` where no image's label says what is seen in
    /// it.
    ///
    /// # Errors
    /// Masks that would be too large.
    pub(in crate::loader) fn objects(
        &self,
        source: &dyn Source,
        plan: &Plan,
    ) -> Result<Option<SeenObjects>, Cause> {
        let of_image = |index: u64| match source.label(index as usize) {
            Label::Objects(objects) => Some(objects),
            _ => None,
        };
        let known: Vec<_> = plan.images.iter().map(|image| of_image(image.index)).collect();
        known.iter().any(Option::is_some).then(|| self.kept(plan, plan.objects(&known))).transpose()
    }

    /// The same without masks.
    pub(in crate::loader) fn list(&self, source: &dyn Source, plan: &Plan) -> Option<Vec<TransformedObject>> {
        // A plane for each object leaves their order as it is.
        let instances = self.instances.filter(|rules| rules.kind == InstanceMasks::Overlap);
        Self { instances, ..*self }.objects(source, plan).ok().flatten().map(|seen| seen.list)
    }

    fn kept(&self, plan: &Plan, mut seen: Vec<TransformedObject>) -> Result<SeenObjects, Cause> {
        let images = Span { start: 0, len: plan.images.len() as u32 };
        let Self { min_area, min_visibility, unit, .. } = *self;
        // As DETR does: parts of a sample, not of the batch that it is padded to.
        let canvas = plan.unpadded.unwrap_or_else(|| plan.size()).rect();
        let last = [
            LabelOpKind::Clip(canvas),
            LabelOpKind::Keep(ObjectFilter::Visible { min_area, min_visibility }),
        ];
        label_apply::apply(&mut seen, &last.map(|kind| LabelOp { images, kind }), &[]);
        let masks = match &self.instances {
            Some(rules) => Some(rules.rasterise(&mut seen, plan.size())?),
            None => None,
        };
        if self.format.is_rotated() {
            seen.iter_mut().for_each(|object| object.rotated = Some(object.fitted()));
        }
        if unit == Unit::Normalized {
            let [x, y] = [canvas.width, canvas.height].map(|edge| 1.0 / f64::from(edge));
            let shrink = LabelOpKind::Map([x, 0.0, 0.0, 0.0, y, 0.0, 0.0, 0.0, 1.0]);
            label_apply::apply(&mut seen, &[LabelOp { images, kind: shrink }], &[]);
            for rotated in seen.iter_mut().filter_map(|object| object.rotated.as_mut()) {
                *rotated = rotated.scaled([x, y]);
            }
        }
        Ok(SeenObjects { list: seen, masks })
    }
}
