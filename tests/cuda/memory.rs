//! The memory that a loader takes: reserved once, counted to the byte, and neither reserved nor freed while batches flow,
//! since freeing waits for all that the device has to do.

use crate::client::Client;
use crate::compare::{epoch, is_own, on_device};
use crate::counts::Counts;
use crate::object_masks;
use crate::pictures;
use crate::pipeline::small;
use crate::scenario::{Libraries, Outcome, Scenario};
use crate::sharing::mosaics;
use crate::trainer::Trainer;
use feedline::augment::{ColorJitter, RandomResizedCrop};
use feedline::device::MemoryUse;
use feedline::loader::{Batch, Loader, LoaderBuilder};

pub(crate) const SCENARIOS: &[Scenario] = &[
    Scenario::new("memory: a long run reserves and frees nothing", a_long_run_reserves_and_frees_nothing)
        .decides(),
    Scenario::new(
        "memory: a long run without nvJPEG reserves and frees nothing",
        a_long_run_reserves_and_frees_nothing,
    )
    .decides()
    .libraries(Libraries::DriverOnly),
    Scenario::new("memory: all that the driver has handed out is accounted for", all_is_accounted_for)
        .decides(),
    Scenario::new("memory: budgets are kept to the byte", budgets_are_kept_to_the_byte).decides(),
    Scenario::new("memory: where the device has less, shared images get less", shared_images_get_less)
        .decides()
        .driver(",memory=200M"),
    Scenario::new("memory: it grows a few times and never shrinks", it_grows_a_few_times).decides(),
    Scenario::new(
        "memory: a consumer that keeps batches and drops them frees nothing",
        a_consumer_that_keeps_batches_and_drops_them,
    )
    .decides(),
];

const CALLS: [&str; 3] = ["cuMemAlloc_v2", "cuMemFree_v2", "cuMemFreeHost"];

/// Epochs ahead of those in which nothing may be reserved.
const WARM_UP: u64 = 2;

