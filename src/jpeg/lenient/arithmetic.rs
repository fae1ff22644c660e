//! Arithmetic-coded scans, sequential and progressive (ITU-T T.81, annexes D, F and G).

mod states;

use super::blocks::Mcu;
use super::input::Input;
use super::segments::{Kind, Scan};
use super::tables::{Conditioning, Tables};
use super::{Damage, Fatal};
use crate::jpeg::transform::ZIGZAG;
use states::{FIXED, STATES, State};

/// The contexts of a DC table, and of an AC table.
const DC_CONTEXTS: usize = 64;
const AC_CONTEXTS: usize = 256;
/// The first contexts of magnitudes: of DC, and of AC for low and for high coefficients.
const DC_MAGNITUDE: usize = 20;
const AC_LOW: usize = 189;
const AC_HIGH: usize = 217;
/// From the context that ends a magnitude to that of its bits.
const BITS: usize = 14;
/// Magnitudes that no coefficient has.
const TOO_LARGE: i32 = 0x8000;

/// A decision's probability: a state, and in the highest bit the more probable decision.
type Context = u8;

/// A binary arithmetic decoder (D.2), with its input not yet used at the low end of the code register.
struct Decoder {
    code: i64,
    interval: i64,
    /// Bits of input in `code`; negative before the first two bytes.
    bits: i32,
}

/// Bits that no encoder writes: the rest of the segment stays as it is.
struct BadCode;

impl Decoder {
    fn new() -> Self {
        Self { code: 0, interval: 0, bits: -16 }
    }

    fn decide(&mut self, input: &mut Input<'_>, context: &mut Context) -> bool {
        while self.interval < 0x8000 {
            self.bits -= 1;
            if self.bits < 0 {
                // Behind a marker come zeros, which an encoder leaves out.
                let byte = input.data_byte().unwrap_or(0);
                self.code = self.code << 8 | i64::from(byte);
                self.bits += 8;
                if self.bits < 0 {
                    self.bits += 1;
                    if self.bits == 0 {
                        self.interval = 0x8000;
                    }
                }
            }
            self.interval <<= 1;
        }
        let State { size, less, more } = STATES[usize::from(*context & 0x7F)];
        let probable = *context & 0x80;
        let size = i64::from(size);
        self.interval -= size;
        let bound = self.interval << self.bits;
        // Whether the less probable half was hit, and whether it is the larger one, so that the halves change roles.
        let (in_upper, exchanged) = (self.code >= bound, self.interval < size);
        if in_upper {
            self.code -= bound;
            self.interval = size;
        } else if self.interval >= 0x8000 {
            return probable != 0;
        }
        if in_upper == exchanged {
            *context = probable ^ more;
            probable != 0
        } else {
            *context = probable ^ less;
            probable == 0
        }
    }
}

/// One scan.
pub(super) struct Arithmetic {
    kind: Kind,
    start: usize,
    end: usize,
    low: u32,
    /// Each component's tables.
    dc: [usize; 4],
    ac: [usize; 4],
    conditioning: Conditioning,
    decoder: Decoder,
    is_broken: bool,
    dc_contexts: Box<[[Context; DC_CONTEXTS]; 16]>,
    ac_contexts: Box<[[Context; AC_CONTEXTS]; 16]>,
    predictions: [i32; 4],
    /// By the difference before: where a component's next one finds its contexts.
    categories: [usize; 4],
}

impl Arithmetic {
    /// The start of a scan.
    pub(super) fn new(scan: &Scan, progressive: bool, tables: &Tables) -> Self {
        let kind = scan.kind(progressive);
        let part = |slot: usize| scan.parts().get(slot).copied().unwrap_or_default();
        Self {
            kind,
            start: scan.start,
            end: scan.end,
            low: scan.low,
            dc: std::array::from_fn(|slot| part(slot).dc & 15),
            ac: std::array::from_fn(|slot| part(slot).ac & 15),
            conditioning: tables.conditioning,
            decoder: Decoder::new(),
            is_broken: false,
            dc_contexts: Box::new([[0; _]; 16]),
            ac_contexts: Box::new([[0; _]; 16]),
            predictions: [0; 4],
            categories: [0; 4],
        }
    }

    /// Passes a restart marker.
    pub(super) fn restart(&mut self, input: &mut Input<'_>) {
        input.restart(0);
        self.decoder = Decoder::new();
        self.is_broken = false;
        self.dc_contexts.as_flattened_mut().fill(0);
        self.ac_contexts.as_flattened_mut().fill(0);
        (self.predictions, self.categories) = ([0; 4], [0; 4]);
    }

    /// Decodes an MCU.
    pub(super) fn mcu(&mut self, input: &mut Input<'_>, mcu: &mut Mcu<'_>) -> Result<(), Fatal> {
        if self.is_broken && !matches!(self.kind, Kind::DcRefinement) {
            return Ok(());
        }
        let result = match self.kind {
            Kind::Sequential => self.sequential(input, mcu),
            Kind::DcFirst => self.dc_first(input, mcu),
            Kind::DcRefinement => self.dc_refinement(input, mcu),
            Kind::AcFirst => self.ac_first(input, mcu.block(0), 0),
            Kind::AcRefinement => self.ac_refinement(input, mcu.block(0)),
        };
        if let Err(BadCode) = result {
            input.warn(Damage::BadArithmeticCode);
            self.is_broken = true;
        }
        Ok(())
    }

    fn sequential(&mut self, input: &mut Input<'_>, mcu: &mut Mcu<'_>) -> Result<(), BadCode> {
        for i in 0..mcu.len() {
            let slot = mcu.slot(i);
            self.difference(input, slot)?;
            mcu.block(i)[0] = self.predictions[slot] as i16;
            self.ac_first(input, mcu.block(i), slot)?;
        }
        Ok(())
    }

