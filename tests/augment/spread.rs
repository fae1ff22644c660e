//! How draws are spread: tests of fit that a right distribution fails once in a million times or less.

/// The cumulative standard normal distribution, within 1e-7 (Abramowitz and Stegun 7.1.26 on both sides).
pub(crate) fn normal(x: f64) -> f64 {
    let t = 1.0 / (1.0 + 0.327_591_1 * x.abs() / std::f64::consts::SQRT_2);
    let terms = [1.061_405_429, -1.453_152_027, 1.421_413_741, -0.284_496_736, 0.254_829_592];
    let tail = terms.iter().fold(0.0, |sum, term| sum * t + term) * t * (-x * x / 2.0).exp() / 2.0;
    if x < 0.0 { tail } else { 1.0 - tail }
}

/// Kolmogorov and Smirnov's test: whether `draws` follow the distribution whose shares below a value `below` says.
pub(crate) fn assert_follows(what: &str, mut draws: Vec<f64>, below: impl Fn(f64) -> f64) {
    assert!(draws.len() >= 2000, "{what}: {} draws say nothing", draws.len());
    draws.sort_by(f64::total_cmp);
    let count = draws.len() as f64;
    let far = |(at, &draw): (usize, &f64)| {
        let share = below(draw);
        (share - at as f64 / count).abs().max(((at + 1) as f64 / count - share).abs())
    };
    let distance = draws.iter().enumerate().map(far).fold(0.0, f64::max);
    assert!(distance * count.sqrt() < 2.7, "{what}: {distance} of {count}");
}

/// Pearson's test of counts that are all to be the same.
pub(crate) fn assert_even(what: &str, counts: &[u32]) {
    let shares = vec![1.0 / counts.len() as f64; counts.len()];
    assert_shares(what, counts, &shares);
}

/// Pearson's test: whether counts are to each other as these shares.
pub(crate) fn assert_shares(what: &str, counts: &[u32], shares: &[f64]) {
    let all = f64::from(counts.iter().sum::<u32>());
    let part = |(&count, share): (&u32, &f64)| (f64::from(count) - all * share).powi(2) / (all * share);
    let sum: f64 = counts.iter().zip(shares).map(part).sum();
    // Wilson and Hilferty's approximation of the quantile at five standard deviations.
    let free = (counts.len() - 1) as f64;
    let spread = 2.0 / (9.0 * free);
    let bound = free * (1.0 - spread + 5.0 * spread.sqrt()).powi(3);
    assert!(sum < bound, "{what}: {counts:?} give {sum}, at most {bound} is to be expected");
}
