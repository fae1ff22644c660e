//! Images that many samples show, on a CUDA device: decoded once, kept within a budget, and never a pixel otherwise.

use crate::compare::{self, files, on_device, same_batches, same_on_both, trained};
use crate::pictures;
use crate::scenario::{Libraries, Outcome, Scenario};
use feedline::augment::{MixUp, Mosaic, RandomHorizontalFlip, YoloPerspective};
use feedline::draft::op::Extent;
use feedline::error::Result;
use feedline::field::{Field, FieldValue};
use feedline::label::{Label, Object, Objects, Unit};
use feedline::loader::{BadSample, LastBatch, Loader, LoaderBuilder};
use feedline::source::Source;
use std::borrow::Cow;
use std::sync::Arc;

pub(crate) const SCENARIOS: &[Scenario] = &[
    Scenario::new("sharing: an image of a window is decoded once", an_image_of_a_window_is_decoded_once),
    Scenario::new(
        "sharing: an image of a window is decoded once without nvJPEG",
        an_image_of_a_window_is_decoded_once,
    )
    .libraries(Libraries::DriverOnly),
    Scenario::new("sharing: a small cache gives the CPU's batches", a_small_cache_gives_the_cpus_batches)
        .weighty(),
    // Without engines the host does not wait between the parts, so events alone keep them apart.
    Scenario::new("sharing: a small cache without engines", a_small_cache_gives_the_cpus_batches)
        .weighty()
        .nvjpeg("engines=0"),
    Scenario::new("sharing: a small cache without nvJPEG", a_small_cache_gives_the_cpus_batches)
        .weighty()
        .libraries(Libraries::DriverOnly),
    Scenario::new("sharing: images of all sizes in parts", shared_images_of_all_sizes_in_parts).weighty(),
    Scenario::new(
        "sharing: images of all sizes in parts without engines",
        shared_images_of_all_sizes_in_parts,
    )
    .decides()
    .nvjpeg("engines=0"),
    Scenario::new("sharing: images on a trainer's stream", shared_images_on_a_trainers_stream),
    Scenario::new(
        "sharing: images on a trainer's stream without engines",
        shared_images_on_a_trainers_stream,
    )
    .nvjpeg("engines=0"),
    Scenario::new(
        "sharing: bad images cost the samples that show them",
        bad_shared_images_cost_their_samples,
    ),
    Scenario::new("sharing: epochs may be dropped at any time", epochs_may_be_dropped),
    Scenario::new("sharing: masks and boxes are the CPU's", masks_and_boxes_are_the_cpus).weighty(),
    Scenario::new("sharing: without page-locked memory", without_page_locked_memory).weighty(),
    Scenario::new("sharing: a small epoch of mosaics", a_small_epoch_of_mosaics).swept(),
    Scenario::new("sharing: an epoch behind one that failed", an_epoch_behind_one_that_failed).swept(),
];

/// Sketches with boxes and, for all but every third, masks.
struct Sketches {
    files: Vec<Vec<u8>>,
    labelled: bool,
    fields: [Field; 2],
}

impl Sketches {
    fn new(files: Vec<Vec<u8>>, labelled: bool) -> Self {
        Self { files, labelled, fields: [Field::depth("depth"), Field::image("target")] }
    }
}

impl Source for Sketches {
    fn len(&self) -> usize {
        self.files.len()
    }

    fn read(&self, index: usize, bytes: &mut Vec<u8>) -> Result<()> {
        bytes.clone_from(&self.files[index]);
        Ok(())
    }

