//! A sample while its augmentations edit it: verbs on a canvas, no pixels.
//!
//! Every verb has torchvision's meaning to the bit. Where the next verb cannot be expressed on top of what the draft
//! already holds (a second resampling, a border after a colour step), the draft is *sealed*: what there is becomes a
//! stage that renders a u8 image, and the verb goes on from that.

mod freeze;
mod mix;
pub mod op;
mod verbs;

use crate::error::Error;
use crate::geometry::{Orientation, Rect, Size};
use crate::plan::{self, Erase, ImageRef, Layer, Step, filter, kind, step};
use op::Op;
use verbs::square;

/// The longest canvas edge; what the JPEG format can hold.
pub const MAX_EDGE: u32 = 65_535;

/// A colour step, with the part of the canvas that its statistic was to be measured on.
#[derive(Clone, Copy, Debug, PartialEq)]
struct DraftStep {
    step: Step,
    measured: Option<Rect>,
}

#[derive(Clone, Debug, PartialEq)]
struct DraftLayer {
    layer: Layer,
    steps: Vec<DraftStep>,
}

#[derive(Clone, Debug, PartialEq)]
struct DraftPicture {
    window: Rect,
    share: f32,
    layers: Vec<DraftLayer>,
    steps: Vec<DraftStep>,
    erases: Vec<Erase>,
}

#[derive(Clone, Debug, PartialEq)]
struct DraftStage {
    size: Size,
    pictures: Vec<DraftPicture>,
    steps: Vec<DraftStep>,
}

/// A sample being planned: its images, and what has been asked for so far.
#[derive(Debug)]
pub struct Draft {
    images: Vec<ImageRef>,
    sealed: Vec<DraftStage>,
    canvas: DraftStage,
    labels: Vec<plan::LabelShare>,
    ops: Vec<Op>,
    normalized: bool,
    error: Option<Error>,
}

impl Draft {
    /// A draft that shows one stored image upright.
    pub fn new(index: u64, stored: Size, orientation: Orientation) -> Self {
        let size = orientation.apply_size(stored);
        Self {
            images: vec![ImageRef { index, stored, orientation, reserved: 0 }],
            sealed: Vec::new(),
            canvas: DraftStage::showing(size, 0, orientation),
            labels: vec![plan::LabelShare { image: 0, share: 1.0 }],
            ops: Vec::new(),
            normalized: false,
            error: None,
        }
    }

    /// The canvas as it stands: the size that the next verb works on.
    pub fn size(&self) -> Size {
        self.canvas.size
    }

    /// What has been done so far, as explicit ops.
    pub fn ops(&self) -> &[Op] {
        &self.ops
    }

    /// Remembers that the plan cannot be made; the first error stays and [`Draft::freeze`] returns it.
    pub fn fail(&mut self, error: Error) {
        self.error.get_or_insert(error);
    }

    /// Does one op. Errors are kept for [`Draft::freeze`].
    pub fn apply(&mut self, op: Op) {
        if self.error.is_some() {
            return;
        }
        if let Err(error) = self.check_order(&op).and_then(|()| self.perform(&op)) {
            self.fail(error);
        }
        self.ops.push(op);
    }

    fn perform(&mut self, op: &Op) -> Result<(), Error> {
        match *op {
            Op::Crop { top, left, height, width } => self.crop(Rect::new(left, top, width, height)),
            Op::CenterCrop { output_size } => self.center_crop(square(output_size)),
            Op::ResizedCrop { top, left, height, width, size, interpolation, antialias } => {
                self.crop(Rect::new(left, top, width, height))?;
                let target = self.resize_target(size, None)?;
                self.resize(target, interpolation, antialias)
            }
            Op::Resize { size, interpolation, max_size, antialias } => {
                let target = self.resize_target(size, max_size)?;
                self.resize(target, interpolation, antialias)
            }
            Op::Pad { padding, fill } => self.pad(padding.sides(), fill),
            Op::Hflip {} => self.mirror(1),
            Op::Vflip {} => self.mirror(2),
            Op::Brightness { factor } => self.recolour(step::BRIGHTNESS, factor, 0.0),
            Op::Contrast { factor } => self.recolour(step::CONTRAST, factor, 0.0),
            Op::Saturation { factor } => self.recolour(step::SATURATION, factor, 0.0),
            Op::Hue { factor } => self.recolour(step::HUE, factor, -0.5),
            Op::Grayscale { num_output_channels: 3 } => self.recolour(step::GRAYSCALE, 0.0, 0.0),
            Op::Grayscale { num_output_channels } => Err(Error::config(format!(
                "grayscale: num_output_channels is {num_output_channels}, but a sample always has 3: leave it out"
            ))),
            Op::Erase { i, j, h, w, v } => self.erase(Rect::new(j, i, w, h), v),
            Op::Normalize { mean, std } => self.normalize(mean, std),
        }
    }

    /// Resampling and colour cannot follow what only the output pass does.
    fn check_order(&self, op: &Op) -> Result<(), Error> {
        let follows = matches!(op, Op::Crop { .. } | Op::Hflip {} | Op::Vflip {} | Op::Erase { .. });
        let erased = self.canvas.pictures.iter().any(|picture| !picture.erases.is_empty());
        if follows || !(self.normalized || erased) {
            return Ok(());
        }
        let first = if self.normalized { "normalize" } else { "erase" };
        Err(Error::config(format!(
            "{op:?} comes after {first}, which works on the finished sample: move {first} to the end"
        )))
    }

