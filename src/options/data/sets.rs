//! Several data sets as one option: a list of tables, each with the options of `[data]`, a name and a weight.

use super::DataOptions;
use crate::options::nearest::hint;
use crate::options::{Entry, Kind, Value, ValueKind, catalogue, is_key, keys};
use crate::policy::Mix;
use serde::de::{Deserializer, Error};
use serde::{Deserialize, Serialize};
use serde_json::Map;

/// What only the mixture as a whole may say.
const OF_ALL: [&str; 4] = ["sets", "mix", "stopping_strategy", "epoch_samples"];
/// Kinds whose fields are pictures alone.
const HOLD_PICTURES: [Kind; 3] = [Kind::Folder, Kind::Yolo, Kind::Coco];
/// What a data set says for itself alone.
const OF_ONE: [&str; 4] = ["path", "label_cache", "classes", "rename"];

/// The data sets of a mixture, in their order.
///
/// ```
/// use feedline::options::Options;
///
/// let mut options = Options::default();
/// options.set_text("sets", r#"[{ path = "coco.json", weight = 0.7 }, { name = "own", path = "yolo", weight = 0.3 }]"#)?;
/// let names = options.data.sets.map(|sets| sets.0.iter().map(|set| set.name()).collect::<Vec<_>>());
/// assert_eq!(names, Some(vec!["coco".to_owned(), "own".to_owned()]));
/// # Ok::<(), feedline::error::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(transparent)]
pub struct DataSets(pub Vec<DataSet>);

/// One of several data sets.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct DataSet {
    /// What its keys begin with; the last part of its path, without an ending, where it has none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The chance that a position of a weighted mixture shows it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub weight: Option<f64>,
    /// Which data, and how they are opened. What it leaves open is as the mixture says.
    #[serde(flatten)]
    pub options: DataOptions,
}

impl Value for DataSets {
    fn kind() -> ValueKind {
        ValueKind::DataSets
    }
}

impl DataSet {
    /// What its keys begin with.
    pub fn name(&self) -> String {
        self.name.clone().unwrap_or_else(|| {
            let stem = self.options.path.as_deref().and_then(|path| path.file_stem());
            stem.map_or_else(String::new, |stem| stem.to_string_lossy().replace(':', "_"))
        })
    }

    fn read(number: usize, mut table: Map<String, serde_json::Value>) -> Result<Self, String> {
        let place = format!("data.sets[{number}]");
        let of_one = ["name", "weight"];
        let is_known = |key: &str| of_one.contains(&key) || is_key("data", key);
        if let Some(key) = table.keys().find(|key| OF_ALL.contains(&key.as_str())) {
            return Err(format!("{place}: {key} is for the whole mixture: write it under [data]"));
        }
        if let Some(key) = table.keys().find(|key| !is_known(key)) {
            let known = [&of_one[..], &keys("data")].concat();
            return Err(format!("{place} has no key `{key}`{}", hint(key, &known)));
        }
        let name = table.remove("name").map(|name| match name {
            serde_json::Value::String(name) => Ok(name),
            other => Err(format!("{place}.name is {other}: give a text")),
        });
        let weight = table.remove("weight").map(|weight| match weight.as_f64() {
            Some(weight) => Ok(weight),
            None => Err(format!("{place}.weight is {weight}: give a number above 0")),
        });
        let options = DataOptions::deserialize(serde_json::Value::Object(table))
            .map_err(|error| format!("{place}: {error}"))?;
        if options.path.is_none() {
            return Err(format!("{place} has no path: say where its data are (path)"));
        }
        Ok(Self { name: name.transpose()?, weight: weight.transpose()?, options })
    }
}

impl<'de> Deserialize<'de> for DataSets {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let tables = Vec::<Map<String, serde_json::Value>>::deserialize(deserializer)?;
        let sets = tables.into_iter().enumerate().map(|(number, table)| DataSet::read(number, table));
        sets.collect::<Result<_, _>>().map(Self).map_err(Error::custom)
    }
}

impl DataOptions {
    /// Whether masks are read, of the data or of one of several data sets.
    pub fn has_masks(&self) -> bool {
        let sets = self.sets.iter().flat_map(|sets| &sets.0);
        self.mask_dir.is_some() || sets.into_iter().any(|set| set.options.mask_dir.is_some())
    }

    /// The same data without an order of their own: each sample once, which has a place then.
    pub fn concatenated(mut self) -> Self {
        if let Some(sets) = &mut self.sets {
            sets.0.iter_mut().for_each(|set| set.weight = None);
            self.mix = Some(Mix::Concat);
        }
        (self.stopping_strategy, self.epoch_samples) = (None, None);
        self
    }

    /// Drops from `below` what is said in another way here.
    pub(in crate::options) fn displace(&self, below: &mut Self) {
        if self.path.is_some() {
            for key in OF_ALL {
                below.clear(key);
            }
        }
        if self.sets.is_some() {
            for key in OF_ALL.iter().chain(&["path"]) {
                below.clear(key);
            }
        }
        if self.stopping_strategy.is_some() || self.epoch_samples.is_some() {
            (below.stopping_strategy, below.epoch_samples) = (None, None);
        }
    }

