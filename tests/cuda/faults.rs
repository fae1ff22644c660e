//! Errors after which a device does nothing any more, at each stage, and several devices in one process.

use crate::client::Client;
use crate::compare::{choose, epoch, on_device, seen};
use crate::counts::Counts;
use crate::pictures;
use crate::pipeline::small;
use crate::scenario::{Libraries, Outcome, Scenario};
use crate::sharing::mosaics;
use feedline::device::{Device, cuda};
use feedline::error::Error;
use feedline::loader::{Batch, Loader, LoaderBuilder};
use feedline::policy::DecoderChoice;

/// A stage whose second or third operation breaks the device.
const fn broken(name: &'static str, fault: &'static str) -> Scenario {
    Scenario::new(name, a_lost_device_is_reported).driver(fault)
}

pub(crate) const SCENARIOS: &[Scenario] = &[
    broken("faults: an upload breaks the device", ",fault=exec-h2d@2:700"),
    broken("faults: a decoder breaks the device", ",fault=exec-nvjpeg@2:719").of_nvjpeg(),
    Scenario::new("faults: feedline's decoder breaks the device", || {
        choose(DecoderChoice::Feedline);
        a_lost_device_is_reported()
    })
    .driver(",fault=exec-entropy@2:719"),
    broken("faults: the kernel of taps breaks the device", ",fault=exec-taps@2:716"),
    broken("faults: the kernel of pixels breaks the device", ",fault=exec-crop@2:700"),
    broken("faults: memory breaks the device", ",fault=exec-event@7:214"),
    broken("faults: a copy to the host breaks the device", ",fault=exec-d2h@1:700"),
    broken("faults: an upload of pixels breaks the device", ",fault=exec-h2d@3:700")
        .libraries(Libraries::DriverOnly),
    Scenario::new("faults: a loader is dropped in the middle of a break", dropped_in_the_middle)
        .driver(",fault=exec-crop@2:700"),
    Scenario::new("faults: samples that share images meet a break", shared_images_meet_a_break)
        .driver(",fault=exec-blend@2:719"),
    Scenario::new("faults: a device that another library has broken is told", broken_by_others)
        .driver(",fault=exec-fill@1:700"),
    Scenario::new("faults: two devices in one process", two_devices).driver(",devices=2"),
    Scenario::new("faults: one of two devices breaks", one_of_two_breaks)
        .driver(",devices=2,fault=exec-crop@3:700"),
    Scenario::new("faults: a device is started once", a_device_is_started_once).driver(",devices=2"),
];

fn device(ordinal: u32) -> Device {
    Device::Cuda { ordinal }
}

fn few() -> LoaderBuilder {
    small(pictures::all()).batch_size(2).prefetch(2)
}

/// Takes batches, each with its pixels, until one fails.
fn first_error(loader: &Loader) -> Option<Error> {
    let mut batches = (0..2).flat_map(|number| loader.epoch(number));
    batches.find_map(|batch| batch.and_then(|batch| batch.to_host()).err())
}

/// The device by its number, the call, and what to do.
fn says_what_to_do(error: &Error, ordinal: u32) -> Outcome {
    let told = error.to_string();
    let call = told.contains(": CUDA_ERROR_");
    if told.contains(&format!("CUDA device {ordinal}")) && call && told.contains("restart the process") {
        return Ok(());
    }
    Err(format!("an error that does not help: {told}").into())
}

/// The consumer that waits gets the error, the next epoch and the next loader get it too, and the CPU works on.
fn a_lost_device_is_reported() -> Outcome {
    let loader = on_device(few()).device(device(0)).build()?;
    says_what_to_do(&first_error(&loader).ok_or("no error")?, 0)?;
    says_what_to_do(&first_error(&loader).ok_or("no error in the next epochs")?, 0)?;
    drop(loader);
    for _ in 0..2 {
        let second = on_device(few())
            .device(device(0))
            .build()
            .and_then(|loader| first_error(&loader).map_or(Ok(()), Err));
        says_what_to_do(&second.err().ok_or("a second loader does without the device")?, 0)?;
    }
    assert!(few().build()?.epoch(0).all(|batch| batch.is_ok()));
    Ok(())
}

