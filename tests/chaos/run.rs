//! Runs a case and holds all of it against the oracle.

use crate::case::{Case, Event, Stretch};
use crate::draw::Draw;
use crate::judge::{Account, Judge, Verdict};
use crate::oracle::Oracle;
use crate::share::{Left, Place};
use crate::tally::Tally;
use crate::{children, watch};
use feedline::atomic_file::write_file;
use feedline::device::Device;
use feedline::loader::{Epoch, LastBatch, Loader, State};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// The places of a case below its folder.
pub(crate) struct Places {
    pub(crate) data: PathBuf,
    pub(crate) afterwards: PathBuf,
    pub(crate) state: PathBuf,
    pub(crate) packed: PathBuf,
}

impl Places {
    pub(crate) fn below(folder: &Path) -> Self {
        let [data, afterwards, state, packed] =
            ["data", "afterwards", "state.json", "packed"].map(|name| folder.join(name));
        Self { data, afterwards, state, packed }
    }
}

/// What every part of a run needs.
pub(crate) struct Run<'a> {
    pub(crate) case: &'a Case,
    pub(crate) places: &'a Places,
    pub(crate) judge: Judge<'a>,
    pub(crate) left: Left,
    /// Whether nothing can be written, so that states cannot be kept.
    pub(crate) disk_is_full: bool,
}

/// Gives all files old dates: those of files that were written a moment ago tell a cache nothing.
fn age(folder: &Path) {
    let old = SystemTime::now() - Duration::from_secs(1000);
    for entry in fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path()) {
        match entry.is_dir() {
            true => age(&entry),
            false => {
                let file = fs::File::options().write(true).open(entry).expect("a file that is there");
                file.set_modified(old).expect("its date can be set");
            }
        }
    }
}

/// Runs the case below `folder`.
///
/// # Errors
/// What is not as it must be.
pub(crate) fn case(case: &Case, folder: &Path, tally: &mut Tally) -> Verdict {
    let places = Places::below(folder);
    watch::step("writes its data set");
    case.data.write(&places.data);
    if case.options.loader.cache.is_some() {
        age(&places.data);
    }
    let oracle = match Oracle::of(case, &places.data) {
        Ok(oracle) => oracle,
        Err(refused) => return is_refused_again(case, &places, &refused.to_string(), tally),
    };
    let after = match &case.disturbance {
        Some(disturbance) => {
            disturbance.afterwards(&case.data, &places.afterwards);
            let after = Oracle::of(case, &places.afterwards);
            Some(after.map_err(|error| format!("the changed data set is refused: {error}"))?)
        }
        None => None,
    };
    tally.case(case, &oracle);
    let mut run = Run::new(case, &places, (&oracle, after.as_ref()));
    match case.event {
        Event::None | Event::Dropped => run.all(tally)?,
        Event::Killed => children::killed(&mut run, tally)?,
        Event::PackKilled => children::pack_killed(case, &places, tally)?,
        Event::DiskFull(blocks) => {
            children::disk_full(case, folder, blocks, tally)?;
            run.all(tally)?;
        }
    }
    no_halves(folder, case.event)
}

/// A loader must be refused with workers and caches as it is without, and the error must say something.
fn is_refused_again(case: &Case, places: &Places, refused: &str, tally: &mut Tally) -> Verdict {
    tally.refused += 1;
    let again = case.loader(&places.data, &case.stretches[0], 0);
    match again {
        Ok(_) => Err(format!("the plain loader is refused, and this one is not: {refused}")),
        Err(_) if refused.len() < 20 => Err(format!("an error that says nothing: {refused}")),
        Err(_) => Ok(()),
    }
}

/// No half-written file may be left, unless a process was killed that wrote it.
fn no_halves(folder: &Path, event: Event) -> Verdict {
    let entries = std::fs::read_dir(folder).map_err(|error| error.to_string())?.flatten();
    let mut halves =
        entries.map(|entry| entry.path()).filter(|path| path.extension().is_some_and(|end| end == "tmp"));
    match halves.next() {
        Some(half) if !matches!(event, Event::Killed | Event::PackKilled) => {
            Err(format!("{} is left behind", half.display()))
        }
        _ => Ok(()),
    }
}

