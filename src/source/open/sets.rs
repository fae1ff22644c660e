//! Several data sets from their options, as one.

use super::{Opened, kind_at, names_url, open_one};
use crate::error::{Error, Result, bail, ensure};
use crate::options::{DataOptions, DataSet, DataSets, Kind};
use crate::policy::Mix;
use crate::source::{ClassOptions, Mixture, MixtureOptions};

/// Opens the data sets that `options` list.
///
/// # Errors
/// Those of each data set, with its place in the list, and those of [`MixtureOptions::open`].
pub(super) fn sets(options: &DataOptions, sets: &DataSets) -> Result<Opened> {
    ensure!(
        options.path.is_none(),
        "data (path) and sets both say which data there are: leave one of them out"
    );
    let kinds: Vec<(Kind, bool)> = sets.0.iter().map(|set| kind_of(options, set)).collect::<Result<_>>()?;
    if let Some(key) = options.unread_by(&kinds) {
        bail!(
            "[data]: {key} is read by none of the data sets, or is for one of them: write it under that one"
        );
    }
    let (mut mixture, mut all) = (ordered(options, sets)?, None);
    for (number, (set, kind)) in sets.0.iter().zip(kinds).enumerate() {
        let place = format!("data.sets[{number}] (`{}`)", set.name());
        let opened = open_one(&options.of_set(set, kind), &set.options).map_err(|error| at(&place, error))?;
        let Opened { source, kind, notes, objects, keypoints, .. } = opened;
        mixture = mixture.set_boxed(set.name(), source);
        let (known, all_notes, some, most) = all.get_or_insert((kind, Vec::new(), false, 0));
        // Trainers ask whether there are objects at all.
        if !known.has_objects() {
            *known = kind;
        }
        all_notes.extend(notes);
        *some |= objects;
        *most = keypoints.max(*most);
    }
    let Some((kind, notes, objects, keypoints)) = all else {
        bail!("sets is empty: name a data set at least, or leave sets out and set data");
    };
    let mixture = mixture.named_by(classes(options)).open().map_err(|error| at("[data]", error))?;
    Ok(Opened { notes, objects, keypoints, ..Opened::of(kind, mixture) })
}

/// What `options` say of the classes.
pub(super) fn classes(options: &DataOptions) -> ClassOptions {
    let rename = options.rename.clone().unwrap_or_default();
    ClassOptions { classes: options.classes.clone(), rename }
}

/// The kind of a data set, and whether files beside its images are at a URL.
fn kind_of(options: &DataOptions, set: &DataSet) -> Result<(Kind, bool)> {
    let said = set.options.clone().or(options.clone());
    Ok((kind_at(&said)?, names_url(&said)))
}

/// How the data sets follow each other.
fn ordered(options: &DataOptions, sets: &DataSets) -> Result<MixtureOptions> {
    let weighted = sets.0.iter().filter(|set| set.weight.is_some()).count();
    let mix = options.mix.unwrap_or(if weighted > 0 { Mix::Weighted } else { Mix::Concat });
    let lacking = sets.0.iter().position(|set| set.weight.is_none());
    if let (Mix::Weighted, Some(lacking)) = (mix, lacking) {
        bail!("data.sets[{lacking}] has no weight, and mix is weighted: give each data set a weight");
    }
    if mix != Mix::Weighted {
        let of_weighted = [
            ("weight", weighted > 0),
            ("stopping_strategy", options.stopping_strategy.is_some()),
            ("epoch_samples", options.epoch_samples.is_some()),
        ];
        if let Some((key, _)) = of_weighted.into_iter().find(|(_, said)| *said) {
            bail!(
                "[data]: {key} is for a weighted mixture: leave it out, or set mix to weighted and give weights"
            );
        }
    }
    ensure!(
        options.stopping_strategy.is_none() || options.epoch_samples.is_none(),
        "[data]: stopping_strategy and epoch_samples both say what ends an epoch: leave one of them out"
    );
    let mixture = Mixture::options();
    Ok(match mix {
        Mix::Concat => mixture,
        Mix::Chain => mixture.chain(),
        Mix::Weighted => {
            let weights = sets.0.iter().filter_map(|set| set.weight);
            let mixture = mixture.weights(weights).stopping_strategy(options.stopping_strategy());
            match options.epoch_samples {
                Some(samples) => mixture.epoch_samples(samples),
                None => mixture,
            }
        }
    })
}

/// An error with the place that it is about.
fn at(place: &str, error: Error) -> Error {
    match error {
        Error::Config(message) => Error::config(format!("{place}: {message}")),
        other => other,
    }
}
