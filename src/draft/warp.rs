//! Affine maps, rotations and perspectives: one resampling through a map, with torchvision's arithmetic.

mod grid;

use grid::perspective_coefficients;

use super::flip::Flip;
use super::matrix::invert;
use super::op::{Fill, Interpolation, Op};
use super::ops::check_size;
use super::{Draft, DraftLayer, DraftPass, Plain};
use crate::error::{Error, bail, ensure};
use crate::geometry::Size;
use crate::plan::label_ops::LabelOpKind;
use crate::plan::{Method, Outside, PillowFilter, PillowMap, WarpFilter, WarpMap};

impl Op {
    /// Whether a perspective can take the four points to the four others: not if they lie on one line.
    pub fn is_perspective(startpoints: [[i32; 2]; 4], endpoints: [[i32; 2]; 4]) -> bool {
        perspective_coefficients(startpoints, endpoints).is_some()
    }
}

impl Draft {
    /// Maps the canvas to one of `size`.
    ///
    /// A decoded image, cropped or mirrored or recoloured, is sampled as it is; anything else becomes a pass first.
    pub(super) fn resample(&mut self, size: Size, method: Method) -> Result<(), Error> {
        if self.canvas.plain().is_none() {
            self.flush_pass()?;
        }
        if let Some(Plain { window, sampled, .. }) = self.canvas.plain() {
            sampled.method = method;
            sampled.scaled = size;
            *window = size.rect();
        }
        self.canvas.resized_to(size);
        Ok(())
    }

    /// Labels go the other way through a map than the pixels that it looks up; what leaves the canvas is cut.
    pub(super) fn record_map(&mut self, forward: [f64; 9]) {
        self.relabel(LabelOpKind::Map(forward));
        self.relabel(LabelOpKind::Clip(self.canvas.size.rect()));
    }

    pub(super) fn affine(&mut self, op: &Op) -> Result<(), Error> {
        let Op::Affine { angle, translate, scale, shear, interpolation, fill, center } = *op else {
            return Ok(());
        };
        ensure!(scale > 0.0 && scale.is_finite(), "affine: scale should be positive, but is {scale}");
        let size = self.size();
        let middle = grid::from_middle(center, size);
        let inverse = grid::inverse_affine(middle, angle, translate, scale, shear.both());
        let map = usable("affine", grid::affine_map(inverse, size))?;
        let filter = filter_of("affine", interpolation)?;
        self.resample(size, Method::Warp(WarpMap { map, filter, outside: outside(fill) }))?;
        self.record_map(grid::forward_affine(inverse, size, size));
        Ok(())
    }

    pub(super) fn rotate(&mut self, op: &Op) -> Result<(), Error> {
        let Op::Rotate { angle, interpolation, expand, center, fill } = *op else { return Ok(()) };
        let (size, angle) = (self.size(), angle.rem_euclid(360.0));
        let filter = filter_of("rotate", interpolation)?;
        let inverse = grid::inverse_affine(grid::from_middle(center, size), -angle, [0.0; 2], 1.0, [0.0; 2]);
        // A quarter of a turn moves whole pixels only where the middle of the image stays in the middle of the canvas.
        let quarters = expand || size.width == size.height;
        match (center.is_none(), angle) {
            (true, 0.0) => {}
            (true, 180.0) => self.mirror(Flip::LeftRight).and_then(|()| self.mirror(Flip::TopBottom))?,
            (true, 90.0) if quarters => self.transpose().and_then(|()| self.mirror(Flip::TopBottom))?,
            (true, 270.0) if quarters => self.transpose().and_then(|()| self.mirror(Flip::LeftRight))?,
            _ => {
                let map = usable("rotate", grid::affine_map(inverse, size))?;
                let target = if expand { grid::expanded(inverse, size) } else { size };
                check_size("rotate", target)?;
                self.resample(target, Method::Warp(WarpMap { map, filter, outside: outside(fill) }))?;
            }
        }
        self.record_map(grid::forward_affine(inverse, size, self.size()));
        Ok(())
    }

    pub(super) fn perspective(&mut self, op: &Op) -> Result<(), Error> {
        let Op::Perspective { startpoints, endpoints, interpolation, fill } = *op else { return Ok(()) };
        let coefficients = perspective_coefficients(startpoints, endpoints).ok_or_else(|| {
            Error::config(format!(
                "perspective: no map takes {startpoints:?} to {endpoints:?}: move points that lie on one line"
            ))
        })?;
        let size = self.size();
        let map = usable("perspective", grid::perspective_map(coefficients, size))?;
        let filter = filter_of("perspective", interpolation)?;
        self.resample(size, Method::Warp(WarpMap { map, filter, outside: outside(fill) }))?;
        self.record_map(grid::forward_perspective(coefficients));
        Ok(())
    }

