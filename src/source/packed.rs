//! What packed records hold beside images and classes: labelled objects, semantic masks and fields.

pub(crate) mod holds;
pub(crate) mod objects;

use super::classes::Classes;
use super::labels::report::LabelReport;
use super::labels::table::Table;
use super::{out_of_range, too_large};
use crate::error::{Cause, Error, Result, bail};
use crate::label::{Label, Skeleton, Unit};
use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

/// Records that are parts of files, on a disk or in a store.
pub(super) trait Parts {
    fn len(&self) -> usize;

    fn key(&self, index: usize) -> Cow<'_, str>;

    /// Larger images and masks are refused.
    fn max_file_bytes(&self) -> u64;

    /// Replaces the content of `bytes` by a range of the file that record `index` lies in, which must exist: by so many
    /// bytes from an offset.
    fn read_beside(&self, index: usize, range: [u64; 2], bytes: &mut Vec<u8>) -> Result<(), Cause>;

    /// Where record `index`, which must exist, ends in its file, and where the file does.
    fn after(&self, index: usize) -> Result<Range<u64>, Cause>;
}

/// Objects and masks of records that lie in shards.
#[derive(Clone, Debug, Default)]
pub(super) struct Held {
    objects: Option<ObjectLabels>,
    /// Offset and length of the mask of each record.
    masks: Option<Vec<Option<[u64; 2]>>>,
}

/// The objects of all records. A record of which nothing is said has no unit.
#[derive(Clone, Debug)]
struct ObjectLabels {
    table: Table,
    units: Vec<Option<Unit>>,
    /// Whether any record has the JSON of objects, whatever it says.
    any: bool,
}

impl Held {
    /// Nothing yet; of what shards of this description hold.
    pub(super) fn of(described: &holds::Described) -> Self {
        let holds = &described.holds;
        let table = || Table::new(Unit::Pixels, holds.skeleton.clone().map(Arc::new));
        let objects =
            holds.objects.is_some().then(|| ObjectLabels { table: table(), units: Vec::new(), any: false });
        Self { objects, masks: holds.masks.is_some().then(Vec::new) }
    }

    /// Adds a record: the JSON that says its objects, and where its mask lies.
    ///
    /// # Errors
    /// What is wrong with the JSON, and the remedy.
    pub(super) fn push(&mut self, json: Option<&[u8]>, mask: Option<[u64; 2]>) -> Result<(), String> {
        if let Some(ObjectLabels { table, units, any }) = &mut self.objects {
            *any |= json.is_some();
            let said = json.map(|json| objects::read(json, table.skeleton.as_deref())).transpose()?.flatten();
            let (unit, list) = said.map_or((None, Vec::new()), |(unit, list)| (Some(unit), list));
            table.push_all(&list).map_err(|error| error.to_string())?;
            units.push(unit);
        }
        if let Some(masks) = &mut self.masks {
            masks.push(mask);
        }
        Ok(())
    }

    /// Ends the records of a data set that has any. A `holder` is what holds objects and masks: a member, a feature.
    ///
    /// # Errors
    /// A place of objects or masks at which no record has anything, in shards that are described whole.
    pub(super) fn finish(&mut self, described: &holds::Described, holder: &str) -> Result<()> {
        let holds::Holds { objects, masks, .. } = &described.holds;
        let has_objects = self.objects.as_ref().is_some_and(|objects| objects.any);
        let has_masks = self.masks.iter().flatten().any(Option::is_some);
        for (place, found, what) in [(objects, has_objects, "objects"), (masks, has_masks, "masks")] {
            if let (Some(place), false, false) = (place, found, described.is_partly_of_others) {
                bail!(
                    "the manifest ({}) says that {what} are in the {holder} `{place}`, and no image has one: mend what it says \
                     ({what} in holds), or leave it out",
                    holds::MANIFEST
                );
            }
        }
        self.shrink();
        Ok(())
    }

    fn shrink(&mut self) {
        if let Some(objects) = &mut self.objects {
            objects.table.shrink();
            objects.units.shrink_to_fit();
        }
        if let Some(masks) = &mut self.masks {
            masks.shrink_to_fit();
        }
    }

    /// The objects of a record, or else its class.
    pub(super) fn label(&self, index: usize, classes: &Classes) -> Label {
        let of_objects = self.objects.as_ref().and_then(|objects| {
            let unit = objects.units.get(index).copied().flatten()?;
            Some(Label::Objects(Arc::new(crate::label::Objects { unit, ..objects.table.image(index) })))
        });
        of_objects.unwrap_or_else(|| classes.label(index))
    }

    pub(super) fn has_masks(&self) -> bool {
        self.masks.is_some()
    }

    /// Replaces the content of `bytes` by a record's mask, which lies in its file; false where it has none.
    pub(super) fn mask(&self, parts: &impl Parts, index: usize, bytes: &mut Vec<u8>) -> Result<bool> {
        bytes.clear();
        if index >= parts.len() {
            return Err(out_of_range(index, parts.len()));
        }
        let place = self.masks.as_ref().and_then(|masks| masks.get(index).copied().flatten());
        let Some(place) = place else { return Ok(false) };
        let read = match place[1] > parts.max_file_bytes() {
            true => Err(too_large("the mask", place[1], parts.max_file_bytes())),
            false => parts.read_beside(index, place, bytes),
        };
        read.map(|()| true).map_err(|cause| {
            bytes.clear();
            Error::sample(parts.key(index), index as u64, cause)
        })
    }

    /// What the keypoints of the objects are; `None` where objects have none.
    pub(super) fn skeleton(&self) -> Option<&Skeleton> {
        self.objects.as_ref()?.table.skeleton.as_deref()
    }

    /// How many images and objects there are; `None` where no objects are held.
    pub(super) fn report(&self) -> Option<LabelReport> {
        let ObjectLabels { table, units, .. } = self.objects.as_ref()?;
        let unlabelled = units.iter().filter(|unit| unit.is_none()).count() as u64;
        Some(LabelReport {
            images: table.len() as u64,
            backgrounds: table.backgrounds() - unlabelled,
            objects: table.objects(),
            ..LabelReport::default()
        })
    }
}
