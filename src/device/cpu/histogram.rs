//! How many pixels have each level, and the tables that torchvision's autocontrast and equalize make of that.

use super::image_view::Canvas;
use crate::color::LevelTable;
use crate::geometry::Rect;

/// The new level of each level, per channel.
pub(crate) type Table = [[u8; 256]; 3];

/// The table for a step that looks its levels up, by the pixels of `rect`, which is clipped to the canvas.
pub(crate) fn table(canvas: &Canvas, rect: Rect, table: LevelTable) -> Table {
    let rect = rect.intersect(canvas.size.rect());
    // Neighbours, which are often equal, are counted apart: a count waits for the one before it.
    let mut turns = [[[0u32; 256]; 3]; 2];
    if !rect.is_empty() {
        let view = canvas.part(rect);
        for y in 0..rect.height as usize {
            for (x, pixel) in view.row(y).as_chunks::<3>().0.iter().enumerate() {
                for (counts, &level) in turns[x % 2].iter_mut().zip(pixel) {
                    counts[usize::from(level)] += 1;
                }
            }
        }
    }
    std::array::from_fn(|channel| {
        let counts =
            std::array::from_fn(|level| turns.iter().map(|turn| u64::from(turn[channel][level])).sum());
        match table {
            LevelTable::Stretched => stretched(&counts),
            LevelTable::Equalized => equalized(&counts),
        }
    })
}

fn same() -> [u8; 256] {
    std::array::from_fn(|level| level as u8)
}

/// The least level to 0 and the greatest to 255.
fn stretched(counts: &[u64; 256]) -> [u8; 256] {
    let least = counts.iter().position(|&count| count > 0);
    let greatest = counts.iter().rposition(|&count| count > 0);
    let (Some(least), Some(greatest)) = (least, greatest) else { return same() };
    if least == greatest {
        return same();
    }
    let scale = (greatest - least) as f32 * (1.0 / 255.0);
    std::array::from_fn(|level| ((level as f32 - least as f32) / scale).clamp(0.0, 255.0) as u8)
}

/// Each level by how many pixels lie below it.
fn equalized(counts: &[u64; 256]) -> [u8; 256] {
    let all: u64 = counts.iter().sum();
    let greatest = counts.iter().rposition(|&count| count > 0).unwrap_or(0);
    let step = (all - counts[greatest]) / 255;
    if step == 0 {
        return same();
    }
    let mut below = 0;
    counts.map(|count| {
        let level = ((below + step / 2) / step).min(255) as u8;
        below += count;
        level
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(of: &[(usize, u64)]) -> [u64; 256] {
        let mut counts = [0; 256];
        of.iter().for_each(|&(level, count)| counts[level] = count);
        counts
    }

    #[test]
    fn levels_are_stretched_and_cut_off_as_torch_does() {
        let table = stretched(&counts(&[(50, 1), (60, 7), (100, 2)]));
        assert_eq!([table[50], table[60], table[100]], [0, 50, 254]);
    }

    #[test]
    fn a_flat_channel_stays_as_it_is() {
        let flat = counts(&[(77, 1000)]);
        assert_eq!(stretched(&flat), same());
        assert_eq!(equalized(&flat), same());
    }

    #[test]
    fn too_few_pixels_to_spread_stay_as_they_are() {
        assert_eq!(equalized(&counts(&[(3, 254), (9, 5)])), same());
    }

    #[test]
    fn equal_shares_are_spread_evenly() {
        let table = equalized(&counts(&[(10, 510), (11, 510), (12, 510)]));
        assert_eq!([table[0], table[10], table[11], table[12]], [0, 0, 128, 255]);
    }
}
