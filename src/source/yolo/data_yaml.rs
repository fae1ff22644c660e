//! The data.yaml of a YOLO data set: where its images are, and what is labelled in them.

use super::line::Shape;
use crate::error::{Error, Result};
use crate::label::{MAX_KEYPOINTS, Skeleton};
use crate::source::tree::Tree;
use serde::Deserialize;
use serde::de::value::SeqAccessDeserializer;
use serde::de::{Deserializer, MapAccess, SeqAccess, Visitor};
use std::fmt;
use std::path::{Path, PathBuf};

/// Maximal size of a data.yaml; the names of 20,000 classes take less than one.
const MAX_BYTES: u64 = 16 << 20;

/// The keys that are read; others have nothing to do with images or labels.
#[derive(Debug, Default, Deserialize)]
struct DataYaml {
    path: Option<String>,
    train: Option<Entries>,
    #[serde(alias = "validation")]
    val: Option<Entries>,
    test: Option<Entries>,
    names: Option<Names>,
    nc: Option<u32>,
    kpt_shape: Option<Vec<usize>>,
    flip_idx: Option<Vec<usize>>,
}

/// A data set before its images are looked for.
#[derive(Debug, Default)]
pub(super) struct DataSet {
    /// What keys are relative to.
    pub(super) root: PathBuf,
    /// Folders of images, or lists of them.
    pub(super) entries: Vec<PathBuf>,
    pub(super) classes: Vec<String>,
    pub(super) shape: Shape,
    pub(super) skeleton: Option<Skeleton>,
}

/// Reads a data.yaml. `root` replaces its `path`.
pub(super) fn read(tree: &dyn Tree, file: &Path, split: &str, root: Option<&Path>) -> Result<DataSet> {
    let remedy = "name a data.yaml that can be read";
    let refuse = |what: String| Error::config(format!("{}: {what}", tree.shown(file)));
    let bytes = tree.read(file, MAX_BYTES, remedy)?;
    if bytes.len() as u64 > MAX_BYTES {
        return Err(refuse(format!("more than {MAX_BYTES} bytes are no data.yaml: {remedy}")));
    }
    let text = std::str::from_utf8(&bytes).map_err(|_| refuse(format!("it is not UTF-8 text: {remedy}")))?;
    let yaml: DataYaml = serde_saphyr::from_str(text.trim_start_matches('\u{FEFF}')).map_err(|error| {
        // The first line has position and cause; an excerpt of the text follows.
        let error = error.to_string();
        let line = error.lines().next().unwrap_or_default().trim_start_matches("error: ");
        refuse(format!("{line}; mend the YAML"))
    })?;
    let (classes, count) = classes(yaml.names, yaml.nc).map_err(refuse)?;
    let keypoints = keypoints(yaml.kpt_shape.as_deref()).map_err(refuse)?;
    let skeleton = match keypoints {
        Some((count, _)) => Some(skeleton(count, yaml.flip_idx.unwrap_or_default()).map_err(refuse)?),
        None => None,
    };
    let own = file.parent().unwrap_or(Path::new(""));
    let root = root.map_or_else(|| own.join(yaml.path.unwrap_or_default()), Path::to_owned);
    let splits = [("train", yaml.train), ("val", yaml.val), ("test", yaml.test)];
    let there: Vec<&str> =
        splits.iter().filter(|(_, entries)| entries.is_some()).map(|(name, _)| *name).collect();
    let there = there.join(", ");
    let Some((_, Some(Entries(entries)))) = splits.into_iter().find(|(name, _)| *name == split) else {
        return Err(refuse(format!("there is no split `{split}` (there are: {there}): name another split")));
    };
    let mut places = Vec::with_capacity(entries.len());
    for entry in &entries {
        places.push(place(tree, &root, entry)?.map_err(refuse)?);
    }
    let entries = places;
    Ok(DataSet { root, entries, classes, shape: Shape { classes: count, keypoints }, skeleton })
}

