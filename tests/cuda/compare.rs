//! A loader on a CUDA device beside the same one on the CPU.

use crate::client::Client;
use crate::scenario::Outcome;
use crate::trainer::Trainer;
use feedline::device::{DecoderReport, Device};
use feedline::loader::{Batch, BatchObjects, Loader, LoaderBuilder, MaskPlanes, Status};
use feedline::policy::DecoderChoice;
use std::collections::BTreeSet;
use std::sync::OnceLock;

pub(crate) const DEVICE: Device = Device::Cuda { ordinal: 0 };

/// The same on the device, with all decoding left to nvJPEG that it can do, so that what runs does not depend on how fast
/// anything is; where there is no nvJPEG, or [`choose`] has said otherwise, with another decoder.
pub(crate) fn on_device(builder: LoaderBuilder) -> LoaderBuilder {
    let is_missing = std::env::var_os("FEEDLINE_NVJPEG")
        .is_some_and(|path| path.as_encoded_bytes().ends_with(b"no-libnvjpeg"));
    let usual = match is_missing {
        _ if is_own() => DecoderChoice::Feedline,
        true => DecoderChoice::Cpu,
        false => DecoderChoice::Nvjpeg,
    };
    builder.device(DEVICE).decoder(*CHOICE.get_or_init(|| usual))
}

/// Whether the device's own decoder decodes unless a scenario says otherwise.
pub(crate) fn is_own() -> bool {
    std::env::var_os("FEEDLINE_TEST_DECODER").is_some_and(|name| name == "feedline")
}

static CHOICE: OnceLock<DecoderChoice> = OnceLock::new();

/// What decodes in this scenario.
pub(crate) fn choose(decoder: DecoderChoice) {
    CHOICE.set(decoder).expect("the decoder is chosen before the first loader");
}

/// What a batch is compared by.
#[derive(Debug, PartialEq)]
pub(crate) struct TransformedObject {
    /// Of all views, one after the other.
    pixels: Vec<u8>,
    masks: Vec<Option<Vec<u8>>>,
    /// Second images and depth maps.
    pictures: Vec<Vec<u8>>,
    /// Without their masks.
    objects: Vec<Option<BatchObjects>>,
    object_masks: Vec<Option<MaskPlanes>>,
    indices: Vec<u64>,
    labels: Vec<i64>,
    status: Vec<Status>,
}

pub(crate) fn seen(batch: &Batch) -> TransformedObject {
    TransformedObject {
        pixels: batch.views().flat_map(|view| view.to_host().unwrap()).collect(),
        masks: batch.views().map(|view| view.mask_pixels().map(|masks| masks.to_host().unwrap())).collect(),
        pictures: batch
            .views()
            .flat_map(|view| {
                batch.picture_names().map(move |name| view.picture(name).unwrap().to_host().unwrap())
            })
            .collect(),
        objects: batch.views().map(|view| Some(without_masks(view.objects()?.clone()))).collect(),
        object_masks: batch
            .views()
            .map(|view| view.object_mask_pixels().map(|masks| masks.to_host().unwrap()))
            .collect(),
        indices: batch.indices().to_vec(),
        labels: batch.labels().to_vec(),
        status: batch.status().to_vec(),
    }
}

fn without_masks(mut objects: BatchObjects) -> BatchObjects {
    objects.masks = None;
    objects
}

pub(crate) fn epoch(loader: &Loader, number: u64) -> Vec<std::result::Result<TransformedObject, String>> {
    loader
        .epoch(number)
        .map(|batch| batch.map(|batch| seen(&batch)).map_err(|error| error.to_string()))
        .collect()
}

/// Runs the same description on both devices and compares everything.
pub(crate) fn same_on_both(what: &str, epochs: u64, build: impl Fn() -> LoaderBuilder) -> Loader {
    let [cpu, cuda] = same_batches(what, epochs, build);
    assert_eq!(files(&cuda), files(&cpu), "{what}: reports");
    cuda
}

