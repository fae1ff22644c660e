//! Every level of vectors reads what plain Rust reads, of sound groups and of all others.

use super::super::encode::Lists;
use super::*;
use crate::rng::{Draws, Rng};
use crate::simd::{Level, Vectors};

/// What became of a group: the blocks, as far as they are there, or the error.
type Outcome = Result<Vec<([i16; 64], u64)>, CoefficientsError>;

fn expand(expander: &mut Expander, bytes: &[u8], count: usize, widths: Widths) -> Outcome {
    let padded = [bytes, &[0x5A; SLACK]].concat();
    let group = Bytes::new(&padded, bytes.len()).unwrap();
    // What an earlier group has left.
    let mut out = BlockGroup::new();
    out.batch.blocks = [[77; 64]; _];
    expander.expand(group, count, &Positions::new(widths), &mut out)?;
    Ok((0..count).map(|i| (out.batch.blocks[i], out.masks[i])).collect())
}

fn widths(rng: &mut Rng) -> Widths {
    let mut widths = Widths::default();
    let one = rng.below(4);
    for width in &mut widths.0 {
        // All alike, or mixed.
        *width =
            [Width::Two, Width::Four, Width::Eight][(if one == 3 { rng.below(3) } else { one }) as usize];
    }
    widths
}

/// Blocks as they are in photographs, and as they never are.
fn blocks(rng: &mut Rng) -> Vec<[i16; 64]> {
    let count = 1 + rng.below(GROUP as u32) as usize;
    let (dense, large) = (rng.below(5), rng.below(4));
    let mut blocks = vec![[0; 64]; count];
    for block in &mut blocks {
        block[0] = if large == 3 { rng.bits() as i16 } else { rng.below(300) as i16 - 150 };
        let values = [0, 3, 10, 40, 63][rng.below(1 + dense) as usize];
        for _ in 0..rng.below(values + 1) {
            let size = [2, 12, 260, 70_000][rng.below(1 + large) as usize];
            let value = rng.below(2 * size + 1) as i32 - size as i32;
            block[usize::from(ZIGZAG[1 + rng.below(values.max(1)) as usize])] = value as i16;
        }
    }
    blocks
}

fn expanders() -> impl Iterator<Item = (Level, Expander)> {
    Level::ALL.into_iter().map(|level| (level, Expander::new(Vectors::detected(level))))
}

#[test]
fn groups_hold_what_was_written_at_every_level() {
    let (mut rng, mut lists) = (Rng::new(1, 0, 0, 0), Lists::default());
    let mut expanders: Vec<_> = expanders().collect();
    for _ in 0..if cfg!(miri) { 20 } else { 2000 } {
        let (blocks, widths) = (blocks(&mut rng), widths(&mut rng));
        let mut bytes = Vec::new();
        lists.write_group(&blocks, &widths, &mut bytes);
        for (level, expander) in &mut expanders {
            let found = expand(expander, &bytes, blocks.len(), widths).unwrap();
            for ((found, mask), wanted) in found.iter().zip(&blocks) {
                assert_eq!(found, wanted, "{level:?}");
                let positions = (1..64).filter(|&z| wanted[usize::from(ZIGZAG[z])] != 0).map(|z| 1u64 << z);
                assert_eq!(*mask, positions.sum::<u64>(), "{level:?}");
            }
        }
    }
}

#[test]
fn damaged_groups_are_read_or_refused_alike_at_every_level() {
    let (mut rng, mut lists) = (Rng::new(2, 0, 0, 0), Lists::default());
    let mut expanders: Vec<_> = expanders().collect();
    let (mut refused, mut taken) = (0, 0);
    for _ in 0..if cfg!(miri) { 40 } else { 4000 } {
        let (blocks, widths) = (blocks(&mut rng), widths(&mut rng));
        let mut bytes = Vec::new();
        lists.write_group(&blocks, &widths, &mut bytes);
        for _ in 0..=rng.below(3) {
            let at = rng.below(bytes.len() as u32) as usize;
            match rng.below(4) {
                0 => bytes[at] = rng.bits() as u8,
                1 => bytes[at] ^= 1 << rng.below(8),
                2 => bytes.truncate(at + 1),
                _ => bytes.insert(at, rng.bits() as u8),
            }
        }
        let (plain, others) = expanders.split_first_mut().unwrap();
        let wanted = expand(&mut plain.1, &bytes, blocks.len(), widths);
        for (level, expander) in others {
            assert_eq!(expand(expander, &bytes, blocks.len(), widths), wanted, "{level:?}");
        }
        refused += usize::from(wanted.is_err());
        taken += usize::from(wanted.is_ok());
    }
    assert!(cfg!(miri) || (refused > 500 && taken > 500), "{refused} {taken}");
}

#[test]
fn what_no_writer_makes_is_refused_at_every_level() {
    // DC 5; one byte of positions, 1 and 2; their values, of which a patch has the first.
    const SOUND: [u8; 10] = [5, 0, 1, 0b11, 0, 7, 1, 0, 44, 1];
    let patched = |patches: &[[u8; 4]]| [&SOUND[..6], patches.as_flattened()].concat();
    let wrong = [
        ("nine bytes of positions", [&[5, 0, 9][..], &[0; 9]].concat()),
        ("position 64", [&[5, 0, 8][..], &[0, 0, 0, 0, 0, 0, 0, 0x80], &[1]].concat()),
        ("a value is missing", SOUND[..5].to_vec()),
        ("a byte of a patch is missing", SOUND[..9].to_vec()),
        ("a byte is left", [&SOUND[..], &[0]].concat()),
        ("a patch comes twice", patched(&[[1, 0, 44, 1], [1, 0, 44, 1]])),
        ("patches fall", patched(&[[2, 0, 44, 1], [1, 0, 44, 1]])),
        ("a patch of what is 0", patched(&[[3, 0, 44, 1]])),
        ("a patch of DC", patched(&[[0, 0, 44, 1]])),
        ("a patch of no block", patched(&[[65, 0, 44, 1]])),
    ];
    for (level, mut expander) in expanders() {
        let found = expand(&mut expander, &SOUND, 1, Widths::default()).unwrap();
        assert_eq!(
            (found[0].0[0], found[0].0[1], found[0].0[8], found[0].1),
            (5, 300, 7, 0b110),
            "{level:?}"
        );
        for (what, bytes) in &wrong {
            assert!(expand(&mut expander, bytes, 1, Widths::default()).is_err(), "{what} {level:?}");
        }
    }
}
