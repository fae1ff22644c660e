//! A sample while its augmentations edit it: verbs on a canvas, no pixels.
//!
//! Every verb has torchvision's meaning to the bit. Where the next verb cannot be expressed on top of what the draft
//! already holds (a second resampling, a border after a colour step), the draft is *flushed*: what there is becomes a
//! pass that renders a u8 image, and the verb goes on from that.

mod border;
mod chains;
mod compose;
mod distorted;
mod filled;
mod filtered;
mod flip;
mod fold;
mod freeze;
mod layer;
pub(crate) mod mask;
mod matrix;
mod mix;
pub mod op;
mod ops;
mod paste;
mod recolour;
mod shrink;
mod target;
mod warp;

use crate::error::{Error, bail};
use crate::geometry::{Orientation, Rect, Size};
use crate::label::Objects;
use crate::plan::distortion::Distortion;
use crate::plan::label_apply::{self, TransformedObject};
use crate::plan::label_ops::{LabelOp, LabelOpKind};
use crate::plan::{self, Content, ImageRef, Layer, LayerSource, Modality, Sampled, Span, Step};
pub use compose::Tile;
use layer::{DraftInput, DraftLayer};
pub(crate) use matrix::product;
use op::Op;
use std::sync::Arc;
pub use target::Target;

/// The longest canvas edge; what the JPEG format can hold.
pub const MAX_EDGE: u32 = 65_535;
/// The most pixels of a canvas that is rendered, and of the rows between the two passes of a resampling: 2^30.
pub const MAX_CANVAS_PIXELS: u64 = 1 << 30;

/// A colour step, with the part of the canvas that its statistic was to be measured on.
#[derive(Clone, Copy, Debug, PartialEq)]
struct DraftStep {
    step: Step,
    measured: Option<Rect>,
}

#[derive(Clone, Debug, PartialEq)]
struct DraftPass {
    size: Size,
    inputs: Vec<DraftInput>,
    steps: Vec<DraftStep>,
}

/// A layer that shows an image pixel for pixel on the whole canvas, to be changed.
struct Plain<'a> {
    window: &'a mut Rect,
    sampled: &'a mut Sampled,
    source: &'a mut Size,
    steps: &'a mut Vec<DraftStep>,
}

/// A sample being planned: its images, and what has been asked for so far.
#[derive(Debug)]
pub struct Draft {
    images: Vec<ImageRef>,
    flushed: Vec<DraftPass>,
    canvas: DraftPass,
    /// Weights of the kernels of filters.
    weights: Vec<f32>,
    /// What filters and labels are distorted by.
    distortions: Vec<Distortion>,
    labels: Vec<plan::LabelShare>,
    /// What is seen in each image, as far as it is known.
    objects: Vec<Option<Arc<Objects>>>,
    label_ops: Vec<LabelOp>,
    ops: Vec<Op>,
    normalized: bool,
    composed: bool,
    target: Option<Target>,
    /// The size before it was padded to its batch.
    unpadded: Option<Size>,
    /// Flushed passes that are smaller than what they show, to be enlarged again.
    shrunk: Vec<u32>,
    error: Option<Error>,
}

impl Draft {
    /// A draft that shows one stored image upright.
    pub fn new(index: u64, stored: Size, orientation: Orientation) -> Self {
        let size = orientation.apply_size(stored);
        Self {
            images: vec![ImageRef { index, stored, orientation, modality: Modality::Image }],
            flushed: Vec::new(),
            canvas: DraftPass::showing(LayerSource::Image(0), orientation, size),
            weights: Vec::new(),
            distortions: Vec::new(),
            labels: vec![plan::LabelShare { image: 0, share: 1.0 }],
            objects: vec![None],
            label_ops: Vec::new(),
            ops: Vec::new(),
            normalized: false,
            composed: false,
            target: None,
            unpadded: None,
            shrunk: Vec::new(),
            error: None,
        }
    }

    /// The same draft, of an image in which these objects are seen, for augmentations that look at them.
    pub fn with_objects(mut self, objects: Arc<Objects>) -> Self {
        self.objects[0] = Some(objects);
        self
    }

    /// Does something to the labels of all images so far: what is done to their pixels, or what those know nothing of.
    pub fn relabel(&mut self, kind: LabelOpKind) {
        let images = Span { start: 0, len: self.images.len() as u32 };
        self.label_ops.push(LabelOp { images, kind });
    }

    /// The objects on the canvas as it stands, in its pixels; of images whose objects are not known there are none.
    pub fn objects(&self) -> Vec<TransformedObject> {
        let mut seen = label_apply::pick_up(&self.images, &self.objects);
        label_apply::apply(&mut seen, &self.label_ops, &self.distortions);
        seen
    }

    /// The canvas as it stands: the size that the next verb works on.
    pub fn size(&self) -> Size {
        self.canvas.size
    }

    /// The plan of a part of the canvas as it stands, whatever is done to it later.
    pub(crate) fn plan_of(&self, part: Rect) -> Result<plan::Plan, Error> {
        if let Some(error) = &self.error {
            bail!("{error}");
        }
        let mut draft = Self {
            images: self.images.clone(),
            flushed: self.flushed.clone(),
            canvas: self.canvas.clone(),
            weights: self.weights.clone(),
            distortions: self.distortions.clone(),
            labels: self.labels.clone(),
            objects: self.objects.clone(),
            label_ops: self.label_ops.clone(),
            shrunk: self.shrunk.clone(),
            ops: Vec::new(),
            error: None,
            ..*self
        };
        let Rect { x: left, y: top, width, height } = part;
        draft.apply(Op::Crop { top, left, height, width });
        draft.freeze()
    }

