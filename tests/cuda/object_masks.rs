//! Masks of objects on a CUDA device: beside the pixels, to the bit what the CPU makes.

use crate::client::Client;
use crate::compare::{DEVICE, on_device, same_on_both};
use crate::pictures;
use crate::scenario::{Outcome, Scenario, in_turn};
use crate::trainer::Trainer;
use feedline::augment::{
    RandomAffine, RandomHorizontalFlip, RandomResizedCrop, RandomShortestSize, Resize, View,
};
use feedline::dlpack::{Field, abi};
use feedline::draft::op::Extent;
use feedline::geometry::Size;
use feedline::label::{Label, Object, Objects, Unit};
use feedline::loader::{BadSample, Batch, LastBatch, Loader, LoaderBuilder, MaskPlanes};
use feedline::options::Options;
use feedline::output::MultiScale;
use feedline::rng::{Draws, Rng};
use feedline::source::{Memory, Source};
use std::sync::Arc;

pub(crate) const SCENARIOS: &[Scenario] = &[
    Scenario::new("masks of objects are the CPU's, and lie beside the pixels", masks_are_the_cpus),
    Scenario::new("masks of objects in views", masks_in_views),
    Scenario::new("masks of objects where rows fail", masks_where_rows_fail),
    Scenario::new("masks of objects in batches of all sizes", masks_in_batches_of_all_sizes),
    Scenario::new("masks of objects in batches made in parts", masks_in_parts).weighty(),
    Scenario::new("masks of objects of more runs than a launch has", more_runs_than_a_launch_has)
        .weighty()
        .on_gpu(),
    Scenario::new("masks of objects on a trainer's stream", masks_on_a_trainers_stream).on_gpu(),
    Scenario::new("masks of objects that the device has no memory for", masks_without_memory)
        .decides()
        .driver(",memory=400M"),
    Scenario::new("a small epoch with masks of objects", a_small_epoch).swept(),
];

/// What is asked for: a kind of masks, and a ratio.
const ASKED: [(&str, &str); 4] =
    [("per-object", "1"), ("per-object", "3"), ("overlap", "1"), ("overlap", "4")];

/// Pictures with up to four outlines each; some have no label.
fn outlined(files: Vec<Vec<u8>>) -> Arc<dyn Source> {
    let record = |(at, bytes): (usize, Vec<u8>)| {
        let mut rng = Rng::new(8, 0, at as u64, 0);
        let mut object = |class: i64| {
            let mut point = || [rng.uniform_between(0.0, 1.0), rng.uniform_between(0.0, 1.0)];
            let polygons = vec![(0..5).map(|_| point()).collect()];
            Object { class, bbox: [0.0, 0.0, 1.0, 1.0], polygons, ..Object::default() }
        };
        let list = (0..(at % 5) as i64).map(&mut object).collect();
        let objects =
            Label::Objects(Arc::new(Objects { unit: Unit::Normalized, list, ..Objects::default() }));
        let label = if at % 4 == 3 { Label::Unlabelled } else { objects };
        (format!("picture {at}"), bytes, label)
    };
    Arc::new(Memory::new(files.into_iter().enumerate().map(record).collect()))
}

fn with_masks(builder: LoaderBuilder, (kind, ratio): (&str, &str)) -> LoaderBuilder {
    let mut options = Options::default();
    options.set_text("instance_masks", kind).unwrap();
    options.set_text("mask_ratio", ratio).unwrap();
    builder.options(&options)
}

pub(crate) fn small(files: Vec<Vec<u8>>, asked: (&str, &str)) -> LoaderBuilder {
    let builder = Loader::builder(outlined(files)).batch_size(5).shuffle(true).seed(3).workers(2);
    let builder = builder.last_batch(LastBatch::Partial).augment(RandomAffine::new(20.0));
    with_masks(builder, asked)
        .augment(RandomHorizontalFlip::default())
        .augment(RandomResizedCrop::new(40).scale([0.5, 1.0]))
}

/// Planes, and how many of their pixels are set.
fn planes(batch: &Batch) -> (MaskPlanes, usize) {
    let planes = batch.object_mask_pixels().unwrap().to_host().unwrap();
    let set = match &planes {
        MaskPlanes::PerObject(pixels) => pixels.iter().filter(|&&pixel| pixel != 0).count(),
        MaskPlanes::Overlap(pixels) => pixels.iter().filter(|&&pixel| pixel != 0).count(),
    };
    (planes, set)
}

