//! Decoders that report success and have written nothing, too late, or something else: noticed, reported and left.

use crate::compare::{choose, on_device, report};
use crate::pipeline::{memory, small};
use crate::scenario::{Outcome, Scenario};
use feedline::augment::RandomResizedCrop;
use feedline::loader::{LastBatch, Loader, LoaderBuilder};
use feedline::policy::DecoderChoice;
use feedline_test_support::jpeg::{Jpeg, SamplingFactor};

pub(crate) const SCENARIOS: &[Scenario] = &[
    Scenario::new("verification: every image that is not written is found", unwritten)
        .decides()
        .nvjpeg("skip=7"),
    Scenario::new("verification: every image that is written late is found", unwritten)
        .decides()
        .nvjpeg("late=7"),
    Scenario::new("verification: so it is on the GPU's processors", unwritten_by_processors)
        .decides()
        .nvjpeg("engines=0,skip=31"),
    Scenario::new("verification: a decoder that makes one image in ten black is left", wrong)
        .decides()
        .nvjpeg("zero=10"),
    Scenario::new("verification: a decoder that shows another image in ten is left", wrong)
        .decides()
        .nvjpeg("copy=10"),
    Scenario::new("verification: a decoder that makes noise of one image in ten is left", wrong)
        .decides()
        .nvjpeg("noise=10"),
    Scenario::new("verification: every image of thousands in a batch is looked at", unwritten_of_thousands)
        .decides()
        .nvjpeg("skip=1000"),
    Scenario::new("verification: one image that is not written costs no decoder its place", one_unwritten)
        .decides()
        .nvjpeg("skip=60"),
    Scenario::new("verification: it can be turned off", turned_off).decides().nvjpeg("skip=7"),
];

/// Within so many images a decoder that spoils one in ten is left: 512 that are assigned, and what is under way by then.
const LEFT_WITHIN: u64 = 600;

fn photos(count: usize) -> Vec<Vec<u8>> {
    let photo = |number: usize| {
        let sampling = [SamplingFactor::F_2_2, SamplingFactor::F_1_1][number % 2];
        Jpeg::new(sampling).picture(40 + number as u16 % 7, 36, number as u32)
    };
    (0..count).map(photo).collect()
}

fn loader(count: usize, batch_size: usize) -> LoaderBuilder {
    small(photos(count)).shuffle(false).batch_size(batch_size).last_batch(LastBatch::Partial).prefetch(1)
}

/// Runs some epochs, whatever their pixels.
fn run(loader: &Loader, epochs: u64) -> Outcome {
    for number in 0..epochs {
        for batch in loader.epoch(number) {
            batch?.wait()?;
        }
    }
    Ok(())
}

fn unwritten() -> Outcome {
    choose(DecoderChoice::NvjpegHardware);
    let loader = on_device(loader(24, 8)).build()?;
    run(&loader, 4)?;
    let report = report(&loader, "nvjpeg-hardware");
    assert_eq!(report.unwritten, report.images / 7, "of {} images", report.images);
    assert!(report.left.as_ref().is_some_and(|why| why.contains("unwritten")), "{report:?}");
    // Three are too many, and what was under way by then is all that came after them.
    assert!(report.images < 80, "{report:?}");
    assert!(loader.stats().decoded_by.unwrap().cpu > 0, "the workers decode from then on");
    Ok(())
}

fn unwritten_by_processors() -> Outcome {
    choose(DecoderChoice::NvjpegGpu);
    let loader = on_device(loader(120, 60)).build()?;
    run(&loader, 2)?;
    let report = report(&loader, "nvjpeg-gpu");
    assert_eq!(report.unwritten, report.images / 31, "of {} images", report.images);
    assert!(report.left.is_some(), "{report:?}");
    Ok(())
}

fn unwritten_of_thousands() -> Outcome {
    choose(DecoderChoice::NvjpegHardware);
    const IMAGES: usize = 4400;
    let tiny = memory(vec![Jpeg::new(SamplingFactor::F_2_2).picture(16, 16, 1); IMAGES]);
    let builder = Loader::builder(tiny).batch_size(IMAGES).workers(2).augment(RandomResizedCrop::new(8));
    let loader = on_device(builder.normalize([0.5; 3], [0.25; 3])).build()?;
    run(&loader, 1)?;
    let report = report(&loader, "nvjpeg-hardware");
    assert_eq!((report.images, report.unwritten), (IMAGES as u64, IMAGES as u64 / 1000));
    Ok(())
}

fn wrong() -> Outcome {
    choose(DecoderChoice::NvjpegHardware);
    let loader = on_device(loader(60, 12)).build()?;
    run(&loader, 14)?;
    let report = report(&loader, "nvjpeg-hardware");
    assert!(report.images <= LEFT_WITHIN && report.wrong >= 2 && report.unwritten == 0, "{report:?}");
    let why = report.left.unwrap();
    assert!(why.contains("not what the CPU decodes") && why.contains("seen to be right"), "{why}");
    Ok(())
}

fn one_unwritten() -> Outcome {
    choose(DecoderChoice::NvjpegHardware);
    let loader = on_device(loader(24, 8)).build()?;
    run(&loader, 4)?;
    let report = report(&loader, "nvjpeg-hardware");
    assert_eq!((report.images, report.unwritten), (96, 1));
    assert!(report.left.is_none(), "{report:?}");
    Ok(())
}

fn turned_off() -> Outcome {
    choose(DecoderChoice::NvjpegHardware);
    let loader = on_device(loader(24, 8).verify_decoding(false)).build()?;
    run(&loader, 4)?;
    let report = report(&loader, "nvjpeg-hardware");
    assert_eq!((report.images, report.unwritten, report.compared), (96, 0, 0));
    Ok(())
}