impl<'a> Run<'a> {
    pub(crate) fn new(
        case: &'a Case,
        places: &'a Places,
        (before, after): (&'a Oracle, Option<&'a Oracle>),
    ) -> Self {
        let loader = &case.options.loader;
        let mixes = case.chain.iter().any(|link| link.augment().partners() > 0);
        let block = if mixes { loader.partner_window() as usize } else { 1 };
        let changing = case.disturbance.as_ref().map(|disturbance| disturbance.indices()).unwrap_or_default();
        let judge = Judge {
            before,
            after,
            changing,
            is_torn: case.disturbance.as_ref().is_some_and(|disturbance| disturbance.tears(&case.data)),
            names_any: mixes && case.device != Device::Cpu,
            bad_sample: loader.bad_sample(),
            max_failures: loader.max_failures,
        };
        Self { case, places, judge, left: Left::whole(before.0.len(), block), disk_is_full: false }
    }

    /// Runs the whole epoch, stretch by stretch.
    pub(crate) fn all(&mut self, tally: &mut Tally) -> Verdict {
        self.from(0, None, tally)
    }

    /// Runs the stretches from `first` on, resumed from `state` if there is one.
    pub(crate) fn from(
        &mut self,
        first: usize,
        mut state: Option<(State, usize)>,
        tally: &mut Tally,
    ) -> Verdict {
        let case = self.case;
        for (number, stretch) in case.stretches.iter().enumerate().skip(first) {
            let Some((reached, batches)) = self.stretch(number, stretch, state.take(), tally)? else {
                return Ok(());
            };
            let Some(next) = case.stretches.get(number + 1) else { return Ok(()) };
            let goes_on = self.left.after(stretch, self.last(), batches, next);
            state = Some((reached, if goes_on { batches } else { 0 }));
            tally.fault("resumed");
        }
        Ok(())
    }

    pub(crate) fn last(&self) -> LastBatch {
        self.case.options.loader.last_batch()
    }

    /// Runs all ranks of a stretch, from their `done`th batch on; returns where they stand and after how many batches, or none
    /// where an error has ended the epoch.
    fn stretch(
        &self,
        number: usize,
        stretch: &Stretch,
        state: Option<(State, usize)>,
        tally: &mut Tally,
    ) -> Verdict<Option<(State, usize)>> {
        let ranks = self.left.batches(stretch, self.last());
        let (state, done) = state.map_or((None, 0), |(state, done)| (Some(state), done));
        watch::step(format!("builds the loaders of stretch {number}"));
        let loader = |rank| self.case.loader(&self.places.data, stretch, rank);
        let loaders: Vec<Loader> = match (0..stretch.ranks).map(loader).collect() {
            Ok(loaders) => loaders,
            // More ranks than samples are refused, and so are batches that are too large for all of them.
            Err(error) if error.to_string().contains("samples") => {
                tally.refused += 1;
                return Ok(None);
            }
            Err(error) => return Err(format!("the loader is refused: {error}")),
        };
        self.disturb(0);
        let (mut states, mut shown, mut is_over) = (Vec::new(), Vec::new(), false);
        for (rank, (loader, batches)) in loaders.into_iter().zip(&ranks).enumerate() {
            watch::step(format!("runs rank {rank} of stretch {number}"));
            let what = |error: String| format!("stretch {number}, rank {rank}: {error}");
            let epoch = match &state {
                Some(state) => loader.resume(state).map_err(|error| what(error.to_string()))?,
                None => loader.epoch(self.case.epoch),
            };
            let rest = batches.get(done..).unwrap_or_default();
            let rank = Rank { run: self, stretch, number, rank };
            let (account, reached) = rank.deliver(loader, epoch, rest).map_err(what)?;
            tally.rows(&account);
            is_over |= account.is_over;
            shown.extend(account.positions);
            states.push(reached);
        }
        if stretch.batches.is_none() && !is_over && self.last() != LastBatch::Drop && state.is_none() {
            shown.sort_unstable();
            if !shown.iter().copied().eq(0..self.judge.before.0.len()) {
                return Err(format!("positions are lost or come twice: {shown:?}"));
            }
        }
        if is_over {
            return Ok(None);
        }
        if states.windows(2).any(|pair| pair[0] != pair[1]) {
            return Err(format!("the ranks stand in different places: {states:?}"));
        }
        let state = self.through_a_file(states.swap_remove(0))?;
        let batches = done + stretch.batches.map_or(0, |most| most.min(ranks[0].len().saturating_sub(done)));
        Ok(Some((state, batches)))
    }