/// The path of an entry, or what is wrong with it. Exports often have `../train/images` for a folder beside the data.yaml.
fn place(tree: &dyn Tree, root: &Path, entry: &str) -> Result<Result<PathBuf, String>> {
    let places = [Some(root.join(entry)), entry.strip_prefix("../").map(|inner| root.join(inner))];
    let places: Vec<PathBuf> = places.into_iter().flatten().collect();
    for place in &places {
        if tree.look(place)?.is_some() {
            return Ok(Ok(place.clone()));
        }
    }
    let tried: Vec<String> = places.iter().map(|place| tree.shown(place)).collect();
    Ok(Err(format!(
        "`{entry}` is not at {}: correct `path` (relative to this file) or give the folder of the data set (root)",
        tried.join(", nor at ")
    )))
}

/// The names of the classes, and their number where it is given.
fn classes(names: Option<Names>, nc: Option<u32>) -> Result<(Vec<String>, Option<u32>), String> {
    let Some(names) = names else { return Ok((Vec::new(), nc)) };
    let names = match names {
        Names::List(names) => names,
        Names::Map(mut pairs) => {
            pairs.sort_by_key(|(index, _)| *index);
            if let Some((expected, (found, _))) =
                (0u64..).zip(&pairs).find(|(expected, (found, _))| expected != found)
            {
                return Err(format!(
                    "`names` has the class {found} where {expected} must be: count from 0, each once"
                ));
            }
            pairs.into_iter().map(|(_, name)| name).collect()
        }
    };
    match nc {
        Some(nc) if nc as usize != names.len() => {
            Err(format!("nc = {nc}, but `names` has {} names: drop nc, or complete the names", names.len()))
        }
        _ => Ok((names.clone(), Some(names.len() as u32))),
    }
}

fn keypoints(shape: Option<&[usize]>) -> Result<Option<(usize, usize)>, String> {
    match shape {
        None => Ok(None),
        Some(&[count @ 1..=MAX_KEYPOINTS, numbers @ 2..=3]) => Ok(Some((count, numbers))),
        Some(other) => Err(format!(
            "kpt_shape = {other:?}: it must be the number of keypoints and 2 (x, y) or 3 (with visibility)"
        )),
    }
}

fn skeleton(count: usize, flip: Vec<usize>) -> Result<Skeleton, String> {
    let skeleton = Skeleton { count, flip };
    if !skeleton.is_sound() {
        return Err(format!(
            "flip_idx must have {count} entries that lead back to each other: where entry a is b, entry b is a"
        ));
    }
    Ok(skeleton)
}

/// One path, or several.
#[derive(Debug)]
struct Entries(Vec<String>);

impl<'de> Deserialize<'de> for Entries {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct OneOrMore;
        impl<'de> Visitor<'de> for OneOrMore {
            type Value = Entries;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a path or a list of paths")
            }
            fn visit_str<E>(self, path: &str) -> Result<Entries, E> {
                Ok(Entries(vec![path.to_owned()]))
            }
            fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<Entries, A::Error> {
                Deserialize::deserialize(SeqAccessDeserializer::new(list)).map(Entries)
            }
        }
        deserializer.deserialize_any(OneOrMore)
    }
}

/// The names of the classes in order, or by index.
#[derive(Debug)]
enum Names {
    List(Vec<String>),
    Map(Vec<(u64, String)>),
}

impl<'de> Deserialize<'de> for Names {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct ListOrMap;
        impl<'de> Visitor<'de> for ListOrMap {
            type Value = Names;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a list of class names, or a map from class indices to names")
            }
            fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<Names, A::Error> {
                Deserialize::deserialize(SeqAccessDeserializer::new(list)).map(Names::List)
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Names, A::Error> {
                let mut names = Vec::new();
                while let Some(pair) = map.next_entry()? {
                    names.push(pair);
                }
                Ok(Names::Map(names))
            }
        }
        deserializer.deserialize_any(ListOrMap)
    }
}
