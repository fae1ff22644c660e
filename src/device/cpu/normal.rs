//! Standard normal noise from a counter hash: the same bits wherever they are asked for.

use crate::rng::{inverse_normal, philox};

/// The noise of one value of an erased rectangle: pixel `index` in row order, channel `channel`.
pub(crate) fn noise(key: [u32; 2], index: u32, channel: u32) -> f32 {
    inverse_normal(philox([index, channel, 0, 0], key)[0]) as f32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn noise_has_mean_zero_and_variance_one() {
        let values: Vec<f64> = (0..40_000).map(|i| f64::from(noise([3, 5], i, i % 3))).collect();
        let count = values.len() as f64;
        let mean = values.iter().sum::<f64>() / count;
        let variance = values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / count;
        let beyond_two = values.iter().filter(|v| v.abs() > 2.0).count() as f64 / count;
        assert!(mean.abs() < 0.02 && (variance - 1.0).abs() < 0.03, "{mean} {variance}");
        assert!((beyond_two - 0.0455).abs() < 0.005, "{beyond_two}");
    }
}
