//! A file that lists images: plain text, CSV, TSV or JSON lines, with a path and a label for each.

mod field_texts;
mod json_lines;
mod table;
mod text;
pub(super) mod values;

use super::Source;
use super::classes::{Gathering, RawLabel};
use super::field_values::SourceFields;
use super::files::Files;
use crate::error::{Error, Result, bail, ensure};
use crate::field::{Field, FieldValue};
use crate::regular_file;
use field_texts::FieldTexts;
use std::borrow::Cow;
use std::path::{Path, PathBuf};
use values::RowValues;

/// What a column of paths may be called in a header, in any case; of several that are there, the first of these counts.
const PATH_COLUMNS: [&str; 10] = [
    "path",
    "file_name",
    "filename",
    "file",
    "filepath",
    "file_path",
    "image_path",
    "img_path",
    "image",
    "img",
];
/// The same for labels.
const LABEL_COLUMNS: [&str; 11] = [
    "label",
    "class",
    "target",
    "category",
    "class_name",
    "label_name",
    "class_id",
    "label_id",
    "class_index",
    "label_index",
    "labels",
];
/// The endings of lists that have columns.
pub(super) const TABLES: [&str; 4] = ["csv", "tsv", "jsonl", "ndjson"];

/// The files that a list names, in its order.
///
/// The format follows from the list's extension:
///
/// * `.csv` and `.tsv`: a table, with quotes where a field holds a separator. The columns are named by a header, which
///   is there when a field of the first row is called `path`, `file_name`, `image` or alike and none is the name of an
///   image; else the first is the path and the second, if there is one, the label.
/// * `.jsonl` and `.ndjson`: an object on each line, with `path` and `label` in it, or alike.
/// * any other: lines `path<separator>label`, the separator a tab, a comma or a space. The path ends at the first tab;
///   without a tab at an image ending (`.jpg`, `.png`, ...) before a separator, so that both paths and names may hold
///   spaces and commas; else at the last separator.
///
/// A path is relative to the list's own folder, or to [`ListOptions::root`]. A label is an index from 0 or a class name,
/// the same kind for all; names are counted in sorted order. Without a label, and with -1, a record is unlabelled. Records have
/// several labels each where these are lists in JSON, or with [`ListOptions::label_separator`].
/// Empty lines are skipped, and so are those that begin with `#`, but in JSON.
#[derive(Clone, Debug)]
pub struct List {
    files: Files,
    rows: RowValues,
}

/// How a list is opened.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ListOptions {
    pub(super) root: Option<PathBuf>,
    columns: Columns,
}

/// Which columns of a table, or fields of an object, are meant.
#[derive(Clone, Debug, Default, PartialEq)]
struct Columns {
    header: Option<bool>,
    path: Option<String>,
    label: Option<String>,
    separator: Option<String>,
    fields: Vec<Field>,
}

/// The content of a line.
struct Row<'a> {
    path: &'a str,
    label: RawLabel<'a>,
    /// The values of the fields as texts; nothing where the line has none.
    fields: Vec<Option<Cow<'a, str>>>,
}

impl List {
    /// Reads the list; the files that it names are looked for only when they are read.
    ///
    /// # Errors
    /// A list that cannot be read, holds no path, or has a line that cannot be understood; the error has the line's number.
    pub fn open(list: impl AsRef<Path>) -> Result<Self> {
        Self::options().open(list)
    }

    /// Options to open a list with.
    pub fn options() -> ListOptions {
        ListOptions::default()
    }

    setters! {
        /// The largest file that is read; larger ones are bad samples. 1 GiB unless set.
        max_file_bytes in files.max_file_bytes: u64;

        /// The largest value of a field; samples with larger ones are bad. 1 MiB unless set.
        max_field_bytes in rows.fields.max_bytes: u64;
    }
}

impl ListOptions {
    setters! {
        /// The folder that paths are relative to; the list's own unless set.
        root: some into PathBuf;

        /// Whether the first row of a CSV or TSV names the columns; found by looking at it unless set.
        header in columns.header: some bool;

        /// The column of a table, or the field of JSON objects, that holds the path.
        path_column in columns.path: some into String;

        /// The column of a table, or the field of JSON objects, that holds the label.
        label_column in columns.label: some into String;

        /// What stands between the labels of a record where it has several: `|` in `cat|dog`. A record without any of them is then
        /// labelled too, with none. Unless it is set a label is taken as it is.
        label_separator in columns.separator: some into String;

        /// The values to be read beside each image, from a table with a header or from JSON objects. A field comes from the
        /// column or the member that it is stored as; an empty one, and one that is null, has no value. Of pictures these
        /// are paths, as those of the images are.
        fields in columns.fields: into Vec<Field>;
    }

