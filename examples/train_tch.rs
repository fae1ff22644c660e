//! Trains a small residual network on a folder of classes with tch, on tensors in the loader's own memory.
//!
//! `LIBTORCH=... cargo run --release --features tch --example train_tch -- [FOLDER [EPOCHS [BATCH]]]`
//!
//! Prints the loss of each epoch; then how many images a second the loader makes alone, the network trains on alone, and
//! both together; then that a tensor lies where its batch lay, and stays valid when the loader is gone. Fails if the loss
//! did not fall by a fifth. Runs on the first CUDA device if torch sees one, else on the CPU. docs/rust-trainer.md says
//! where torch comes from.

use anyhow::{Context, ensure};
use feedline::augment::{RandomHorizontalFlip, RandomResizedCrop};
use feedline::color::{IMAGENET_MEAN, IMAGENET_STD};
use feedline::device::Device;
use feedline::dlpack::tch::TchBatch;
use feedline::loader::{LastBatch, Loader};
use feedline::policy::DecoderChoice;
use feedline::source::{Folder, Source};
use std::time::Instant;
use tch::nn::{self, ModuleT, OptimizerConfig};
use tch::{Kind, Tensor};

const USAGE: &str = "usage: train_tch [FOLDER [EPOCHS [BATCH]]]";

fn main() -> anyhow::Result<()> {
    let mut arguments = std::env::args().skip(1);
    let folder = arguments.next().unwrap_or_else(|| "data/photos".into());
    let mut number = |default: u64| arguments.next().map_or(Ok(default), |text| text.parse()).context(USAGE);
    let (epochs, batch_size) = (number(12)?, number(8)? as usize);
    ensure!(epochs > 1 && batch_size > 0, "{USAGE}; at least 2 epochs, batches of at least 1");
    tch::manual_seed(1);
    tch::set_num_threads(1); // so small a network gains nothing from more, and the loader's workers want the other cores
    let source = Folder::open(folder)?;
    let classes = source.classes().len() as i64;
    let (device, torchs) = match tch::Cuda::is_available() {
        true => (Device::cuda(0)?, tch::Device::Cuda(0)),
        false => (Device::cpu(), tch::Device::Cpu),
    };
    println!("{classes} classes, {} images, on {torchs:?}", source.len());
    let loader = Loader::builder(source)
        .batch_size(batch_size)
        .last_batch(LastBatch::Partial)
        .shuffle(true)
        .seed(1)
        .augment(RandomResizedCrop::new(64))
        .augment(RandomHorizontalFlip::default())
        .normalize(IMAGENET_MEAN, IMAGENET_STD)
        .device(device)
        .decoder(DecoderChoice::Feedline) // the same pixels on both
        .build()?;
    let variables = nn::VarStore::new(torchs);
    let mut trainer = Trainer {
        network: network(&variables.root(), classes),
        optimizer: nn::AdamW::default().build(&variables, 2e-3)?,
    };

    let mut losses = Vec::new();
    let began = Instant::now();
    for epoch in 0..epochs {
        losses.push(train(&loader, epoch, &mut trainer)?);
        println!("epoch {epoch}: loss {:.3}", losses[losses.len() - 1]);
    }
    let both = began.elapsed().as_secs_f64();
    compare(&loader, epochs, &mut trainer, both)?;
    show_whose_memory_it_is(loader)?;
    let (first, last) = (losses[0], losses[losses.len() - 1]);
    println!("the loss fell from {first:.3} to {last:.3}");
    ensure!(last < first * 0.8, "the loss did not fall by a fifth: train for more epochs");
    Ok(())
}

struct Trainer {
    network: nn::SequentialT,
    optimizer: nn::Optimizer,
}

impl Trainer {
    /// The loss of a batch, which is one number on the device, after a step on it.
    fn step(&mut self, batch: &TchBatch) -> Tensor {
        let labels = batch.labels.to_device(batch.images.device());
        let loss = self.network.forward_t(&batch.images, true).cross_entropy_for_logits(&labels);
        self.optimizer.backward_step(&loss);
        loss
    }
}

