//! Several data sets as one: one index, keys that say whose they are, and classes that go by their names.

use super::with_classes::{ClassOptions, WithClasses};
use super::{Destination, IoStats, Source, Version, out_of_range};
use crate::error::{Error, Result, bail, ensure};
use crate::field::{self, Field, FieldValue};
use crate::label::Label;
use crate::policy::{Mix, MixOrder, StoppingStrategy};
use std::borrow::Cow;
use std::path::Path;

/// How far weights may be from the sum of 1, as decimal fractions of thirds are.
const TOLERANCE: f64 = 1e-3;
/// The largest number of data sets.
const MAX_SETS: usize = 4096;

/// Several data sets as one source.
///
/// Records keep their order, one data set after the other; a key is that of the record after the name of its data set and a
/// colon. Classes go by their names, whatever index each data set has for them: the classes of the first keep theirs, and those
/// of the others follow as they come, unless a list says otherwise. A mixture also tells a loader how an epoch is ordered:
///
/// * by default the data sets are one, as if their files lay in one folder;
/// * [`MixtureOptions::chain`] shows one after the other, each shuffled within itself;
/// * [`MixtureOptions::weights`] lets each position of the epoch draw its data set, each of which goes through its own order
///   and begins it anew when it is exhausted.
///
/// ```
/// use feedline::label::Label;
/// use feedline::source::{Memory, Mixture, Source};
///
/// let named = |class: &str| {
///     Memory::new(vec![("1.jpg".to_owned(), Vec::new(), Label::Class(0))]).with_classes(vec![class.to_owned()])
/// };
/// let mixture = Mixture::options()
///     .set("street", named("automobile"))
///     .set("studio", named("car"))
///     .rename("automobile", "car")
///     .weights([0.75, 0.25])
///     .open()?;
/// assert_eq!((mixture.key(1).as_ref(), mixture.label(1)), ("studio:1.jpg", Label::Class(0)));
/// assert_eq!(mixture.classes(), ["car"]);
/// # Ok::<(), feedline::error::Error>(())
/// ```
pub struct Mixture {
    sets: Vec<Set>,
    order: MixOrder,
    classes: Vec<String>,
    fields: Vec<Field>,
}

/// One of the data sets.
struct Set {
    name: String,
    /// Its first record in the mixture's index.
    start: usize,
    source: WithClasses<Box<dyn Source>>,
    /// Where the values of the mixture's fields are among its own.
    values: Vec<Option<usize>>,
}

/// What is mixed, and how.
#[derive(Default)]
pub struct MixtureOptions {
    sets: Vec<(String, Box<dyn Source>)>,
    classes: ClassOptions,
    order: MixOrder,
}

impl Mixture {
    /// Options to mix with.
    pub fn options() -> MixtureOptions {
        MixtureOptions::default()
    }

    /// The data set that has record `index`, and its index there.
    fn own(&self, index: usize) -> Result<(&Set, usize)> {
        let past = self.sets.partition_point(|set| set.start <= index);
        let set = past.checked_sub(1).map(|set| &self.sets[set]);
        match set.map(|set| (set, index - set.start)) {
            Some((set, own)) if own < set.source.len() => Ok((set, own)),
            _ => Err(out_of_range(index, self.len())),
        }
    }

    /// An error of one of the data sets with the mixture's key and index.
    fn named(&self, index: usize, error: Error) -> Error {
        match error {
            Error::Sample { source, .. } => Error::sample(self.key(index), index as u64, source),
            other => other,
        }
    }
}

impl MixtureOptions {
    /// Adds a data set after those already there. Its name is 1 to 256 characters without colons, and no other data set's.
    pub fn set(self, name: impl Into<String>, source: impl Source + 'static) -> Self {
        self.set_boxed(name, Box::new(source))
    }

    /// The same for a source whose type is chosen at run time.
    pub fn set_boxed(mut self, name: impl Into<String>, source: Box<dyn Source>) -> Self {
        self.sets.push((name.into(), source));
        self
    }

    /// Shows one data set after the other in each epoch, in their order; a shuffle is within each of them.
    pub fn chain(mut self) -> Self {
        self.order.mix = Mix::Chain;
        self
    }

