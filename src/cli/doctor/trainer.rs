//! A trainer that runs alone, as a command that prints a line after each step: how long a step takes, and how much of the
//! processors.

use anyhow::{Context, anyhow, bail, ensure};
use feedline::doctor::{GpuMeter, GpuUse, Rate, Slices, TrainerRate};
use feedline::machine;
use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;
use std::fs;
use std::io::{self, Read, Write};
use std::os::fd::AsFd;
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

/// Steps that come before any is measured: the first ones compile and allocate.
const WARM_UP_STEPS: usize = 3;
/// The fewest steps that say anything.
const FEWEST_STEPS: usize = 3;
/// Measurements that a rate is made of, where steps are short enough.
const SLICES: f64 = 10.0;
/// How often GPUs are looked at: a driver takes up to some milliseconds to answer, and averages over longer than this.
const LOOK_EVERY: Duration = Duration::from_millis(100);
/// How long a step may take, the first included.
const LONGEST_STEP: Duration = Duration::from_secs(180);
/// What the command has to do.
const WANTED: &str =
    "it must print a line after each step, for some seconds, and flush it (Python: print(flush=True))";
/// How long a trainer may take to end once it is told to.
const LONGEST_END: Duration = Duration::from_secs(5);
/// Starts the command, its only argument, once there is somebody to end it.
const BEGIN: &str = r#"read go && exec sh -c "$0" </dev/null"#;
/// Ends the group, its only argument, if its input ends ahead of a line; what does not end gets as long as [`LONGEST_END`].
const WATCH: &str = "read word || { kill -TERM -$0; for second in 1 2 3 4 5; do sleep 1; kill -0 -$0 || exit; done; \
     kill -KILL -$0; }";

/// Runs the command for about `seconds` behind its first steps.
pub(super) fn measure(
    command: &str,
    batch_size: usize,
    seconds: f64,
) -> anyhow::Result<(TrainerRate, Vec<GpuUse>)> {
    let child = Command::new("sh")
        .args(["-c", BEGIN, command])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .process_group(0)
        .spawn();
    let mut child = child.with_context(|| format!("--trainer: `{command}` could not be started"))?;
    let watch = Watch::over(child.id());
    let seen = match &watch {
        Ok(_) => run(&mut child, seconds),
        Err(error) => Err(anyhow!("no shell could be started that looks after it: {error}")),
    };
    end(&mut child)?;
    if let Ok(watch) = watch {
        watch.dismiss();
    }
    let seen = seen.with_context(|| format!("--trainer: `{command}`"))?;
    let cpu_seconds = seen.cpu_seconds / (seen.steps * batch_size) as f64;
    Ok((TrainerRate { samples: seen.steps_per_s.scaled(batch_size as f64), cpu_seconds }, seen.gpus))
}

/// What a trainer did behind its first steps.
struct Seen {
    steps: usize,
    steps_per_s: Rate,
    /// Of all these steps.
    cpu_seconds: f64,
    /// How busy they were meanwhile.
    gpus: Vec<GpuUse>,
}

