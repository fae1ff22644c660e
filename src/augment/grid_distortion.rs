//! GridDistortion: makes the cells of a grid wider and narrower.

use super::Limit;
use super::prelude::*;

/// Makes the columns and rows of a grid wider and narrower by random factors, with probability `p` (Albumentations'
/// `GridDistortion`).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct GridDistortion {
    /// Cells along each axis, from 1 to 256; no more than there are pixels.
    pub num_steps: u32,
    /// What the factors differ from 1 by: one number for both directions, or `[min, max]`; from 0 to 1 as one number.
    pub distort_limit: Limit,
    /// `nearest` or `bilinear`.
    pub interpolation: Interpolation,
    /// Whether the cells together show the whole image, and nothing beyond it.
    pub normalized: bool,
    /// Fill colour around the image: a grey level or `[r, g, b]`, each from 0 to 255.
    pub fill: Fill,
    /// Probability of a change, from 0 to 1.
    pub p: f32,
}

impl Default for GridDistortion {
    fn default() -> Self {
        Self {
            num_steps: 5,
            distort_limit: Limit::Between([-0.3, 0.3]),
            interpolation: Interpolation::Bilinear,
            normalized: true,
            fill: Fill::default(),
            p: check::half(),
        }
    }
}

impl GridDistortion {
    /// Of as many cells along each axis, with factors in this range around 1.
    pub fn new(num_steps: u32, distort_limit: impl Into<Limit>) -> Self {
        Self { num_steps, distort_limit: distort_limit.into(), ..Self::default() }
    }

    setters! {
        /// Sets how pixels are made.
        interpolation: Interpolation;
        /// Sets whether the cells together show the whole image, and nothing beyond it.
        normalized: bool;
        /// Sets the fill colour.
        fill: into Fill;
        /// Sets the probability of a change.
        p: f32;
    }

    /// The steps along x, then those along y, for an image of size `of`.
    pub fn make_params(&self, of: Size, rng: &mut dyn Draws) -> [Vec<f64>; 2] {
        [of.width, of.height].map(|edge| {
            let cells = self.num_steps.min(edge).max(1);
            let mut steps: Vec<f64> =
                (0..=self.num_steps).map(|_| 1.0 + self.distort_limit.draw(rng)).collect();
            steps.truncate(cells as usize + 1);
            if self.normalized {
                normalize(&mut steps, edge);
            }
            steps
        })
    }
}

/// Makes the steps sum up to the edge; what the cells leave over is a part of a cell.
fn normalize(steps: &mut [f64], edge: u32) {
    let cells = steps.len() as u32 - 1;
    let cell = edge / cells;
    let rest = edge.min((cells + 1) * cell) - cells * cell;
    if let Some(last) = steps.last_mut() {
        *last *= f64::from(rest) / f64::from(cell);
    }
    let sum: f64 = steps.iter().sum();
    if sum > 0.0 {
        let scale = f64::from(edge) / f64::from(cell) / sum;
        steps.iter_mut().for_each(|step| *step *= scale);
    }
}

by_own_chance! {
    GridDistortion,
    check: |this, name| {
        ensure!(
            (1..=256).contains(&this.num_steps),
            "{name}: num_steps should be from 1 to 256, but is {}", this.num_steps
        );
        check::warp_filter(name, this.interpolation)?;
        this.distort_limit.check(name, "distort_limit", -1.0, 1.0)
    },
    plan: |this, draft, rng| {
        let [steps_x, steps_y] = this.make_params(draft.size(), rng);
        let (interpolation, fill) = (this.interpolation, this.fill);
        draft.apply(Op::GridDistortion { steps_x, steps_y, interpolation, fill });
    },
}
