//! Bit operations for which newer processors have one instruction: in plain Rust, and built for BMI2.

#[cfg(target_arch = "x86_64")]
mod bmi2;

#[cfg(target_arch = "x86_64")]
pub(crate) use bmi2::Bmi2;

/// Rotations, which bring a field of a word down to its lowest bits.
pub(crate) trait Rotate: Copy {
    /// `word`, rotated right by `BY` bits.
    fn right<const BY: u32>(self, word: u64) -> u64;
}

/// Distributes bits over the set bits of a mask.
pub(crate) trait Deposit: Copy {
    /// The low bits of `bits`, moved one by one to the set bits of `mask`, from the lowest up.
    fn deposit(self, bits: u64, mask: u64) -> u64;
}

/// The operations in plain Rust.
#[derive(Clone, Copy)]
pub(crate) struct Plain;

impl Rotate for Plain {
    #[inline(always)]
    fn right<const BY: u32>(self, word: u64) -> u64 {
        word.rotate_right(BY)
    }
}

impl Deposit for Plain {
    #[inline(always)]
    fn deposit(self, mut bits: u64, mut mask: u64) -> u64 {
        let mut deposited = 0;
        while bits != 0 && mask != 0 {
            let lowest = mask & mask.wrapping_neg();
            deposited |= lowest * (bits & 1);
            mask ^= lowest;
            bits >>= 1;
        }
        deposited
    }
}
