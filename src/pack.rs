//! Packs a source into shards: few large files in place of many small ones.
//!
//! ```
//! use feedline::pack::Pack;
//! use feedline::source::{Folder, Shards, Source};
//!
//! # let out = tempfile::tempdir()?;
//! # let out = out.path().join("shards");
//! let photos = Folder::flat("data/photos")?;
//! let manifest = Pack::to(&out).shard_records(40).run(&photos, &mut |_| {})?;
//! assert_eq!((manifest.records, manifest.shards[0].records), (photos.len(), 40));
//! assert_eq!(Shards::folder(&out)?.len(), photos.len());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod beside;
mod holds;
mod manifest;
mod place;
mod prepare;
mod settings;
mod shard;

pub use crate::coefficients::Profile;
pub use crate::source::packed::holds::{HeldField, Holds};
pub use manifest::{Manifest, Skipped};
pub use settings::Settings;
pub use shard::Shard;

use crate::error::{Error, Result, bail};
use crate::loader::parallel_map;
use crate::policy::Damaged;
use crate::source::Source;
use manifest::Folder;
use prepare::Preparer;
use serde::{Deserialize, Serialize};
use shard::ShardWriter;
use std::path::PathBuf;

/// The format of shards.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Format {
    /// Tar files with members named as in WebDataset: `000000042.jpg`, `.cls` with the index of the class, `.json` with the
    /// key that the record had, the name of its class and its labelled objects, `.seg.png` with its semantic mask, and each
    /// field under an ending of its own, such as `.caption.txt`.
    #[default]
    Tar,
    /// TFRecord files of `tf.train.Example`s: `image/encoded`, `image/format`, `image/filename`, `image/class/label`
    /// and `image/class/text`; `image/objects` with the JSON of the labelled objects, `image/segmentation/class/encoded` with
    /// the semantic mask, and each field under its name.
    TfRecord,
    /// Tar files as above, in which JPEGs are files of coefficients, `000000042.fjc`: the same pixels at about 1.2 times the size,
    /// for half of the time that decoding takes. What is no JPEG, is damaged, or has no coefficients that can be held (arithmetic
    /// coding, scans left out) stays as it is. The JSON of a record names the SHA-256 of its JPEG.
    Coefficients,
}

/// Chroma subsampling of re-encoded JPEGs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Chroma {
    /// A quarter of the chroma values, as cameras and web sites do.
    #[default]
    #[serde(rename = "4:2:0")]
    Quarter,
    /// All of them.
    #[serde(rename = "4:4:4")]
    Full,
}

/// Packs a source into the shards of one folder.
///
/// A shard is written under a temporary name, flushed to the disk, and then renamed; the manifest follows in the same
/// way. So a killed run leaves only complete shards, and the same run continues after them. The same source and
/// settings make the same bytes, on any number of threads.
#[derive(Clone, Debug)]
pub struct Pack {
    out: PathBuf,
    settings: Settings,
    data_folder: Option<PathBuf>,
    skip_bad: bool,
    workers: Option<usize>,
}

/// Default length of shards: large enough for sequential reads, small enough to be distributed to ranks.
const SHARD_BYTES: u64 = 256 << 20;
/// Default quality of re-encoded images.
const QUALITY: u8 = 90;

impl Pack {
    /// Writes shards to the folder `out`, which is created if needed: tar files of at most 256 MiB, images unchanged.
    pub fn to(out: impl Into<PathBuf>) -> Self {
        let settings = Settings {
            format: Format::Tar,
            shard_bytes: SHARD_BYTES,
            shard_records: None,
            resize: None,
            quality: None,
            chroma: Chroma::Quarter,
            profile: Profile::Small,
            damaged: Damaged::default(),
        };
        Self { out: out.into(), settings, data_folder: None, skip_bad: false, workers: None }
    }

