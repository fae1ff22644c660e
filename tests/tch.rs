//! Batches as torch's tensors: whose memory it is, how long it stays, and what is in it.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

#[path = "loader/support.rs"]
#[expect(dead_code, reason = "the loader's own tests use the rest")]
mod support;

use feedline::dlpack::Field;
use feedline::dlpack::tch::TchBatch;
use feedline::label::{Label, Objects};
use feedline::loader::Loader;
use feedline::output::{DType, Layout};
use std::sync::Arc;
use std::time::{Duration, Instant};
use support::{Flat, builder, flat, masked, outlined};
use tch::{Kind, Tensor};

/// The elements of a tensor, copied.
fn bytes(tensor: &Tensor) -> Vec<u8> {
    let mut bytes = vec![0; tensor.numel() * tensor.kind().elt_size_in_bytes()];
    tensor.copy_data_u8(&mut bytes, tensor.numel());
    bytes
}

fn first_of(loader: &Loader) -> TchBatch {
    loader.epoch(0).next().unwrap().unwrap().into_tch().unwrap()
}

#[test]
fn the_pixels_stay_where_they_are_in_every_number_format_and_layout() {
    let kinds = [
        (DType::F32, Kind::Float),
        (DType::F16, Kind::Half),
        (DType::Bf16, Kind::BFloat16),
        (DType::U8, Kind::Uint8),
    ];
    let layouts = [(Layout::Nchw, [4, 3, 4, 4]), (Layout::Nhwc, [4, 4, 4, 3])];
    for ((dtype, kind), (layout, shape)) in
        kinds.into_iter().flat_map(|kind| layouts.map(|layout| (kind, layout)))
    {
        let loader = builder(flat(8), 4).output(dtype, layout).build().unwrap();
        let batch = loader.epoch(0).next().unwrap().unwrap();
        let (address, want) = (batch.images().as_ptr(), batch.images().to_vec());
        let images = batch.images_tch().unwrap();
        assert_eq!(images.data_ptr().cast_const().cast(), address);
        assert_eq!((images.kind(), images.size()), (kind, shape.to_vec()));
        assert_eq!((images.device(), images.is_contiguous()), (tch::Device::Cpu, true));
        assert_eq!(bytes(&images), want);
    }
}

#[test]
fn tensors_outlive_the_batch_the_epoch_and_the_loader() {
    let loader = builder(flat(16), 4).workers(2).build().unwrap();
    let mut epoch = loader.epoch(0);
    let batch = epoch.next().unwrap().unwrap();
    let (want, labels) = (batch.images().to_vec(), batch.labels().to_vec());
    let batch = batch.into_tch().unwrap();
    let clone = batch.images.shallow_clone();
    let last_row = batch.images.narrow(0, 3, 1);
    drop(loader);
    assert_eq!(epoch.count(), 3);
    assert_eq!(bytes(&batch.images), want);
    assert_eq!(Vec::<i64>::try_from(&batch.labels).unwrap(), labels);
    drop(batch);
    assert_eq!(bytes(&clone), want);
    drop(clone);
    assert_eq!(bytes(&last_row), want[want.len() - 48..]);
}

/// A loader of four slots of four rows, where one batch is held and three are full.
struct Held {
    loader: Loader,
    reads: Arc<std::sync::Mutex<Vec<usize>>>,
    epoch: feedline::loader::Epoch,
    batch: TchBatch,
}

impl Held {
    fn new() -> Self {
        let source = flat(400);
        let reads = source.reads.clone();
        let loader =
            builder(source, 4).output(DType::F32, Layout::Nchw).prefetch(2).workers(3).build().unwrap();
        let mut epoch = loader.epoch(0);
        let batch = epoch.next().unwrap().unwrap().into_tch().unwrap();
        Self { loader, reads, epoch, batch }
    }
}

fn reaches(loader: &Loader, samples: u64) {
    let began = Instant::now();
    while loader.stats().samples < samples {
        assert!(began.elapsed() < Duration::from_secs(60), "the loader stands still below {samples}");
        std::thread::yield_now();
    }
}

#[test]
fn the_loader_gets_its_memory_back_with_the_last_tensor_of_the_pixels_and_not_before() {
    let Held { loader, reads, epoch, batch } = Held::new();
    let waits = || {
        reaches(&loader, 16);
        assert_eq!(reads.lock().unwrap().len(), 16);
    };
    waits();
    let (clone, view) = (batch.images.shallow_clone(), batch.images.select(0, 1));
    let TchBatch { images, labels, .. } = batch;
    drop(images);
    waits();
    drop(clone);
    waits();
    std::thread::spawn(move || drop(view)).join().unwrap();
    reaches(&loader, 20);
    assert_eq!(epoch.count(), 99);
    assert_eq!(Vec::<i64>::try_from(labels).unwrap(), [0, 1, 2, 3], "labels hold no pixels, and stay");
}

#[test]
fn what_autograd_keeps_for_the_way_back_is_not_overwritten() {
    let Held { loader, reads, epoch, batch } = Held::new();
    let weight = Tensor::ones([3], (Kind::Float, tch::Device::Cpu)).set_requires_grad(true);
    let want = batch.images.sum_dim_intlist([0i64, 2, 3].as_slice(), false, Kind::Float).copy();
    let loss = (&batch.images * weight.view([1, 3, 1, 1])).sum(Kind::Float);
    drop(batch);
    reaches(&loader, 16);
    assert_eq!(reads.lock().unwrap().len(), 16);
    loss.backward();
    assert_eq!(Vec::<f32>::try_from(weight.grad()).unwrap(), Vec::<f32>::try_from(want).unwrap());
    drop(loss);
    reaches(&loader, 20);
    assert_eq!(epoch.count(), 99);
}

