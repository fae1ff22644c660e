//! What sources of labelled objects share: the labels in memory, what becomes of bad ones, and their cache.

pub(super) mod cache;
pub(super) mod polygon;
pub(super) mod report;
pub(super) mod table;
