//! Holds what a loader delivers against the oracle, batch by batch.

use crate::oracle::{Copied, Oracle, Position, Row};
use crate::share::Place;
use feedline::error::{Error, Result};
use feedline::loader::{BadSample, Batch, Status};
use std::collections::HashSet;

/// What is wrong, in words.
pub(crate) type Verdict<T = ()> = std::result::Result<T, String>;

/// The versions that files may have been read in: one, or that of before and that of after a change.
pub(crate) struct Judge<'a> {
    pub(crate) before: &'a Oracle,
    pub(crate) after: Option<&'a Oracle>,
    /// Indices of the records that change.
    pub(crate) changing: HashSet<u64>,
    /// Whether a record that changes may be read half in one version and half in the other.
    pub(crate) is_torn: bool,
    /// Whether any of a sample's bad files may be named: a device meets those that it decodes after those of the workers.
    pub(crate) names_any: bool,
    pub(crate) bad_sample: BadSample,
    pub(crate) max_failures: Option<u64>,
}

/// What one epoch of one rank has had so far.
#[derive(Default)]
pub(crate) struct Account {
    /// Bad samples that were met.
    pub(crate) failures: u64,
    /// Positions that were shown, or left out as they must be.
    pub(crate) positions: Vec<usize>,
    pub(crate) rows: u64,
    /// Whether an error has ended the epoch.
    pub(crate) is_over: bool,
}

impl Judge<'_> {
    /// Holds a batch, or the error in its place, against what its places must show.
    pub(crate) fn batch(&self, places: &[Place], got: &Result<Batch>, account: &mut Account) -> Verdict {
        match got {
            Err(error) => self.error(places, error, account),
            Ok(batch) => self.rows(places, batch, account),
        }
    }

    fn error(&self, places: &[Place], error: &Error, account: &mut Account) -> Verdict {
        account.is_over = true;
        let Error::Sample { index, key, .. } = error else {
            return Err(format!("an error that is no sample's: {error}"));
        };
        let said = error.to_string();
        if key.is_empty() || !said.contains(key.as_str()) {
            return Err(format!("an error that does not name its file: {said}"));
        }
        let positions = || places.iter().map(|&(at, _)| &self.before.0[at]);
        let met: u64 = positions().map(|position| position.failures).sum();
        account.failures += met;
        let is_last = self.max_failures.is_some_and(|most| account.failures > most);
        let own = positions().find(|position| position.row.is_none()).and_then(|position| position.bad);
        let is_named = own == Some(*index) || self.names_any && own.is_some();
        let is_due = self.bad_sample != BadSample::Skip && is_named;
        // Which of a batch's bad samples is the first depends on the version of those that change.
        let after = self.after.into_iter().flat_map(|after| places.iter().map(|&(at, _)| &after.0[at]));
        let is_known = |position: &Position| position.bad == Some(*index);
        let is_of_a_change = self.after.is_some()
            && self.bad_sample == BadSample::Fail
            && (self.changing.contains(index) || positions().chain(after).any(is_known));
        if is_due || is_last || is_of_a_change {
            return Ok(());
        }
        Err(format!("an error where none is due (the first bad sample is {own:?}): {said}"))
    }

    fn rows(&self, places: &[Place], batch: &Batch, account: &mut Account) -> Verdict {
        let copied = Copied::of(batch).map_err(|error| format!("the pixels cannot be copied: {error}"))?;
        let mut rows = (0..batch.len()).map(|row| (Row::of(batch, &copied, row), batch.status()[row]));
        let mut next = rows.next();
        for &(at, padded) in places {
            let (want, other) = (&self.before.0[at], self.after.map(|after| &after.0[at]));
            account.positions.extend((!padded).then_some(at));
            account.failures += want.failures;
            if next.as_ref().is_some_and(|(row, _)| self.is_right(row, padded, [Some(want), other])) {
                let (_, status) = next.take().ok_or("no row")?;
                next = rows.next();
                account.rows += 1;
                check_status(status, padded, want).map_err(|what| format!("position {at}: {what}"))?;
                continue;
            }
            let may_be_missing = want.row.is_none() || self.is_changing(want, other);
            if self.bad_sample == BadSample::Skip && may_be_missing {
                continue;
            }
            return Err(match (&next, &want.row) {
                (Some((row, _)), Some(want)) => format!("position {at}: {}", row.difference(want)),
                (Some((row, _)), None) => {
                    format!("position {at} shows sample {}, and its own is bad", row.index)
                }
                (None, _) => format!("position {at} is missing, and nothing says why"),
            });
        }
        if let Some((row, _)) = next {
            return Err(format!("a row too many: sample {} ({} places)", row.index, places.len()));
        }
        match self.max_failures {
            Some(most) if account.failures > most && self.after.is_none() => {
                Err(format!("{} bad samples were let pass, and max_failures is {most}", account.failures))
            }
            _ => Ok(()),
        }
    }

    fn is_right(&self, row: &Row, padded: bool, versions: [Option<&Position>; 2]) -> bool {
        let versions = versions.into_iter().flatten().filter_map(|version| version.row.as_ref());
        let is_torn = self.is_torn && self.changing.contains(&row.index);
        versions.into_iter().any(|version| match is_torn {
            true => (version.index, version.pixels.len()) == (row.index, row.pixels.len()),
            // A row that only fills its batch up does not say whom it stands in for.
            false if padded => version.without_status() == *row,
            false => version == row,
        })
    }

    fn is_changing(&self, want: &Position, other: Option<&Position>) -> bool {
        let versions = [Some(want), other].into_iter().flatten();
        let mut named = versions.flat_map(|version| [version.bad, version.row.as_ref().map(|row| row.index)]);
        named.any(|index| index.is_some_and(|index| self.changing.contains(&index)))
    }
}

fn check_status(status: Status, padded: bool, want: &Position) -> Verdict {
    let stands_in = want.row.as_ref().and_then(|row| row.stands_in_for);
    let due = match (padded, stands_in) {
        (true, _) => Status::Padded,
        (false, Some(for_index)) => Status::Substituted { for_index },
        (false, None) => Status::Ok,
    };
    if status == due { Ok(()) } else { Err(format!("its status is {status:?} and not {due:?}")) }
}
