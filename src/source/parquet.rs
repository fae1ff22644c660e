//! Parquet files with images in a column, as the Hugging Face hub has them.

mod cache;
mod chunks;
mod column;
mod columns;
mod file;
mod footer;
mod guarded;
mod pages;
mod thrift;
mod values;

use super::classes::{Classes, Gathering};
use super::field_values::SourceFields;
use super::paths::{Wanted as WantedFiles, head_of, names_any, short_names};
use super::read_error::ReadError;
use super::{MAX_FILE_BYTES, Source, Version, filled, too_large};
use crate::error::{Cause, Error, Result, ensure};
use crate::field::{Field, FieldValue};
use crate::options::DataOptions;
use cache::Cache;
use columns::Wanted;
use file::{ParquetFile, Stretch};
use guarded::guarded;
use std::borrow::Cow;
use std::fs;
use std::path::Path;
use std::sync::Arc;
use values::Values;

/// The images of Parquet files, file after file, row after row.
///
/// The images lie in a column of bytes, or in one with the fields `bytes` and `path`, as `datasets` writes them. Unless
/// one is named, it is the one that the file's own metadata call an image, one that is called `image`, `img`, `jpg` or
/// alike, or the only one that could be. The label is a column of whole numbers (-1 means none) or of text, which is
/// counted in the sorted order of names; unless one is named, one that is called `label`, `labels`, `cls`, `class`,
/// `target` or alike, or that the metadata call a `ClassLabel`, whose names become the classes. Keys are
/// `file/row/path`, rows counted from 0 in their file.
///
/// Opening reads the footers, and the columns of labels and paths. Images are decoded in stretches of a few megabytes,
/// cut between pages where the file has an index of them, and evenly where it has none; decoded stretches are kept within
/// [`ParquetOptions::cache_bytes`], and one more for each thread that is just reading. So reading in order decodes
/// everything once, and reading at random a stretch for each image: shuffle within a window, as
/// `Shuffle::Window` does, where that is too slow.
#[derive(Clone, Debug)]
pub struct Parquet {
    files: Arc<[ParquetFile]>,
    short_names: Arc<[String]>,
    /// All stretches in order, each with the index of its file.
    stretches: Vec<(usize, Stretch)>,
    /// How many rows there are up to the end of each stretch.
    ends: Vec<usize>,
    /// How many rows there are up to the start of each file.
    starts: Vec<usize>,
    paths: Paths,
    classes: Classes,
    fields: SourceFields,
    /// Images and fields of stretches.
    cache: Arc<Cache<Values>>,
    max_file_bytes: u64,
}

/// The paths of all rows, one after the other.
#[derive(Clone, Debug, Default)]
struct Paths {
    text: String,
    ends: Vec<u64>,
}

/// How Parquet files are opened.
#[derive(Clone, Debug, PartialEq)]
pub struct ParquetOptions {
    wanted: Wanted,
    split: Option<String>,
    cache_bytes: u64,
}

impl Default for ParquetOptions {
    fn default() -> Self {
        Self { wanted: Wanted::default(), split: None, cache_bytes: DataOptions::default().parquet_cache().0 }
    }
}

