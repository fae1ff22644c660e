//! The options of a loader, as the package's Python half hands them over: one JSON object, so that a wrong type and an
//! unknown name are found by serde.

use feedline::device::Device;
use feedline::draft::op::Extent;
use feedline::error::{Error, Result};
use feedline::label::{BoxFormat, Unit};
use feedline::loader::{BadSample, LastBatch, LoaderBuilder, Shuffle};
use feedline::options::{DataOptions, NormalizeOptions, OutputOptions, Preset};
use feedline::output::{DType, Layout, MultiScale, RectBatches};
use feedline::policy::DecodeScale;
use feedline::recipe::{self, Recipe};
use serde::Deserialize;
use serde_json::Value;

/// What is `None` is the recipe's, or else the loader's default.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Options {
    pub(crate) data: DataOptions,
    /// A name, a path, or the text itself.
    recipe: Option<String>,
    transforms: Option<Vec<Value>>,
    batch_size: Option<usize>,
    shuffle: Option<ShuffleWord>,
    seed: Option<u64>,
    num_workers: Option<usize>,
    prefetch: Option<usize>,
    last_batch: Option<LastBatch>,
    bad_sample: Option<BadSample>,
    max_failures: Option<u64>,
    rank: Option<usize>,
    world_size: Option<usize>,
    distributed: Option<Distributed>,
    device: Option<String>,
    dtype: Option<DType>,
    layout: Option<Layout>,
    normalize: Option<NormalizeWord>,
    /// Height, width.
    size: Option<[u32; 2]>,
    box_format: Option<BoxFormat>,
    box_unit: Option<Unit>,
    masks: Option<u8>,
    rect: bool,
    multi_scale: Option<f64>,
    close_mosaic: Option<u64>,
    partner_window: Option<u64>,
    image_cache: Option<usize>,
    decode_scale: Option<DecodeScale>,
    pub(crate) num_classes: Option<usize>,
    pub(crate) label_smoothing: f32,
}

/// Whether each epoch has an order of its own, or the length of the runs that are shuffled.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(untagged, expecting = "True, False, or the number of samples of a run")]
enum ShuffleWord {
    Whether(bool),
    Window(u64),
}

/// Constants by name, or mean and standard deviation a channel.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(untagged, expecting = "\"imagenet\", or (mean, std) of three numbers each")]
enum NormalizeWord {
    Name(Preset),
    Numbers([f64; 3], [f64; 3]),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Distributed {
    /// From the environment.
    Env,
}

impl Options {
    /// # Errors
    /// [`Error::Config`] naming the option.
    pub(crate) fn read(json: &str) -> Result<Self> {
        let read = |text: &str| serde_json::from_str::<Self>(text);
        read(json).map_err(|error| {
            // serde does not say where it was: ask for each option alone.
            let all: serde_json::Map<String, Value> = serde_json::from_str(json).unwrap_or_default();
            let alone = |(name, value): (String, Value)| {
                let error = read(&serde_json::json!({ &name: value }).to_string()).err()?;
                Some((name, error))
            };
            let (name, error) =
                all.into_iter().find_map(alone).unwrap_or_else(|| ("an option".into(), error));
            let message = error.to_string();
            Error::config(format!("{name}: {}", message.split(" at line ").next().unwrap_or_default()))
        })
    }

    /// Sets everything on `builder`; `objects` says whether samples are labelled with objects.
    pub(crate) fn apply(&self, mut builder: LoaderBuilder, objects: bool) -> Result<LoaderBuilder> {
        let recipe = self.recipe.as_deref().map(read_recipe).transpose()?;
        let of_recipe = recipe.as_ref().and_then(|recipe| recipe.options.loader.last_batch);
        // As torch's DataLoader has it, which keeps the rest.
        let last_batch = self.last_batch.or(of_recipe).unwrap_or(LastBatch::Partial);
        builder = self.chain(builder, recipe.as_ref())?;
        builder = builder.last_batch(last_batch);
        builder = given(builder, self.batch_size, LoaderBuilder::batch_size);
        builder = given(builder, self.seed, LoaderBuilder::seed);
        builder = given(builder, self.num_workers, LoaderBuilder::workers);
        builder = given(builder, self.prefetch, LoaderBuilder::prefetch);
        builder = given(builder, self.bad_sample, LoaderBuilder::bad_sample);
        builder = given(builder, self.max_failures, LoaderBuilder::max_failures);
        builder = given(builder, self.close_mosaic, LoaderBuilder::close_mosaic);
        builder = given(builder, self.partner_window, LoaderBuilder::partner_window);
        builder = given(builder, self.image_cache, LoaderBuilder::image_cache);
        builder = given(builder, self.decode_scale, LoaderBuilder::decode_scale);
        builder = given(builder, self.masks, LoaderBuilder::masks);
        builder = given(builder, self.multi_scale, |builder, by| builder.multi_scale(MultiScale::around(by)));
        builder = given(builder, self.rect.then(RectBatches::default), LoaderBuilder::rect);
        builder = given(builder, self.shuffle, |builder, shuffle| match shuffle {
            ShuffleWord::Whether(shuffle) => builder.shuffle(shuffle),
            ShuffleWord::Window(samples) => builder.shuffle(Shuffle::Window(samples)),
        });
        builder = self.boxes(builder, recipe.as_ref(), objects);
        builder = self.ranks(builder)?;
        Ok(builder.device(self.open_device()?))
    }

