//! The font of captions and of names that have room: Noto Sans Mono, drawn beforehand for one height.
//!
//! The crate has no code to draw outlines with, which a TrueType font would need as well, and takes 36 KB of the program.

use noto_sans_mono_bitmap::{FontWeight, RasterHeight, get_raster, get_raster_width};

const WEIGHT: FontWeight = FontWeight::Regular;
const HEIGHT: RasterHeight = RasterHeight::Size16;
/// Columns of a letter, the gap behind it included.
pub(crate) const ADVANCE: u32 = get_raster_width(WEIGHT, HEIGHT) as u32;
/// Rows of a line.
pub(crate) const ROWS: u32 = HEIGHT.val() as u32;
/// What stands for a letter that the font does not have: it has those of Europe's languages in Latin script.
const UNKNOWN: char = '\u{fffd}';

/// The pixels of a line of text that are not empty, as column, row and how much of each is covered, from 1 to 255.
pub(crate) fn pixels(text: &str) -> impl Iterator<Item = (u32, u32, u8)> {
    (0..).step_by(ADVANCE as usize).zip(text.chars()).flat_map(|(left, letter)| {
        let raster = get_raster(letter, WEIGHT, HEIGHT).or_else(|| get_raster(UNKNOWN, WEIGHT, HEIGHT));
        let rows = (0..).zip(raster.into_iter().flat_map(|raster| raster.rows()));
        rows.flat_map(move |(row, covered)| {
            let covered = (left..).zip(covered.iter().copied()).filter(|(_, covered)| *covered > 0);
            covered.map(move |(column, covered)| (column, row, covered))
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    /// The pixels of one letter that are mostly covered.
    fn drawn(letter: char) -> HashSet<(u32, u32)> {
        let text = letter.to_string();
        let most = pixels(&text).filter(|(.., covered)| *covered > 127);
        most.map(|(column, row, _)| (column, row)).collect()
    }

    #[test]
    fn letters_have_their_case_and_their_accents_and_none_is_empty() {
        let letters: Vec<char> = ('!'..='~').chain(['é', 'ß', 'Ł', UNKNOWN]).collect();
        let different: Vec<_> = letters.iter().map(|letter| drawn(*letter)).collect();
        for (at, letter) in letters.iter().enumerate() {
            let same = different[..at].iter().position(|other| *other == different[at]);
            assert!(
                !different[at].is_empty() && same.is_none(),
                "{letter}: as {:?}",
                same.map(|at| letters[at])
            );
        }
        assert_eq!(drawn('猫'), drawn(UNKNOWN));
        assert!(drawn(' ').is_empty());
    }

    #[test]
    fn each_letter_stands_in_its_own_columns() {
        let columns = |text: &str| pixels(text).map(|(column, ..)| column / ADVANCE).collect::<HashSet<_>>();
        assert_eq!(columns("ab d"), HashSet::from([0, 1, 3]));
        assert!(pixels("Äg|").all(|(_, row, _)| row < ROWS));
        let shifted = pixels(" l").map(|(column, row, covered)| (column - ADVANCE, row, covered));
        assert!(shifted.eq(pixels("l")));
    }
}
