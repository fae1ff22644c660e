//! Batches as DLPack tensors: whose memory it is, and when it goes back to the loader.

#![expect(
    unsafe_code,
    reason = "a library that is given tensors reads and deletes them through raw pointers"
)]

use crate::support::{Flat, builder, flat, masked, outlined, shown};
use feedline::device::Device;
use feedline::dlpack::abi::{self, DLDataType, DLManagedTensor, DLManagedTensorVersioned, DLTensor};
use feedline::dlpack::{Field, Tensor};
use feedline::label::{Label, Objects};
use feedline::loader::Batch;
use feedline::output::{DType, Layout};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// A tensor in the hands of another library.
struct Foreign(*mut DLManagedTensorVersioned);

// SAFETY: DLPack lets a tensor be read and deleted on any thread.
unsafe impl Send for Foreign {}

impl Foreign {
    fn tensor(&self) -> &DLTensor {
        // SAFETY: it is not deleted before it is dropped.
        unsafe { &(*self.0).dl_tensor }
    }

    fn bytes(&self) -> Vec<u8> {
        // SAFETY: as above.
        bytes_of(unsafe { &(*self.0).dl_tensor })
    }
}

impl Drop for Foreign {
    fn drop(&mut self) {
        // SAFETY: the deleter is called here alone.
        unsafe { ((*self.0).deleter.unwrap())(self.0) };
    }
}

/// The elements as another library finds them: by address, shape and strides.
fn bytes_of(tensor: &DLTensor) -> Vec<u8> {
    let axes = tensor.ndim as usize;
    // SAFETY: both have as many entries as there are axes.
    let (shape, strides) = unsafe {
        (std::slice::from_raw_parts(tensor.shape, axes), std::slice::from_raw_parts(tensor.strides, axes))
    };
    let size = tensor.dtype.bytes();
    let mut bytes = Vec::new();
    for number in 0..shape.iter().product::<i64>() {
        let (mut rest, mut at) = (number, 0);
        for axis in (0..axes).rev() {
            at += rest % shape[axis] * strides[axis];
            rest /= shape[axis];
        }
        let first = tensor.data.cast::<u8>().cast_const().wrapping_add(at as usize * size);
        // SAFETY: an element of the tensor.
        bytes.extend_from_slice(unsafe { std::slice::from_raw_parts(first, size) });
    }
    bytes
}

fn foreign(batch: &Arc<Batch>) -> Foreign {
    Foreign(batch.to_dlpack().into_raw())
}

fn shape(tensor: &DLTensor) -> Vec<i64> {
    // SAFETY: the shape has as many entries as there are axes.
    unsafe { std::slice::from_raw_parts(tensor.shape, tensor.ndim as usize) }.to_vec()
}

fn first_batch() -> Arc<Batch> {
    Arc::new(builder(flat(8), 4).build().unwrap().epoch(0).next().unwrap().unwrap())
}

#[test]
fn a_tensor_is_the_batchs_own_memory() {
    let batch = first_batch();
    let tensor = foreign(&batch);
    let seen = tensor.tensor();
    assert_eq!(seen.data.cast_const().cast(), batch.images().as_ptr());
    assert_eq!(seen.data as usize % 256, 0);
    assert_eq!((shape(seen), seen.byte_offset), (vec![4, 3, 4, 4], 0));
    assert_eq!((seen.device.device_type, seen.device.device_id), (abi::CPU, 0));
    assert_eq!(seen.dtype, DLDataType::U8);
    assert_eq!(tensor.bytes(), batch.images());
    // SAFETY: not deleted yet.
    let head = unsafe { ((*tensor.0).version, (*tensor.0).flags) };
    assert_eq!((head.0.major, head.1), (1, abi::READ_ONLY));
}

#[test]
fn a_tensor_of_the_old_kind_is_the_same_memory() {
    let batch = first_batch();
    let raw: *mut DLManagedTensor = batch.to_dlpack().into_raw_unversioned();
    // SAFETY: deleted once, at the end.
    let seen = unsafe { &(*raw).dl_tensor };
    assert_eq!(
        (seen.data.cast_const().cast(), bytes_of(seen)),
        (batch.images().as_ptr(), batch.images().to_vec())
    );
    assert_eq!(Arc::strong_count(&batch), 2);
    // SAFETY: as said above.
    unsafe { ((*raw).deleter.unwrap())(raw) };
    assert_eq!(Arc::strong_count(&batch), 1);
}

