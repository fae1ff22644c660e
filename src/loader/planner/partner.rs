//! Which samples are mixed, and what the dice of each are keyed by.

use super::{Planner, SampleContext};
use crate::augment::{Partner as PartnerChoice, RngScope};
use crate::rng::{Domain, Draws, Rng, mix};
use std::ops::Range;

/// Ways to partners of partners start here, above all partner numbers, so that their dice never meet.
const NESTED: u32 = 16;

/// The position of an augmentation in the tree of the chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TreePosition {
    /// Names the container or the view that it stands in; 0 for the chain itself.
    branch: u64,
    /// Its index there.
    index: u32,
}

impl TreePosition {
    /// In the chain itself.
    pub(super) fn top(index: usize) -> Self {
        Self { branch: 0, index: index as u32 }
    }

    /// In the own chain of a view: the `copy`th of those that the `entry`th description stands for.
    pub(super) fn of_view(entry: usize, copy: usize, index: usize) -> Self {
        let branch = mix(mix(Domain::View.tag(), entry as u64), copy as u64);
        Self { branch, index: index as u32 }
    }

    /// In the container at this position, where it runs for the `run`th time, from 0.
    pub(super) fn child(self, index: usize, run: usize) -> Self {
        let container = mix(mix(Domain::Branch.tag(), self.branch), u64::from(self.index));
        let branch = if run == 0 { container } else { mix(container, run as u64) };
        Self { branch, index: index as u32 }
    }
}

/// A partner being planned, or the sample itself.
pub(super) struct Partner {
    pub(super) index: u64,
    position: u64,
    /// `None` for the sample itself.
    way: Option<Way>,
}

/// How a partner came into the sample.
#[derive(Clone, Copy)]
struct Way {
    /// The host's augmentation.
    host: TreePosition,
    /// The index among its partners.
    number: u32,
}

impl Partner {
    /// The sample itself.
    pub(super) fn host(sample: &SampleContext<'_>) -> Self {
        Self { index: sample.index, position: sample.position, way: None }
    }

    /// Whether it is the sample itself.
    pub(super) fn is_host(&self) -> bool {
        self.way.is_none()
    }
}

impl Planner {
    /// The generator of one augmentation for one sample, or for all samples that share its draws.
    pub(super) fn rng(
        &self,
        sample: &SampleContext<'_>,
        shown: &Partner,
        at: TreePosition,
        scope: RngScope,
    ) -> Rng {
        let key = sample.key();
        let window = || sample.order.window(shown.position, self.partner_window);
        // Shared draws are the same for all samples that share them, whichever is the host.
        let shared = match scope {
            RngScope::Sample => None,
            RngScope::Window => Some(mix(Domain::Window.tag(), window().start)),
            RngScope::Pair => {
                let other = mirrored(shown.position, &window());
                Some(mix(mix(Domain::Pair.tag(), other.min(shown.position)), other.max(shown.position)))
            }
        };
        let TreePosition { branch, index } = at;
        let rng = match (shared, shown.way) {
            (Some(shared), _) => Rng::new(self.seed, sample.epoch, shared, index),
            (None, None) => Rng::new(self.seed, sample.epoch, key, index),
            (None, Some(Way { host, number })) => {
                let of_host = if host.branch == 0 { 0 } else { mix(Domain::Partner.tag(), host.branch) };
                Rng::for_partner(self.seed, sample.epoch, key, host.index, number, index).in_branch(of_host)
            }
        };
        rng.in_branch(branch)
    }

    /// Whether there are partners of this kind for the sample.
    pub(super) fn has_partners(
        &self,
        sample: &SampleContext<'_>,
        host: &Partner,
        choice: PartnerChoice,
    ) -> bool {
        let window = sample.order.window(host.position, self.partner_window);
        choice != PartnerChoice::SecondHalf || host.position - window.start < (window.end - window.start) / 2
    }

    /// The partner `number` from the host's window, for its augmentation at `at`; if drawn, never the host where there are
    /// others.
    pub(super) fn partner(
        &self,
        sample: &SampleContext<'_>,
        host: &Partner,
        (at, number): (TreePosition, u32),
        choice: PartnerChoice,
        rng: &mut Rng,
    ) -> Partner {
        let window = sample.order.window(host.position, self.partner_window);
        let position = match choice {
            PartnerChoice::Drawn => other_than(host.position, &window, rng),
            PartnerChoice::Previous if host.position == window.start => window.end - 1,
            PartnerChoice::Previous => host.position - 1,
            PartnerChoice::Mirrored | PartnerChoice::SecondHalf => mirrored(host.position, &window),
        };
        let number = match host.way {
            None => number,
            Some(way) => {
                let branch =
                    if way.host.branch == 0 { 0 } else { mix(Domain::Branch.tag(), way.host.branch) };
                let own =
                    mix(mix(u64::from(way.host.index) ^ branch, u64::from(way.number)), u64::from(number));
                (own as u32).max(NESTED)
            }
        };
        Partner { index: sample.order.index(position), position, way: Some(Way { host: at, number }) }
    }
}

/// As far from the window's end as `own` is from its start.
fn mirrored(own: u64, window: &Range<u64>) -> u64 {
    window.end - 1 - (own - window.start)
}

fn other_than(own: u64, window: &Range<u64>, rng: &mut Rng) -> u64 {
    let others = window.end - window.start - 1;
    if others == 0 {
        return own;
    }
    let drawn = window.start + u64::from(rng.below(u32::try_from(others).unwrap_or(u32::MAX)));
    if drawn >= own { drawn + 1 } else { drawn }
}
