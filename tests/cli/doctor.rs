//! `doctor` with data: what limits, and what would help; and what `bench` records and slows down.

use crate::support::{fail, feedline, report, succeed, word};
use serde_json::Value;
use std::io::{BufRead, BufReader, Read};
use std::process::{Command, Stdio};

const QUICK: [&str; 3] = ["--seconds", "1", "--json"];

fn doctor(told: &[&str]) -> Value {
    report(&[&["doctor", "data/photos", "--batch-size", "16", "--workers", "2"], told, &QUICK].concat())
}

#[test]
fn a_trainer_that_never_waits_needs_nothing() {
    let found = doctor(&["--step-ms", "5000"]);
    assert_eq!(found["verdict"], "trainer", "{found}");
    assert_eq!(found["together"]["per_s"], 3.2, "16 images in 5 s");
    let explanation = found["explanation"].as_str().expect("words");
    assert!(explanation.contains("You do not need a faster loader"), "{explanation}");
    assert_eq!(found["alternatives"], Value::Array(Vec::new()));
}

#[test]
fn a_trainer_is_measured_as_a_command() {
    let found = doctor(&["--trainer", "while true; do sleep 0.2; echo step; done"]);
    let takes = found["trainer"]["samples"]["per_s"].as_f64().expect("a rate");
    assert!((8.0..120.0).contains(&takes), "16 images in 0.2 s and what a busy machine adds: {takes}");
    let error = fail(&["doctor", "data/photos", "--trainer", "exit 3", "--seconds", "1"]);
    assert!(error.contains("--trainer") && error.contains("a line after each step"), "{error}");
}

#[test]
fn mistakes_are_found_ahead_of_the_trainer() {
    let folder = tempfile::tempdir().expect("a folder");
    let ran = folder.path().join("ran");
    let trainer = format!("echo > {}", word(&ran));
    for (told, wanted) in [
        (&["doctor", "no-such-folder"][..], "no-such-folder"),
        (&["doctor", "data/photos", "--seconds", "0"], "at least 1 second"),
    ] {
        let error = fail(&[told, &["--trainer", trainer.as_str()]].concat());
        assert!(error.contains(wanted), "{error}");
        assert!(!ran.exists(), "{told:?}");
    }
}

#[test]
fn a_trainer_does_not_outlive_a_command_that_is_killed() {
    // It is in a long step, and shares standard error with the command, which ends once nobody is left that could write to it.
    let trainer = "echo started >&2; sleep 60; echo survived >&2";
    let mut command = Command::new(env!("CARGO_BIN_EXE_feedline"))
        .args(["doctor", "data/photos", "--seconds", "60", "--trainer", trainer])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the binary was built for this test");
    let mut error = BufReader::new(command.stderr.take().expect("it is piped"));
    let mut said = String::new();
    error.read_line(&mut said).expect("a line");
    // As nothing can be caught of this, it stands for Ctrl-C as well.
    command.kill().expect("it runs");
    command.wait().expect("it has ended");
    error.read_to_string(&mut said).expect("text");
    assert!(said.starts_with("started\n") && !said.contains("survived"), "{said}");
}

#[test]
fn slow_storage_is_the_limit_and_a_cache_helps() {
    // About eleven files a second: less than any machine decodes, however busy it is.
    let found = doctor(&["--storage", "0.4"]);
    assert_eq!(found["verdict"], "storage", "{found}");
    let rate = found["together"]["per_s"].as_f64().expect("a rate");
    assert!((3.0..16.0).contains(&rate), "{rate}");
    let settings = found["alternatives"].to_string();
    assert!(settings.contains("cache = ") && !settings.contains("workers = "), "{settings}");
    let slow =
        ["bench", "--images", "40", "--batch-size", "8", "--workers", "2", "--storage", "0.4", "--json"];
    let bench = report(&slow);
    assert_eq!(bench["limiting_stage"], "source", "{bench}");
    assert!(bench["images_per_s"].as_f64().expect("a rate") < 16.0);
}

#[test]
fn a_reader_is_told_in_lines() {
    let text = succeed(&["doctor", "data/photos", "--seconds", "1", "--no-alternatives"]);
    for line in ["data      ", "storage   ", "work      ", "trainer   unknown", "together  "] {
        assert!(text.contains(line), "{line}: {text}");
    }
    assert!(!text.contains("batches of"), "{text}");
    let told = ["--seconds", "1", "--no-alternatives", "--batch-size", "16", "--step-ms", "5000"];
    let text = succeed(&[&["doctor", "data/photos"], &told[..]].concat());
    let trainer = text.lines().find(|line| line.starts_with("trainer   3.20 images/s"));
    assert!(trainer.is_some_and(|line| line.ends_with("in batches of 16")), "{text}");
    let without_data = succeed(&["doctor"]);
    assert!(without_data.contains("storage   not measured: `feedline doctor DATA`"), "{without_data}");
}

#[test]
fn what_cannot_be_examined_is_refused() {
    for (told, wanted) in [
        (&["doctor", "--step-ms", "3"][..], "no data are named"),
        (&["doctor", "data/photos", "--data", "data/photos"], "named twice"),
        (&["doctor", "data/photos", "--seconds", "0"], "at least 1 second"),
        (&["doctor", "data/photos", "--step-ms", "0"], "--step-ms is 0"),
        (&["doctor", "no-such-folder"], "no-such-folder"),
    ] {
        let error = fail(told);
        assert!(error.contains(wanted), "{told:?}: {error}");
    }
    let output = feedline(&["bench", "--storage", "floppy"]);
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success() && error.contains("hdd, sata, nvme, s3"), "{error}");
}

#[test]
fn a_trace_has_the_stages_of_each_sample_and_the_trainer() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("trace.json");
    let file = path.to_str().expect("a path");
    succeed(&["bench", "--images", "24", "--batch-size", "8", "--step-ms", "5", "--trace", file]);
    let trace: Value = serde_json::from_str(&std::fs::read_to_string(&path).expect("a trace")).expect("JSON");
    let events = trace["traceEvents"].as_array().expect("events");
    let count = |name: &str| events.iter().filter(|event| event["name"] == name).count();
    assert_eq!(["read", "plan", "decode", "render"].map(count), [24; 4]);
    assert_eq!(["wait", "trainer"].map(count), [3, 2], "of three batches");
    let thread = |event: &&Value| event["name"] == "thread_name";
    assert!(events.iter().filter(thread).count() >= 2, "workers and the consumer have names");
    let spans = events.iter().filter(|event| event["ph"] == "X");
    assert!(spans.clone().all(|span| span["ts"].as_f64() >= Some(0.0) && span["dur"].as_f64() >= Some(0.0)));
    let error = fail(&["bench", "--images", "8", "--trace", "/no/such/folder/t.json"]);
    assert!(error.contains("--trace /no/such/folder/t.json: its folder is not there"), "{error}");
}
