//! Machines on which there is nothing to run on, each shown by a word in FAKECUDA or by other libraries.

use crate::client::{Client, Kernel, ptx};
use crate::cubin;
use crate::scenario::{Libraries, Outcome, Scenario};

pub(crate) const SCENARIOS: &[Scenario] = &[
    Scenario::new("a stub library fails every call with 34", || refused("cuInit returned 34"))
        .decides()
        .driver(",stub=1"),
    Scenario::new("no device is 100", || refused("cuInit returned 100")).decides().driver(",devices=0"),
    Scenario::new("several devices are counted", || {
        let count = Client::start()?.device_count()?;
        if count == 3 { Ok(()) } else { Err(format!("{count} devices").into()) }
    })
    .decides()
    .driver(",devices=3"),
    Scenario::new("a driver that is too old for a module says 222", || {
        module("9.0", "sm_75", "cuModuleLoadDataEx returned 222")
    })
    .decides()
    .driver(",version=12080"),
    Scenario::new("a module for a newer device is 218", || {
        module("7.8", "sm_100", "cuModuleLoadDataEx returned 218")
    })
    .decides(),
    Scenario::new("a cubin runs on its own generation of devices, from its own member on", || {
        cubin_is(86, 8, None)
    })
    .decides()
    .driver(",capability=89"),
    Scenario::new("a cubin for a newer member of the generation is 209", || cubin_is(90, 8, Some(209)))
        .decides()
        .driver(",capability=89"),
    Scenario::new("a cubin for another generation is 209", || cubin_is(80, 8, Some(209))).decides(),
    Scenario::new("a cubin of CUDA 13 is 200 to an older driver", || cubin_is(90, 8, Some(200)))
        .decides()
        .driver(",version=12080"),
    Scenario::new("a cubin of CUDA 12 is loaded by its driver", || cubin_is(90, 7, None))
        .decides()
        .driver(",version=12080"),
    Scenario::new("a text that is no module is 218", || {
        let client = Client::start()?;
        ends(Kernel::from_text(&client, "a", "no module"), "cuModuleLoadDataEx returned 218")
    })
    .decides(),
    Scenario::new("a call can be made to fail", || refused("cuDevicePrimaryCtxRetain returned 2"))
        .decides()
        .driver(",fault=cuDevicePrimaryCtxRetain@1:2"),
    Scenario::new("a library can lack a function", || refused("undefined symbol: cuLaunchKernel"))
        .decides()
        .libraries(Libraries::Without("cuLaunchKernel")),
    Scenario::new("a library can be missing", || refused("libcuda.so.1"))
        .decides()
        .libraries(Libraries::None),
];

/// What the driver says to a cubin for an architecture, in the form of a version of CUDA.
fn cubin_is(architecture: u8, abi: u8, refusal: Option<u32>) -> Outcome {
    let client = Client::start()?;
    let image = cubin::file("planted_add_one", architecture, abi, &[8, 8, 4]);
    let loaded = Kernel::from_image(&client, "planted_add_one", &image);
    match refusal {
        None => loaded.map(drop),
        Some(code) => ends(loaded, &format!("cuModuleLoadDataEx returned {code}")),
    }
}

/// The start must fail with these words.
fn refused(words: &str) -> Outcome {
    ends(Client::start(), words)
}

fn ends<T>(result: Result<T, Box<dyn std::error::Error>>, words: &str) -> Outcome {
    let Err(error) = result else {
        return Err(format!("no error, but it should say `{words}`").into());
    };
    let causes = std::iter::successors(error.source(), |cause| cause.source());
    let told = causes.fold(error.to_string(), |told, cause| format!("{told}: {cause}"));
    if told.contains(words) { Ok(()) } else { Err(format!("`{told}` does not say `{words}`").into()) }
}

fn module(version: &str, target: &str, words: &str) -> Outcome {
    let client = Client::start()?;
    let text = ptx("planted_add_one", 2).replace("7.8", version).replace("sm_75", target);
    ends(Kernel::from_text(&client, "planted_add_one", &text), words)
}