    pub(super) fn pillow_affine(
        &mut self,
        matrix: [f64; 6],
        interpolation: Interpolation,
        fill: Fill,
    ) -> Result<(), Error> {
        let filter = match interpolation {
            Interpolation::Bilinear => PillowFilter::Bilinear,
            Interpolation::Bicubic => PillowFilter::Bicubic,
            Interpolation::Nearest => {
                bail!("pillow_affine: resample must be bilinear or bicubic, not nearest: affine has that");
            }
        };
        let [a, b, c, d, e, f] = matrix;
        let forward = invert(&[[a, b, c], [d, e, f], [0.0, 0.0, 1.0]]).ok_or_else(|| {
            Error::config(format!(
                "pillow_affine: data {matrix:?} leads to no image: use numbers that have an inverse"
            ))
        })?;
        let size = self.size();
        self.resample(size, Method::Pillow(PillowMap { matrix, filter }))?;
        if fill.rgb() != [0; 3] {
            let background = DraftLayer::solid(size.rect(), fill.rgb());
            self.canvas.inputs.iter_mut().for_each(|input| input.layers.insert(0, background.clone()));
        }
        self.record_map(std::array::from_fn(|i| forward[i / 3][i % 3]));
        Ok(())
    }

    /// Unlike the others, this composes its map with those of the images on the canvas, so that each is sampled once. Without
    /// antialias it does so for a plain image alone: what was resized or laid side by side before is rendered first.
    pub(super) fn warp_perspective(&mut self, op: &Op) -> Result<(), Error> {
        let Op::WarpPerspective { matrix, size, fill, antialias } = *op else { return Ok(()) };
        let size = size.square();
        check_size("warp_perspective", size)?;
        let unusable = || {
            Error::config(format!(
                "warp_perspective: the matrix {matrix:?} leads to no image: use one that has an inverse"
            ))
        };
        let inverse = invert(&matrix).ok_or_else(unusable)?;
        let filter = if antialias { WarpFilter::Widened } else { WarpFilter::Bilinear };
        let folded = |canvas: &DraftPass| canvas.folded(&inverse, size, fill.rgb(), filter);
        let is_folded = !self.shows_shrunk() && (antialias || self.canvas.plain().is_some());
        let whole = if is_folded { folded(&self.canvas) } else { None };
        self.canvas = match whole {
            Some(folded) => folded,
            None => {
                self.flush_pass()?;
                folded(&self.canvas).ok_or_else(unusable)?
            }
        };
        self.record_map(std::array::from_fn(|i| matrix[i / 3][i % 3]));
        Ok(())
    }

    pub(super) fn warp_affine(
        &mut self,
        matrix: [[f64; 3]; 2],
        interpolation: Interpolation,
        fill: Option<Fill>,
    ) -> Result<(), Error> {
        let forward = [matrix[0], matrix[1], [0.0, 0.0, 1.0]];
        let inverse = invert(&forward).ok_or_else(|| {
            Error::config(format!(
                "warp_affine: the matrix {matrix:?} leads to no image: use one that has an inverse"
            ))
        })?;
        let size = self.size();
        let inverse = grid::between_middles(&inverse, size);
        let map = usable("warp_affine", grid::affine_map(inverse, size))?;
        let filter = filter_of("warp_affine", interpolation)?;
        self.resample(size, Method::Warp(WarpMap { map, filter, outside: outside(fill) }))?;
        self.record_map(std::array::from_fn(|i| forward[i / 3][i % 3]));
        Ok(())
    }

    /// Swaps rows and columns of the canvas and its labels, which are mirrored by that.
    pub(super) fn swap_axes(&mut self) -> Result<(), Error> {
        self.transpose()?;
        self.relabel(LabelOpKind::Map([0.0, 1.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0]));
        self.relabel(LabelOpKind::Mirrored);
        Ok(())
    }

    /// Swaps rows and columns.
    fn transpose(&mut self) -> Result<(), Error> {
        if self.canvas.plain().is_none() {
            self.flush_pass()?;
        }
        let size = self.size().transposed();
        if let Some(Plain { window, sampled, source, steps }) = self.canvas.plain() {
            sampled.orientation = sampled.orientation.transposed();
            (sampled.clip, *window) = (sampled.clip.transposed(), size.rect());
            (sampled.scaled, *source) = (size, source.transposed());
            for step in steps {
                step.measured = step.measured.map(|rect| rect.transposed());
            }
        }
        self.canvas.resized_to(size);
        Ok(())
    }
}

/// torch's bilinear `grid_sample` never widens its filter.
fn filter_of(op: &str, interpolation: Interpolation) -> Result<WarpFilter, Error> {
    match interpolation {
        Interpolation::Nearest => Ok(WarpFilter::Nearest),
        Interpolation::Bilinear => Ok(WarpFilter::Bilinear),
        Interpolation::Bicubic => bail!("{op}: interpolation must be nearest or bilinear, not bicubic"),
    }
}

/// No fill is not the same as black: only a fill is blended with the edge.
fn outside(fill: Option<Fill>) -> Outside {
    fill.map_or(Outside::Black, |fill| Outside::Fill(fill.rgb()))
}

fn usable(op: &str, map: [f32; 9]) -> Result<[f32; 9], Error> {
    let finite = map.iter().all(|number| number.is_finite());
    ensure!(finite, "{op}: the arguments give no map of finite numbers: use smaller ones");
    Ok(map)
}
