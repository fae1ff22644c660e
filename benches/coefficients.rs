//! What files of coefficients cost beside their JPEGs: decoding whole images, and training crops from storage of a given speed.
//!
//! `cargo bench --bench coefficients -- decode FOLDER ROUNDS` decodes all JPEGs of a folder, the files of coefficients made of them,
//! and copies their pixels. `storage` in its place runs the recipe `imagenet-train` over them, where reading takes as long as at
//! 100, 300 and 1,000 MB/s, and as long as memory does. Contenders take turns in one process, each after a run that is not
//! measured, and CPU time is that of the process. Prints one line of JSON, of which `benches/peers/coefficients.py` makes tables.

use feedline::coefficients::{Converter, Profile};
use feedline::error::Result;
use feedline::geometry::Size;
use feedline::image::{Decoder, Format, Image, Limits, parse_header};
use feedline::label::Label;
use feedline::loader::Loader;
use feedline::machine;
use feedline::recipe::Recipe;
use feedline::simd;
use feedline::source::{Folder, Source, Storage, Throttled};
use serde_json::{Map, Value, json};
use std::borrow::Cow;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// What a contender's turn takes at least, where it is the JPEGs'.
const TURN: Duration = Duration::from_millis(500);
/// What storage gives, in MB/s, beside storage that gives whatever is asked for.
const RATES: [f64; 3] = [100.0, 300.0, 1000.0];
/// Images of a turn of a loader.
const IMAGES: usize = 2048;
/// Bytes of a tar file's header, and what the content of a member is filled up to.
const TAR: usize = 512;
/// The edge that FFCV's documentation shrinks ImageNet's images to.
const FFCV_EDGE: u32 = 500;

fn main() {
    // cargo's own argument is `--bench`.
    let mut arguments = std::env::args().skip(1).filter(|argument| argument != "--bench");
    let work = arguments.next().unwrap_or_else(|| "decode".into());
    let folder =
        arguments.next().unwrap_or_else(|| concat!(env!("CARGO_MANIFEST_DIR"), "/data/photos").into());
    let rounds = arguments.next().map_or(3, |rounds| rounds.parse().expect("a number of rounds"));
    let set = Set::read(&folder);
    let measured = match work.as_str() {
        "decode" => decode(&set, rounds),
        "storage" => storage(&set, rounds),
        _ => panic!("{work}: say decode or storage"),
    };
    println!("{measured}");
}

/// The same images as JPEGs and as files of coefficients.
struct Set {
    jpeg: Arc<[Vec<u8>]>,
    small: Arc<[Vec<u8>]>,
    fast: Arc<[Vec<u8>]>,
    sizes: Vec<Size>,
    /// JPEGs that are not converted, and so left out.
    refused: usize,
}

impl Set {
    fn read(folder: &str) -> Self {
        let source = Folder::flat(folder).expect("a folder of images");
        let mut converters =
            [Profile::Small, Profile::Fast].map(|profile| Converter::new(&Limits::default(), profile));
        let mut files = [Vec::new(), Vec::new(), Vec::new()];
        let (mut sizes, mut refused) = (Vec::new(), 0);
        for index in 0..source.len() {
            let mut jpeg = Vec::new();
            source.read(index, &mut jpeg).expect("a readable file");
            let converted = converters.each_mut().map(|converter| {
                let mut file = Vec::new();
                converter.convert(&jpeg, &mut file).map(|()| file)
            });
            let [Ok(small), Ok(fast)] = converted else {
                refused += 1;
                continue;
            };
            let header = parse_header(&jpeg).expect("an image");
            assert_eq!(header.format, Format::Jpeg);
            sizes.push(header.size);
            files.iter_mut().zip([jpeg, small, fast]).for_each(|(files, file)| files.push(file));
        }
        assert!(!sizes.is_empty(), "{folder}: no JPEG that is converted");
        let [jpeg, small, fast] = files.map(Arc::from);
        Self { jpeg, small, fast, sizes, refused }
    }

