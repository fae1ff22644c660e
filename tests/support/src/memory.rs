//! What work costs in memory: a process of its own does it, and says how much it had at most.
//!
//! Peaks are those of whole processes, so the test program runs one test of its own once more, alone. That test calls
//! [`wanted`] first, and [`tell`] at its end.

use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::time::Duration;

/// Names the file to look at, in the process that does so.
const FILE: &str = "FEEDLINE_TEST_MEMORY_OF";
/// How a process may take longest.
const PATIENCE: Duration = Duration::from_secs(120);

/// What a process had and said.
#[derive(Debug)]
pub struct Cost {
    /// Bytes of memory at most, what the program itself takes included.
    pub peak: u64,
    /// What the test said that it found.
    pub found: String,
}

/// The file that this process is to look at; `None` where it is not one that looks at a file.
pub fn wanted() -> Option<PathBuf> {
    std::env::var_os(FILE).map(PathBuf::from)
}

/// Ends the work on the file: `peak` is what `VmHWM` of /proc/self/status says.
pub fn tell(peak: u64, found: &str) {
    println!("memory: {peak} {}", found.escape_debug());
}

/// Lets `test` of this program look at the file at `path` in a process of its own.
///
/// # Errors
/// What it said where it failed, or has not ended after two minutes; it is killed then.
///
/// # Panics
/// Where no process can be started.
pub fn cost_of(test: &str, path: &Path) -> Result<Cost, String> {
    let mut command = Command::new(std::env::current_exe().expect("this program has a path"));
    command.args(["--exact", test, "--nocapture"]).env(FILE, path).stdout(Stdio::piped());
    let mut child = command.spawn().expect("this program runs once more");
    let mut output = child.stdout.take().expect("its output is a pipe");
    let (send, receive) = mpsc::channel();
    std::thread::spawn(move || {
        let mut text = String::new();
        let read = output.read_to_string(&mut text);
        send.send(read.map(|_| text))
    });
    let said = receive.recv_timeout(PATIENCE);
    if said.is_err() {
        child.kill().expect("it can be killed");
    }
    let status = child.wait().expect("it ends");
    let text = said.map_err(|_| format!("it did not end: {status}"))?.expect("its output is text");
    let told = text.lines().find_map(|line| line.split_once("memory: "));
    let words = told.and_then(|(_, told)| told.split_once(' ')).filter(|_| status.success());
    let (peak, found) = words.ok_or_else(|| format!("{status}: {text}"))?;
    Ok(Cost { peak: peak.parse().expect("a number"), found: found.to_owned() })
}
