//! The passes against a walk from coefficient to coefficient, and against bits written by hand.

use super::pass::{AcPass, Blocks, CoefficientMask, Progress};
use crate::jpeg::entropy::bit_ops::Plain;
use crate::jpeg::entropy::bits::{Cursor, PADDING};
use crate::jpeg::entropy::block::BadBlock;
use crate::jpeg::entropy::huffman::{Class, Table};
use crate::jpeg::transform::ZIGZAG;
#[cfg(target_arch = "x86_64")]
use crate::simd::{Level, Vectors};

/// The state after a pass, which may have failed.
#[derive(PartialEq, Debug)]
struct After {
    ok: bool,
    consumed: usize,
    run: u32,
    blocks: Vec<[i16; 64]>,
}

/// A random number generator with a fixed seed.
struct Numbers(u64);

impl Numbers {
    fn next(&mut self, below: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % below
    }
}

/// A refinement as the standard describes it: coefficient by coefficient, a bit at a time.
fn refine_slowly(
    pass: AcPass<'_>,
    data: &[u8],
    limit: usize,
    mut run: u32,
    mut blocks: Vec<[i16; 64]>,
) -> After {
    let (mut cursor, bit) = (Cursor::default(), 1i16 << pass.low);
    let mut each = |block: &mut [i16; 64]| -> Option<()> {
        let mut k = pass.start;
        // Passes `zeros` zeros and the known coefficients between them, and stops at the next zero.
        let correct = |cursor: &mut Cursor, block: &mut [i16; 64], k: &mut usize, mut zeros: u32| {
            while *k <= pass.end {
                let value = &mut block[usize::from(ZIGZAG[*k])];
                if *value == 0 {
                    if zeros == 0 {
                        break;
                    }
                    zeros -= 1;
                } else {
                    cursor.refill(data);
                    if cursor.take(1) != 0 {
                        *value += if *value < 0 { -bit } else { bit };
                    }
                }
                *k += 1;
            }
        };
        while run == 0 && k <= pass.end {
            cursor.refill(data);
            let symbol = pass.table.symbol(&mut cursor)?;
            let (zeros, size) = (u32::from(symbol >> 4), symbol & 15);
            if size == 0 && zeros < 15 {
                run = (1 << zeros) + cursor.take(zeros);
                break;
            }
            let new = if size != 0 && cursor.take(1) != 0 { bit } else { -bit };
            correct(&mut cursor, block, &mut k, zeros);
            if size != 0 {
                *block.get_mut(usize::from(*ZIGZAG.get(k).filter(|_| k <= pass.end && size == 1)?))? = new;
            }
            k += 1;
        }
        if run > 0 {
            correct(&mut cursor, block, &mut k, u32::MAX);
            run -= 1;
        }
        (cursor.consumed() <= limit).then_some(())
    };
    let ok = blocks.iter_mut().all(|block| each(block).is_some());
    After { ok, consumed: cursor.consumed(), run, blocks }
}

