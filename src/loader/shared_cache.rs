//! The cache that the processes of a machine share: what options ask of it, and the source within it.

use super::stored_pixels::StoredPixels;
use crate::error::{Result, bail, ensure};
use crate::label::{Label, Unit};
use crate::options::Options;
use crate::policy::{CachePlace, CachedForm, DecodeScale, DecoderChoice};
use crate::source::{Cached, Make, SharedCache, Source};
use serde_json::json;
use std::sync::Arc;

/// A source within its caches.
pub(super) struct Sources {
    /// What samples are made of.
    pub(super) source: Arc<dyn Source>,
    /// What says of what size those are: the same sizes, where they can be had without decoding.
    pub(super) headers: Arc<dyn Source>,
}

impl Sources {
    /// `source` within the caches that options ask for.
    ///
    /// # Errors
    /// Those of [`crate::source::SharedCacheOptions::open`].
    pub(super) fn of(source: Box<dyn Source>, options: &Options) -> Result<Self> {
        let loader = &options.loader;
        let options_of_cache = match loader.cache() {
            CachePlace::Off => {
                let source: Arc<dyn Source> = match loader.byte_cache().0 {
                    0 => Arc::from(source),
                    bytes => Arc::new(Cached::new(source, bytes)),
                };
                return Ok(Self { headers: Arc::clone(&source), source });
            }
            CachePlace::Ram => SharedCache::in_memory(),
            CachePlace::Disk => SharedCache::on_disk(),
        };
        let is_decoded = loader.cache_form() == CachedForm::Decoded;
        let made: Option<Box<dyn Make>> = match is_decoded {
            true => Some(Box::new(StoredPixels::of(options))),
            false => None,
        };
        let mut how = options_of_cache.settings(settings(options)).made(made);
        if let Some(limit) = loader.cache_limit {
            how = how.limit(limit.0);
        }
        if let Some(file) = &loader.cache_file {
            how = how.file(file);
        }
        let bare: Arc<dyn Source> = Arc::from(source);
        let source: Arc<dyn Source> = Arc::new(how.open(Arc::clone(&bare))?);
        // Pixels are as large as the file says, unless they are resized.
        let headers = if is_decoded && loader.cache_resize.is_none() { bare } else { Arc::clone(&source) };
        Ok(Self { source, headers })
    }
}

/// What the stored bytes depend on. It does not matter what becomes of damaged files, which are stored as they are. What chooses
/// among the images of a record is there so that each choice has a file of its own.
fn settings(options: &Options) -> String {
    let Options { loader, decode, data, .. } = options;
    let limits = decode.limits();
    let pixels = (loader.cache_form() == CachedForm::Decoded).then(|| {
        // Another version of the decoder may make other pixels, be it of damaged files alone.
        let made_by = env!("CARGO_PKG_VERSION");
        json!([made_by, loader.cache_resize, decode.exif(), limits.max_pixels, limits.max_scans])
    });
    let sets = data.sets.iter().flat_map(|sets| sets.0.iter().map(|set| &set.options));
    let chosen: Vec<_> =
        std::iter::once(data).chain(sets).map(|of| (&of.image_column, &of.database)).collect();
    json!([data.max_file_bytes().0, pixels, chosen]).to_string()
}

/// Refuses what cannot be had with a cache of pixels.
pub(super) fn check(options: &Options, source: &dyn Source) -> Result<()> {
    let Options { loader, decode, .. } = options;
    if loader.shared_cache().is_none() || loader.cache_form() != CachedForm::Decoded {
        return Ok(());
    }
    ensure!(
        decode.scale() == DecodeScale::Exact,
        "cache_form = \"decoded\" keeps images in full size, and decode_scale decodes them smaller: leave one of them out"
    );
    let decoder = decode.decoder();
    ensure!(
        decoder.is_own() || decoder == DecoderChoice::Cpu,
        "cache_form = \"decoded\" leaves decoder = \"{}\" nothing to decode: leave the decoder auto, or keep files \
         (cache_form = \"compressed\")",
        decoder.word()
    );
    match loader.cache_resize {
        Some(_) => check_resize(source),
        None => Ok(()),
    }
}

/// What lies beside an image in its pixels would not fit a resized one.
fn check_resize(source: &dyn Source) -> Result<()> {
    let remedy = "leave cache_resize out, or resize the data set with `feedline pack --resize`, which resizes all of it";
    ensure!(!source.has_masks(), "cache_resize resizes images and not their masks: {remedy}");
    if let Some(field) = source.fields().iter().find(|field| field.kind().is_picture()) {
        bail!("cache_resize resizes images and not the pictures of the field `{}`: {remedy}", field.name());
    }
    let in_pixels = (0..source.len()).find(|&index| match source.label(index) {
        Label::Objects(objects) => objects.unit == Unit::Pixels && !objects.list.is_empty(),
        _ => false,
    });
    match in_pixels {
        None => Ok(()),
        Some(index) => bail!(
            "cache_resize resizes images and not their boxes, which are in pixels (sample {index}, {}): {remedy}",
            source.key(index)
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_choice_of_images_and_each_way_to_make_pixels_has_a_cache_of_its_own() {
        let of = |said: &[(&str, &str)]| {
            let mut options = Options::default();
            said.iter().for_each(|(name, value)| options.set_text(name, value).unwrap());
            settings(&options)
        };
        let set =
            |column: &str| format!(r#"[{{ path = "a", image_column = "{column}" }}, {{ path = "b" }}]"#);
        let sets = [set("left"), set("right")];
        let decoded = [("cache", "disk"), ("cache_form", "decoded")];
        let all = [
            of(&[]),
            of(&[("image_column", "left")]),
            of(&[("image_column", "right")]),
            of(&[("database", "left")]),
            of(&[("sets", sets[0].as_str())]),
            of(&[("sets", sets[1].as_str())]),
            of(&[("max_file_bytes", "1M")]),
            of(&decoded),
            of(&[decoded[0], decoded[1], ("cache_resize", "20")]),
            of(&[decoded[0], decoded[1], ("exif", "false")]),
        ];
        for (number, one) in all.iter().enumerate() {
            assert!(!all[..number].contains(one), "{one}");
            // Files are the same whatever reads them.
            assert_eq!(one.contains(env!("CARGO_PKG_VERSION")), number >= 7, "{one}");
        }
        assert_eq!(of(&[("workers", "3")]), all[0]);
    }
}
