//! C and C++ programs that are built against the header and run: the examples, and those in tests/c.
//!
//! FEEDLINE_C_FLAGS adds flags for the compilers (`-fsanitize=address`), FEEDLINE_C_RUN a program to run them under
//! (`valgrind -q --error-exitcode=9`).

#![expect(clippy::unwrap_used, reason = "a test may panic")]

use feedline::loader::{LastBatch, Loader};
use feedline::output::{DType, Layout};
use feedline::recipe::Recipe;
use feedline::source::Folder;
use std::path::{Path, PathBuf};
use std::process::Command;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn photos() -> String {
    root().join("data/photos").to_string_lossy().into_owned()
}

/// Builds a program against the shared library that cargo made for this test, and runs it. Returns what it printed.
fn run(source: &str, arguments: &[&str]) -> String {
    let folder = tempfile::tempdir().unwrap();
    let test = std::env::current_exe().unwrap();
    let library = test.parent().unwrap().join("libfeedline_c.so");
    for name in ["libfeedline.so", "libfeedline.so.0"] {
        std::os::unix::fs::symlink(&library, folder.path().join(name)).unwrap();
    }
    let (source, program) = (root().join(source), folder.path().join("program"));
    let (compiler, standard) = match source.extension().is_some_and(|ending| ending == "cpp") {
        true => ("c++", "-std=c++17"),
        false => ("cc", "-std=c99"),
    };
    let flags = std::env::var("FEEDLINE_C_FLAGS").unwrap_or_default();
    let mut build = Command::new(compiler);
    build.args([
        standard,
        "-D_POSIX_C_SOURCE=200809L",
        "-Wall",
        "-Wextra",
        "-Wpedantic",
        "-Werror",
        "-g",
        "-O1",
    ]);
    build.args(flags.split_whitespace()).arg("-I").arg(root().join("include")).arg(&source);
    build.arg("-L").arg(folder.path()).args(["-lfeedline", "-pthread", "-o"]).arg(&program);
    let built = build.output().unwrap();
    assert!(built.status.success(), "{build:?}\n{}", String::from_utf8_lossy(&built.stderr));
    let under = std::env::var("FEEDLINE_C_RUN").unwrap_or_default();
    let mut words = under.split_whitespace().map(PathBuf::from).chain([program]);
    let mut command = Command::new(words.next().unwrap());
    command.args(words).args(arguments).env("LD_LIBRARY_PATH", folder.path());
    let ran = command.output().unwrap();
    let said = String::from_utf8_lossy(&ran.stdout).into_owned();
    assert!(ran.status.success(), "{:?}\n{said}\n{}", ran.status, String::from_utf8_lossy(&ran.stderr));
    said
}

/// What the examples print of an epoch, from the library itself.
fn checksums() -> Vec<String> {
    let recipe = Recipe::built_in("imagenet-train").unwrap();
    let builder = Loader::builder(Folder::open(photos()).unwrap()).recipe(&recipe);
    let builder = builder.output(DType::F32, Layout::Nchw).batch_size(8).seed(42).workers(3);
    let loader = builder.last_batch(LastBatch::Partial).build().unwrap();
    let epoch = |number| {
        let mut sum = 14_695_981_039_346_656_037_u64;
        let mut add = |bytes: &[u8]| {
            bytes.iter().for_each(|&byte| sum = (sum ^ u64::from(byte)).wrapping_mul(1_099_511_628_211));
        };
        for batch in loader.epoch(number) {
            let batch = batch.unwrap();
            add(batch.images());
            batch.labels().iter().for_each(|label| add(&label.to_le_bytes()));
        }
        format!("epoch {number}: checksum {sum:016x}")
    };
    (0..2).map(epoch).collect()
}

fn epochs_of(output: &str) -> Vec<&str> {
    output.lines().filter(|line| line.starts_with("epoch ")).collect()
}

#[test]
fn the_c_example_gets_the_librarys_bytes() {
    let output = run("examples/c/epochs.c", &[&photos()]);
    assert_eq!(epochs_of(&output), checksums());
    assert!(output.contains("[8, 3, 224, 224]") && output.contains("[3, 3, 224, 224]"), "{output}");
}

#[test]
fn the_cpp_example_gets_the_librarys_bytes() {
    let output = run("examples/cpp/epochs.cpp", &[&photos()]);
    assert_eq!(epochs_of(&output), checksums());
}

/// The first code of a language that docs/c.md shows, as the body of a program.
fn shown(language: &str) -> String {
    let tour = std::fs::read_to_string(root().join("docs/c.md")).unwrap();
    let code = tour.split(&format!("```{language}\n")).nth(1).unwrap().split("```").next().unwrap();
    let (includes, body): (Vec<&str>, Vec<&str>) =
        code.lines().partition(|line| line.starts_with("#include"));
    format!(
        "#include <stdio.h>\n#include <stdlib.h>\n{}\nint main(void) {{\n{}\n}}\n",
        includes.join("\n"),
        body.join("\n")
    )
}

#[test]
fn the_tours_code_compiles() {
    for (language, compiler, standard) in [("c", "cc", "-std=c99"), ("cpp", "c++", "-std=c++17")] {
        let folder = tempfile::tempdir().unwrap();
        let program = folder.path().join(format!("program.{language}"));
        std::fs::write(&program, shown(language)).unwrap();
        let mut build = Command::new(compiler);
        build.args([standard, "-Werror", "-fsyntax-only", "-I"]).arg(root().join("include")).arg(&program);
        let built = build.output().unwrap();
        assert!(built.status.success(), "{}\n{}", shown(language), String::from_utf8_lossy(&built.stderr));
    }
}

#[test]
fn wrong_calls_are_errors_with_a_remedy() {
    run("capi/tests/c/misuse.c", &[&photos()]);
}

#[test]
fn tensors_and_states_outlive_what_they_came_from() {
    run("capi/tests/c/lifetime.c", &[&photos()]);
}

#[test]
fn the_cpp_layer_throws_moves_and_owns() {
    run("capi/tests/c/layer.cpp", &[&photos()]);
}

#[test]
#[cfg(target_os = "linux")]
fn loaders_that_are_freed_leave_nothing_behind() {
    // Under valgrind, which finds leaks by itself, each takes a second.
    let cycles = if std::env::var_os("FEEDLINE_C_RUN").is_some() { "30" } else { "200" };
    run("capi/tests/c/cycles.c", &[&photos(), cycles]);
}

#[test]
#[cfg(target_os = "linux")]
#[ignore = "long: a thousand loaders"]
fn a_thousand_loaders_leave_nothing_behind() {
    run("capi/tests/c/cycles.c", &[&photos(), "1000"]);
}
