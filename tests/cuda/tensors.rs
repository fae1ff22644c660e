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
use std::sync::Arc;

pub(crate) const SCENARIOS: &[Scenario] = &[
    Scenario::new("tensors on a trainer's stream are finished and not overwritten", || copied(true)).swept(),
    Scenario::new("tensors that no stream was named for are read too early", || copied(false))
        .caught(&["wrong:"]),
    Scenario::new("tensors outlive their epoch and their loader", outliving),
    Scenario::new("streams of a tensor are numbered as in Python", numbered),
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

/// Copies all batches of two epochs on one stream; the tensors are deleted as soon as the copies are enqueued.
fn copied(on_its_stream: bool) -> Outcome {
    let cpu = build().build()?;
    let client = Client::start()?;
    let cuda = build().device(Device::Cuda { ordinal: 0 }).build()?;
    let stream = Stream::new(&client)?;
    let mut copies = Vec::new();
    let mut want = Vec::new();
    let _quiet = Quiet(&client);
    for number in 0..2 {
        for (batch, same) in cuda.epoch(number).zip(cpu.epoch(number)) {
            let tensor = Arc::new(batch?).to_dlpack();
            let number = if on_its_stream { stream.raw as i64 } else { -1 };
            // SAFETY: the stream is dropped behind all tensors; where none is named, the mistake is on purpose.
            unsafe { tensor.use_on_numbered(Some(number)) }?;
            copies.push(Pinned::new(&client, tensor.bytes() / 4)?);
            let address = tensor.data() as u64;
            let tensor = Foreign(tensor.into_raw());
            client.download_from(&copies[copies.len() - 1], address, &stream)?;
            std::thread::spawn(move || drop(tensor)).join().map_err(|_| "the deleter panicked")?;
            want.push(same?);
        }
    }
    client.synchronize_stream(&stream)?;
    for (copy, want) in copies.iter().zip(&want) {
        let want = want.as_f32().ok_or("no floats")?;
        copy.compare(|at| want[at])?;
    }
    Ok(())
}

fn outliving() -> Outcome {
    let want: Vec<_> = build().build()?.epoch(0).collect::<Result<_, _>>()?;
    let loader = build().device(Device::Cuda { ordinal: 0 }).build()?;
    let mut epoch = loader.epoch(0);
    let batch = Arc::new(epoch.next().ok_or("no batch")??);
    let tensor = batch.to_dlpack();
    let labels = batch.field_to_dlpack(Field::Labels).ok_or("no labels")?;
    assert_eq!((tensor.dl_device().device_type, tensor.data() as usize % 256), (abi::CUDA, 0));
    assert_eq!((labels.dl_device().device_type, tensor.shape()), (abi::CPU, &[1, 3, 40, 40][..]));
    drop((loader, epoch, batch));
    tensor.wait()?;
    assert!(tensor.batch().to_host()? == want[0].images());
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
