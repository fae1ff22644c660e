//! No thread is left behind. Alone in its process, because it counts all threads of the process.
#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, reason = "a test may panic")]

#[path = "loader/support.rs"]
#[expect(dead_code, reason = "the other loader tests use the rest")]
mod support;

use std::time::{Duration, Instant};
use support::{builder, flat};

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
