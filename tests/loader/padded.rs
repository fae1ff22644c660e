//! Batches as large as their largest sample: each sample as it would be alone, and zeros around it.

use crate::instances::asked;
use crate::shapes::{SEEN, Shapes};
use feedline::augment::{Augment, RandomErasing, RandomHorizontalFlip, RandomShortestSize, Resize};
use feedline::color::{IMAGENET_MEAN, IMAGENET_STD};
use feedline::dlpack::Field;
use feedline::dlpack::abi::DLDataType;
use feedline::draft::Draft;
use feedline::draft::op::Op;
use feedline::geometry::Size;
use feedline::loader::{BadSample, Batch, LastBatch, Loader, LoaderBuilder, Status};
use feedline::output::{DType, Layout};
use feedline::rng::Draws;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::channel;
use std::sync::{Arc, OnceLock, Weak};
use std::time::Duration;

const MOST: Size = Size::new(64, 64);

/// The shorter edge is one of three lengths, the longer one at most 64.
fn chain() -> LoaderBuilder {
    Loader::builder(Shapes::default())
        .batch_size(3)
        .last_batch(LastBatch::Partial)
        .seed(4)
        .workers(2)
        .augment(RandomHorizontalFlip::new(0.5))
        .augment(RandomShortestSize::new([20, 30, 40]).max_size(64))
        .normalize(IMAGENET_MEAN, IMAGENET_STD)
        .output(DType::F32, Layout::Nchw)
        .output_size(MOST)
        .masks(255)
}

fn padded(more: &[(&str, &str)]) -> LoaderBuilder {
    asked(chain(), &[&[("pad_to_largest", "true")], more].concat())
}

/// Does explicit ops.
struct Same(Vec<Op>);

impl Augment for Same {
    fn name(&self) -> &'static str {
        "Same"
    }

    fn plan(&self, draft: &mut Draft, _partners: Vec<Draft>, _rng: &mut dyn Draws) {
        self.0.iter().for_each(|op| draft.apply(op.clone()));
    }
}

/// Pixels, classes of the mask and boxes of a sample alone, in its own size.
fn alone(index: u64, size: Size, ops: &[Op]) -> (Vec<f32>, Vec<u8>, Vec<[f32; 4]>) {
    let own = ops.iter().filter(|op| !matches!(op, Op::Pad { .. } | Op::Erase { .. })).cloned().collect();
    let loader = Loader::builder(Shapes::default())
        .subset([index])
        .augment(Same(own))
        .normalize(IMAGENET_MEAN, IMAGENET_STD)
        .output(DType::F32, Layout::Nchw)
        .output_size(size)
        .masks(255)
        .build()
        .unwrap();
    let batch = loader.epoch(0).next().unwrap().unwrap();
    let boxes = batch.objects().map(|objects| objects.boxes.clone()).unwrap_or_default();
    (batch.as_f32().unwrap().to_vec(), batch.masks().unwrap().to_vec(), boxes)
}

fn check(loader: &Loader, batch: &Batch, divisor: usize) {
    let [rows, _, height, width] = batch.shape();
    let (padding, sizes) = (batch.padding().unwrap(), batch.sizes().unwrap());
    assert_eq!((padding.len(), sizes.len()), (rows * height * width, rows));
    let most = |axis: usize| sizes.iter().map(|size| size[axis] as usize).max().unwrap();
    assert_eq!([height, width], [most(0), most(1)].map(|edge| edge.next_multiple_of(divisor)));
    let mut boxes = batch.objects().unwrap().boxes.iter();
    for (row, &index) in batch.indices().iter().enumerate() {
        let [h, w] = sizes[row].map(|edge| edge as usize);
        let planned = loader.plan(0, index).unwrap();
        assert_eq!(planned.plan.unpadded, Some(Size::new(w as u32, h as u32)));
        let (pixels, classes, own) = alone(index, Size::new(w as u32, h as u32), &planned.ops);
        for (x, y) in (0..height).flat_map(|y| (0..width).map(move |x| (x, y))) {
            let at = (row * height + y) * width + x;
            let inside = x < w && y < h;
            assert_eq!(padding[at], !inside, "row {row} at {x}, {y}");
            assert_eq!(batch.masks().unwrap()[at], if inside { classes[y * w + x] } else { 255 });
            for channel in 0..3 {
                let got = batch.as_f32().unwrap()[((row * 3 + channel) * height + y) * width + x];
                let want = if inside { pixels[(channel * h + y) * w + x] } else { 0.0 };
                assert_eq!(got, want, "row {row}, channel {channel} at {x}, {y}");
            }
        }
        assert!(own.iter().all(|alone| boxes.next() == Some(alone)), "row {row}");
    }
    assert!(boxes.next().is_none());
}

