//! No test waits for time to pass: a gate, a clock that the test moves, or a model of all orders of events says when.

use crate::tree::File;

/// Where time has to pass, and why; a folder or a file.
const ALLOWED: &[(&str, &str)] = &[
    ("python/src/calls.rs", "waits for calls of Python code as the interpreter ends"),
    ("src/device/cuda/driver/sync_guard.rs", "asks a device again that cannot be waited for yet"),
    ("src/device/cuda/engine/consumers.rs", "asks whether a capture has ended, which nobody tells"),
    ("src/cli/doctor/trainer.rs", "waits for a process to end, and stands in for a trainer"),
    ("src/source/throttled.rs", "stands in for storage that is slow"),
    ("src/cli/bench.rs", "`--step-ms` stands in for a trainer"),
    ("src/source/disk_cache/tests.rs", "kills a process wherever chance finds it"),
    ("src/source/parquet/cache.rs", "lets other threads come to one that makes a value"),
    ("src/source/remote/", "pauses ahead of another try"),
    ("src/source/shared/file.rs", "asks again for a lock that it must not wait for without end"),
    ("src/source/shared/opening.rs", "the same"),
    ("src/source/shared/tests/killed.rs", "kills processes wherever chance finds them"),
    ("tests/cli/pack.rs", "kills a run wherever chance finds it"),
    ("tests/cuda/child.rs", "looks after processes, which say nothing when they end"),
    ("tests/remote/server.rs", "a server that is slow"),
    ("tests/tidy/floors.rs", "names such a call"),
];

pub(crate) fn check(file: &File) -> Vec<String> {
    if !file.is_rust() || ALLOWED.iter().any(|(path, _)| file.path.starts_with(path)) {
        return Vec::new();
    }
    // In parts, so that this file keeps its own rule.
    let sleeps = [concat!("thread::", "sleep("), concat!("time::", "sleep(")];
    let hits =
        file.text.lines().enumerate().filter(|(_, line)| sleeps.iter().any(|call| line.contains(call)));
    let problem = |(number, _): (usize, &str)| {
        format!(
            "{}:{}: let a `Gate` or the clock of tests/support say when, or write down in tests/tidy/sleeps.rs why time \
             has to pass",
            file.path,
            number + 1
        )
    };
    hits.map(problem).collect()
}

#[test]
fn a_sleep_is_refused_where_none_is_needed() {
    let problems = |path: &str| {
        let text = concat!("use std::thread;\nfn f() {\n    thread::", "sleep(a_while);\n}\n");
        check(&File::new(path, text)).len()
    };
    assert_eq!((problems("tests/loader/a.rs"), problems("src/loader.rs"), problems("tests/a.py")), (1, 1, 0));
    assert_eq!((problems("tests/remote/server.rs"), problems("src/source/remote/a.rs")), (0, 0));
    assert!(check(&File::new("src/a.rs", "// it sleeps well\n")).is_empty());
}
