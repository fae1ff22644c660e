//! One sample's way through the tree of augmentations.

use super::containers::{choice_of, rng_scope};
use super::partner::{Partner, TreePosition};
use super::{Choice, ImageInfo, Images, PlanError, PlannedPartner, Planner, SampleContext, ViewChain};
use crate::augment::container::{MAX_DEPTH, out_of_range, within};
use crate::augment::{Augment, Container, MaskReader, Mixing};
use crate::draft::Draft;
use crate::error::{Error, Result};
use crate::geometry::Rect;
use crate::loader::report::errors::Failure;
use crate::rng::{Draws, Rng};

/// An augmentation and its position in the tree.
#[derive(Clone, Copy)]
struct Node<'a> {
    augment: &'a dyn Augment,
    at: TreePosition,
    path: Path,
    /// The way through it, where its containers do not draw.
    way: Option<usize>,
    /// Whether it runs whatever its own probability is.
    is_certain: bool,
}

/// The indices of an augmentation and of the containers that it stands in, from the chain on.
#[derive(Clone, Copy, Default)]
struct Path {
    indices: [u16; MAX_DEPTH + 1],
    len: usize,
    /// Which of the described views it belongs to.
    view: Option<u16>,
}

impl Path {
    fn child(mut self, index: usize) -> Self {
        if let Some(place) = self.indices.get_mut(self.len) {
            *place = index as u16;
            self.len += 1;
        }
        self
    }

    /// `augment[2].transforms[0]`.
    fn place(&self) -> String {
        let name = |(level, index)| match (level, self.view) {
            (0, None) => format!("augment[{index}]"),
            (0, Some(view)) => format!("views[{view}].transforms[{index}]"),
            _ => format!(".transforms[{index}]"),
        };
        self.indices[..self.len].iter().enumerate().map(name).collect()
    }

    /// Whether messages name it: in the chain itself they say enough without.
    fn is_named(&self) -> bool {
        self.len > 1 || self.view.is_some()
    }
}

/// Which transforms run.
#[derive(Clone, Copy, PartialEq)]
enum Runs {
    /// As often as their probabilities say.
    Drawn,
    /// All that have a probability above 0.
    Possible,
    /// All.
    Certain,
}

/// The random numbers of one augmentation, which may have to run whatever they are.
struct ForcedDraws<'a> {
    rng: &'a mut Rng,
    runs: Runs,
}

impl Draws for ForcedDraws<'_> {
    fn bits(&mut self) -> u32 {
        self.rng.bits()
    }

    fn applies(&mut self, p: f32) -> bool {
        match self.runs {
            Runs::Drawn => self.rng.applies(p),
            Runs::Possible => p > 0.0,
            Runs::Certain => true,
        }
    }
}

/// The planning of one sample.
pub(super) struct Walk<'a> {
    planner: &'a Planner,
    sample: &'a SampleContext<'a>,
    images: &'a mut dyn Images,
    /// What runs of what no container has made certain.
    runs: Runs,
    choices: Vec<Choice>,
    partners: Vec<PlannedPartner>,
}

/// What came of a walk.
pub(super) struct Walked {
    /// The sample after the whole chain.
    pub(super) draft: Draft,
    pub(super) choices: Vec<Choice>,
    pub(super) partners: Vec<PlannedPartner>,
}

impl<'a> Walk<'a> {
    pub(super) fn new(
        planner: &'a Planner,
        sample: &'a SampleContext<'a>,
        images: &'a mut dyn Images,
    ) -> Self {
        Self { planner, sample, images, runs: Runs::Drawn, choices: Vec::new(), partners: Vec::new() }
    }

    /// The same, where all runs that has a probability above 0.
    pub(super) fn of_all_that_can_run(self) -> Self {
        Self { runs: Runs::Possible, ..self }
    }

    /// What runs where `is_certain` is what a container says.
    fn runs(&self, is_certain: bool) -> Runs {
        if is_certain { Runs::Certain } else { self.runs }
    }

    /// The sample after the whole chain of view `view`, and what was chosen for it.
    pub(super) fn sample(mut self, view: usize, way: Option<usize>) -> Result<Walked, PlanError> {
        let planner = self.planner;
        let node = |augment, at, path| Node { augment, at, path, way, is_certain: false };
        let augments = if planner.bare { &[] } else { planner.augments.as_slice() };
        let all = augments
            .iter()
            .enumerate()
            .map(|(index, augment)| node(&**augment, TreePosition::top(index), Path::default().child(index)));
        let own = planner.views.get(view).into_iter().flat_map(|ViewChain { entry, copy, augments }| {
            let path = Path { view: Some(*entry as u16), ..Path::default() };
            augments.iter().enumerate().map(move |(index, augment)| {
                node(augment as &dyn Augment, TreePosition::of_view(*entry, *copy, index), path.child(index))
            })
        });
        let chain: Vec<Node<'_>> = all.chain(own).collect();
        let draft = self.draft(&Partner::host(self.sample), &chain)?;
        Ok(Walked { draft, choices: self.choices, partners: self.partners })
    }

