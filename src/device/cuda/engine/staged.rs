//! What is staged of a sample: the plans of its views, and for each image the bytes that the device decodes or shows.

use super::image_cache::SharedImage;
use super::image_pool::Placement;
use super::source_bytes::SourceBytes;
use crate::geometry::Rect;
use crate::plan::{ObjectRuns, ViewPlans};
use std::sync::Arc;

/// A sample ready to be decoded and rendered.
pub(super) struct StagedRow {
    pub(super) plans: Arc<ViewPlans>,
    pub(super) images: Vec<StagedImage>,
    /// The masks of its objects, of each view; none where they are not asked for.
    pub(super) masks: Vec<ObjectRuns>,
}

impl StagedRow {
    pub(super) fn new(plans: &Arc<ViewPlans>, images: Vec<StagedImage>) -> Self {
        Self { plans: Arc::clone(plans), images, masks: Vec::new() }
    }
}

/// One image of a sample.
pub(super) enum StagedImage {
    /// For this sample alone.
    Own(SourceBytes),
    /// An image that other samples show as well.
    Shared(SharedUse),
    /// The same, where it has a block of the device's memory, which it keeps as long as the image is held.
    Placed(Arc<SharedImage>, Placement),
}

/// An image that other samples show as well, and the part of it that this one reads.
#[derive(Clone)]
pub(super) struct SharedUse {
    pub(super) image: Arc<SharedImage>,
    pub(super) wanted: Rect,
}
