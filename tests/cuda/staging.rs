//! What the workers decode for a device: by decode indexes, in memory that returns, and in one copy a batch.

use crate::compare::{DEVICE, same_batches, same_on_both};
use crate::counts::Counts;
use crate::pictures;
use crate::pipeline::{memory, small};
use crate::scenario::{Libraries, Outcome, Scenario};
use feedline::augment::Resize;
use feedline::draft::op::Extent;
use feedline::error::{Error, Result};
use feedline::label::Label;
use feedline::loader::{BadSample, LastBatch, Loader, LoaderBuilder};
use feedline::policy::DecoderChoice;
use feedline::source::{Destination, Source};
use std::borrow::Cow;
use std::sync::Arc;

pub(crate) const SCENARIOS: &[Scenario] = &[
    Scenario::new("staging: the pixels of a batch go to the device in one copy", || {
        in_one_copy(|| small(pictures::all()), 2)
    })
    .decides()
    .libraries(Libraries::DriverOnly)
    .of_nvjpeg(),
    Scenario::new("staging: pixels of large batches come to lie in a row", || {
        in_one_copy(|| whole(pictures::large()).batch_size(18), 1)
    })
    .decides()
    .libraries(Libraries::DriverOnly)
    .of_nvjpeg(),
    Scenario::new("staging: the CPU decodes by indexes for a device too", by_indexes)
        .decides()
        .libraries(Libraries::DriverOnly),
    Scenario::new("staging: what nvJPEG decodes has no index", no_indexes).decides().of_nvjpeg(),
    Scenario::new("staging: files are read to where the device reads them", read_in_place).decides(),
    Scenario::new("staging: files are read to where the CPU decodes them for a device", read_in_place)
        .decides()
        .libraries(Libraries::DriverOnly),
    Scenario::new(
        "staging: files that the CPU decodes take turns in the page-locked memory",
        files_take_turns,
    )
    .decides()
    .libraries(Libraries::DriverOnly),
    Scenario::new("staging: a decode that fails gives its memory back", gives_back)
        .decides()
        .libraries(Libraries::DriverOnly),
];

/// Whole images, resized.
fn whole(files: Vec<Vec<u8>>) -> LoaderBuilder {
    Loader::builder(memory(files)).augment(Resize::new(Extent::Two([40, 40]))).workers(2)
}

/// Besides its pixels a batch sends the tables of its kernels. The first epochs may find memory in several pieces.
fn in_one_copy(build: impl Fn() -> LoaderBuilder, batches: u64) -> Outcome {
    let build = || build().prefetch(1).pinned_memory(1 << 30);
    let loader = same_on_both("copies", 3, build);
    let counts = Counts::open()?;
    for number in 3..6 {
        let before = counts.operations("h2d");
        for batch in loader.epoch(number) {
            batch?.wait()?;
        }
        assert_eq!(counts.operations("h2d") - before, 2 * batches, "copies of epoch {number}");
    }
    Ok(())
}

fn by_indexes() -> Outcome {
    let indexes = same_batches("indexes", 4, || small(pictures::all())).map(|loader| loader.stats().index);
    let [cpu, cuda] = &indexes;
    assert!(cpu.images > 4 && cpu.hits > 4, "{cpu:?}");
    assert_eq!(cuda, cpu);
    Ok(())
}

/// The CMYK file is the only one with an index that the CPU decodes.
fn no_indexes() -> Outcome {
    let index = same_on_both("no indexes", 3, || small(pictures::all())).stats().index;
    assert_eq!(index.images, 1, "{index:?}");
    Ok(())
}

/// Files that can only be read to memory that is given for them.
struct InPlace(Arc<dyn Source>);

impl Source for InPlace {
    fn len(&self) -> usize {
        self.0.len()
    }

    fn read(&self, _: usize, _: &mut Vec<u8>) -> Result<()> {
        Err(Error::Config("a device has its own memory for files".into()))
    }

    fn read_into(&self, index: usize, to: &mut dyn Destination) -> Result<()> {
        self.0.read_into(index, to)
    }

    fn key(&self, index: usize) -> Cow<'_, str> {
        self.0.key(index)
    }

    fn label(&self, index: usize) -> Label {
        self.0.label(index)
    }
}

fn read_in_place() -> Outcome {
    let build = |source: Arc<dyn Source>| {
        let builder = Loader::builder(source).augment(Resize::new(Extent::Two([40, 40])));
        builder.batch_size(4).workers(2)
    };
    let cuda = build(Arc::new(InPlace(memory(pictures::all())))).device(DEVICE).build()?;
    let cpu = build(memory(pictures::all())).build()?;
    for (batch, want) in cuda.epoch(0).zip(cpu.epoch(0)) {
        assert!(batch?.to_host()? == want?.images());
    }
    assert!(build(Arc::new(InPlace(memory(pictures::few())))).build()?.epoch(0).next().unwrap().is_err());
    Ok(())
}

/// All files of a batch together are larger than a block of that memory, which a batch has one of for files.
fn files_take_turns() -> Outcome {
    let files: Vec<Vec<u8>> = pictures::large().into_iter().skip(2).step_by(3).cycle().take(40).collect();
    assert!(files.iter().map(Vec::len).sum::<usize>() > 6 << 20);
    let builder = whole(files).batch_size(40).prefetch(1).device(DEVICE);
    let loader = builder.decoder(DecoderChoice::Cpu).build()?;
    let counts = Counts::open()?;
    let before = counts.pinned_bytes();
    let batch = loader.epoch(0).next().ok_or("no batch")??;
    batch.wait()?;
    // Blocks of 4, 4, 8, 16, 32 and 64 MiB hold 40 images.
    let pixels: u64 = (40 * 900 * 704 * 3_u64).next_power_of_two();
    assert_eq!(counts.pinned_bytes() - before, pixels + (4 << 20));
    Ok(())
}

/// The bad files together would fill the page-locked memory several times, and the last file is a good one of their size.
fn gives_back() -> Outcome {
    let good = pictures::large().swap_remove(2);
    let bad = pictures::spoiled(good.clone());
    let files: Vec<Vec<u8>> = std::iter::repeat_n(bad, 80).chain([good]).collect();
    let build = || {
        let builder = whole(files.clone()).batch_size(81).prefetch(1).pinned_memory(64 << 20);
        builder.bad_sample(BadSample::Skip).last_batch(LastBatch::Partial)
    };
    let loader = build().device(DEVICE).build()?;
    let batch = loader.epoch(0).next().ok_or("no batch")??;
    batch.wait()?;
    assert_eq!((batch.indices(), Counts::open()?.pageable_copies()), (&[80][..], 0));
    Ok(())
}
