//! The bit operations as single instructions.
#![expect(unsafe_code, reason = "machine code, and an intrinsic, of BMI2")]

use std::arch::asm;
use std::arch::x86_64::_pdep_u64;

use super::{Deposit, Rotate};
use crate::simd::Avx2;

/// The instructions of BMI2, which every machine with AVX2 has.
#[derive(Clone, Copy)]
pub(crate) struct Bmi2(pub(crate) Avx2);

impl Rotate for Bmi2 {
    /// One instruction, which does not overwrite its source. The compiler would emit a copy and a shift, and the loop
    /// that decodes a block rotates four times per lookup.
    #[inline(always)]
    fn right<const BY: u32>(self, word: u64) -> u64 {
        // Miri interprets no machine code.
        if cfg!(miri) {
            return word.rotate_right(BY);
        }
        let rotated;
        // SAFETY: the `Avx2` value within `self` proves that the machine has BMI2; registers are all that is touched.
        unsafe {
            asm!(
                "rorx {}, {}, {}", out(reg) rotated, in(reg) word, const BY,
                options(pure, nomem, nostack, preserves_flags)
            );
        }
        rotated
    }
}

impl Deposit for Bmi2 {
    #[inline(always)]
    fn deposit(self, bits: u64, mask: u64) -> u64 {
        // SAFETY: the `Avx2` value within `self` proves that the machine has BMI2.
        unsafe { _pdep_u64(bits, mask) }
    }
}
