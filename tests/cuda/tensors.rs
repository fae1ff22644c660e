//! Batches on a device as DLPack tensors: a trainer names its stream, and its views are deleted by whoever has them.

#![expect(
    unsafe_code,
    reason = "a trainer vouches for its own stream, and deletes tensors through raw pointers"
)]

use crate::client::{Client, Pinned, Quiet, Stream};
use crate::pictures;
use crate::pipeline::small;
use crate::scenario::{Outcome, Scenario};
use feedline::device::Device;
use feedline::dlpack::Field;
use feedline::dlpack::abi::{self, DLManagedTensorVersioned};
use feedline::loader::LoaderBuilder;
use std::mem::ManuallyDrop;
use std::sync::Arc;

pub(crate) const SCENARIOS: &[Scenario] = &[
    Scenario::new("tensors on a trainer's stream are finished and not overwritten", || copied(true)).swept(),
    Scenario::new("tensors that no stream was named for are read too early", || copied(false))
        .caught(&["wrong:"]),
    Scenario::new("tensors outlive their epoch and their loader", outliving).on_gpu(),
    Scenario::new("streams of a tensor are numbered as in Python", numbered).driver(",default_stream=1"),
    Scenario::new("tensors on the default stream are finished and not overwritten", on_the_default_stream)
        .driver(",default_stream=1"),
    Scenario::new("the default stream copies from a tensor what the batch holds", held)
        .driver(",default_stream=1")
        .on_gpu(),
];

fn build() -> LoaderBuilder {
    small(pictures::few()).batch_size(1).prefetch(1).workers(1)
}

/// A tensor in the hands of a trainer, which may drop it on any thread.
struct Foreign(*mut DLManagedTensorVersioned);

// SAFETY: DLPack lets a tensor be deleted on any thread.
unsafe impl Send for Foreign {}

impl Drop for Foreign {
    fn drop(&mut self) {
        // SAFETY: the deleter is called here alone.
        unsafe { (*self.0).deleter.map(|delete| delete(self.0)) };
    }
}

fn copied(on_its_stream: bool) -> Outcome {
    let client = Client::start()?;
    let stream = Stream::new(&client)?;
    let number = if on_its_stream { stream.raw as i64 } else { -1 };
    copied_on(&client, &stream, Some(number))
}

fn on_the_default_stream() -> Outcome {
    let client = Client::start()?;
    let stream = ManuallyDrop::new(Stream::default_of(&client));
    copied_on(&client, &stream, None)
}

/// Copies all batches of two epochs on one stream; the tensors are deleted as soon as the copies are enqueued.
fn copied_on(client: &Client, stream: &Stream, number: Option<i64>) -> Outcome {
    // They go after the loader, whose work would hold up their freeing.
    let mut copies = Vec::new();
    let cpu = build().build()?;
    let cuda = build().device(Device::Cuda { ordinal: 0 }).build()?;
    let mut want = Vec::new();
    let _quiet = Quiet(client);
    for epoch in 0..2 {
        for (batch, same) in cuda.epoch(epoch).zip(cpu.epoch(epoch)) {
            let tensor = Arc::new(batch?).to_dlpack();
            // SAFETY: the stream is dropped behind all tensors; with -1 the mistake is on purpose.
            unsafe { tensor.use_on_numbered(number) }?;
            copies.push(Pinned::new(client, tensor.bytes() / 4)?);
            let address = tensor.data() as u64;
            let tensor = Foreign(tensor.into_raw());
            client.download_from(&copies[copies.len() - 1], address, stream)?;
            std::thread::spawn(move || drop(tensor)).join().map_err(|_| "the deleter panicked")?;
            want.push(same?);
        }
    }
    client.synchronize_stream(stream)?;
    for (copy, want) in copies.iter().zip(&want) {
        let want = want.as_f32().ok_or("no floats")?;
        copy.compare(|at| want[at])?;
    }
    Ok(())
}

/// Without the CPU's pixels, which nvJPEG's are not, so that a GPU can show it.
fn held() -> Outcome {
    let client = Client::start()?;
    let stream = ManuallyDrop::new(Stream::default_of(&client));
    let loader = build().device(Device::Cuda { ordinal: 0 }).build()?;
    // They are freed at the end, since the loader's work goes on meanwhile.
    let mut copies = Vec::new();
    let _quiet = Quiet(&client);
    for batch in loader.epoch(0) {
        let tensor = Arc::new(batch?).to_dlpack();
        // SAFETY: the default stream is always there.
        unsafe { tensor.use_on_numbered(None) }?;
        let copy = Pinned::new(&client, tensor.bytes() / 4)?;
        client.download_from(&copy, tensor.data() as u64, &stream)?;
        let want = tensor.batch().to_host()?;
        drop(tensor);
        client.synchronize_stream(&stream)?;
        assert!(
            bytemuck::cast_slice::<f32, u8>(&copy.values()) == want,
            "the copy is not what the batch holds"
        );
        copies.push(copy);
    }
    Ok(())
}

fn outliving() -> Outcome {
    let loader = build().device(Device::Cuda { ordinal: 0 }).build()?;
    let mut epoch = loader.epoch(0);
    let batch = Arc::new(epoch.next().ok_or("no batch")??);
    let want = batch.to_host()?;
    let tensor = batch.to_dlpack();
    let labels = batch.field_to_dlpack(Field::Labels).ok_or("no labels")?;
    assert_eq!((tensor.dl_device().device_type, tensor.data() as usize % 256), (abi::CUDA, 0));
    assert_eq!((labels.dl_device().device_type, tensor.shape()), (abi::CPU, &[1, 3, 40, 40][..]));
    drop((loader, epoch, batch));
    tensor.wait()?;
    assert!(tensor.batch().to_host()? == want);
    let tensor = Foreign(tensor.into_raw());
    drop(labels);
    std::thread::spawn(move || drop(tensor)).join().map_err(|_| "the deleter panicked")?;
    Ok(())
}

fn numbered() -> Outcome {
    let loader = build().device(Device::Cuda { ordinal: 0 }).build()?;
    let tensor = Arc::new(loader.epoch(0).next().ok_or("no batch")??).to_dlpack();
    for number in [0, 2, -2] {
        // SAFETY: no stream is named.
        let error = unsafe { tensor.use_on_numbered(Some(number)) }.unwrap_err().to_string();
        assert!(error.contains(&format!("stream {number} ")) && error.contains("name 1"), "{error}");
    }
    for number in [None, Some(1), Some(-1)] {
        // SAFETY: the default stream is always there.
        unsafe { tensor.use_on_numbered(number) }?;
    }
    tensor.wait()?;
    Ok(())
}