fn masks_are_the_cpus() -> Outcome {
    for asked in in_turn(ASKED) {
        let loader = same_on_both(&format!("{asked:?}"), 2, || small(pictures::all(), asked));
        let batch = loader.epoch(0).next().unwrap()?;
        let objects = batch.objects().ok_or("no objects")?;
        assert!(objects.masks.is_none(), "masks of a device's batch lie in its memory");
        let masks = batch.object_mask_pixels().ok_or("no masks")?;
        let count = if asked.0 == "overlap" { batch.len() } else { objects.len() };
        let edge = 40 / asked.1.parse::<usize>()?;
        assert_eq!(masks.shape(), [count, edge, edge]);
        assert!(masks.planes().is_none(), "they lie in the device's memory");
        let set: usize = loader.epoch(0).map(|batch| planes(&batch.unwrap()).1).sum();
        assert!(set > 50, "{asked:?}: {set} pixels are set");
        let batch = Arc::new(batch);
        let tensor = batch.field_to_dlpack(Field::InstanceMasks).ok_or("no tensor")?;
        assert_eq!((tensor.dl_device().device_type, tensor.data() as usize % 256), (abi::CUDA, 0));
        assert_eq!(tensor.shape(), [count, edge, edge].map(|length| length as i64));
    }
    // Nothing is there where nothing is asked for.
    let loader =
        on_device(Loader::builder(outlined(pictures::few())).augment(Resize::new(Extent::Two([9, 9]))));
    assert!(loader.batch_size(2).build()?.epoch(0).next().unwrap()?.object_mask_pixels().is_none());
    Ok(())
}

fn masks_in_views() -> Outcome {
    let crop = |edge: u32| View::new(edge).transform(RandomResizedCrop::new(edge).scale([0.3, 0.9]));
    for asked in in_turn(ASKED) {
        let loader = same_on_both(&format!("views, {asked:?}"), 1, || {
            let builder = Loader::builder(outlined(pictures::all())).batch_size(5).workers(2);
            with_masks(builder, asked).view(crop(40)).view(crop(23).count(2))
        });
        let batch = loader.epoch(0).next().unwrap()?;
        let sets = batch.views().map(|view| Some(view.object_mask_pixels()?.on_device()?.ptr()));
        let starts: Vec<u64> = sets.collect::<Option<_>>().ok_or("no masks")?;
        assert!(starts.is_sorted() && starts.iter().all(|start| start % 256 == 0), "{starts:?}");
    }
    Ok(())
}

fn masks_where_rows_fail() -> Outcome {
    let policies = [BadSample::Skip, BadSample::Substitute];
    for (policy, asked) in in_turn(policies.into_iter().flat_map(|policy| ASKED.map(|asked| (policy, asked))))
    {
        let build = || small(pictures::with_bad_ones(), asked).bad_sample(policy).workers(1);
        same_on_both(&format!("{policy:?}, {asked:?}"), 1, build);
    }
    Ok(())
}

fn masks_in_batches_of_all_sizes() -> Outcome {
    let sizes = [(40, 40), (24, 56), (64, 16), (9, 7)].map(|(width, height)| Size::new(width, height));
    for asked in in_turn(ASKED) {
        same_on_both(&format!("drawn sizes, {asked:?}"), 2, || {
            small(pictures::all(), asked).batch_size(3).multi_scale(MultiScale::Sizes(sizes.to_vec()))
        });
        same_on_both(&format!("padded, {asked:?}"), 1, || {
            let builder = Loader::builder(outlined(pictures::all())).batch_size(3).workers(2);
            with_masks(builder, asked)
                .augment(RandomShortestSize::new([16, 24, 40]).max_size(64))
                .output_size(Size::new(64, 64))
                .pad_to_largest(true)
        });
    }
    Ok(())
}

fn masks_in_parts() -> Outcome {
    for asked in in_turn([ASKED[0], ASKED[3]]) {
        let build = || small(pictures::large(), asked).batch_size(9).device_memory(1).pinned_memory(0);
        same_on_both(&format!("parts, {asked:?}"), 1, build);
    }
    Ok(())
}

