//! A scenario in a process of its own: how it is started, and what is made of its end.

use crate::double::Variant;
use crate::pixels;
use crate::scenario::{self, Scenario};
use std::io::Read;
use std::process::{Child, Command, ExitCode, ExitStatus, Stdio};
use std::time::{Duration, Instant};

/// The variable that tells a child which scenario it is.
pub(crate) const SCENARIO: &str = "FEEDLINE_CUDA_SCENARIO";
/// The exit status for an error that the program under test reported: what a user would see as a message.
const REPORTED: u8 = 3;
/// Longest time that a scenario may take; what takes longer hangs.
fn seconds() -> u64 {
    // Nobody knows how many files those are.
    if std::env::var_os("FEEDLINE_TEST_JPEGS").is_some() {
        return 3600;
    }
    // All recipes cost 100 seconds of CPU under ThreadSanitizer, and the cores may have other work.
    if Variant::chosen() == Ok(Variant::Tsan) { 900 } else { 120 }
}

/// The child's side.
pub(crate) fn run(name: &str) -> ExitCode {
    let Some(found) = scenario::all().find(|scenario| scenario.name == name) else {
        eprintln!("error: there is no scenario `{name}`");
        return ExitCode::from(REPORTED + 1);
    };
    match pixels::lend_the_decoder().and_then(|()| (found.run)()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::from(REPORTED)
        }
    }
}

/// How a child ended.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum End {
    Success,
    /// With an error that it reported by itself.
    Reported,
    /// With a panic, a signal, a sanitizer's report, or not within its time.
    Broken,
}

/// What a child said and how it ended.
pub(crate) struct Verdict {
    pub(crate) end: End,
    /// The end in words.
    pub(crate) how: String,
    /// Standard output and error.
    pub(crate) said: String,
}

/// Words of the double and of the sanitizers that no correct program brings about.
const ACCUSATIONS: &[&str] = &["PROBLEM:", "LEAK:", "Sanitizer:", "runtime error:"];

impl Verdict {
    /// The lines that accuse the program.
    pub(crate) fn accusations(&self) -> Vec<&str> {
        self.said.lines().filter(|line| ACCUSATIONS.iter().any(|word| line.contains(word))).collect()
    }

    pub(crate) fn is_clean(&self) -> bool {
        self.end == End::Success && self.accusations().is_empty()
    }
}

/// Runs a scenario in a child with this environment.
pub(crate) fn start(scenario: &Scenario, environment: &[(&'static str, String)]) -> Result<Verdict, String> {
    let program = std::env::current_exe().map_err(|error| error.to_string())?;
    let mut child = Command::new(program)
        .env(SCENARIO, scenario.name)
        .env("RUST_BACKTRACE", "0")
        .envs(environment.iter().map(|(name, value)| (name, value)))
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|error| format!("the child does not start: {error}"))?;
    let readers = [reader(child.stdout.take()), reader(child.stderr.take())];
    let status = wait(&mut child)?;
    let said = readers.map(|reader| reader.join().unwrap_or_default()).concat();
    Ok(judge(status, said))
}

/// Reads on a thread of its own: a child that fills a pipe that nobody reads would hang.
fn reader(pipe: Option<impl Read + Send + 'static>) -> std::thread::JoinHandle<String> {
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        if let Some(mut pipe) = pipe {
            // What was read until then is all that there is.
            let _ = pipe.read_to_end(&mut bytes);
        }
        String::from_utf8_lossy(&bytes).into_owned()
    })
}

/// The child's status; none if it had to be killed.
fn wait(child: &mut Child) -> Result<Option<ExitStatus>, String> {
    let began = Instant::now();
    loop {
        match child.try_wait().map_err(|error| error.to_string())? {
            Some(status) => return Ok(Some(status)),
            None if began.elapsed() > Duration::from_secs(seconds()) => {
                child.kill().and_then(|()| child.wait()).map_err(|error| error.to_string())?;
                return Ok(None);
            }
            None => std::thread::sleep(Duration::from_millis(2)),
        }
    }
}

fn judge(status: Option<ExitStatus>, said: String) -> Verdict {
    let Some(status) = status else {
        return Verdict {
            end: End::Broken,
            how: format!("killed after {} seconds: it hangs", seconds()),
            said,
        };
    };
    let end = match status.code() {
        Some(0) => End::Success,
        Some(code) if code == i32::from(REPORTED) => End::Reported,
        _ => End::Broken,
    };
    Verdict { end, how: status.to_string(), said }
}
