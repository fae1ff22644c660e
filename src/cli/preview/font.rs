//! The smallest letters, for names in boxes that have no room for others: three columns and five rows each.

/// Columns of a letter, the gap behind it included.
pub(crate) const ADVANCE: u32 = 4;
/// Rows of a letter.
pub(crate) const ROWS: u32 = 5;

/// The rows of each digit, one octal digit a row, the top one first; bit 2 is the left column.
const DIGITS: [u16; 10] =
    [0o75557, 0o26227, 0o71747, 0o71717, 0o55711, 0o74717, 0o74757, 0o71111, 0o75757, 0o75717];
/// The same of A to Z.
const LETTERS: [u16; 26] = [
    0o25755, 0o65656, 0o34443, 0o65556, 0o74647, 0o74644, 0o34553, 0o55755, 0o72227, 0o11152, 0o55655,
    0o44447, 0o57755, 0o65555, 0o25552, 0o65644, 0o25563, 0o65655, 0o34216, 0o72222, 0o55557, 0o55552,
    0o55775, 0o55255, 0o55222, 0o71247,
];
/// The same of some signs.
const SIGNS: [(char, u16); 11] = [
    (' ', 0),
    ('-', 0o00700),
    ('_', 0o00007),
    ('.', 0o00002),
    (',', 0o00024),
    ('/', 0o11244),
    (':', 0o02020),
    ('+', 0o02720),
    ('=', 0o07070),
    ('(', 0o12221),
    (')', 0o42224),
];
/// What stands for whatever has no picture here, names in other scripts among it.
const UNKNOWN: u16 = 0o71202;

fn rows(letter: char) -> u16 {
    let letter = letter.to_ascii_uppercase();
    match letter {
        '0'..='9' => DIGITS[letter as usize - '0' as usize],
        'A'..='Z' => LETTERS[letter as usize - 'A' as usize],
        _ => SIGNS.iter().find(|(sign, _)| *sign == letter).map_or(UNKNOWN, |(_, rows)| *rows),
    }
}

/// The set pixels of a line of text, as columns and rows.
pub(crate) fn dots(text: &str) -> impl Iterator<Item = (u32, u32)> {
    let places = (0..).zip(text.chars());
    places.flat_map(|(place, letter)| {
        let all = (0..ROWS).flat_map(|row| (0..3).map(move |column| (column, row)));
        let set = all.filter(move |&(column, row)| is_set(letter, column, row));
        set.map(move |(column, row)| (place * ADVANCE + column, row))
    })
}

/// Whether the pixel at `column` (0 to 2) and `row` (0 to 4) of a letter is set.
fn is_set(letter: char, column: u32, row: u32) -> bool {
    rows(letter) >> (3 * (ROWS - 1 - row) + (2 - column)) & 1 != 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_letter_reads_from_its_left_top_corner() {
        let drawn = |letter: char| -> Vec<String> {
            let pixel = |column, row| if is_set(letter, column, row) { '#' } else { '.' };
            (0..ROWS).map(|row| (0..3).map(|column| pixel(column, row)).collect()).collect()
        };
        assert_eq!(drawn('l'), ["#..", "#..", "#..", "#..", "###"]);
        assert_eq!(drawn('7'), ["###", "..#", "..#", "..#", "..#"]);
        assert_eq!(drawn('é'), drawn('?'));
    }
}
