//! Processes that are killed while they store.

use super::*;
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// What the killed child does: it stores and reads until it is killed.
#[test]
fn child_that_stores_until_it_is_killed() {
    let Some(path) = std::env::var_os("FEEDLINE_SHARED_CACHE_TEST") else { return };
    let cache = staying(Path::new(&path));
    println!("\nworking");
    for turn in std::process::id() as u64.. {
        let record = turn.wrapping_mul(7) % RECORDS;
        // Now and then a record that is there is stored anew, as if it were damaged.
        if turn % 5 == 0 || cache.entry(record).is_none() {
            store(&cache, record);
        }
        assert!(read(&cache, record).is_none_or(|bytes| bytes == content(record)));
    }
}

fn start(path: &Path) -> Child {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args([
            "source::shared::tests::killed::child_that_stores_until_it_is_killed",
            "--exact",
            "--nocapture",
        ])
        .env("FEEDLINE_SHARED_CACHE_TEST", path)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let said = BufReader::new(child.stdout.as_mut().unwrap()).lines();
    assert!(said.map_while(Result::ok).any(|line| line == "working"));
    child
}

/// Killed at twenty points of their work: no record ever comes back but as it was stored, none is lost that was stored whole, and
/// the file can be filled again.
#[test]
fn a_process_that_is_killed_at_any_point_leaves_a_file_that_can_be_used() {
    let folder = tempfile::tempdir().unwrap();
    for round in 0..20u64 {
        let path = folder.path().join(format!("cache-{}", round % 10));
        let mut children = [start(&path), start(&path)];
        std::thread::sleep(Duration::from_micros(round * round * 50));
        children.iter_mut().for_each(|child| child.kill().unwrap());
        children.iter_mut().for_each(|child| assert!(!child.wait().unwrap().success()));
        let cache = staying(&path);
        assert!(std::fs::metadata(&path).unwrap().len() <= 1 << 24);
        for record in 0..RECORDS {
            let found = read(&cache, record);
            assert!(found.as_ref().is_none_or(|bytes| *bytes == content(record)), "round {round}");
            if found.is_none() {
                store(&cache, record);
            }
            assert_eq!(read(&cache, record), Some(content(record)), "round {round}");
        }
        assert_eq!((cache.counts().failures, cache.counts().damaged), (0, 0), "round {round}");
    }
}
