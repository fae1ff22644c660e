//! Fault sweeps: every call of a scenario fails once, and every operation breaks the device once.
//!
//! The scenario may succeed or report an error. It may not crash, hang, panic, leak, or do what the double calls a
//! problem: an error path is a program of its own, which hardly ever runs.

use crate::child::{self, End, Verdict};
use crate::double;
use crate::scenario::{self, Scenario};
use libtest_mimic::{Failed, Trial};

/// Failures that end a sweep; more of them say nothing new.
const MOST_FAILURES: usize = 10;

/// One kind of failure: what the double calls the events that it counts, and how it is asked to fail one of them.
struct Kind {
    counted: &'static str,
    driver: fn(u64) -> String,
    nvjpeg: fn(u64) -> String,
}

const KINDS: &[Kind] = &[
    // A call is out of memory.
    Kind {
        counted: "faultable",
        driver: |number| format!(",fault=any@{number}:2"),
        nvjpeg: |_| String::new(),
    },
    // An operation accesses memory that is not there, and the context is broken for good.
    Kind {
        counted: "operations",
        driver: |number| format!(",fault=exec-any@{number}:700"),
        nvjpeg: |_| String::new(),
    },
    // nvJPEG fails, and then says that a file is to blame.
    Kind { counted: "nvJPEG calls", driver: |_| String::new(), nvjpeg: |number| format!(",any@{number}:6") },
    Kind { counted: "nvJPEG calls", driver: |_| String::new(), nvjpeg: |number| format!(",any@{number}:3") },
];

/// Ignored, because they take a while: `cargo test --test cuda -- --ignored sweep`.
pub(crate) fn all() -> Vec<Trial> {
    let name = |scenario: &Scenario| format!("simulated driver: sweep: {}", scenario.name);
    let swept = scenario::all().filter(|scenario| scenario.swept);
    swept
        .map(|scenario| Trial::test(name(scenario), move || sweep(scenario)).with_ignored_flag(true))
        .collect()
}

fn sweep(scenario: &'static Scenario) -> Result<(), Failed> {
    let environment = double::environment(scenario)?;
    let run = |mode: &str, driver: &str, nvjpeg: &str| {
        let mut environment = environment.clone();
        environment.push(("FAKECUDA", double::asked(&format!("{mode}{driver}"), scenario)?));
        environment.push(("FAKENVJPEG", format!("{}{nvjpeg}", scenario.nvjpeg)));
        child::start(scenario, &environment)
    };
    let whole = run("mode=lazy", "", "")?;
    if count(&whole, "faultable") == 0 {
        return Err(Failed::from(format!("nothing to fail: {}\n{}", whole.how, whole.said)));
    }
    let mut failures = Vec::new();
    for kind in KINDS {
        for number in 1..=count(&whole, kind.counted) {
            // The seed differs too, so that the same error meets different states of the streams.
            let (mode, driver, nvjpeg) =
                (format!("mode=random,seed={number}"), (kind.driver)(number), (kind.nvjpeg)(number));
            let verdict = run(&mode, &driver, &nvjpeg)?;
            if verdict.end != End::Broken && verdict.accusations().is_empty() {
                continue;
            }
            let how = &verdict.how;
            failures.push(format!(
                "FAKECUDA=\"{mode}{driver}\" FAKENVJPEG=\"{nvjpeg}\": {how}\n{}",
                verdict.said
            ));
            if failures.len() == MOST_FAILURES {
                return Err(Failed::from(failures.join("\n")));
            }
        }
    }
    if failures.is_empty() { Ok(()) } else { Err(Failed::from(failures.join("\n"))) }
}

/// The number ahead of these words in the double's closing lines: `..., 31 faultable, 12 operations, ...`. Nothing is
/// said of a library that was not used.
fn count(verdict: &Verdict, words: &str) -> u64 {
    let totals = verdict.said.lines().filter(|line| line.contains("SIMULATED"));
    let parts = totals.flat_map(|line| line.split(": ").flat_map(|part| part.split(", ")));
    let numbers = parts.filter_map(|part| part.strip_suffix(words)?.trim_end().parse::<u64>().ok());
    numbers.sum()
}