impl Parquet {
    /// The file at `path`, the files of the folder `path` or of its folder `data` in the order of their names, or those
    /// that the pattern `path` matches.
    ///
    /// # Errors
    /// Those of [`ParquetOptions::open`].
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        Self::options().open(path)
    }

    /// Options to open Parquet files with.
    pub fn options() -> ParquetOptions {
        ParquetOptions::default()
    }

    setters! {
        /// The maximal size of an image; larger ones are bad samples. 1 GiB unless set.
        max_file_bytes: u64;

        /// The largest value of a field that is read; samples with larger ones are bad. 1 MiB unless set.
        max_field_bytes in fields.max_bytes: u64;
    }

    /// Whether `path` looks like Parquet files: a file that begins as one, or a folder or pattern of files that end in
    /// `.parquet`.
    pub fn is_at(path: &Path) -> bool {
        head_of(path, 4) == b"PAR1" || names_any(path, is_name)
    }

    /// Which of the files a row, which must exist, lies in.
    fn number(&self, index: usize) -> usize {
        self.starts.partition_point(|&start| start <= index) - 1
    }

    /// The stretch that a row lies in.
    fn stretch(&self, index: usize) -> usize {
        self.ends.partition_point(|&end| end <= index)
    }

    /// The images of the stretch that a row lies in, or with a number that field's values, and the row's index there.
    fn values_at(&self, index: usize, field: Option<usize>) -> Result<(Arc<Values>, usize), Cause> {
        let number = self.stretch(index);
        let (file, stretch) = &self.stretches[number];
        let file = &self.files[*file];
        let column = field.map_or(0, |field| 1 + field);
        let values = self.cache.get(number * (1 + self.fields.list.len()) + column, || {
            let values =
                guarded(|| file.values(field, stretch)).map_err(|error| unreadable(file, stretch, error))?;
            let bytes = values.memory_bytes();
            Ok((values, bytes))
        })?;
        let before = number.checked_sub(1).map_or(0, |before| self.ends[before]);
        Ok((values, index - before))
    }

    fn fill(&self, index: usize, bytes: &mut Vec<u8>) -> Result<(), Cause> {
        let (images, row) = self.values_at(index, None)?;
        let Some(image) = images.bytes(row) else {
            let (file, stretch) = &self.stretches[self.stretch(index)];
            return Err(format!(
                "{}, row {} of row group {}: there are no bytes (null): write the images themselves into the file, not \
                 their paths alone",
                self.files[*file].path.display(),
                stretch.rows.start + row,
                stretch.group
            )
            .into());
        };
        if image.len() as u64 > self.max_file_bytes {
            return Err(too_large("the image", image.len() as u64, self.max_file_bytes));
        }
        bytes.extend_from_slice(image);
        Ok(())
    }
}

impl ParquetOptions {
    setters! {
        /// The column that holds the bytes of image files, or has a field `bytes` that does.
        image_column in wanted.image: some into String;

        /// The column that holds the class, as a whole number or as text.
        label_column in wanted.label: some into String;

        /// The values to be read beside each image. A field comes from the column that it is stored as, or with dots from a
        /// field of a column: `meta.caption`. Text, JSON and bytes are columns of text or bytes, whole numbers also those of
        /// booleans, and numbers those of whole numbers too. A row that is null has no value.
        fields in wanted.fields: into Vec<Field>;

        /// Only the files with `train`, `validation` or `test` in their names. A folder of several splits cannot be
        /// opened without.
        split: some into String;

        /// Bytes of memory in which decoded images and fields are kept for the reads to come; 256 MiB unless set.
        cache_bytes: u64;
    }

    /// Opens the file at `path`, the files of the folder `path` or of its folder `data`, or those that the pattern
    /// `path` matches.
    ///
    /// # Errors
    /// No file, a file that cannot be read or is none of Parquet's, no column of images or several that could be it,
    /// files with different classes, labels that are none, a field without a column of its type.
    pub fn open(self, path: impl AsRef<Path>) -> Result<Parquet> {
        let files =
            WantedFiles { what: "Parquet files (.parquet)", is_one: is_name, split: self.split.as_deref() };
        let fields = SourceFields::new(&self.wanted.fields, "column")?;
        let paths = files.find(path.as_ref())?;
        let mut source = Parquet {
            fields,
            files: Arc::new([]),
            short_names: short_names(&paths).into(),
            stretches: Vec::new(),
            ends: Vec::new(),
            starts: Vec::new(),
            paths: Paths::default(),
            classes: Classes::default(),
            cache: Arc::new(Cache::new(self.cache_bytes)),
            max_file_bytes: MAX_FILE_BYTES,
        };
        let (mut opened, mut labels) = (Vec::new(), Gathering::default());
        for at in &paths {
            let file = guarded(|| self.open_file(at, &mut source, &mut labels))
                .map_err(|error| error.of(at, "name a Parquet file that can be read"))?;
            refuse_other_classes(opened.first().unwrap_or(&file), &file)?;
            opened.push(file);
        }
        ensure!(
            !source.is_empty(),
            "{}: {} Parquet files were opened, and no row is in them: name files that hold images",
            path.as_ref().display(),
            paths.len()
        );
        source.classes = labels.finish();
        if let Some(names) =
            opened.first().map(|file| &file.columns.classes).filter(|names| !names.is_empty())
        {
            source.classes.names.clone_from(names);
        }
        source.files = opened.into();
        Ok(source)
    }