    /// Lets files change, if it is time for that.
    fn disturb(&self, batch: usize) {
        let Self { case, places, .. } = self;
        if let Some(disturbance) = case.disturbance.as_ref().filter(|disturbance| disturbance.batch == batch)
        {
            watch::step(format!("lets files change ahead of batch {batch}: {:?}", disturbance.deed));
            disturbance.strike(&case.data, &places.data, &places.afterwards);
        }
    }

    /// The state as a checkpoint would take it.
    fn through_a_file(&self, state: State) -> Verdict<State> {
        let text = serde_json::to_string(&state).map_err(|error| error.to_string())?;
        match write_file(&self.places.state, |file| file.write_all(text.as_bytes())) {
            Ok(()) => read_state(&self.places.state),
            Err(_) if self.disk_is_full => Ok(state),
            Err(error) => Err(error.to_string()),
        }
    }
}

pub(crate) fn read_state(path: &Path) -> Verdict<State> {
    let text = std::fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?;
    serde_json::from_str(&text).map_err(|error| format!("a state that cannot be read: {error}\n{text}"))
}

/// One rank in one stretch.
struct Rank<'a> {
    run: &'a Run<'a>,
    stretch: &'a Stretch,
    number: usize,
    rank: usize,
}

impl Rank<'_> {
    /// Takes the batches whose places are given, as many as the stretch has, and drops everything in some order.
    fn deliver(&self, loader: Loader, mut epoch: Epoch, places: &[Vec<Place>]) -> Verdict<(Account, State)> {
        let Self { run, stretch, number, rank } = *self;
        let draw = &mut Draw::new(run.case.seed, &format!("stretch {number} rank {rank}"));
        if epoch.len() != places.len() {
            return Err(format!("{} batches, and there must be {}", epoch.len(), places.len()));
        }
        let mut account = Account::default();
        let mut kept = Vec::new();
        let most = stretch.batches.unwrap_or(usize::MAX);
        for (at, batch_places) in places.iter().enumerate().take(most) {
            if rank == 0 {
                run.disturb(at + 1);
            }
            self.wait(draw, &mut epoch);
            let batch = epoch.next().ok_or_else(|| format!("batch {at} of {} is missing", places.len()))?;
            run.judge
                .batch(batch_places, &batch, &mut account)
                .map_err(|error| format!("batch {at}: {error}\nreported: {:?}", loader.report().files))?;
            if account.is_over {
                break;
            }
            // A trainer may keep some.
            kept.extend(batch.ok().filter(|_| draw.one_in(4)));
            if draw.one_in(3) {
                kept.clear();
            }
            if draw.one_in(5) {
                drop((loader.stats(), loader.explain(), epoch.state()));
            }
        }
        if (account.is_over || stretch.batches.is_none()) && epoch.next().is_some() {
            return Err("a batch after the last".to_owned());
        }
        let (failures, told) = (account.failures, loader.report().failures);
        let is_strict = run.judge.after.is_none();
        if is_strict && failures != told {
            return Err(format!("{failures} bad samples were met, and the report counts {told}"));
        }
        let state = epoch.state();
        leave(draw, loader, epoch, kept);
        Ok((account, state))
    }

    /// Waits in slices, as a consumer does that has to look up meanwhile.
    fn wait(&self, draw: &mut Draw, epoch: &mut Epoch) {
        self.run.case.move_clock(draw);
        if draw.one_in(3) {
            let slice = Duration::from_micros(draw.pick(&[0, 1, 300]));
            for _ in 0..draw.below(20) {
                if epoch.wait(slice) {
                    break;
                }
            }
        }
    }
}

/// Drops loader, epoch and batches, in an order that is drawn.
fn leave<B>(draw: &mut Draw, loader: Loader, epoch: Epoch, kept: Vec<B>) {
    match draw.below(5) {
        0 => {
            drop(epoch);
            drop(loader);
        }
        1 => {
            drop(loader);
            drop(kept);
            drop(epoch);
        }
        2 => {
            // Another epoch ends this one.
            let mut other = loader.epoch(7);
            drop(other.next());
            drop(epoch);
        }
        3 => drop((kept, loader, epoch)),
        _ => drop((epoch, kept, loader)),
    }
}
