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

/// What fails: FAKECUDA's word ahead of the number, and the error behind it.
const KINDS: &[(&str, &str, &str)] = &[
    ("faultable", "fault=any@", "2"),         // a call is out of memory
    ("operations", "fault=exec-any@", "700"), // an operation accesses memory that is not there
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
    let run = |words: &str| {
        let mut environment = environment.clone();
        environment.push(("FAKECUDA", format!("{words}{}", scenario.driver)));
        child::start(scenario, &environment)
    };
    let whole = run("mode=lazy")?;
    let mut failures = Vec::new();
    for (counted, fault, code) in KINDS {
        let events = count(&whole, counted).ok_or("the simulated driver has not reported its totals")?;
        for number in 1..=events {
            // The seed differs too, so that the same error meets different states of the streams.
            let words = format!("mode=random,seed={number},{fault}{number}:{code}");
            let verdict = run(&words)?;
            if verdict.end == End::Broken || !verdict.accusations().is_empty() {
                failures.push(format!("FAKECUDA=\"{words}\": {}\n{}", verdict.how, verdict.said));
            }
            if failures.len() == MOST_FAILURES {
                return Err(Failed::from(failures.join("\n")));
            }
        }
    }
    if failures.is_empty() { Ok(()) } else { Err(Failed::from(failures.join("\n"))) }
}

/// The number ahead of a word in the double's closing line: `... 31 of them faultable, 12 operations, ...`.
fn count(verdict: &Verdict, word: &str) -> Option<u64> {
    let line = verdict.said.lines().find(|line| line.contains("SIMULATED driver"))?;
    let part = line.split(", ").find(|part| part.contains(word))?;
    part.split(' ').find_map(|text| text.parse().ok())
}
