//! Machines without this or that: what feedline says of them, and that it goes on without where it can.

use crate::scenario::{Libraries, Outcome, Scenario};
use feedline::device::Device;
use feedline::device::cuda::{self, Decoding};

pub(crate) const SCENARIOS: &[Scenario] = &[
    Scenario::new("a usable device is the best one and says its name", best).decides(),
    Scenario::new("looking twice finds the same", twice).decides().swept(),
    Scenario::new("a machine without a driver uses the CPU", || unavailable("cannot be opened", "install"))
        .decides()
        .libraries(Libraries::None),
    Scenario::new("a driver without a function is told by its name", || {
        unavailable("lacks cuLaunchKernel", "update")
    })
    .decides()
    .libraries(Libraries::Without("cuLaunchKernel")),
    Scenario::new("a stub is told from a driver", || unavailable("stub", "LD_LIBRARY_PATH"))
        .decides()
        .driver(",stub=1"),
    Scenario::new("a driver without devices is no device", || unavailable("no device", "nvidia-smi"))
        .decides()
        .driver(",devices=0"),
    Scenario::new("an old driver is refused by its version", || unavailable("11.8", "update"))
        .decides()
        .driver(",version=11080"),
    Scenario::new("an old device is refused by its capability", || unavailable("6.1", "newer GPU"))
        .decides()
        .driver(",capability=61"),
    Scenario::new("a device whose memory is taken is refused, and found again later", taken)
        .decides()
        .driver(",fault=cuDevicePrimaryCtxRetain@1:2"),
    Scenario::new("a code that no declaration knows is only shown", || unavailable("(4711)", "use the CPU"))
        .decides()
        .driver(",fault=cuInit@1:4711"),
    Scenario::new("a number beyond the last device is refused", beyond).decides().driver(",devices=2"),
    Scenario::new("a device without engines has nvJPEG's other decoders", without_engines)
        .decides()
        .nvjpeg("engines=0"),
    Scenario::new("an nvJPEG without a function is none", || without_nvjpeg("lacks nvjpegDecodeBatchedEx"))
        .decides()
        .libraries(Libraries::Without("nvjpegDecodeBatchedEx")),
    Scenario::new("an old nvJPEG is none", || without_nvjpeg("12.0.0")).decides().nvjpeg("version=12.0.0"),
];

fn best() -> Outcome {
    let best = Device::best()?;
    let told = best.describe();
    let named = told.contains("FAKE") && told.contains("compute capability");
    says(told.contains("nvJPEG on 4 engines of 1 core (strict, chroma interpolated)"), &told)?;
    says(best == Device::Cuda { ordinal: 0 } && best.is_simulated() && named, &told)
}

fn twice() -> Outcome {
    let first = cuda::survey();
    let second = cuda::survey();
    first.devices.clone().map_err(|missing| missing.error("the first look"))?;
    second.devices.clone().map_err(|missing| missing.error("the second look"))?;
    says(first == second, &format!("{first:?}, then {second:?}"))
}

/// There is no first device, for this reason and with this remedy, and the CPU is used instead.
fn unavailable(why: &str, remedy: &str) -> Outcome {
    let Err(error) = Device::cuda(0) else { return Err("there is a device".into()) };
    let told = error.to_string();
    says(told.contains("CUDA device 0") && told.contains(why) && told.contains(remedy), &told)?;
    let best = Device::best()?;
    says(best == Device::Cpu && best.describe().contains("no CUDA"), &best.describe())
}

fn taken() -> Outcome {
    let Err(error) = Device::cuda(0) else { return Err("there is a device".into()) };
    let told = error.to_string();
    says(told.contains("cuDevicePrimaryCtxRetain") && told.contains("hold the GPU's memory"), &told)?;
    Ok(Device::cuda(0).map(|_| ())?)
}

fn beyond() -> Outcome {
    Device::cuda(1)?;
    let told = Device::cuda(2).err().map_or_else(String::new, |error| error.to_string());
    says(told.contains("CUDA device 2") && told.contains("up to 1"), &told)
}

fn without_engines() -> Outcome {
    let found = cuda::find(0).map_err(|missing| missing.error("a device"))?;
    match found.usable {
        Ok(Decoding::Hybrid { engines, .. }) => {
            let told = Device::cuda(0)?.describe();
            says(engines.why.contains("engine") && told.contains("nvJPEG without engines"), &told)
        }
        other => Err(format!("{other:?}").into()),
    }
}

fn without_nvjpeg(why: &str) -> Outcome {
    let found = cuda::find(0).map_err(|missing| missing.error("a device"))?;
    match found.usable {
        Ok(Decoding::Cpu { nvjpeg }) => says(nvjpeg.why.contains(why), &nvjpeg.why),
        other => Err(format!("{other:?}").into()),
    }
}

fn says(holds: bool, told: &str) -> Outcome {
    if holds { Ok(()) } else { Err(told.to_owned().into()) }
}
