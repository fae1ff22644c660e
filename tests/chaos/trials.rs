//! The trials: each runs cases in processes of their own, and tells what they have seen.

use crate::judge::Verdict;
use crate::soak::{COUNT, FIRST, SECONDS, TALLY, number};
use crate::tally::Tally;
use crate::{device, role};
use libtest_mimic::{Arguments, Failed, Trial};
use std::process::Command;
use std::time::{SystemTime, UNIX_EPOCH};

/// Cases of each trial where nobody asks for more.
const CASES: u64 = 24;
/// How many processes share the time on the simulated device at least, and how long each then lives longest: it has another
/// order of work in each. On the CPU one process takes all of the time, so that what leaks adds up.
const DEVICE_SLICES: u64 = 4;
const SLICE_SECONDS: u64 = 300;

/// Where cases run.
#[derive(Clone, Copy, PartialEq)]
enum Place {
    Cpu,
    /// On the CPU, and most reads give less than was asked for.
    ShortReads,
    Device,
}

impl Place {
    const ALL: [Self; 3] = [Self::Cpu, Self::ShortReads, Self::Device];

    fn name(self) -> &'static str {
        match self {
            Self::Cpu => "on the CPU",
            Self::ShortReads => "on the CPU, with short reads",
            Self::Device => "on the simulated device",
        }
    }

    fn word(self) -> &'static str {
        if self == Self::Device { "device" } else { "cpu" }
    }

    /// Its part of the time, in tenths.
    fn tenths(self) -> u64 {
        match self {
            Self::Cpu => 5,
            Self::ShortReads => 1,
            Self::Device => 4,
        }
    }
}

/// The arguments, by which the trials run one after the other where they are timed.
pub(crate) fn arguments() -> Arguments {
    let mut arguments = Arguments::from_args();
    if number(SECONDS).is_some() {
        arguments.test_threads = Some(1);
    }
    arguments
}

pub(crate) fn all() -> Vec<Trial> {
    let asked = std::env::var(role::ON).ok();
    let wanted = |place: &Place| asked.as_deref().is_none_or(|word| word == place.word());
    let trial = |place: Place| {
        Trial::test(format!("every sample is as the oracle says, {}", place.name()), move || {
            cases(place).map_err(Failed::from)
        })
    };
    Place::ALL.into_iter().filter(wanted).map(trial).collect()
}

/// Runs the cases of one place, slice by slice.
fn cases(place: Place) -> Verdict {
    let seconds = number(SECONDS).map(|all| (all * place.tenths() / 10).max(1));
    let slices = match (place, seconds) {
        (Place::Device, Some(seconds)) => seconds.div_ceil(SLICE_SECONDS).max(DEVICE_SLICES),
        _ => 1,
    };
    // Where there is time, every run tries others.
    let drawn = || SystemTime::now().duration_since(UNIX_EPOCH).map_or(1, |since| since.as_secs() * 1000);
    let first = number(FIRST).unwrap_or_else(|| if seconds.is_some() { drawn() } else { 1 });
    let mut tally = Tally::default();
    for slice in 0..slices {
        let mut command = role::soaking();
        command.env(FIRST, (first + slice * 1_000_000).to_string()).env(role::ON, place.word());
        match seconds {
            Some(seconds) => command.env(SECONDS, (seconds / slices).max(1).to_string()),
            None => command.env(COUNT, CASES.to_string()),
        };
        tally.merge(process(place, slice, &mut command)?);
    }
    println!("NOTE: {}, from seed {first}: {tally}", place.name());
    Ok(())
}

fn process(place: Place, slice: u64, command: &mut Command) -> Verdict<Tally> {
    match place {
        Place::Cpu => {}
        Place::ShortReads => drop(command.env("LD_PRELOAD", device::short_reads()?)),
        Place::Device => {
            let mode = match slice % 4 {
                0 => "mode=lazy".to_owned(),
                1 => "mode=sync".to_owned(),
                _ => format!("mode=random,seed={slice}"),
            };
            device::simulate(command, &mode)?;
        }
    }
    let output = command.output().map_err(|error| format!("the process does not start: {error}"))?;
    let [out, said] =
        [&output.stdout, &output.stderr].map(|bytes| String::from_utf8_lossy(bytes).into_owned());
    let accused = |text: &str| ["PROBLEM:", "LEAK:"].iter().any(|word| text.contains(word));
    if !output.status.success() || accused(&said) || accused(&out) {
        return Err(format!("{}\n{out}{said}", output.status));
    }
    if number(role::SEED).is_some() {
        eprint!("{said}");
    }
    let line = out.lines().find_map(|line| line.strip_prefix(TALLY)).ok_or("no tally")?;
    serde_json::from_str(line).map_err(|error| error.to_string())
}