/// The mean loss of an epoch.
fn train(loader: &Loader, epoch: u64, trainer: &mut Trainer) -> anyhow::Result<f64> {
    let (mut sum, mut rows) = (0.0, 0.0);
    for batch in loader.epoch(epoch) {
        let batch = batch?.into_tch()?;
        let weight = batch.labels.size()[0] as f64;
        sum += trainer.step(&batch).double_value(&[]) * weight;
        rows += weight;
    }
    Ok(sum / rows)
}

/// Prints what the loader and the network do alone in as many epochs as took `both` seconds together.
fn compare(loader: &Loader, epochs: u64, trainer: &mut Trainer, both: f64) -> anyhow::Result<()> {
    let images = (loader.samples() as u64 * epochs) as f64;
    let began = Instant::now();
    for epoch in 0..epochs {
        for batch in loader.epoch(epoch) {
            batch?.wait()?;
        }
    }
    let alone = began.elapsed().as_secs_f64();
    let batch = loader.epoch(0).next().context("the folder has no image")??.into_tch()?;
    let steps = loader.batches() as u64 * epochs;
    let began = Instant::now();
    for _ in 0..steps {
        trainer.step(&batch).double_value(&[]);
    }
    let trained = (steps * batch.labels.size()[0] as u64) as f64 / began.elapsed().as_secs_f64();
    println!(
        "images/s: loader alone {:.0}, network alone {trained:.0}, both {:.0}",
        images / alone,
        images / both
    );
    Ok(())
}

fn show_whose_memory_it_is(loader: Loader) -> anyhow::Result<()> {
    let batch = loader.epoch(0).next().context("the folder has no image")??;
    let slot = match batch.on_device() {
        Some(images) => images.ptr() as usize,
        None => batch.images().as_ptr() as usize,
    };
    let pixels = batch.to_host()?;
    let images = batch.into_tch()?.images;
    let tensor = images.data_ptr() as usize;
    println!("the batch's pixels lie at {slot:#x}, the tensor's at {tensor:#x}");
    ensure!(slot == tensor, "the pixels were copied");
    drop(loader);
    let kept = Vec::<f32>::try_from(images.flatten(0, -1))?;
    ensure!(bytemuck::cast_slice::<f32, u8>(&kept) == pixels, "the pixels changed with the loader gone");
    println!("and they are the same with the loader gone");
    Ok(())
}

/// A residual network of eight layers, for images of 64 x 64.
fn network(path: &nn::Path, classes: i64) -> nn::SequentialT {
    nn::seq_t()
        .add(layer(&(path / "stem"), (3, 16), 3, 2))
        .add_fn(Tensor::relu)
        .add(Block::new(&(path / "first"), 16, 16, 1))
        .add(Block::new(&(path / "second"), 16, 32, 2))
        .add(Block::new(&(path / "third"), 32, 64, 2))
        .add_fn(|x| x.mean_dim([2i64, 3].as_slice(), false, Kind::Float))
        .add(nn::linear(path / "last", 64, classes, Default::default()))
}

/// A convolution of `side` x `side` and batch normalisation.
fn layer(path: &nn::Path, (from, to): (i64, i64), side: i64, stride: i64) -> nn::SequentialT {
    let config = nn::ConvConfig { stride, padding: side / 2, bias: false, ..Default::default() };
    nn::seq_t().add(nn::conv2d(path / "convolution", from, to, side, config)).add(nn::batch_norm2d(
        path / "norm",
        to,
        Default::default(),
    ))
}

/// Two layers, and what goes past them.
#[derive(Debug)]
struct Block {
    first: nn::SequentialT,
    second: nn::SequentialT,
    past: nn::SequentialT,
}

impl Block {
    fn new(path: &nn::Path, from: i64, to: i64, stride: i64) -> Self {
        let same = from == to && stride == 1;
        Self {
            first: layer(&(path / "first"), (from, to), 3, stride),
            second: layer(&(path / "second"), (to, to), 3, 1),
            past: if same { nn::seq_t() } else { layer(&(path / "past"), (from, to), 1, stride) },
        }
    }
}

impl ModuleT for Block {
    fn forward_t(&self, x: &Tensor, train: bool) -> Tensor {
        let inner = self.second.forward_t(&self.first.forward_t(x, train).relu(), train);
        (inner + self.past.forward_t(x, train)).relu()
    }
}
