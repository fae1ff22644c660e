//! What follows from containers for a chain: how many images a sample may read, and the ways through the chain.

use crate::augment::{Augment, Container, RngScope};
use crate::error::{Result, ensure};

/// Maximum number of partners that one augmentation may ask for.
const MAX_PARTNERS: usize = 9;

/// How many images each image before the augmentation may have become after it.
pub(super) fn images_of(augment: &dyn Augment) -> Result<usize> {
    let Some(container) = augment.container() else {
        let partners = augment.partners();
        ensure!(
            partners <= MAX_PARTNERS,
            "{} asks for {partners} partners, but {MAX_PARTNERS} is the most an augmentation may have",
            augment.name()
        );
        return Ok(partners + 1);
    };
    let images =
        container.transforms().iter().map(|transform| images_of(transform)).collect::<Result<_>>()?;
    Ok(most_of(container, images, 1, usize::saturating_mul))
}

/// How many augmentations, containers apart, may run in the augmentation for one image.
pub(super) fn runs_of(augment: &dyn Augment) -> usize {
    let Some(container) = augment.container() else { return 1 };
    let runs = container.transforms().iter().map(|transform| runs_of(transform)).collect();
    most_of(container, runs, 0, usize::saturating_add)
}

/// The most that the transforms of a choice make together, of what `each` makes alone.
fn most_of(
    container: &dyn Container,
    mut each: Vec<usize>,
    none: usize,
    together: fn(usize, usize) -> usize,
) -> usize {
    let choices = container.choices();
    let of_choice = |choice: &Vec<usize>| {
        choice.iter().filter_map(|&index| each.get(index).copied()).fold(none, together)
    };
    let named = choices.iter().map(of_choice).max().unwrap_or(none);
    // Any transforms may run together, and not only those that the choices name.
    let longest = choices.iter().map(Vec::len).max().unwrap_or(0);
    each.sort_unstable_by(|one, other| other.cmp(one));
    each.into_iter().take(longest).fold(none, together).max(named)
}

/// The samples that share what is drawn: of a container, those that share the draws of any of its transforms.
pub(super) fn rng_scope(augment: &dyn Augment) -> RngScope {
    match augment.container() {
        Some(container) => {
            container.transforms().iter().map(|transform| rng_scope(transform)).max().unwrap_or_default()
        }
        None => augment.mixing().rng,
    }
}

/// How many ways there are through an augmentation until each transform in it has run.
pub(super) fn ways_of(augment: &dyn Augment) -> usize {
    augment.container().map_or(1, |container| ways_of_choices(container).iter().map(|(_, ways)| ways).sum())
}

/// The choices of a container, and how many ways there are through the transforms of each.
fn ways_of_choices(container: &dyn Container) -> Vec<(Vec<usize>, usize)> {
    let ways: Vec<usize> = container.transforms().iter().map(|transform| ways_of(transform)).collect();
    let of =
        |choice: &[usize]| choice.iter().filter_map(|&index| ways.get(index).copied()).max().unwrap_or(1);
    let with_ways = |choice: Vec<usize>| {
        let ways = of(&choice);
        (choice, ways)
    };
    container.choices().into_iter().map(with_ways).collect()
}

/// What a container chooses on a way, and the way through what it has chosen.
pub(super) fn choice_of(container: &dyn Container, way: usize) -> (Vec<usize>, usize) {
    let choices = ways_of_choices(container);
    let total: usize = choices.iter().map(|(_, ways)| ways).sum();
    let mut rest = way % total.max(1);
    for (choice, ways) in choices {
        if rest < ways {
            return (choice, rest);
        }
        rest -= ways;
    }
    (Vec::new(), 0)
}
