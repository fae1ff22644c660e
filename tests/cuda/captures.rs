//! A trainer that captures graphs of its own streams while a loader works, and streams that are gone before the batches are.

#![expect(unsafe_code, reason = "a trainer vouches for its own stream")]

use crate::client::{Client, Event, Pinned, Quiet, Stream};
use crate::pictures;
use crate::pipeline::small;
use crate::scenario::{Outcome, Scenario};
use feedline::device::Device;
use feedline::loader::{Batch, Loader, LoaderBuilder};
use std::sync::Arc;

pub(crate) const SCENARIOS: &[Scenario] = &[
    Scenario::new("a graph is captured while the loader makes batches", || whole(InCapture::Taking)).on_gpu(),
    Scenario::new("a batch is dropped while its stream is captured", || whole(InCapture::Dropping)).on_gpu(),
    Scenario::new("batches beyond those of the loader are dropped in a capture", kept).on_gpu(),
    Scenario::new("memory that a captured stream may still use is left to the process", last)
        .caught(&["LEAK: "]),
    Scenario::new("a call that a capture forbids ends it, and is caught", forbidden)
        .caught(&["cuStreamEndCapture returned 901"]),
    Scenario::new("a batch that is used on a captured stream is refused, and the capture goes on", refused)
        .on_gpu(),
    Scenario::new("a stream is destroyed ahead of the batch that was used on it", passing).on_gpu(),
    Scenario::new("a stream that was to last and is destroyed ahead of its batch is caught", broken_promise)
        .caught(&["is no stream, or no more"]),
];

/// What happens between the beginning of a capture and its end.
#[derive(Clone, Copy, PartialEq)]
enum InCapture {
    Taking,
    Dropping,
}

fn build() -> LoaderBuilder {
    small(pictures::few()).batch_size(1).prefetch(1).workers(1)
}

fn on_device() -> feedline::error::Result<Loader> {
    build().device(Device::Cuda { ordinal: 0 }).build()
}

/// A copy of the batch, which is used on the stream until it is dropped.
fn copy<'a>(
    client: &'a Client,
    stream: &Stream<'_>,
    batch: &Batch,
) -> Result<Pinned<'a>, Box<dyn std::error::Error>> {
    let images = batch.on_device().ok_or("a batch that is not on the device")?;
    // SAFETY: the stream lives until the loader is gone.
    unsafe { images.use_on(stream.raw) }?;
    let copy = Pinned::new(client, images.len() / 4)?;
    client.download_from(&copy, images.ptr(), stream)?;
    Ok(copy)
}