    /// See [`List::open`].
    ///
    /// # Errors
    /// Those of [`List::open`]; a column that is not there; a value that is not of its field's type, with the line.
    pub fn open(self, list: impl AsRef<Path>) -> Result<List> {
        let list = list.as_ref();
        let remedy = "name a text file with a path and a label on each line";
        let bytes = regular_file::read(list).map_err(|error| Error::io(list, error, remedy))?;
        let root = self.root.as_deref().or(list.parent()).unwrap_or(Path::new(""));
        let mut files = Files::below(root, None);
        let rows = self.read(&bytes, list, &mut |path| {
            files.push(&root.join(path)).map_err(|error| error.to_string())
        })?;
        if files.len() == 0 {
            let shown = list.display();
            bail!("{shown} lists no file: write one path on each line");
        }
        files.shrink();
        Ok(List { files, rows })
    }

    /// Reads the content of the list that people call `list`, and hands each path to `take`.
    ///
    /// # Errors
    /// Those of [`ListOptions::open`].
    pub(super) fn read(
        &self,
        bytes: &[u8],
        list: &Path,
        take: &mut dyn FnMut(&str) -> Result<(), String>,
    ) -> Result<RowValues> {
        let bytes = bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes);
        let (mut labels, mut texts) = (Gathering::default(), FieldTexts::default());
        let fields = SourceFields::new(&self.columns.fields, "column")?;
        let mut take = |line: u64, row: Row<'_>| {
            take(row.path)?;
            texts.push(&fields.list, &row.fields)?;
            labels.push(&row.label, || format!("line {line}"))
        };
        ensure!(
            self.columns.separator.as_deref() != Some(""),
            "label_separator is empty: name what stands between labels, or leave it out"
        );
        let ending = list.extension().unwrap_or_default().to_string_lossy().to_lowercase();
        ensure!(
            fields.list.is_empty() || TABLES.contains(&ending.as_str()),
            "{}: a list of plain text has no columns for fields: write a table (.csv, .tsv) with a header, or JSON lines \
             (.jsonl)",
            list.display()
        );
        let read = match ending.as_str() {
            "csv" => table::read(bytes, b',', &self.columns, &mut take),
            "tsv" => table::read(bytes, b'\t', &self.columns, &mut take),
            "jsonl" | "ndjson" => json_lines::read(bytes, &self.columns, &mut take),
            _ => text::read(bytes, &self.columns, &mut take),
        };
        read.map_err(|(line, what)| Error::config(format!("{}, line {line}: {what}", list.display())))?;
        texts.shrink();
        Ok(RowValues { classes: labels.finish(), fields, texts })
    }
}

impl Source for List {
    pass_on!([.files] len read key path);
    pass_on!([.rows.classes] label classes);

    fn fields(&self) -> &[Field] {
        &self.rows.fields.list
    }

    fn values(&self, index: usize, values: &mut Vec<FieldValue>) -> Result<()> {
        self.rows.values(self, index, values, |path| self.files.read_beside(path))
    }
}

impl Columns {
    /// The label in a text.
    fn label<'a>(&self, text: &'a str) -> RawLabel<'a> {
        match &self.separator {
            Some(separator) => RawLabel::of_texts(text, separator),
            None => RawLabel::of_text(text),
        }
    }

    /// Which of `names` is the path.
    fn of_path(&self, names: &[&str]) -> Result<usize, String> {
        let known = || format!("no column is called `path` or alike (there are {})", names.join(", "));
        match &self.path {
            Some(name) => place_of(name, names),
            None => known_place(&PATH_COLUMNS, names)
                .ok_or_else(|| format!("{}: name the one that holds the path (path_column)", known())),
        }
    }

    /// Which of `names` is the label; none where there is no column that is called like one.
    fn of_label(&self, names: &[&str]) -> Result<Option<usize>, String> {
        match &self.label {
            Some(name) => place_of(name, names).map(Some),
            None => Ok(known_place(&LABEL_COLUMNS, names)),
        }
    }
}

fn place_of(name: &str, names: &[&str]) -> Result<usize, String> {
    names.iter().position(|other| *other == name).ok_or_else(|| {
        format!("no column is called `{name}` (there are {}): name one that is there", names.join(", "))
    })
}

fn known_place(known: &[&str], names: &[&str]) -> Option<usize> {
    known.iter().find_map(|word| names.iter().position(|name| name.eq_ignore_ascii_case(word)))
}
