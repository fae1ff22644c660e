//! A sample while its augmentations edit it: verbs on a canvas, no pixels.
//!
//! Every verb has torchvision's meaning to the bit. Where the next verb cannot be expressed on top of what the draft
//! already holds (a second resampling, a border after a colour step), the draft is *sealed*: what there is becomes a
//! stage that renders a u8 image, and the verb goes on from that.

mod compose;
mod filtered;
mod fold;
mod freeze;
mod mix;
pub mod op;
mod recolour;
mod target;
mod verbs;
mod warp;

use crate::error::Error;
use crate::geometry::{Orientation, Rect, Size};
use crate::label::Objects;
use crate::plan::carry::{self, Seen};
use crate::plan::moves::{How, Keep, Move};
use crate::plan::{self, Erase, ImageRef, Layer, Span, Step, filter, kind, step};
pub use compose::Tile;
pub(crate) use fold::product;
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
struct DraftLayer {
    layer: Layer,
    /// Size of the whole oriented source.
    source: Size,
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
    /// What is seen in each image, as far as it is known.
    objects: Vec<Option<Arc<Objects>>>,
    moves: Vec<Move>,
    ops: Vec<Op>,
    normalized: bool,
    composed: bool,
    target: Option<Target>,
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
            objects: vec![None],
            moves: Vec::new(),
            ops: Vec::new(),
            normalized: false,
            composed: false,
            target: None,
            error: None,
        }
    }

    /// The same draft, of an image in which these objects are seen, for augmentations that look at them.
    pub fn with_objects(mut self, objects: Arc<Objects>) -> Self {
        self.objects[0] = Some(objects);
        self
    }

    /// Does something to the labels of all images so far that their pixels know nothing of.
    pub fn relabel(&mut self, how: How) {
        self.record(how);
    }

    /// Lets the labels of all images so far take part in what is done to their pixels.
    fn record(&mut self, how: How) {
        let images = Span { start: 0, len: self.images.len() as u32 };
        self.moves.push(Move { images, how });
    }

    /// The objects on the canvas as it stands, in its pixels; of images whose objects are not known there are none.
    pub fn objects(&self) -> Vec<Seen> {
        let mut seen = carry::pick_up(&self.images, &self.objects);
        carry::carry(&mut seen, &self.moves);
        seen
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
            Op::CenterCrop { output_size } => self.center_crop(output_size.square()),
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
            Op::Affine { .. } => self.affine(op),
            Op::Rotate { .. } => self.rotate(op),
            Op::Perspective { .. } => self.perspective(op),
            Op::Hflip {} => self.flip(1),
            Op::Vflip {} => self.flip(2),
            Op::WarpPerspective { matrix, size, fill } => self.warp_perspective(matrix, size.square(), fill),
            Op::Brightness { factor } => self.blend_with(op, step::BRIGHTNESS, factor),
            Op::Contrast { factor } => self.blend_with(op, step::CONTRAST, factor),
            Op::Saturation { factor } => self.blend_with(op, step::SATURATION, factor),
            Op::Hue { factor } => self.turn_hue(factor),
            Op::Hsv { hue, saturation, value } => self.hsv(hue, saturation, value),
            Op::Grayscale { num_output_channels: 3 } => self.recolour(step::GRAYSCALE, [0.0; 3]),
            Op::Grayscale { num_output_channels } => Err(Error::config(format!(
                "grayscale: num_output_channels is {num_output_channels}, but a sample always has 3: leave it out"
            ))),
            Op::Solarize { threshold } => self.solarize(threshold),
            Op::Posterize { bits } => self.posterize(bits),
            Op::Invert {} => self.recolour(step::SOLARIZE, [0.0; 3]),
            Op::PermuteChannels { permutation } => self.permute(permutation),
            Op::Autocontrast {} => self.recolour(step::AUTOCONTRAST, [0.0; 3]),
            Op::Equalize {} => self.recolour(step::EQUALIZE, [0.0; 3]),
            Op::Sharpness { factor } => self.sharpness(factor),
            Op::GaussianBlur { kernel_size, sigma } => self.gaussian_blur(kernel_size, sigma),
            Op::Erase { i, j, h, w, v } => self.erase(Rect::new(j, i, w, h), v),
            Op::SanitizeBoundingBoxes { min_size, min_area } => self.sanitize(min_size, min_area),
            Op::KeepCenters { top, left, height, width } => {
                self.record(How::Keep(Keep::Centred(Rect::new(left, top, width, height))));
                Ok(())
            }
            Op::Normalize { mean, std } => self.normalize(mean, std),
        }
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
        match self.finished_by() {
            Some(first) if !follows => Err(Error::config(format!(
                "{} comes after {first}, which works on the finished sample: move {first} to the end",
                op.name()
            ))),
            _ => Ok(()),
        }
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
        self.finished_by().map_or(Ok(()), |first| {
            Err(Error::config(format!(
                "{op} reaches beyond the edge and adds black, but comes after {first}: move {first} to the end"
            )))
        })
    }

    /// Turns what there is into a stage and goes on from its u8 output.
    pub fn seal(&mut self) -> Result<(), Error> {
        if self.canvas.is_erased() {
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
            layers: vec![DraftLayer { layer, source: size, steps: Vec::new() }],
            steps: Vec::new(),
            erases: Vec::new(),
        };
        Self { size, pictures: vec![picture], steps: Vec::new() }
    }

    /// The only layer, if it covers the canvas, is not yet resampled, and nothing was done behind it.
    fn plain(&mut self) -> Option<&mut DraftLayer> {
        let whole = self.size.rect();
        let [picture] = self.pictures.as_mut_slice() else { return None };
        let [drawn] = picture.layers.as_mut_slice() else { return None };
        let untouched = picture.steps.is_empty() && picture.erases.is_empty() && self.steps.is_empty();
        (untouched && drawn.is_copy() && drawn.layer.window == whole).then_some(drawn)
    }

    /// Whether anything was erased, which happens after normalise.
    fn is_erased(&self) -> bool {
        self.pictures.iter().any(|picture| !picture.erases.is_empty())
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

/// A layer that has not been resampled carries the filter that a 1:1 copy needs least from.
const UNSCALED: u32 = filter::NEAREST;

impl DraftLayer {
    /// Whether the layer shows its clip pixel for pixel: what is done to its window can then be done to its source.
    fn is_copy(&self) -> bool {
        let layer = &self.layer;
        layer.kind == kind::UPRIGHT
            && layer.clip.size() == layer.scaled
            && layer.filter == UNSCALED
            && layer.mask == plan::NONE
    }

    /// Whether nothing below shows through in `area`.
    fn covers(&self, area: Rect) -> bool {
        self.layer.fills_window() && self.layer.window.contains(area)
    }

    /// Keeps of the window only what lies in `canvas`.
    fn cut(&mut self, canvas: Rect) {
        let copy = self.is_copy();
        let layer = &mut self.layer;
        let from = layer.window;
        let to = from.intersect(canvas);
        let start = |mirrored: bool, low: i64, high: i64| if mirrored { high } else { low } as i32;
        let left = (i64::from(to.x - from.x), from.right() - to.right());
        let above = (i64::from(to.y - from.y), from.bottom() - to.bottom());
        let dx = start(layer.mirror & 1 != 0, left.0, left.1);
        let dy = start(layer.mirror & 2 != 0, above.0, above.1);
        layer.window = to;
        if copy {
            let corner = layer.clip.shifted(dx, dy);
            layer.clip = Rect { width: to.width, height: to.height, ..corner };
            layer.scaled = to.size();
        } else {
            layer.offset[0] += dx;
            layer.offset[1] += dy;
        }
    }

    fn mirror(&mut self, axis: u32, canvas: Size) {
        self.layer.window = mirrored(self.layer.window, axis, canvas);
        if !self.is_copy() {
            self.layer.mirror ^= axis;
            return;
        }
        // Nothing is resampled yet: turning the source is exact, and a later resize then sees it turned.
        self.layer.clip = mirrored(self.layer.clip, axis, self.source);
        self.layer.orientation = Orientation(self.layer.orientation.0 ^ axis);
        for step in &mut self.steps {
            step.measured = step.measured.map(|rect| mirrored(rect, axis, self.source));
        }
    }
}

impl DraftPicture {
    /// Moves everything so that `rect` becomes the canvas; what is outside is lost.
    fn crop(&mut self, rect: Rect) {
        let canvas = rect.size().rect();
        let moved = |window: Rect| window.shifted(-rect.x, -rect.y);
        self.window = moved(self.window).intersect(canvas);
        for drawn in &mut self.layers {
            drawn.layer.window = moved(drawn.layer.window);
        }
        self.layers.retain(|drawn| !drawn.layer.window.intersect(canvas).is_empty());
        self.layers.iter_mut().for_each(|drawn| drawn.cut(canvas));
        if let Some(lowest_seen) = self.layers.iter().rposition(|drawn| drawn.covers(canvas)) {
            self.layers.drain(..lowest_seen);
        }
        self.erases.iter_mut().for_each(|erase| erase.window = moved(erase.window).intersect(canvas));
        self.erases.retain(|erase| !erase.window.is_empty());
    }

    fn mirror(&mut self, axis: u32, canvas: Size) {
        self.window = mirrored(self.window, axis, canvas);
        self.layers.iter_mut().for_each(|drawn| drawn.mirror(axis, canvas));
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
        filter: UNSCALED,
        window,
        mask: plan::NONE,
        map: [1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0],
        ..bytemuck::Zeroable::zeroed()
    }
}
