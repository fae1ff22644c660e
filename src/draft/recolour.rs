//! The colour verbs: each is one step, on the source where that is still whole, else on the picture or the blend.

use super::op::Op;
use super::{Draft, DraftLayer, DraftStep};
use crate::error::Error;
use crate::plan::{self, Step, step};

impl Draft {
    /// Brightness, contrast and saturation: towards black, the mean or the luma.
    pub(super) fn blend_with(&mut self, op: &Op, step: u32, factor: f64) -> Result<(), Error> {
        if !(0.0..=f64::from(f32::MAX)).contains(&factor) {
            let name = op.name();
            return Err(Error::config(format!("{name}: the factor must not be negative, but is {factor}")));
        }
        self.recolour(step, [factor as f32, (1.0 - factor) as f32, 0.0])
    }

    pub(super) fn turn_hue(&mut self, factor: f64) -> Result<(), Error> {
        if !(-0.5..=0.5).contains(&factor) {
            return Err(Error::config(format!("hue: the factor must be in -0.5..=0.5, but is {factor}")));
        }
        self.recolour(step::HUE, [factor as f32, (1.0 - factor) as f32, 0.0])
    }

    pub(super) fn solarize(&mut self, threshold: f64) -> Result<(), Error> {
        if !(f64::from(f32::MIN)..=255.0).contains(&threshold) {
            return Err(Error::config(format!(
                "solarize: the threshold must be at most 255, but is {threshold}"
            )));
        }
        self.recolour(step::SOLARIZE, [threshold as f32, 0.0, 0.0])
    }

    pub(super) fn posterize(&mut self, bits: u32) -> Result<(), Error> {
        if bits > 8 {
            return Err(Error::config(format!("posterize: bits must be in 0..=8, but is {bits}")));
        }
        let unit = (1 << (8 - bits)) as f32;
        self.recolour(step::POSTERIZE, [unit, 1.0 / unit, 0.0])
    }

    pub(super) fn permute(&mut self, permutation: [u32; 3]) -> Result<(), Error> {
        let mut sorted = permutation;
        sorted.sort_unstable();
        if sorted != [0, 1, 2] {
            return Err(Error::config(format!(
                "permute_channels: permutation must hold 0, 1 and 2 once each, but is {permutation:?}"
            )));
        }
        self.recolour(step::PERMUTE, permutation.map(|channel| channel as f32))
    }

    /// Adds a step; one that needs a statistic is measured on the canvas as it is now.
    pub(super) fn recolour(&mut self, op: u32, [a, b, c]: [f32; 3]) -> Result<(), Error> {
        let args = [a, b, c, 0.0, 0.0, 0.0];
        let mut added = DraftStep { step: Step { op, stat: plan::NONE, args }, measured: None };
        let whole = self.canvas.size.rect();
        let measures = step::measures(op).is_some();
        if let Some(DraftLayer { layer, steps, .. }) = self.canvas.plain() {
            added.measured = measures.then_some(layer.clip);
            steps.push(added);
            return Ok(());
        }
        added.measured = measures.then_some(whole);
        match self.canvas.pictures.as_mut_slice() {
            [only] => only.steps.push(added),
            _ => self.canvas.steps.push(added),
        }
        Ok(())
    }
}
