//! A data set at a URL from its options, and files beside images at URLs.

use super::{Note, Opened, coco_options, count, fields, given, list_options, refuse_unread, yolo_options};
use crate::error::{Error, Result, bail};
use crate::field::Field;
use crate::options::{DataOptions, Kind};
use crate::source::{Remote, RemoteOptions, Source};
use std::path::Path;
use std::time::Duration;

/// Opens what `path` names; fields that lie in folders of their own are left in `pictures`.
pub(super) fn open(
    options: &DataOptions,
    own: &DataOptions,
    path: &Path,
    pictures: &mut Vec<Field>,
) -> Result<Opened> {
    let how = self::options(options)?
        .flat(options.flat())
        .max_field_bytes(options.max_field_bytes().0)
        .list(list_options(options))
        .yolo(yolo_options(options))
        .coco(coco_options(options));
    let how = given(how, &options.kind, RemoteOptions::kind);
    let how = given(how, &options.split, |how, split| how.split(split));
    let mut how = given(how, &fields(options), |how, fields| how.fields(fields));
    if let Some(images) = &options.image_dir {
        how = how.image_dir(text(images)?);
    }
    let remote = how.open_any(text(path)?)?;
    let layout = remote.layout();
    refuse_unread(own, layout, path, |entry| entry.serves(layout) || entry.is_of_urls())?;
    *pictures = remote.left().to_vec();
    let notes: Vec<Note> = remote.notes().iter().cloned().map(Note::Remote).collect();
    let (report, keypoints) = (remote.report(), remote.skeleton().map(count));
    let mut opened = match (layout, report) {
        (Kind::Yolo | Kind::Coco, Some(report)) => {
            let sizes = (0..remote.len()).map(|index| remote.image_size(index).unwrap_or_default());
            let stated_sizes = if layout == Kind::Coco { sizes.collect() } else { Vec::new() };
            let labelled = Opened::labelled(Kind::Remote, remote, report, keypoints);
            Opened { objects: true, stated_sizes, ..labelled }
        }
        (_, report) => Opened::packed(Kind::Remote, remote, report, keypoints),
    };
    opened.notes.splice(0..0, notes);
    Ok(opened)
}

/// How stores are asked.
pub(super) fn options(options: &DataOptions) -> Result<RemoteOptions> {
    let how = Remote::options()
        .anonymous(options.anonymous())
        .timeout(seconds("timeout_s", options.timeout_s())?)
        .stall_timeout(seconds("stall_timeout_s", options.stall_timeout_s())?)
        .max_retries(options.max_retries())
        .concurrency(options.concurrency())
        .max_file_bytes(options.max_file_bytes().0);
    let how = given(how, &options.endpoint, |how, endpoint| how.endpoint(endpoint));
    match &options.cache_dir {
        Some(folder) => Ok(how.cache(folder, options.cache_bytes().0)),
        None if options.cache_bytes.is_some() => {
            bail!("cache_bytes means nothing without cache_dir: leave it out, or set cache_dir");
        }
        None => Ok(how),
    }
}

/// The text of a URL.
pub(super) fn text(url: &Path) -> Result<&str> {
    url.to_str().ok_or_else(|| Error::config("the URL is not UTF-8: write it with percent signs"))
}

fn seconds(name: &str, seconds: f64) -> Result<Duration> {
    Duration::try_from_secs_f64(seconds)
        .map_err(|error| Error::config(format!("{name} is {seconds}: {error}; give a number of seconds")))
}