#[test]
fn every_number_format_has_its_type() {
    let types = [
        (DType::F32, DLDataType::F32),
        (DType::F16, DLDataType::F16),
        (DType::Bf16, DLDataType::BF16),
        (DType::U8, DLDataType::U8),
    ];
    for (dtype, want) in types {
        let loader = builder(flat(4), 4).output(dtype, Layout::Nhwc).build().unwrap();
        let batch = Arc::new(loader.epoch(0).next().unwrap().unwrap());
        let tensor = foreign(&batch);
        assert_eq!((tensor.tensor().dtype, shape(tensor.tensor())), (want, vec![4, 4, 4, 3]));
        assert_eq!(tensor.bytes(), batch.images());
        assert_eq!(batch.to_dlpack().bytes(), batch.images().len());
    }
}

#[test]
fn every_field_is_seen_with_its_shape_and_numbers() {
    let source = Flat { objects: Some(outlined), masks: Some(masked), ..flat(6) };
    let loader = builder(source, 6).masks(255).build().unwrap();
    let batch = Arc::new(loader.epoch(0).next().unwrap().unwrap());
    let objects = batch.objects().unwrap();
    let (m, polygons) = (objects.len() as i64, objects.point_offsets.len() as i64 - 1);
    assert!(m > 1 && polygons > 1);
    let crowd: Vec<u8> = objects.crowd.iter().map(|&crowd| u8::from(crowd)).collect();
    let points = [polygons * 3, 2];
    let fields: [(Field, &[i64], DLDataType, &[u8]); 13] = [
        (Field::Labels, &[6], DLDataType::I64, bytemuck::cast_slice(batch.labels())),
        (Field::Indices, &[6], DLDataType::I64, bytemuck::cast_slice(batch.indices())),
        (Field::Masks, &[6, 4, 4], DLDataType::U8, batch.masks().unwrap()),
        (Field::BatchIndex, &[m], DLDataType::I64, bytemuck::cast_slice(&objects.batch_index)),
        (Field::Classes, &[m], DLDataType::I64, bytemuck::cast_slice(&objects.classes)),
        (Field::Boxes, &[m, 4], DLDataType::F32, bytemuck::cast_slice(&objects.boxes)),
        (Field::Shares, &[m], DLDataType::F32, bytemuck::cast_slice(&objects.shares)),
        (Field::Crowd, &[m], DLDataType::BOOL, &crowd),
        (Field::PolygonOffsets, &[m + 1], DLDataType::I64, bytemuck::cast_slice(&objects.polygon_offsets)),
        (Field::PointOffsets, &[polygons + 1], DLDataType::I64, bytemuck::cast_slice(&objects.point_offsets)),
        (Field::Points, &points, DLDataType::F32, bytemuck::cast_slice(&objects.points)),
        (Field::KeypointOffsets, &[m + 1], DLDataType::I64, bytemuck::cast_slice(&objects.keypoint_offsets)),
        (Field::Keypoints, &[m * 2, 3], DLDataType::F32, bytemuck::cast_slice(&objects.keypoints)),
    ];
    for (field, want, dtype, bytes) in fields {
        let tensor = Foreign(batch.field_to_dlpack(field).unwrap().into_raw());
        assert_eq!((shape(tensor.tensor()).as_slice(), tensor.tensor().dtype), (want, dtype), "{field:?}");
        assert_eq!(tensor.bytes(), bytes, "{field:?}");
    }
}

#[test]
fn a_field_that_a_batch_lacks_is_none_and_an_empty_one_has_no_address() {
    let batch = first_batch();
    for field in [Field::Masks, Field::Boxes, Field::Keypoints] {
        assert!(batch.field_to_dlpack(field).is_none(), "{field:?}");
    }
    let nothing = |_| Label::Objects(Arc::new(Objects::default()));
    let loader = builder(Flat { objects: Some(nothing), ..flat(2) }, 2).build().unwrap();
    let batch = Arc::new(loader.epoch(0).next().unwrap().unwrap());
    let tensor = batch.field_to_dlpack(Field::Boxes).unwrap();
    assert_eq!((tensor.shape(), tensor.data().is_null()), (&[0, 4][..], true));
}

