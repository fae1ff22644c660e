//! One image file by itself through the pipeline: header, draft, decode, render, without a loader.

use anyhow::Context;
use feedline::color::Normalize;
use feedline::device::{self, cpu::Renderer};
use feedline::draft::Draft;
use feedline::draft::op::Op;
use feedline::image::{self, Decoder, Header, Image, Limits};
use feedline::output::{DType, Layout, Output};
use feedline::plan::Plan;
use feedline::regular_file;
use feedline::source::Source;
use std::path::Path;

/// A file's bytes with what its header says.
pub(crate) struct Still {
    pub(crate) bytes: Vec<u8>,
    pub(crate) header: Header,
}

impl Still {
    pub(crate) fn open(path: &Path) -> anyhow::Result<Self> {
        let bytes = regular_file::read(path)
            .with_context(|| format!("{} cannot be read: check the path", path.display()))?;
        Self::new(bytes).with_context(|| path.display().to_string())
    }

    pub(crate) fn new(bytes: Vec<u8>) -> anyhow::Result<Self> {
        let header = image::parse_header(&bytes)?;
        Ok(Self { bytes, header })
    }

    /// The image as it stands upright.
    pub(crate) fn draft(&self) -> Draft {
        Draft::new(0, self.header.size, self.header.orientation)
    }

    /// The plan that `ops` make, and the normalise among them.
    pub(crate) fn plan(&self, ops: &[Op]) -> anyhow::Result<(Plan, Option<Normalize>)> {
        let mut draft = self.draft();
        ops.iter().for_each(|op| draft.apply(op.clone()));
        let normalize = ops.iter().rev().find_map(|op| match op {
            Op::Normalize { mean, std } => Some(Normalize { mean: *mean, std: *std }),
            _ => None,
        });
        Ok((draft.freeze()?, normalize))
    }
}

/// Rendered values; held as words so that every number format is aligned.
pub(crate) struct Pixels {
    words: Vec<u64>,
    pub(crate) output: Output,
}

impl Pixels {
    pub(crate) fn bytes(&self) -> &[u8] {
        &bytemuck::cast_slice(&self.words)[..self.output.sample_bytes()]
    }

    /// Lengths of the three axes.
    pub(crate) fn shape(&self) -> [usize; 3] {
        let [_, a, b, c] = self.output.shape(1);
        [a, b, c]
    }
}

/// Decodes and renders; its memory is used again from file to file.
pub(crate) struct Studio {
    decoder: Decoder,
    renderer: Renderer,
}

impl Studio {
    pub(crate) fn new(limits: Limits) -> Self {
        Self { decoder: Decoder::new(limits), renderer: Renderer::default() }
    }

    /// The pixels of `plan` on one file.
    pub(crate) fn develop(&mut self, still: &Still, plan: &Plan, output: Output) -> anyhow::Result<Pixels> {
        let image = self.decode(still, plan, 0)?;
        self.render(&[image], plan, output)
    }

    /// The pixels of `plan` on all files of `source` that it names.
    pub(crate) fn develop_all(
        &mut self,
        source: &dyn Source,
        plan: &Plan,
        output: Output,
    ) -> anyhow::Result<Pixels> {
        let mut images = Vec::new();
        for (number, read) in plan.images.iter().enumerate() {
            let mut bytes = Vec::new();
            source.read(read.index as usize, &mut bytes)?;
            images.push(self.decode(&Still::new(bytes)?, plan, number)?);
        }
        self.render(&images, plan, output)
    }

    /// What the plan needs of one of its images.
    fn decode(&mut self, still: &Still, plan: &Plan, number: usize) -> anyhow::Result<Image> {
        let mut image = Image::default();
        self.decoder.decode(&still.bytes, &still.header, device::region(plan, number), &mut image)?;
        Ok(image)
    }

    /// The pixels of `plan` on decoded images.
    pub(crate) fn render(&mut self, images: &[Image], plan: &Plan, output: Output) -> anyhow::Result<Pixels> {
        output.check()?;
        let mut words = vec![0u64; output.sample_bytes().div_ceil(size_of::<u64>())];
        let sample = &mut bytemuck::cast_slice_mut(&mut words)[..output.sample_bytes()];
        let rendered = self.renderer.render(plan, images, &output, sample);
        rendered.map_err(anyhow::Error::from_boxed)?;
        Ok(Pixels { words, output })
    }
}

/// The u8 levels as rows of R, G, B.
pub(crate) fn levels(plan: &Plan) -> Output {
    Output { size: plan.size(), dtype: DType::U8, layout: Layout::Nhwc, normalize: None }
}