    /// Takes `shown`, the sample or a partner of it, through `nodes`.
    fn draft(&mut self, shown: &Partner, nodes: &[Node<'a>]) -> Result<Draft, PlanError> {
        let ImageInfo { stored, orientation, objects } = self.images.info(shown.index)?;
        let mut draft = Draft::new(shown.index, stored, orientation).with_target(self.sample.target);
        if let Some(objects) = objects {
            draft = draft.with_objects(objects);
        }
        self.run(&mut draft, shown, nodes, &mut Vec::with_capacity(nodes.len()))?;
        Ok(draft)
    }

    /// Runs `nodes` one after the other. `before` is what has run for the draft: what its partners are planned by.
    fn run(
        &mut self,
        draft: &mut Draft,
        shown: &Partner,
        nodes: &[Node<'a>],
        before: &mut Vec<Node<'a>>,
    ) -> Result<(), PlanError> {
        let outside = before.len();
        let closed = self.planner.mixing_off_epoch.is_some_and(|epoch| self.sample.epoch >= epoch);
        for &node in nodes {
            if !(closed && node.augment.closes()) {
                match node.augment.container() {
                    Some(container) => self.contained(draft, shown, (node, container), before)?,
                    None => self.leaf(draft, shown, node, before)?,
                }
            }
            before.push(node);
        }
        before.truncate(outside);
        Ok(())
    }

    /// Runs what a container chooses.
    fn contained(
        &mut self,
        draft: &mut Draft,
        shown: &Partner,
        (node, container): (Node<'a>, &'a dyn Container),
        before: &mut Vec<Node<'a>>,
    ) -> Result<(), PlanError> {
        let (chosen, way) = match node.way {
            Some(way) => {
                let (chosen, inner) = choice_of(container, way);
                (chosen, Some(inner))
            }
            None => {
                let rng = &mut self.planner.rng(self.sample, shown, node.at, rng_scope(node.augment));
                (container.choose(&mut ForcedDraws { rng, runs: self.runs(node.is_certain) }), None)
            }
        };
        let transforms = container.transforms();
        let mut nodes = Vec::with_capacity(chosen.len());
        for (at, &index) in chosen.iter().enumerate() {
            let run = chosen[..at].iter().filter(|&&earlier| earlier == index).count();
            let Some(augment) = transforms.get(index) else {
                draft.fail(within(&node.path.place(), out_of_range(index, transforms.len())));
                continue;
            };
            nodes.push(Node {
                augment,
                at: node.at.child(index, run),
                path: if container.is_level() { node.path.child(index) } else { node.path },
                way,
                is_certain: container.is_certain(),
            });
        }
        // Of a container with a probability beside its arguments, what it chooses says that it runs.
        let says_more = |node: &Node<'_>| !container.is_level() && node.augment.container().is_some();
        if shown.is_host() && !nodes.iter().any(says_more) {
            self.choices.push(Choice { place: node.path.place(), op: node.augment.name(), chosen });
        }
        self.run(draft, shown, &nodes, before)
    }

    /// Runs an augmentation with the partners that it wants.
    fn leaf(
        &mut self,
        draft: &mut Draft,
        shown: &Partner,
        node: Node<'a>,
        before: &[Node<'a>],
    ) -> Result<(), PlanError> {
        let Node { augment, at, path, is_certain, .. } = node;
        let (planner, sample) = (self.planner, self.sample);
        let Mixing { partner: choice, rng: scope } = augment.mixing();
        let mut rng = planner.rng(sample, shown, at, scope);
        let most = augment.partners();
        let has_partners = most > 0 && planner.has_partners(sample, shown, choice);
        let runs = self.runs(is_certain);
        let wants = |rng: &mut Rng| augment.wants_partners(&mut ForcedDraws { rng, runs });
        let wanted = if has_partners && wants(&mut rng) { most } else { 0 };
        let partners: Vec<Partner> = (0..wanted as u32)
            .map(|number| planner.partner(sample, shown, (at, number), choice, &mut rng))
            .collect();
        let indices: Vec<u64> = partners.iter().map(|partner| partner.index).collect();
        let partners = partners.iter().map(|partner| self.draft(partner, before));
        let mut partners = partners.collect::<Result<Vec<Draft>, PlanError>>()?;
        if let Some(error) = partners.iter_mut().find_map(Draft::take_error) {
            // Whatever would go wrong with such a partner follows from this.
            draft.fail(error);
            return Ok(());
        }
        let planned = indices.into_iter().zip(&partners);
        self.partners
            .extend(planned.map(|(index, draft)| PlannedPartner { index, ops: draft.ops().to_vec() }));
        let had_failed = draft.has_failed();
        let mut masks = Masks { images: &mut *self.images, failure: None };
        augment.plan_with_masks(draft, partners, &mut ForcedDraws { rng: &mut rng, runs }, &mut masks);
        if let Some(failure) = masks.failure {
            return Err(failure.into());
        }
        if path.is_named() && !had_failed {
            draft.amend_error(|error| within(&path.place(), error));
        }
        Ok(())
    }
}

/// The masks of the images of a sample.
struct Masks<'a> {
    images: &'a mut dyn Images,
    /// Why one could not be read.
    failure: Option<Failure>,
}

impl MaskReader for Masks<'_> {
    fn classes(&mut self, draft: &Draft, part: Rect) -> Result<Option<Vec<u8>>> {
        let plan = draft.plan_of(part)?;
        self.images.classes(&plan).map_err(|failure| {
            self.failure = Some(failure);
            Error::config("its mask cannot be read")
        })
    }
}
