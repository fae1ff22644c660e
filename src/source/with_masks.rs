//! Semantic masks for the images of any source, from a folder of PNG files.

use super::beside::{Beside, place_below};
use super::{IoStats, Source};
use crate::error::{Error, Result, bail};
use crate::options::DataOptions;
use std::path::{Path, PathBuf};

/// Missing masks that an error names.
const NAMED: usize = 3;

/// A source whose images have masks in a folder: the mask of the image `a/b.jpg` is `a/b.png` there. `RemoteOptions::masks`
/// takes them from a store.
///
/// Of an image's key, the part after its last folder named `images` counts, or all of it where there is none. Masks are
/// PNG files of one channel, grey or with a palette, of at most 8 bits, as large as the upright image; a pixel is a class,
/// the level or the palette index as it is stored. `docs/labels.md` says what becomes of each that is not.
///
/// ```no_run
/// use feedline::loader::Loader;
/// use feedline::source::{Folder, WithMasks};
///
/// let images = Folder::flat("data/images")?;
/// let source = WithMasks::open(images, "data/masks")?;
/// let loader = Loader::builder(source).masks(255);
/// # Ok::<(), feedline::error::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct WithMasks<S> {
    source: S,
    files: Beside,
    /// The index of each image's file.
    masks: Vec<Option<u32>>,
}

/// How masks are looked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MaskOptions {
    allow_missing: bool,
    max_file_bytes: Option<u64>,
}

impl<S: Source> WithMasks<S> {
    /// The source with a mask in `folder` for every image.
    ///
    /// # Errors
    /// Those of [`MaskOptions::open`].
    pub fn open(source: S, folder: impl AsRef<Path>) -> Result<Self> {
        MaskOptions::default().open(source, folder)
    }

    /// The number of images that have a mask.
    pub fn masks(&self) -> usize {
        self.masks.iter().flatten().count()
    }
}

impl WithMasks<()> {
    /// Options to open masks with.
    pub fn options() -> MaskOptions {
        MaskOptions::default()
    }
}

impl From<&DataOptions> for MaskOptions {
    fn from(options: &DataOptions) -> Self {
        let max_file_bytes = Some(options.max_file_bytes().0);
        Self { allow_missing: options.allow_missing_masks(), max_file_bytes }
    }
}

impl MaskOptions {
    setters! {
        /// Lets images have no mask; by default that is an error. All their pixels have the class that
        /// [`crate::loader::LoaderBuilder::masks`] names.
        allow_missing: bool;

        /// The largest mask file that is read; images of larger ones are bad samples.
        max_file_bytes: some u64;
    }

    /// Looks for the masks of all images. None is read yet.
    ///
    /// # Errors
    /// A folder that is not there, an image without a mask (how many, and the first three), no mask at all, a key that
    /// leads out of the folder.
    pub fn open<S: Source>(self, source: S, folder: impl AsRef<Path>) -> Result<WithMasks<S>> {
        let folder = folder.as_ref();
        if !folder.is_dir() {
            let cause = if folder.exists() { "is no folder" } else { "is not there" };
            bail!("{} {cause}: name the folder that holds the masks", folder.display());
        }
        self.open_beside(source, Beside::folder(folder, self.max_file_bytes))
    }

    /// The same for the masks among `files`.
    pub(super) fn open_beside<S: Source>(self, source: S, mut files: Beside) -> Result<WithMasks<S>> {
        if let Some(bytes) = self.max_file_bytes {
            files.limit(bytes);
        }
        let (mut masks, mut missing, mut named) = (Vec::with_capacity(source.len()), 0usize, Vec::new());
        for index in 0..source.len() {
            let key = source.key(index);
            let name = mask_of(&key, || files.place())?;
            let number = files.len() as u32;
            let found = files.push(&name)?;
            masks.push(found.then_some(number));
            if !found {
                missing += 1;
                if named.len() < NAMED {
                    named.push(format!("{} of the image {key}", files.shown(&name)));
                }
            }
        }
        files.shrink();
        if missing > 0 && (!self.allow_missing || missing == masks.len()) {
            return Err(refusal(missing, masks.len(), &named));
        }
        Ok(WithMasks { source, files, masks })
    }
}

fn refusal(missing: usize, images: usize, named: &[String]) -> Error {
    let more = if missing > named.len() { ", ..." } else { "" };
    let remedy = match missing == images {
        true => "name the folder whose files are called as the images, with the ending .png",
        false => {
            "put them there, take the images out, or allow it (allow_missing_masks), which gives them the fill class"
        }
    };
    Error::config(format!(
        "{missing} of {images} images have no mask ({}{more} not found): {remedy}",
        named.join(", ")
    ))
}

/// The path of the mask of the image with this key, below the folder of masks.
fn mask_of(key: &str, folder: impl FnOnce() -> String) -> Result<PathBuf> {
    Ok(place_below(key, folder)?.with_extension("png"))
}

impl<S: Source> Source for WithMasks<S> {
    pass_on!([.source] len read key path version label fields jpeg_sha256 classes shard_ends record);
    pass_on!([.source] is_known_ahead mix_order);

    fn has_masks(&self) -> bool {
        true
    }

    fn io_stats(&self) -> IoStats {
        self.source.io_stats().plus(self.files.io_stats())
    }

    fn mask(&self, index: usize, bytes: &mut Vec<u8>) -> Result<bool> {
        bytes.clear();
        let Some(&mask) = self.masks.get(index) else { return Err(super::out_of_range(index, self.len())) };
        let Some(file) = mask else { return Ok(false) };
        let file = file as usize;
        self.files.read(file, bytes).map_err(|error| match error {
            // The mask's own name, with the image's index.
            Error::Sample { key, source, .. } => Error::Sample { key, index: index as u64, source },
            other => other,
        })?;
        Ok(true)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]
mod tests {
    use super::*;

    #[test]
    fn a_mask_lies_where_the_key_says_behind_the_last_images() {
        let path = |key: &str| mask_of(key, || "masks".to_owned()).map(|path| path.display().to_string());
        assert_eq!(path("a.jpg").unwrap(), "a.png");
        assert_eq!(path("cat/a.b.JPEG").unwrap(), "cat/a.b.png");
        assert_eq!(path("images/train/a.jpg").unwrap(), "train/a.png");
        assert_eq!(path("/far/images/old/images/a.jpg").unwrap(), "a.png");
        assert_eq!(path("images").unwrap(), "images.png");
        for outside in ["/far/a.jpg", "../a.jpg", "images/../a.jpg", ""] {
            assert!(path(outside).unwrap_err().to_string().contains("has no place"), "{outside}");
        }
    }
}
