//! `feedline pack`: a data set as shards.

use super::convert::ProfileName;
use super::data;
use super::flags::{Flags, Packed};
use super::{print, progress};
use anyhow::{anyhow, ensure};
use clap::ValueEnum;
use feedline::options::Bytes;
use feedline::pack::{Chroma, Format, Pack, Profile};
use std::path::PathBuf;

/// Pack a data set into shards, in parallel; the same command goes on where a killed one was
///
/// Labelled objects, semantic masks and fields are packed too. Images stay as they are unless --resize or --quality is given. Every shard is whole or not there; manifest.json lists
/// them with their SHA-256. A damaged image that stays as it is is copied with its damage; one that is encoded anew becomes
/// the pixels that libjpeg makes of it, where --damaged takes it. The data set is only read. Exits with 1 if records were left
/// out (--skip-bad).
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    #[command(flatten)]
    flags: Flags<Packed>,
    /// The folder of the shards; made if it is not there
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// What the shards are
    #[arg(long, default_value = "tar")]
    format: FormatName,
    /// Bytes that a shard does not exceed; K, M, G and T mean powers of 1024
    #[arg(long, value_name = "BYTES", default_value = "256M", value_parser = bytes)]
    shard_bytes: u64,
    /// Records that a shard does not exceed
    #[arg(long, value_name = "N")]
    shard_records: Option<usize>,
    /// Shrink images to this length of their shorter edge, where it is longer
    #[arg(long, value_name = "PIXELS")]
    resize: Option<u32>,
    /// Encode all images anew as JPEG of this quality [default: only resized ones, at 90]
    #[arg(long, value_name = "1..100")]
    quality: Option<u8>,
    /// Chroma subsampling of what is encoded anew
    #[arg(long, default_value = "420")]
    sampling: Sampling,
    /// What files of coefficients are made for (with --format coefficients) [default: small]
    #[arg(long)]
    profile: Option<ProfileName>,
    /// Decode all records, leave out those that training could not use, and list them; without it, images that are
    /// packed unchanged are not decoded
    #[arg(long)]
    skip_bad: bool,
    /// Threads that read and encode [default: one a core]
    #[arg(long)]
    workers: Option<usize>,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum FormatName {
    /// WebDataset's tar files
    Tar,
    /// TensorFlow's TFRecord files
    Tfrecord,
    /// Tar files in which JPEGs are files of coefficients: the same pixels, decoded in half of the time (AVX-512; two thirds with AVX2)
    Coefficients,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Sampling {
    /// A quarter of the chroma values
    #[value(name = "420")]
    Quarter,
    /// All of them
    #[value(name = "444")]
    Full,
}

pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<bool> {
    ensure!(arguments.workers != Some(0), "--workers 0 would do nothing: give at least 1");
    ensure!(
        arguments.profile.is_none() || matches!(arguments.format, FormatName::Coefficients),
        "--profile is of files of coefficients: add --format coefficients, or leave --profile out"
    );
    let source = data::open(&arguments.flags.options.data)?;
    let format = match arguments.format {
        FormatName::Tar => Format::Tar,
        FormatName::Tfrecord => Format::TfRecord,
        FormatName::Coefficients => Format::Coefficients,
    };
    let chroma = match arguments.sampling {
        Sampling::Quarter => Chroma::Quarter,
        Sampling::Full => Chroma::Full,
    };
    let mut pack = Pack::to(&arguments.out)
        .format(format)
        .shard_bytes(arguments.shard_bytes)
        .chroma(chroma)
        .profile(arguments.profile.map_or_else(Profile::default, Profile::from))
        .damaged(arguments.flags.options.decode.damaged())
        .skip_bad(arguments.skip_bad);
    if let Some(records) = arguments.shard_records {
        pack = pack.shard_records(records);
    }
    if let Some(edge) = arguments.resize {
        pack = pack.resize(edge);
    }
    if let Some(quality) = arguments.quality {
        pack = pack.quality(quality);
    }
    if let Some(workers) = arguments.workers {
        pack = pack.workers(workers);
    }
    if let Some(data) = &arguments.flags.options.data.path {
        pack = pack.data_folder(data);
    }
    pack.check_place(&*source).map_err(|error| anyhow!("--out {error}"))?;
    let bar = progress(source.len() as u64, "records");
    let manifest = pack.run(&*source, &mut |done| bar.set_position(done as u64))?;
    bar.finish_and_clear();
    for skipped in &manifest.skipped {
        print(&format!("bad  {}: {}", skipped.key, skipped.cause))?;
    }
    let bytes: u64 = manifest.shards.iter().map(|shard| shard.bytes).sum();
    let (records, shards, bad) = (manifest.records, manifest.shards.len(), manifest.skipped.len());
    print(&format!(
        "{records} records in {shards} shards, {bytes} bytes; {bad} bad; {}",
        arguments.out.display()
    ))?;
    Ok(bad == 0)
}

/// A number of bytes; prefixes may be small letters here.
fn bytes(text: &str) -> Result<u64, String> {
    text.to_ascii_uppercase().parse().map(|Bytes(bytes)| bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_may_be_written_short() {
        assert_eq!(bytes("4096"), Ok(4096));
        assert_eq!(bytes("3M"), Ok(3 << 20));
        assert_eq!(bytes("2g"), Ok(2 << 30));
        for wrong in ["", "M", "-1", "1.5G", "1P", "99999999999G"] {
            assert!(bytes(wrong).is_err(), "{wrong}");
        }
    }
}