    /// Draws the data set of each position with these chances, one for each data set; they sum to 1.
    ///
    /// Draws are stratified: of the 256 positions from each multiple of 256 on, a data set has its share as exactly as whole
    /// numbers can, in an order that depends on seed and epoch.
    pub fn weights(mut self, weights: impl IntoIterator<Item = f64>) -> Self {
        (self.order.mix, self.order.weights) = (Mix::Weighted, weights.into_iter().collect());
        self
    }

    setters! {
        /// What ends an epoch of a weighted mixture. By default it ends once one of the data sets has been shown whole.
        stopping_strategy in order.stopping_strategy: StoppingStrategy;

        /// The samples of an epoch of a weighted mixture, in place of a strategy.
        epoch_samples in order.epoch_samples: some u64;
    }

    /// The names of all classes in the order of their indices. By default they are those of the first data set, and then those
    /// of the others as they come.
    pub fn classes(self, names: impl IntoIterator<Item = impl Into<String>>) -> Self {
        Self { classes: self.classes.classes(names), ..self }
    }

    /// Calls the class `from` of any data set `to`.
    pub fn rename(self, from: impl Into<String>, to: impl Into<String>) -> Self {
        Self { classes: self.classes.rename(from, to), ..self }
    }

    pub(super) fn named_by(self, classes: ClassOptions) -> Self {
        Self { classes, ..self }
    }

    /// The data sets as one. All labels are looked at once.
    ///
    /// # Errors
    /// [`Error::Config`] naming the data set: none, or an empty one; a name that is no name, or another's; weights that are not
    /// one for each, above 0 and of the sum 1; a class that is not in the list; classes by number in one data set and by name in
    /// another; a field that a data set lacks and that has no default; objects with different keypoints.
    pub fn open(self) -> Result<Mixture> {
        let Self { sets, classes, mut order } = self;
        check_names(&sets)?;
        check_order(&order, sets.len())?;
        let all = || sets.iter().flat_map(|(_, source)| source.classes());
        classes.check_renamed(all())?;
        let names = classes.names(sets.iter().map(|(_, source)| source.classes()))?;
        let fields = fields_of(&sets)?;
        let (mut opened, mut start) = (Vec::with_capacity(sets.len()), 0usize);
        for (name, source) in sets {
            let of_set = |error| within(&name, error);
            ensure!(
                !source.is_empty(),
                "the data set `{name}` has no samples: check its path, or leave it out"
            );
            let values =
                fields.iter().map(|field| place(&name, source.fields(), field)).collect::<Result<_>>()?;
            let is_numbered = source.classes().is_empty() && classes.classes.is_none();
            let own_names = if is_numbered { Vec::new() } else { names.clone() };
            let source = classes.translate(source, own_names).map_err(of_set)?;
            if let Some(index) = source.met.classed.filter(|_| is_numbered && !names.is_empty()) {
                bail!(
                    "the data set `{name}` has classes by number (sample {index}, {}), and others have names for theirs: name \
                     its classes in the order of their numbers (classes of that data set)",
                    source.key(index)
                );
            }
            let set = Set { name, start, source, values };
            start += set.source.len();
            order.ends.push(start as u64);
            opened.push(set);
        }
        check_skeletons(&opened)?;
        Ok(Mixture { sets: opened, order, classes: names, fields })
    }
}

fn within(name: &str, error: Error) -> Error {
    match error {
        Error::Config(message) => Error::config(format!("the data set `{name}`: {message}")),
        other => other,
    }
}

fn check_names(sets: &[(String, Box<dyn Source>)]) -> Result<()> {
    ensure!(!sets.is_empty(), "a mixture of no data sets: name one at least");
    let count = sets.len();
    ensure!(
        count <= MAX_SETS,
        "a mixture of {count} data sets, and {MAX_SETS} is the most: join some of them"
    );
    for (number, (name, _)) in sets.iter().enumerate() {
        let is_name = (1..=256).contains(&name.chars().count()) && !name.contains([':', '\n', '\r', '\0']);
        ensure!(
            is_name,
            "data set {number} is called `{}`: give it a name of 1 to 256 characters without a colon (name)",
            name.escape_debug().take(80).collect::<String>()
        );
        if let Some(other) = sets[..number].iter().position(|(other, _)| other == name) {
            bail!(
                "data sets {other} and {number} are both called `{name}`: give each a name of its own (name)"
            );
        }
    }
    Ok(())
}

