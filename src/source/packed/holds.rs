//! What a folder's `manifest.json` says of the shards in it.

use crate::error::{Error, Result};
use crate::field::{Field, FieldType};
use crate::label::{MAX_KEYPOINTS, Skeleton};
use crate::regular_file;
use serde::{Deserialize, Serialize};
use std::collections::HashSet;
use std::io::{self, BufReader, Read, Seek};
use std::path::{Path, PathBuf};

/// The name of the manifest in a folder that `feedline pack` wrote, and the format that it names.
pub(crate) const MANIFEST: &str = "manifest.json";
pub(crate) const MANIFEST_KIND: &str = "feedline shards";
/// The latest version of a manifest. Version 1 says nothing of what shards hold beside images and classes.
pub(crate) const MANIFEST_VERSION: u32 = 2;

/// The endings of members of tar files that say classes.
pub(crate) const CLASS_ENDINGS: [&str; 2] = ["cls", "classes.json"];

/// What shards hold beside images and classes, and where: under which endings in tar files, or in which features of TFRecord
/// files. Whoever opens them reads it all, without an option.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
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
#[serde(deny_unknown_fields)]
pub struct HeldField {
    /// What it is called.
    pub name: String,
    /// What its values are.
    #[serde(rename = "type")]
    pub kind: FieldType,
    /// Where it lies.
    pub from: String,
    /// Where it lay in the data that were packed, if that is not its name; of a folder its own name. Manifests that were written
    /// before there was this do not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// How many numbers each of its lists has, where all have as many.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub length: Option<usize>,
}

/// The part of a manifest that is of use for reading.
#[derive(Debug, Default, Deserialize)]
pub(in crate::source) struct Described {
    pub(in crate::source) classes: Vec<String>,
    #[serde(default)]
    pub(in crate::source) holds: Holds,
    /// None where somebody else wrote the manifest, who need not name them.
    #[serde(default)]
    shards: Vec<Named>,
    /// Whether it says something of shards that are not opened, so that what it names need not be in those that are.
    #[serde(skip)]
    pub(in crate::source) is_partly_of_others: bool,
}

/// A shard in a manifest.
#[derive(Debug, Deserialize)]
struct Named {
    name: String,
}

/// What a file says that it is.
#[derive(Debug, Deserialize)]
struct Head {
    kind: String,
    #[serde(default)]
    version: u32,
}

/// So much of a file that is no JSON is looked through for the name of the format.
const LOOKED_THROUGH: u64 = 64 << 10;

impl Holds {
    /// Whether shards of which this is said hold what `now` says.
    #[cfg(feature = "pack")]
    pub(crate) fn are(&self, now: &Self) -> bool {
        let mut own = self.clone();
        for (own, now) in own.fields.iter_mut().zip(&now.fields) {
            own.source = own.source.take().or_else(|| now.source.clone());
        }
        own == *now
    }
}

impl Described {
    /// What is said of `files` by a manifest in the folder `place`, or else in their own, which then has to name them if it names
    /// any; nothing where there is none.
    ///
    /// # Errors
    /// A manifest that cannot be read or understood, or of a later version.
    pub(in crate::source) fn of(place: Option<&Path>, files: &[PathBuf]) -> Result<Self> {
        if let Some(described) = place.map(Self::read).transpose()?.flatten() {
            return Ok(described.with(files.len()));
        }
        let Some(folder) = files.first().and_then(|file| file.parent()) else { return Ok(Self::default()) };
        let Some(described) = Self::read(folder)? else { return Ok(Self::default()) };
        let name = |file: &'_ PathBuf| match file.parent() == Some(folder) {
            true => file.file_name().and_then(|name| name.to_str()).map(str::to_owned),
            false => None,
        };
        Ok(match described.names(files.iter().map(name)) {
            true => described.with(files.len()),
            false => Self::default(),
        })
    }

    /// The same where so many shards are opened.
    pub(in crate::source) fn with(self, shards: usize) -> Self {
        Self { is_partly_of_others: self.shards.len() > shards, ..self }
    }

    /// Whether it names all of these shards, or is of all that lie beside it; nothing stands for one that lies elsewhere.
    pub(in crate::source) fn names(&self, shards: impl IntoIterator<Item = Option<String>>) -> bool {
        let named: HashSet<&str> = self.shards.iter().map(|shard| shard.name.as_str()).collect();
        let is_named = |name: String| named.is_empty() || named.contains(name.as_str());
        shards.into_iter().all(|name| name.is_some_and(is_named))
    }

    /// The manifest in `folder`, if there is one of ours.
    fn read(folder: &Path) -> Result<Option<Self>> {
        let path = folder.join(MANIFEST);
        let unreadable = |error| Error::io(&path, error, "make it readable, or remove it");
        match regular_file::open(&path) {
            Ok(file) => Self::parse(file, &path.display().to_string()).map_err(unreadable)?,
            // `folder` may be a file or a pattern.
            Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
                Ok(None)
            }
            Err(error) => Err(unreadable(error)),
        }
    }

    /// What the manifest called `shown` says, if it is one of ours: somebody else's is nothing to us.
    ///
    /// # Errors
    /// One that cannot be read, and within, one of ours that cannot be understood or has a later version.
    pub(in crate::source) fn parse(
        mut manifest: impl Read + Seek,
        shown: &str,
    ) -> io::Result<Result<Option<Self>>> {
        let refused = |why: String| {
            Err(Error::config(format!("{shown}: {why}: mend it, or remove it if the shards need none")))
        };
        let not_json = |error: serde_json::Error| {
            refused(format!("it is a manifest of {MANIFEST_KIND} that cannot be understood ({error})"))
        };
        match serde_json::from_reader::<_, Head>(BufReader::new(&mut manifest)) {
            Ok(Head { kind, .. }) if kind != MANIFEST_KIND => return Ok(Ok(None)),
            Ok(Head { version, .. }) if version > MANIFEST_VERSION => {
                return Ok(Err(Error::config(format!(
                    "{shown}: it has version {version}, and {MANIFEST_VERSION} is known: read the shards with a newer feedline"
                ))));
            }
            Ok(_) => {}
            Err(error) if error.is_io() => return Err(error.into()),
            Err(error) => {
                let mut begin = Vec::new();
                manifest.rewind()?;
                manifest.take(LOOKED_THROUGH).read_to_end(&mut begin)?;
                let kind = MANIFEST_KIND.as_bytes();
                let is_ours = begin.windows(kind.len()).any(|part| part == kind);
                return Ok(if is_ours { not_json(error) } else { Ok(None) });
            }
        }
        manifest.rewind()?;
        let described = match serde_json::from_reader::<_, Self>(BufReader::new(manifest)) {
            Ok(described) => described,
            Err(error) if error.is_io() => return Err(error.into()),
            Err(error) => return Ok(not_json(error)),
        };
        Ok(match &described.holds.skeleton {
            Some(skeleton) if !skeleton.is_sound() => refused(format!(
                "its skeleton must have 1 to {MAX_KEYPOINTS} keypoints (count), and as many indices that lead back to each other \
                 (flip), or none"
            )),
            _ => Ok(Some(described)),
        })
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
                .map(|HeldField { name, kind, from, length, .. }| {
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