fn loaders() -> [(&'static str, LoaderBuilder); 5] {
    let mosaics = || mosaics(pictures::all()).batch_size(3);
    let jittered = small(pictures::large()).augment(ColorJitter::new(0.2, 0.4, 0.2, 0.1));
    [
        ("small pictures", small(pictures::all()).batch_size(3)),
        ("pictures of all sizes in parts", jittered.batch_size(9).device_memory(1)),
        ("mosaics with room for all images", mosaics()),
        ("mosaics with room for a few images", mosaics().image_cache(70_000)),
        ("mosaics of all sizes in parts", mosaics().image_cache(2 << 20).device_memory(1)),
    ]
}

fn a_long_run_reserves_and_frees_nothing() -> Outcome {
    let (client, counts) = (Client::start()?, Counts::open()?);
    for (what, builder) in loaders() {
        let loader = on_device(builder.prefetch(2)).build()?;
        let mut trainer = Trainer::new(&client)?;
        let mut run = |epochs: std::ops::Range<u64>, copied: bool| -> Outcome {
            for batch in epochs.flat_map(|number| loader.epoch(number)) {
                let batch = batch?;
                // The trainer's copies are pinned memory of its own.
                if copied { trainer.copy(&batch)? } else { batch.wait()? }
            }
            Ok(())
        };
        run(0..WARM_UP, true)?;
        let (before, pinned) = (CALLS.map(|call| counts.calls(call)), counts.calls("cuMemHostAlloc"));
        run(WARM_UP..WARM_UP + 6, false)?;
        let after = CALLS.map(|call| counts.calls(call));
        assert_eq!(after, before, "{what}: {CALLS:?}");
        // A slot that finds what it has taken by images that others share gets as much again, up to its share of a GiB.
        let late = counts.calls("cuMemHostAlloc") - pinned;
        assert!(late <= 7 * loader.stats().slots as u64, "{what}: {late} times page-locked");
        trainer.finish()?;
    }
    Ok(())
}

/// What the statistics say is what the driver says, at any time.
fn all_is_accounted_for() -> Outcome {
    let counts = Counts::open()?;
    // A slot has memory for masks from the first batch on that has some.
    let masks = object_masks::small(pictures::all(), ("overlap", "1")).batch_size(3);
    for (what, builder) in loaders().into_iter().chain([("masks of objects", masks)]) {
        let loader = on_device(builder).build()?;
        compare(&loader, &counts, what);
        let mut kept = Vec::new();
        for batch in loader.epoch(0) {
            kept.push(batch?);
            compare(&loader, &counts, what);
        }
        drop(kept);
        compare(&loader, &counts, what);
        drop(loader);
        assert_eq!((counts.device_bytes(0), counts.pinned_bytes()), (0, 0), "{what}: something is left");
    }
    Ok(())
}

fn compare(loader: &Loader, counts: &Counts, what: &str) {
    // Batches ahead of this one get memory for masks while this looks, and workers page-locked memory.
    let settles = |is_alike: &dyn Fn(&MemoryUse) -> bool| {
        (0..100_000).any(|_| {
            let alike = is_alike(&loader.stats().device_memory.unwrap());
            std::thread::yield_now();
            alike
        })
    };
    let settled = settles(&|memory| memory.device_bytes() == counts.device_bytes(0));
    let memory = loader.stats().device_memory.unwrap();
    assert!(settled, "{what}: {memory:?} and {} on the device", counts.device_bytes(0));
    let nvjpeg = if is_own() { 1 } else { memory.nvjpeg_bytes };
    let buckets = [memory.output_bytes, memory.image_bytes, memory.program_bytes, nvjpeg];
    assert!(buckets.iter().all(|&bytes| bytes > 0), "{memory:?}");
    let settled = settles(&|memory| memory.pinned_bytes == counts.pinned_bytes());
    assert!(settled, "{what}: {memory:?} and {} page-locked", counts.pinned_bytes());
}

fn budgets_are_kept_to_the_byte() -> Outcome {
    // The device's own decoder needs a step besides.
    let least = if is_own() { 10 << 20 } else { 8 << 20 };
    for (asked, given) in [(1, least), (8 << 20, least), (13 << 20, 12 << 20), (300 << 20, 300 << 20)] {
        for (cache, shared) in [(0, 0), (1000, 2 << 20), (2 << 20, 2 << 20), ((7 << 20) - 1, 6 << 20)] {
            let builder = mosaics(pictures::all()).image_cache(cache).device_memory(asked);
            let loader = on_device(builder).build()?;
            for batch in loader.epoch(0) {
                batch?.wait()?;
            }
            let memory = loader.stats().device_memory.unwrap();
            let taken = memory.image_bytes + memory.program_bytes;
            assert!(taken <= given, "{asked}: {memory:?}");
            assert_eq!(memory.shared_image_bytes, shared, "{cache}: {memory:?}");
        }
    }
    Ok(())
}

fn shared_images_get_less() -> Outcome {
    let loader = on_device(mosaics(pictures::all()).image_cache(195 << 20).device_memory(1)).build()?;
    let memory = loader.stats().device_memory.unwrap();
    assert_eq!(memory.shared_image_bytes, 96 << 20, "{memory:?}");
    let cpu = mosaics(pictures::all()).build()?;
    assert!(epoch(&loader, 0) == epoch(&cpu, 0));
    Ok(())
}

/// The second batch of each epoch is larger than what is reserved at the start.
fn it_grows_a_few_times() -> Outcome {
    let counts = Counts::open()?;
    let side = |number: u32| if number < 3 { 100 } else { 2400 };
    let files = (0..6).map(|number| pictures::flat_png(side(number), side(number))).collect();
    let crop = RandomResizedCrop::new(16).scale([0.9, 1.0]);
    let builder = Loader::builder(crate::pipeline::memory(files)).augment(crop).batch_size(3).shuffle(false);
    let loader = on_device(builder.device_memory(512 << 20).prefetch(1)).build()?;
    let calls = || ["cuMemAlloc_v2", "cuMemFree_v2"].map(|call| counts.calls(call));
    let mut seen = vec![calls()];
    for number in 0..3 {
        for batch in loader.epoch(number) {
            batch?.wait()?;
        }
        seen.push(calls());
    }
    let [start, first, second, third] = seen[..] else { return Err("four figures".into()) };
    let grown = first[0] - start[0];
    assert!((1..=4).contains(&grown), "{seen:?}");
    assert_eq!((first[1], second, third), (start[1], first, first), "{seen:?}");
    Ok(())
}

fn a_consumer_that_keeps_batches_and_drops_them() -> Outcome {
    let (client, counts) = (Client::start()?, Counts::open()?);
    let build = || small(pictures::all()).batch_size(2).prefetch(1);
    let (cuda, cpu) = (on_device(build()).build()?, build().build()?);
    // A slot that is used again waits for the trainer of its own batch. With one trainer that would be a wait for all.
    let (mut near, mut far) = (Trainer::new(&client)?, Trainer::new(&client)?);
    let (mut near_want, mut far_want) = (Vec::new(), Vec::new());
    let mut reserved = Vec::new();
    for number in 0..3 {
        let kept: Vec<Batch> = cuda.epoch(number).collect::<Result<_, _>>()?;
        // Rendered by now, however far a trainer is behind with batches that had the same memory.
        if number == 1 {
            kept.iter().try_for_each(Batch::wait)?;
        }
        let half = kept.len() / 2;
        kept[..half].iter().try_for_each(|batch| near.copy(batch))?;
        kept[half..].iter().try_for_each(|batch| far.copy(batch))?;
        // The slots that are dropped first leave their memory to the engine; the others are used again as they are.
        kept.into_iter().rev().for_each(drop);
        reserved.push(counts.calls("cuMemAlloc_v2"));
        let want = cpu.epoch(number).map(|batch| batch.map(|b| b.images().to_vec()));
        let mut want = want.collect::<Result<Vec<_>, _>>()?;
        far_want.extend(want.split_off(half));
        near_want.extend(want);
    }
    assert_eq!(counts.calls("cuMemFree_v2"), 0);
    assert!(reserved[0] == reserved[2], "memory is reserved anew: {reserved:?}");
    assert!(near.finish()? == near_want && far.finish()? == far_want, "a batch was overwritten");
    Ok(())
}
