//! The files of a folder in memory, and what the training recipe does to them.

use anyhow::{Context, Result, ensure};
use feedline::device;
use feedline::geometry::Rect;
use feedline::image::{Format, Header, Image, parse_header};
use feedline::loader::Loader;
use feedline::output::Output;
use feedline::plan::{Plan, ViewPlans};
use feedline::recipe::Recipe;
use feedline::source::Folder;

use crate::turbo::Turbo;

/// One JPEG.
pub struct File {
    pub bytes: Vec<u8>,
    pub header: Header,
}

/// One sample: a file, what is done to it, and the part of it that this reads.
pub struct Sample {
    pub file: usize,
    /// One view's.
    pub plans: ViewPlans,
    pub region: Rect,
}

impl Sample {
    /// What is to be done.
    pub fn plan(&self) -> &Plan {
        &self.plans.views()[0].plan
    }
}

/// A folder's samples.
pub struct Set {
    pub files: Vec<File>,
    /// All files with their first plan, then all with their second: whoever decodes meets another file each time, as in
    /// training.
    pub samples: Vec<Sample>,
    pub output: Output,
    /// Files that one of the decoders does not take.
    pub left_out: usize,
}

impl Set {
    /// Reads the JPEGs of `folder` and makes `plans` plans for each, as `imagenet-train` makes them in as many epochs.
    ///
    /// # Errors
    /// A folder without JPEGs that both decoders take.
    pub fn read(folder: &str, plans: u64, turbo: &mut Turbo) -> Result<Self> {
        let recipe = Recipe::built_in("imagenet-train")?;
        let source = Folder::open_any(folder).with_context(|| folder.to_owned())?;
        let loader = Loader::builder(source).recipe(&recipe).workers(1).build()?;
        let output = *loader.output().context("the recipe renders nothing")?;
        let (mut files, mut numbers, mut left_out) = (Vec::new(), Vec::new(), 0);
        for number in 0..loader.samples() {
            let mut bytes = Vec::new();
            loader.source().read(number, &mut bytes)?;
            match taken_by_both(&bytes, turbo) {
                Ok(header) => {
                    files.push(File { bytes, header });
                    numbers.push(number as u64);
                }
                Err(error) => {
                    eprintln!("{} is left out: {error:#}", loader.source().key(number));
                    left_out += 1;
                }
            }
        }
        ensure!(!files.is_empty(), "{folder} has no JPEG that both decoders take");
        let mut samples = Vec::new();
        for epoch in 0..plans {
            for (file, &number) in numbers.iter().enumerate() {
                let plan = loader.plan(epoch, number)?.plan;
                let region = device::region(&plan, 0);
                samples.push(Sample { file, plans: ViewPlans::new([plan]), region });
            }
        }
        Ok(Self { files, samples, output, left_out })
    }
}

/// The header of a file that both decoders take as a whole.
fn taken_by_both(bytes: &[u8], turbo: &mut Turbo) -> Result<Header> {
    let header = parse_header(bytes)?;
    ensure!(header.format == Format::Jpeg, "it is no JPEG");
    let (whole, mut image) = (header.size.rect(), Image::default());
    turbo.decode(bytes, header.size, whole, &mut image).context("libjpeg-turbo")?;
    feedline::image::Decoder::default().decode(bytes, &header, whole, &mut image).context("feedline")?;
    Ok(header)
}