#[test]
fn each_sample_is_what_it_would_be_alone_with_zeros_at_its_right_and_below_it() {
    for (divisor, more) in [(1, &[][..]), (32, &[("stride", "32")][..])] {
        let loader = padded(more).build().unwrap();
        let batches: Vec<Batch> = loader.epoch(0).map(Result::unwrap).collect();
        assert_eq!(batches.iter().map(Batch::len).sum::<usize>(), SEEN.len());
        batches.iter().for_each(|batch| check(&loader, batch, divisor));
        let mut shapes: Vec<_> = batches.iter().map(|batch| batch.shape()[2..].to_vec()).collect();
        shapes.dedup();
        assert!(divisor > 1 || shapes.len() > 1, "all batches have one size: {shapes:?}");
    }
}

#[test]
fn samples_do_not_depend_on_the_batch_that_they_are_padded_to() {
    let sizes = |rows: usize| -> Vec<[i64; 2]> {
        let loader = padded(&[]).batch_size(rows).build().unwrap();
        loader.epoch(3).flat_map(|batch| batch.unwrap().sizes().unwrap().to_vec()).collect()
    };
    assert_eq!(sizes(1), sizes(4));
    assert_eq!(sizes(1).len(), SEEN.len());
}

#[test]
fn boxes_as_parts_are_parts_of_the_sample_and_not_of_its_batch() {
    let boxes = |unit: &str| -> (Vec<[f32; 4]>, Vec<[i64; 2]>) {
        let loader = padded(&[("box_unit", unit)]).batch_size(SEEN.len()).build().unwrap();
        let batch = loader.epoch(0).next().unwrap().unwrap();
        let objects = batch.objects().unwrap();
        let own = objects.batch_index.iter().map(|&row| batch.sizes().unwrap()[row as usize]);
        (objects.boxes.clone(), own.collect())
    };
    let ((pixels, sizes), (parts, _)) = (boxes("pixels"), boxes("normalized"));
    assert!(!parts.is_empty());
    for ((pixels, parts), [height, width]) in pixels.iter().zip(&parts).zip(sizes) {
        let [w, h] = [width, height].map(|edge| edge as f32);
        let whole = [parts[0] * w, parts[1] * h, parts[2] * w, parts[3] * h];
        assert!(pixels.iter().zip(whole).all(|(a, b)| (a - b).abs() < 1e-3), "{pixels:?}, {whole:?}");
    }
}

#[test]
fn padding_and_sizes_are_fields_of_a_batch_and_only_where_they_are_asked_for() {
    let batch = Arc::new(padded(&[]).build().unwrap().epoch(0).next().unwrap().unwrap());
    let [n, _, height, width] = batch.shape().map(|edge| edge as i64);
    let padding = batch.field_to_dlpack(Field::Padding).unwrap();
    assert_eq!((padding.shape(), padding.dtype()), (&[n, height, width][..], DLDataType::BOOL));
    let sizes = batch.field_to_dlpack(Field::Sizes).unwrap();
    assert_eq!((sizes.shape(), sizes.dtype()), (&[n, 2][..], DLDataType::I64));
    let plain = Loader::builder(Shapes::default()).augment(Resize::new([8, 8])).build().unwrap();
    let plain = plain.epoch(0).next().unwrap().unwrap();
    assert!(plain.padding().is_none() && plain.sizes().is_none());
}

#[test]
fn what_cannot_be_padded_is_refused() {
    let refused = |builder: LoaderBuilder| builder.build().map(drop).unwrap_err().to_string();
    let pads = [("pad_to_largest", "true")];
    let shortest = || Loader::builder(Shapes::default()).augment(RandomShortestSize::new(40));
    let unsized_ = refused(asked(shortest(), &pads));
    assert!(unsized_.contains("pad_to_largest needs the output's size"), "{unsized_}");
    let large = refused(asked(shortest().output_size(Size::new(50, 50)), &pads));
    assert!(large.contains("the sample ends at 53x40") && large.contains("50x50, is the largest"), "{large}");
    let both = refused(padded(&[("multi_scale", "0.5")]));
    assert!(both.contains("multi_scale and pad_to_largest both say what size a batch has"), "{both}");
    let erased = refused(padded(&[]).augment(RandomErasing::new(1.0)));
    assert!(
        erased.contains("pad_to_largest pads the finished sample, which cannot follow erase"),
        "{erased}"
    );
    let stride = refused(padded(&[("stride", "0")]));
    assert!(stride.contains("pad_to_largest: stride is 0"), "{stride}");
}

