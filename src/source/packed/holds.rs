//! What a folder's `manifest.json` says of the shards in it.

use crate::error::{Error, Result, ensure};
use crate::field::{Field, FieldType};
use crate::label::Skeleton;
use crate::regular_file;
use serde::{Deserialize, Serialize};
use std::collections::HashSet;
use std::io::{self, BufReader};
use std::path::{Path, PathBuf};

/// The name of the manifest in a folder that `feedline pack` wrote, and the format that it names.
pub(crate) const MANIFEST: &str = "manifest.json";
pub(crate) const MANIFEST_KIND: &str = "feedline shards";
/// The latest version of a manifest. Version 1 says nothing of what shards hold beside images and classes.
pub(crate) const MANIFEST_VERSION: u32 = 2;

/// What shards hold beside images and classes, and where: under which endings in tar files, or in which features of TFRecord
/// files. Whoever opens them reads it all, without an option.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Holds {
    /// Whether all records that have classes have a list of them.
    #[serde(skip_serializing_if = "is_false")]
    pub class_lists: bool,
    /// Where the JSON lies that lists a record's objects; `None` where there are none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub objects: Option<String>,
    /// The keypoints that the objects have.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub skeleton: Option<Skeleton>,
    /// Where semantic masks lie; `None` where there are none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub masks: Option<String>,
    /// The fields of each record.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub fields: Vec<HeldField>,
}

fn is_false(value: &bool) -> bool {
    !value
}

/// A field that shards hold.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HeldField {
    /// What it is called.
    pub name: String,
    /// What its values are.
    #[serde(rename = "type")]
    pub kind: FieldType,
    /// Where it lies.
    pub from: String,
    /// How many numbers each of its lists has, where all have as many.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub length: Option<usize>,
}

/// The part of a manifest that is of use for reading.
#[derive(Debug, Default, Deserialize)]
pub(in crate::source) struct Described {
    kind: String,
    #[serde(default)]
    version: u32,
    pub(in crate::source) classes: Vec<String>,
    #[serde(default)]
    pub(in crate::source) holds: Holds,
    #[serde(default)]
    shards: Vec<Named>,
}

/// A shard in a manifest.
#[derive(Debug, Deserialize)]
struct Named {
    name: String,
}

impl Described {
    /// What is said of `files` by a manifest in the folder `place`, or else in their own, which then has to name them;
    /// nothing where there is none.
    ///
    /// # Errors
    /// A manifest that cannot be read, or of a later version.
    pub(in crate::source) fn of(place: Option<&Path>, files: &[PathBuf]) -> Result<Self> {
        if let Some(described) = place.map(Self::read).transpose()?.flatten() {
            return Ok(described);
        }
        let Some(folder) = files.first().and_then(|file| file.parent()) else { return Ok(Self::default()) };
        let Some(described) = Self::read(folder)? else { return Ok(Self::default()) };
        let name = |file: &'_ PathBuf| match file.parent() == Some(folder) {
            true => file.file_name().and_then(|name| name.to_str()).map(str::to_owned),
            false => None,
        };
        Ok(if described.names(files.iter().map(name)) { described } else { Self::default() })
    }

    /// Whether it names all of these shards; nothing stands for one that lies elsewhere.
    pub(in crate::source) fn names(&self, shards: impl IntoIterator<Item = Option<String>>) -> bool {
        let named: HashSet<&str> = self.shards.iter().map(|shard| shard.name.as_str()).collect();
        shards.into_iter().all(|name| name.is_some_and(|name| named.contains(name.as_str())))
    }

    /// The manifest in `folder`, if there is one of ours.
    fn read(folder: &Path) -> Result<Option<Self>> {
        let path = folder.join(MANIFEST);
        let unreadable = |error| Error::io(&path, error, "make it readable, or remove it");
        let file = match regular_file::open(&path) {
            Ok(file) => BufReader::new(file),
            // `folder` may be a file or a pattern.
            Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
                return Ok(None);
            }
            Err(error) => return Err(unreadable(error)),
        };
        match serde_json::from_reader::<_, Self>(file) {
            Err(error) if error.is_io() => Err(unreadable(error.into())),
            said => Self::ours(said.ok(), || path.display().to_string()),
        }
    }

    /// What the manifest called `shown` says, if it is one of ours.
    ///
    /// # Errors
    /// One of a later version.
    #[cfg(feature = "remote")]
    pub(in crate::source) fn parse(manifest: &[u8], shown: impl FnOnce() -> String) -> Result<Option<Self>> {
        Self::ours(serde_json::from_slice(manifest).ok(), shown)
    }

    /// Somebody else's manifest is nothing to us.
    fn ours(said: Option<Self>, shown: impl FnOnce() -> String) -> Result<Option<Self>> {
        let Some(described) = said.filter(|said| said.kind == MANIFEST_KIND) else { return Ok(None) };
        let version = described.version;
        ensure!(
            version <= MANIFEST_VERSION,
            "{}: it has version {version}, and {MANIFEST_VERSION} is known: read the shards with a newer feedline",
            shown()
        );
        Ok(Some(described))
    }

    /// Completes the names of classes that records give beside their indices, unless those are other classes.
    #[cfg(feature = "tfrecord")]
    pub(in crate::source) fn name(self, names: &mut Vec<String>) {
        let agree = |(own, name): (&String, &String)| own.is_empty() || own == name;
        if names.len() <= self.classes.len() && names.iter().zip(&self.classes).all(agree) {
            *names = self.classes;
        }
    }

    /// The fields that are read: those that are `asked` for, or else all that are held. One that is asked for by the name of
    /// one that is held comes from where that lies, unless it says otherwise.
    pub(in crate::source) fn fields(&self, asked: Option<Vec<Field>>) -> Vec<Field> {
        let held = &self.holds.fields;
        let Some(asked) = asked else {
            return held
                .iter()
                .map(|HeldField { name, kind, from, length }| {
                    let field = Field::new(name, *kind);
                    let field = if from == name { field } else { field.from(from) };
                    length.map_or(field.clone(), |length| field.length(length))
                })
                .collect();
        };
        let placed = |field: Field| {
            let known =
                held.iter().find(|held| held.name == field.name() && field.stored_as() == field.name());
            match known {
                Some(held) if held.from != held.name => field.from(&held.from),
                _ => field,
            }
        };
        asked.into_iter().map(placed).collect()
    }
}
