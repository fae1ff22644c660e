//! The tables that segments define. They are checked when a scan uses them, and not before.

use super::Fatal;
use super::input::Input;
use crate::jpeg::entropy::standard_tables as standard;
use crate::jpeg::transform::ZIGZAG;

/// A Huffman code as a DHT segment defines it.
#[derive(Clone)]
pub(super) struct Code {
    counts: [u8; 16],
    symbols: [u8; 256],
}

/// What determines the contexts of arithmetic coding.
#[derive(Clone, Copy)]
pub(super) struct Conditioning {
    /// The bounds between no, a small and a large difference of DC, as powers of two.
    pub(super) dc: [(u8, u8); 16],
    /// The last coefficient of those that share contexts with the lowest.
    pub(super) ac: [u8; 16],
}

/// The tables by their indices.
pub(super) struct Tables {
    /// Factors row by row.
    pub(super) quant: [Option<[u16; 64]>; 4],
    pub(super) dc: [Option<Code>; 4],
    pub(super) ac: [Option<Code>; 4],
    pub(super) conditioning: Conditioning,
    /// MCUs between restart markers, 0 for none.
    pub(super) restart_interval: u16,
}

impl Code {
    fn new(counts: &[u8; 16], symbols: &[u8]) -> Self {
        let mut code = Self { counts: *counts, symbols: [0; 256] };
        code.symbols[..symbols.len()].copy_from_slice(symbols);
        code
    }
}

impl Default for Tables {
    fn default() -> Self {
        Self {
            quant: [None; 4],
            dc: [const { None }; 4],
            ac: [const { None }; 4],
            conditioning: Conditioning { dc: [(0, 1); 16], ac: [5; 16] },
            restart_interval: 0,
        }
    }
}

impl Tables {
    /// Fills gaps with Annex K's tables.
    pub(super) fn fill_in_standard(&mut self) {
        let [dc0, dc1, ..] = &mut self.dc;
        let [ac0, ac1, ..] = &mut self.ac;
        dc0.get_or_insert_with(|| Code::new(&standard::DC_LUMA_COUNTS, &standard::DC));
        dc1.get_or_insert_with(|| Code::new(&standard::DC_CHROMA_COUNTS, &standard::DC));
        ac0.get_or_insert_with(|| Code::new(&standard::AC_LUMA_COUNTS, &standard::AC_LUMA));
        ac1.get_or_insert_with(|| Code::new(&standard::AC_CHROMA_COUNTS, &standard::AC_CHROMA));
    }

    /// Reads a DQT segment.
    pub(super) fn read_quant(&mut self, input: &mut Input<'_>) -> Result<(), Fatal> {
        let mut left = i32::from(input.word()) - 2;
        while left > 0 {
            let kind = input.byte();
            let wide = kind >> 4 != 0;
            let Some(table) = self.quant.get_mut(usize::from(kind & 15)) else {
                return Err(Fatal("a quantisation table has an index above 3"));
            };
            let table = table.get_or_insert([0; 64]);
            for position in ZIGZAG {
                table[usize::from(position)] = if wide { input.word() } else { input.byte().into() };
            }
            left -= if wide { 129 } else { 65 };
        }
        no_rest(left)
    }

    /// Reads a DHT segment.
    pub(super) fn read_huffman(&mut self, input: &mut Input<'_>) -> Result<(), Fatal> {
        let mut left = i32::from(input.word()) - 2;
        while left > 16 {
            let kind = input.byte();
            let counts = std::array::from_fn(|_| input.byte());
            let total: usize = counts.iter().map(|&count| usize::from(count)).sum();
            left -= 17;
            if total > 256 || total as i32 > left {
                return Err(Fatal("a Huffman table has more symbols than fit"));
            }
            let mut symbols = [0; 256];
            symbols[..total].fill_with(|| input.byte());
            left -= total as i32;
            // What is not an AC table's index is taken for a DC table's.
            let table = match kind {
                kind if kind & 0x10 != 0 => self.ac.get_mut(usize::from(kind - 0x10)),
                kind => self.dc.get_mut(usize::from(kind)),
            };
            let Some(table) = table else { return Err(Fatal("a Huffman table has an index above 3")) };
            *table = Some(Code { counts, symbols });
        }
        no_rest(left)
    }

