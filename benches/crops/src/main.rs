//! Training crops: feedline's decoder against libjpeg-turbo's crop path in front of the same renderer, on one thread.
//!
//! `feedline-crops ROUNDS PLANS FOLDER...` reads the JPEGs of a folder into memory and makes PLANS plans for each with
//! the recipe `imagenet-train`, the same for everyone. In each round every contestant in turn goes through all samples,
//! each timed by itself. A contestant's time is, first, the mean over the samples of the shortest time of all rounds (what
//! else the machine does disturbs that least), and second the thread's CPU time of each round; ratios come of both.
//! `feedline-crops --only CONTESTANT ROUNDS PLANS FOLDER...` runs one alone, for a profiler.

mod contest;
mod set;
mod turbo;

use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use contest::{By, Task, Tools};
use feedline::geometry::Rect;
use rustix::time::{ClockId, clock_gettime};
use set::Set;
use turbo::Turbo;

/// Name, who and what; those of a task stand together, what they are compared with last.
const CONTESTANTS: [(&str, By, Task); 10] = [
    ("train", By::Feedline, Task::Train),
    ("train-index", By::Indexed, Task::Train),
    ("train-turbo-whole", By::TurboWhole, Task::Train),
    ("train-turbo", By::Turbo, Task::Train),
    ("crop", By::Feedline, Task::Crop),
    ("crop-index", By::Indexed, Task::Crop),
    ("crop-turbo", By::Turbo, Task::Crop),
    ("whole", By::Feedline, Task::Whole),
    ("whole-turbo", By::TurboWhole, Task::Whole),
    ("whole-turbo-again", By::TurboWhole, Task::Whole),
];

/// One contestant's times.
#[derive(Clone, Default)]
struct Times {
    /// The shortest of each sample.
    shortest: Vec<Duration>,
    /// CPU time of each round.
    rounds: Vec<Duration>,
}

fn main() -> Result<()> {
    let mut arguments: Vec<String> = std::env::args().skip(1).collect();
    let mut only = None;
    if arguments.first().is_some_and(|first| first == "--only") {
        only = Some(arguments.drain(..2.min(arguments.len())).nth(1).context("--only which contestant?")?);
    }
    ensure!(arguments.len() >= 3, "usage: feedline-crops [--only CONTESTANT] ROUNDS PLANS FOLDER...");
    let (rounds, plans) = (arguments[0].parse()?, arguments[1].parse()?);
    let names: Vec<&str> = CONTESTANTS.iter().map(|(name, ..)| *name).collect();
    if let Some(only) = &only {
        ensure!(names.contains(&only.as_str()), "there is no {only}, but {}", names.join(", "));
    }
    println!("libjpeg-turbo {}, feedline at {:?}", turbo::version(), feedline::simd::level());
    for folder in &arguments[2..] {
        let mut turbo = Turbo::new()?;
        let set = Set::read(folder, plans, &mut turbo)?;
        let mut tools = Tools::new(&set, turbo)?;
        if only.is_none() {
            compare(&set, &mut tools)?;
        }
        let times = measure(&set, &mut tools, rounds, only.as_deref())?;
        report(folder, &set, &tools, &times);
    }
    Ok(())
}

/// Says how many samples of libjpeg-turbo's are feedline's to the bit: with the region alone, and with pixels around it.
fn compare(set: &Set, tools: &mut Tools<'_>) -> Result<()> {
    let [mut indexed, mut whole, mut plain, mut around] = [0; 4];
    for sample in &set.samples {
        tools.run(By::Feedline, Task::Train, sample)?;
        let ours = tools.rendered().to_vec();
        let same = |tools: &Tools<'_>, count: &mut usize| *count += usize::from(tools.rendered() == ours);
        tools.run(By::Indexed, Task::Train, sample)?;
        same(tools, &mut indexed);
        tools.run(By::TurboWhole, Task::Train, sample)?;
        same(tools, &mut whole);
        tools.run(By::Turbo, Task::Train, sample)?;
        same(tools, &mut plain);
        let Rect { x, y, width, height } = sample.region;
        let stored = set.files[sample.file].header.size;
        // One column more to the left begins an MCU earlier where the region began with one.
        let wider = Rect::new(x - 1, y, width + 3, height).intersect(stored.rect());
        tools.train_theirs(sample, wider)?;
        same(tools, &mut around);
    }
    let all = set.samples.len();
    println!(
        "of {all} samples equal to feedline's: {indexed} with its index, {whole} of libjpeg-turbo's whole images,"
    );
    println!(
        "{plain} of its crops, {around} of its crops with one column more on the left and two on the right"
    );
    ensure!(indexed == all && whole == all, "pixels differ that must not");
    Ok(())
}

