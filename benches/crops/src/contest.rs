//! What is compared: each contestant's way from a file's bytes to a sample or to pixels.

use anyhow::{Result, anyhow};
use feedline::device::cpu::{Input, Renderer, Worker};
use feedline::geometry::Rect;
use feedline::image::{Decoder, Image, Index, Limits, parse_header};
use feedline::index::{DEFAULT_BUDGET, IndexStore};

use crate::set::{File, Sample, Set};
use crate::turbo::Turbo;

/// Samples of a batch: they are written one after the other, as a loader does, and not to one place in the cache.
const BATCH: usize = 32;

/// Who decodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum By {
    /// feedline, from each file's top.
    Feedline,
    /// feedline with a decode index.
    Indexed,
    /// libjpeg-turbo: `jpeg_crop_scanline`, `jpeg_skip_scanlines`, the region's rows, and no more.
    Turbo,
    /// libjpeg-turbo, the whole image.
    TurboWhole,
}

/// What is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Task {
    /// The part that the sample reads is decoded, and the sample is rendered.
    Train,
    /// The part that the sample reads is decoded.
    Crop,
    /// The whole image is decoded.
    Whole,
}

/// Everyone's tools, kept from sample to sample.
pub struct Tools<'a> {
    set: &'a Set,
    worker: Worker,
    decoder: Decoder,
    renderer: Renderer,
    turbo: Turbo,
    image: Image,
    indexes: IndexStore,
    index: Vec<Index>,
    batch: Vec<f32>,
    row: usize,
}

impl<'a> Tools<'a> {
    /// Builds the decode indexes of all files, as an epoch or `feedline index` would.
    ///
    /// # Errors
    /// A file that cannot be decoded.
    pub fn new(set: &'a Set, turbo: Turbo) -> Result<Self> {
        let mut tools = Self {
            set,
            worker: Worker::new(&Limits::default()),
            decoder: Decoder::default(),
            renderer: Renderer::default(),
            turbo,
            image: Image::default(),
            indexes: IndexStore::new(DEFAULT_BUDGET),
            index: vec![Index::default()],
            batch: vec![0.0; set.output.sample_bytes().div_ceil(4) * BATCH],
            row: 0,
        };
        for (number, file) in set.files.iter().enumerate() {
            tools.decode_ours(number, file.header.size.rect(), true)?;
        }
        Ok(tools)
    }

    /// Bytes of all decode indexes.
    pub fn index_bytes(&self) -> usize {
        self.indexes.stats().bytes
    }

    /// Does it once.
    ///
    /// # Errors
    /// Those of the decoders and the renderer.
    pub fn run(&mut self, by: By, task: Task, sample: &Sample) -> Result<()> {
        let whole = self.set.files[sample.file].header.size.rect();
        match (by, task) {
            (By::Feedline | By::Indexed, Task::Train) => self.train_ours(sample, by == By::Indexed),
            (By::Feedline | By::Indexed, Task::Crop) => {
                self.decode_ours(sample.file, sample.region, by == By::Indexed)
            }
            (By::Feedline | By::Indexed, Task::Whole) => {
                self.decode_ours(sample.file, whole, by == By::Indexed)
            }
            (By::Turbo, Task::Train) => self.train_theirs(sample, sample.region),
            (By::TurboWhole, Task::Train) => self.train_theirs(sample, whole),
            (By::Turbo, Task::Crop) => self.decode_theirs(sample.file, sample.region),
            (By::Turbo | By::TurboWhole, _) => self.decode_theirs(sample.file, whole),
        }
    }

    /// The sample that was rendered last.
    pub fn rendered(&self) -> &[f32] {
        let length = self.set.output.sample_bytes() / 4;
        &self.batch[self.row * length..][..length]
    }

    /// As the loader's workers do it: index out of the store, decode, index back, render.
    fn train_ours(&mut self, sample: &Sample, indexed: bool) -> Result<()> {
        let File { bytes, .. } = &self.set.files[sample.file];
        let header = parse_header(bytes)?;
        let (input, number) = ([Input { bytes, header: &header }], sample.file as u64);
        let index: &mut [Index] = if indexed { &mut self.index } else { &mut [] };
        index.iter_mut().for_each(|index| self.indexes.fetch(number, index));
        self.worker.decode_views(&sample.plans, &input, index).map_err(|(_, cause)| anyhow!(cause))?;
        index.iter().for_each(|index| self.indexes.keep(number, index));
        self.row = (self.row + 1) % BATCH;
        let row = row(&mut self.batch, self.row);
        self.worker.render(sample.plan(), &self.set.output, row).map_err(|cause| anyhow!(cause))
    }

    fn decode_ours(&mut self, file: usize, region: Rect, indexed: bool) -> Result<()> {
        let (File { bytes, .. }, number) = (&self.set.files[file], file as u64);
        let header = parse_header(bytes)?;
        if !indexed {
            return Ok(self.decoder.decode(bytes, &header, region, &mut self.image)?);
        }
        let index = &mut self.index[0];
        self.indexes.fetch(number, index);
        self.decoder.decode_part(bytes, &header, region.into(), Some(index), &mut self.image)?;
        self.indexes.keep(number, index);
        Ok(())
    }

    /// Renders from what libjpeg-turbo decodes of `region`.
    ///
    /// # Errors
    /// Those of libjpeg-turbo and of the renderer.
    pub fn train_theirs(&mut self, sample: &Sample, region: Rect) -> Result<()> {
        self.decode_theirs(sample.file, region)?;
        self.row = (self.row + 1) % BATCH;
        let row = row(&mut self.batch, self.row);
        let rendered =
            self.renderer.render(sample.plan(), std::slice::from_ref(&self.image), &self.set.output, row);
        rendered.map_err(|cause| anyhow!(cause))
    }

    fn decode_theirs(&mut self, file: usize, region: Rect) -> Result<()> {
        let File { bytes, header } = &self.set.files[file];
        self.turbo.decode(bytes, header.size, region, &mut self.image)
    }
}

/// Row `number` of a batch.
fn row(batch: &mut [f32], number: usize) -> &mut [u8] {
    let length = batch.len() / BATCH;
    bytemuck::cast_slice_mut(&mut batch[number * length..][..length])
}
