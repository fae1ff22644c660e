//! One trial a scenario: in every mode of the simulated driver, or once on a GPU.

use crate::child::{self, Verdict};
use crate::compare;
use crate::double::{self, Variant};
use crate::scenario::{self, Expect, Orders, Scenario};
use libtest_mimic::{Failed, Trial};

/// Seeds of the random scheduler, unless FEEDLINE_SEEDS says more.
const SEEDS: u64 = 8;

pub(crate) fn all() -> Vec<Trial> {
    if std::env::var("FEEDLINE_CUDA").as_deref() == Ok("real") {
        let on_gpu = scenario::all().filter(|scenario| scenario.on_gpu);
        return on_gpu
            .map(|scenario| Trial::test(format!("gpu: {}", scenario.name), move || on_gpu_once(scenario)))
            .collect();
    }
    let name = |scenario: &Scenario| format!("simulated driver: {}", scenario.name);
    let watches_memory = Variant::chosen() != Ok(Variant::Tsan);
    let shown = scenario::all().filter(|scenario| watches_memory || !scenario.watches_memory);
    shown
        .map(|scenario| {
            let has_no_say = compare::is_own() && scenario.is_of_nvjpeg;
            Trial::test(name(scenario), move || in_every_mode(scenario)).with_ignored_flag(has_no_say)
        })
        .collect()
}

fn on_gpu_once(scenario: &'static Scenario) -> Result<(), Failed> {
    // Set only where a simulated driver takes the GPU's place, to try this way of testing out.
    let mode = std::env::var("FAKECUDA").ok();
    let words = mode.map(|mode| ("FAKECUDA", format!("{mode}{}", scenario.driver)));
    let verdict = child::start(scenario, words.as_slice())?;
    if verdict.is_clean() { Ok(()) } else { Err(Failed::from(shown("on the GPU", &verdict))) }
}

/// The modes as FAKECUDA has them. A mistake on purpose gets as many as are known to find it, whoever asks for fewer.
fn modes(scenario: &Scenario) -> Result<Vec<String>, String> {
    let seeds = match std::env::var("FEEDLINE_SEEDS") {
        Err(_) => SEEDS,
        Ok(text) => text.parse().map_err(|_| format!("FEEDLINE_SEEDS={text} is no number"))?,
    };
    let seeds = match scenario.expect {
        Expect::Caught(_) => seeds.max(SEEDS),
        Expect::Clean => scenario.orders.of(seeds),
    };
    let random = (1..=seeds).map(|seed| format!("mode=random,seed={seed}"));
    // The plain build runs these modes too. Under a sanitizer they are slow, and add little to random orders.
    let all = Variant::chosen()? == Variant::Plain || seeds == 0;
    let late = all || scenario.orders != Orders::OneInEight;
    let orderly = [all.then_some("mode=sync"), late.then_some("mode=lazy")];
    Ok(orderly.into_iter().flatten().map(str::to_owned).chain(random).collect())
}

fn in_every_mode(scenario: &'static Scenario) -> Result<(), Failed> {
    let environment = double::environment(scenario)?;
    let modes = modes(scenario)?;
    let mut unnoticed = Vec::new();
    for mode in &modes {
        let mode = double::asked(mode, scenario)?;
        let mut environment = environment.clone();
        environment.push(("FAKECUDA", mode.clone()));
        let verdict = child::start(scenario, &environment)?;
        match scenario.expect {
            Expect::Clean if !verdict.is_clean() => return Err(Failed::from(shown(&mode, &verdict))),
            Expect::Clean => {}
            // Once is enough: that is what the many modes are for.
            Expect::Caught(words) if is_caught(words, &verdict) => return Ok(()),
            Expect::Caught(_) => unnoticed.push(shown(&mode, &verdict)),
        }
    }
    match scenario.expect {
        Expect::Clean => Ok(()),
        Expect::Caught(words) => Err(Failed::from(format!(
            "in none of {} modes anybody said one of {words:?}. The last one:\n{}",
            modes.len(),
            unnoticed.pop().unwrap_or_default()
        ))),
    }
}

fn is_caught(words: &[&str], verdict: &Verdict) -> bool {
    let sanitizer = verdict.said.contains("Sanitizer:") || verdict.said.contains("runtime error:");
    !verdict.is_clean() && (sanitizer || words.iter().any(|word| verdict.said.contains(word)))
}

/// What a reader needs to see it again.
fn shown(mode: &str, verdict: &Verdict) -> String {
    let variant = std::env::var("FEEDLINE_TESTDOUBLE").unwrap_or_else(|_| "plain".into());
    format!("with FAKECUDA=\"{mode}\" ({variant}): {}\n{}", verdict.how, verdict.said)
}
