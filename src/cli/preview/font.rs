//! A small bitmap font for captions: three columns and five rows a letter.

/// Columns of a letter, the gap behind it included.
pub(crate) const ADVANCE: u32 = 4;
/// Rows of a letter.
pub(crate) const ROWS: u32 = 5;

/// The rows of a letter, each an octal digit, the top one first; bit 2 is the left column.
const fn rows(letter: u8) -> u16 {
    match letter.to_ascii_uppercase() {
        b' ' => 0o00000,
        b'0' => 0o75557,
        b'1' => 0o26227,
        b'2' => 0o71747,
        b'3' => 0o71717,
        b'4' => 0o55711,
        b'5' => 0o74717,
        b'6' => 0o74757,
        b'7' => 0o71111,
        b'8' => 0o75757,
        b'9' => 0o75717,
        b'A' => 0o25755,
        b'B' => 0o65656,
        b'C' => 0o34443,
        b'D' => 0o65556,
        b'E' => 0o74647,
        b'F' => 0o74644,
        b'G' => 0o34553,
        b'H' => 0o55755,
        b'I' => 0o72227,
        b'J' => 0o11152,
        b'K' => 0o55655,
        b'L' => 0o44447,
        b'M' => 0o57755,
        b'N' => 0o65555,
        b'O' => 0o25552,
        b'P' => 0o65644,
        b'Q' => 0o25563,
        b'R' => 0o65655,
        b'S' => 0o34216,
        b'T' => 0o72222,
        b'U' => 0o55557,
        b'V' => 0o55552,
        b'W' => 0o55775,
        b'X' => 0o55255,
        b'Y' => 0o55222,
        b'Z' => 0o71247,
        b'-' => 0o00700,
        b'_' => 0o00007,
        b'.' => 0o00002,
        b',' => 0o00024,
        b'/' => 0o11244,
        b':' => 0o02020,
        b'+' => 0o02720,
        b'=' => 0o07070,
        b'(' => 0o12221,
        b')' => 0o42224,
        // Whatever has no picture here, names in other scripts among it.
        _ => 0o71202,
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
const fn is_set(letter: char, column: u32, row: u32) -> bool {
    let letter = if letter.is_ascii() { letter as u8 } else { b'?' };
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
