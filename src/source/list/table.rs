//! Lists as tables: CSV and TSV, with or without a header.

use super::{Columns, Row};
use crate::field::Field;
use crate::source::field_values::unknown;
use crate::source::folder::is_image_name;
use csv::{ErrorKind, Position, ReaderBuilder, StringRecord, Trim};
use std::borrow::Cow;
use std::ffi::OsStr;

/// Passes each row to `take`, with the number of its first line.
pub(super) fn read(
    bytes: &[u8],
    separator: u8,
    columns: &Columns,
    take: &mut dyn FnMut(u64, Row<'_>) -> Result<(), String>,
) -> Result<(), (u64, String)> {
    let mut reader = ReaderBuilder::new()
        .delimiter(separator)
        .has_headers(false)
        .flexible(true)
        .comment(Some(b'#'))
        .trim(Trim::All)
        .from_reader(bytes);
    let mut record = StringRecord::new();
    let mut places = None;
    loop {
        let more = reader.read_record(&mut record).map_err(|error| {
            let line = error.position().map_or(1, |position| first_line(bytes, position));
            let what = match error.kind() {
                ErrorKind::Utf8 { .. } => "the text is not UTF-8: save the list as UTF-8".to_owned(),
                _ => format!("{error}; mend the table"),
            };
            (line, what)
        })?;
        if !more {
            return Ok(());
        }
        let line = record.position().map_or(1, |position| first_line(bytes, position));
        let at = |what: String| (line, what);
        let Some(places) = &places else {
            let found = Places::of(&record, columns).map_err(at)?;
            let is_header = found.width.is_some();
            if !is_header {
                take(line, found.row(&record, columns).map_err(at)?).map_err(at)?;
            }
            places = Some(found);
            continue;
        };
        take(line, places.row(&record, columns).map_err(at)?).map_err(at)?;
    }
}

/// The line that a row begins on; the reader's position is that of the empty lines and comments before it.
fn first_line(bytes: &[u8], position: &Position) -> u64 {
    let mut line = position.line();
    let mut rest = bytes.get(position.byte() as usize..).unwrap_or_default();
    loop {
        let skipped = match rest {
            [b'\r', b'\n', ..] => 2,
            [b'\r' | b'\n', ..] => 1,
            [b'#', ..] => rest.iter().position(|byte| *byte == b'\n').map_or(rest.len(), |end| end + 1),
            _ => return line,
        };
        line += 1;
        rest = &rest[skipped..];
    }
}

/// The columns that are read, and the number of columns where there is a header.
struct Places {
    path: usize,
    label: Option<usize>,
    fields: Vec<usize>,
    width: Option<usize>,
}

impl Places {
    fn of(first: &StringRecord, columns: &Columns) -> Result<Self, String> {
        let names: Vec<&str> = first.iter().collect();
        let header = columns.header.unwrap_or_else(|| {
            let is_image = first.iter().any(|field| is_image_name(OsStr::new(field)));
            !is_image && (columns.path.is_some() || columns.of_path(&names).is_ok())
        });
        if header {
            let (path, label) = (columns.of_path(&names)?, columns.of_label(&names)?);
            let place = |field: &Field| {
                let found = names.iter().position(|name| *name == field.stored_as());
                found.ok_or_else(|| unknown(field, "column", names.iter().copied()))
            };
            let fields = columns.fields.iter().map(place).collect::<Result<_, _>>()?;
            return Ok(Self { path, label, fields, width: Some(first.len()) });
        }
        let field = columns.fields.first().map(Field::stored_as);
        if let Some(name) = columns.path.as_deref().or(columns.label.as_deref()).or(field) {
            return Err(format!("there is no header, so no column is called `{name}`: add a header"));
        }
        Ok(Self { path: 0, label: Some(1), fields: Vec::new(), width: None })
    }

    fn row<'r>(&self, record: &'r StringRecord, columns: &Columns) -> Result<Row<'r>, String> {
        match self.width {
            Some(width) if record.len() != width => {
                let found = record.len();
                return Err(format!("there are {found} columns, but the header has {width}: mend the row"));
            }
            None if record.len() > 2 => {
                return Err(format!(
                    "there are {} columns without a header: write path and label only, quote what holds a separator, \
                     or add a header with `path` and `label` in it",
                    record.len()
                ));
            }
            _ => {}
        }
        let path = record.get(self.path).unwrap_or_default();
        let label = self.label.and_then(|label| record.get(label)).unwrap_or_default();
        match path {
            "" => Err("there is no path: write one, or take the row out".to_owned()),
            path if path.contains('\0') => {
                Err("the path holds a zero byte: save the list as UTF-8 text".to_owned())
            }
            path => {
                let text =
                    |place: &usize| record.get(*place).filter(|text| !text.is_empty()).map(Cow::Borrowed);
                let fields = self.fields.iter().map(text).collect();
                Ok(Row { path, label: columns.label(label), fields })
            }
        }
    }
}
