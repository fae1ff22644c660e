//! The samples of archives in a store: from tables, or from the headers of the archives.

use super::client::{Object, Wanted as WantedObject};
use super::contents::Contents;
use super::layout::{Layout, Listed};
use super::ranged::{Ranged, WINDOW_BYTES};
use super::records::Records;
use super::request_error::Kind;
use super::store::Version;
use super::{below, folder_of};
use crate::error::{Error, Result, bail, ensure};
use crate::source::packed::holds::{Described, MANIFEST};
use crate::source::paths::short_names;
use crate::source::shards::samples::Samples;
use crate::source::shards::scan::{Found, WantedMembers, scan_in};
use crate::source::shards::table;
use object_store::path::Path;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::io::Cursor;
use std::path::PathBuf;

/// The samples of one archive and the endings that were met, as the cache keeps them.
#[derive(Serialize, Deserialize)]
struct Walked {
    samples: Vec<Found>,
    met: BTreeSet<String>,
}

impl Layout<'_> {
    /// The samples of archives. Tables and manifest are looked for where a listing found them, or without one wherever they
    /// may be.
    pub(super) fn archives(
        &mut self,
        shards: Vec<Object>,
        listed: Option<&Listed>,
    ) -> Result<(Records, Contents)> {
        let described = self.described(&shards, listed)?;
        let asked = self.how.fields.clone().or_else(|| self.how.shards.fields.clone());
        let (mut samples, mut wanted) = Samples::of(&described, asked)?;
        let mut records = Records::default();
        let mut found = match wanted.is_empty() {
            true => self.known(&shards, listed.map(|listed| &listed.tables)),
            false => shards.iter().map(|_| None).collect(),
        };
        let mut walked = 0;
        let paths: Vec<PathBuf> = shards.iter().map(|shard| PathBuf::from(shard.path.as_ref())).collect();
        for ((archive, name), known) in shards.into_iter().zip(short_names(&paths)).zip(&mut found) {
            let images = match known.take() {
                Some(images) => images,
                None => {
                    walked += 1;
                    self.walk(&archive, &mut wanted)?
                }
            };
            for found in images {
                match samples.push(found) {
                    Ok((path, part)) => records.push_part(&name, &path, part),
                    Err(what) => bail!("{}/{what}", self.store.shown(&archive.path)),
                }
            }
            records.end_archive(archive);
        }
        self.tell_walked(walked, wanted.is_empty());
        ensure!(
            records.len() != 0,
            "{} was opened, and no image is in its archives: name archives that hold images (.jpg, .png, .webp, .ppm, .fjc)",
            self.store.shown(&self.store.client.address.path)
        );
        samples.finish(described, &wanted)?;
        Ok((records, Contents::Archives(samples)))
    }

    fn tell_walked(&mut self, walked: usize, nothing_wanted: bool) {
        if walked == 0 {
            return;
        }
        let size = WINDOW_BYTES >> 10;
        self.notes.push(match nothing_wanted {
            true => format!(
                "{walked} archives have no table beside them, and their headers were read, {size} kB at a time: \
                 `feedline index --tables` writes tables, to be put next to the archives"
            ),
            false => format!(
                "the headers of {walked} archives were looked through, {size} kB at a time, since tables say nothing of \
                 fields, objects and masks; a cache on disk (cache_dir) keeps what was found"
            ),
        });
    }

    /// What a manifest says of the archives: one in the folder that was listed, or else one in their own folder that names
    /// them.
    fn described(&self, shards: &[Object], listed: Option<&Listed>) -> Result<Described> {
        let base = match listed {
            Some(Listed { has_manifest: false, .. }) => return Ok(Described::default()),
            Some(Listed { prefix, .. }) => below(prefix),
            None => shards.first().map(|shard| folder_of(&shard.path)).unwrap_or_default(),
        };
        let Ok(path) = Path::parse(format!("{base}{MANIFEST}")) else { return Ok(Described::default()) };
        let said = match listed {
            Some(_) => Some(self.store.get(&path)?),
            None => self.store.get_if_there(&path)?,
        };
        let Some(said) = said else { return Ok(Described::default()) };
        let shown = self.store.shown(&path);
        let parsed = Described::parse(Cursor::new(said), &shown);
        let parsed = parsed.map_err(|error| Error::io(&shown, error, "make it readable, or remove it"))?;
        let Some(described) = parsed? else { return Ok(Described::default()) };
        let name = |shard: &Object| match folder_of(&shard.path) == base {
            true => shard.path.filename().map(str::to_owned),
            false => None,
        };
        Ok(match listed.is_some() || described.names(shards.iter().map(name)) {
            true => described.with(shards.len()),
            false => Described::default(),
        })
    }

    /// The tables of the archives that have one, in the cache or beside them.
    fn known(&mut self, shards: &[Object], tables: Option<&BTreeSet<String>>) -> Vec<Option<Vec<Found>>> {
        let mut bytes = Vec::new();
        let mut cached = |archive: &Object| {
            let here = self.store.cache.as_ref()?.read(&self.table_key(archive), &mut bytes);
            here.then(|| table::read(&bytes, archive.size).ok()).flatten()
        };
        let mut found: Vec<Option<Vec<Found>>> = shards.iter().map(&mut cached).collect();
        let beside = |archive: &Object| Path::parse(format!("{}{}", archive.path, table::ENDING)).ok();
        let wanted: Vec<(usize, Path)> = (0..shards.len())
            .filter(|&number| found[number].is_none())
            .filter_map(|number| Some((number, beside(&shards[number])?)))
            .filter(|(_, path)| tables.is_none_or(|tables| tables.contains(path.as_ref())))
            .collect();
        let with_most = |(number, path): &(usize, Path)| WantedObject {
            path: path.clone(),
            most_bytes: table::most_bytes(shards[*number].size),
            version: None,
        };
        let paths: Vec<WantedObject> = wanted.iter().map(with_most).collect();
        for ((number, path), answer) in wanted.iter().zip(self.store.client.get_many(&paths)) {
            let archive = &shards[*number];
            let why = match answer {
                Ok(text) => match table::read(&text, archive.size) {
                    Ok(images) => {
                        if let Some(cache) = &self.store.cache {
                            cache.write(&self.table_key(archive), &text);
                        }
                        found[*number] = Some(images);
                        continue;
                    }
                    Err(why) => why,
                },
                // Stores that may not be listed answer "forbidden" for objects that do not exist.
                Err(error) if tables.is_none() && matches!(error.kind, Kind::Missing | Kind::Denied) => {
                    continue;
                }
                Err(error) => error.to_string(),
            };
            self.notes.push(format!("{} was not used: {why}", self.store.shown(path)));
        }
        found
    }

    /// Reads all headers of an archive, unless the cache keeps what was found there.
    fn walk(&self, archive: &Object, wanted: &mut WantedMembers) -> Result<Vec<Found>> {
        let key = self.members_key(archive, wanted);
        if let Some(walked) = self.kept(&key, archive, wanted) {
            wanted.met.extend(walked.met);
            return Ok(walked.samples);
        }
        let shown = self.store.shown(&archive.path);
        let (mut samples, is_plain) = (Vec::new(), wanted.is_empty());
        let file = Ranged::new(self.store, archive);
        scan_in(std::path::Path::new(&shown), file, archive.size, wanted, &mut |found| samples.push(found))?;
        let Some(cache) = &self.store.cache else { return Ok(samples) };
        if is_plain {
            cache.write(&self.table_key(archive), table::write(archive.size, &samples).as_bytes());
            return Ok(samples);
        }
        let walked = Walked { samples, met: wanted.met.clone() };
        if let Ok(text) = serde_json::to_vec(&walked) {
            cache.write(&key, &text);
        }
        Ok(walked.samples)
    }

    /// What the cache keeps of an archive's samples with what is wanted beside them.
    fn kept(&self, key: &str, archive: &Object, wanted: &WantedMembers) -> Option<Walked> {
        let (cache, mut bytes) = (self.store.cache.as_ref()?, Vec::new());
        if wanted.is_empty() || !cache.read(key, &mut bytes) {
            return None;
        }
        let walked: Walked = serde_json::from_slice(&bytes).ok()?;
        let is_inside =
            |offset: u64, bytes: u64| offset.checked_add(bytes).is_some_and(|end| end <= archive.size);
        let is_sound = |found: &Found| {
            let members = found.members.iter().flatten();
            is_inside(found.offset, found.bytes)
                && found.members.len() == wanted.endings.len()
                && members.into_iter().all(|[offset, bytes]| is_inside(*offset, *bytes))
        };
        walked.samples.iter().all(is_sound).then_some(walked)
    }

    fn table_key(&self, archive: &Object) -> String {
        format!("table of {}", self.store.key(&archive.path, Version::Own(archive.version), None))
    }

    fn members_key(&self, archive: &Object, wanted: &WantedMembers) -> String {
        let key = self.store.key(&archive.path, Version::Own(archive.version), None);
        format!("members of {key}\n{:?} {:?}", wanted.endings, wanted.read)
    }
}
