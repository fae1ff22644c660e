//! RandomGamma: raises levels to a random power.

use super::limit::between;
use super::prelude::*;

/// Raises all levels to a random power, with probability `p` (Albumentations' `RandomGamma`).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct RandomGamma {
    /// Minimum and maximum exponent in hundredths; below 100 makes brighter; from 1 to 10000.
    pub gamma_limit: [f64; 2],
    /// Probability of a change, from 0 to 1.
    pub p: f32,
}

impl Default for RandomGamma {
    fn default() -> Self {
        Self { gamma_limit: [80.0, 120.0], p: check::half() }
    }
}

impl RandomGamma {
    /// Draws the exponent, in hundredths, from this range.
    pub fn new(gamma_limit: [f64; 2]) -> Self {
        Self { gamma_limit, ..Self::default() }
    }

    setters! {
        /// Sets the probability of a change.
        p: f32;
    }
}

by_own_chance! {
    RandomGamma,
    check: |this, name| check::range(name, "gamma_limit", this.gamma_limit, 1.0, 1e4),
    plan: |this, draft, rng| draft.apply(Op::Gamma { gamma: between(this.gamma_limit, rng) / 100.0 }),
}
