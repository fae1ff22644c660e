//! Processes that are killed in the middle of their work, and one whose disk is full.

use crate::case::Case;
use crate::draw::Draw;
use crate::judge::Verdict;
use crate::oracle::Oracle;
use crate::role::{self, Role};
use crate::run::{Places, Run, read_state};
use crate::tally::Tally;
use crate::watch;
use feedline::atomic_file::write_file;
use feedline::error::Error;
use feedline::pack::{Format, Manifest, Pack};
use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};

/// A process that takes the first stretch of the case and, after each batch, keeps its state and says so.
pub(crate) fn train(case: &Case, folder: &Path) -> Verdict {
    let places = Places::below(folder);
    // One that is refused for its batch size is refused in the other process as well.
    let Ok(loader) = case.loader(&places.data, &case.stretches[0], 0) else { return Ok(()) };
    let mut epoch = loader.epoch(case.epoch);
    while let Some(batch) = epoch.next() {
        if batch.is_err() {
            break;
        }
        let text = serde_json::to_string(&epoch.state()).map_err(|error| error.to_string())?;
        write_file(&places.state, |file| file.write_all(text.as_bytes()))
            .map_err(|error| error.to_string())?;
        // Refused where there is no sidecar.
        drop(loader.save_index());
        say("batch");
    }
    Ok(())
}

/// Kills a process that trains, and goes on where its state says.
pub(crate) fn killed(run: &mut Run<'_>, tally: &mut Tally) -> Verdict {
    let Run { case, places, .. } = *run;
    let stretch = &case.stretches[0];
    let batches = run.left.batches(stretch, run.last())[0].len();
    let draw = &mut Draw::new(case.seed, "kill");
    watch::step("kills a process that trains");
    let said = kill_after(Role::Train, case, places, draw.below(batches + 2), draw)?;
    tally.fault("killed in an epoch");
    if !places.state.exists() {
        return match said {
            0 => run.all(tally),
            _ => Err(format!("{said} batches were told of, and there is no state")),
        };
    }
    let state = read_state(&places.state)?;
    let steps = state.steps as usize;
    if steps < said || steps > batches {
        return Err(format!("the state is at {steps} of {batches} batches, and {said} were told of"));
    }
    let goes_on = run.left.after(stretch, run.last(), steps, &case.stretches[1]);
    run.from(1, Some((state, if goes_on { steps } else { 0 })), tally)
}

fn packing(case: &Case, to: &Path) -> Pack {
    let draw = &mut Draw::new(case.seed, "pack");
    let format = draw.pick(&[Format::Tar, Format::TfRecord, Format::Coefficients]);
    let pack = Pack::to(to).format(format).shard_records(draw.between(1, 6)).skip_bad(true).workers(3);
    if draw.one_in(2) { pack.quality(80) } else { pack }
}

/// Whether a data set is refused because no record of it is sound.
fn nothing_to_pack(error: &Error) -> bool {
    error.to_string().contains("records are bad")
}

/// A process that packs the data set and says how far it is.
pub(crate) fn pack(case: &Case, folder: &Path) -> Verdict {
    let places = Places::below(folder);
    let source = case.source(&places.data).map_err(|error| error.to_string())?;
    match packing(case, &places.packed).run(&*source, &mut |_| say("record")) {
        Err(error) if !nothing_to_pack(&error) => Err(error.to_string()),
        _ => Ok(()),
    }
}

/// Kills a process that packs, packs on, and compares with shards that were packed in one go.
pub(crate) fn pack_killed(case: &Case, places: &Places, tally: &mut Tally) -> Verdict {
    let draw = &mut Draw::new(case.seed, "kill");
    for _ in 0..draw.between(1, 3) {
        watch::step("kills a process that packs");
        kill_after(Role::Pack, case, places, draw.below(case.data.records.len() + 1), draw)?;
        tally.fault("killed packing");
    }
    pack_on(case, places)
}

/// Packs what is missing, and compares with shards that were packed in one go.
fn pack_on(case: &Case, places: &Places) -> Verdict {
    watch::step("packs on");
    let source = case.source(&places.data).map_err(|error| error.to_string())?;
    let whole = places.packed.with_extension("whole");
    let packed = |to: &Path| -> Result<Manifest, String> {
        packing(case, to).run(&*source, &mut |_| {}).map_err(|error| error.to_string())
    };
    let (on, at_once) = (packed(&places.packed), packed(&whole));
    match (&on, &at_once) {
        (Ok(_), Ok(_)) => same_shards(&shown(&places.packed)?, &shown(&whole)?),
        (Err(one), Err(other)) if one == other => Ok(()),
        _ => Err(format!("packing on gives {on:?}, and packing at once {at_once:?}")),
    }
}

type Files = BTreeMap<String, Vec<u8>>;

