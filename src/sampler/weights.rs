//! Drawing records with unequal chances, again and again from all of them.

use crate::error::{Result, bail, ensure};
use crate::rng::mix;

/// Chances of records, as running sums: 8 bytes a record.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Weights {
    sums: Vec<f64>,
}

impl Weights {
    pub(super) fn new(weights: &[f64]) -> Result<Self> {
        if let Some(at) = weights.iter().position(|weight| !(weight.is_finite() && *weight >= 0.0)) {
            bail!("the weight of sample {at} is {}: every weight must be finite and at least 0", weights[at]);
        }
        let running = |sum: &mut f64, weight: &f64| {
            *sum += weight;
            Some(*sum)
        };
        let sums: Vec<f64> = weights.iter().scan(0.0, running).collect();
        let Some(&total) = sums.last() else { bail!("there are no weights: give one for each sample") };
        ensure!(
            total.is_finite() && total > 0.0,
            "the weights sum to {total}: give some sample a weight above 0, and none one near the largest number"
        );
        Ok(Self { sums })
    }

    pub(super) fn len(&self) -> u64 {
        self.sums.len() as u64
    }

    pub(super) fn sums(&self) -> &[f64] {
        &self.sums
    }

    /// The record drawn at `position` under `key`.
    pub(super) fn draw(&self, key: u64, position: u64) -> u64 {
        let uniform = (mix(key, position) >> 11) as f64 / (1u64 << 53) as f64;
        let total = self.sums.last().copied().unwrap_or_default();
        let at = self.sums.partition_point(|&sum| sum <= uniform * total);
        if at < self.sums.len() {
            return at as u64;
        }
        // The product was rounded up to the whole: the last record with a chance is meant.
        self.sums.partition_point(|&sum| sum < total) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_come_as_often_as_their_weights_say() {
        let weights = Weights::new(&[1.0, 0.0, 3.0, 0.0]).unwrap();
        let mut seen = [0; 4];
        (0..40_000).for_each(|position| seen[weights.draw(7, position) as usize] += 1);
        assert_eq!((seen[1], seen[3]), (0, 0));
        assert!((9_500..10_500).contains(&seen[0]), "{seen:?}");
    }

    #[test]
    fn weights_without_meaning_are_refused() {
        let refused = |weights: &[f64]| Weights::new(weights).unwrap_err().to_string();
        assert!(refused(&[1.0, -0.5]).contains("sample 1 is -0.5"));
        assert!(refused(&[f64::NAN]).contains("sample 0 is NaN"));
        assert!(refused(&[0.0, 0.0]).contains("sum to 0"));
        assert!(refused(&[f64::MAX, f64::MAX]).contains("sum to inf"));
        assert!(refused(&[]).contains("no weights"));
    }
}
