//! Tar files of images, named as WebDataset names them, with any record at hand at any time.

pub(super) mod provenance;
pub(super) mod samples;
pub(super) mod scan;
pub(super) mod table;

use super::byte_ranges::ByteRanges;
use super::labels::report::LabelReport;
use super::packed::holds::Described;
use super::paths::{Wanted, files_in, names_any, short_names};
use super::{Destination, Source};
use crate::atomic_file::{refuse_other_file, replace_file};
use crate::error::{Error, Result, bail, ensure};
use crate::field::{Field, FieldValue};
use crate::label::{Label, Skeleton};
use crate::regular_file;
use samples::Samples;
use scan::{Found, WantedMembers};
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

/// The images of tar files, shard after shard, in the order in which they lie there.
///
/// Members of one sample lie next to each other and share their path up to the first dot of the name: `n01/7.jpg` is an
/// image, `n01/7.cls` its class, an index from 0 as text, or several of them (`[0, 7]`), as they may be in
/// `n01/7.classes.json` too. Other members (`7.json`, `7.txt`, `7.seg.png`) are left out
/// unless they are asked for as [fields](ShardsOptions::fields), and so are samples without an image. Opening reads the
/// headers and the classes of all members, not the images, or the table that [`Shards::write_tables`] put beside an
/// archive, where nothing else is wanted; 32 bytes and the key of each record are kept, and 24 bytes for each field.
/// Compressed archives are refused, since nothing in them can be read without everything before it.
///
/// The `manifest.json` that `feedline pack` writes into the archives' folder names the classes, and says which labelled
/// objects, semantic masks and fields there are: they are read too. Objects are kept in memory, as by [`super::Coco`].
#[derive(Clone, Debug)]
pub struct Shards {
    ranges: ByteRanges,
    samples: Samples,
}

/// How tar files are opened.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ShardsOptions {
    pub(super) fields: Option<Vec<Field>>,
}

impl Shards {
    /// The archives at `paths`, in this order.
    ///
    /// # Errors
    /// An archive that cannot be read, is compressed, damaged or cut short; members that are no sample, or that say no
    /// objects where the manifest promises some; a manifest that cannot be read. The archive and the member are named.
    pub fn open<P: AsRef<Path>>(paths: impl IntoIterator<Item = P>) -> Result<Self> {
        Self::options().open(paths)
    }

    /// Options to open tar files with.
    pub fn options() -> ShardsOptions {
        ShardsOptions::default()
    }

    /// The archives directly in `folder`, those that end in `.tar`, in the order of their names.
    ///
    /// # Errors
    /// As [`Shards::open`]; a folder that cannot be read or holds none.
    pub fn folder(folder: impl AsRef<Path>) -> Result<Self> {
        Self::options().folder(folder)
    }

    /// The archive at `path`, those directly in the folder `path` or in its folder `data`, or those that the pattern
    /// `path` matches; with a `split` (`train`, `validation`, `test`) only those with it in their names.
    ///
    /// # Errors
    /// As [`Shards::folder`]; no archive; archives of several splits where none is chosen.
    pub fn find(path: impl AsRef<Path>, split: Option<&str>) -> Result<Self> {
        Self::options().find(path, split)
    }

    setters! {
        /// The largest image that is read; larger ones are bad samples. 1 GiB unless set.
        max_file_bytes in ranges.max_file_bytes: u64;

        /// The largest value of a field that is read; samples with larger ones are bad. 1 MiB unless set.
        max_field_bytes in samples.fields.max_bytes: u64;
    }

    /// How many images and objects there are; `None` where no objects are held.
    pub fn report(&self) -> Option<LabelReport> {
        self.samples.held.report()
    }

    /// What the keypoints of the objects are; `None` where objects have none.
    pub fn skeleton(&self) -> Option<&Skeleton> {
        self.samples.held.skeleton()
    }

    /// Writes a table of each archive beside it, under its name with `.index` appended: the positions of its images, and
    /// their classes. With it the archive is opened without its headers being read, and a remote one by one request; put
    /// it next to the archive there. The paths of the tables come back.
    ///
    /// # Errors
    /// Those of [`Shards::open`]; a path that cannot be written to, or at which there is a file of another kind.
    pub fn write_tables(&self) -> Result<Vec<PathBuf>> {
        let mut written = Vec::new();
        for path in self.ranges.paths() {
            let mut found = Vec::new();
            let size = scan::scan(path, &mut WantedMembers::default(), &mut |image| found.push(image))?;
            let place = table_place(path);
            refuse_other_file(&place, table::MAGIC, "table of a tar file")?;
            let text = table::write(size, &found);
            replace_file(&place, |mut file| file.write_all(text.as_bytes()).map(|()| file))
                .map_err(|error| Error::io(&place, error, "make the folder of the archives writable"))?;
            written.push(place);
        }
        Ok(written)
    }

    /// Whether the path's name is that of an archive, compressed ones included, which [`Shards::open`] refuses.
    pub fn is_archive(path: &Path) -> bool {
        let name = path.file_name().unwrap_or_default().to_string_lossy().to_lowercase();
        let compressed = [".gz", ".xz", ".zst", ".bz2"].iter().find_map(|ending| name.strip_suffix(ending));
        compressed.unwrap_or(&name).ends_with(".tar") || name.ends_with(".tgz")
    }

    /// Whether `path` looks like tar shards: an archive by its name, or a folder or pattern of such.
    pub fn is_at(path: &Path) -> bool {
        path.is_file() && Self::is_archive(path) || names_any(path, is_tar)
    }
}