/// Lets the command begin, and sees to what it does.
fn run(child: &mut Child, seconds: f64) -> anyhow::Result<Seen> {
    let (stdin, stdout) = (child.stdin.take(), child.stdout.take());
    stdin.context("the command has no standard input")?.write_all(b"\n")?;
    let mut lines = Lines::of(stdout.context("the command has no standard output")?);
    let mut before = 0;
    let started = loop {
        let Some((count, at)) = lines.next()? else { bail!("it ended after {before} lines: {WANTED}") };
        before += count;
        if before > WARM_UP_STEPS {
            break at;
        }
    };
    lines.gpus = GpuMeter::default();
    lines.next_look = started + GpuMeter::settles_in(seconds);
    let cpu_at_start = machine::cpu_seconds_of_group(child.id());
    // A single step tells less: the one behind a line that was read late seems short.
    let mut slices = Slices::of(seconds / SLICES);
    let (mut steps, mut last_s) = (0, 0.0);
    let (mut reads, mut of_several) = (0, 0);
    while started.elapsed().as_secs_f64() < seconds || steps < FEWEST_STEPS {
        let Some((count, at)) = lines.next()? else { break };
        last_s = at.saturating_duration_since(started).as_secs_f64();
        slices.add(count as f64, last_s);
        steps += count;
        reads += 1;
        of_several += usize::from(count > 1);
    }
    ensure!(steps >= FEWEST_STEPS, "it ended after {} lines: {WANTED}", before + steps);
    // When lines were printed is not known of those that a buffer held back.
    ensure!(2 * of_several <= reads, "most of its lines come several at a time: {WANTED}");
    let cpu_seconds = (machine::cpu_seconds_of_group(child.id()) - cpu_at_start).max(0.0);
    let steps_per_s = slices.rate(last_s).context("its steps took no time")?;
    Ok(Seen { steps, steps_per_s, cpu_seconds, gpus: lines.gpus.mean() })
}

/// The lines of a command's standard output, as they come; while they are waited for, GPUs are looked at.
struct Lines {
    output: ChildStdout,
    gpus: GpuMeter,
    next_look: Instant,
}

impl Lines {
    fn of(output: ChildStdout) -> Self {
        Self { output, gpus: GpuMeter::default(), next_look: Instant::now() }
    }

    /// How many came at once, and when; none once the command has closed its output.
    fn next(&mut self) -> anyhow::Result<Option<(usize, Instant)>> {
        let asked = Instant::now();
        loop {
            ensure!(
                asked.elapsed() < LONGEST_STEP,
                "no line came for {} s: {WANTED}",
                LONGEST_STEP.as_secs()
            );
            if Instant::now() >= self.next_look {
                self.gpus.look();
                self.next_look = Instant::now() + LOOK_EVERY;
            }
            let timeout = PollTimeout::try_from(LOOK_EVERY).unwrap_or(PollTimeout::ZERO);
            let mut output = [PollFd::new(self.output.as_fd(), PollFlags::POLLIN)];
            match poll(&mut output, timeout) {
                Ok(0) | Err(Errno::EINTR) => continue,
                Ok(_) => {}
                Err(error) => return Err(error.into()),
            }
            let mut bytes = [0; 4096];
            let count = self.output.read(&mut bytes)?;
            if count == 0 {
                return Ok(None);
            }
            let lines = bytes[..count].iter().filter(|byte| **byte == b'\n').count();
            if lines > 0 {
                return Ok(Some((lines, Instant::now())));
            }
        }
    }
}

/// A shell that ends the command's processes if this one ends first, whatever ends it. They have a group of their own, in which
/// they can be ended together and a terminal's Ctrl-C does not reach them; and who is killed can do nothing for them any more.
struct Watch(Child);

impl Watch {
    fn over(group: u32) -> io::Result<Self> {
        let shell = Command::new("sh")
            .args(["-c", WATCH, &group.to_string()])
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .process_group(0)
            .spawn();
        shell.map(Self)
    }

    /// Says that there is nothing left to end. A watch that is only dropped ends them.
    fn dismiss(self) {
        let Self(mut shell) = self;
        if let Some(mut input) = shell.stdin.take() {
            // Who has ended already cannot be told.
            let _ = input.write_all(b"\n");
        }
        let _ = shell.wait();
    }
}

/// Asks the command's processes to end, all of them, and makes those that have not after a while.
fn end(child: &mut Child) -> anyhow::Result<()> {
    let group = Pid::from_raw(i32::try_from(child.id())?);
    for signal in [Signal::SIGTERM, Signal::SIGKILL] {
        // Who has ended already cannot be told.
        let _ = killpg(group, signal);
        let told = Instant::now();
        while told.elapsed() < LONGEST_END {
            if child.try_wait()?.is_some() && !is_running(group) {
                return Ok(());
            }
            std::thread::sleep(Duration::from_millis(10));
        }
    }
    Ok(())
}

