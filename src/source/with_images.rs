//! Second images for the images of any source, from folders of files.

use super::beside::{Beside, place_below};
use super::field_values::SourceFields;
use super::{IoStats, Source, out_of_range};
use crate::error::{Error, Result, bail, ensure};
use crate::field::{Field, FieldValue};
use std::path::Path;
use std::sync::Arc;

/// Endings that the file of a second image may have, beside that of the image itself.
const ENDINGS: [&str; 11] = ["png", "jpg", "jpeg", "webp", "fjc", "PNG", "JPG", "JPEG", "ppm", "pgm", "pnm"];
/// Missing files that an error names.
const NAMED: usize = 3;

/// A source whose images have second images or depth maps in folders: that of the image `a/b.jpg` is `a/b.png`, `a/b.jpg`,
/// `a/b.jpeg`, `a/b.webp`, `a/b.ppm`, `a/b.pgm`, `a/b.pnm` or `a/b.fjc` in the folder that the field comes from.
/// `RemoteOptions::images` takes them from a store.
///
/// Of an image's key, the part after its last folder named `images` counts, or all of it where there is none.
///
/// ```no_run
/// use feedline::field::Field;
/// use feedline::loader::Loader;
/// use feedline::source::{Folder, WithImages};
///
/// let rain = Folder::flat("derain/rainy")?;
/// let source = WithImages::open(rain, [Field::image("clear").from("derain/clear")])?;
/// let loader = Loader::builder(source);
/// # Ok::<(), feedline::error::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct WithImages<S> {
    source: S,
    /// Those of the source and its own.
    fields: Arc<[Field]>,
    /// Of each field of its own, a file for each image.
    files: Vec<Beside>,
}

impl<S: Source> WithImages<S> {
    /// The source with a file in each field's folder for every image. None is read yet.
    ///
    /// # Errors
    /// A field that is no picture, a folder that is not there, an image without a file (how many, and the first three), a key
    /// that leads out of the folder.
    pub fn open(source: S, fields: impl Into<Vec<Field>>) -> Result<Self> {
        Self::open_beside(source, fields.into(), &local)
    }

    /// The same, where `find` finds the files of a field.
    pub(super) fn open_beside(
        source: S,
        own: Vec<Field>,
        find: &dyn Fn(&Field) -> Result<Beside>,
    ) -> Result<Self> {
        let files = own.iter().map(|field| files_of(&source, field, find)).collect::<Result<_>>()?;
        let all: Vec<Field> = source.fields().iter().cloned().chain(own).collect();
        Ok(Self { fields: SourceFields::new(&all, "folder")?.list, source, files })
    }

    /// The largest file that is read; images of larger ones are bad samples. 1 GiB unless set.
    #[must_use]
    pub fn max_file_bytes(mut self, bytes: u64) -> Self {
        self.files.iter_mut().for_each(|files| files.limit(bytes));
        self
    }
}

fn files_of(source: &impl Source, field: &Field, find: &dyn Fn(&Field) -> Result<Beside>) -> Result<Beside> {
    ensure!(
        field.kind().is_picture(),
        "{field} is {}, and folders hold pictures alone: declare it as image or depth, or open a list of the images with the \
         field as a column",
        field.kind()
    );
    let mut files = find(field)?;
    let (mut missing, mut named) = (0usize, Vec::new());
    for index in 0..source.len() {
        let key = source.key(index);
        let place = place_below(&key, || files.place())?;
        if !choose(&mut files, &place)? {
            missing += 1;
            if named.len() < NAMED {
                named.push(format!("{} of the image {key}", files.shown(&place.with_extension("png"))));
            }
        }
    }
    files.shrink();
    let more = if missing > named.len() { ", ..." } else { "" };
    ensure!(
        missing == 0,
        "{field}: {missing} of {} images have no file ({}{more} not found): put them there, take the images out, or name the \
         folder whose files are called as the images",
        source.len(),
        named.join(", ")
    );
    Ok(files)
}

/// The files of a local folder.
pub(super) fn local(field: &Field) -> Result<Beside> {
    let folder = Path::new(field.stored_as());
    if !folder.is_dir() {
        let cause = if folder.exists() { "is no folder" } else { "is not there" };
        bail!("{field}: {} {cause}: name the folder that holds its files (from)", folder.display());
    }
    Ok(Beside::folder(folder, None))
}

/// Chooses the file of that name, whatever image it is; false where there is none.
fn choose(files: &mut Beside, place: &Path) -> Result<bool> {
    let others = ENDINGS.iter().map(|ending| place.with_extension(ending));
    for name in std::iter::once(place.to_owned()).chain(others) {
        if files.push(&name)? {
            return Ok(true);
        }
    }
    Ok(false)
}

impl<S: Source> Source for WithImages<S> {
    pass_on!([.source] len read key path version label mask jpeg_sha256 classes shard_ends record);
    pass_on!([.source] is_known_ahead mix_order);

    fn fields(&self) -> &[Field] {
        &self.fields
    }

    fn io_stats(&self) -> IoStats {
        self.files.iter().map(Beside::io_stats).fold(self.source.io_stats(), IoStats::plus)
    }

    fn values(&self, index: usize, values: &mut Vec<FieldValue>) -> Result<()> {
        if index >= self.len() {
            return Err(out_of_range(index, self.len()));
        }
        self.source.values(index, values)?;
        let own = &self.fields[self.fields.len() - self.files.len()..];
        for (files, field) in self.files.iter().zip(own) {
            let mut bytes = Vec::new();
            files.read(index, &mut bytes).map_err(|error| match error {
                Error::Sample { key, source, .. } => {
                    let cause = format!("{field}, the file {}: {source}", files.shown(Path::new(&key)));
                    Error::sample(self.key(index), index as u64, cause)
                }
                other => other,
            })?;
            values.push(FieldValue::Bytes(bytes));
        }
        Ok(())
    }
}
