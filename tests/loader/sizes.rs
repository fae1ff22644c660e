//! Batches that differ in size: the shapes that a naive oracle expects, and in them the pixels of a loader of that size.

use crate::shapes::{EDGE, SEEN, Shapes, TURNED, rect, scaled, training, validating};
use feedline::augment::{CenterCrop, LetterBox, Pad, RandomCrop, RandomResizedCrop, Resize, YoloPerspective};
use feedline::error::Error;
use feedline::geometry::Size;
use feedline::loader::{BadSample, Batch, Epoch, LastBatch, Loader, LoaderBuilder, State, Status};
use feedline::output::{DType, Layout, MultiScale, RectBatches};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// Everything that a batch says, apart from its number.
type TransformedObject = ([usize; 4], Vec<u64>, Vec<u8>, Vec<[f32; 4]>, Option<Vec<u8>>);

fn seen(batch: &Batch) -> TransformedObject {
    let boxes = batch.objects().unwrap().boxes.clone();
    let masks = batch.masks().map(<[u8]>::to_vec);
    (batch.shape(), batch.indices().to_vec(), batch.images().to_vec(), boxes, masks)
}

fn batches(epoch: Epoch) -> Vec<TransformedObject> {
    epoch.map(|batch| seen(&batch.unwrap())).collect()
}

/// Takes `steps` batches, and tells where the run stands, through JSON as a checkpoint would.
fn state_after(mut epoch: Epoch, steps: usize) -> State {
    epoch.by_ref().take(steps).for_each(|batch| drop(batch.unwrap()));
    serde_json::from_str(&serde_json::to_string(&epoch.state()).unwrap()).unwrap()
}

fn shape([width, height]: [u32; 2]) -> f64 {
    f64::from(height) / f64::from(width)
}

/// The indices and the `[height, width]` of each batch, as Ultralytics makes them of shapes.
fn naive(batch_size: usize, pad: f64, stride: f64) -> Vec<(Vec<u64>, [usize; 2])> {
    let mut order: Vec<u64> = (0..SEEN.len() as u64).collect();
    order.sort_by(|a, b| shape(SEEN[*a as usize]).partial_cmp(&shape(SEEN[*b as usize])).unwrap());
    let size = |batch: &[u64]| {
        let shapes: Vec<f64> = batch.iter().map(|index| shape(SEEN[*index as usize])).collect();
        let (least, most) =
            (shapes.iter().copied().fold(9e9, f64::min), shapes.iter().copied().fold(0.0, f64::max));
        let parts = if most < 1.0 {
            [most, 1.0]
        } else if least > 1.0 {
            [1.0, 1.0 / least]
        } else {
            [1.0; 2]
        };
        parts.map(|part| ((part * f64::from(EDGE) / stride + pad).ceil() * stride) as usize)
    };
    order.chunks(batch_size).map(|batch| (batch.to_vec(), size(batch))).collect()
}

#[test]
fn rect_batches_have_the_shapes_of_the_oracle_and_show_each_image_once() {
    for (batch_size, pad, stride) in [(4, 0.5, 8), (4, 0.0, 8), (5, 0.5, 32), (1, 0.5, 16), (23, 1.0, 8)] {
        let loader = rect(batch_size).rect(RectBatches { stride, pad }).build().unwrap();
        let got = loader.epoch(3).map(|batch| {
            let batch = batch.unwrap();
            let [rows, 3, height, width] = batch.shape() else { panic!("{:?}", batch.shape()) };
            assert_eq!((rows, batch.images().len()), (batch.len(), rows * 3 * height * width));
            (batch.indices().to_vec(), [height, width])
        });
        assert_eq!(
            got.collect::<Vec<_>>(),
            naive(batch_size, pad, f64::from(stride)),
            "{batch_size} {pad} {stride}"
        );
    }
}

#[test]
fn images_have_the_shapes_that_are_stored_where_orientations_are_ignored() {
    let stored = |index: &u64| {
        let [width, height] = SEEN[*index as usize];
        shape(if TURNED.contains(&(*index as usize)) { [height, width] } else { [width, height] })
    };
    let builder = validating(Loader::builder(Shapes::default()), EDGE).rect(RectBatches::default());
    let shown = batches(builder.exif(false).build().unwrap().epoch(0));
    let shapes: Vec<f64> = shown.iter().flat_map(|batch| batch.1.iter().map(stored)).collect();
    assert!(shapes.len() == SEEN.len() && shapes.is_sorted(), "{shapes:?}");
}