fn check_order(order: &MixOrder, sets: usize) -> Result<()> {
    let MixOrder { mix, weights, epoch_samples, stopping_strategy, .. } = order;
    if *mix != Mix::Weighted {
        let is_said = epoch_samples.is_some() || *stopping_strategy != StoppingStrategy::default();
        ensure!(
            !is_said && weights.is_empty(),
            "weights, stopping_strategy and epoch_samples are for a weighted mixture: leave them out, or set mix to weighted and \
             give each data set a weight"
        );
        return Ok(());
    }
    ensure!(
        epoch_samples.is_none() || *stopping_strategy == StoppingStrategy::default(),
        "stopping_strategy and epoch_samples both say what ends an epoch: leave one of them out"
    );
    let given = weights.len();
    ensure!(given == sets, "there are {given} weights for {sets} data sets: give one for each");
    if let Some(at) = weights.iter().position(|weight| !(weight.is_finite() && *weight > 0.0)) {
        bail!(
            "the weight of data set {at} is {}: every weight must be above 0; leave out what is not to be shown",
            weights[at]
        );
    }
    let sum: f64 = weights.iter().sum();
    let scaled: Vec<String> = weights.iter().map(|weight| format!("{:.4}", weight / sum)).collect();
    ensure!(
        (sum - 1.0).abs() <= TOLERANCE,
        "the weights of the data sets sum to {sum}, and they are chances, which sum to 1: give {}",
        scaled.join(", ")
    );
    Ok(())
}

/// The fields of all data sets, each as the first that has it describes it, with the first default that one gives.
fn fields_of(sets: &[(String, Box<dyn Source>)]) -> Result<Vec<Field>> {
    let mut fields: Vec<(Field, &str)> = Vec::new();
    for (name, source) in sets {
        for field in source.fields() {
            match fields.iter_mut().find(|(known, _)| known.name() == field.name()) {
                None => fields.push((field.clone(), name)),
                Some((known, first)) => {
                    ensure!(
                        known.kind() == field.kind() && known.list_length() == field.list_length(),
                        "the field `{}` is {} in the data set `{first}` and {} in `{name}`: declare it alike in both",
                        field.name(),
                        shown(known),
                        shown(field)
                    );
                    if let (None, Some(default)) = (known.default_value(), field.default_value()) {
                        *known = known.clone().default(default.clone());
                    }
                }
            }
        }
    }
    let fields: Vec<Field> = fields.into_iter().map(|(field, _)| field).collect();
    field::check(&fields).map_err(Error::config)?;
    Ok(fields)
}

/// The type of a field, and the length of its lists.
fn shown(field: &Field) -> String {
    match field.list_length() {
        Some(length) => format!("{} of the length {length}", field.kind()),
        None => field.kind().to_string(),
    }
}

/// Where the values of `field` are among those of a data set; `None` where it takes the default.
fn place(name: &str, own: &[Field], field: &Field) -> Result<Option<usize>> {
    let place = own.iter().position(|own| own.name() == field.name());
    ensure!(
        place.is_some() || field.default_value().is_some(),
        "the data set `{name}` has no field `{}`, which others have: read it there too (fields), or give it a default for the \
         data sets that lack it",
        field.name()
    );
    Ok(place)
}

fn check_skeletons(sets: &[Set]) -> Result<()> {
    let all = || sets.iter().filter_map(|set| Some((&set.name, set.source.met.skeleton.as_deref()?)));
    let Some((first, skeleton)) = all().next() else { return Ok(()) };
    match all().find(|(_, other)| *other != skeleton) {
        Some((name, other)) => bail!(
            "the objects of the data set `{first}` have {} keypoints and those of `{name}` {}, or mirror them otherwise: mix data \
             sets whose keypoints are the same",
            skeleton.count,
            other.count
        ),
        None => Ok(()),
    }
}