    fn dc_first(&mut self, input: &mut Input<'_>, mcu: &mut Mcu<'_>) -> Result<(), BadCode> {
        for i in 0..mcu.len() {
            let slot = mcu.slot(i);
            self.difference(input, slot)?;
            mcu.block(i)[0] = (self.predictions[slot] << self.low) as i16;
        }
        Ok(())
    }

    /// Adds the next difference to a component's prediction (F.2.4.1).
    fn difference(&mut self, input: &mut Input<'_>, slot: usize) -> Result<(), BadCode> {
        let table = self.dc[slot];
        let (contexts, decoder) = (&mut self.dc_contexts[table], &mut self.decoder);
        let mut at = self.categories[slot];
        if !decoder.decide(input, &mut contexts[at]) {
            self.categories[slot] = 0;
            return Ok(());
        }
        let is_negative = decoder.decide(input, &mut contexts[at + 1]);
        at += 2 + usize::from(is_negative);
        let mut magnitude = i32::from(decoder.decide(input, &mut contexts[at]));
        if magnitude != 0 {
            at = DC_MAGNITUDE;
            while decoder.decide(input, &mut contexts[at]) {
                magnitude <<= 1;
                if magnitude == TOO_LARGE {
                    return Err(BadCode);
                }
                at += 1;
            }
        }
        let (small, large) = self.conditioning.dc[table];
        let bound = |exponent: u8| ((1i64 << exponent) >> 1) as i32;
        self.categories[slot] = match magnitude {
            magnitude if magnitude < bound(small) => 0,
            magnitude if magnitude > bound(large) => 12 + 4 * usize::from(is_negative),
            _ => 4 + 4 * usize::from(is_negative),
        };
        let value = value(decoder, input, &mut contexts[at + BITS], magnitude, is_negative);
        self.predictions[slot] = (self.predictions[slot] + value) & 0xFFFF;
        Ok(())
    }

    fn dc_refinement(&mut self, input: &mut Input<'_>, mcu: &mut Mcu<'_>) -> Result<(), BadCode> {
        for i in 0..mcu.len() {
            if self.decoder.decide(input, &mut { FIXED }) {
                mcu.block(i)[0] |= 1 << self.low;
            }
        }
        Ok(())
    }

    /// Coefficients other than DC (F.2.4.2), the whole block's or a band.
    fn ac_first(&mut self, input: &mut Input<'_>, block: &mut [i16; 64], slot: usize) -> Result<(), BadCode> {
        let (start, end, low) = match self.kind {
            Kind::Sequential => (1, 63, 0),
            _ => (self.start, self.end, self.low),
        };
        let table = self.ac[slot];
        let (contexts, decoder) = (&mut self.ac_contexts[table], &mut self.decoder);
        let mut k = start;
        while k <= end {
            if decoder.decide(input, &mut contexts[3 * (k - 1)]) {
                break;
            }
            while !decoder.decide(input, &mut contexts[3 * (k - 1) + 1]) {
                k += 1;
                if k > end {
                    return Err(BadCode);
                }
            }
            let is_negative = decoder.decide(input, &mut { FIXED });
            let mut at = 3 * (k - 1) + 2;
            let mut magnitude = i32::from(decoder.decide(input, &mut contexts[at]));
            if magnitude != 0 && decoder.decide(input, &mut contexts[at]) {
                magnitude <<= 1;
                at = if k <= self.conditioning.ac[table].into() { AC_LOW } else { AC_HIGH };
                while decoder.decide(input, &mut contexts[at]) {
                    magnitude <<= 1;
                    if magnitude == TOO_LARGE {
                        return Err(BadCode);
                    }
                    at += 1;
                }
            }
            let value = value(decoder, input, &mut contexts[at + BITS], magnitude, is_negative);
            block[usize::from(ZIGZAG[k])] = (value << low) as i16;
            k += 1;
        }
        Ok(())
    }

    fn ac_refinement(&mut self, input: &mut Input<'_>, block: &mut [i16; 64]) -> Result<(), BadCode> {
        let (contexts, decoder) = (&mut self.ac_contexts[self.ac[0]], &mut self.decoder);
        let (plus, minus) = (1i16 << self.low, -1i16 << self.low);
        // The last coefficient that an earlier scan has found.
        let known = (1..=self.end).rev().find(|&k| block[usize::from(ZIGZAG[k])] != 0).unwrap_or(0);
        let mut k = self.start;
        while k <= self.end {
            if k > known && decoder.decide(input, &mut contexts[3 * (k - 1)]) {
                break;
            }
            loop {
                let (coefficient, at) = (&mut block[usize::from(ZIGZAG[k])], 3 * (k - 1));
                if *coefficient != 0 {
                    if decoder.decide(input, &mut contexts[at + 2]) {
                        *coefficient = coefficient.wrapping_add(if *coefficient < 0 { minus } else { plus });
                    }
                    break;
                }
                if decoder.decide(input, &mut contexts[at + 1]) {
                    *coefficient = if decoder.decide(input, &mut { FIXED }) { minus } else { plus };
                    break;
                }
                k += 1;
                if k > self.end {
                    return Err(BadCode);
                }
            }
            k += 1;
        }
        Ok(())
    }
}

/// The bits of a magnitude below its first, and the sign.
fn value(
    decoder: &mut Decoder,
    input: &mut Input<'_>,
    context: &mut Context,
    magnitude: i32,
    is_negative: bool,
) -> i32 {
    let (mut value, mut bit) = (magnitude, magnitude >> 1);
    while bit != 0 {
        if decoder.decide(input, context) {
            value |= bit;
        }
        bit >>= 1;
    }
    if is_negative { -(value + 1) } else { value + 1 }
}
