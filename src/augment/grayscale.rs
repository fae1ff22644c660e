//! Grayscale: replaces the colours by the luma.

use super::prelude::*;

/// Replaces all channels with the luma (torchvision's `Grayscale`).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct Grayscale {
    /// Must be 3 (torchvision's default is 1): every sample has three channels.
    pub num_output_channels: u32,
}

impl Default for Grayscale {
    fn default() -> Self {
        Self { num_output_channels: 3 }
    }
}

impl Augment for Grayscale {
    fn check(&self) -> Result<()> {
        let channels = self.num_output_channels;
        ensure!(
            channels == 3,
            "Grayscale: num_output_channels is {channels}, but a sample always has 3: leave it out"
        );
        Ok(())
    }

    fn plan(&self, draft: &mut Draft, _partners: Vec<Draft>, _rng: &mut dyn Draws) {
        draft.apply(Op::Grayscale { num_output_channels: self.num_output_channels });
    }
}