#[test]
fn a_substitute_that_is_larger_than_the_batch_gives_way_to_one_that_fits() {
    let source = Shapes { bad: vec![2], ..Shapes::default() };
    let loader = Loader::builder(source)
        .batch_size(3)
        .bad_sample(BadSample::Substitute)
        .augment(RandomShortestSize::new(20).max_size(64))
        .output_size(MOST);
    let loader = asked(loader, &[("pad_to_largest", "true")]).build().unwrap();
    for batch in loader.epoch(0) {
        let batch = batch.unwrap();
        let [_, _, height, width] = batch.shape();
        assert!(batch.sizes().unwrap().iter().all(|[h, w]| *h as usize <= height && *w as usize <= width));
    }
}

#[test]
fn the_plan_of_another_ranks_sample_is_that_of_its_own_batch() {
    let of = |rank| padded(&[]).batch_size(2).rank(rank, 2).build().unwrap();
    let ranks = [of(0), of(1)];
    let sizes: Vec<_> = ranks.iter().map(|loader| loader.epoch(0).next().unwrap().unwrap().shape()).collect();
    assert_ne!(sizes[0], sizes[1], "the test needs ranks whose batches differ");
    for loader in &ranks {
        for batch in ranks.iter().flat_map(|other| other.epoch(0)) {
            let batch = batch.unwrap();
            let [_, _, height, width] = batch.shape();
            for (row, &index) in
                batch.indices().iter().enumerate().filter(|(row, _)| batch.status()[*row] == Status::Ok)
            {
                let planned = loader.plan(0, index).unwrap();
                assert_eq!(planned.plan.size(), Size::new(width as u32, height as u32), "row {row}");
            }
        }
    }
}

/// Panics at the sample that is drawn third.
struct Fragile;

impl Augment for Fragile {
    fn name(&self) -> &'static str {
        "Fragile"
    }

    fn plan(&self, draft: &mut Draft, _partners: Vec<Draft>, _rng: &mut dyn Draws) {
        let size = draft.size();
        assert!([size.width, size.height] != SEEN[4], "cannot bear {size}");
    }
}

#[test]
fn a_panic_while_sizes_are_found_is_an_error_of_its_sample() {
    let loader = Loader::builder(Shapes::default()).batch_size(3).last_batch(LastBatch::Partial);
    let loader = loader.augment(Fragile).augment(RandomShortestSize::new(20).max_size(64)).output_size(MOST);
    let loader = asked(loader, &[("pad_to_largest", "true")]).build().unwrap();
    for epoch in 0..2 {
        let failed: Vec<String> =
            loader.epoch(epoch).filter_map(Result::err).map(|error| error.to_string()).collect();
        assert!(failed.len() == 1 && failed[0].contains("cannot bear"), "{failed:?}");
    }
}

/// Asks its own loader for figures, as an embedder's code may.
#[derive(Clone, Default)]
struct Asking(Arc<(OnceLock<Weak<Loader>>, AtomicUsize)>);

impl Augment for Asking {
    fn name(&self) -> &'static str {
        "Asking"
    }

    fn plan(&self, _draft: &mut Draft, _partners: Vec<Draft>, _rng: &mut dyn Draws) {
        let (loader, answers) = &*self.0;
        if let Some(loader) = loader.get().and_then(Weak::upgrade) {
            answers.fetch_add(loader.stats().workers, Ordering::Relaxed);
        }
    }
}

#[test]
fn what_plans_a_batch_may_ask_its_loader() {
    let asking = Asking::default();
    let own = asking.clone();
    let (tell, told) = channel();
    std::thread::spawn(move || {
        let loader = Arc::new(padded(&[]).augment(own.clone()).build().unwrap());
        own.0.0.set(Arc::downgrade(&loader)).unwrap();
        let shown: usize = loader.epoch(0).map(|batch| batch.unwrap().len()).sum();
        tell.send(shown).unwrap();
    });
    assert_eq!(told.recv_timeout(Duration::from_secs(60)), Ok(SEEN.len()));
    assert!(asking.0.1.load(Ordering::Relaxed) > 0, "nothing was asked");
}
