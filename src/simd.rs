//! The choice of vector instructions: made once, for decoder and renderer alike.

use std::sync::OnceLock;

/// The widest instruction set that the hot loops may use, in rising order; a machine has `Neon` or the AVX levels.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// Plain Rust: the oracle that every faster version is tested against.
    #[default]
    Scalar,
    /// 128-bit vectors of 64-bit Arm (NEON), which every such processor has.
    Neon,
    /// 256-bit vectors (AVX2 with FMA, BMI1, BMI2 and POPCNT, which come with it).
    Avx2,
    /// 512-bit vectors (AVX-512 F, BW and VL, in addition to everything that `Avx2` needs).
    Avx512,
}

impl Level {
    /// All, in rising order.
    pub const ALL: [Level; 4] = [Level::Scalar, Level::Neon, Level::Avx2, Level::Avx512];

    /// This level, or the highest below it that a machine has whose highest is `highest`.
    fn lowered_to(self, highest: Level) -> Level {
        match self.min(highest) {
            Level::Neon if highest != Level::Neon => Level::Scalar,
            level => level,
        }
    }
}

/// The level of this process: the machine's, or lower if `FEEDLINE_SIMD` is `scalar`, `neon`, `avx2` or `avx512`.
///
/// A level that the machine lacks is lowered to one that it has, so that a test script runs everywhere; any other value
/// of the variable counts as unset. The level affects only the speed, not the pixels.
pub fn level() -> Level {
    static LEVEL: OnceLock<Level> = OnceLock::new();
    *LEVEL.get_or_init(|| {
        let wanted = std::env::var("FEEDLINE_SIMD").ok().and_then(|word| parse(&word));
        wanted.map_or_else(machine, |wanted| wanted.lowered_to(machine()))
    })
}

/// The levels that code of this process may use, in rising order: for tests that compare them.
pub fn levels() -> impl Iterator<Item = Level> {
    Level::ALL.into_iter().filter(|&wanted| wanted.lowered_to(level()) == wanted)
}

fn parse(word: &str) -> Option<Level> {
    match word.trim().to_ascii_lowercase().as_str() {
        "scalar" => Some(Level::Scalar),
        "neon" => Some(Level::Neon),
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

#[cfg(target_arch = "aarch64")]
fn machine() -> Level {
    if cfg!(target_feature = "neon") { Level::Neon } else { Level::Scalar }
}

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
fn machine() -> Level {
    Level::Scalar
}

/// Proof that this machine has AVX2, FMA, BMI1, BMI2 and POPCNT: a safe function that takes one may call code built for
/// them.
#[derive(Clone, Copy, Debug)]
pub struct Avx2(());

/// Proof that this machine has AVX-512 F, BW and VL in addition to what [`Avx2`] proves.
#[derive(Clone, Copy, Debug)]
pub struct Avx512(());

/// Proof that this machine has AVX-512 VBMI and VBMI2 in addition to what [`Avx512`] proves.
#[derive(Clone, Copy, Debug)]
pub struct Vbmi(());

/// Proof that this machine has NEON.
#[derive(Clone, Copy, Debug)]
pub struct Neon(());

/// The vector instructions that may be used, from which each proof is had; none by default.
#[derive(Clone, Copy, Debug, Default)]
pub struct Vectors {
    /// Always one that the machine has.
    level: Level,
}

impl Vectors {
    /// None: plain Rust.
    pub const NONE: Vectors = Vectors { level: Level::Scalar };

    /// Those of [`level`].
    pub fn allowed() -> Self {
        Self { level: level() }
    }

    /// Those of `wanted`, or of the highest level below it that the machine has, whatever [`level`] was asked for: for
    /// tests that compare the vector code with the scalar one.
    pub fn detected(wanted: Level) -> Self {
        Self { level: wanted.lowered_to(machine()) }
    }

    /// The proof of AVX2.
    pub fn avx2(self) -> Option<Avx2> {
        (self.level >= Level::Avx2).then_some(Avx2(()))
    }

    /// The proof of AVX-512.
    pub fn avx512(self) -> Option<Avx512> {
        (self.level >= Level::Avx512).then_some(Avx512(()))
    }

    /// The proof of AVX-512's instructions that move bytes, which not all machines with AVX-512 have.
    pub fn vbmi(self) -> Option<Vbmi> {
        #[cfg(target_arch = "x86_64")]
        if self.level >= Level::Avx512
            && is_x86_feature_detected!("avx512vbmi")
            && is_x86_feature_detected!("avx512vbmi2")
        {
            return Some(Vbmi(()));
        }
        None
    }

    /// The proof of NEON.
    pub fn neon(self) -> Option<Neon> {
        (self.level == Level::Neon).then_some(Neon(()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_names_of_levels_force_a_level() {
        assert_eq!(parse("AVX2 "), Some(Level::Avx2));
        assert_eq!(parse("scalar"), Some(Level::Scalar));
        assert_eq!(parse("neon"), Some(Level::Neon));
        assert_eq!(parse("sse9"), None);
        assert!(level() <= machine());
    }

    #[test]
    fn a_level_that_a_machine_lacks_is_lowered_to_one_that_it_has() {
        let lowered = |highest| Level::ALL.map(|level| level.lowered_to(highest));
        assert_eq!(lowered(Level::Scalar), [Level::Scalar; 4]);
        assert_eq!(lowered(Level::Neon), [Level::Scalar, Level::Neon, Level::Neon, Level::Neon]);
        assert_eq!(lowered(Level::Avx2), [Level::Scalar, Level::Scalar, Level::Avx2, Level::Avx2]);
        assert_eq!(lowered(Level::Avx512), [Level::Scalar, Level::Scalar, Level::Avx2, Level::Avx512]);
        assert!(levels().any(|each| each == level()) && levels().any(|each| each == Level::Scalar));
    }
}
