//! Calls that no correct program makes, and what the double says to them.

use crate::client::{Buffer, Client, Event, Kernel, Pinned, Quiet, Stream, ptx};
use crate::counts::Counts;
use crate::cubin;
use crate::scenario::{Outcome, Scenario};

pub(crate) const SCENARIOS: &[Scenario] = &[
    Scenario::new("the device's name says what it is", name),
    Scenario::new("an event is passed only when its stream got there", polled),
    Scenario::new("memory freed twice is caught", freed_twice).caught(&["it was freed before"]),
    Scenario::new("device memory freed under other work is caught", || freed_under_work(Memory::Device))
        .caught(&["cuMemFree_v2: work is still to run"]),
    Scenario::new("page-locked memory freed under other work is caught", || freed_under_work(Memory::Pinned))
        .caught(&["cuMemFreeHost: work is still to run"]),
    Scenario::new("memory may be freed behind all work", freed_behind_work),
    Scenario::new("a device's memory is handed out in granules", granules),
    Scenario::new("calls and memory are counted", counted),
    Scenario::new("ordinary memory freed under a copy is caught", || ordinary(Freed::UnderTheCopy))
        .caught(&["wrong:"])
        .watches_memory(),
    Scenario::new("ordinary memory may be freed behind a copy", || ordinary(Freed::BehindTheCopy)),
    Scenario::new("the default stream is caught", default_stream).caught(&["the default stream is used"]),
    Scenario::new("a copy beyond an allocation is caught", copy_beyond)
        .caught(&["do not lie in one allocation"]),
    Scenario::new("a kernel that no source has is caught", || {
        module("planted_unknown", &ptx("planted_unknown", 2))
    })
    .caught(&["no source of it was compiled"]),
    Scenario::new("a module with other parameters than the sources is caught", || {
        module("planted_add_one", &ptx("planted_add_one", 3))
    })
    .caught(&["the module has 4 parameters, the sources 3"]),
    Scenario::new("a module with a parameter of another size is caught", || {
        module("planted_add_one", &ptx("planted_add_one", 2).replace(".u32", ".u64"))
    })
    .caught(&["the module has 8 bytes aligned to 8, the sources 4 and 4"]),
    Scenario::new("a cubin with other parameters than the sources is caught", || {
        let client = Client::start()?;
        let image = cubin::file("planted_add_one", 90, 8, &[8, 8, 8]);
        Kernel::from_image(&client, "planted_add_one", &image).map(drop)
    })
    .caught(&["parameter 2: the cubin has 8 bytes, the sources 4"]),
    Scenario::new("parameters are read past comments and attributes", || {
        let text = ptx("planted_add_one", 2).replace(".u64 ", ".u64 .ptr .align 1 ");
        module("planted_add_one", &text.replace("(\n", "( // ) {\n/* , .param .u8 */"))
    }),
    Scenario::new("a host pointer given to a kernel is caught", host_pointer)
        .caught(&["is no address of device or pinned memory"]),
];

fn name() -> Outcome {
    let client = Client::start()?;
    match client.device_name()?.as_str() {
        "FAKE (simulated driver, not a GPU)" => Ok(()),
        other => Err(format!("its name is {other}").into()),
    }
}

fn polled() -> Outcome {
    let client = Client::start()?;
    let stream = Stream::new(&client)?;
    let (early, late) = (Event::new(&client)?, Event::new(&client)?);
    let buffer = Buffer::new(&client, 64)?;
    let _quiet = Quiet(&client);
    client.record(&early, &stream)?;
    client.fill(buffer.start, 0, 64, stream.raw)?;
    client.record(&late, &stream)?;
    // A host that only ever asks must come to an end, in every mode.
    while !client.is_passed(&late)? {}
    if client.is_passed(&early)? { Ok(()) } else { Err("the earlier event is not passed".into()) }
}

fn freed_twice() -> Outcome {
    let client = Client::start()?;
    Ok(Buffer::new(&client, 64)?.free_early()?)
}

#[derive(PartialEq)]
enum Memory {
    Device,
    Pinned,
}

