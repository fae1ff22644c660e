//! Which decoder takes which kind of file, and what damaged files do to it.

use crate::photos::read_all;
use crate::{BACKENDS, each_kind, filled, open, print};
use anyhow::{Context, bail};
use feedline::device::cuda::{DecodedImage, Route};
use feedline::error::Cause;
use feedline::geometry::Rect;
use feedline::image::parse_header;
use feedline::source::{Folder, Source};
use serde_json::json;
use std::path::{Path, PathBuf};

/// Say which decoder takes each kind of file, whole and in part
#[derive(clap::Args)]
pub(crate) struct Support {
    /// A folder of folders of JPEG files, each of one kind
    #[arg(long)]
    data: PathBuf,
}

/// Decode damaged files, each in a batch of sound ones and with such a batch after it
#[derive(clap::Args)]
pub(crate) struct Damage {
    /// A folder of damaged files
    #[arg(long)]
    data: PathBuf,
    /// A folder whose first file is sound
    #[arg(long)]
    sound: PathBuf,
    /// feedline, hardware, gpu-huffman or hybrid
    #[arg(long)]
    backend: String,
    /// Sound files in the batch of each damaged one; gpu-huffman takes more
    #[arg(long, default_value_t = 15)]
    beside: usize,
    /// Files to pass over: those that an earlier run ended at
    #[arg(long, default_value_t = 0)]
    skip: usize,
}

pub(crate) fn support(arguments: &Support) -> anyhow::Result<()> {
    each_kind(&arguments.data, &BACKENDS, kind)
}

/// One kind of file and one decoder: who decoded the whole files, and who parts of them.
fn kind(folder: &Path, word: &str, route: Route) -> anyhow::Result<()> {
    let files = read_all(folder)?;
    let bytes: Vec<&[u8]> = files.iter().map(Vec::as_slice).collect();
    let bytes = filled(&bytes, route);
    let mut decoder = open(route, true)?;
    let least = bytes
        .iter()
        .filter_map(|bytes| parse_header(bytes).ok())
        .map(|header| header.size.rect())
        .reduce(Rect::intersect)
        .context("a kind of file without files")?;
    let quarter =
        Rect::new(least.width as i32 / 4, least.height as i32 / 4, least.width / 4, least.height / 4);
    for (part, outcomes) in [
        (false, decoder.decode(&bytes, None)?),
        // Exactly this part, so that the decoder is asked for no more than it.
        (true, decoder.decode_exactly(&bytes, quarter)?),
    ] {
        let taken = |by: Route| outcomes.iter().flatten().filter(|decoded| decoded.by == by).count();
        let first = outcomes.iter().find_map(|outcome| outcome.as_ref().err().map(ToString::to_string));
        // Where another decoder has stepped in, only the report says why.
        let told = || decoder.reports().into_iter().find_map(|report| report.last_failure);
        print(&json!({
            "kind": folder.file_name().unwrap_or_default().to_string_lossy(),
            "backend": word,
            "part": part,
            "files": outcomes.len(),
            "taken": taken(route),
            "by_others": outcomes.iter().flatten().count() - taken(route),
            "refused": outcomes.iter().filter(|outcome| outcome.is_err()).count(),
            "cause": first.or_else(told),
        }))?;
    }
    Ok(())
}

pub(crate) fn damage(arguments: &Damage) -> anyhow::Result<()> {
    let Some(&(word, route)) = BACKENDS.iter().find(|(word, _)| *word == arguments.backend) else {
        bail!("no decoder is called `{}`", arguments.backend);
    };
    let sound = read_all(&arguments.sound)?;
    let sound = sound.first().context("no sound file")?;
    let damaged = Folder::open_any(&arguments.data)?;
    let mut decoder = open(route, false)?;
    let least = filled(&[sound], route).len() - 1;
    let sound = vec![sound.as_slice(); arguments.beside.max(least)];
    let reference = decoder.decode(&sound, None)?.swap_remove(0).map_err(anyhow::Error::from_boxed)?;
    for index in arguments.skip..damaged.len() {
        let mut bytes = Vec::new();
        damaged.read(index, &mut bytes)?;
        let mut beside = decoder.decode(&[&[bytes.as_slice()][..], &sound].concat(), None)?;
        let outcome = beside.remove(0);
        // A decoder that a bad file has spoilt shows it at the next good ones.
        let after = decoder.decode(&sound, None)?;
        print(&json!({
            "file": damaged.key(index),
            "backend": word,
            "decoded_by": outcome.as_ref().ok().map(|decoded| name(decoded.by)),
            "cause": outcome.err().map(|cause| cause.to_string()),
            "sound_files_beside": against(&reference, &beside),
            "sound_files_after": against(&reference, &after),
        }))?;
    }
    Ok(())
}

/// How sound files fared, in words; all of them are one file.
fn against(reference: &DecodedImage, outcomes: &[Result<DecodedImage, Cause>]) -> String {
    let fault = |outcome: &Result<DecodedImage, Cause>| match outcome {
        Err(cause) => Some(cause.to_string()),
        Ok(decoded) if decoded.by != reference.by => Some(format!("decoded by {}", name(decoded.by))),
        Ok(decoded) if decoded.image.data != reference.image.data => Some("other pixels".into()),
        Ok(_) => None,
    };
    let faults: Vec<String> = outcomes.iter().filter_map(fault).collect();
    match faults.first() {
        None => "as before".into(),
        Some(first) => format!("{} of {}: {first}", faults.len(), outcomes.len()),
    }
}

fn name(route: Route) -> &'static str {
    BACKENDS.iter().find(|(_, by)| *by == route).map_or("cpu", |(word, _)| word)
}