fn same_shards(on: &Files, at_once: &Files) -> Verdict {
    let names = on.keys().chain(at_once.keys());
    let different: Vec<&String> = names.filter(|name| on.get(*name) != at_once.get(*name)).collect();
    match different.is_empty() {
        true => Ok(()),
        false => Err(format!("packed on and packed at once differ in {different:?}")),
    }
}

/// The files of a folder, but for hidden ones.
fn shown(folder: &Path) -> Verdict<Files> {
    let read = |entry: std::io::Result<fs::DirEntry>| -> std::io::Result<(String, Vec<u8>)> {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let bytes = if name.starts_with('.') { Vec::new() } else { fs::read(&path)? };
        Ok((name, bytes))
    };
    let entries = fs::read_dir(folder).map_err(|error| error.to_string())?;
    let all: std::io::Result<BTreeMap<_, _>> = entries.map(read).collect();
    let mut all = all.map_err(|error| error.to_string())?;
    all.retain(|name, _| !name.starts_with('.'));
    Ok(all)
}

/// A process that may write hardly anything: batches are as ever, and whatever cannot be written is an error with its path.
pub(crate) fn full(case: &Case, folder: &Path) -> Verdict {
    let places = Places::below(folder);
    let oracle = Oracle::of(case, &places.data).map_err(|error| error.to_string())?;
    let mut run = Run::new(case, &places, (&oracle, None));
    run.disk_is_full = true;
    run.all(&mut Tally::default())?;
    let refused = write_file(Path::new("/dev/full"), |file| file.write_all(&[0; 9000]));
    if refused.is_ok() {
        return Err("a full device took a state".to_owned());
    }
    // A loader may be refused for its batch size.
    if let Ok(loader) = case.loader(&places.data, &case.stretches[0], 0) {
        loader.epoch(case.epoch).for_each(drop);
        match loader.save_index() {
            Err(Error::Config(_)) | Ok(()) => {}
            Err(error) => named(&error.to_string(), folder)?,
        }
    }
    if case.data.has_objects() {
        return Ok(());
    }
    let source = case.source(&places.data).map_err(|error| error.to_string())?;
    match packing(case, &places.packed).run(&*source, &mut |_| {}) {
        Ok(_) => Ok(()),
        Err(error) if nothing_to_pack(&error) => Ok(()),
        Err(error) => named(&error.to_string(), folder),
    }
}

fn named(error: &str, folder: &Path) -> Verdict {
    match error.contains(&*folder.to_string_lossy()) {
        true => Ok(()),
        false => Err(format!("an error that does not name its file: {error}")),
    }
}

/// Runs the case in a process that may write no more than so many blocks to a file; what it leaves must be of use, or none.
pub(crate) fn disk_full(case: &Case, folder: &Path, blocks: usize, tally: &mut Tally) -> Verdict {
    watch::step("runs a process whose disk is full");
    // The signal is ignored, so that a write fails as it does on a full disk.
    let limited = format!("trap '' XFSZ; ulimit -f {blocks}; exec \"$0\"");
    let mut shell = Command::new("sh");
    let output =
        role::describe(shell.args(["-c", &limited]).arg(role::program()), Role::Full, case, folder).output();
    let output = output.map_err(|error| format!("sh: {error}"))?;
    tally.fault("full disks");
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        return Err(format!("with {blocks} blocks a file: {}\n{said}", output.status));
    }
    if case.data.has_objects() { Ok(()) } else { pack_on(case, &Places::below(folder)) }
}

fn say(word: &str) {
    let mut out = std::io::stdout();
    // Nobody listens any more where the other process has ended.
    drop(writeln!(out, "{word}").and_then(|()| out.flush()));
}

/// Starts a process, kills it when it has said so many lines or a moment later, and tells how many it had said.
fn kill_after(role: Role, case: &Case, places: &Places, lines: usize, draw: &mut Draw) -> Verdict<usize> {
    let folder = places.data.parent().ok_or("no folder")?;
    let mut command = Command::new(role::program());
    let mut child = role::describe(&mut command, role, case, folder)
        .stdout(Stdio::piped())
        .spawn()
        .map_err(|error| format!("the process does not start: {error}"))?;
    let mut said = 0;
    if let Some(pipe) = child.stdout.take() {
        said += BufReader::new(pipe).lines().take(lines).map_while(Result::ok).count();
        // The pipe is closed with this, which the other process does not mind.
    }
    for _ in 0..draw.below(200_000) {
        std::hint::spin_loop();
    }
    end(child)?;
    Ok(said)
}

fn end(mut child: Child) -> Verdict {
    let status = child.try_wait().map_err(|error| error.to_string())?;
    child.kill().map_err(|error| error.to_string())?;
    let killed = child.wait().map_err(|error| error.to_string())?;
    match status.unwrap_or(killed).code() {
        // It had come to its end, or it was killed.
        Some(0) | None => Ok(()),
        Some(code) => Err(format!("the process ended by itself, with {code}")),
    }
}
