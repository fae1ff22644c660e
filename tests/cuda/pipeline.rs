//! The loader on a CUDA device: the same batches as on the CPU, whatever goes wrong on the way.

use crate::compare::{choose, compared, epoch, on_device, same_on_both, seen, trained};
use crate::pictures;
use crate::scenario::{Libraries, Outcome, Scenario, in_turn};
use feedline::augment::{ColorJitter, RandomErasing, RandomHorizontalFlip, RandomResizedCrop, Resize};
use feedline::draft::op::Extent;
use feedline::error::Error;
use feedline::image::Limits;
use feedline::label::Label;
use feedline::loader::{BadSample, Batch, LastBatch, Loader, LoaderBuilder};
use feedline::options::LabelsOptions;
use feedline::output::{DType, Layout};
use feedline::policy::{Damaged, DecoderChoice};
use feedline::recipe::Recipe;
use feedline::source::{Memory, Source};
use std::sync::Arc;

pub(crate) const SCENARIOS: &[Scenario] = &[
    Scenario::new("every recipe gives the CPU's batches", every_recipe_gives_the_cpus_batches).decides(),
    Scenario::new(
        "every number format and layout gives the CPU's batches",
        every_number_format_and_layout_gives_the_cpus_batches,
    )
    .weighty(),
    Scenario::new(
        "bad files are skipped, replaced and named as on the CPU",
        bad_files_are_skipped_replaced_and_named_as_on_the_cpu,
    ),
    Scenario::new(
        "cut files and turned ones are taken as asked for",
        cut_files_and_turned_ones_are_taken_as_asked_for,
    ),
    Scenario::new("a sample beyond the memory is named", a_sample_beyond_the_memory_is_named),
    Scenario::new("a batch that does not fit is made in parts", a_batch_that_does_not_fit_is_made_in_parts)
        .weighty(),
    // Without engines the host does not wait between the parts, so events alone keep them apart.
    Scenario::new("parts without engines", a_batch_that_does_not_fit_is_made_in_parts)
        .weighty()
        .nvjpeg("engines=0"),
    Scenario::new("parts decoded on the CPU", a_batch_that_does_not_fit_is_made_in_parts)
        .weighty()
        .libraries(Libraries::DriverOnly),
    Scenario::new("scratch that does not fit is used in turns", scratch_that_does_not_fit_is_used_in_turns)
        .weighty(),
    Scenario::new("scratch that one sample alone exceeds grows", scratch_that_one_sample_alone_exceeds_grows)
        .weighty(),
    Scenario::new("auto needs no nvJPEG", auto_needs_no_nvjpeg).libraries(Libraries::DriverOnly),
    Scenario::new("nvJPEG decodes what it can", nvjpeg_decodes_what_it_can).of_nvjpeg(),
    Scenario::new("nvJPEG decodes what it can without engines", nvjpeg_decodes_what_it_can)
        .nvjpeg("engines=0")
        .of_nvjpeg(),
    Scenario::new(
        "large batches of small pictures go to the GPU's processors",
        large_batches_of_small_pictures_go_to_the_gpus_processors,
    )
    .weighty()
    .nvjpeg("engines=0")
    .of_nvjpeg(),
    Scenario::new(
        "a trainer's stream sees finished batches without the host waiting",
        a_trainers_stream_sees_finished_batches_without_the_host_waiting,
    ),
    Scenario::new(
        "epochs, loaders and batches may be dropped at any time",
        epochs_loaders_and_batches_may_be_dropped_at_any_time,
    ),
    Scenario::new("a loader that only decodes marks the end of each part", a_loader_that_only_decodes),
    Scenario::new("a consumer that keeps its batches gets more", a_consumer_that_keeps_its_batches_gets_more),
    Scenario::new("a copy to the host that fails is waited for", a_copy_to_the_host_that_fails_is_waited_for)
        .libraries(Libraries::DriverOnly)
        // The wait for the copy itself.
        .driver(",fault=cuStreamSynchronize@1:2"),
    Scenario::new("a small epoch", || small_epoch(pictures::few())).swept(),
    Scenario::new("without page-locked memory the batches are the same", without_page_locked_memory),
    Scenario::new("a small epoch without page-locked memory", || {
        compared(small(pictures::few()).pinned_memory(0).batch_size(2), small(pictures::few()).batch_size(2))
    })
    .swept(),
    Scenario::new("small epochs on a trainer's stream", || {
        trained(3, || small(pictures::few()).batch_size(1).prefetch(1).workers(1)).map(drop)
    })
    .swept(),
    Scenario::new("a small epoch with a bad file", || small_epoch(pictures::few_with_a_bad_one())).swept(),
];

pub(crate) fn small(files: Vec<Vec<u8>>) -> LoaderBuilder {
    Loader::builder(memory(files))
        .batch_size(6)
        .shuffle(true)
        .seed(7)
        .workers(2)
        .augment(RandomResizedCrop::new(40))
        .augment(RandomHorizontalFlip::default())
        .normalize([0.485, 0.456, 0.406], [0.229, 0.224, 0.225])
}