    fn key(&self, index: usize) -> Cow<'_, str> {
        format!("sketch {index}").into()
    }

    fn label(&self, index: usize) -> Label {
        if !self.labelled {
            return Label::Class(index as i64);
        }
        let at = |number: usize| 0.1 + 0.07 * ((index + number) % 6) as f32;
        let object = |number| Object {
            class: number as i64,
            bbox: [at(number), at(number + 1), at(number) + 0.4, at(number + 1) + 0.3],
            ..Object::default()
        };
        let list = (0..index % 4).map(object).collect();
        Label::Objects(Arc::new(Objects { unit: Unit::Normalized, list, skeleton: None }))
    }

    fn fields(&self) -> &[Field] {
        if self.labelled { &self.fields } else { &[] }
    }

    /// The image once more, and its depths.
    fn values(&self, index: usize, values: &mut Vec<FieldValue>) -> Result<()> {
        values.clear();
        if self.labelled {
            let header = feedline::image::parse_header(&self.files[index])
                .map_err(|error| feedline::error::Error::sample("depth", index as u64, error))?;
            let depths = pictures::depths(header.orientation.apply_size(header.size), index as u32);
            values.extend([FieldValue::Bytes(depths), FieldValue::Bytes(self.files[index].clone())]);
        }
        Ok(())
    }

    fn mask(&self, index: usize, bytes: &mut Vec<u8>) -> Result<bool> {
        bytes.clear();
        if !self.labelled || index % 3 == 2 {
            return Ok(false);
        }
        let header = feedline::image::parse_header(&self.files[index])
            .map_err(|error| feedline::error::Error::sample("mask", index as u64, error))?;
        *bytes = pictures::mask(header.orientation.apply_size(header.size), index as u32);
        Ok(true)
    }
}

pub(crate) fn mosaics(files: Vec<Vec<u8>>) -> LoaderBuilder {
    mosaics_of(Sketches::new(files, false))
}

fn mosaics_of(sketches: Sketches) -> LoaderBuilder {
    Loader::builder(sketches)
        .batch_size(4)
        .shuffle(true)
        .seed(5)
        .workers(2)
        .partner_window(8)
        .last_batch(LastBatch::Partial)
        .augment(Mosaic::new(36))
        .augment(YoloPerspective::new(Extent::Two([36, 36])))
        .augment(MixUp::new(0.4))
        .augment(RandomHorizontalFlip::default())
}

fn an_image_of_a_window_is_decoded_once() -> Outcome {
    for workers in [1, 3] {
        let files = || pictures::all().into_iter().chain(pictures::all()).collect::<Vec<_>>();
        let cuda = same_on_both("mosaics", 1, || mosaics(files()).workers(workers));
        let stats = cuda.stats();
        assert_eq!((stats.images, stats.samples), (24, 24), "{stats:?}");
        assert_eq!(stats.decoded_by.unwrap().total(), 24);
        // A mosaic of mixed samples shows eight images, some of them twice.
        assert!(stats.images_shared > 3 * 24, "{stats:?}");
        assert!(stats.image_cache_bytes > 0 && stats.image_cache_bytes <= 1 << 20, "{stats:?}");
    }
    Ok(())
}

fn a_small_cache_gives_the_cpus_batches() -> Outcome {
    for cache in [0, 1, 30_000, 70_000, 150_000] {
        let cuda = same_on_both("mosaics", 2, || mosaics(pictures::all()).image_cache(cache));
        let stats = cuda.stats();
        assert!(stats.image_cache_bytes <= cache as u64, "{stats:?}");
        // What the CPU has decoded is in the host's memory for all samples that are staged.
        let needed = if cache < 60_000 && stats.decoded_by.unwrap().hybrid > 0 { 24 } else { 12 };
        assert!(stats.images >= needed, "{stats:?}");
        assert_eq!(stats.images_shared > 0, cache > 1, "{stats:?}");
    }
    Ok(())
}

/// The pieces of those that go are too small or too large for those that come, and what has no room is decoded in parts.
fn shared_images_of_all_sizes_in_parts() -> Outcome {
    for cache in [1_300_000, 5_000_000] {
        let build = || {
            let (files, crop) = (pictures::large(), YoloPerspective::new(Extent::Two([36, 36])));
            let builder = Loader::builder(Sketches::new(files, false)).seed(2).partner_window(6);
            let builder = builder.batch_size(6).image_cache(cache).device_memory(24 << 20).workers(2);
            builder.augment(Mosaic::new(36)).augment(crop)
        };
        let cuda = same_on_both("large and small", 1, build);
        let stats = cuda.stats();
        assert!(stats.images_shared > 0 && stats.image_cache_bytes <= cache as u64, "{stats:?}");
    }
    Ok(())
}

fn shared_images_on_a_trainers_stream() -> Outcome {
    for cache in [60_000, 1 << 20] {
        trained(2, || mosaics(pictures::all()).batch_size(3).prefetch(1).image_cache(cache))?;
    }
    Ok(())
}