impl Source for Mixture {
    fn len(&self) -> usize {
        self.sets.last().map_or(0, |set| set.start + set.source.len())
    }

    fn read(&self, index: usize, bytes: &mut Vec<u8>) -> Result<()> {
        bytes.clear();
        let (set, own) = self.own(index)?;
        set.source.read(own, bytes).map_err(|error| self.named(index, error))
    }

    fn read_into(&self, index: usize, to: &mut dyn Destination) -> Result<()> {
        let (set, own) = self.own(index)?;
        set.source.read_into(own, to).map_err(|error| self.named(index, error))
    }

    fn key(&self, index: usize) -> Cow<'_, str> {
        match self.own(index) {
            Ok((set, own)) => Cow::Owned(format!("{}:{}", set.name, set.source.key(own))),
            Err(_) => Cow::Borrowed(""),
        }
    }

    fn path(&self, index: usize) -> Option<&Path> {
        let (set, own) = self.own(index).ok()?;
        set.source.path(own)
    }

    fn file(&self, index: usize) -> Option<Cow<'_, Path>> {
        let (set, own) = self.own(index).ok()?;
        set.source.file(own)
    }

    fn version(&self, index: usize) -> Version {
        self.own(index).map_or(Version::Unknown, |(set, own)| set.source.version(own))
    }

    fn label(&self, index: usize) -> Label {
        self.own(index).map_or(Label::Unlabelled, |(set, own)| set.source.label(own))
    }

    fn mask(&self, index: usize, bytes: &mut Vec<u8>) -> Result<bool> {
        bytes.clear();
        let (set, own) = self.own(index)?;
        set.source.mask(own, bytes).map_err(|error| match error {
            // The mask's own name, with the mixture's index.
            Error::Sample { key, source, .. } => Error::sample(key, index as u64, source),
            other => other,
        })
    }

    fn has_masks(&self) -> bool {
        self.sets.iter().any(|set| set.source.has_masks())
    }

    fn is_known_ahead(&self) -> bool {
        self.sets.iter().all(|set| set.source.is_known_ahead())
    }

    fn fields(&self) -> &[Field] {
        &self.fields
    }

    fn values(&self, index: usize, values: &mut Vec<FieldValue>) -> Result<()> {
        let (set, own) = self.own(index)?;
        let mut read = Vec::new();
        set.source.values(own, &mut read).map_err(|error| self.named(index, error))?;
        let lacks = || {
            let cause = "it has no value of a field that its data set has: a bug of the source";
            Error::sample(self.key(index), index as u64, cause)
        };
        values.clear();
        for (field, place) in self.fields.iter().zip(&set.values) {
            let value = match place {
                Some(place) => {
                    read.get_mut(*place).map(|value| std::mem::replace(value, FieldValue::Integer(0)))
                }
                None => field.default_value().cloned(),
            };
            values.push(value.ok_or_else(lacks)?);
        }
        Ok(())
    }

    fn jpeg_sha256(&self, index: usize) -> Result<Option<String>> {
        let (set, own) = self.own(index)?;
        set.source.jpeg_sha256(own).map_err(|error| self.named(index, error))
    }

    fn classes(&self) -> &[String] {
        &self.classes
    }

    /// None unless all data sets are made of shards.
    fn shard_ends(&self) -> Vec<u64> {
        let mut all = Vec::new();
        for set in &self.sets {
            let own = set.source.shard_ends();
            if own.is_empty() {
                return own;
            }
            all.extend(own.iter().map(|end| set.start as u64 + end));
        }
        all
    }

    fn record(&self, index: usize) -> usize {
        self.own(index).map_or(index, |(set, own)| set.start + set.source.record(own))
    }

    fn mix_order(&self) -> Option<MixOrder> {
        Some(self.order.clone())
    }

    fn io_stats(&self) -> IoStats {
        self.sets.iter().map(|set| set.source.io_stats()).fold(IoStats::default(), IoStats::plus)
    }
}