/// Compares copies with the batches of two epochs on the CPU.
fn compare(copies: &[Pinned<'_>]) -> Outcome {
    let cpu = build().build()?;
    let mut compared = 0;
    for (copy, batch) in copies.iter().zip((0..2).flat_map(|epoch| cpu.epoch(epoch))) {
        let batch = batch?;
        let want = batch.as_f32().ok_or("no floats")?;
        copy.compare(|at| want[at])?;
        compared += 1;
    }
    assert_eq!(compared, copies.len());
    Ok(())
}

/// Every batch of two epochs, each with a capture.
fn whole(what: InCapture) -> Outcome {
    let client = Client::start()?;
    let stream = Stream::new(&client)?;
    let mut copies = Vec::new();
    let cuda = on_device()?;
    let _quiet = Quiet(&client);
    for epoch in 0..2 {
        let mut batches = cuda.epoch(epoch);
        while let Some(batch) = batches.next() {
            let batch = batch?;
            copies.push(copy(&client, &stream, &batch)?);
            client.begin_capture(&stream)?;
            let next = match what {
                // The loader works for it, and the host waits.
                InCapture::Taking => batches.next(),
                InCapture::Dropping => {
                    drop(batch);
                    None
                }
            };
            client.end_capture(&stream)?;
            if let Some(next) = next {
                copies.push(copy(&client, &stream, &next?)?);
            }
        }
    }
    client.synchronize_stream(&stream)?;
    assert!(copies.len() > 6);
    compare(&copies)
}

/// All batches of an epoch are held, more than the loader has memory for at first.
fn kept() -> Outcome {
    let client = Client::start()?;
    let stream = Stream::new(&client)?;
    let mut copies = Vec::new();
    let cuda = on_device()?;
    let _quiet = Quiet(&client);
    let batches = cuda.epoch(0).collect::<Result<Vec<_>, _>>()?;
    for batch in &batches {
        copies.push(copy(&client, &stream, batch)?);
    }
    client.begin_capture(&stream)?;
    drop(batches);
    client.end_capture(&stream)?;
    let batches = cuda.epoch(1).collect::<Result<Vec<_>, _>>()?;
    for batch in &batches {
        copies.push(copy(&client, &stream, batch)?);
    }
    client.synchronize_stream(&stream)?;
    compare(&copies)
}

fn last() -> Outcome {
    let client = Client::start()?;
    let stream = Stream::new(&client)?;
    let cuda = on_device()?;
    let batch = cuda.epoch(0).next().ok_or("no batch")??;
    drop(cuda);
    let copies = [copy(&client, &stream, &batch)?];
    client.begin_capture(&stream)?;
    // The last owner of the memory.
    drop(batch);
    // To wait for the device ends a capture.
    drop(client.end_capture(&stream));
    client.synchronize_stream(&stream)?;
    compare(&copies)
}

fn forbidden() -> Outcome {
    let client = Client::start()?;
    let stream = Stream::new(&client)?;
    let event = Event::new(&client)?;
    client.begin_capture(&stream)?;
    assert!(client.is_passed(&event).is_err());
    Ok(client.end_capture(&stream)?)
}

fn refused() -> Outcome {
    let client = Client::start()?;
    let stream = Stream::new(&client)?;
    // Freed behind the loader, whose work goes on meanwhile.
    let mut copies = Vec::new();
    let cuda = on_device()?;
    let _quiet = Quiet(&client);
    let batch = cuda.epoch(0).next().ok_or("no batch")??;
    client.begin_capture(&stream)?;
    let images = batch.on_device().ok_or("a batch that is not on the device")?;
    // SAFETY: the stream lives until the loader is gone.
    let error = unsafe { images.use_on(stream.raw) }.unwrap_err().to_string();
    assert!(error.contains("captured into a CUDA graph") && error.contains("before the capture"), "{error}");
    client.end_capture(&stream)?;
    copies.push(copy(&client, &stream, &batch)?);
    client.synchronize_stream(&stream)?;
    compare(&copies)
}

fn passing() -> Outcome {
    let client = Client::start()?;
    // Freed behind the loader.
    let mut copies = Vec::new();
    let cuda = on_device()?;
    let _quiet = Quiet(&client);
    for epoch in 0..2 {
        for batch in cuda.epoch(epoch) {
            let tensor = Arc::new(batch?).to_dlpack();
            let stream = Stream::new(&client)?;
            // SAFETY: the stream is alive now.
            unsafe { tensor.use_on_passing_numbered(Some(stream.raw as i64)) }?;
            let copy = Pinned::new(&client, tensor.bytes() / 4)?;
            client.download_from(&copy, tensor.data() as u64, &stream)?;
            // What it still has to do is done.
            drop(stream);
            drop(tensor);
            copies.push(copy);
        }
    }
    client.synchronize()?;
    compare(&copies)
}

fn broken_promise() -> Outcome {
    let client = Client::start()?;
    let cuda = on_device()?;
    let _quiet = Quiet(&client);
    let batch = cuda.epoch(0).next().ok_or("no batch")??;
    let stream = Stream::new(&client)?;
    // SAFETY: none, which is the mistake.
    unsafe { batch.on_device().ok_or("a batch that is not on the device")?.use_on(stream.raw) }?;
    drop(stream);
    drop(batch);
    Ok(())
}
