//! A trainer that runs alone, as a command that prints a line after each step: how long a step takes, and how much of the
//! processors.

use anyhow::{Context, bail, ensure};
use feedline::doctor::{GpuMeter, GpuUse, Rate, TrainerRate};
use feedline::machine;
use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;
use std::io::Read;
use std::os::fd::AsFd;
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

/// Steps that come before any is measured: the first ones compile and allocate.
const WARM_UP_STEPS: usize = 3;
/// The fewest steps that say anything.
const FEWEST_STEPS: usize = 3;
/// How long a step may take, the first included.
const LONGEST_STEP: Duration = Duration::from_secs(180);
/// What the command has to do.
const WANTED: &str =
    "it must print a line after each step, for some seconds, and flush it (Python: print(flush=True))";
/// How long a trainer may take to end once it is told to.
const LONGEST_END: Duration = Duration::from_secs(5);

/// Runs the command for about `seconds` behind its first steps.
pub(super) fn measure(
    command: &str,
    batch_size: usize,
    seconds: f64,
) -> anyhow::Result<(TrainerRate, Vec<GpuUse>)> {
    let child = Command::new("sh")
        .args(["-c", command])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .process_group(0)
        .spawn();
    let mut child = child.with_context(|| format!("--trainer: `{command}` could not be started"))?;
    let stdout = child.stdout.take().context("--trainer: the command has no standard output")?;
    let (mut lines, mut gpus) = (Lines { stdout, pending: 0 }, GpuMeter::default());
    let measured = measured(&mut lines, child.id(), seconds, &mut gpus);
    end(&mut child)?;
    let (steps, cpu_seconds) = measured.with_context(|| format!("--trainer: `{command}`"))?;
    let rates = steps.iter().map(|seconds| batch_size as f64 / seconds.max(1e-9)).collect();
    let samples = Rate::of(rates).context("--trainer: no step was measured")?;
    let cpu_seconds = cpu_seconds / (steps.len() * batch_size) as f64;
    Ok((TrainerRate { samples, cpu_seconds }, gpus.mean()))
}

/// The lines of a command's standard output, as they come.
struct Lines {
    stdout: ChildStdout,
    /// Of those that came at once.
    pending: usize,
}

impl Lines {
    /// When the next line came; none once the command has closed its output.
    fn next(&mut self) -> anyhow::Result<Option<Instant>> {
        let asked = Instant::now();
        while self.pending == 0 {
            let left = LONGEST_STEP.saturating_sub(asked.elapsed());
            let timeout = PollTimeout::try_from(left).unwrap_or(PollTimeout::ZERO);
            let mut output = [PollFd::new(self.stdout.as_fd(), PollFlags::POLLIN)];
            match poll(&mut output, timeout) {
                Ok(0) => bail!("no line came for {} s: {WANTED}", LONGEST_STEP.as_secs()),
                Ok(_) => {}
                Err(Errno::EINTR) => continue,
                Err(error) => return Err(error.into()),
            }
            let mut bytes = [0; 4096];
            let count = self.stdout.read(&mut bytes)?;
            if count == 0 {
                return Ok(None);
            }
            self.pending = bytes[..count].iter().filter(|byte| **byte == b'\n').count();
        }
        self.pending -= 1;
        Ok(Some(Instant::now()))
    }
}

/// The seconds of each step, and the processor seconds of all of them.
fn measured(
    lines: &mut Lines,
    group: u32,
    seconds: f64,
    gpus: &mut GpuMeter,
) -> anyhow::Result<(Vec<f64>, f64)> {
    for step in 0..=WARM_UP_STEPS {
        ensure!(lines.next()?.is_some(), "it ended after {step} lines: {WANTED}");
    }
    let (started, cpu_at_start) = (Instant::now(), machine::cpu_seconds_of_group(group));
    let (mut last, mut steps) = (started, Vec::new());
    while started.elapsed().as_secs_f64() < seconds || steps.len() < FEWEST_STEPS {
        let Some(at) = lines.next()? else { break };
        steps.push(at.saturating_duration_since(last).as_secs_f64());
        last = at;
        gpus.look();
    }
    ensure!(steps.len() >= FEWEST_STEPS, "it ended after {} steps: {WANTED}", steps.len() + WARM_UP_STEPS);
    let cpu_seconds = machine::cpu_seconds_of_group(group) - cpu_at_start;
    Ok((steps, cpu_seconds))
}

/// Asks the command's processes to end, and then makes them.
fn end(child: &mut Child) -> anyhow::Result<()> {
    let group = Pid::from_raw(i32::try_from(child.id())?);
    for signal in [Signal::SIGTERM, Signal::SIGKILL] {
        // Who has ended already cannot be told.
        let _ = killpg(group, signal);
        let told = Instant::now();
        while told.elapsed() < LONGEST_END && child.try_wait()?.is_none() {
            std::thread::sleep(Duration::from_millis(10));
        }
    }
    Ok(())
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]
mod tests {
    use super::*;

    #[test]
    fn a_step_is_the_time_between_two_lines() {
        let trainer = measure("while true; do sleep 0.05; echo step; done", 10, 1.0).unwrap().0;
        assert!((100.0..200.5).contains(&trainer.samples.per_s), "{trainer:?}");
        assert!(trainer.cpu_seconds < 0.002, "it sleeps: {trainer:?}");
    }

    #[test]
    fn a_trainer_that_computes_is_seen_to() {
        let busy = "while true; do i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done; echo step; done";
        let trainer = measure(busy, 1, 1.0).unwrap().0;
        let cores = trainer.cpu_seconds * trainer.samples.per_s;
        assert!((0.3..1.5).contains(&cores), "one core: {cores}");
    }

    #[test]
    fn a_command_that_ends_or_says_nothing_is_told_what_is_wanted() {
        for command in ["true", "echo a; echo b", "no-such-trainer"] {
            let refusal = format!("{:#}", measure(command, 1, 1.0).unwrap_err());
            assert!(refusal.contains(command) && refusal.contains("a line after each step"), "{refusal}");
        }
    }
}