    /// The options of one of several data sets, of the kind `kind`: its own, and for the rest those of this mixture that data
    /// of the kind take, or that say how the URLs are read which it `names`.
    pub(crate) fn of_set(&self, set: &DataSet, (kind, names_url): (Kind, bool)) -> DataOptions {
        let mut below = self.clone();
        for key in OF_ALL.iter().chain(&OF_ONE) {
            below.clear(key);
        }
        let serves = |entry: &Entry| entry.serves(kind) || names_url && entry.is_of_urls();
        for entry in catalogue().iter().filter(|entry| entry.section == "data" && !serves(entry)) {
            below.clear(entry.key);
        }
        below.kind = self.kind;
        if let Some(fields) = below.fields.as_mut().filter(|_| HOLD_PICTURES.contains(&kind)) {
            fields.0.retain(|field| field.kind().is_picture());
        }
        let own = set.options.clone();
        if own.mask_dir.is_none() && below.mask_dir.is_none() && own.allow_missing_masks.is_none() {
            below.allow_missing_masks = None;
        }
        own.or(below)
    }

    /// An option that the mixture says for its data sets and that none of them takes, or that each has to say itself.
    pub(crate) fn unread_by(&self, sets: &[(Kind, bool)]) -> Option<&'static str> {
        let mut said = self.clone();
        let is_own = |key: &str| OF_ONE.contains(&key) && !["classes", "rename"].contains(&key);
        let unread = catalogue().iter().filter(|entry| {
            let serves =
                sets.iter().any(|&(kind, names_url)| entry.serves(kind) || names_url && entry.is_of_urls());
            entry.section == "data" && !OF_ALL.contains(&entry.key) && (!serves || is_own(entry.key))
        });
        unread.map(|entry| entry.key).find(|key| said.clear(key))
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]
mod tests {
    use super::*;
    use crate::options::Bytes;
    use serde_json::json;

    fn refused(value: serde_json::Value) -> String {
        serde_json::from_value::<DataSets>(value).unwrap_err().to_string()
    }

    fn set_of(path: &str) -> DataSet {
        DataSet::read(0, serde_json::from_value(json!({"path": path})).unwrap()).unwrap()
    }

    #[test]
    fn data_sets_are_read_and_written_as_tables() {
        let text = json!([
            {"name": "a", "weight": 0.25, "path": "b/c.json", "on_bad_label": "skip_object"},
            {"path": "b/d:e.tar"},
        ]);
        let sets: DataSets = serde_json::from_value(text.clone()).unwrap();
        assert_eq!(serde_json::to_value(&sets).unwrap(), text);
        assert_eq!([sets.0[0].name(), sets.0[1].name()], ["a", "d_e"]);
    }

    #[test]
    fn what_is_no_data_set_is_refused_with_its_place() {
        let says = refused(json!([{"path": "a"}, {"path": "b", "wieght": 1}]));
        assert!(says.contains("data.sets[1] has no key `wieght`: did you mean `weight`?"), "{says}");
        let says = refused(json!([{"path": "a", "mix": "chain"}]));
        assert!(says.contains("data.sets[0]: mix is for the whole mixture"), "{says}");
        assert!(refused(json!([{"name": "a"}])).contains("data.sets[0] has no path"));
        assert!(
            refused(json!([{"path": "a", "weight": "much"}])).contains("data.sets[0].weight is \"much\"")
        );
        assert!(refused(json!([{"path": "a", "name": 7}])).contains("data.sets[0].name is 7"));
        assert!(refused(json!([{"path": "a", "header": 7}])).contains("data.sets[0]: invalid type"));
    }

    #[test]
    fn a_data_set_takes_over_what_its_kind_takes() {
        let mut options =
            DataOptions { bad_listed: Some(7), max_file_bytes: Some(Bytes(9)), ..Default::default() };
        options.max_field_bytes = Some(Bytes(5));
        let set =
            DataSet::read(0, serde_json::from_value(json!({"path": "a", "bad_listed": 3})).unwrap()).unwrap();
        let yolo = options.of_set(&set, (Kind::Yolo, false));
        assert_eq!(
            (yolo.bad_listed, yolo.max_file_bytes, yolo.max_field_bytes),
            (Some(3), Some(Bytes(9)), None)
        );
        let tar = options.of_set(&DataSet { options: DataOptions::default(), ..set }, (Kind::Tar, false));
        assert_eq!((tar.bad_listed, tar.max_field_bytes), (None, Some(Bytes(5))));
        assert_eq!(options.unread_by(&[(Kind::Tar, false), (Kind::Yolo, false)]), None);
        assert_eq!(options.unread_by(&[(Kind::Tar, false)]), Some("bad_listed"));
        let mixed = DataOptions {
            sets: Some(DataSets(vec![set_of("a")])),
            mix: Some(Mix::Chain),
            ..Default::default()
        };
        let all = |data: DataOptions| crate::options::Options { data, ..Default::default() };
        let above = DataOptions { path: Some("b".into()), ..Default::default() };
        assert_eq!(all(above.clone()).over(all(mixed.clone())), all(above.clone()));
        assert_eq!(all(mixed.clone()).over(all(above)), all(mixed));
        options.label_cache = Some("x".into());
        assert_eq!(options.unread_by(&[(Kind::Tar, false), (Kind::Yolo, false)]), Some("label_cache"));
    }
}
