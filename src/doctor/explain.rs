//! What was found, in words.

use super::{Diagnosis, ENOUGH, GpuUse, Rate, Verdict};

/// A GPU that is busy for more of the time than this hardly waits.
const BUSY: f64 = 0.9;
/// One that is busy for less than this is probably not the trainer's: it may drive a display.
const UNUSED: f64 = 0.1;

impl Diagnosis {
    pub(super) fn explain(&self) -> String {
        let loader = per_s(self.loader_alone);
        match (self.verdict, self.trainer) {
            (Verdict::Trainer, Some(trainer)) => {
                let times = self.loader_alone.per_s / trainer.samples.per_s;
                let takes = format!(
                    "the trainer is the limit: it takes {} images/s, and the loader alone gives {loader}, {times:.1} times as many",
                    per_s(trainer.samples)
                );
                match times >= ENOUGH {
                    true => format!("{takes}. You do not need a faster loader"),
                    false => {
                        format!("{takes}. That is just enough: a trainer that is a little faster would wait")
                    }
                }
            }
            (limit, trainer) => {
                let waits = trainer.map_or_else(String::new, |trainer| {
                    let waited = 100.0 * (1.0 - self.together.per_s / trainer.samples.per_s).max(0.0);
                    format!(
                        "; the trainer would take {}, and waits for {waited:.0} % of its time",
                        per_s(trainer.samples)
                    )
                });
                let gives = if trainer.is_some() { per_s(self.together) } else { loader };
                format!(
                    "{} is the limit: feedline gives {gives} images/s{waits}. {}",
                    limit.noun(),
                    self.remedy(limit)
                )
            }
        }
    }

    /// With what was seen of GPUs while the trainer was measured, and a note where they waited though loading is not the limit.
    #[must_use]
    pub fn with_gpus(mut self, gpus: Vec<GpuUse>) -> Self {
        self.gpus = gpus;
        self.notes.extend(self.idle());
        self
    }

    /// What was measured, what follows from it and what would help, a line each.
    pub fn describe(&self) -> Vec<String> {
        let mut lines = self.measured();
        lines.push(format!(
            "together  {} images/s with {} workers (between {:.0} and {:.0})",
            per_s(self.together),
            self.workers,
            self.together.low,
            self.together.high
        ));
        lines.extend(self.bad());
        lines.extend(self.notes.iter().map(|note| format!("note: {note}")));
        lines.push(self.explanation.clone());
        if !self.alternatives.is_empty() {
            lines.push("what other settings would give:".into());
        }
        lines.extend(self.alternatives.iter().map(|other| {
            let how = if other.measured { "measured" } else { "computed" };
            format!("  {:>8} images/s  {}  ({how}; {})", per_s(other.together), other.setting, other.note)
        }));
        lines
    }

    fn measured(&self) -> Vec<String> {
        let (storage, work) = (&self.storage, &self.all_cores);
        let how = match storage.cold {
            true => "dropped from the system's cache first",
            false => "as they were found, perhaps in the system's cache",
        };
        let megabytes = |rate: Rate| rate.per_s * storage.mean_bytes / 1e6;
        let [copy, plan, decode, render] =
            [work.copy, work.plan, work.decode, work.render].map(|part| 100.0 * part);
        let more = storage.more_readers.map_or_else(String::new, |more| {
            format!(", {} ({:.0} MB/s) by {}", per_s(more.files), megabytes(more.files), more.readers)
        });
        let mut lines = vec![
            format!(
                "data      {} images, {:.1} KB each; {} of them were read, {how}",
                self.images,
                storage.mean_bytes / 1e3,
                storage.files
            ),
            format!(
                "storage   {} files/s ({:.0} MB/s) by one reader, {} ({:.0} MB/s) by {} at once{more}",
                per_s(storage.one_reader),
                megabytes(storage.one_reader),
                per_s(storage.many_readers),
                megabytes(storage.many_readers),
                storage.readers
            ),
            format!(
                "work      {} images/s by one worker, {} by {} (files in memory); {:.2} CPU-ms an image",
                per_s(self.one_worker.samples),
                per_s(work.samples),
                work.workers,
                1000.0 * work.cpu_seconds
            ),
            format!(
                "          copy {copy:.0} %, plan {plan:.0} %, decode {decode:.0} %, render {render:.0} %; {:.1} files an image",
                work.reads
            ),
        ];
        lines.push(match self.trainer {
            Some(trainer) => format!(
                "trainer   {} images/s if it never waits; {:.2} CPU-ms an image; in batches of {}",
                per_s(trainer.samples),
                1000.0 * trainer.cpu_seconds,
                self.batch_size
            ),
            None => "trainer   unknown: say --step-ms or --trainer to learn whether it would wait".into(),
        });
        lines.extend(self.gpus.iter().map(|gpu| format!("gpu {}     {gpu}", gpu.index)));
        lines
    }

    /// Why GPUs are idle although loading is not the limit. `None` if any GPU does not report its use: it may be the trainer's.
    fn idle(&self) -> Option<String> {
        let told: Option<Vec<f64>> = self.gpus.iter().map(|gpu| gpu.utilization).collect();
        let busiest = told?.into_iter().reduce(f64::max)?;
        (self.verdict == Verdict::Trainer && (UNUSED..BUSY).contains(&busiest)).then(|| {
            format!(
                "no GPU was busy for more than {:.0} % of the time, though the trainer did not wait for data: the rest is lost in \
                 the training step, to Python, small kernels or synchronisation",
                100.0 * busiest
            )
        })
    }

    fn bad(&self) -> impl Iterator<Item = String> {
        let unreadable =
            self.storage.first_unreadable.iter().map(|first| {
                format!("{} files could not be read; the first: {first}", self.storage.unreadable)
            });
        let bad = self
            .all_cores
            .first_bad
            .iter()
            .map(|first| format!("bad samples were left out; the first: {first}"));
        unreadable.chain(bad)
    }

    fn remedy(&self, limit: Verdict) -> String {
        let best = self
            .alternatives
            .first()
            .map(|best| format!("`{}` would give {}", best.setting, per_s(best.together)));
        let general = match limit {
            Verdict::Trainer => "nothing needs to change",
            Verdict::Storage if self.waits_for_latency() => {
                "files are waited for one by one: more workers, shards, or a cache hide that"
            }
            Verdict::Storage => "bytes are the limit: smaller files, faster storage, or a cache",
            Verdict::Plan => "make augmentations of your own cheaper, or use more cores",
            Verdict::Decode => "use more cores, a GPU, or smaller files",
            Verdict::Render => "use more cores, a GPU, or fewer augmentations",
        };
        match best {
            Some(best) => format!("{general}; {best}"),
            None => general.to_owned(),
        }
    }

    /// Many readers get much more than one: it is not the bytes that take the time.
    fn waits_for_latency(&self) -> bool {
        self.storage.many_readers.per_s > 1.5 * self.storage.one_reader.per_s
    }
}

impl Verdict {
    const fn noun(self) -> &'static str {
        match self {
            Verdict::Trainer => "the trainer",
            Verdict::Storage => "storage",
            Verdict::Plan => "planning",
            Verdict::Decode => "decoding",
            Verdict::Render => "rendering",
        }
    }
}

/// A rate with three digits or so.
fn per_s(rate: Rate) -> String {
    match rate.per_s {
        rate if rate < 10.0 => format!("{rate:.2}"),
        rate if rate < 100.0 => format!("{rate:.1}"),
        rate => format!("{rate:.0}"),
    }
}
