//! ColorJitter: brightness, contrast, saturation and hue, changed by random amounts and in random order.

use super::prelude::*;

/// Changes brightness, contrast, saturation and hue in a random order (torchvision's `ColorJitter`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct ColorJitter {
    /// A factor from [max(0, 1 - x), 1 + x], or from the given range.
    pub brightness: Jitter,
    /// A factor from [max(0, 1 - x), 1 + x], or from the given range.
    pub contrast: Jitter,
    /// A factor from [max(0, 1 - x), 1 + x], or from the given range.
    pub saturation: Jitter,
    /// Turn of the hue, as a fraction of the full circle: drawn from [-x, x] or from the given range, between -0.5 and
    /// 0.5.
    pub hue: Jitter,
}

/// How much a factor varies: one number for both directions, or a range.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(untagged, expecting = "a number, or [min, max]")]
pub enum Jitter {
    /// By up to this in both directions; 0 changes nothing and draws nothing.
    Around(f64),
    /// Minimum and maximum factor.
    Range([f64; 2]),
}

impl Default for Jitter {
    fn default() -> Self {
        Jitter::Around(0.0)
    }
}

variants_from!(Jitter { Around(f64), Range([f64; 2]) });

impl Jitter {
    /// The range that is drawn from; `None` where nothing can change.
    fn range(self, name: &str, centre: f64, [lowest, highest]: [f64; 2]) -> Result<Option<[f64; 2]>> {
        let range = match self {
            Jitter::Around(x) if x < 0.0 => {
                bail!("ColorJitter: if {name} is a single number, it must be non negative, but it is {x}");
            }
            // Factors end at 0 where they are drawn, so only the upper end can leave the bounds.
            Jitter::Around(x) if centre > 0.0 => [(centre - x).max(0.0), centre + x],
            Jitter::Around(x) => [centre - x, centre + x],
            Jitter::Range(range) => range,
        };
        let [min, max] = range;
        ensure!(
            lowest <= min && min <= max && max <= highest,
            "ColorJitter: {name} values should be between {lowest} and {highest} and increasing, \
                 but are {range:?}"
        );
        Ok((range != [centre; 2]).then_some(range))
    }
}

/// The parameters for one image; `None` is skipped.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct JitterParams {
    /// The order of brightness (0), contrast (1), saturation (2) and hue (3).
    pub order: [usize; 4],
    /// The four factors.
    pub factors: [Option<f64>; 4],
}

impl ColorJitter {
    /// Jitter of brightness, contrast, saturation and hue: a number or a range each.
    pub fn new(
        brightness: impl Into<Jitter>,
        contrast: impl Into<Jitter>,
        saturation: impl Into<Jitter>,
        hue: impl Into<Jitter>,
    ) -> Self {
        Self {
            brightness: brightness.into(),
            contrast: contrast.into(),
            saturation: saturation.into(),
            hue: hue.into(),
        }
    }

    fn ranges(&self) -> Result<[Option<[f64; 2]>; 4]> {
        let bounds = [0.0, f64::from(f32::MAX)];
        Ok([
            self.brightness.range("brightness", 1.0, bounds)?,
            self.contrast.range("contrast", 1.0, bounds)?,
            self.saturation.range("saturation", 1.0, bounds)?,
            self.hue.range("hue", 0.0, [-0.5, 0.5])?,
        ])
    }

    /// Draws the order first, as `torch.randperm` does, then a factor for each op that is not skipped.
    ///
    /// # Errors
    /// Those of [`Augment::check`].
    pub fn make_params(&self, rng: &mut dyn Draws) -> Result<JitterParams> {
        let ranges = self.ranges()?;
        let mut order = [0, 1, 2, 3];
        for i in 0..3 {
            order.swap(i, i + rng.below(4 - i as u32) as usize);
        }
        let mut draw = |[min, max]: [f64; 2]| f64::from(rng.uniform_between(min as f32, max as f32));
        Ok(JitterParams { order, factors: ranges.map(|range| range.map(&mut draw)) })
    }
}

impl Augment for ColorJitter {
    fn check(&self) -> Result<()> {
        self.ranges().map(|_| ())
    }

    fn plan(&self, draft: &mut Draft, _partners: Vec<Draft>, rng: &mut dyn Draws) {
        let JitterParams { order, factors } = match self.make_params(rng) {
            Ok(params) => params,
            Err(error) => return draft.fail(error),
        };
        for which in order {
            let Some(factor) = factors[which] else { continue };
            draft.apply(match which {
                0 => Op::Brightness { factor },
                1 => Op::Contrast { factor },
                2 => Op::Saturation { factor },
                _ => Op::Hue { factor },
            });
        }
    }
}