    fn contenders(&self) -> [(&'static str, &Arc<[Vec<u8>]>); 3] {
        [("jpeg", &self.jpeg), ("small", &self.small), ("fast", &self.fast)]
    }

    /// What the tables need to know of the files. Bytes are those of an image; the last two are computed, not written: a tar file
    /// as WebDataset has it, with a member for the image and one for its class, and FFCV's pixels.
    fn facts(&self) -> Map<String, Value> {
        let mean = |bytes: usize| bytes as f64 / self.sizes.len() as f64;
        let mut bytes: Map<String, Value> = self
            .contenders()
            .into_iter()
            .map(|(name, files)| (name.into(), mean(files.iter().map(Vec::len).sum()).into()))
            .collect();
        let raw = |size: Size| size.pixels() as usize * 3;
        bytes.insert("raw".into(), mean(self.sizes.iter().copied().map(raw).sum()).into());
        let tar = |jpeg: &Vec<u8>| TAR + jpeg.len().next_multiple_of(TAR) + 2 * TAR;
        bytes.insert("tar".into(), mean(self.jpeg.iter().map(tar).sum()).into());
        let ffcv = |&size: &Size| raw(shrunk(size, FFCV_EDGE));
        bytes.insert("ffcv_raw".into(), mean(self.sizes.iter().map(ffcv).sum()).into());
        let level = format!("{:?}", simd::level()).to_lowercase();
        let facts =
            json!({"files": self.sizes.len(), "refused": self.refused, "level": level, "bytes": bytes});
        let Value::Object(facts) = facts else { unreachable!("an object was made") };
        facts
    }
}

/// The size that FFCV shrinks an image to.
fn shrunk(size: Size, edge: u32) -> Size {
    let ratio = f64::from(edge) / f64::from(size.width.max(size.height));
    let of = |length: u32| if ratio < 1.0 { (ratio * f64::from(length)) as u32 } else { length };
    Size::new(of(size.width), of(size.height))
}

/// Wall and CPU seconds.
struct Clocks {
    started: Instant,
    cpu_s: f64,
}

impl Clocks {
    fn start() -> Self {
        Self { started: Instant::now(), cpu_s: cpu_seconds() }
    }

