//! What is known of the records of a remote data set beside where they lie: what each kind of data set says of its own.

use super::Remote;
use crate::error::Result;
use crate::field::{Field, FieldValue};
use crate::label::{Label, Skeleton};
use crate::source::classes::Classes;
use crate::source::coco::CocoLabels;
use crate::source::labels::report::LabelReport;
use crate::source::list::values::RowValues;
use crate::source::shards::provenance;
use crate::source::shards::samples::Samples;
use crate::source::yolo::YoloLabels;

/// Labels, fields and masks, as the local sources of the same kinds hold them.
#[derive(Debug)]
pub(super) enum Contents {
    Folder(Classes),
    List(RowValues),
    Archives(Samples),
    Yolo(YoloLabels),
    Coco(CocoLabels),
}

impl Contents {
    pub(super) fn label(&self, index: usize) -> Label {
        match self {
            Self::Folder(classes) => classes.label(index),
            Self::List(rows) => rows.classes.label(index),
            Self::Archives(samples) => samples.label(index),
            Self::Yolo(labels) => labels.table.label(index),
            Self::Coco(labels) => labels.table.label(index),
        }
    }

    pub(super) fn classes(&self) -> &[String] {
        match self {
            Self::Folder(classes) => classes.classes(),
            Self::List(rows) => rows.classes.classes(),
            Self::Archives(samples) => samples.classes.classes(),
            Self::Yolo(labels) => &labels.classes,
            Self::Coco(labels) => labels.classes(),
        }
    }

    pub(super) fn report(&self) -> Option<LabelReport> {
        match self {
            Self::Folder(_) | Self::List(_) => None,
            Self::Archives(samples) => samples.held.report(),
            Self::Yolo(labels) => Some(labels.report.clone()),
            Self::Coco(labels) => Some(labels.report().clone()),
        }
    }

    pub(super) fn skeleton(&self) -> Option<&Skeleton> {
        match self {
            Self::Folder(_) | Self::List(_) => None,
            Self::Archives(samples) => samples.held.skeleton(),
            Self::Yolo(labels) => labels.table.skeleton.as_deref(),
            Self::Coco(labels) => labels.table.skeleton.as_deref(),
        }
    }

    pub(super) fn has_masks(&self) -> bool {
        matches!(self, Self::Archives(samples) if samples.held.has_masks())
    }

    pub(super) fn fields(&self) -> &[Field] {
        match self {
            Self::List(rows) => &rows.fields.list,
            Self::Archives(samples) => &samples.fields.list,
            Self::Folder(_) | Self::Yolo(_) | Self::Coco(_) => &[],
        }
    }

    pub(super) fn limit_fields(&mut self, max_bytes: u64) {
        match self {
            Self::List(rows) => rows.fields.max_bytes = max_bytes,
            Self::Archives(samples) => samples.fields.max_bytes = max_bytes,
            Self::Folder(_) | Self::Yolo(_) | Self::Coco(_) => {}
        }
    }

    /// See [`crate::source::Source::values`]; `source` is the one that these are the contents of.
    pub(super) fn values(&self, source: &Remote, index: usize, values: &mut Vec<FieldValue>) -> Result<()> {
        let objects = &source.objects;
        match self {
            Self::List(rows) => rows.values(source, index, values, |name| objects.read_listed(name)),
            Self::Archives(samples) => samples.values(source, objects, index, values),
            Self::Folder(_) | Self::Yolo(_) | Self::Coco(_) => {
                values.clear();
                Ok(())
            }
        }
    }

    /// See [`crate::source::Source::mask`].
    pub(super) fn mask(&self, source: &Remote, index: usize, bytes: &mut Vec<u8>) -> Result<bool> {
        bytes.clear();
        match self {
            Self::Archives(samples) => samples.held.mask(&source.objects, index, bytes),
            _ => Ok(false),
        }
    }

    /// See [`crate::source::Source::jpeg_sha256`].
    pub(super) fn jpeg_sha256(&self, source: &Remote, index: usize) -> Result<Option<String>> {
        match self {
            Self::Archives(_) => provenance::jpeg_sha256(&source.objects, index),
            _ => Ok(None),
        }
    }
}