/// A comb of so many teeth.
fn comb(teeth: u32) -> Vec<[f32; 2]> {
    let at = |tooth: u32| 0.1 + tooth as f32 * 4.0;
    let points = (0..teeth).flat_map(|tooth| {
        [[at(tooth), 0.0], [at(tooth), 250.0], [at(tooth) + 1.6, 250.0], [at(tooth) + 1.6, 0.0]]
    });
    [[0.0, -1.0]].into_iter().chain(points).chain([[at(teeth), 0.0], [at(teeth), -1.0]]).collect()
}

/// Two pictures, each with so many objects of so many teeth.
fn combs(count: usize, teeth: u32) -> Arc<dyn Source> {
    let record = |at: usize| {
        let object =
            Object { bbox: [0.0, 0.0, 256.0, 250.0], polygons: vec![comb(teeth)], ..Object::default() };
        let objects = Objects { list: vec![object; count], ..Objects::default() };
        (format!("combs {at}"), pictures::flat_png(256, 256), Label::Objects(Arc::new(objects)))
    };
    Arc::new(Memory::new((0..2).map(record).collect()))
}

fn more_runs_than_a_launch_has() -> Outcome {
    // 60 teeth in 250 rows of 12 objects of two samples: 360000 runs.
    let build = || {
        let builder =
            Loader::builder(combs(12, 60)).batch_size(2).workers(1).output_size(Size::new(256, 256));
        with_masks(builder, ASKED[0])
    };
    let first = |builder: LoaderBuilder| builder.build()?.epoch(0).next().unwrap();
    let (want, set) = planes(&first(build())?);
    // The centres of two pixels, or of one, lie in each.
    assert!(set >= 360_000, "{set} pixels are set");
    assert!(planes(&first(build().device(DEVICE))?) == (want, set), "masks differ");
    Ok(())
}

fn masks_on_a_trainers_stream() -> Outcome {
    let build = || small(pictures::all(), ASKED[2]).batch_size(3).prefetch(1);
    let client = Client::start()?;
    // It goes after the loader, whose work would hold up the freeing of its copies.
    let mut trainer = Trainer::new(&client)?;
    let (cpu, cuda) = (build().build()?, build().device(DEVICE).build()?);
    let mut want = Vec::new();
    for number in 0..4 {
        for (batch, same) in cuda.epoch(number).zip(cpu.epoch(number)) {
            let batch = batch?;
            let masks = batch.object_mask_pixels().and_then(|masks| masks.on_device());
            trainer.copy_of(&masks.ok_or("no masks")?)?;
            // Their memory is used again at once, behind the trainer's copy.
            drop(batch);
            match planes(&same?).0 {
                MaskPlanes::Overlap(planes) => want.push(bytemuck::cast_slice::<i32, u8>(&planes).to_vec()),
                MaskPlanes::PerObject(_) => return Err("another kind".into()),
            }
        }
    }
    assert!(
        trainer.finish()? == want,
        "masks were read before they were made, or overwritten before they were read"
    );
    Ok(())
}

fn masks_without_memory() -> Outcome {
    let builder = Loader::builder(combs(8000, 1)).batch_size(1).workers(1).output_size(Size::new(256, 256));
    let loader = on_device(with_masks(builder, ("per-object", "1"))).build()?;
    let error = loader.epoch(0).next().unwrap().unwrap_err().to_string();
    assert!(error.contains("CUDA device 0") && error.contains("take 524288000 bytes"), "{error}");
    assert!(
        error.contains("mask_ratio") && error.contains("overlap") && error.contains("cuMemAlloc"),
        "{error}"
    );
    Ok(())
}

/// For the fault sweep: whatever call fails, the end is the right masks or an error with a remedy.
fn a_small_epoch() -> Outcome {
    let build = || {
        let builder = small(pictures::few_with_a_bad_one(), ASKED[0]).batch_size(2).prefetch(1).workers(1);
        builder.bad_sample(BadSample::Skip)
    };
    let (cuda, cpu) = (on_device(build()).build()?, build().build()?);
    for (batch, want) in cuda.epoch(0).zip(cpu.epoch(0)) {
        let (batch, want) = (batch?, want?);
        let masks = batch.object_mask_pixels().ok_or("no masks")?.to_host()?;
        assert!(batch.to_host()? == want.images(), "a batch was wrong, and no error said so");
        assert!(masks == planes(&want).0, "masks were wrong, and no error said so");
    }
    Ok(())
}
