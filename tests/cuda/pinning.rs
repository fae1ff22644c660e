//! Batches of the CPU in page-locked memory, which a trainer copies to the device by itself and drops at once.

use crate::client::{Buffer, Client, Pinned, Stream};
use crate::counts::Counts;
use crate::pictures;
use crate::pipeline::small;
use crate::scenario::{Outcome, Scenario};
use feedline::loader::{Batch, Loader, LoaderBuilder};

pub(crate) const SCENARIOS: &[Scenario] = &[
    Scenario::new(
        "page-locked batches are written again only once their copies are made",
        copies_are_made_ahead_of_the_next_batch,
    ),
    Scenario::new(
        "page-locked batches outlive their loader, and are freed behind their copies",
        batches_outlive_their_loader,
    ),
    Scenario::new("memory that cannot be page-locked is ordinary", memory_that_cannot_be_locked_is_ordinary)
        .driver(",fault=cuMemHostAlloc@2:2"),
];

const EPOCHS: u64 = 4;

fn builder() -> LoaderBuilder {
    small(pictures::all()).batch_size(3).prefetch(1).workers(2)
}

fn pinned() -> Result<Loader, feedline::error::Error> {
    builder().pin_memory(true).build()
}

/// What the batches hold without any of this.
fn expected() -> Result<Vec<Vec<f32>>, Box<dyn std::error::Error>> {
    let loader = builder().build()?;
    let floats = |batch: Batch| batch.as_f32().unwrap_or_default().to_vec();
    (0..EPOCHS).flat_map(|epoch| loader.epoch(epoch)).map(|batch| Ok(floats(batch?))).collect()
}

/// Enqueues a copy of the batch's pixels to the device; the host waits for nothing.
fn copied<'a>(
    client: &'a Client,
    batch: &Batch,
    stream: &Stream<'_>,
) -> Result<Buffer<'a>, Box<dyn std::error::Error>> {
    let floats = batch.as_f32().ok_or("no floats in the host's memory")?;
    let buffer = Buffer::new(client, size_of_val(floats))?;
    client.upload_ordinary(&buffer, floats, stream)?;
    Ok(buffer)
}

fn compare(client: &Client, stream: &Stream<'_>, copies: &[Buffer<'_>], want: &[Vec<f32>]) -> Outcome {
    assert_eq!(copies.len(), want.len());
    for (number, (copy, want)) in copies.iter().zip(want).enumerate() {
        let back = Pinned::new(client, want.len())?;
        client.download(&back, copy, stream)?;
        client.synchronize_stream(stream)?;
        assert!(back.values() == *want, "batch {number} was written over while it was copied");
    }
    Ok(())
}

fn copies_are_made_ahead_of_the_next_batch() -> Outcome {
    let want = expected()?;
    let (client, counts) = (Client::start()?, Counts::open()?);
    let loader = pinned()?;
    assert_eq!(loader.unpinned(), None);
    let stream = Stream::new(&client)?;
    let mut copies = Vec::new();
    for batch in (0..EPOCHS).flat_map(|epoch| loader.epoch(epoch)) {
        copies.push(copied(&client, &batch?, &stream)?);
    }
    assert_eq!(counts.pageable_copies(), 0, "the batches are not page-locked");
    compare(&client, &stream, &copies, &want)
}

fn batches_outlive_their_loader() -> Outcome {
    let want = expected()?;
    let (client, counts) = (Client::start()?, Counts::open()?);
    let loader = pinned()?;
    let stream = Stream::new(&client)?;
    let kept = loader.epoch(0).collect::<Result<Vec<_>, _>>()?;
    drop(loader);
    let copies = kept.iter().map(|batch| copied(&client, batch, &stream)).collect::<Result<Vec<_>, _>>()?;
    drop(kept);
    assert_eq!(counts.pinned_bytes(), 0, "something is left");
    compare(&client, &stream, &copies, &want[..copies.len()])
}

fn memory_that_cannot_be_locked_is_ordinary() -> Outcome {
    let want = expected()?;
    let loader = pinned()?;
    let batches = (0..EPOCHS).flat_map(|epoch| loader.epoch(epoch)).collect::<Result<Vec<_>, _>>()?;
    assert!(batches.iter().zip(&want).all(|(batch, want)| batch.as_f32() == Some(want)));
    let why = loader.unpinned().ok_or("nobody says that some memory is not page-locked")?;
    assert!(why.contains("cuMemHostAlloc"), "{why}");
    Ok(())
}