    /// Adds the rows of a file.
    fn open_file(
        &self,
        path: &Path,
        source: &mut Parquet,
        labels: &mut Gathering,
    ) -> Result<ParquetFile, ReadError> {
        let file = ParquetFile::open(path, &self.wanted)?;
        let (first, number) = (source.len(), source.starts.len());
        source.starts.push(first);
        for stretch in &file.stretches {
            source.ends.push(source.len() + stretch.rows.len());
            source.stretches.push((number, stretch.clone()));
        }
        let mut row = 0;
        file.labels(&mut |text, said| {
            source.paths.push(text.unwrap_or_default());
            let place = || format!("row {row} of {}", path.display());
            let taken = labels.push(&said, place).map_err(|what| format!("row {row}: {what}"));
            row += 1;
            taken
        })?;
        Ok(file)
    }
}

impl Source for Parquet {
    pass_on!([.classes] label classes);

    fn len(&self) -> usize {
        self.ends.last().copied().unwrap_or(0)
    }

    fn read(&self, index: usize, bytes: &mut Vec<u8>) -> Result<()> {
        filled(self, index, bytes, |bytes| self.fill(index, bytes))
    }

    fn fields(&self) -> &[Field] {
        &self.fields.list
    }

    fn values(&self, index: usize, values: &mut Vec<FieldValue>) -> Result<()> {
        self.fields.fill(self, index, values, |number, field| {
            let (stored, row) = self.values_at(index, Some(number))?;
            let bytes = stored.bytes(row).map_or(0, <[u8]>::len) as u64;
            self.fields.check_stored(field, bytes, self.max_file_bytes)?;
            Ok(stored.value(row, field)?)
        })
    }

    fn file(&self, index: usize) -> Option<Cow<'_, Path>> {
        (index < self.len()).then(|| Cow::Borrowed(&*self.files[self.number(index)].path))
    }

    fn version(&self, index: usize) -> Version {
        if index >= self.len() {
            return Version::Unknown;
        }
        let number = self.number(index);
        let file = &self.files[number];
        // Rows may hold several images.
        let place = [file.columns.image as u64, (index - self.starts[number]) as u64];
        fs::metadata(&file.path)
            .map_or(Version::Unknown, |about| file.version.version(&about).of_part(&place))
    }

    fn key(&self, index: usize) -> Cow<'_, str> {
        if index >= self.len() {
            return Cow::Borrowed("");
        }
        let file = self.number(index);
        let (name, row) = (&self.short_names[file], index - self.starts[file]);
        Cow::Owned(match self.paths.get(index) {
            "" => format!("{name}/{row}"),
            path => format!("{name}/{row}/{path}"),
        })
    }
}

impl Paths {
    fn push(&mut self, path: &str) {
        self.text.push_str(path);
        self.ends.push(self.text.len() as u64);
    }

    fn get(&self, index: usize) -> &str {
        let Some(&end) = self.ends.get(index) else { return "" };
        let start = index.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.text[start as usize..end as usize]
    }
}

/// Indices mean nothing where each file counts classes in its own way.
fn refuse_other_classes(first: &ParquetFile, other: &ParquetFile) -> Result<()> {
    if first.columns.classes == other.columns.classes {
        return Ok(());
    }
    Err(Error::config(format!(
        "{} and {} name different classes: open them apart, or write them anew with one list of names",
        first.path.display(),
        other.path.display()
    )))
}

fn unreadable(file: &ParquetFile, stretch: &Stretch, error: ReadError) -> Cause {
    let what = match error {
        ReadError::Io(error) => format!("{error}; restore the file, or open the source again"),
        ReadError::Bad(what) => what,
    };
    let (rows, group) = (&stretch.rows, stretch.group);
    let path = file.path.display();
    format!("cannot read {path}, rows {} to {} of row group {group}: {what}", rows.start, rows.end - 1).into()
}

/// Whether a file of this name, in lower case, is a Parquet file.
fn is_name(name: &str) -> bool {
    name.ends_with(".parquet")
}