/// The damaged files that were decoded. The order is that of the decodes.
pub(crate) fn damaged(loader: &Loader) -> BTreeSet<(String, String)> {
    loader.report().damaged_files.into_iter().map(|file| (file.key, file.damage.to_string())).collect()
}

/// What the report lists.
pub(crate) fn files(loader: &Loader) -> Vec<(String, String)> {
    loader.report().files.into_iter().map(|file| (file.key, file.cause)).collect()
}

/// Runs the same description on both devices and compares the batches.
pub(crate) fn same_batches(what: &str, epochs: u64, build: impl Fn() -> LoaderBuilder) -> [Loader; 2] {
    let cpu = build().device(Device::Cpu).build().unwrap();
    let cuda = on_device(build()).build().unwrap();
    let mut all_were_shown = true;
    for number in 0..epochs {
        let (want, got) = (epoch(&cpu, number), epoch(&cuda, number));
        assert_eq!(got.len(), want.len(), "{what}: batches of epoch {number}");
        all_were_shown &= want.iter().all(Result::is_ok);
        for (at, (got, want)) in got.iter().zip(&want).enumerate() {
            if got == want {
                continue;
            }
            let (Ok(got), Ok(want)) = (got, want) else {
                panic!("{what}, batch {at}: {got:?} and not {want:?}")
            };
            let different = got.pixels.iter().zip(&want.pixels).filter(|(a, b)| a != b).count();
            panic!(
                "{what}, epoch {number}, batch {at}: {different} of {} bytes differ; {:?} {:?} and not {:?} {:?}",
                want.pixels.len(),
                got.indices,
                got.status,
                want.indices,
                want.status
            );
        }
    }
    // What was decoded behind a batch that failed depends on the workers' pace.
    if all_were_shown {
        assert_eq!(damaged(&cuda), damaged(&cpu), "{what}: damaged files");
    }
    trusted(&cuda);
    [cpu, cuda]
}

/// What the loader says of one of the device's decoders.
pub(crate) fn report(loader: &Loader, name: &str) -> DecoderReport {
    let decoders = loader.stats().decoders;
    decoders.into_iter().find(|decoder| decoder.name == name).unwrap_or_else(|| panic!("no {name}"))
}

/// Nothing that was right has been taken for wrong.
fn trusted(loader: &Loader) {
    for decoder in loader.stats().decoders {
        assert!(decoder.wrong + decoder.unwritten == 0 && decoder.left.is_none(), "{decoder:?}");
    }
}

/// Nothing waits on the host between batches: only events stand between the loader's streams and the trainer's.
pub(crate) fn trained(
    epochs: u64,
    build: impl Fn() -> LoaderBuilder,
) -> Result<Loader, Box<dyn std::error::Error>> {
    let cpu = build().build()?;
    let client = Client::start()?;
    // It goes after the loader, whose work would hold up the freeing of its copies.
    let mut trainer = Trainer::new(&client)?;
    let cuda = on_device(build()).build()?;
    for number in 0..epochs {
        for batch in cuda.epoch(number) {
            let batch = batch?;
            trainer.copy(&batch)?;
            // Its memory is used again at once, behind the trainer's copy.
            drop(batch);
        }
    }
    let want = (0..epochs).flat_map(|number| epoch(&cpu, number)).map(|seen| seen.map(|seen| seen.pixels));
    assert!(
        trainer.finish()? == want.collect::<Result<Vec<_>, _>>()?,
        "a batch was read before it was finished, or overwritten before it was read"
    );
    trusted(&cuda);
    Ok(cuda)
}

pub(crate) fn compared(cuda: LoaderBuilder, cpu: LoaderBuilder) -> Outcome {
    let cuda = on_device(cuda).build()?;
    let cpu = cpu.build()?;
    for (batch, want) in cuda.epoch(0).zip(cpu.epoch(0)) {
        let (batch, want) = (batch?, want?);
        assert!(batch.to_host()? == want.images(), "a batch was wrong, and no error said so");
    }
    Ok(())
}
