//! Standard normal numbers, of additions, products, quotients and square roots alone: the same bits on every machine.

use super::Draws;

/// A standard normal number.
pub fn normal(rng: &mut dyn Draws) -> f64 {
    inverse_normal(rng.bits())
}

/// The standard normal number that 32 random bits stand for: the inverse of the normal distribution on the highest 23 of
/// them, by Acklam's rational approximation (relative error 1.2e-9).
pub fn inverse_normal(bits: u32) -> f64 {
    // The middle of one of 2^23 equal parts of 0..1, so never 0 or 1.
    normal_quantile((f64::from(bits >> 9) + 0.5) / 8_388_608.0)
}

const A: [f64; 6] = [
    -3.969_683_028_665_376e1,
    2.209_460_984_245_205e2,
    -2.759_285_104_469_687e2,
    1.383_577_518_672_69e2,
    -3.066_479_806_614_716e1,
    2.506_628_277_459_239,
];
const B: [f64; 5] = [
    -5.447_609_879_822_406e1,
    1.615_858_368_580_409e2,
    -1.556_989_798_598_866e2,
    6.680_131_188_771_972e1,
    -1.328_068_155_288_572e1,
];
const C: [f64; 6] = [
    -7.784_894_002_430_293e-3,
    -3.223_964_580_411_365e-1,
    -2.400_758_277_161_838,
    -2.549_732_539_343_734,
    4.374_664_141_464_968,
    2.938_163_982_698_783,
];
const D: [f64; 4] =
    [7.784_695_709_041_462e-3, 3.224_671_290_700_398e-1, 2.445_134_137_142_996, 3.754_408_661_907_416];

fn polynomial(coefficients: &[f64], x: f64) -> f64 {
    coefficients.iter().fold(0.0, |sum, c| sum * x + c)
}

/// What a standard normal number is less than with probability `u`, which is above 0 and below 1.
pub(crate) fn normal_quantile(u: f64) -> f64 {
    const TAIL: f64 = 0.02425;
    if u > 1.0 - TAIL {
        return -normal_quantile(1.0 - u);
    }
    if u < TAIL {
        let q = (-2.0 * logarithm(u)).sqrt();
        return polynomial(&C, q) / (polynomial(&D, q) * q + 1.0);
    }
    let q = u - 0.5;
    let r = q * q;
    polynomial(&A, r) * q / (polynomial(&B, r) * r + 1.0)
}

/// ln x for normal x > 0, from additions, products and one division alone.
fn logarithm(x: f64) -> f64 {
    let bits = x.to_bits();
    let exponent = (bits >> 52) as i64 - 1023;
    let mantissa = f64::from_bits((bits & 0x000F_FFFF_FFFF_FFFF) | 0x3FF0_0000_0000_0000);
    let t = (mantissa - 1.0) / (mantissa + 1.0);
    let square = t * t;
    // 2 artanh t; t is at most 1/3, so 20 terms leave less than 1e-19.
    let series = (0..20).rev().fold(0.0, |sum, k| sum * square + 1.0 / f64::from(2 * k + 1));
    2.0 * t * series + exponent as f64 * std::f64::consts::LN_2
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_logarithm_is_the_logarithm() {
        for x in [1e-7, 0.001, 0.024, 0.5, 0.99, 3.0] {
            assert!((logarithm(x) - f64::ln(x)).abs() < 1e-14, "{x}");
        }
    }

    #[test]
    fn quarters_and_tails_are_those_of_the_distribution() {
        for (share, want) in
            [(0.5, 0.0), (0.75, 0.674_489_750), (0.999, 3.090_232_306), (0.001, -3.090_232_306)]
        {
            assert!((inverse_normal((share * 4_294_967_296.0) as u32) - want).abs() < 1e-4, "{share}");
        }
    }
}
