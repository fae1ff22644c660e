//! COCO annotations at a URL, or annotations on a disk of images in a store.

use super::client::Object;
use super::contents::Contents;
use super::layout::hash;
use super::ranged::Ranged;
use super::records::Records;
use super::request_error::{Kind, RequestError};
use super::store::Store;
use super::{RemoteOptions, address, below};
use crate::error::{Error, Result};
use crate::source::coco::{Annotations, LOOKED_FOR, not_there};
use crate::source::labels::cache::FileStamp;
use address::Address;
use object_store::path::Path;
use std::io::Read;
use std::path::Path as FilePath;

/// How much of the annotations one request asks for.
const READ_BYTES: u64 = 8 << 20;

/// Annotations as they were when they were looked at first.
struct Remote<'a> {
    store: &'a Store,
    object: Object,
}

impl Annotations for Remote<'_> {
    fn shown(&self) -> String {
        self.store.shown(&self.object.path)
    }

    fn stamp(&self) -> (Vec<u8>, FileStamp) {
        (self.shown().into_bytes(), [self.object.version, self.object.size])
    }

    fn open(&self) -> Result<Box<dyn Read + '_>> {
        Ok(Box::new(Ranged::whole(self.store, &self.object, READ_BYTES)))
    }
}

/// Where the images of the annotations at `annotations` lie.
///
/// # Errors
/// A place that is no URL where the annotations are at none either.
pub(super) fn images(annotations: &str, how: &RemoteOptions) -> Result<Address> {
    match &how.image_dir {
        Some(images) => Address::parse(images),
        None => Address::parse(annotations).map(Address::folder),
    }
}

/// The records of the images in `store`, which is that of [`images`].
pub(super) fn find(annotations: &str, store: &Store, how: &RemoteOptions) -> Result<(Records, Contents)> {
    let (names, labels) = match address::is_url(annotations) {
        false => how.coco.read(&FilePath::new(annotations))?,
        true => {
            let at = Address::parse(annotations)?;
            let (path, own);
            let other = match at.root == store.client.address.root {
                true => store,
                false => {
                    own = Store::new(at.clone(), how)?;
                    &own
                }
            };
            path = at.path;
            let object = other.client.head(&path).map_err(|error| other.failed(&path, &error))?;
            how.coco.read(&Remote { store: other, object })?
        }
    };
    let base = below(&store.client.address.path);
    let place = |name: &String| {
        Path::parse(format!("{base}{name}")).map_err(|error| {
            let shown = store.shown(&store.client.address.path);
            Error::config(format!(
                "{annotations}: the image `{name}` has no place below {shown}: {error}; mend its file_name"
            ))
        })
    };
    let places = names.iter().map(place).collect::<Result<Vec<Path>>>()?;
    let some = &places[..places.len().min(LOOKED_FOR)];
    let answers = store.client.head_many(some);
    let is_there = |answer: &Result<Object, RequestError>| answer.is_ok();
    if !answers.iter().any(is_there) {
        let failed = answers.iter().zip(some).find_map(|(answer, path)| match answer {
            Err(error) if error.kind != Kind::Missing => Some(store.failed(path, error)),
            _ => None,
        });
        return Err(failed.unwrap_or_else(|| not_there(&store.shown(&places[0]))));
    }
    let mut records = Records::new(base, hash(&names));
    names.iter().for_each(|name| records.push(name, None));
    Ok((records, Contents::Coco(labels)))
}