    /// For each of so many images.
    fn each(&self, images: usize) -> Value {
        let (seconds, cpu_s) = (self.started.elapsed().as_secs_f64(), cpu_seconds() - self.cpu_s);
        json!({"ms": 1e3 * seconds / images as f64, "cpu_ms": 1e3 * cpu_s / images as f64})
    }
}

fn cpu_seconds() -> f64 {
    machine::cpu_seconds().expect("a system that tells it")
}

/// Decodes whole images, on one thread, from memory to memory.
fn decode(set: &Set, rounds: usize) -> Value {
    let (mut decoder, mut image) = (Decoder::new(Limits::default()), Image::default());
    let mut pass = |files: &[Vec<u8>]| {
        for bytes in files {
            let header = parse_header(bytes).expect("an image");
            decoder.decode(bytes, &header, header.size.rect(), &mut image).expect("pixels");
            divan::black_box(&image);
        }
    };
    for (_, files) in set.contenders() {
        pass(files);
    }
    let began = Instant::now();
    pass(&set.jpeg);
    let passes = TURN.as_secs_f64() / began.elapsed().as_secs_f64();
    let passes = (passes.ceil() as usize).max(1);
    let images = passes * set.sizes.len();
    let measured = (0..rounds).map(|_| {
        let mut round = Map::new();
        for (name, files) in set.contenders() {
            let clocks = Clocks::start();
            (0..passes).for_each(|_| pass(files));
            round.insert(name.into(), clocks.each(images));
        }
        round.insert("raw".into(), copy(&set.sizes, passes));
        round
    });
    let measured: Vec<_> = measured.collect();
    let mut facts = set.facts();
    facts.insert("passes".into(), passes.into());
    facts.insert("rounds".into(), json!(measured));
    Value::Object(facts)
}

/// Copies as many bytes as the images have, from memory that holds all of them to one image's.
fn copy(sizes: &[Size], passes: usize) -> Value {
    let bytes = |size: &Size| size.pixels() as usize * 3;
    let all: Vec<Vec<u8>> = sizes.iter().map(|size| vec![1; bytes(size)]).collect();
    let mut image = vec![0; sizes.iter().map(bytes).max().unwrap_or(0)];
    let clocks = Clocks::start();
    for _ in 0..passes {
        for pixels in &all {
            image[..pixels.len()].copy_from_slice(pixels);
            divan::black_box(&image);
        }
    }
    clocks.each(passes * sizes.len())
}

/// Training crops of files that storage hands out at different rates.
fn storage(set: &Set, rounds: usize) -> Value {
    let rates = RATES.into_iter().chain([f64::INFINITY]);
    let pairs = rates.flat_map(|rate| set.contenders().map(|(name, files)| (rate, name, files)));
    let mut loaders: Vec<_> =
        pairs.map(|(rate, name, files)| (rate, name, loader(throttled(files, rate)), Vec::new())).collect();
    // Epoch 0 is the warm-up: indexes are learned, and workers started.
    for epoch in 0..=rounds {
        for (_, _, loader, measured) in &mut loaders {
            let turn = epoch_of(loader, epoch as u64);
            if epoch > 0 {
                measured.push(turn);
            }
        }
    }
    let mut facts = set.facts();
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    facts.insert("cores".into(), cores.into());
    let measured = loaders.into_iter().map(|(rate, name, _, rounds)| {
        let rate = if rate.is_finite() { json!(rate) } else { Value::Null };
        json!({"mb_per_s": rate, "files": name, "rounds": rounds})
    });
    facts.insert("runs".into(), measured.collect());
    Value::Object(facts)
}

/// Two workers a core, so that one decodes while the other waits for storage.
fn loader(source: Box<dyn Source>) -> Loader {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let recipe = Recipe::built_in("imagenet-train").expect("a recipe");
    let builder = Loader::builder_boxed(source).recipe(&recipe).batch_size(64).seed(1);
    builder.workers(2 * cores).build().expect("a loader")
}

/// An epoch behind its first batch.
fn epoch_of(loader: &Loader, number: u64) -> Value {
    let mut batches = loader.epoch(number);
    batches.next().expect("a batch").expect("sound files");
    let clocks = Clocks::start();
    let images = batches.map(|batch| batch.expect("sound files").len()).sum();
    clocks.each(images)
}

/// Files in memory, repeated until there are enough.
struct InMemory(Arc<[Vec<u8>]>);

/// The same as if they lay on storage with one way to it, whose latency is hidden, at so many MB/s.
fn throttled(files: &Arc<[Vec<u8>]>, mb_per_s: f64) -> Box<dyn Source> {
    let files = InMemory(Arc::clone(files));
    if mb_per_s.is_infinite() {
        return Box::new(files);
    }
    let rate = mb_per_s * 1e6;
    let storage = Storage { latency: Duration::ZERO, bytes_per_read_s: rate, bytes_per_s: rate, parallel: 1 };
    Box::new(Throttled::new(files, storage))
}

impl Source for InMemory {
    fn len(&self) -> usize {
        IMAGES
    }

    fn read(&self, index: usize, bytes: &mut Vec<u8>) -> Result<()> {
        bytes.clear();
        bytes.extend_from_slice(&self.0[self.record(index)]);
        Ok(())
    }

    fn key(&self, index: usize) -> Cow<'_, str> {
        Cow::Owned(self.record(index).to_string())
    }

    fn label(&self, _index: usize) -> Label {
        Label::Unlabelled
    }

    fn record(&self, index: usize) -> usize {
        index % self.0.len()
    }
}