impl ShardsOptions {
    setters! {
        /// The values to be read beside each image. A field comes from the member with the ending that it is stored as, in
        /// any case: `7.txt` beside `7.jpg` is that of `Field::text("txt")` or `Field::text("caption").from("txt")`. By
        /// default those that the manifest names.
        fields in fields: some into Vec<Field>;
    }

    /// See [`Shards::open`].
    ///
    /// # Errors
    /// Those of [`Shards::open`]; a field of which no sample has the member.
    pub fn open<P: AsRef<Path>>(self, paths: impl IntoIterator<Item = P>) -> Result<Shards> {
        let paths: Vec<PathBuf> = paths.into_iter().map(|path| path.as_ref().to_owned()).collect();
        let described = Described::of(None, &paths)?;
        self.open_described(&paths, described)
    }

    fn open_described(self, paths: &[PathBuf], described: Described) -> Result<Shards> {
        let (samples, mut wanted) = Samples::of(&described, self.fields)?;
        let mut shards = Shards { ranges: ByteRanges::of("archive"), samples };
        let mut bad = None;
        for (path, name) in paths.iter().zip(short_names(paths)) {
            shards.ranges.begin_file(path);
            find_images(path, &mut wanted, &mut |found| match shards.samples.push(found) {
                Ok((path, [offset, bytes])) => shards.ranges.push(&[&name, "/", &path], offset, bytes),
                Err(what) => drop(bad.get_or_insert_with(|| format!("{name}/{what}"))),
            })?;
            if let Some(what) = bad {
                bail!("{what}");
            }
            shards.ranges.end_file();
        }
        if shards.is_empty() {
            let remedy = "name archives that hold images (.jpg, .png, .webp, .ppm, .fjc)";
            bail!("{} tar files were opened, and no image is in them: {remedy}", paths.len());
        }
        shards.samples.finish(described, &wanted)?;
        shards.ranges.shrink();
        Ok(shards)
    }

    /// See [`Shards::folder`].
    ///
    /// # Errors
    /// Those of [`Shards::folder`] and [`ShardsOptions::open`].
    pub fn folder(self, folder: impl AsRef<Path>) -> Result<Shards> {
        let folder = folder.as_ref();
        let paths = files_in(folder, is_tar).map_err(|error| {
            Error::io(folder, error, "name a folder that holds tar files, and can be read")
        })?;
        ensure!(
            !paths.is_empty(),
            "{} holds no file that ends in .tar: name the folder of the archives",
            folder.display()
        );
        let described = Described::of(Some(folder), &paths)?;
        self.open_described(&paths, described)
    }

    /// See [`Shards::find`].
    ///
    /// # Errors
    /// Those of [`Shards::find`] and [`ShardsOptions::open`].
    pub fn find(self, path: impl AsRef<Path>, split: Option<&str>) -> Result<Shards> {
        let wanted = Wanted { what: "tar files (.tar)", is_one: is_tar, split };
        let paths = wanted.find(path.as_ref())?;
        let described = Described::of(Some(path.as_ref()), &paths)?;
        self.open_described(&paths, described)
    }
}

impl Source for Shards {
    pass_on!([.ranges] len key version shard_ends);
    pass_on!([.samples.classes] classes);

    fn label(&self, index: usize) -> Label {
        self.samples.label(index)
    }

    fn has_masks(&self) -> bool {
        self.samples.held.has_masks()
    }

    fn mask(&self, index: usize, bytes: &mut Vec<u8>) -> Result<bool> {
        self.samples.held.mask(&self.ranges, index, bytes)
    }

    fn fields(&self) -> &[Field] {
        &self.samples.fields.list
    }

    fn values(&self, index: usize, values: &mut Vec<FieldValue>) -> Result<()> {
        self.samples.values(self, &self.ranges, index, values)
    }

    fn jpeg_sha256(&self, index: usize) -> Result<Option<String>> {
        provenance::jpeg_sha256(&self.ranges, index)
    }

    fn read(&self, index: usize, bytes: &mut Vec<u8>) -> Result<()> {
        self.ranges.read(index, bytes, |_| Ok(()))
    }

    fn read_into(&self, index: usize, to: &mut dyn Destination) -> Result<()> {
        self.ranges.read_into(index, to)
    }
}

/// Hands each sample of the archive at `path` to `take`: from the table beside it, if there is a sound one that is no
/// older than the archive and is of one of its length, else from the archive's headers. Tables know nothing of other
/// members, so that they are of no use where some are wanted.
fn find_images(path: &Path, wanted: &mut WantedMembers, take: &mut dyn FnMut(Found)) -> Result<()> {
    let modified = |about: &fs::Metadata| about.modified();
    let sound = || {
        let (archive, place) = (fs::metadata(path).ok()?, table_place(path));
        let about = fs::metadata(&place).ok().filter(fs::Metadata::is_file)?;
        let is_new = modified(&about).ok()? >= modified(&archive).ok()?;
        let is_table = is_new && about.len() <= table::most_bytes(archive.len());
        table::read(&is_table.then(|| regular_file::read(&place))?.ok()?, archive.len()).ok()
    };
    match wanted.is_empty().then(sound).flatten() {
        Some(images) => images.into_iter().for_each(take),
        None => drop(scan::scan(path, wanted, take)?),
    }
    Ok(())
}

/// The path of the table of the archive at `path`.
fn table_place(path: &Path) -> PathBuf {
    let mut place = path.as_os_str().to_owned();
    place.push(table::ENDING);
    place.into()
}

fn is_tar(name: &str) -> bool {
    name.ends_with(".tar")
}
