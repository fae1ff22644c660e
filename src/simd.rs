//! The choice of vector instructions: made once, for decoder and renderer alike.

use std::sync::OnceLock;

/// The widest instruction set that the hot loops may use, in rising order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// Plain Rust: the oracle that every faster version is tested against.
    Scalar,
    /// 256-bit vectors (AVX2 with FMA, BMI1, BMI2 and POPCNT, which come with it).
    Avx2,
    /// 512-bit vectors (AVX-512 F, BW and VL, in addition to everything that `Avx2` needs).
    Avx512,
}

/// The level of this process: the machine's, or lower if `FEEDLINE_SIMD` is `scalar`, `avx2` or `avx512`.
///
/// A level that the machine lacks is lowered to one that it has, so that a test script runs everywhere; any other value
/// of the variable counts as unset. The level affects only the speed, not the pixels.
pub fn level() -> Level {
    static LEVEL: OnceLock<Level> = OnceLock::new();
    *LEVEL.get_or_init(|| {
        let wanted = std::env::var("FEEDLINE_SIMD").ok().and_then(|word| parse(&word));
        wanted.map_or_else(machine, |wanted| wanted.min(machine()))
    })
}

fn parse(word: &str) -> Option<Level> {
    match word.trim().to_ascii_lowercase().as_str() {
        "scalar" => Some(Level::Scalar),
        "avx2" => Some(Level::Avx2),
        "avx512" => Some(Level::Avx512),
        _ => None,
    }
}

#[cfg(target_arch = "x86_64")]
fn machine() -> Level {
    let narrow = is_x86_feature_detected!("avx2")
        && is_x86_feature_detected!("fma")
        && is_x86_feature_detected!("bmi1")
        && is_x86_feature_detected!("bmi2")
        && is_x86_feature_detected!("popcnt");
    if !narrow {
        return Level::Scalar;
    }
    let wide = is_x86_feature_detected!("avx512f")
        && is_x86_feature_detected!("avx512bw")
        && is_x86_feature_detected!("avx512vl");
    if wide { Level::Avx512 } else { Level::Avx2 }
}

#[cfg(not(target_arch = "x86_64"))]
fn machine() -> Level {
    Level::Scalar
}

/// Proof that this machine has AVX2, FMA, BMI1, BMI2 and POPCNT: a safe function that takes one may call code built for
/// them.
#[derive(Clone, Copy, Debug)]
pub struct Avx2(());

impl Avx2 {
    /// The proof, or `None` if the machine lacks it or [`level`] was lowered to scalar.
    pub fn allowed() -> Option<Self> {
        (level() >= Level::Avx2).then_some(Self(()))
    }

    /// The proof, whatever level was asked for: for tests that compare the vector code with the scalar one.
    pub fn detected() -> Option<Self> {
        (machine() >= Level::Avx2).then_some(Self(()))
    }
}

/// Proof that this machine has AVX-512 F, BW and VL in addition to what [`Avx2`] proves.
#[derive(Clone, Copy, Debug)]
pub struct Avx512(());

impl Avx512 {
    /// The proof, or `None` if the machine lacks it or [`level`] was lowered.
    pub fn allowed() -> Option<Self> {
        (level() >= Level::Avx512).then_some(Self(()))
    }

    /// The proof, whatever level was asked for: for tests that compare the vector code with the scalar one.
    pub fn detected() -> Option<Self> {
        (machine() >= Level::Avx512).then_some(Self(()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_three_names_force_a_level() {
        assert_eq!(parse("AVX2 "), Some(Level::Avx2));
        assert_eq!(parse("scalar"), Some(Level::Scalar));
        assert_eq!(parse("sse9"), None);
        assert!(level() <= machine());
    }
}
