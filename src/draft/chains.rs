//! Several chains of ops on copies of one canvas, and a weighted sum of what they make.

use super::op::{Chain, Op};
use super::{Draft, DraftInput, DraftPass};
use crate::error::{Error, bail, ensure};
use crate::plan::BlendMode;

impl Draft {
    /// The sum of what the chains make of the canvas, cut off to u8; with `blend`, that is then laid over the canvas with this
    /// weight. Labels stay where they are.
    pub(super) fn sum_chains(&mut self, chains: &[Chain], blend: Option<f32>) -> Result<(), Error> {
        let sound = |weight: &f32| (0.0..=1.0).contains(weight);
        ensure!(
            chains.iter().map(|chain| &chain.weight).chain(&blend).all(sound),
            "sum_chains: every weight must be from 0 to 1"
        );
        ensure!(!chains.is_empty(), "sum_chains: chains is empty: give it one at least");
        // What was done to the image is done once, and not for each of its copies.
        if self.canvas.plain().is_none_or(|plain| !plain.steps.is_empty()) {
            self.flush_pass()?;
        }
        let start = self.canvas.clone();
        let mut inputs = Vec::new();
        for chain in chains {
            self.canvas = start.clone();
            inputs.push(DraftInput {
                weight: chain.weight,
                mode: BlendMode::Sum,
                ..self.run_chain(&chain.ops)?
            });
        }
        self.canvas = DraftPass { size: start.size, inputs, steps: Vec::new() };
        self.flush_pass()?;
        if let Some(weight) = blend {
            let sum = self.canvas.inputs.drain(..).map(|sum| DraftInput {
                weight,
                mode: BlendMode::Between,
                ..sum
            });
            self.canvas.inputs = start.inputs.into_iter().chain(sum).collect();
            self.flush_pass()?;
        }
        Ok(())
    }

    /// Does the ops of one chain to the canvas; what they make as one input.
    fn run_chain(&mut self, ops: &[Op]) -> Result<DraftInput, Error> {
        let (size, labels) = (self.canvas.size, self.label_ops.len());
        for op in ops {
            if matches!(op, Op::Erase { .. } | Op::Normalize { .. } | Op::SumChains { .. }) {
                bail!(
                    "sum_chains: a chain cannot contain {}, which works on the finished sample or on chains",
                    op.name()
                );
            }
            self.perform(op)?;
        }
        self.label_ops.truncate(labels);
        if self.canvas.size != size {
            let Some(last) = ops.last() else {
                bail!("sum_chains: a chain without ops cannot change the size")
            };
            bail!(
                "sum_chains: a chain that ends with {} makes {} of {size}: put what changes the size ahead of the chains",
                last.name(),
                self.canvas.size
            );
        }
        if self.canvas.inputs.len() > 1 || !self.canvas.steps.is_empty() {
            self.flush_pass()?;
        }
        match self.canvas.inputs.pop() {
            Some(only) => Ok(only),
            None => bail!("sum_chains: a chain has made nothing: a bug"),
        }
    }
}