    /// Reads a DAC segment.
    pub(super) fn read_conditioning(&mut self, input: &mut Input<'_>) -> Result<(), Fatal> {
        let mut left = i32::from(input.word()) - 2;
        while left > 0 {
            let (index, value) = (usize::from(input.byte()), input.byte());
            left -= 2;
            match index {
                0..16 => {
                    let bounds = (value & 15, value >> 4);
                    if bounds.0 > bounds.1 {
                        return Err(Fatal(
                            "the conditioning of arithmetic coding has bounds the wrong way round",
                        ));
                    }
                    self.conditioning.dc[index] = bounds;
                }
                16..32 => self.conditioning.ac[index - 16] = value,
                _ => return Err(Fatal("the conditioning of arithmetic coding has an index above 31")),
            }
        }
        no_rest(left)
    }

    /// Reads a DRI segment.
    pub(super) fn read_restart_interval(&mut self, input: &mut Input<'_>) -> Result<(), Fatal> {
        if input.word() != 4 {
            return Err(Fatal("a DRI segment is not two bytes long"));
        }
        self.restart_interval = input.word();
        Ok(())
    }
}

fn no_rest(left: i32) -> Result<(), Fatal> {
    if left == 0 { Ok(()) } else { Err(Fatal("a segment's length does not fit its content")) }
}

/// Bits of the codes that are looked up at once.
pub(super) const LOOKAHEAD: u32 = 8;

/// A Huffman code as a scan uses it.
pub(super) struct Lookup {
    symbols: [u8; 256],
    /// The largest code of each length, -1 if there is none. All bits are at most that of the last, which ends a search.
    largest: [i64; 18],
    /// The term that makes a code of each length its symbol's index.
    offsets: [i64; 18],
    /// Length and symbol by the next bits; a length beyond [`LOOKAHEAD`] for longer codes.
    short: [(u8, u8); 1 << LOOKAHEAD],
}

impl Lookup {
    /// Checks a code, and makes it ready.
    pub(super) fn new(code: Option<&Code>, is_dc: bool) -> Result<Self, Fatal> {
        let code = code.ok_or(Fatal("a scan's Huffman table is missing"))?;
        let mut lookup = Self {
            symbols: code.symbols,
            largest: [-1; 18],
            offsets: [0; 18],
            short: [(LOOKAHEAD as u8 + 1, 0); 1 << LOOKAHEAD],
        };
        lookup.largest[17] = i64::MAX;
        let total: usize = code.counts.iter().map(|&count| usize::from(count)).sum();
        let (mut next, mut index) = (0u32, 0);
        for length in 1..=16u32 {
            let count = u32::from(code.counts[length as usize - 1]);
            if count > 0 {
                lookup.offsets[length as usize] = index - i64::from(next);
                lookup.largest[length as usize] = i64::from(next + count) - 1;
                // No code may be all ones.
                if next + count >= 1 << length {
                    return Err(Fatal("a Huffman table has more codes than fit"));
                }
            }
            for code in next..next + count {
                if length <= LOOKAHEAD {
                    let spread = LOOKAHEAD - length;
                    let symbol = lookup.symbols[index as usize & 255];
                    lookup.short[(code as usize) << spread..][..1 << spread].fill((length as u8, symbol));
                }
                index += 1;
            }
            next = (next + count) << 1;
        }
        if is_dc && lookup.symbols[..total.min(256)].iter().any(|&symbol| symbol > 15) {
            return Err(Fatal("a Huffman table holds symbols that cannot be"));
        }
        Ok(lookup)
    }

    /// The length of the code that the next bits begin with, and its symbol; a length above [`LOOKAHEAD`] if it is
    /// longer.
    pub(super) fn short(&self, bits: u32) -> (u32, u8) {
        let (length, symbol) = self.short[bits as usize & 255];
        (length.into(), symbol)
    }

    /// Whether `code` of `length` bits, at most 17, has to be longer.
    pub(super) fn is_longer(&self, code: u32, length: u32) -> bool {
        i64::from(code) > self.largest[length as usize]
    }

    /// The symbol of a code; `None` for one of 17 bits, which does not exist.
    pub(super) fn symbol(&self, code: u32, length: u32) -> Option<u8> {
        let index = i64::from(code) + self.offsets[length as usize];
        (length <= 16).then(|| self.symbols[index as usize & 255])
    }
}
