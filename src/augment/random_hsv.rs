//! RandomHSV: hue, saturation and value as YOLO's training changes them.

use super::prelude::*;

/// Changes hue, saturation and value by random gains, drawn uniformly in both directions (Ultralytics' `RandomHSV`).
///
/// The colours are OpenCV's uint8 HSV, whose hue counts half degrees. The conversion to HSV is bit-exact with OpenCV;
/// the conversion back truncates the exact quotient, from which OpenCV differs by one level now and then.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct RandomHSV {
    /// Maximum turn of the hue, as a fraction of the full circle, from 0 to 1.
    pub hsv_h: f64,
    /// Maximum relative change of the saturation, from 0 to 1.
    pub hsv_s: f64,
    /// Maximum relative change of the value, from 0 to 1.
    pub hsv_v: f64,
}

impl Default for RandomHSV {
    fn default() -> Self {
        Self { hsv_h: 0.015, hsv_s: 0.7, hsv_v: 0.4 }
    }
}

impl RandomHSV {
    /// Changes by at most these gains.
    pub const fn new(hsv_h: f64, hsv_s: f64, hsv_v: f64) -> Self {
        Self { hsv_h, hsv_s, hsv_v }
    }

    /// Three draws from -1..1 for hue, saturation and value, times the gains.
    pub fn make_params(&self, rng: &mut dyn Draws) -> [f64; 3] {
        [self.hsv_h, self.hsv_s, self.hsv_v].map(|gain| f64::from(rng.uniform_between(-1.0, 1.0)) * gain)
    }
}

impl Augment for RandomHSV {
    fn check(&self) -> Result<()> {
        for (name, gain) in [("hsv_h", self.hsv_h), ("hsv_s", self.hsv_s), ("hsv_v", self.hsv_v)] {
            ensure!(
                (0.0..=1.0).contains(&gain),
                "RandomHSV: {name} should be between 0 and 1, but is {gain}"
            );
        }
        Ok(())
    }

    fn plan(&self, draft: &mut Draft, _partners: Vec<Draft>, rng: &mut dyn Draws) {
        if *self == Self::new(0.0, 0.0, 0.0) {
            return;
        }
        let [hue, saturation, value] = self.make_params(rng);
        draft.apply(Op::Hsv { hue, saturation: saturation + 1.0, value: value + 1.0 });
    }
}
