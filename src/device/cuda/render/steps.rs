//! Lists of colour steps in the tables, and where statistics cut them.

use super::layout::{HISTOGRAM_BIT, NONE};
use super::tables::Tables;
use crate::error::Cause;
use crate::geometry::Rect;
use crate::plan::{Plan, Span};

/// Colour steps in the tables, and the means that they name.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Steps {
    pub(super) span: Span,
    pub(super) stats: Span,
    /// Index of the first in the plan.
    planned: u32,
}

/// The steps from one statistic to the next, which is measured after them.
#[derive(Clone, Copy, Debug)]
pub(super) struct Part {
    pub(super) steps: Steps,
    /// Index of the statistic in the tables.
    pub(super) measured: u32,
    /// Where it is measured.
    pub(super) rect: Rect,
}

impl Steps {
    /// Brings a list of the plan's steps into the tables, with a statistic of its own for each step that needs one.
    pub(super) fn lower(tables: &mut Tables, plan: &Plan, planned: Span) -> Result<Self, Cause> {
        let start = tables.steps.len() as u32;
        plan.steps[planned.range()].iter().try_for_each(|step| tables.add_step(step))?;
        Ok(Self::of(tables, Span { start, len: planned.len }, planned.start))
    }

    /// Cuts the list ahead of each step that waits for a statistic; the steps after the last cut come second.
    pub(super) fn parts(&self, tables: &Tables, plan: &Plan) -> (Vec<Part>, Steps) {
        let mut parts = Vec::new();
        let mut from = 0;
        for at in 0..self.span.len {
            let measured = tables.steps[(self.span.start + at) as usize].stat;
            let stat = plan.steps[(self.planned + at) as usize].stat;
            if let Some(stat) = stat.filter(|_| measured != NONE) {
                let rect = plan.stats[stat as usize].rect;
                parts.push(Part { steps: self.cut(tables, from, at), measured, rect });
                from = at;
            }
        }
        (parts, self.cut(tables, from, self.span.len))
    }

    /// Steps `from` to `to` of the list.
    fn cut(&self, tables: &Tables, from: u32, to: u32) -> Self {
        Self::of(tables, Span { start: self.span.start + from, len: to - from }, self.planned + from)
    }

    /// The steps of the list up to the end of a part of it.
    pub(super) fn up_to(&self, tables: &Tables, part: &Part) -> Self {
        self.cut(tables, 0, part.steps.span.start + part.steps.span.len - self.span.start)
    }

    fn of(tables: &Tables, span: Span, planned: u32) -> Self {
        let named = tables.steps[span.range()].iter().filter(|step| step.stat & HISTOGRAM_BIT == 0);
        let stats = named.fold(Span::default(), |all, step| join(all, Span { start: step.stat, len: 1 }));
        Self { span, stats, planned }
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
