//! `feedline pack` and `feedline inspect`, and a `pack` that is killed.

use crate::support::{fail, feedline, photo, photos, report, succeed, word};
use feedline::pack::Manifest;
use feedline::source::{Folder, Shards, Source};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

fn arguments<'a>(out: &'a Path, more: &[&'a str]) -> Vec<&'a str> {
    let mut arguments = vec!["pack", "--out", word(out), "--shard-records", "3", "--resize", "200"];
    arguments.extend_from_slice(more);
    arguments
}

#[test]
fn packed_shards_are_a_data_set() {
    let out = tempfile::tempdir().unwrap();
    let said = succeed(&["pack", "--out", word(out.path()), "--shard-bytes", "500K"]);
    assert!(said.contains("43 records in 4 shards"), "{said}");
    let (own, packed) = (report(&["inspect", "--json"]), &["inspect", "--json", "--data", word(out.path())]);
    assert_eq!(report(packed), own);
    let table = succeed(&["inspect", "--data", word(out.path()), "--checksums"]);
    assert!(table.contains("4:2:0 21") && table.contains("astronaut"), "{table}");
}

#[test]
fn bad_checksums_and_bad_arguments_are_errors() {
    let out = tempfile::tempdir().unwrap();
    succeed(&arguments(out.path(), &[]));
    let checked = ["inspect", "--data", word(out.path()), "--checksums"];
    succeed(&checked);
    std::fs::write(out.path().join("shard-000002.tar"), b"").unwrap();
    let output = feedline(&checked);
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(output.stdout, b"bad  shard-000002.tar: its bytes are not those that were written\n");
    let output = feedline(&[&checked[..], &["--json"]].concat());
    let said: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(said["bad_shards"][0], "shard-000002.tar: its bytes are not those that were written");
    assert!(fail(&arguments(out.path(), &[])).contains("no whole shard-000002.tar"));
    let photos = photos();
    assert!(fail(&["inspect", "--data", word(&photos), "--checksums"]).contains("no manifest.json"));
    assert!(fail(&arguments(out.path(), &["--workers", "0"])).contains("--workers 0"));
    for profile in ["small", "fast"] {
        let told = fail(&arguments(out.path(), &["--profile", profile]));
        assert!(told.contains("add --format coefficients, or leave --profile out"), "{told}");
    }
}

#[test]
fn shards_are_not_written_among_the_data() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    std::fs::create_dir_all(data.join("cat")).unwrap();
    std::fs::copy(photo(), data.join("cat/a.jpg")).unwrap();
    for out in [data.clone(), data.join("cat"), data.join("new/folder"), data.join("cat/../cat/new")] {
        let told = fail(&["pack", "--data", word(&data), "--out", word(&out)]);
        assert!(told.contains("is in the folder of the data set") && told.contains("elsewhere"), "{told}");
    }
    let list = folder.path().join("list.txt");
    std::fs::write(&list, "data/cat/a.jpg\n").unwrap();
    let [inner, beside] = ["cat/shards", "shards"].map(|name| data.join(name));
    let told = fail(&["pack", "--data", word(&list), "--out", word(&inner)]);
    assert!(told.contains(&format!("--out {} is in the folder of the data set", inner.display())), "{told}");
    succeed(&["pack", "--data", word(&list), "--out", word(&beside)]);
    std::fs::remove_dir_all(&beside).unwrap();
    assert_eq!(Folder::open(&data).unwrap().len(), 1);
    assert!(!inner.exists() && !data.join("new").exists(), "nothing is left of what was refused");
    succeed(&["pack", "--data", word(&data), "--out", word(&folder.path().join("shards"))]);
}

/// Killed at twenty points of its run, it is each time gone on with: at no time is there a shard that is not whole.
#[test]
fn a_killed_run_is_completed_by_the_next() {
    is_completed_after_kills(&[]);
}

#[test]
fn a_killed_run_that_makes_coefficients_is_completed_by_the_next() {
    is_completed_after_kills(&["--format", "coefficients"]);
}

/// Kills runs at twenty points, and compares what the next ones make of what is left with a run that was not killed.
#[expect(clippy::unwrap_used, reason = "a test may panic")]
fn is_completed_after_kills(more: &[&str]) {
    let whole = tempfile::tempdir().unwrap();
    let begun = Instant::now();
    succeed(&arguments(whole.path(), more));
    let time = begun.elapsed();
    let sums = |folder: &Path| Manifest::read(folder).unwrap().unwrap().shards;
    let mut killed = 0;
    for point in 0..20u32 {
        let out = tempfile::tempdir().unwrap();
        let mut run = Command::new(env!("CARGO_BIN_EXE_feedline"))
            .args(arguments(out.path(), more))
            .current_dir(env!("CARGO_MANIFEST_DIR"))
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        // Not evenly, so that no step of the run is always met at the same place.
        std::thread::sleep(time * (point * 7 % 20) / 20 + Duration::from_micros(u64::from(point) * 37));
        drop(run.kill());
        killed += usize::from(!run.wait().unwrap().success());
        if let Some(left) = Manifest::read(out.path()).unwrap() {
            assert_eq!(left.verify(out.path()).unwrap(), Vec::<String>::new(), "killed at {point}");
            if !left.shards.is_empty() {
                assert!(Shards::folder(out.path()).unwrap().len() >= left.records, "a shard is not whole");
            }
        }
        succeed(&arguments(out.path(), more));
        assert_eq!(sums(out.path()), sums(whole.path()), "killed at {point}");
        assert_eq!(sums(out.path()).iter().map(|shard| shard.records).sum::<usize>(), 43);
    }
    assert!(killed >= 10, "only {killed} of 20 runs were still going when they were killed");
    assert_eq!(Shards::folder(whole.path()).unwrap().len(), Folder::open(photos()).unwrap().len());
}
