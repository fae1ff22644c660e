//! Notes what the binary was built from, for `feedline doctor` and `feedline --version`.

use std::path::Path;
use std::process::Command;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let variable = |name: &str| std::env::var(name).unwrap_or_else(|_| "unknown".into());
    note("COMMIT", &commit().unwrap_or_else(|| "unknown".into()));
    note("TARGET", &variable("TARGET"));
    note("PROFILE", &variable("PROFILE"));
    note("RUSTC", &output(&variable("RUSTC"), &["--version"]).unwrap_or_else(|| "unknown".into()));
}

fn note(name: &str, value: &str) {
    println!("cargo::rustc-env=FEEDLINE_{name}={value}");
}

/// The commit, if this is a checkout of its own: a packaged crate inside another checkout must not take that one's.
fn commit() -> Option<String> {
    if !Path::new(".git").exists() {
        return None;
    }
    // HEAD changes with the branch, its log with every commit; in a worktree neither lies in .git itself.
    for file in ["HEAD", "logs/HEAD"] {
        let path = output("git", &["rev-parse", "--git-path", file])?;
        if Path::new(&path).exists() {
            println!("cargo::rerun-if-changed={path}");
        }
    }
    output("git", &["rev-parse", "--short=12", "HEAD"])
}

/// The first line that a command prints, if there is such a command and it succeeds.
fn output(command: &str, arguments: &[&str]) -> Option<String> {
    let output =
        Command::new(command).args(arguments).output().ok().filter(|output| output.status.success())?;
    let text = String::from_utf8(output.stdout).ok()?;
    text.lines().next().map(|line| line.trim().to_owned())
}