    setters! {
        /// Sets the format of shards.
        format in settings.format: Format;

        /// Sets the maximum size of a shard in bytes, exceeded only by a single larger record.
        shard_bytes in settings.shard_bytes: u64;

        /// Sets the maximum number of records in a shard; the limit in bytes still applies.
        shard_records in settings.shard_records: some usize;

        /// Shrinks images whose shorter edge has more pixels than this to that length, turns them upright, and re-encodes
        /// them as JPEG; the others stay as they are. Objects in pixels and semantic masks, nearest neighbour by nearest
        /// neighbour, shrink along.
        resize in settings.resize: some u32;

        /// Re-encodes every image as JPEG of this quality, 1 to 100. Without it only resized images are re-encoded, at 90.
        quality in settings.quality: some u8;

        /// Sets the chroma subsampling of re-encoded images; 4:2:0 by default.
        chroma in settings.chroma: Chroma;

        /// Sets what files of coefficients are made for: to be small, which is the default, or fast. Refused with another format
        /// than [`Format::Coefficients`].
        profile in settings.profile: Profile;

        /// Sets which damaged JPEGs are taken where images are decoded: to be resized or re-encoded, and with
        /// [`Pack::skip_bad`]. What is re-encoded becomes the pixels that libjpeg-turbo makes of it, without damage; what
        /// stays as it is keeps its damage.
        damaged in settings.damaged: Damaged;

        /// Decodes every record, leaves out those that training could not use, and lists them in the manifest. Without it
        /// a record that cannot be read or has no image's header ends the run, and images that are packed unchanged are
        /// checked by their headers only.
        skip_bad: bool;

        /// Sets the number of threads that read and encode; all cores by default.
        workers: some usize;

        /// Names the folder that the source was opened from, which a source does not know: shards are refused anywhere in
        /// it, and not only in the folders that its records lie in.
        data_folder: some into PathBuf;
    }

    /// Refuses shards among the images of `source`, where they would be taken for data; [`Pack::run`] does so first of all.
    ///
    /// # Errors
    /// A folder of shards within [`Pack::data_folder`], or within a folder that records of `source` lie in.
    pub fn check_place(&self, source: &dyn Source) -> Result<()> {
        place::check(&self.out, self.data_folder.as_deref(), source)
    }

    /// Packs all records of `source`, or those that an earlier run did not reach. `progress` is called with the number
    /// of records done. Returns the content of the folder's `manifest.json`.
    ///
    /// # Errors
    /// Settings out of range; a folder among the source's images, one that holds other shards, or that another run is
    /// writing to; a bad record (see [`Pack::skip_bad`]), named with its cause; a disk that is full or cannot be written
    /// to.
    pub fn run(&self, source: &dyn Source, progress: &mut dyn FnMut(usize)) -> Result<Manifest> {
        self.settings.check()?;
        self.check_place(source)?;
        let folder = Folder::open(&self.out)?;
        let mut manifest = folder.begin(source, &self.settings)?;
        if manifest.complete {
            progress(source.len());
            return Ok(manifest);
        }
        let packed = self.pack(&folder, &mut manifest, source, progress);
        packed.inspect_err(|_| folder.remove_unfinished())?;
        if manifest.records == 0 {
            let (count, Skipped { key, cause, .. }) = (manifest.skipped.len(), &manifest.skipped[0]);
            bail!("all {count} records are bad; the first is {key}: {cause}");
        }
        manifest.complete = true;
        folder.save(&manifest)?;
        Ok(manifest)
    }

    /// Packs the records that `manifest` does not have yet.
    fn pack(
        &self,
        folder: &Folder,
        manifest: &mut Manifest,
        source: &dyn Source,
        progress: &mut dyn FnMut(usize),
    ) -> Result<()> {
        let left = manifest.next()..source.len();
        let threads = self.workers.unwrap_or_else(crate::loader::cores);
        let (holds, mut writer) = (manifest.holds.clone(), None);
        let work = |preparer: &mut Preparer, index| preparer.prepare(source, index);
        let take = |index, prepared: Result<Vec<u8>>| {
            match prepared {
                Ok(entry) => self.add(folder, manifest, &mut writer, index, &entry)?,
                Err(Error::Sample { key, source, .. }) if self.skip_bad => {
                    manifest.skipped.push(Skipped { index, key, cause: source.to_string() });
                }
                Err(error) => return Err(error),
            }
            progress(index + 1);
            Ok(())
        };
        let preparer = || Preparer::new(&self.settings, &holds, self.skip_bad);
        parallel_map(left, threads, preparer, work, take)?;
        match writer {
            Some(last) => folder.finish(manifest, last, source.len()),
            None => Ok(()),
        }
    }

    /// Writes one record, to a new shard if it does not fit.
    fn add(
        &self,
        folder: &Folder,
        manifest: &mut Manifest,
        writer: &mut Option<ShardWriter>,
        index: usize,
        entry: &[u8],
    ) -> Result<()> {
        if let Some(full) = writer.take_if(|open| !open.has_room(&self.settings, entry)) {
            folder.finish(manifest, full, index)?;
        }
        let open = match writer {
            Some(open) => open,
            None => writer.insert(folder.new_shard()?),
        };
        open.add(entry).map_err(|error| folder.unwritable(error))
    }
}
