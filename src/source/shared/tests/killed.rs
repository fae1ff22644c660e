//! Processes that are killed while they open a file and while they store.

use super::*;
use std::ffi::OsString;
use std::io::{BufRead, BufReader};
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// What the killed child does: it opens the file, and stores and reads until it is killed.
#[test]
fn child_that_stores_until_it_is_killed() {
    let Some(path) = std::env::var_os("FEEDLINE_SHARED_CACHE_TEST") else { return };
    let cache = staying(Path::new(&path));
    let first = std::process::id() as u64;
    for turn in first.. {
        let record = turn.wrapping_mul(7) % RECORDS;
        // Now and then a record that is there is stored anew, as if it were damaged.
        if turn % 5 == 0 || cache.entry(record).is_none() {
            store(&cache, record);
        }
        assert!(read(&cache, record).is_none_or(|bytes| bytes == content(record)));
        if turn == first {
            println!("\nworking");
        }
    }
}

fn start(path: &Path) -> Child {
    // What is built for another kind of processor needs its emulator.
    let emulator = std::env::var("FEEDLINE_TEST_EMULATOR").unwrap_or_default();
    let this = std::env::current_exe().unwrap();
    let mut command = emulator.split_whitespace().map(OsString::from).chain([this.into_os_string()]);
    Command::new(command.next().unwrap())
        .args(command)
        .args([
            "source::shared::tests::killed::child_that_stores_until_it_is_killed",
            "--exact",
            "--nocapture",
        ])
        .env("FEEDLINE_SHARED_CACHE_TEST", path)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

/// Waits until the child has stored a record.
fn wait_for_work(child: &mut Child) {
    let said = BufReader::new(child.stdout.as_mut().unwrap()).lines();
    assert!(said.map_while(Result::ok).any(|line| line == "working"));
}

fn kill(children: &mut [Child]) {
    children.iter_mut().for_each(|child| child.kill().unwrap());
    // Not one that has failed before.
    children.iter_mut().for_each(|child| assert_eq!(child.wait().unwrap().signal(), Some(9)));
}

/// Asserts that every record that has an entry is as it was stored, and that the others can be stored; how many had one comes back.
#[track_caller]
fn sound(cache: &CacheFile) -> usize {
    let named: Vec<u64> = (0..RECORDS).filter(|&record| cache.entry(record).is_some()).collect();
    for record in 0..RECORDS {
        let found = read(cache, record);
        assert_eq!(found.is_some(), named.contains(&record), "{record}");
        if found.is_none() {
            store(cache, record);
        }
        assert_eq!(read(cache, record), Some(content(record)), "{record}");
    }
    let counts = cache.counts();
    assert_eq!((counts.busy, counts.failures, counts.damaged), (0, 0, 0));
    named.len()
}

/// Killed at twenty points of their work: no record ever comes back but as it was stored, none is lost that was stored whole, and
/// the file can be filled again.
#[test]
fn a_process_that_is_killed_at_any_point_leaves_a_file_that_can_be_used() {
    let folder = tempfile::tempdir().unwrap();
    for round in 0..20u64 {
        let path = folder.path().join(format!("cache-{}", round % 10));
        // So that the file is joined as the dead left it, and not begun anew.
        let user = staying(&path);
        let mut children = [start(&path), start(&path)];
        children.iter_mut().for_each(wait_for_work);
        std::thread::sleep(Duration::from_micros(round * round * 50));
        kill(&mut children);
        assert!(sound(&staying(&path)) > 0, "round {round}");
        assert!(std::fs::metadata(&path).unwrap().len() <= 1 << 24);
        drop(user);
    }
}

/// Half of them make the file, the others find one of other data, which they begin anew.
#[test]
fn a_process_that_is_killed_while_it_opens_a_file_leaves_one_that_can_be_opened() {
    let folder = tempfile::tempdir().unwrap();
    for round in 0..20u64 {
        let path = folder.path().join(format!("cache-{round}"));
        if round % 2 == 1 {
            store(&open_at(&path, of(2), Some(1 << 24), true).unwrap(), 1);
        }
        let mut child = start(&path);
        while !path.exists() && child.try_wait().unwrap().is_none() {
            std::hint::spin_loop();
        }
        std::thread::sleep(Duration::from_micros(round * round * 50));
        kill(std::slice::from_mut(&mut child));
        sound(&staying(&path));
    }
}
