//! `feedline convert`: a JPEG as a file of its coefficients.

use super::apply::keep_input;
use super::npy::make_folder;
use super::print;
use anyhow::{Context, ensure};
use clap::ValueEnum;
use feedline::atomic_file::write_file;
use feedline::coefficients::{Converter, Profile};
use feedline::image::Limits;
use feedline::regular_file;
use std::path::PathBuf;

/// Turn a JPEG into a file of its coefficients, which decodes to the same pixels in half of the time (AVX-512; with AVX2 two thirds)
///
/// The file (docs/coefficients.md) takes about 1.2 times the bytes. It is decoded and compared with the JPEG before it is written.
/// A damaged JPEG is refused, and so is one whose coefficients cannot be held. A whole data set is packed by `feedline pack --format
/// coefficients`.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// The JPEG
    input: PathBuf,
    /// The file to write, by custom with the ending .fjc
    out: PathBuf,
    /// What the file is made for
    #[arg(long, default_value = "small")]
    profile: ProfileName,
}

/// What files of coefficients are made for.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum ProfileName {
    /// To be small: values take 2, 4 or 8 bits
    Small,
    /// To be fast: all values take 8 bits, 1.7 times the bytes of the JPEG
    Fast,
}

impl From<ProfileName> for Profile {
    fn from(name: ProfileName) -> Self {
        match name {
            ProfileName::Small => Self::Small,
            ProfileName::Fast => Self::Fast,
        }
    }
}

pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<bool> {
    let Arguments { input, out, profile } = arguments;
    keep_input(input, out)?;
    ensure!(
        !input.is_dir(),
        "{} is a folder, and one file is converted: for a data set give `feedline pack --format coefficients`",
        input.display()
    );
    ensure!(!out.is_dir(), "{} is a folder: name the file to write", out.display());
    let bytes = regular_file::read(input)
        .with_context(|| format!("{} cannot be read: check the path", input.display()))?;
    let mut written = Vec::new();
    let mut converter = Converter::new(&Limits::default(), (*profile).into());
    converter.convert(&bytes, &mut written).with_context(|| input.display().to_string())?;
    make_folder(out)?;
    write_file(out, |file| file.write_all(&written)).with_context(|| {
        format!("{} cannot be written: check that its folder exists and can be written to", out.display())
    })?;
    print(&format!(
        "{}: {} bytes, {:.2} times the {} bytes of the JPEG",
        out.display(),
        written.len(),
        written.len() as f64 / bytes.len() as f64,
        bytes.len()
    ))?;
    Ok(true)
}
