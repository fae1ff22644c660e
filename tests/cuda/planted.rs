//! Kernels with a mistake each: what the grid runner notices of them.

use crate::client::{Buffer, Client, Kernel, Pinned, Quiet, Stream};
use crate::scenario::{Outcome, Scenario};

const COUNT: usize = 1000;
const BLOCKS: u32 = 4;

const UNDEFINED: &[&str] = &["wrong:"];
const DIVERGED: &[&str] = &["PROBLEM: planted_divergent"];

pub(crate) const SCENARIOS: &[Scenario] = &[
    Scenario::new("a correct kernel runs", || run("planted_add_one", 2, |i| i as f32 + 1.0)).swept(),
    Scenario::new("a kernel with barriers and shared memory runs", || run("planted_turn_round", 3, turned)),
    Scenario::new("a write beyond an allocation is caught", || run("planted_write_beyond", 1, |_| 1.0))
        .caught(&["behind its end", "in no allocation"])
        .watches_memory(),
    Scenario::new("a write beyond a large allocation is caught", write_beyond_large)
        .caught(&["behind its end", "in no allocation"])
        .watches_memory(),
    Scenario::new("a read beyond an allocation is caught", read_beyond)
        .caught(&["in no allocation"])
        .watches_memory(),
    Scenario::new("a missing barrier is caught", || run("planted_missing_barrier", 2, turned))
        .caught(UNDEFINED),
    Scenario::new("a missing barrier between two uses of shared memory is caught", second_barrier)
        .caught(UNDEFINED),
    Scenario::new("a return ahead of a barrier is caught", || {
        run("planted_divergent_return", 2, |i| i as f32)
    })
    .caught(DIVERGED),
    Scenario::new("two barriers for one block are caught", || {
        run("planted_divergent_barriers", 2, |i| i as f32)
    })
    .caught(DIVERGED),
    Scenario::new("an index beyond shared memory is caught", || {
        run("planted_shared_beyond", 2, |i| i as f32)
    })
    .caught(&["index beyond an array"])
    .watches_memory(),
    Scenario::new("a read of shared memory that nobody wrote is caught", || {
        run("planted_shared_undefined", 2, |i| i as f32)
    })
    .caught(UNDEFINED),
    Scenario::new("a misaligned load is caught", || run("planted_misaligned", 2, |i| i as f32))
        .caught(&["misaligned access"])
        .watches_memory(),
];

/// Blocks of 256 turned round; zeros come from beyond the end.
fn turned(i: usize) -> f32 {
    let source = i / 256 * 256 + 255 - i % 256;
    if source < COUNT { source as f32 } else { 0.0 }
}

/// Runs a kernel on 0, 1, 2... and compares what it wrote. With three addresses the third is a counter.
fn run(kernel: &str, addresses: usize, want: fn(usize) -> f32) -> Outcome {
    launched(kernel, addresses, COUNT, BLOCKS, want)
}

/// The input ends with the allocation here.
fn read_beyond() -> Outcome {
    launched("planted_read_beyond", 2, 1024, BLOCKS, |i| i as f32 + 1.0)
}

/// The last block ends within the last page of an allocation of more than 2 MiB.
fn write_beyond_large() -> Outcome {
    let count = 600_010;
    launched("planted_write_beyond", 1, count, count.div_ceil(256) as u32, |_| 1.0)
}

fn second_barrier() -> Outcome {
    let want = |i: usize| (i / 256 * 256 + 255 - i % 256) as f32;
    launched("planted_missing_second_barrier", 2, 512, 1, want)
}

fn launched(name: &str, addresses: usize, count: usize, blocks: u32, want: fn(usize) -> f32) -> Outcome {
    let client = Client::start()?;
    let kernel = Kernel::new(&client, name, addresses)?;
    let stream = Stream::new(&client)?;
    let host = Pinned::new(&client, count)?;
    // A kernel that writes without a bound of its own writes whole blocks.
    let bounded = addresses == 1;
    let room = if bounded { count } else { count.next_multiple_of(256) };
    let (input, output) = (Buffer::new(&client, room * 4)?, Buffer::new(&client, room * 4)?);
    let counter = Buffer::new(&client, 256)?;
    let _quiet = Quiet(&client);
    host.write(|i| i as f32);
    client.upload(&input, &host, &stream)?;
    client.fill(counter.start, 0, 256, stream.raw)?;
    let all = [input.start, output.start, counter.start];
    let given = if bounded { &all[1..2] } else { &all[..addresses] };
    client.launch(&kernel, blocks, given, count, &stream)?;
    client.download(&host, &output, &stream)?;
    client.synchronize_stream(&stream)?;
    Ok(host.compare(want)?)
}
