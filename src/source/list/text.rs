//! Lists as plain text: a path on each line and, after a separator, a label.

use super::{Columns, Row};
use crate::source::folder::is_image_name;
use std::ffi::OsStr;

const SEPARATORS: [char; 3] = ['\t', ',', ' '];

/// Passes each line that is not empty or a comment to `take`, with its number.
pub(super) fn read(
    bytes: &[u8],
    columns: &Columns,
    take: &mut dyn FnMut(u64, Row<'_>) -> Result<(), String>,
) -> Result<(), (u64, String)> {
    for (number, line) in (1..).zip(bytes.split(|&byte| byte == b'\n')) {
        let row = parse(line, columns).map_err(|what| (number, what))?;
        row.map_or(Ok(()), |row| take(number, row)).map_err(|what| (number, what))?;
    }
    Ok(())
}

/// Path and label of a line, or nothing where it is empty or a comment.
fn parse<'a>(line: &'a [u8], columns: &Columns) -> Result<Option<Row<'a>>, String> {
    let line = std::str::from_utf8(line)
        .map_err(|_| "the text is not UTF-8: save the list as UTF-8".to_owned())?
        .trim_end_matches(['\r', ' ', '\t']);
    if line.contains('\0') {
        return Err("the line holds a zero byte: save the list as UTF-8 text".to_owned());
    }
    if line.trim_start().is_empty() || line.starts_with('#') {
        return Ok(None);
    }
    if line.starts_with('"') {
        return Err(
            "quotes have no meaning here: drop them and put a tab between path and label, or name the list \
                    .csv"
                .to_owned(),
        );
    }
    let (path, label) = split(line);
    if path.is_empty() {
        return Err(
            "there is no path in front of the separator: write the path first, then the label".to_owned()
        );
    }
    let label = columns.label(label.trim_matches(SEPARATORS));
    Ok(Some(Row { path, label, fields: Vec::new() }))
}

fn split(line: &str) -> (&str, &str) {
    if let Some(halves) = line.split_once('\t') {
        return halves;
    }
    let ends = line.match_indices(SEPARATORS).map(|(at, _)| at).chain([line.len()]);
    if let Some(end) = ends.into_iter().find(|&end| is_image_name(OsStr::new(&line[..end]))) {
        return line.split_at(end);
    }
    line.rsplit_once(SEPARATORS).unwrap_or((line, ""))
}