fn after(
    decode: impl FnOnce(&mut Progress, Blocks<'_>) -> Result<(), BadBlock>,
    (data, limit, run): (&[u8], usize, u32),
    mut blocks: Vec<[i16; 64]>,
) -> After {
    let mut progress = Progress { cursor: Cursor::default(), run };
    let mut nonzero: Vec<CoefficientMask> = blocks.iter().map(places).collect();
    let ok = decode(&mut progress, Blocks { data, limit, coefficients: &mut blocks, nonzero: &mut nonzero });
    if ok.is_ok() {
        assert_eq!(nonzero, blocks.iter().map(places).collect::<Vec<_>>());
    }
    After { ok: ok.is_ok(), consumed: progress.cursor.consumed(), run: progress.run, blocks }
}

fn places(block: &[i16; 64]) -> CoefficientMask {
    let bit = |k: usize| u64::from(block[usize::from(ZIGZAG[k])] != 0) << (63 - k);
    CoefficientMask((1..64).map(bit).sum())
}

/// Runs the pass with every instruction set of this machine, and returns the state that all of them end in.
fn in_every_way(pass: AcPass<'_>, data: &[u8], limit: usize, run: u32, blocks: &[[i16; 64]]) -> After {
    let given = (data, limit, run);
    let plain = after(|progress, blocks| pass.blocks_with(Plain, progress, blocks), given, blocks.to_vec());
    #[cfg(target_arch = "x86_64")]
    if let Some(avx2) = Vectors::detected(Level::Avx2).avx2() {
        let bmi2 = crate::jpeg::entropy::bit_ops::Bmi2(avx2);
        let fast =
            |progress: &mut Progress, blocks: Blocks<'_>| super::bmi2::blocks(bmi2, pass, progress, blocks);
        let fast = after(fast, given, blocks.to_vec());
        assert!(fast == plain, "BMI2 leaves other coefficients, or ends at another bit");
    }
    plain
}

#[test]
fn refinements_are_those_of_a_walk_from_coefficient_to_coefficient() {
    let mut numbers = Numbers(1);
    let mut table = Table::new(Class::Ac);
    // Runs of all kinds, ends of one and of several bands, and a symbol that no refinement has.
    let symbols = [0x01, 0x00, 0x11, 0xF0, 0x51, 0x10, 0xF1, 0x40, 0x12];
    assert!(table.define(&[0, 2, 2, 1, 1, 1, 1, 0, 1, 0, 0, 0, 0, 0, 0, 0], &symbols).is_ok());
    let (mut good, mut bad) = (0, 0);
    for _ in 0..if cfg!(miri) { 20 } else { 4000 } {
        let mut data: Vec<u8> = (0..40 + numbers.next(160)).map(|_| numbers.next(256) as u8).collect();
        let limit = data.len() * 8;
        data.resize(data.len() + PADDING, 0);
        let start = 1 + numbers.next(63) as usize;
        let (end, low) = (start + numbers.next(64 - start as u64) as usize, numbers.next(3) as u32);
        let (density, run) = (1 + numbers.next(12), numbers.next(3) as u32);
        let mut blocks = vec![[0; 64]; 1 + numbers.next(4) as usize];
        for value in blocks.as_flattened_mut() {
            let sign = [-1, 1][numbers.next(2) as usize];
            *value = if numbers.next(density) == 0 { sign * (2 << low) } else { 0 };
        }
        let pass = AcPass { table: &table, start, end, low, refines: true };
        let wanted = refine_slowly(pass, &data, limit, run, blocks.clone());
        let found = in_every_way(pass, &data, limit, run, &blocks);
        assert_eq!(found.ok, wanted.ok);
        if wanted.ok {
            assert!(found == wanted, "{start} to {end}, bit {low}");
        }
        *if wanted.ok { &mut good } else { &mut bad } += 1;
    }
    assert!(cfg!(miri) || (good > 100 && bad > 100), "{good} passes went well, {bad} did not");
}

#[test]
fn first_passes_skip_the_blocks_of_a_run_and_know_what_they_found() {
    let mut table = Table::new(Class::Ac);
    // Codes 0, 10, 110, 1110: a value of one bit, one of 15 after a zero, the end of two or three bands, 16 zeros.
    assert!(
        table.define(&[1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0], &[0x01, 0x1F, 0x10, 0xF0]).is_ok()
    );
    let read = |bits: &str, end, low, run| {
        let mut data = vec![0; bits.len().div_ceil(8) + PADDING];
        for (at, _) in bits.bytes().enumerate().filter(|(_, bit)| *bit == b'1') {
            data[at / 8] |= 0x80 >> (at % 8);
        }
        let pass = AcPass { table: &table, start: 1, end, low, refines: false };
        in_every_way(pass, &data, bits.len(), run, &[[0; 64]; 5])
    };
    let values = |block: &[i16; 64]| ZIGZAG.map(|place| block[usize::from(place)]);
    // Three blocks of an earlier run, one of three values, and the end of three bands, the last one not here.
    let after = read("0100011101", 4, 1, 3);
    assert!(after.ok && after.run == 1 && after.consumed == 10);
    assert_eq!(values(&after.blocks[3])[..6], [0, 2, -2, 2, 0, 0]);
    assert!([0, 1, 2, 4].iter().all(|&at| after.blocks[at] == [0; 64]));
    // Shifted out of its 16 bits, the value of 15 bits is none.
    let after = read("10100000000000000110011001100", 63, 13, 0);
    assert!(after.ok && after.consumed == 29 && after.blocks[0] == [0; 64]);
    // 64 zeros are more than there can be; what is not there is no code; and the data may end too early.
    assert!(!read("1110111011101110", 63, 0, 0).ok);
    assert!(!read("1111", 63, 0, 0).ok);
    assert!(!read("0", 1, 0, 4).ok);
}