#[test]
fn the_loader_gets_its_memory_back_with_the_last_view_and_not_before() {
    let source = flat(400);
    let reads = source.reads.clone();
    let loader = builder(source, 4).prefetch(2).workers(3).build().unwrap();
    let mut epoch = loader.epoch(0);
    let batch = Arc::new(epoch.next().unwrap().unwrap());
    let (first, second) =
        (foreign(&batch), Foreign(batch.field_to_dlpack(Field::Labels).unwrap().into_raw()));
    let reaches = |samples| {
        let began = Instant::now();
        while loader.stats().samples < samples {
            assert!(began.elapsed() < Duration::from_secs(60), "the loader stands still below {samples}");
            std::thread::yield_now();
        }
    };
    let waits_at_16 = || {
        reaches(16);
        // That no worker goes on is shown for every order of events by the queue's own model.
        assert_eq!(reads.lock().unwrap().len(), 16);
    };
    // Four slots of four rows: one held, three full.
    waits_at_16();
    drop(batch);
    waits_at_16();
    drop(first);
    waits_at_16();
    std::thread::spawn(move || drop(second)).join().unwrap();
    reaches(20);
    assert_eq!(epoch.count(), 99);
}

#[test]
fn views_outlive_batch_epoch_and_loader_in_whatever_order_they_are_dropped() {
    for order in orders(&[0, 1, 2, 3, 4]) {
        let loader = builder(flat(16), 4).workers(2).build().unwrap();
        let mut epoch = loader.epoch(0);
        let batch = Arc::new(epoch.next().unwrap().unwrap());
        let want = batch.images().to_vec();
        let (views, later) = ([foreign(&batch), foreign(&batch)], epoch.next().unwrap().unwrap());
        let [one, two] = views;
        let mut parts: [Option<Box<dyn Send>>; 5] =
            [Some(Box::new(loader)), Some(Box::new(epoch)), Some(Box::new(batch)), None, None];
        let mut views = [Some(one), Some(two)];
        for part in order {
            for view in views.iter().flatten() {
                assert_eq!(view.bytes(), want);
            }
            match part {
                0..3 => drop(parts[part].take()),
                _ => drop(views[part - 3].take()),
            }
        }
        assert_eq!(shown(&later, 0), 4);
    }
}

/// All orders of `parts`.
fn orders(parts: &[usize]) -> Vec<Vec<usize>> {
    if parts.is_empty() {
        return vec![Vec::new()];
    }
    let with_first = |&first: &usize| {
        let rest: Vec<usize> = parts.iter().copied().filter(|&part| part != first).collect();
        orders(&rest).into_iter().map(move |rest| [vec![first], rest].concat())
    };
    parts.iter().flat_map(with_first).collect()
}

#[test]
fn a_writer_sees_no_mark_and_writes_into_the_batch() {
    let batch = first_batch();
    // SAFETY: no slice of the pixels is alive below.
    let tensor = Foreign(unsafe { batch.to_dlpack().allow_writes() }.into_raw());
    // SAFETY: the tensor is alive, and has a byte.
    unsafe {
        assert_eq!((*tensor.0).flags, 0);
        tensor.tensor().data.cast::<u8>().write(250);
    }
    assert_eq!(batch.images()[0], 250);
    // SAFETY: nothing is written.
    let labels = unsafe { batch.field_to_dlpack(Field::Labels).unwrap().allow_writes() };
    assert!(labels.is_read_only());
}

#[test]
fn a_tensor_that_nobody_took_comes_back() {
    let batch = first_batch();
    let raw = batch.to_dlpack().into_raw();
    // SAFETY: made above, and taken back once.
    let tensor = unsafe { Tensor::from_raw(raw) };
    assert_eq!((tensor.device(), Arc::strong_count(&batch)), (Device::Cpu, 2));
    drop(tensor);
    assert_eq!(Arc::strong_count(&batch), 1);
}

#[test]
fn a_tensor_in_the_hosts_memory_has_no_stream() {
    let tensor = first_batch().to_dlpack();
    assert!(tensor.wait().is_ok());
    // SAFETY: no stream is named.
    unsafe {
        assert!(tensor.use_on_numbered(None).is_ok() && tensor.use_on_numbered(Some(-1)).is_ok());
        let error = tensor.use_on_numbered(Some(1)).unwrap_err().to_string();
        assert!(error.contains("stream 1") && error.contains("name none"), "{error}");
    }
}
