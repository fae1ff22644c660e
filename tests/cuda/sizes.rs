//! Batches that differ in size: on a device they are the CPU's, in every size.

use crate::compare::{same_on_both, trained};
use crate::pictures;
use crate::pipeline::{memory, small};
use crate::scenario::{Libraries, Outcome, Scenario};
use feedline::augment::{
    LetterBox, Mosaic, RandomHorizontalFlip, RandomShortestSize, ResizeLongest, YoloPerspective,
};
use feedline::color::{IMAGENET_MEAN, IMAGENET_STD};
use feedline::geometry::Size;
use feedline::loader::{BadSample, LastBatch, Loader, LoaderBuilder};
use feedline::output::{DType, Layout, MultiScale, RectBatches};
use std::collections::BTreeSet;

pub(crate) const SCENARIOS: &[Scenario] = &[
    Scenario::new("rect batches are the CPU's", rect_batches_are_the_cpus),
    Scenario::new("batches of drawn sizes are the CPU's", batches_of_drawn_sizes_are_the_cpus),
    Scenario::new("batches of drawn sizes made in parts", batches_of_drawn_sizes_made_in_parts).weighty(),
    Scenario::new("batches of drawn sizes without nvJPEG", batches_of_drawn_sizes_are_the_cpus)
        .libraries(Libraries::DriverOnly),
    Scenario::new("rows that fail in batches of drawn sizes", rows_that_fail_in_batches_of_drawn_sizes),
    Scenario::new("batches padded to their largest sample are the CPU's", padded_batches_are_the_cpus)
        .weighty(),
    Scenario::new(
        "a trainer's stream sees finished batches of every size",
        a_trainers_stream_sees_finished_batches_of_every_size,
    ),
];

fn sizes() -> MultiScale {
    MultiScale::Sizes(
        [(40, 40), (24, 56), (64, 16), (9, 7)].map(|(width, height)| Size::new(width, height)).to_vec(),
    )
}

/// The sizes that a loader's batches have.
fn met(loader: &Loader, epoch: u64) -> BTreeSet<[usize; 2]> {
    let size = |[_, _, height, width]: [usize; 4]| [height, width];
    loader.epoch(epoch).map(|batch| size(batch.unwrap().shape())).collect()
}

fn rect_batches_are_the_cpus() -> Outcome {
    for dtype in [DType::F32, DType::U8] {
        let loader = same_on_both("rect", 1, || {
            Loader::builder(memory(pictures::all()))
                .batch_size(4)
                .last_batch(LastBatch::Partial)
                .augment(ResizeLongest::new(48))
                .augment(LetterBox::new(48).scaleup(false))
                .output(dtype, Layout::Nchw)
                .rect(RectBatches { stride: 8, pad: 0.5 })
                .workers(2)
        });
        assert!(met(&loader, 0).len() > 1, "all batches have one size");
    }
    Ok(())
}

fn padded_batches_are_the_cpus() -> Outcome {
    for (dtype, bad) in [(DType::F16, BadSample::Skip), (DType::U8, BadSample::Substitute)] {
        let loader = same_on_both("padded", 1, || {
            let builder = Loader::builder(memory(pictures::with_bad_ones()))
                .batch_size(4)
                .bad_sample(bad)
                .last_batch(LastBatch::Partial)
                .augment(RandomHorizontalFlip::new(0.5))
                .augment(RandomShortestSize::new([16, 24, 40]).max_size(64))
                .output(dtype, Layout::Nchw)
                .output_size(Size::new(64, 64))
                .pad_to_largest(true)
                .workers(2);
            match dtype {
                DType::U8 => builder,
                _ => builder.normalize(IMAGENET_MEAN, IMAGENET_STD),
            }
        });
        assert!(met(&loader, 0).len() > 1, "all batches have one size");
        assert!(
            loader
                .epoch(0)
                .all(|batch| batch.unwrap().padding().is_some_and(|padding| padding.contains(&true)))
        );
    }
    Ok(())
}

fn drawn(builder: LoaderBuilder) -> LoaderBuilder {
    builder.batch_size(3).multi_scale(sizes())
}

fn batches_of_drawn_sizes_are_the_cpus() -> Outcome {
    let loader = same_on_both("drawn sizes", 3, || drawn(small(pictures::all())));
    assert!((0..3).flat_map(|epoch| met(&loader, epoch)).collect::<BTreeSet<_>>().len() > 2);
    same_on_both("mosaics of drawn sizes", 1, || {
        let builder = Loader::builder(memory(pictures::all())).batch_size(2).shuffle(true).workers(2);
        let builder = builder.augment(Mosaic::new(32)).augment(YoloPerspective::new(32));
        let builder = builder.augment(RandomHorizontalFlip::default()).output(DType::U8, Layout::Nhwc);
        builder.multi_scale(MultiScale::Around { by: 0.5, stride: 8 })
    });
    Ok(())
}

fn batches_of_drawn_sizes_made_in_parts() -> Outcome {
    same_on_both("parts", 1, || drawn(small(pictures::large())).batch_size(12).device_memory(1));
    Ok(())
}

fn rows_that_fail_in_batches_of_drawn_sizes() -> Outcome {
    for bad in [BadSample::Skip, BadSample::Substitute] {
        same_on_both(&format!("{bad:?}"), 2, || {
            drawn(small(pictures::with_bad_ones())).bad_sample(bad).last_batch(LastBatch::Pad).workers(1)
        });
    }
    Ok(())
}

fn a_trainers_stream_sees_finished_batches_of_every_size() -> Outcome {
    trained(3, || drawn(small(pictures::all())).prefetch(1)).map(drop)
}
