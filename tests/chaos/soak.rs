//! Runs case after case in one process, which may neither grow nor keep anything.

use crate::case::Case;
use crate::judge::Verdict;
use crate::tally::Tally;
use crate::watch::{self, Holdings, most_resident_bytes, resident_bytes};
use crate::{role, run};
use feedline::device::Device;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// The first seed, how many there are, and for how many seconds it goes on at most.
pub(crate) const FIRST: &str = "FEEDLINE_CHAOS_FIRST";
pub(crate) const COUNT: &str = "FEEDLINE_CHAOS_COUNT";
pub(crate) const SECONDS: &str = "FEEDLINE_CHAOS_SECONDS";
/// What the line begins with by which a process tells its tally.
pub(crate) const TALLY: &str = "TALLY ";
/// By how many bytes the process may grow after its first cases: what allocators keep for hundreds of threads, and no more
/// after hours than after a minute.
const GROWTH: u64 = 160 << 20;
/// Cases in which the process takes what it keeps.
const WARM_UP: u64 = 60;
/// By how many bytes the least of the last tenth of a process's time may be above that of its third, where each has so many cases.
const TENTHS_GROWTH: u64 = 64 << 20;
const TENTHS_CASES: u64 = 50;

/// Cases in which the simulated device opens what it keeps open; not every case comes so far that it is asked.
const OPENING: u64 = 8;

/// Panics on any thread.
static PANICS: AtomicU64 = AtomicU64::new(0);

pub(crate) fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok().and_then(|text| text.parse().ok())
}

pub(crate) fn run() -> Verdict {
    let usual = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        PANICS.fetch_add(1, Ordering::Relaxed);
        usual(panic);
    }));
    let first = number(role::SEED).or_else(|| number(FIRST)).unwrap_or(1);
    let count = if number(role::SEED).is_some() { 1 } else { number(COUNT).unwrap_or(u64::MAX) };
    let end = Instant::now() + Duration::from_secs(number(SECONDS).unwrap_or(24 * 3600));
    let mut tally = Tally::default();
    let mut flat = Flat::start();
    let (start, tenth) = (Instant::now(), Duration::from_secs(number(SECONDS).unwrap_or(0)) / 10);
    for seed in first..first.saturating_add(count) {
        if Instant::now() > end {
            break;
        }
        one(seed, &mut tally).and_then(|()| flat.check(&mut tally)).map_err(|error| failed(seed, &error))?;
        if !tenth.is_zero() {
            let now = start.elapsed().div_duration_f64(tenth) as usize;
            tally.tenths[now.min(9)].case(resident_bytes());
        }
    }
    let [_, _, early, .., late] = tally.tenths;
    if early.cases.min(late.cases) >= TENTHS_CASES && late.bytes > early.bytes + TENTHS_GROWTH {
        return Err(format!("the process grows all the time: {tally}"));
    }
    println!("{TALLY}{}", serde_json::to_string(&tally).map_err(|error| error.to_string())?);
    Ok(())
}

fn one(seed: u64, tally: &mut Tally) -> Verdict {
    watch::case(seed);
    let folder = tempfile::tempdir().map_err(|error| format!("no folder: {error}"))?;
    let case = Case::draw(seed, role::device());
    if std::env::var_os(role::SEED).is_some() {
        eprintln!("{}", case.describe());
    }
    let panics = PANICS.load(Ordering::Relaxed);
    let ran = catch_unwind(AssertUnwindSafe(|| run::case(&case, folder.path(), tally)));
    let verdict = match ran {
        Ok(verdict) => verdict,
        Err(panic) => Err(panic.downcast_ref::<String>().cloned().unwrap_or_else(|| "a panic".to_owned())),
    };
    let verdict = match PANICS.load(Ordering::Relaxed) == panics {
        true => verdict,
        false => Err(format!("a panic; {}", verdict.err().unwrap_or_default())),
    };
    tally.cases += 1;
    verdict.map_err(|error| format!("{error}\n(it {})\n{}", watch::last_step(), case.describe()))
}

/// What the process holds, which is what it began with, and how large it is: as after the first cases.
struct Flat {
    start: Holdings,
    warm_bytes: u64,
}

impl Flat {
    fn start() -> Self {
        Self { start: Holdings::now(), warm_bytes: 0 }
    }

    fn check(&mut self, tally: &mut Tally) -> Verdict {
        watch::step("counts what is left behind");
        if role::device() != Device::Cpu && tally.cases <= OPENING {
            self.start.files = self.start.files.max(Holdings::now().files);
        }
        self.start.settle()?;
        let bytes = resident_bytes();
        (tally.peak_bytes, tally.end_bytes) = (most_resident_bytes(), bytes);
        if tally.cases <= WARM_UP {
            self.warm_bytes = self.warm_bytes.max(bytes);
            tally.warm_bytes = self.warm_bytes;
        } else if bytes > self.warm_bytes + GROWTH {
            return Err(format!(
                "{} MiB are resident, {} after the first cases",
                bytes >> 20,
                self.warm_bytes >> 20
            ));
        }
        Ok(())
    }
}

/// What failed, and how to see it again.
fn failed(seed: u64, error: &str) -> String {
    let on = std::env::var(role::ON).unwrap_or_default();
    format!("seed {seed}: {error}\nagain: {}={on} {}={seed} cargo test --test chaos", role::ON, role::SEED)
}
