//! The verbs that distort: each pixel of a pass is looked up where a map says, and labels go the other way.

use super::Draft;
use super::op::{Fill, Interpolation, LensModel, Op};
use crate::error::{Error, bail, ensure};
use crate::geometry::Size;
use crate::plan::CanvasFilter;
use crate::plan::distortion::{
    Distortion, DistortionKind, MAX_ALPHA, MAX_CELLS, MAX_NODES, MAX_SIGMA, MAX_STEP, nodes,
};
use crate::plan::label_ops::LabelOpKind;

impl Draft {
    pub(super) fn grid_distortion(&mut self, op: &Op) -> Result<(), Error> {
        let Op::GridDistortion { steps_x, steps_y, interpolation, fill } = op else { return Ok(()) };
        let Size { width, height } = self.size();
        for (name, steps, edge) in [("steps_x", steps_x, width), ("steps_y", steps_y, height)] {
            let cells = steps.len().saturating_sub(1);
            ensure!(
                (1..=MAX_CELLS.min(edge as usize)).contains(&cells),
                "grid_distortion: {name} must have a number for each of 1 to {MAX_CELLS} cells and one more, and no more cells \
                 than there are pixels, but has {} for {edge} pixels",
                steps.len()
            );
            ensure!(
                steps.iter().all(|step| (0.0..=MAX_STEP).contains(step)),
                "grid_distortion: {name} must be from 0 to {MAX_STEP}, but is {steps:?}"
            );
        }
        let (columns, rows) = (steps_x.clone(), steps_y.clone());
        self.distort("grid_distortion", DistortionKind::Grid { columns, rows }, *interpolation, *fill)
    }

    pub(super) fn optical_distortion(&mut self, op: &Op) -> Result<(), Error> {
        let Op::OpticalDistortion { k, mode, interpolation, fill } = *op else { return Ok(()) };
        ensure!(
            (-0.33..=1.0).contains(&k),
            "optical_distortion: k must be from -0.33, where the corners begin to fold, to 1, but is {k}"
        );
        let edges = [self.size().width, self.size().height].map(f64::from);
        let kind = match mode {
            LensModel::Camera => DistortionKind::Radial { scale: edges.map(f64::recip), k: [k, k] },
            LensModel::Fisheye => {
                let corner = (edges[0] / 2.0).hypot(edges[1] / 2.0);
                DistortionKind::Radial { scale: [corner.recip(); 2], k: [k, 0.0] }
            }
        };
        self.distort("optical_distortion", kind, interpolation, fill)
    }

    pub(super) fn elastic_transform(&mut self, op: &Op) -> Result<(), Error> {
        let Op::ElasticTransform { key, alpha, sigma, same_dxdy, interpolation, fill } = *op else {
            return Ok(());
        };
        ensure!(
            (0.0..=MAX_ALPHA).contains(&alpha),
            "elastic_transform: alpha must be from 0 to {MAX_ALPHA}, but is {alpha}"
        );
        ensure!(
            (1.0..=MAX_SIGMA).contains(&sigma),
            "elastic_transform: sigma must be from 1 to {MAX_SIGMA}, but is {sigma}"
        );
        let (size, have) = (self.size(), nodes(self.size(), sigma));
        ensure!(
            have <= MAX_NODES,
            "elastic_transform: a sigma of {sigma} on an image of {size} needs a field of {have} nodes, and {MAX_NODES} is \
             the most: use a greater sigma, or crop or resize first"
        );
        let kind = DistortionKind::Elastic { key, alpha, sigma, shared: same_dxdy };
        self.distort("elastic_transform", kind, interpolation, fill)
    }

    fn distort(
        &mut self,
        name: &str,
        kind: DistortionKind,
        interpolation: Interpolation,
        fill: Fill,
    ) -> Result<(), Error> {
        let nearest = match interpolation {
            Interpolation::Nearest => true,
            Interpolation::Bilinear => false,
            Interpolation::Bicubic => {
                bail!("{name}: interpolation must be nearest or bilinear, not bicubic")
            }
        };
        let (size, distortion) = (self.size(), self.distortions.len() as u32);
        self.distortions.push(Distortion { size, kind });
        self.filtered(CanvasFilter::Distort { distortion, nearest, fill: fill.rgb() })?;
        self.relabel(LabelOpKind::Distort(distortion));
        self.relabel(LabelOpKind::Clip(size.rect()));
        Ok(())
    }
}
