//! The weights of a Gaussian blur: the same for every device.

/// `length` weights that sum to 1, as torchvision takes them: a softmax over places whose ends are at (length - 1) / (2
/// sqrt 2) standard deviations of 1.
///
/// Up to the last bits of the exponentials: torch has its own.
pub(crate) fn weights(length: usize, sigma: f32) -> Vec<f32> {
    let last = length.saturating_sub(1);
    let limit = (last as f64 / (2.0 * std::f64::consts::SQRT_2)) as f32;
    let step = if last == 0 { 0.0 } else { 2.0 * limit / last as f32 };
    // Counted from the nearer end, as torch's linspace does.
    let place = |i: usize| {
        if i < length / 2 {
            step.mul_add(i as f32, -limit)
        } else {
            step.mul_add(-((last - i) as f32), limit)
        }
    };
    let places = (0..length).map(|i| place(i) / sigma);
    let powers: Vec<f32> = places.map(|x| f64::from(-(x * x)).exp() as f32).collect();
    let sum: f32 = powers.iter().sum();
    powers.iter().map(|power| power / sum).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_are_symmetric_and_sum_to_1() {
        for (length, sigma) in [(1, 0.5), (3, 0.1), (23, 2.0), (127, 30.0)] {
            let weights = weights(length, sigma);
            let sum: f32 = weights.iter().sum();
            assert!((sum - 1.0).abs() < 1e-6, "{length}, {sigma}: {sum}");
            assert!(weights.iter().zip(weights.iter().rev()).all(|(a, b)| a == b), "{length}, {sigma}");
        }
    }
}