#[test]
fn what_torch_writes_into_a_batch_reaches_no_other_batch() {
    let loader = builder(flat(64), 4).prefetch(1).workers(1).build().unwrap();
    let mut seen = Vec::new();
    for batch in loader.epoch(0) {
        let mut batch = batch.unwrap().into_tch().unwrap();
        let reds = batch.images.select(1, 0).select(1, 0).select(1, 0);
        seen.extend(Vec::<u8>::try_from(reds).unwrap());
        let _ = (batch.images.fill_(255), batch.labels.fill_(-7));
        assert_eq!(bytes(&batch.images), [255; 192]);
    }
    assert_eq!(seen, (0..64).collect::<Vec<u8>>());
}

#[test]
fn every_array_is_the_one_that_dlpack_shows() {
    let source = || Flat { objects: Some(outlined), masks: Some(masked), ..flat(6) };
    let first = || builder(source(), 6).masks(255).build().unwrap().epoch(0).next().unwrap().unwrap();
    let want = Arc::new(first());
    let TchBatch { images, labels, masks, objects, indices, keys, status, number, .. } =
        first().into_tch().unwrap();
    let objects = objects.unwrap();
    let arrays = [
        (Field::Images, images, Kind::Uint8),
        (Field::Labels, labels, Kind::Int64),
        (Field::Masks, masks.unwrap(), Kind::Uint8),
        (Field::BatchIndex, objects.batch_index, Kind::Int64),
        (Field::Classes, objects.classes, Kind::Int64),
        (Field::Boxes, objects.boxes, Kind::Float),
        (Field::Shares, objects.shares, Kind::Float),
        (Field::Crowd, objects.crowd, Kind::Bool),
        (Field::PolygonOffsets, objects.polygon_offsets, Kind::Int64),
        (Field::PointOffsets, objects.point_offsets, Kind::Int64),
        (Field::Points, objects.points, Kind::Float),
        (Field::KeypointOffsets, objects.keypoint_offsets, Kind::Int64),
        (Field::Keypoints, objects.keypoints, Kind::Float),
    ];
    for (field, tensor, kind) in arrays {
        let other = want.field_to_dlpack(field).unwrap();
        assert_eq!((tensor.kind(), tensor.size().as_slice()), (kind, other.shape()), "{field:?}");
        assert!(tensor.numel() > 1, "{field:?}");
        assert_eq!(bytes(&tensor), dlpack_bytes(&other), "{field:?}");
    }
    assert_eq!((&indices[..], &keys[..], &status[..]), (want.indices(), want.keys(), want.status()));
    assert_eq!((objects.format, objects.unit, number), {
        let objects = want.objects().unwrap();
        (objects.format, objects.unit, 0)
    });
}

#[expect(unsafe_code, reason = "a library that is given a tensor reads it through a raw pointer")]
fn dlpack_bytes(tensor: &feedline::dlpack::Tensor) -> Vec<u8> {
    // SAFETY: a tensor in the host's memory without gaps, which nobody writes.
    unsafe { std::slice::from_raw_parts(tensor.data().cast::<u8>(), tensor.bytes()) }.to_vec()
}

#[test]
#[expect(unsafe_code, reason = "who shares a batch promises not to write")]
fn a_shared_batch_is_seen_by_torch_as_well() {
    let batch = Arc::new(builder(flat(4), 4).build().unwrap().epoch(0).next().unwrap().unwrap());
    // SAFETY: nothing is written.
    let tensor = unsafe { batch.to_dlpack().into_tch() }.unwrap();
    assert_eq!(tensor.data_ptr().cast_const().cast(), batch.images().as_ptr());
    assert_eq!((bytes(&tensor), Arc::strong_count(&batch)), (batch.images().to_vec(), 2));
    drop(tensor);
    assert_eq!(Arc::strong_count(&batch), 1);
}

#[test]
fn dense_labels_are_those_of_the_batch() {
    let loader = builder(flat(4), 4).build().unwrap();
    let want = loader.epoch(0).next().unwrap().unwrap().one_hot(5, 0.1).unwrap();
    let batch = first_of(&loader);
    let dense = batch.one_hot(5, 0.1).unwrap();
    assert_eq!((dense.size(), dense.kind()), (vec![4, 5], Kind::Float));
    assert_eq!(Vec::<f32>::try_from(dense.flatten(0, -1)).unwrap(), want);
    let error = batch.one_hot(2, 0.1).unwrap_err().to_string();
    assert!(error.contains("there are 2 classes"), "{error}");
}

#[test]
fn a_batch_without_pixels_or_objects_has_tensors_without_elements() {
    let nothing = |_| Label::Objects(Arc::new(Objects::default()));
    let loader = builder(Flat { objects: Some(nothing), ..flat(2) }, 2).build().unwrap();
    assert_eq!(first_of(&loader).objects.unwrap().boxes.size(), [0, 4]);
    let loader = builder(flat(2), 2).decode_only().build().unwrap();
    let batch = first_of(&loader);
    assert_eq!((batch.images.size(), batch.labels.size()), (vec![2, 3, 0, 0], vec![2]));
}