fn bad_shared_images_cost_their_samples() -> Outcome {
    for (bad, last) in [(BadSample::Skip, LastBatch::Partial), (BadSample::Substitute, LastBatch::Pad)] {
        let build = || {
            let builder = mosaics(pictures::with_bad_ones()).batch_size(5).workers(1);
            builder.bad_sample(bad).last_batch(last)
        };
        let what = format!("{bad:?}");
        // The device is told of those that only decoders find bad behind those that workers do.
        let [cpu, cuda] = same_batches(&what, 2, build);
        let sorted = |loader| {
            let mut files = files(loader);
            files.sort();
            files
        };
        assert_eq!(sorted(&cuda), sorted(&cpu), "{what}: reports");
        assert_eq!(cuda.report().failures, cpu.report().failures, "{what}");
    }
    let error = on_device(mosaics(pictures::few_with_a_bad_one())).build()?.epoch(0).next().unwrap();
    let error = error.unwrap_err().to_string();
    assert!(error.contains("sketch 1"), "{error}");
    Ok(())
}

fn epochs_may_be_dropped() -> Outcome {
    let build = || mosaics(pictures::all()).batch_size(2).image_cache(60_000);
    let cpu = compare::epoch(&build().build()?, 3);
    let cuda = on_device(build()).build()?;
    for taken in 0..3 {
        let mut epoch = cuda.epoch(taken);
        for _ in 0..taken {
            epoch.next().unwrap()?;
        }
    }
    assert!(compare::epoch(&cuda, 3) == cpu, "an epoch behind dropped ones was wrong");
    Ok(())
}

fn masks_and_boxes_are_the_cpus() -> Outcome {
    let build = || mosaics_of(Sketches::new(pictures::all(), true)).masks(255);
    let cuda = same_on_both("masks and boxes", 2, build);
    let batch = cuda.epoch(0).next().unwrap()?;
    assert!(batch.masks().is_none(), "masks of a device's batch lie in its memory");
    let masks = batch.mask_pixels().ok_or("no masks")?.to_host()?;
    assert!(
        masks.contains(&255) && masks.iter().any(|&class| class < 9),
        "nothing is to be seen in the masks"
    );
    assert!(batch.objects().is_some_and(|objects| !objects.boxes.is_empty()), "no boxes");
    let target = batch.picture("target").ok_or("no second images")?.to_host()?;
    assert_eq!(
        target,
        batch.to_host()?,
        "the second images are the images themselves, and nothing changes colours"
    );
    let depths = batch.picture("depth").ok_or("no depths")?.to_host()?;
    let depths: &[f32] = bytemuck::cast_slice(&depths);
    assert!(depths.contains(&0.0) && depths.iter().any(|&depth| depth > 255.0), "no depths are to be seen");
    Ok(())
}

fn without_page_locked_memory() -> Outcome {
    for cache in [0, 60_000, 1 << 20] {
        let build = || mosaics(pictures::all()).batch_size(3).image_cache(cache).pinned_memory(0);
        same_on_both("nothing page-locked", 2, build);
    }
    Ok(())
}

/// For the fault sweep: what a submission that failed has left half done is not taken for an image by the next one.
fn an_epoch_behind_one_that_failed() -> Outcome {
    let build = || mosaics(pictures::few()).batch_size(4).prefetch(1).workers(1).partner_window(4);
    let (cpu, cuda) = (build().build()?, on_device(build()).build()?);
    let whole = cuda.epoch(0).all(|batch| batch.is_ok());
    for (batch, want) in cuda.epoch(1).zip(cpu.epoch(1)) {
        let (batch, want) = (batch?, want?);
        assert!(
            batch.to_host()? == want.images(),
            "behind an epoch that was whole ({whole}), a batch was wrong"
        );
    }
    Ok(())
}

/// For the fault sweep: whatever call fails, the end is the right pixels or an error with a remedy.
fn a_small_epoch_of_mosaics() -> Outcome {
    let build = || {
        let builder = mosaics(pictures::few_with_a_bad_one()).batch_size(2).prefetch(1).workers(1);
        builder.bad_sample(BadSample::Skip).image_cache(40_000)
    };
    compare::compared(build(), build())
}
