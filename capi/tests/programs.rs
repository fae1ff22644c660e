//! C and C++ programs that are built against the header and run: the examples, and those in tests/c.
//!
//! FEEDLINE_C_FLAGS adds flags for the compilers (`-fsanitize=address`), FEEDLINE_C_RUN a program to run them under
//! (`valgrind -q --error-exitcode=9`).

#![expect(clippy::unwrap_used, reason = "a test may panic")]

#[path = "programs/data.rs"]
mod data;
#[path = "programs/decode.rs"]
mod decode;

#[path = "../../examples/epochs.rs"]
#[expect(dead_code, reason = "its main() is run elsewhere")]
mod epochs;

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn photos() -> String {
    root().join("data/photos").to_string_lossy().into_owned()
}

/// Builds a program of the tree against the shared library that cargo made for this test, and runs it. Returns what it
/// printed.
fn run(source: &str, arguments: &[&str]) -> String {
    build_and_run(&root().join(source), &["-Wall", "-Wextra", "-Wpedantic", "-Werror"], arguments, &root())
}

fn build_and_run(source: &Path, warnings: &[&str], arguments: &[&str], at: &Path) -> String {
    let folder = tempfile::tempdir().unwrap();
    let test = std::env::current_exe().unwrap();
    let library = test.parent().unwrap().join("libfeedline_c.so");
    for name in ["libfeedline.so", "libfeedline.so.0"] {
        std::os::unix::fs::symlink(&library, folder.path().join(name)).unwrap();
    }
    let program = folder.path().join("program");
    let (compiler, standard) = match source.extension().is_some_and(|ending| ending == "cpp") {
        true => ("c++", "-std=c++17"),
        false => ("cc", "-std=c99"),
    };
    let flags = std::env::var("FEEDLINE_C_FLAGS").unwrap_or_default();
    let mut build = Command::new(compiler);
    build.args([standard, "-D_POSIX_C_SOURCE=200809L", "-g", "-O1"]).args(warnings);
    build.args(flags.split_whitespace()).arg("-I").arg(root().join("include")).arg(source);
    build.arg("-L").arg(folder.path()).args(["-lfeedline", "-pthread", "-o"]).arg(&program);
    succeeds(&mut build);
    let under = std::env::var("FEEDLINE_C_RUN").unwrap_or_default();
    let mut words = under.split_whitespace().map(PathBuf::from).chain([program]);
    let mut command = Command::new(words.next().unwrap());
    command.args(words).args(arguments).env("LD_LIBRARY_PATH", folder.path()).current_dir(at);
    String::from_utf8(succeeds(&mut command).stdout).unwrap()
}

#[track_caller]
fn succeeds(command: &mut Command) -> Output {
    let output = command.output().unwrap();
    let [said, error] = [&output.stdout, &output.stderr].map(|text| String::from_utf8_lossy(text));
    assert!(output.status.success(), "{command:?}: {:?}\n{said}\n{error}", output.status);
    output
}

/// Runs the example `epochs` in C or C++ and compares all that it prints with what the one in Rust does.
#[track_caller]
fn prints_what_rust_does(source: &str) {
    let runs = [("imagenet-train", 42), ("imagenet-randaugment", 7)];
    for (recipe, seed) in runs.into_iter().take(if under_a_tool() { 1 } else { 2 }) {
        let mut expected = Vec::new();
        epochs::epochs(&photos(), recipe, seed, &mut expected).unwrap();
        let output = run(source, &[&photos(), recipe, &seed.to_string()]);
        assert_eq!(output, String::from_utf8(expected).unwrap(), "{recipe}, seed {seed}");
        assert!(output.contains("[8, 3, 224, 224]") && output.contains("[3, 3, 224, 224]"), "{output}");
    }
}

#[test]
fn the_c_example_gets_the_librarys_bytes() {
    prints_what_rust_does("examples/c/epochs.c");
}

#[test]
fn the_cpp_example_gets_the_librarys_bytes() {
    prints_what_rust_does("examples/cpp/epochs.cpp");
}

/// The first code of a language that a page shows, as a program, with less to do: two epochs of small batches.
fn shown(page: &str, language: &str) -> String {
    let page = std::fs::read_to_string(root().join(page)).unwrap();
    let code = page.split(&format!("```{language}\n")).nth(1).unwrap().split("```").next().unwrap();
    assert!(code.contains("256"), "{code}");
    let code = code.replace("256", "16").replace("number < 90", "number < 2");
    let (includes, body): (Vec<&str>, Vec<&str>) =
        code.lines().partition(|line| line.starts_with("#include"));
    format!(
        "#include <stdio.h>\n#include <stdlib.h>\n{}\nint main(void) {{\n{}\n}}\n",
        includes.join("\n"),
        body.join("\n")
    )
}

#[test]
fn the_tours_code_runs() {
    for (page, language) in [("docs/c.md", "c"), ("docs/c.md", "cpp"), ("README.md", "cpp")] {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("imagenet")).unwrap();
        let photos = root().join("data/photos").canonicalize().unwrap();
        std::os::unix::fs::symlink(photos, folder.path().join("imagenet/train")).unwrap();
        let program = folder.path().join(format!("program.{language}"));
        std::fs::write(&program, shown(page, language)).unwrap();
        build_and_run(&program, &["-Werror"], &[], folder.path());
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

/// How many kB more there may be behind many loaders. A leaked batch has 49, a leaked loader more: at one a cycle that is
/// far above 3 MB. Valgrind and AddressSanitizer keep what is freed, and find leaks by themselves.
fn growth() -> &'static str {
    let sanitizer = std::env::var("FEEDLINE_C_FLAGS").is_ok_and(|flags| flags.contains("-fsanitize"));
    if sanitizer || under_a_tool() { "1000000" } else { "3072" }
}

/// Such as valgrind, under which everything takes long.
fn under_a_tool() -> bool {
    std::env::var_os("FEEDLINE_C_RUN").is_some()
}

#[test]
#[cfg(target_os = "linux")]
fn loaders_that_are_freed_leave_nothing_behind() {
    let cycles = if under_a_tool() { "30" } else { "200" };
    run("capi/tests/c/cycles.c", &[&photos(), cycles, growth()]);
}

#[test]
#[cfg(target_os = "linux")]
#[ignore = "long: a thousand loaders"]
fn a_thousand_loaders_leave_nothing_behind() {
    run("capi/tests/c/cycles.c", &[&photos(), "1000", growth()]);
}
