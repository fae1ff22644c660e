//! Quantisation factors, as the inverse DCT multiplies by them.

/// Factors row by row. 16 bits, signed, since libjpeg-turbo's vector code multiplies modulo 2^16.
#[derive(Clone, Copy)]
#[repr(C, align(32))]
pub(crate) struct Quant(pub(crate) [i16; 64]);

/// The factors of a frame's components.
pub(crate) struct Quants {
    pub(crate) each: [Quant; 4],
    /// Rows of two components side by side, those of components i and j at 4 i + j.
    #[cfg_attr(not(target_arch = "x86_64"), expect(dead_code, reason = "for two blocks in a register"))]
    pub(crate) pairs: [Pair; 16],
}

/// Rows of two blocks side by side.
#[derive(Clone, Copy)]
#[repr(C, align(32))]
pub(crate) struct Pair(pub(crate) [[[i16; 8]; 2]; 8]);

impl Quants {
    /// The factors of each component; those of absent components may have any value.
    pub(crate) fn new(each: [Quant; 4]) -> Self {
        let mut pairs = [Pair([[[0; 8]; 2]; 8]); 16];
        for (i, Pair(rows)) in pairs.iter_mut().enumerate() {
            let sides = [&each[i / 4], &each[i % 4]].map(|quant| quant.0.as_chunks().0);
            for (y, row) in rows.iter_mut().enumerate() {
                *row = sides.map(|side| side[y]);
            }
        }
        Self { each, pairs }
    }
}
