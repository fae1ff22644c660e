//! The table of one tar file: where its images lie, so that an archive need not be read to be opened.
//!
//! Text, one image a line: offset, bytes, classes (-1 for none, `[3,7]` for several) and path, with tabs between; `\` and line ends in paths are
//! written `\\` and `\n`. The first line names the format, the second has the archive's size in bytes and the number of
//! images in it, the last is XXH3-64 of everything before it.

use super::scan::{Found, parse_classes};
use crate::source::classes::RecordClasses;
use std::fmt::Write;
use twox_hash::XxHash3_64;

/// How a table begins.
pub(super) const MAGIC: &[u8; 16] = b"feedline tar ind";
const HEAD: &str = "feedline tar index 1\n";

/// The suffix that the name of an archive gets in that of its table.
pub(in crate::source) const ENDING: &str = ".index";

/// Maximal size of the table of an archive of `size` bytes. A member takes 512 bytes there and those of its path, of which
/// each may be five characters in the table, beside three numbers.
pub(in crate::source) fn most_bytes(size: u64) -> u64 {
    size.saturating_mul(5).saturating_add(128)
}

/// The table of an archive of `size` bytes.
pub(in crate::source) fn write(size: u64, images: &[Found]) -> String {
    let mut text = format!("{HEAD}{size}\t{}\n", images.len());
    for Found { path, offset, bytes, classes, .. } in images {
        let classes = match classes {
            RecordClasses::Nothing => "-1".to_owned(),
            RecordClasses::One(class) => class.to_string(),
            RecordClasses::Several(list) => list_text(list),
        };
        let path = path.replace('\\', "\\\\").replace('\n', "\\n");
        // Writing to a String cannot fail.
        let _ = writeln!(text, "{offset}\t{bytes}\t{classes}\t{path}");
    }
    let hash = XxHash3_64::oneshot(text.as_bytes());
    let _ = writeln!(text, "{hash:016x}");
    text
}

/// The images of an archive of `size` bytes.
///
/// # Errors
/// Why the table cannot be used, as a sentence.
pub(in crate::source) fn read(text: &[u8], size: u64) -> Result<Vec<Found>, String> {
    let damaged = || "it is damaged: write it again".to_owned();
    let text = std::str::from_utf8(text).map_err(|_| damaged())?;
    let body = text.strip_prefix(HEAD).ok_or("it is no table of a tar file, or one of another version")?;
    let end = text.len().checked_sub(17).filter(|&end| text.is_char_boundary(end)).ok_or_else(damaged)?;
    let (all, hash) = text.split_at(end);
    if hash != format!("{:016x}\n", XxHash3_64::oneshot(all.as_bytes())) {
        return Err(damaged());
    }
    let body = &body[..body.len() - 17];
    let (first, lines) = body.split_once('\n').ok_or_else(damaged)?;
    let (own, count) = first.split_once('\t').ok_or_else(damaged)?;
    if own.parse() != Ok(size) {
        return Err(format!("it is of an archive of {own} bytes, and this one has {size}: write it again"));
    }
    let images: Option<Vec<Found>> = lines.split_terminator('\n').map(|line| image(line, size)).collect();
    images.filter(|images| count.parse() == Ok(images.len())).ok_or_else(damaged)
}

fn image(line: &str, size: u64) -> Option<Found> {
    let mut fields = line.splitn(4, '\t');
    let mut number = || fields.next()?.parse::<u64>().ok();
    let (offset, bytes) = (number()?, number()?);
    let classes = match fields.next()? {
        "-1" => RecordClasses::Nothing,
        text => parse_classes(text)?,
    };
    if offset.checked_add(bytes).is_none_or(|end| end > size) {
        return None;
    }
    Some(Found { path: unescape(fields.next()?)?, offset, bytes, classes, members: Vec::new(), json: None })
}

/// Several classes as they are written, in JSON too.
fn list_text(classes: &[i64]) -> String {
    let numbers: Vec<String> = classes.iter().map(i64::to_string).collect();
    format!("[{}]", numbers.join(","))
}

fn unescape(path: &str) -> Option<String> {
    let mut plain = String::with_capacity(path.len());
    let mut characters = path.chars();
    while let Some(character) = characters.next() {
        plain.push(match character {
            '\\' => match characters.next()? {
                'n' => '\n',
                '\\' => '\\',
                _ => return None,
            },
            other => other,
        });
    }
    Some(plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn images() -> Vec<Found> {
        let image = |path: &str, offset, bytes, classes| {
            let members = Vec::new();
            Found { path: path.into(), offset, bytes, classes, members, json: None }
        };
        vec![
            image("n01/a\tb.jpg", 512, 100, RecordClasses::One(3)),
            image("two\nlines \\x.png", 2048, 0, RecordClasses::Nothing),
            image("é", 2900, 100, RecordClasses::Several(vec![0, 7])),
            image("none", 2950, 5, RecordClasses::Several(vec![])),
        ]
    }

    #[test]
    fn a_table_gives_back_what_was_written() {
        assert_eq!(read(write(3000, &images()).as_bytes(), 3000), Ok(images()));
        assert_eq!(read(write(0, &[]).as_bytes(), 0), Ok(vec![]));
    }

    #[test]
    fn a_table_that_is_damaged_or_of_another_archive_is_refused() {
        let sound = write(3000, &images()).into_bytes();
        for at in 0..sound.len() {
            let mut damaged = sound.clone();
            damaged[at] ^= 1;
            assert!(read(&damaged, 3000).is_err(), "byte {at}");
            assert!(read(&sound[..at], 3000).is_err(), "cut at {at}");
        }
        assert!(read(&sound, 2999).is_err_and(|why| why.contains("3000") && why.contains("2999")));
        // Sound by its hash, and still beyond the archive's end.
        let beyond = write(2000, &images());
        assert!(read(beyond.as_bytes(), 2000).is_err_and(|why| why.contains("damaged")));
    }
}
