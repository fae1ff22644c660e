//! The simulated CUDA device: how its libraries are built, and what a process needs to find them.

use crate::judge::Verdict;
use crate::pixels;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Makes the simulated nvJPEG decode as the CPU does, where there is one.
pub(crate) fn lend_the_decoder() -> Verdict {
    pixels::lend_the_decoder().map_err(|error| error.to_string())
}

/// Builds the simulated libraries and lets `command` find them; its device works in the order that `mode` says.
pub(crate) fn simulate<'a>(command: &'a mut Command, mode: &str) -> Verdict<&'a mut Command> {
    let folder = built()?;
    let mut search = folder.display().to_string();
    if let Ok(before) = std::env::var("LD_LIBRARY_PATH") {
        search = format!("{search}:{before}");
    }
    let command = command.env("LD_LIBRARY_PATH", search).env("FAKECUDA", mode);
    Ok(command.env("FEEDLINE_NVJPEG", folder.join("libnvjpeg.so.13")).env("FAKENVJPEG", ""))
}

/// The folder that `tests/cuda` uses, too.
fn built() -> Verdict<PathBuf> {
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().ok_or("no target folder")?;
    let folder = target.join("testdouble/plain");
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("testdouble");
    let mut make = Command::new("make");
    make.args(["--silent", "--jobs=2", "V=plain"]).arg(format!("OUT={}", folder.display()));
    run(make.arg("--directory").arg(sources))?;
    Ok(folder)
}

/// The library that cuts reads short, for a process to be started with.
pub(crate) fn short_reads() -> Verdict<PathBuf> {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/chaos/short_reads.c");
    let library = Path::new(env!("CARGO_TARGET_TMPDIR")).join("short_reads.so");
    run(Command::new("cc").args(["-O1", "-shared", "-fPIC", "-o"]).arg(&library).arg(source).arg("-ldl"))?;
    Ok(library)
}

fn run(command: &mut Command) -> Verdict {
    let remedy = "the tests need g++, cc and make (Debian: apt-get install g++ make)";
    let output = command.output().map_err(|error| format!("{command:?}: {error}; {remedy}"))?;
    let said = String::from_utf8_lossy(&output.stderr);
    if output.status.success() { Ok(()) } else { Err(format!("{command:?}: {}\n{said}", output.status)) }
}
