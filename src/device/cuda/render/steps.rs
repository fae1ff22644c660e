//! Lists of colour steps in the tables, and where statistics cut them.

use super::jobs::TALLY_BIT;
use super::lower::Lowering;
use crate::error::Cause;
use crate::geometry::Rect;
use crate::plan::{NONE, Span};

/// Colour steps in the tables, and the means that they name.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Steps {
    pub(super) span: Span,
    pub(super) stats: Span,
    /// Number of the first in the plan.
    planned: u32,
}

/// The steps from one statistic to the next, which is measured behind them.
#[derive(Clone, Copy, Debug)]
pub(super) struct Part {
    pub(super) steps: Steps,
    /// Number of the statistic in the tables.
    pub(super) measured: u32,
    /// Where it is measured.
    pub(super) rect: Rect,
}

impl Lowering<'_> {
    /// Brings a list of steps into the tables, with a statistic of its own for each step that needs one.
    pub(super) fn steps(&mut self, planned: Span) -> Result<Steps, Cause> {
        let start = self.tables.steps.len() as u32;
        for step in &self.plan.steps[planned.range()] {
            let mut step = *step;
            if step.stat != NONE {
                self.free_stats =
                    self.free_stats.checked_sub(1).ok_or("a sample with too many statistics")?;
                step.stat = self.tables.statistic(step.op);
            }
            self.tables.steps.push(step);
        }
        Ok(self.part(Span { start, len: planned.len }, planned.start))
    }

    /// Cuts a list ahead of each step that waits for a statistic; the steps behind the last cut come second.
    pub(super) fn parts(&self, steps: &Steps) -> (Vec<Part>, Steps) {
        let mut parts = Vec::new();
        let mut from = 0;
        for at in 0..steps.span.len {
            let measured = self.tables.steps[(steps.span.start + at) as usize].stat;
            if measured != NONE {
                let stat = self.plan.steps[(steps.planned + at) as usize].stat;
                let rect = self.plan.stats[stat as usize].rect;
                parts.push(Part { steps: self.cut(steps, from, at), measured, rect });
                from = at;
            }
        }
        (parts, self.cut(steps, from, steps.span.len))
    }

    /// Steps number `from` to `to` of a list.
    fn cut(&self, steps: &Steps, from: u32, to: u32) -> Steps {
        self.part(Span { start: steps.span.start + from, len: to - from }, steps.planned + from)
    }

    /// The steps of a list up to the end of a part of it.
    pub(super) fn up_to(&self, steps: &Steps, part: &Part) -> Steps {
        self.cut(steps, 0, part.steps.span.start + part.steps.span.len - steps.span.start)
    }

    fn part(&self, span: Span, planned: u32) -> Steps {
        let named = self.tables.steps[span.range()].iter().filter(|step| step.stat & TALLY_BIT == 0);
        let stats = named.fold(Span::default(), |all, step| join(all, Span { start: step.stat, len: 1 }));
        Steps { span, stats, planned }
    }
}

/// The smallest run that holds both; a run of nothing adds nothing.
pub(super) fn join(one: Span, other: Span) -> Span {
    match (one.len, other.len) {
        (0, _) => other,
        (_, 0) => one,
        _ => {
            let start = one.start.min(other.start);
            Span { start, len: (one.start + one.len).max(other.start + other.len) - start }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_join_to_the_smallest_run_around_both() {
        let run = |start, len| Span { start, len };
        assert_eq!(join(run(7, 0), run(3, 2)), run(3, 2));
        assert_eq!(join(run(3, 2), run(0, 0)), run(3, 2));
        assert_eq!(join(run(3, 2), run(8, 1)), run(3, 6));
    }
}
