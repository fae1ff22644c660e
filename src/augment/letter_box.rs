//! LetterBox: the whole image inside a canvas of another shape.

use super::prelude::*;

/// Resizes the image to fit into `size` and fills the rest with a border (Ultralytics' `LetterBox`).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct LetterBox {
    /// `[height, width]` in pixels, or one number for a square; each from 1 to 65535.
    pub size: Extent,
    /// Shrink the canvas to the next multiple of `stride` around the image, so that its size depends on the image's.
    #[serde(default)]
    pub auto: bool,
    /// With `auto`, the canvas's edges are multiples of this; at least 1.
    #[serde(default = "stride")]
    pub stride: u32,
    /// Enlarge images that are smaller than `size`.
    #[serde(default = "check::yes")]
    pub scaleup: bool,
    /// Put the border on all sides; otherwise on the right and the bottom only.
    #[serde(default = "check::yes")]
    pub center: bool,
    /// Fill colour of the border: a grey level or `[r, g, b]`, each from 0 to 255.
    #[serde(default = "grey")]
    pub fill: Fill,
    /// Widen the filter when shrinking. Ultralytics does not.
    #[serde(default = "check::yes")]
    pub antialias: bool,
}

const fn stride() -> u32 {
    32
}

/// Ultralytics' grey.
pub(super) const fn grey() -> Fill {
    Fill::Grey(114)
}

impl LetterBox {
    /// Fits into `size` with Ultralytics' defaults.
    pub fn new(size: impl Into<Extent>) -> Self {
        let size = size.into();
        Self {
            size,
            auto: false,
            stride: stride(),
            scaleup: true,
            center: true,
            fill: grey(),
            antialias: true,
        }
    }

    setters! {
        /// Sets whether small images are made larger.
        scaleup: bool;
        /// Sets whether the border is on all sides.
        center: bool;
        /// Sets the border's colour.
        fill: into Fill;
        /// Sets whether the filter is widened when shrinking.
        antialias: bool;
    }

    /// The size that an image of size `of` is resampled to, and the border: left, top, right, bottom.
    pub fn make_params(&self, of: Size) -> (Size, [u32; 4]) {
        let want = self.size.square();
        let edges = |size: Size| [size.width, size.height].map(f64::from);
        let [[width, height], [want_width, want_height]] = [edges(of), edges(want)];
        let ratio = (want_height / height).min(want_width / width);
        let ratio = if self.scaleup { ratio } else { ratio.min(1.0) };
        let fitted = |edge: f64, max: u32| ((edge * ratio).round_ties_even().max(1.0) as u32).min(max);
        let size = Size::new(fitted(width, want.width), fitted(height, want.height));
        let border = |outer: u32, edge: u32| {
            let free = if self.auto { (outer - edge) % self.stride } else { outer - edge };
            let side = f64::from(free) / if self.center { 2.0 } else { 1.0 };
            let first = if self.center { (side - 0.1).round_ties_even() } else { 0.0 };
            [first as u32, (side + 0.1).round_ties_even() as u32]
        };
        let [left, right] = border(want.width, size.width);
        let [top, bottom] = border(want.height, size.height);
        (size, [left, top, right, bottom])
    }
}

/// The size of an image whose longer edge becomes `edge`: the shorter one rounded up.
pub(super) fn longest(of: Size, edge: u32) -> Size {
    let ratio = f64::from(edge) / f64::from(of.width.max(of.height));
    let scaled = |length: u32| ((f64::from(length) * ratio).ceil() as u32).clamp(1, edge);
    match of.width.max(of.height) == edge {
        true => of,
        false => Size::new(scaled(of.width), scaled(of.height)),
    }
}

/// Resizes the image bilinearly, with or without antialias, unless it has that size already.
pub(super) fn resize(draft: &mut Draft, size: Size, antialias: bool) {
    if size != draft.size() {
        let (size, interpolation) = (Extent::from(size), Interpolation::Bilinear);
        draft.apply(Op::Resize { size, interpolation, max_size: None, antialias });
    }
}

impl Augment for LetterBox {
    fn check(&self) -> Result<()> {
        check::size(self.name(), self.size)?;
        ensure!(self.stride > 0, "LetterBox: stride is 0: give the edge that sizes are multiples of");
        Ok(())
    }

    fn plan(&self, draft: &mut Draft, _partners: Vec<Draft>, _rng: &mut dyn Draws) {
        let sized = Self { size: draft.sized(self.size), ..*self };
        let (size, padding) = sized.make_params(draft.size());
        resize(draft, size, self.antialias);
        if padding != [0; 4] {
            draft.apply(Op::Pad {
                padding: Padding::Sides(padding),
                fill: self.fill,
                padding_mode: PaddingMode::Constant,
            });
        }
    }
}