/// Whether there is a process of the group that has not ended.
fn is_running(group: Pid) -> bool {
    if killpg(group, None::<Signal>).is_err() {
        return false;
    }
    // Those that nobody waits for stay in the group, as orphans do in a container without an init.
    let Ok(entries) = fs::read_dir("/proc") else { return true };
    let group = group.to_string();
    let is_one = |stat: &str| {
        // Behind the name, in brackets, which may hold anything: state, parent, group.
        let fields = stat.rsplit_once(')').map_or("", |(_, fields)| fields);
        let mut fields = fields.split_whitespace();
        let (state, of) = (fields.next(), fields.nth(1));
        !matches!(state, Some("Z" | "X")) && of == Some(&*group)
    };
    let mut stats = entries.flatten().filter_map(|entry| fs::read_to_string(entry.path().join("stat")).ok());
    stats.any(|stat| is_one(&stat))
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]
mod tests {
    use super::*;

    const ASLEEP: &str = "while true; do sleep 0.05; echo step; done";

    fn refusal(command: &str) -> String {
        format!("{:#}", measure(command, 1, 1.0).unwrap_err())
    }

    #[test]
    fn a_step_is_the_time_between_two_lines() {
        let trainer = measure(ASLEEP, 10, 1.0).unwrap().0;
        // At most 200; a busy machine makes steps longer, and reads lines late.
        assert!((10.0..300.0).contains(&trainer.samples.per_s), "{trainer:?}");
        assert!(trainer.cpu_seconds < 0.002, "it sleeps: {trainer:?}");
    }

    #[test]
    fn a_trainer_that_computes_is_seen_to() {
        let cpu_seconds = |command| measure(command, 1, 1.0).unwrap().0.cpu_seconds;
        let busy =
            cpu_seconds("while true; do i=0; while [ $i -lt 50000 ]; do i=$((i+1)); done; echo step; done");
        let asleep = cpu_seconds(ASLEEP);
        assert!(busy > 0.01 && busy > 3.0 * asleep, "{busy} and {asleep}");
    }

    #[test]
    fn a_command_that_ends_or_says_nothing_is_told_what_is_wanted() {
        for command in ["true", "echo a; echo b", "no-such-trainer"] {
            let refusal = refusal(command);
            assert!(refusal.contains(command) && refusal.contains("a line after each step"), "{refusal}");
        }
    }

    #[test]
    fn lines_that_come_in_blocks_are_refused() {
        // As a buffer hands them on: each block is written at once.
        let refusal = refusal(r"while true; do printf 'a\nb\nc\n'; sleep 0.05; done");
        assert!(refusal.contains("several at a time") && refusal.contains("flush"), "{refusal}");
    }

    #[test]
    fn whoever_needs_a_moment_to_end_has_it() {
        let folder = tempfile::tempdir().unwrap();
        let [ready, tidied] = ["ready", "tidied"].map(|name| folder.path().join(name));
        let (is_ready, is_tidied) = (ready.display(), tidied.display());
        // The shell itself ends at once.
        let command = format!(
            "(trap 'sleep 0.3; : > {is_tidied}; exit' TERM; : > {is_ready}; while true; do sleep 0.05; done) & \
             until [ -e {is_ready} ]; do sleep 0.01; done; {ASLEEP}"
        );
        measure(&command, 1, 1.0).unwrap();
        assert!(tidied.exists(), "all of its processes are waited for, not only the first");
    }

    #[test]
    fn what_does_not_end_is_made_to() {
        let folder = tempfile::tempdir().unwrap();
        let number = folder.path().join("number");
        measure(&format!("trap '' TERM; echo $$ > {}; {ASLEEP}", number.display()), 1, 1.0).unwrap();
        let group = fs::read_to_string(&number).unwrap().trim().parse().unwrap();
        assert!(!is_running(Pid::from_raw(group)));
    }
}