pub(crate) fn memory(files: Vec<Vec<u8>>) -> Arc<dyn Source> {
    let record = |(at, bytes)| (format!("picture {at}"), bytes, Label::Class(at as i64));
    Arc::new(Memory::new(files.into_iter().enumerate().map(record).collect()))
}

/// The pictures have no objects, and labels are made by the host whatever the device is.
pub(crate) fn without_labels(mut recipe: Recipe) -> Recipe {
    recipe.options.labels = LabelsOptions::default();
    recipe
}

fn every_recipe_gives_the_cpus_batches() -> Outcome {
    for name in Recipe::names() {
        let recipe = without_labels(Recipe::built_in(name).unwrap());
        if recipe.options.output.decode_only() {
            continue;
        }
        // Few, since recipes make large samples, and ThreadSanitizer takes its time.
        let large = recipe.output().is_some_and(|output| output.size.pixels() > 512 * 512);
        let most = if large { 2 } else { usize::MAX };
        let some = || pictures::all().into_iter().step_by(4).take(most).collect();
        let build = || Loader::builder(memory(some())).recipe(&recipe).batch_size(2).seed(3).workers(2);
        same_on_both(name, 1, build);
    }
    Ok(())
}

fn every_number_format_and_layout_gives_the_cpus_batches() -> Outcome {
    for dtype in [DType::F32, DType::F16, DType::Bf16, DType::U8] {
        for layout in [Layout::Nchw, Layout::Nhwc] {
            same_on_both(&format!("{dtype:?} {layout:?}"), 1, || {
                let builder = Loader::builder(memory(pictures::all()))
                    .batch_size(5)
                    .last_batch(LastBatch::Partial)
                    .augment(RandomResizedCrop::new(33))
                    .augment(ColorJitter::new(0.4, 0.4, 0.4, 0.1));
                match dtype {
                    DType::U8 => builder,
                    _ => builder.normalize([0.5; 3], [0.25; 3]).augment(RandomErasing::default()),
                }
                .output(dtype, layout)
            });
        }
    }
    Ok(())
}

fn bad_files_are_skipped_replaced_and_named_as_on_the_cpu() -> Outcome {
    let policies = [
        (BadSample::Skip, LastBatch::Partial),
        (BadSample::Substitute, LastBatch::Pad),
        (BadSample::Fail, LastBatch::Drop),
    ];
    for ((bad, last), shuffle) in
        in_turn(policies.into_iter().flat_map(|policy| [(policy, true), (policy, false)]))
    {
        same_on_both(&format!("{bad:?} {last:?}"), 2, || {
            // One worker, because the CPU's report is in the order of rows and a device's in that of its work.
            small(pictures::with_bad_ones()).shuffle(shuffle).bad_sample(bad).last_batch(last).workers(1)
        });
    }
    Ok(())
}

fn cut_files_and_turned_ones_are_taken_as_asked_for() -> Outcome {
    same_on_both("orientations ignored", 1, || small(pictures::all()).exif(false));
    let limits = Limits { damaged: Damaged::Libjpeg, ..Limits::default() };
    let build = || small(pictures::with_bad_ones()).limits(limits.clone()).bad_sample(BadSample::Skip);
    same_on_both("cut files", 1, || build().workers(1));
    let limits = Limits { max_scans: 2, ..Limits::default() };
    same_on_both("few scans", 1, || {
        small(pictures::all()).limits(limits.clone()).bad_sample(BadSample::Skip).workers(1)
    });
    Ok(())
}

fn a_sample_beyond_the_memory_is_named() -> Outcome {
    let whole = || {
        let builder = Loader::builder(memory(pictures::with_a_giant()));
        on_device(builder.augment(Resize::new(Extent::Two([40, 40]))).batch_size(5).device_memory(1))
    };
    let error = whole().build()?.epoch(0).next().unwrap().unwrap_err().to_string();
    assert!(error.contains("picture 2") && error.contains("raise device_memory"), "{error}");
    let loader = whole().bad_sample(BadSample::Skip).build()?;
    let batch = loader.epoch(0).next().unwrap()?;
    assert_eq!(batch.indices(), [0, 1, 3, 4]);
    Ok(())
}

fn a_batch_that_does_not_fit_is_made_in_parts() -> Outcome {
    let build = || small(pictures::large()).batch_size(12).device_memory(1);
    same_on_both("parts", 2, build);
    Ok(())
}

/// A contrast needs the whole canvas first, and so scratch memory for each sample: several programs for one part.
fn scratch_that_does_not_fit_is_used_in_turns() -> Outcome {
    let build = || {
        Loader::builder(memory(pictures::all()))
            .batch_size(8)
            .augment(RandomResizedCrop::new(330))
            .augment(ColorJitter::new(0.0, 0.4, 0.0, 0.0))
            .device_memory(1)
    };
    same_on_both("scratch", 2, build);
    Ok(())
}