    /// Turns what there is into a stage and goes on from its u8 output.
    pub fn seal(&mut self) -> Result<(), Error> {
        if self.canvas.pictures.iter().any(|picture| !picture.erases.is_empty()) {
            return Err(Error::config("erase must come last: what follows it needs a finished u8 image"));
        }
        let index = self.sealed.len() as u32;
        let next = DraftStage::showing(self.canvas.size, plan::STAGE_BIT | index, Orientation::UPRIGHT);
        self.sealed.push(std::mem::replace(&mut self.canvas, next));
        Ok(())
    }
}

impl DraftStage {
    /// A canvas that one whole image covers, pixel for pixel.
    fn showing(size: Size, image: u32, orientation: Orientation) -> Self {
        let layer = Layer { orientation, clip: size.rect(), scaled: size, image, ..blank(size.rect()) };
        let picture = DraftPicture {
            window: size.rect(),
            share: 1.0,
            layers: vec![DraftLayer { layer, steps: Vec::new() }],
            steps: Vec::new(),
            erases: Vec::new(),
        };
        Self { size, pictures: vec![picture], steps: Vec::new() }
    }

    /// The only layer, if it covers the canvas, is not yet resampled, and nothing was done behind it.
    fn plain_with_steps(&mut self) -> Option<(&mut Layer, &mut Vec<DraftStep>)> {
        let whole = self.size.rect();
        let [picture] = self.pictures.as_mut_slice() else { return None };
        let [DraftLayer { layer, steps }] = picture.layers.as_mut_slice() else { return None };
        let untouched = picture.steps.is_empty() && picture.erases.is_empty() && self.steps.is_empty();
        let as_stored =
            layer.is_unscaled() && layer.window == whole && layer.mirror == 0 && layer.mask == plan::NONE;
        (untouched && as_stored).then_some((layer, steps))
    }

    fn plain(&mut self) -> Option<&mut Layer> {
        self.plain_with_steps().map(|(layer, _)| layer)
    }

    fn has_steps(&self) -> bool {
        !self.steps.is_empty() || self.pictures.iter().any(|picture| !picture.steps.is_empty())
    }

    /// Whether a step's statistic was measured on the canvas as it is, so that the canvas must not be cut first.
    fn has_measured_steps(&self) -> bool {
        let of_pictures = self.pictures.iter().flat_map(|picture| &picture.steps);
        self.steps.iter().chain(of_pictures).any(|step| step.measured.is_some())
    }

    /// The new canvas size; a lone picture always fills it.
    fn resized_to(&mut self, size: Size) {
        self.size = size;
        if let [only] = self.pictures.as_mut_slice() {
            only.window = size.rect();
        }
    }
}

impl DraftPicture {
    /// Moves everything so that `rect` becomes the canvas; what is outside is lost.
    fn crop(&mut self, rect: Rect) {
        let canvas = rect.size().rect();
        let moved = |window: Rect| window.shifted(-rect.x, -rect.y);
        self.window = moved(self.window).intersect(canvas);
        for DraftLayer { layer, .. } in &mut self.layers {
            let from = moved(layer.window);
            let to = from.intersect(canvas);
            let start = |mirrored: bool, low: i64, high: i64| if mirrored { high } else { low } as i32;
            let dx = start(layer.mirror & 1 != 0, i64::from(to.x - from.x), from.right() - to.right());
            let dy = start(layer.mirror & 2 != 0, i64::from(to.y - from.y), from.bottom() - to.bottom());
            if layer.is_unscaled() {
                // Nothing is resampled: the clip itself is cut, so that a layer that fills its canvas stays plain.
                layer.clip = Rect::new(layer.clip.x + dx, layer.clip.y + dy, to.width, to.height);
                layer.scaled = to.size();
            } else {
                layer.offset = [layer.offset[0] + dx, layer.offset[1] + dy];
            }
            layer.window = to;
        }
        self.layers.retain(|kept| !kept.layer.window.is_empty());
        self.erases.iter_mut().for_each(|erase| erase.window = moved(erase.window).intersect(canvas));
        self.erases.retain(|erase| !erase.window.is_empty());
    }

    fn mirror(&mut self, axis: u32, canvas: Size) {
        self.window = mirrored(self.window, axis, canvas);
        for DraftLayer { layer, .. } in &mut self.layers {
            layer.window = mirrored(layer.window, axis, canvas);
            layer.mirror ^= axis;
        }
        self.erases.iter_mut().for_each(|erase| erase.window = mirrored(erase.window, axis, canvas));
    }
}

/// Where `rect` is once an area of `size` is mirrored.
fn mirrored(rect: Rect, axis: u32, size: Size) -> Rect {
    match axis {
        1 => Rect { x: (i64::from(size.width) - rect.right()) as i32, ..rect },
        _ => Rect { y: (i64::from(size.height) - rect.bottom()) as i32, ..rect },
    }
}

/// A layer without content in `window`.
fn blank(window: Rect) -> Layer {
    Layer {
        filter: filter::NEAREST,
        window,
        mask: plan::NONE,
        map: [1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0],
        ..bytemuck::Zeroable::zeroed()
    }
}