/// A row's pixels, boxes and mask must be those of a loader whose output always has that size.
fn check_rows(batch: &Batch, alone: impl Fn(Size, u64) -> Loader) {
    let [a, b, c, d] = batch.shape();
    assert_eq!(a, batch.len());
    let size = if b == 3 { Size::new(d as u32, c as u32) } else { Size::new(c as u32, b as u32) };
    let (pixels, masks) = (size.pixels() as usize * 3, size.pixels() as usize);
    let objects = batch.objects().unwrap();
    for (row, &index) in batch.indices().iter().enumerate() {
        let loader = alone(size, index);
        let one = loader.epoch(0).find_map(|one| {
            let one = one.unwrap();
            let at = one.indices().iter().position(|own| *own == index)?;
            Some((one, at))
        });
        let (one, at) = one.unwrap();
        assert_eq!(
            batch.images()[row * pixels..][..pixels],
            one.images()[at * pixels..][..pixels],
            "{index}"
        );
        let boxes = |of: &feedline::loader::BatchObjects, row: usize| -> Vec<[f32; 4]> {
            let here = of.batch_index.iter().zip(&of.boxes).filter(|(at, _)| **at == row as i64);
            here.map(|(_, bbox)| *bbox).collect()
        };
        assert_eq!(boxes(objects, row), boxes(one.objects().unwrap(), at), "{index}");
        if let Some(own) = batch.masks() {
            assert_eq!(own.len(), batch.len() * masks);
            assert_eq!(own[row * masks..][..masks], one.masks().unwrap()[at * masks..][..masks], "{index}");
        }
    }
}

#[test]
fn the_rows_of_a_rect_batch_are_those_of_a_loader_of_that_size() {
    let alone = |size: Size, index| {
        let builder = validating(Loader::builder(Shapes::default()), size).masks(255);
        builder.output_size(size).subset([index]).build().unwrap()
    };
    for batch in rect(4).build().unwrap().epoch(0) {
        check_rows(&batch.unwrap(), alone);
    }
}

#[test]
fn the_rows_of_a_scaled_batch_are_those_of_a_loader_of_that_size() {
    let alone = |size: Size, _| training(Loader::builder(Shapes::default()), size.width).build().unwrap();
    let mut sizes = BTreeMap::new();
    for batch in scaled(3).build().unwrap().epoch(0) {
        let batch = batch.unwrap();
        *sizes.entry(batch.shape()[1]).or_insert(0) += 1;
        check_rows(&batch, alone);
    }
    assert!(sizes.len() > 2, "{sizes:?}");
}

#[test]
fn all_sizes_are_drawn_about_equally_often_and_anew_each_epoch() {
    let loader = scaled(1).build().unwrap();
    let drawn =
        |epoch| -> Vec<usize> { loader.epoch(epoch).map(|batch| batch.unwrap().shape()[1]).collect() };
    let epochs: Vec<Vec<usize>> = (0..40).map(drawn).collect();
    let mut count = BTreeMap::new();
    epochs.iter().flatten().for_each(|edge| *count.entry(*edge).or_insert(0) += 1);
    assert!(count.keys().copied().eq((4..=12).map(|strides| strides * 8)), "{count:?}");
    // 920 draws of 9 sizes: 102 of each, with a standard deviation of 10.
    assert!(count.values().all(|&count| (60..150).contains(&count)), "{count:?}");
    assert!(epochs.windows(2).all(|pair| pair[0] != pair[1]));
}

#[test]
fn a_run_resumed_at_any_batch_goes_on_with_the_same_batches_whatever_the_workers() {
    for build in [rect as fn(usize) -> LoaderBuilder, scaled] {
        let loader = |workers| build(3).rank(1, 2).workers(workers).build().unwrap();
        let (first, others) = (loader(1), [loader(2), loader(3)]);
        let whole = batches(first.epoch(2));
        assert!(whole.windows(2).any(|pair| pair[0].0 != pair[1].0), "sizes differ");
        assert!(others.iter().all(|other| batches(other.epoch(2)) == whole));
        for steps in 0..=whole.len() {
            let state = state_after(first.epoch(2), steps);
            for other in &others {
                assert_eq!(batches(other.resume(&state).unwrap()), whole[steps..], "after {steps} batches");
            }
        }
    }
}