/// More than the budget, and more for each sample: it grows while the one before is being rendered.
fn scratch_that_one_sample_alone_exceeds_grows() -> Outcome {
    let build = || {
        Loader::builder(memory(pictures::wider_and_wider()))
            .batch_size(3)
            .augment(Resize::new(Extent::Two([820, 820])))
            .augment(ColorJitter::new(0.0, 0.4, 0.0, 0.0))
            .device_memory(1)
    };
    same_on_both("growing scratch", 1, build);
    Ok(())
}

fn auto_needs_no_nvjpeg() -> Outcome {
    choose(DecoderChoice::Auto);
    let loader = same_on_both("no nvJPEG", 1, || small(pictures::all()));
    let by = loader.stats().decoded_by.unwrap();
    assert_eq!((by.hardware, by.gpu_huffman, by.hybrid), (0, 0, 0));
    assert!(by.feedline > 0 && by.cpu > 0, "{by:?}");
    Ok(())
}

fn nvjpeg_decodes_what_it_can() -> Outcome {
    let loader = same_on_both("nvJPEG", 1, || small(pictures::all()));
    let by = loader.stats().decoded_by.unwrap();
    assert!(by.hardware + by.gpu_huffman + by.hybrid > 0, "{by:?}");
    assert!(by.cpu > 0, "the PNG and the CMYK file are the CPU's: {by:?}");
    Ok(())
}

fn large_batches_of_small_pictures_go_to_the_gpus_processors() -> Outcome {
    let loader = trained(2, || small(pictures::many()).batch_size(72).prefetch(1))?;
    let by = loader.stats().decoded_by.unwrap();
    assert!(by.gpu_huffman > by.hybrid + by.cpu, "{by:?}");
    Ok(())
}

fn a_trainers_stream_sees_finished_batches_without_the_host_waiting() -> Outcome {
    trained(2, || small(pictures::all()).batch_size(3).prefetch(1)).map(drop)
}

fn epochs_loaders_and_batches_may_be_dropped_at_any_time() -> Outcome {
    let build = || on_device(small(pictures::all()).batch_size(2)).build().unwrap();
    for taken in 0..4 {
        let loader = build();
        let batches: Vec<Batch> = loader.epoch(0).take(taken).map(Result::unwrap).collect();
        let want = epoch(&small(pictures::all()).batch_size(2).build().unwrap(), 0);
        drop(loader);
        for (batch, want) in batches.iter().zip(want) {
            assert_eq!(seen(batch), want.unwrap());
        }
    }
    let loader = build();
    drop(loader.epoch(0));
    let mut second = loader.epoch(1);
    drop(second.next());
    let mut third = loader.epoch(2);
    assert!(matches!(second.next(), Some(Err(Error::Config(_))) | None));
    assert!(third.next().unwrap().is_ok());
    Ok(())
}

fn without_page_locked_memory() -> Outcome {
    same_on_both("nothing page-locked", 2, || small(pictures::all()).batch_size(3).pinned_memory(0));
    Ok(())
}

fn a_loader_that_only_decodes() -> Outcome {
    let builder = Loader::builder(memory(pictures::all())).decode_only().batch_size(2).workers(2);
    let loader = on_device(builder).build()?;
    for number in 0..2 {
        for batch in loader.epoch(number) {
            let batch = batch?;
            batch.wait()?;
            assert_eq!((batch.len(), batch.on_device().map_or(1, |images| images.len())), (2, 0));
        }
    }
    Ok(())
}

fn a_consumer_that_keeps_its_batches_gets_more() -> Outcome {
    let loader = on_device(small(pictures::all()).batch_size(2).prefetch(1)).build().unwrap();
    let kept: Vec<Batch> = loader.epoch(0).map(Result::unwrap).collect();
    let want = epoch(&small(pictures::all()).batch_size(2).build().unwrap(), 0);
    for (batch, want) in kept.iter().zip(want) {
        assert_eq!(seen(batch), want.unwrap());
    }
    Ok(())
}

/// Its target is freed with the error, and the copy must not be written there later.
fn a_copy_to_the_host_that_fails_is_waited_for() -> Outcome {
    let loader = on_device(small(pictures::few()).batch_size(2)).build()?;
    let batch = loader.epoch(0).next().unwrap()?;
    let error = batch.to_host().unwrap_err().to_string();
    assert!(error.contains("cuStreamSynchronize"), "{error}");
    assert!(batch.to_host().is_ok());
    Ok(())
}

/// For the fault sweep: whatever call fails, the end is the right pixels or an error with a remedy.
pub(crate) fn small_epoch(files: Vec<Vec<u8>>) -> Outcome {
    let build = || {
        let builder = small(files.clone()).batch_size(2).prefetch(1).workers(1);
        builder.bad_sample(BadSample::Skip).last_batch(LastBatch::Partial)
    };
    compared(build(), build())
}
