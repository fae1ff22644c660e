//! Tables for instructions that move bytes within 16.

use crate::jpeg::ZIGZAG;

/// An index that gives zero.
pub(super) const ABSENT: u8 = 0x80;

/// For each set of eight places, the number among them of the one at each place.
pub(super) static SPREAD: [[u8; 8]; 256] = {
    let mut table = [[ABSENT; 8]; 256];
    let mut set = 0;
    while set < 256 {
        let (mut place, mut next) = (0, 0);
        while place < 8 {
            if set >> place & 1 != 0 {
                table[set][place] = next;
                next += 1;
            }
            place += 1;
        }
        set += 1;
    }
    table
};

/// For each coefficient of a half of a block, row by row, its number among sixteen positions, if it is one of them.
#[cfg(target_arch = "x86_64")]
pub(super) const fn rows_of(half: usize, sixteen: usize) -> [u8; 32] {
    let mut table = [ABSENT; 32];
    let mut position = 16 * sixteen;
    while position < 16 * sixteen + 16 {
        let at = ZIGZAG[position] as usize;
        if at / 32 == half {
            table[at % 32] = position as u8 % 16;
        }
        position += 1;
    }
    table
}

/// The position of each coefficient of a block that is stored row by row.
pub(super) const POSITIONS: [u8; 64] = {
    let mut positions = [0; 64];
    let mut position = 0;
    while position < 64 {
        positions[ZIGZAG[position] as usize] = position as u8;
        position += 1;
    }
    positions
};