#[test]
fn ranks_make_the_same_steps_of_the_same_sizes_and_together_show_each_image_once() {
    for build in [rect as fn(usize) -> LoaderBuilder, scaled] {
        for last in [LastBatch::Partial, LastBatch::Pad] {
            for ranks in 1..=3 {
                let of_rank = |rank| build(2).last_batch(last).rank(rank, ranks).build().unwrap();
                let mut shown = Vec::new();
                let shapes: Vec<Vec<_>> = (0..ranks)
                    .map(|rank| {
                        let shapes = of_rank(rank).epoch(0).map(|batch| {
                            let batch = batch.unwrap();
                            let rows = batch.indices().iter().zip(batch.status());
                            shown.extend(
                                rows.filter(|(_, status)| **status != Status::Padded)
                                    .map(|(index, _)| *index),
                            );
                            batch.shape()
                        });
                        shapes.collect()
                    })
                    .collect();
                assert!(shapes.iter().all(|own| *own == shapes[0]), "{last:?} of {ranks}");
                shown.sort_unstable();
                assert!(shown.into_iter().eq(0..SEEN.len() as u64), "{last:?} of {ranks}");
            }
        }
    }
}

#[test]
fn a_step_of_several_ranks_has_the_shape_of_one_batch_of_all_their_rows() {
    let whole = naive(6, 0.5, 8.0);
    for rank in 0..3 {
        let loader = rect(2).last_batch(LastBatch::Pad).rank(rank, 3).build().unwrap();
        let sizes = loader.epoch(0).map(|batch| batch.unwrap().shape()[2..].to_vec());
        assert!(sizes.eq(whole.iter().map(|(_, size)| size.to_vec())), "rank {rank}");
    }
}

#[test]
fn other_ranks_go_on_with_the_images_that_were_left_and_the_sizes_that_were_due() {
    for build in [rect as fn(usize) -> LoaderBuilder, scaled] {
        let whole = batches(build(6).build().unwrap().epoch(1));
        let first: Vec<Loader> = (0..2).map(|rank| build(3).rank(rank, 2).build().unwrap()).collect();
        let state = state_after(first[0].epoch(1), 2);
        let rest = batches(build(6).build().unwrap().resume(&state).unwrap());
        let sizes = |batches: &[TransformedObject]| batches.iter().map(|batch| batch.0).collect::<Vec<_>>();
        // Two steps of two ranks of three are two batches of six.
        assert_eq!(sizes(&rest), sizes(&whole[2..]));
        let mut all: Vec<u64> = rest.iter().flat_map(|batch| batch.1.clone()).collect();
        for loader in &first {
            all.extend(batches(loader.epoch(1)).iter().take(2).flat_map(|batch| batch.1.clone()));
        }
        all.sort_unstable();
        assert!(all.into_iter().eq(0..SEEN.len() as u64));
    }
    let state = rect(3).build().unwrap().epoch(0).state();
    for other in [rect(3).rect(RectBatches::default()), rect(3).rect(None)] {
        assert!(other.build().unwrap().resume(&state).is_err(), "another rule is another recipe");
    }
}

#[test]
fn a_sample_is_planned_for_the_batch_that_shows_it() {
    for (build, ranks) in [(rect as fn(usize) -> LoaderBuilder, 1), (rect, 3), (scaled, 1), (scaled, 2)] {
        for rank in 0..ranks {
            let loader = build(2).rank(rank, ranks).build().unwrap();
            for batch in loader.epoch(4) {
                let batch = batch.unwrap();
                let rows = batch.indices().iter().zip(batch.status());
                for (&index, _) in rows.filter(|(_, status)| **status == Status::Ok) {
                    let Size { width, height } = loader.plan(4, index).unwrap().plan.size();
                    let size = [height as usize, width as usize];
                    assert!(
                        batch.shape().windows(2).any(|pair| pair == size),
                        "{index}: {size:?} {:?}",
                        batch.shape()
                    );
                }
            }
        }
    }
}

#[test]
fn gaps_of_bad_images_are_closed_in_batches_of_every_size() {
    let bad = || Loader::builder(Shapes { bad: vec![2, 5, 9, 13], ..Shapes::default() });
    let alone = |size: Size, index| {
        let builder = validating(Loader::builder(Shapes::default()), size);
        builder.output_size(size).subset([index]).build().unwrap()
    };
    for policy in [BadSample::Skip, BadSample::Substitute] {
        let builder = validating(bad(), EDGE).batch_size(5).last_batch(LastBatch::Partial).bad_sample(policy);
        let loader = builder.rect(RectBatches { stride: 8, pad: 0.5 }).build().unwrap();
        let mut rows = 0;
        for batch in loader.epoch(0) {
            let batch = batch.unwrap();
            rows += batch.len();
            check_rows(&batch, alone);
        }
        assert_eq!(rows, if policy == BadSample::Skip { SEEN.len() - 4 } else { SEEN.len() });
    }
    let fails = validating(bad(), EDGE).rect(RectBatches::default()).build().unwrap();
    assert!(
        fails.epoch(0).any(|batch| batch.is_err_and(|error| error.to_string().contains("the disk said no")))
    );
}

/// A subset that names an image several times.
const AGAIN: [u64; 5] = [3, 1, 3, 7, 3];

