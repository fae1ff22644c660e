//! What a soak has seen so far.

use crate::case::{Case, Event};
use crate::judge::Account;
use crate::oracle::Oracle;
use std::collections::BTreeMap;
use std::fmt;

#[derive(Debug, Default, serde::Serialize, serde::Deserialize)]
pub(crate) struct Tally {
    pub(crate) cases: u64,
    /// Rows that were compared.
    pub(crate) samples: u64,
    /// Cases, or stretches of them, that no loader takes.
    pub(crate) refused: u64,
    faults: BTreeMap<String, u64>,
    /// Resident bytes: the most at any time, the most after one of the first cases, and after the last.
    pub(crate) peak_bytes: u64,
    pub(crate) warm_bytes: u64,
    pub(crate) end_bytes: u64,
    /// Of each tenth of a process's time the fewest resident bytes after a case, and its cases: what leaks stays in them.
    pub(crate) tenths: [Tenth; 10],
}

#[derive(Clone, Copy, Debug, Default, serde::Serialize, serde::Deserialize)]
pub(crate) struct Tenth {
    pub(crate) cases: u64,
    pub(crate) bytes: u64,
}

impl Tenth {
    pub(crate) fn case(&mut self, bytes: u64) {
        self.bytes = if self.cases == 0 { bytes } else { self.bytes.min(bytes) };
        self.cases += 1;
    }
}

impl Tally {
    pub(crate) fn case(&mut self, case: &Case, oracle: &Oracle) {
        let bad: u64 = oracle.0.iter().map(|position| position.failures).sum();
        self.add("bad samples", bad);
        if let Some(disturbance) = &case.disturbance {
            self.fault(&format!("{:?}", disturbance.deed).to_lowercase());
        }
        self.add("dropped", u64::from(case.event == Event::Dropped));
        let crowded = case.stretches.iter().filter(|stretch| stretch.workers > 64).count();
        self.add("more than 64 workers", crowded as u64);
    }

    pub(crate) fn rows(&mut self, account: &Account) {
        self.samples += account.rows;
    }

    pub(crate) fn fault(&mut self, kind: &str) {
        self.add(kind, 1);
    }

    pub(crate) fn add(&mut self, kind: &str, count: u64) {
        if count > 0 {
            *self.faults.entry(kind.to_owned()).or_default() += count;
        }
    }

    pub(crate) fn merge(&mut self, other: Self) {
        self.cases += other.cases;
        self.samples += other.samples;
        self.refused += other.refused;
        self.peak_bytes = self.peak_bytes.max(other.peak_bytes);
        self.warm_bytes = self.warm_bytes.max(other.warm_bytes);
        self.end_bytes = self.end_bytes.max(other.end_bytes);
        for (tenth, others) in self.tenths.iter_mut().zip(other.tenths) {
            tenth.cases += others.cases;
            tenth.bytes = tenth.bytes.max(others.bytes);
        }
        other.faults.iter().for_each(|(kind, count)| self.add(kind, *count));
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { cases, samples, refused, faults, peak_bytes, warm_bytes, end_bytes, tenths } = self;
        let [peak, warm, end] = [peak_bytes, warm_bytes, end_bytes].map(|bytes| bytes >> 20);
        let faults: Vec<String> = faults.iter().map(|(kind, count)| format!("{count} {kind}")).collect();
        let faults = faults.join(", ");
        write!(f, "{cases} cases, {samples} samples, {refused} refused; {faults}; ")?;
        write!(f, "peak RSS {peak} MiB, {warm} after the first cases, {end} after the last")?;
        if tenths.iter().all(|tenth| tenth.cases == 0) {
            return Ok(());
        }
        let least = tenths.map(|tenth| (tenth.bytes >> 20).to_string()).join(" ");
        write!(f, "; the least of each tenth of the time {least}")
    }
}