    /// What is done to samples and what they become.
    fn chain(&self, mut builder: LoaderBuilder, recipe: Option<&Recipe>) -> Result<LoaderBuilder> {
        if recipe.is_some() && self.transforms.is_some() {
            return Err(Error::config(
                "recipe and transforms both say what is done to a sample: give one of them",
            ));
        }
        if let Some(recipe) = recipe {
            builder = builder.recipe(recipe);
        }
        for transform in self.transforms.iter().flatten() {
            builder = builder.augment_boxed(Box::new(recipe::augmentation(&transform.to_string())?));
        }
        let normalize = match self.normalize {
            None => NormalizeOptions::default(),
            Some(NormalizeWord::Name(preset)) => {
                NormalizeOptions { preset: Some(preset), mean: None, std: None }
            }
            Some(NormalizeWord::Numbers(mean, std)) => {
                NormalizeOptions { preset: None, mean: Some(mean), std: Some(std) }
            }
        };
        let size = self.size.map(Extent::Two);
        let output = OutputOptions { dtype: self.dtype, layout: self.layout, size, decode_only: None };
        Ok(builder.options(&feedline::options::Options { output, normalize, ..Default::default() }))
    }

    /// Boxes of data that have them are what YOLO trainers take, if nobody asked for anything else.
    fn boxes(&self, builder: LoaderBuilder, recipe: Option<&Recipe>, objects: bool) -> LoaderBuilder {
        let said = recipe.map(|recipe| &recipe.options.labels);
        let format = self.box_format.or(said.and_then(|labels| labels.format));
        let unit = self.box_unit.or(said.and_then(|labels| labels.unit));
        match objects || format.is_some() || unit.is_some() {
            true => builder.boxes(format.unwrap_or(BoxFormat::Cxcywh), unit.unwrap_or(Unit::Normalized)),
            false => builder,
        }
    }

    fn ranks(&self, builder: LoaderBuilder) -> Result<LoaderBuilder> {
        match (self.distributed, self.rank, self.world_size) {
            (None, None, None) => Ok(builder),
            (None, Some(rank), Some(world_size)) => Ok(builder.rank(rank, world_size)),
            (Some(Distributed::Env), None, None) => builder.distributed_from_env(),
            (Some(Distributed::Env), ..) => Err(Error::config(
                "distributed=\"env\" takes rank and world_size from the environment: leave them out",
            )),
            (None, ..) => Err(Error::config("rank and world_size belong together: give both, or none")),
        }
    }

    fn open_device(&self) -> Result<Device> {
        let word = self.device.as_deref().unwrap_or("cpu");
        let (name, number) = match word.split_once(':') {
            Some((name, number)) => (name, number.parse().ok()),
            None => (word, Some(0)),
        };
        match (name, number) {
            ("cpu", Some(_)) => Ok(Device::cpu()),
            // What is missing for the GPU is told by device="cuda".
            ("auto", Some(ordinal)) => Ok(Device::cuda(ordinal).unwrap_or(Device::Cpu)),
            ("cuda", Some(ordinal)) => Device::cuda(ordinal),
            _ => Err(Error::config(format!(
                "device is \"{word}\": use \"cpu\", \"cuda:N\", or \"auto\" (a GPU if one works, else the CPU)"
            ))),
        }
    }
}

fn read_recipe(word: &str) -> Result<Recipe> {
    if word.contains('\n') { Recipe::parse(word) } else { Recipe::load(word) }
}

fn given<T>(
    builder: LoaderBuilder,
    value: Option<T>,
    set: impl FnOnce(LoaderBuilder, T) -> LoaderBuilder,
) -> LoaderBuilder {
    match value {
        Some(value) => set(builder, value),
        None => builder,
    }
}