    /// What has been done so far, as explicit ops.
    pub fn ops(&self) -> &[Op] {
        &self.ops
    }

    /// Remembers that the plan cannot be made; the first error stays and [`Draft::freeze`] returns it.
    pub fn fail(&mut self, error: Error) {
        self.error.get_or_insert(error);
    }

    /// Whether the plan cannot be made.
    pub(crate) fn has_failed(&self) -> bool {
        self.error.is_some()
    }

    /// Why the plan cannot be made, for another draft that needs this one.
    pub(crate) fn take_error(&mut self) -> Option<Error> {
        self.error.take()
    }

    /// Says more of the error, if there is one.
    pub(crate) fn amend_error(&mut self, amend: impl FnOnce(Error) -> Error) {
        self.error = self.error.take().map(amend);
    }

    /// Does what may fail; the error is kept for [`Draft::freeze`].
    pub(crate) fn attempt(&mut self, work: impl FnOnce(&mut Self) -> Result<(), Error>) {
        if let Err(error) = work(self) {
            self.fail(error);
        }
    }

    /// Does one op. Errors are kept for [`Draft::freeze`].
    pub fn apply(&mut self, op: Op) {
        if self.error.is_some() {
            return;
        }
        self.attempt(|draft| draft.check_order(&op).and_then(|()| draft.perform(&op)));
        self.ops.push(op);
    }

    /// Resampling and colour cannot follow what only the output pass does.
    fn check_order(&self, op: &Op) -> Result<(), Error> {
        let follows = matches!(
            op,
            Op::Crop { .. }
                | Op::CenterCrop { .. }
                | Op::Hflip {}
                | Op::Vflip {}
                | Op::Erase { .. }
                | Op::SanitizeBoundingBoxes { .. }
                | Op::KeepCenters { .. }
        );
        if let Some(first) = self.finished_by().filter(|_| !follows) {
            let op = op.name();
            bail!("{op} comes after {first}, which works on the finished sample: move {first} to the end");
        }
        Ok(())
    }

    /// The op, if there was one, that only the output pass does: its values are no u8 levels.
    fn finished_by(&self) -> Option<&'static str> {
        match (self.normalized, self.canvas.is_erased()) {
            (true, _) => Some("normalize"),
            (_, true) => Some("erase"),
            _ => None,
        }
    }

    /// A black border is 0 before normalise and something else after it.
    fn check_no_border(&self, op: &str) -> Result<(), Error> {
        if let Some(first) = self.finished_by() {
            bail!(
                "{op} reaches beyond the edge and adds black, but comes after {first}: move {first} to the end"
            );
        }
        Ok(())
    }

    /// Turns what there is into a pass and goes on from its u8 output.
    pub fn flush_pass(&mut self) -> Result<(), Error> {
        if self.canvas.is_erased() {
            bail!("erase must come last: what follows it needs a finished u8 image");
        }
        let index = self.flushed.len() as u32;
        let next = DraftPass::showing(LayerSource::Pass(index), Orientation::UPRIGHT, self.canvas.size);
        self.flushed.push(std::mem::replace(&mut self.canvas, next));
        Ok(())
    }
}

impl DraftPass {
    /// A canvas that one whole image or pass covers, pixel for pixel.
    fn showing(from: LayerSource, orientation: Orientation, size: Size) -> Self {
        let layer = DraftLayer::whole(from, orientation, size);
        Self { size, inputs: vec![DraftInput::whole(size, vec![layer])], steps: Vec::new() }
    }

    /// The only layer, if it covers the canvas, is not yet resampled, and nothing was done after it.
    fn plain(&mut self) -> Option<Plain<'_>> {
        let whole = self.size.rect();
        let [input] = self.inputs.as_mut_slice() else { return None };
        let [drawn] = input.layers.as_mut_slice() else { return None };
        let untouched = input.steps.is_empty() && input.erases.is_empty() && self.steps.is_empty();
        let covers = drawn.layer.window == whole && drawn.mask.is_empty();
        if !(untouched && drawn.is_copy() && covers) {
            return None;
        }
        let DraftLayer { layer: Layer { window, content, .. }, source, steps, .. } = drawn;
        match content {
            Content::Sampled(sampled) => Some(Plain { window, sampled, source, steps }),
            Content::Solid(_) => None,
        }
    }

    /// Whether anything was erased, which happens after normalise.
    fn is_erased(&self) -> bool {
        self.inputs.iter().any(|input| !input.erases.is_empty())
    }

    fn has_steps(&self) -> bool {
        !self.steps.is_empty() || self.inputs.iter().any(|input| !input.steps.is_empty())
    }

    /// Whether a step's statistic was measured on the canvas as it is, so that the canvas must not be cut first.
    fn has_measured_steps(&self) -> bool {
        let of_pictures = self.inputs.iter().flat_map(|input| &input.steps);
        self.steps.iter().chain(of_pictures).any(|step| step.measured.is_some())
    }

    /// The new canvas size; a lone input always fills it.
    fn resized_to(&mut self, size: Size) {
        self.size = size;
        if let [only] = self.inputs.as_mut_slice() {
            only.window = size.rect();
        }
    }
}