fn dropped_in_the_middle() -> Outcome {
    let loader = on_device(few()).device(device(0)).build()?;
    let kept: Vec<_> = loader.epoch(0).take(2).collect();
    drop(loader.epoch(1));
    drop(loader);
    drop(kept);
    Ok(())
}

fn shared_images_meet_a_break() -> Outcome {
    let loader = on_device(mosaics(pictures::all()).prefetch(1)).build()?;
    says_what_to_do(&first_error(&loader).ok_or("no error")?, 0)
}

fn broken_by_others() -> Outcome {
    let client = Client::start()?;
    let stream = crate::client::Stream::new(&client)?;
    let buffer = crate::client::Buffer::new(&client, 64)?;
    client.fill(buffer.start, 0, 64, stream.raw)?;
    assert!(client.synchronize_stream(&stream).is_err());
    let error = on_device(few()).device(device(0)).build().err().ok_or("a loader on a lost device")?;
    says_what_to_do(&error, 0)
}

/// Two loaders at once, each on a device and a thread of its own, and then both on one thread.
fn two_devices() -> Outcome {
    let want: Vec<_> =
        (0..2).map(|number| few().build().map(|cpu| epoch(&cpu, number))).collect::<Result<_, _>>()?;
    let loaders = [
        on_device(few()).device(device(0)).build()?,
        on_device(mosaics(pictures::all())).device(device(1)).build()?,
    ];
    let mosaics_want = epoch(&mosaics(pictures::all()).build()?, 0);
    std::thread::scope(|scope| {
        let first = scope.spawn(|| (0..2).map(|number| epoch(&loaders[0], number)).collect::<Vec<_>>());
        let second = scope.spawn(|| epoch(&loaders[1], 0));
        assert!(first.join().unwrap() == want, "device 0");
        assert!(second.join().unwrap() == mosaics_want, "device 1");
    });
    let counts = Counts::open()?;
    for (ordinal, loader) in loaders.iter().enumerate() {
        let memory = loader.stats().device_memory.unwrap();
        assert_eq!(memory.device_bytes(), counts.device_bytes(ordinal as u32), "device {ordinal}");
    }
    let other = on_device(few()).device(device(1)).build()?;
    let batches: Vec<[Batch; 2]> = loaders[0]
        .epoch(0)
        .zip(other.epoch(0))
        .map(|(first, second)| Ok([first?, second?]))
        .collect::<Result<_, Error>>()?;
    for ([first, second], want) in batches.iter().zip(&want[0]) {
        let want = want.as_ref().unwrap();
        assert!(seen(first) == *want && seen(second) == *want, "two devices on one thread");
        assert_eq!([first, second].map(|batch| batch.on_device().unwrap().device()), [device(0), device(1)]);
    }
    Ok(())
}

fn one_of_two_breaks() -> Outcome {
    let second = on_device(few()).device(device(1)).build()?;
    let first = on_device(few()).device(device(0)).build()?;
    says_what_to_do(&first_error(&first).ok_or("no error")?, 0)?;
    let want = epoch(&few().build()?, 0);
    assert!(epoch(&second, 0) == want, "the other device");
    assert!(on_device(few()).device(device(0)).build().is_err());
    Ok(())
}

fn a_device_is_started_once() -> Outcome {
    let counts = Counts::open()?;
    let started = || counts.calls("a primary context is made");
    assert_eq!(cuda::survey().devices.map_err(|missing| missing.error("devices"))?.len(), 2);
    assert_eq!((counts.references(0), counts.references(1)), (0, 0), "a survey takes no memory for good");
    let before = started();
    let chosen = Device::cuda(1)?;
    for _ in 0..3 {
        let loader = on_device(few()).device(chosen).build()?;
        assert!(loader.epoch(0).all(|batch| batch.is_ok()));
        drop(loader);
        assert!(chosen.describe().contains("FAKE"));
    }
    assert_eq!((started() - before, counts.references(0), counts.references(1)), (1, 0, 1));
    cuda::survey();
    assert_eq!((started() - before, counts.references(1)), (1, 1), "what is known is not started again");
    Ok(())
}