/// The work uses other memory than what is freed; a device would wait for it all the same.
fn freed_under_work(memory: Memory) -> Outcome {
    let client = Client::start()?;
    let stream = Stream::new(&client)?;
    let used = Buffer::new(&client, 64)?;
    let (buffer, pinned) = (Buffer::new(&client, 64)?, Pinned::new(&client, 16)?);
    let _quiet = Quiet(&client);
    client.fill(used.start, 0, 64, stream.raw)?;
    if memory == Memory::Device {
        drop(buffer)
    } else {
        drop(pinned)
    }
    Ok(())
}

fn freed_behind_work() -> Outcome {
    let client = Client::start()?;
    let stream = Stream::new(&client)?;
    let used = Buffer::new(&client, 64)?;
    client.fill(used.start, 0, 64, stream.raw)?;
    Ok(client.synchronize()?)
}

fn granules() -> Outcome {
    let client = Client::start()?;
    let taken_by = |bytes| -> Result<usize, Box<dyn std::error::Error>> {
        let before = client.free_memory()?;
        let _buffer = Buffer::new(&client, bytes)?;
        Ok(before - client.free_memory()?)
    };
    let taken = [taken_by(1)?, taken_by(2 << 20)?, taken_by((2 << 20) + 1)?];
    if taken == [2 << 20, 2 << 20, 4 << 20] { Ok(()) } else { Err(format!("{taken:?}").into()) }
}

fn counted() -> Outcome {
    let client = Client::start()?;
    let counts = Counts::open()?;
    let pinned = Pinned::new(&client, 16)?;
    let buffer = Buffer::new(&client, 64)?;
    let seen = [counts.calls("cuMemAlloc_v2"), counts.calls("cuMemFree_v2"), counts.device_bytes(0)];
    assert_eq!((seen, counts.pinned_bytes()), ([1, 0, 2 << 20], 64));
    drop((buffer, pinned));
    let seen = [counts.calls("cuMemAlloc_v2"), counts.calls("cuMemFree_v2"), counts.device_bytes(0)];
    assert_eq!((seen, counts.pinned_bytes()), ([1, 1, 0], 0));
    Ok(())
}

#[derive(PartialEq)]
enum Freed {
    UnderTheCopy,
    BehindTheCopy,
}

fn ordinary(freed: Freed) -> Outcome {
    const COUNT: usize = 4096;
    let client = Client::start()?;
    let stream = Stream::new(&client)?;
    let (buffer, back) = (Buffer::new(&client, COUNT * 4)?, Pinned::new(&client, COUNT)?);
    let _quiet = Quiet(&client);
    let values = vec![1.0; COUNT];
    client.upload_ordinary(&buffer, &values, &stream)?;
    if freed == Freed::BehindTheCopy {
        client.synchronize_stream(&stream)?;
    }
    drop(values);
    client.download(&back, &buffer, &stream)?;
    client.synchronize_stream(&stream)?;
    Ok(back.compare(|_| 1.0)?)
}

fn default_stream() -> Outcome {
    let client = Client::start()?;
    let buffer = Buffer::new(&client, 64)?;
    Ok(client.fill(buffer.start, 0, 64, std::ptr::null_mut())?)
}

fn copy_beyond() -> Outcome {
    let client = Client::start()?;
    let stream = Stream::new(&client)?;
    let buffer = Buffer::new(&client, 64)?;
    Ok(client.fill(buffer.start + 32, 0, 64, stream.raw)?)
}

fn module(kernel: &str, text: &str) -> Outcome {
    let client = Client::start()?;
    Kernel::from_text(&client, kernel, text)?;
    Ok(())
}

fn host_pointer() -> Outcome {
    let client = Client::start()?;
    let stream = Stream::new(&client)?;
    let kernel = Kernel::new(&client, "planted_add_one", 2)?;
    let host = [0f32; 4];
    let address = host.as_ptr().addr() as u64;
    Ok(client.launch(&kernel, 1, &[address, address], 4, &stream)?)
}
