//! Files beside the images of a data set, from its options: masks and second images, in folders or at URLs.

use super::is_url;
#[cfg(not(feature = "remote"))]
use super::not_built_in;
#[cfg(feature = "remote")]
use super::remote;
use crate::error::Result;
use crate::field::Field;
use crate::options::DataOptions;
#[cfg(not(feature = "remote"))]
use crate::options::Kind;
#[cfg(not(feature = "remote"))]
use crate::source::WithImages;
use crate::source::{MaskOptions, Source};
use std::path::Path;

/// The data set with the masks of a folder, or of a URL.
pub(super) fn with_masks(
    options: &DataOptions,
    source: Box<dyn Source>,
    masks: &Path,
) -> Result<Box<dyn Source>> {
    let how = MaskOptions::from(options);
    if !is_url(masks) {
        return Ok(Box::new(how.open(source, masks)?));
    }
    #[cfg(feature = "remote")]
    return Ok(Box::new(remote::options(options)?.masks(source, remote::text(masks)?, how)?));
    #[cfg(not(feature = "remote"))]
    Err(not_built_in(Kind::Remote, masks, "copy the masks to a disk"))
}

/// The data set with second images, from folders or from URLs.
pub(super) fn with_images(
    options: &DataOptions,
    source: Box<dyn Source>,
    fields: Vec<Field>,
) -> Result<Box<dyn Source>> {
    #[cfg(feature = "remote")]
    let images = remote::options(options)?.images(source, fields)?;
    #[cfg(not(feature = "remote"))]
    let images = match fields.iter().find(|field| is_url(Path::new(field.stored_as()))) {
        Some(field) => {
            let url = Path::new(field.stored_as());
            return Err(not_built_in(Kind::Remote, url, "copy the files to a disk"));
        }
        None => WithImages::open(source, fields)?,
    };
    Ok(Box::new(images.max_file_bytes(options.max_file_bytes().0)))
}