#[test]
fn headers_are_read_once_and_only_where_batches_follow_them() {
    let count = |build: fn(LoaderBuilder) -> LoaderBuilder| {
        let source = Shapes::default();
        let reads = Arc::clone(&source.reads);
        drop(build(validating(Loader::builder(source), EDGE)).build().unwrap());
        reads.load(Ordering::Relaxed)
    };
    assert_eq!(count(|builder| builder.rect(RectBatches::default())), SEEN.len());
    assert_eq!(count(|builder| builder.rect(RectBatches::default()).subset([3, 1, 7])), 3);
    assert_eq!(count(|builder| builder.rect(RectBatches::default()).subset(AGAIN)), 3);
    for builder in [
        rect(2).rect(RectBatches::default()),
        rect(2).rect(None).output_size(Size::new(EDGE, EDGE)).pad_to_largest(true),
    ] {
        let loader = builder.subset(AGAIN).last_batch(LastBatch::Partial).build().unwrap();
        let mut shown: Vec<u64> =
            loader.epoch(0).flat_map(|batch| batch.unwrap().indices().to_vec()).collect();
        shown.sort_unstable();
        assert_eq!(shown, [1, 3, 3, 3, 7]);
    }
    assert_eq!(count(|builder| builder.multi_scale(MultiScale::squares([64, 32]))), 0);
    assert_eq!(count(|builder| builder), 0);
}

#[test]
fn every_augmentation_of_the_outputs_size_makes_the_batchs() {
    let plain = || Loader::builder(Shapes::default()).batch_size(2).output(DType::U8, Layout::Nchw);
    let sizes = || MultiScale::Sizes(vec![Size::new(40, 24), Size::new(24, 16)]);
    let usual = [48, 48];
    for (name, builder) in [
        ("LetterBox", plain().augment(LetterBox::new(usual))),
        ("YoloPerspective", plain().augment(YoloPerspective::new(usual))),
        ("RandomResizedCrop", plain().augment(RandomResizedCrop::new(48))),
        ("Resize", plain().augment(Resize::new(usual))),
        ("CenterCrop", plain().augment(Resize::new(48)).augment(CenterCrop::new(48))),
        ("RandomCrop", plain().augment(RandomCrop::new(48).pad_if_needed(true))),
    ] {
        let loader = builder.multi_scale(sizes()).build().unwrap_or_else(|error| panic!("{name}: {error}"));
        let shapes: std::collections::BTreeSet<_> =
            loader.epoch(0).map(|batch| batch.unwrap().shape()).collect();
        assert!(shapes.into_iter().eq([[2, 3, 16, 24], [2, 3, 24, 40]]), "{name}");
    }
}

#[test]
fn what_makes_no_sense_is_refused_with_the_remedy() {
    let plain = || validating(Loader::builder(Shapes::default()), EDGE);
    let usual = RectBatches::default;
    let refused = |builder: LoaderBuilder, words: &str| {
        let error = builder.build().map(|_| ()).expect_err(words);
        assert!(matches!(error, Error::Config(_)) && error.to_string().contains(words), "{error}");
    };
    refused(plain().rect(usual()).multi_scale(MultiScale::around(0.5)), "leave one of them out");
    refused(plain().rect(usual()).shuffle(true), "set shuffle to false");
    refused(plain().rect(usual()).weights(&[1.0; SEEN.len()]), "weights draw them");
    let mosaic = training(Loader::builder(Shapes::default()), EDGE).shuffle(false);
    refused(mosaic.rect(usual()), "Mosaic mixes images of any shape: leave it out, or use multi_scale");
    refused(plain().rect(RectBatches { stride: 0, pad: 0.5 }), "stride is 0");
    let wide = |rect| validating(Loader::builder(Shapes::default()), [32, 64]).rect(rect);
    refused(wide(usual()), "the output is 64x32, but it must be a square");
    // 40 and a border of 4 make 48, but nothing was asked for 48.
    let padded = Loader::builder(Shapes::default()).augment(Resize::new([40, 40])).augment(Pad::new(4));
    refused(padded.multi_scale(MultiScale::squares([32])), "end at 48x48 in a batch of 32x32");
    let decoding = || Loader::builder(Shapes::default()).decode_only();
    refused(decoding().rect(usual()), "leave rect out");
    refused(decoding().multi_scale(MultiScale::around(0.5)), "leave multi_scale out");
    // Memory is that of the largest size: 3 bytes of 20,000 squared for a row.
    let huge = plain().batch_size(16).multi_scale(MultiScale::squares([20_000, 32]));
    refused(huge, "16 samples of 1200000000 bytes are more than");
}
