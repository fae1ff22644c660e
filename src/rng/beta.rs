//! Draws from the beta and the Dirichlet distribution, which mixes take their shares from.

use super::Draws;

/// Tries of one gamma draw; one in twenty fails at most, so that the bound is never met.
const TRIES: usize = 64;

/// A number in 0..=1 from the beta distribution of `a` and `b`, both greater than 0.
///
/// x / (x + y) of two gamma draws, each by Marsaglia and Tsang, "A simple method for generating gamma variables" (2000).
/// They are kept as logarithms, since with small parameters they are smaller than any number.
pub fn beta(rng: &mut dyn Draws, a: f64, b: f64) -> f64 {
    let (x, y) = (ln_gamma_draw(rng, a), ln_gamma_draw(rng, b));
    1.0 / (1.0 + (y - x).exp())
}

/// `count` numbers in 0..=1 that sum to 1, from the Dirichlet distribution whose parameters are all `alpha`, greater than 0.
pub fn dirichlet(rng: &mut dyn Draws, alpha: f64, count: usize) -> Vec<f64> {
    let draws: Vec<f64> = (0..count).map(|_| ln_gamma_draw(rng, alpha)).collect();
    let greatest = draws.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let parts: Vec<f64> = draws.iter().map(|draw| (draw - greatest).exp()).collect();
    let sum: f64 = parts.iter().sum();
    parts.iter().map(|part| part / sum).collect()
}

/// The logarithm of a gamma draw of this shape.
fn ln_gamma_draw(rng: &mut dyn Draws, shape: f64) -> f64 {
    if shape < 1.0 {
        // Of a shape less than 1: one of the next shape, times a power of a uniform draw.
        let next = ln_gamma_draw(rng, shape + 1.0);
        return next + above_zero(rng).ln() / shape;
    }
    let d = shape - 1.0 / 3.0;
    let c = 1.0 / (9.0 * d).sqrt();
    for _ in 0..TRIES {
        let normal = normal(rng);
        let root = c.mul_add(normal, 1.0);
        if root <= 0.0 {
            continue;
        }
        let v = root * root * root;
        if above_zero(rng).ln() < 0.5 * normal * normal + d - d * v + d * v.ln() {
            return (d * v).ln();
        }
    }
    d.ln()
}

/// A standard normal number, by Box and Muller.
fn normal(rng: &mut dyn Draws) -> f64 {
    let radius = (-2.0 * above_zero(rng).ln()).sqrt();
    radius * (std::f64::consts::TAU * f64::from(rng.uniform())).cos()
}

/// Uniform in (0, 1].
fn above_zero(rng: &mut dyn Draws) -> f64 {
    1.0 - f64::from(rng.uniform())
}

#[cfg(test)]
mod tests {
    use super::super::Rng;
    use super::*;

    #[test]
    fn mean_and_variance_are_those_of_the_distribution() {
        for (a, b) in [(0.2, 0.2), (1.0, 1.0), (32.0, 32.0), (0.4, 3.0), (8.0, 2.0)] {
            let mut rng = Rng::new(7, 0, 0, 0);
            let draws: Vec<f64> = (0..20_000).map(|_| beta(&mut rng, a, b)).collect();
            assert!(draws.iter().all(|draw| (0.0..=1.0).contains(draw)));
            let mean = draws.iter().sum::<f64>() / 20_000.0;
            let variance = draws.iter().map(|draw| (draw - mean).powi(2)).sum::<f64>() / 20_000.0;
            let (want, spread) = (a / (a + b), a * b / ((a + b) * (a + b) * (a + b + 1.0)));
            assert!((mean - want).abs() < 0.01, "{a} {b}: mean {mean}, not {want}");
            assert!((variance / spread - 1.0).abs() < 0.05, "{a} {b}: variance {variance}, not {spread}");
        }
    }

    #[test]
    fn each_part_of_a_dirichlet_draw_is_a_beta_draw_and_all_of_them_are_one() {
        for (alpha, count) in [(1.0, 2), (1.0, 3), (0.2, 4), (5.0, 12)] {
            let mut rng = Rng::new(7, 0, 0, 0);
            let draws: Vec<Vec<f64>> = (0..20_000).map(|_| dirichlet(&mut rng, alpha, count)).collect();
            assert!(draws.iter().all(|parts| (parts.iter().sum::<f64>() - 1.0).abs() < 1e-12));
            let (mean, total) = (1.0 / count as f64, alpha * count as f64);
            for part in 0..count {
                let of = |power: i32| {
                    draws.iter().map(|parts| (parts[part] - mean).powi(power)).sum::<f64>() / 20_000.0
                };
                let spread = mean * (1.0 - mean) / (total + 1.0);
                assert!(of(1).abs() < 0.01, "{alpha} {count}: part {part} is off by {}", of(1));
                assert!(
                    (of(2) / spread - 1.0).abs() < 0.05,
                    "{alpha} {count}: variance {} not {spread}",
                    of(2)
                );
            }
        }
    }

    #[test]
    fn one_and_one_is_uniform() {
        let mut rng = Rng::new(8, 0, 0, 0);
        let mut seen = [0u32; 10];
        (0..10_000).for_each(|_| seen[(beta(&mut rng, 1.0, 1.0) * 10.0).min(9.0) as usize] += 1);
        assert!(seen.iter().all(|count| (850..1150).contains(count)), "{seen:?}");
    }

    #[test]
    fn the_smallest_parameters_give_one_end_or_the_other() {
        let mut rng = Rng::new(9, 0, 0, 0);
        let draws: Vec<f64> = (0..200).map(|_| beta(&mut rng, 1e-4, 1e-4)).collect();
        assert!(draws.iter().all(|&draw| draw.is_finite()));
        assert!(draws.iter().filter(|&&draw| draw < 1e-3).count() > 60);
        assert!(draws.iter().filter(|&&draw| draw > 0.999).count() > 60);
    }
}
