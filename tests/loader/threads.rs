//! No thread is left behind. It runs in a process of its own, because it counts all threads of the process.
#![cfg(target_os = "linux")]

use crate::support::{builder, flat};
use std::process::Command;
use std::time::{Duration, Instant};

/// In the environment of the process that has no other test.
const ALONE: &str = "FEEDLINE_TEST_ALONE";

/// Waits until the process has `want` threads; a joined thread stays listed for a moment.
fn settles_at(want: usize) -> bool {
    let deadline = Instant::now() + Duration::from_secs(5);
    let threads = || std::fs::read_dir("/proc/self/task").unwrap().count();
    while threads() != want {
        if Instant::now() > deadline {
            return false;
        }
        std::thread::yield_now();
    }
    true
}

#[test]
fn every_thread_is_gone_when_the_loader_and_its_epochs_are() {
    if std::env::var_os(ALONE).is_none() {
        let name = "threads::every_thread_is_gone_when_the_loader_and_its_epochs_are";
        let mut alone = Command::new(std::env::current_exe().unwrap());
        let ran = alone.args(["--exact", name]).env(ALONE, "1").output().unwrap();
        let said = String::from_utf8_lossy(&ran.stdout);
        assert!(ran.status.success() && said.contains("1 passed"), "{said}");
        return;
    }
    let before = std::fs::read_dir("/proc/self/task").unwrap().count();
    let loader = builder(flat(64), 4).workers(5).build().unwrap();
    assert!(settles_at(before), "a loader that was never used has no threads");
    let whole = loader.epoch(0).count();
    assert_eq!(whole, 16);
    assert!(settles_at(before + 5), "the workers stay for the next epoch");
    let mut epoch = loader.epoch(1);
    let batch = epoch.next().unwrap().unwrap();
    drop(loader);
    assert!(settles_at(before + 5), "the epoch needs them");
    drop(epoch);
    assert!(settles_at(before), "nobody needs them");
    assert_eq!(batch.len(), 4);
}
