//! Missing order: what the modes of the simulated driver find, and that they find nothing in a correct program.

use crate::ring::{Flaw, run};
use crate::scenario::Scenario;

const WRONG: &[&str] = &["wrong:"];
const LATE: &[&str] = &["was freed before the operation ran", "which is in no allocation"];

pub(crate) const SCENARIOS: &[Scenario] = &[
    Scenario::new("a ring of slots with all its events is right", || run(Flaw::None)).swept(),
    Scenario::new("a host that waits each time needs no event", || run(Flaw::HostWaitsEachTime)),
    Scenario::new("a kernel ahead of its input is caught", || run(Flaw::KernelBeforeCopyIn)).caught(WRONG),
    Scenario::new("page-locked memory filled again ahead of the copy is caught", || {
        run(Flaw::PinnedInputReused)
    })
    .caught(WRONG),
    Scenario::new("an input overwritten ahead of the kernel is caught", || run(Flaw::DeviceInputReused))
        .caught(WRONG),
    Scenario::new("an output overwritten ahead of the copy is caught", || run(Flaw::DeviceOutputReused))
        .caught(WRONG),
    Scenario::new("a copy ahead of the kernel is caught", || run(Flaw::CopyOutBeforeKernel)).caught(WRONG),
    Scenario::new("a result read ahead of the copy is caught", || run(Flaw::ReadBeforeCopyOut)).caught(WRONG),
    Scenario::new("an event recorded ahead of the launch is caught", || run(Flaw::EventBeforeLaunch))
        .caught(WRONG),
    Scenario::new("device memory freed under work is caught", || run(Flaw::DeviceFreedEarly)).caught(LATE),
    Scenario::new("large device memory freed under work is caught", || run(Flaw::LargeDeviceFreedEarly))
        .caught(LATE),
    Scenario::new("page-locked memory freed under a copy is caught", || run(Flaw::PinnedFreedEarly))
        .caught(LATE),
    Scenario::new("a stream that is never destroyed is caught", || run(Flaw::StreamLeaked))
        .caught(&["LEAK: "]),
];