fn measure(set: &Set, tools: &mut Tools<'_>, rounds: usize, only: Option<&str>) -> Result<Vec<Times>> {
    let mut times = vec![Times::default(); CONTESTANTS.len()];
    for _ in 0..rounds {
        for ((name, by, task), times) in CONTESTANTS.iter().zip(&mut times) {
            if only.is_some_and(|only| only != *name) {
                continue;
            }
            // Each image once is enough where it is decoded as a whole.
            let count = if *task == Task::Whole { set.files.len() } else { set.samples.len() };
            times.shortest.resize(count, Duration::MAX);
            let cpu = cpu_time();
            for (sample, shortest) in set.samples.iter().zip(&mut times.shortest) {
                let started = Instant::now();
                tools.run(*by, *task, sample)?;
                *shortest = started.elapsed().min(*shortest);
            }
            times.rounds.push(cpu_time() - cpu);
        }
    }
    Ok(times)
}

/// CPU time of this thread.
fn cpu_time() -> Duration {
    let now = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(now.tv_sec as u64, now.tv_nsec as u32)
}

/// Prints a line for each contestant, and all of it as JSON.
fn report(folder: &str, set: &Set, tools: &Tools<'_>, times: &[Times]) {
    let read: u64 = set.samples.iter().map(|sample| sample.region.size().pixels()).sum();
    let stored: u64 = set.samples.iter().map(|sample| set.files[sample.file].header.size.pixels()).sum();
    println!(
        "{folder}: {} files ({} left out), {} samples that read {:.0} % of them; {} bytes of index a file",
        set.files.len(),
        set.left_out,
        set.samples.len(),
        100.0 * read as f64 / stored as f64,
        tools.index_bytes() / set.files.len(),
    );
    println!(
        "ms: shortest (CPU, median round); times libjpeg-turbo's speed: shortest (CPU by round: median, min, max)"
    );
    let mut rows = Vec::new();
    for ((name, _, task), own) in CONTESTANTS.iter().zip(times) {
        if own.rounds.is_empty() {
            continue;
        }
        let peer = CONTESTANTS.iter().rposition(|(_, _, other)| other == task).unwrap_or(0);
        let peer = if times[peer].rounds.is_empty() { own } else { &times[peer] };
        let (shortest, cpu) = (own.shortest_ms(), own.rounds_ms());
        let ratios = sorted(peer.rounds_ms().iter().zip(&cpu).map(|(theirs, ours)| theirs / ours));
        let (ratio, median) = (peer.shortest_ms() / shortest, middle(&sorted(cpu)));
        let [least, most] = [ratios[0], ratios[ratios.len() - 1]];
        let ratios = [middle(&ratios), least, most];
        let [m, l, h] = ratios;
        println!("{name:18} {shortest:.4} ({median:.4})   {ratio:.2} ({m:.2}, {l:.2}, {h:.2})");
        rows.push(serde_json::json!({
            "contestant": name, "shortest_ms": shortest, "cpu_ms": median, "ratio": ratio, "cpu_ratios": ratios,
        }));
    }
    let level = format!("{:?}", feedline::simd::level());
    let version = turbo::version();
    println!(
        "{}",
        serde_json::json!({
            "folder": folder, "simd": level, "libjpeg_turbo": version, "files": set.files.len(),
            "samples": set.samples.len(), "contestants": rows,
        })
    );
}

impl Times {
    /// Mean of the shortest times.
    fn shortest_ms(&self) -> f64 {
        self.shortest.iter().sum::<Duration>().as_secs_f64() * 1e3 / self.shortest.len() as f64
    }

    /// Mean CPU time of a sample in each round.
    fn rounds_ms(&self) -> Vec<f64> {
        self.rounds.iter().map(|round| round.as_secs_f64() * 1e3 / self.shortest.len() as f64).collect()
    }
}

fn sorted(values: impl IntoIterator<Item = f64>) -> Vec<f64> {
    let mut values: Vec<f64> = values.into_iter().collect();
    values.sort_by(f64::total_cmp);
    values
}

fn middle(sorted: &[f64]) -> f64 {
    sorted[sorted.len() / 2]
}
