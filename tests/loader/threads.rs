//! No thread is left behind, and each has the priority that was asked for. These tests run in processes of their own, because
//! they look at all threads of the process.
#![cfg(target_os = "linux")]

use crate::support::{builder, flat};
use feedline::loader::WorkerPriority;
use std::process::Command;
use std::time::{Duration, Instant};

/// In the environment of the process that has no other test.
const ALONE: &str = "FEEDLINE_TEST_ALONE";

/// Waits until `what` of the process is `want`, and says whether that came: a thread that was started takes a moment to begin, and
/// one that was joined stays listed for a moment.
fn settles_at<T: PartialEq>(want: T, what: impl Fn() -> T) -> bool {
    let deadline = Instant::now() + Duration::from_secs(5);
    while what() != want {
        if Instant::now() > deadline {
            return false;
        }
        std::thread::yield_now();
    }
    true
}

/// The threads of the process.
fn threads() -> usize {
    std::fs::read_dir("/proc/self/task").unwrap().count()
}

/// How many threads of the process have each of the scheduling policies SCHED_OTHER and SCHED_IDLE, by their numbers in
/// `sched(7)`.
fn policies() -> [usize; 2] {
    let policy = |task: std::io::Result<std::fs::DirEntry>| -> Option<u32> {
        // One that ends meanwhile has none.
        let stat = std::fs::read_to_string(task.unwrap().path().join("stat")).ok()?;
        // The policy is field 41, and field 3 the first after the name.
        Some(stat.rsplit_once(") ").unwrap().1.split(' ').nth(41 - 3).unwrap().parse().unwrap())
    };
    let all: Vec<u32> = std::fs::read_dir("/proc/self/task").unwrap().filter_map(policy).collect();
    [0, 5].map(|wanted| all.iter().filter(|&&policy| policy == wanted).count())
}

/// Whether the test `name` is on its own in this process; if not, it runs in one where it is.
fn is_alone(name: &str) -> bool {
    if std::env::var_os(ALONE).is_some() {
        return true;
    }
    let mut alone = Command::new(std::env::current_exe().unwrap());
    let ran = alone.args(["--exact", name]).env(ALONE, "1").output().unwrap();
    let said = String::from_utf8_lossy(&ran.stdout);
    assert!(ran.status.success() && said.contains("1 passed"), "{said}");
    false
}

#[test]
fn every_thread_is_gone_when_the_loader_and_its_epochs_are() {
    if !is_alone("threads::every_thread_is_gone_when_the_loader_and_its_epochs_are") {
        return;
    }
    let before = threads();
    let loader = builder(flat(64), 4).workers(5).build().unwrap();
    assert!(settles_at(before, threads), "a loader that was never used has no threads");
    let whole = loader.epoch(0).count();
    assert_eq!(whole, 16);
    assert!(settles_at(before + 5, threads), "the workers stay for the next epoch");
    let mut epoch = loader.epoch(1);
    let batch = epoch.next().unwrap().unwrap();
    drop(loader);
    assert!(settles_at(before + 5, threads), "the epoch needs them");
    drop(epoch);
    assert!(settles_at(before, threads), "nobody needs them");
    assert_eq!(batch.len(), 4);
}

#[test]
fn workers_have_the_priority_that_is_asked_for_and_nobody_else() {
    if !is_alone("threads::workers_have_the_priority_that_is_asked_for_and_nobody_else") {
        return;
    }
    let [others, idle] = policies();
    assert_eq!(idle, 0);
    let pixels = |priority, want: [usize; 2]| {
        let loader = builder(flat(64), 4).workers(3).worker_priority(priority).build().unwrap();
        let pixels: Vec<_> = loader.epoch(0).map(|batch| batch.unwrap().images().to_vec()).collect();
        assert!(settles_at(want, policies), "{priority:?}: {:?} instead of {want:?}", policies());
        pixels
    };
    let as_usual = pixels(WorkerPriority::Normal, [others + 3, 0]);
    assert!(settles_at([others, 0], policies));
    assert!(pixels(WorkerPriority::Idle, [others, 3]) == as_usual, "no pixel depends on it");
}
