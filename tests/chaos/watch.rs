//! Says where a case hangs, and counts what the process holds.

use feedline::machine;
use std::fs;
use std::sync::Mutex;
use std::time::{Duration, Instant};

/// How long one step of a case may take.
const PATIENCE: Duration = Duration::from_secs(120);
/// The exit status of a process in which a case hung.
const HANGS: i32 = 86;

struct Now {
    seed: u64,
    step: String,
    since: Instant,
}

static NOW: Mutex<Option<Now>> = Mutex::new(None);

/// Starts the thread that watches; it stays until the process ends.
pub(crate) fn start() {
    let (never, forever) = std::sync::mpsc::channel::<()>();
    let watch = move || {
        while forever.recv_timeout(Duration::from_secs(1)).is_err() {
            let now = NOW.lock().expect("nobody panics here");
            if let Some(now) = now.as_ref().filter(|now| now.since.elapsed() > PATIENCE) {
                eprintln!("HANG: seed {} {} for {PATIENCE:?}\n{}", now.seed, now.step, threads_in_words());
                std::process::exit(HANGS);
            }
        }
    };
    std::thread::Builder::new().name("watch".into()).spawn(watch).expect("a thread");
    std::mem::forget(never);
}

/// A new case begins.
pub(crate) fn case(seed: u64) {
    let step = "begins".to_owned();
    *NOW.lock().expect("nobody panics here") = Some(Now { seed, step, since: Instant::now() });
}

/// The case does this from now on.
pub(crate) fn step(step: impl Into<String>) {
    if let Some(now) = NOW.lock().expect("nobody panics here").as_mut() {
        (now.step, now.since) = (step.into(), Instant::now());
    }
}

/// What the case does.
pub(crate) fn last_step() -> String {
    NOW.lock().expect("nobody panics here").as_ref().map(|now| now.step.clone()).unwrap_or_default()
}

/// Name and state of each thread, and what it waits for in the system.
fn threads_in_words() -> String {
    let task = |entry: std::io::Result<fs::DirEntry>| {
        let path = entry.ok()?.path();
        let read = |name: &str| fs::read_to_string(path.join(name)).unwrap_or_default();
        let state = read("status").lines().find(|line| line.starts_with("State:")).map(str::to_owned);
        Some(format!("  {} {} {}\n", read("comm").trim(), state.unwrap_or_default(), read("wchan")))
    };
    fs::read_dir("/proc/self/task").map(|tasks| tasks.filter_map(task).collect()).unwrap_or_default()
}

/// What a process holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Holdings {
    pub(crate) threads: usize,
    pub(crate) files: usize,
}

impl Holdings {
    pub(crate) fn now() -> Self {
        let count = |folder: &str| fs::read_dir(folder).map_or(0, Iterator::count);
        Self { threads: count("/proc/self/task"), files: count("/proc/self/fd") }
    }

    /// Waits until the process holds no more than this; a thread that was joined stays listed for a moment.
    pub(crate) fn settle(self) -> Result<(), String> {
        let deadline = Instant::now() + Duration::from_secs(10);
        loop {
            let now = Self::now();
            if now.threads <= self.threads && now.files <= self.files {
                return Ok(());
            }
            if Instant::now() > deadline {
                let names = threads_in_words();
                return Err(format!(
                    "left behind: {now:?}, and {self:?} before\n{names}{}",
                    files_in_words()
                ));
            }
            std::thread::yield_now();
        }
    }
}

fn files_in_words() -> String {
    let target = |entry: std::io::Result<fs::DirEntry>| {
        Some(format!("  {}\n", fs::read_link(entry.ok()?.path()).ok()?.display()))
    };
    fs::read_dir("/proc/self/fd").map(|files| files.filter_map(target).collect()).unwrap_or_default()
}

/// The most bytes of the process that have lain in memory at once.
pub(crate) fn most_resident_bytes() -> u64 {
    machine::bytes_in("/proc/self/status", "VmHWM:").unwrap_or(0)
}

/// Bytes of the process that lie in memory.
pub(crate) fn resident_bytes() -> u64 {
    machine::bytes_in("/proc/self/status", "VmRSS:").unwrap_or(0)
}
