//! What nearly every augmentation uses.

pub(super) use super::by_own_chance::by_own_chance;
pub(super) use super::{Augment, check};
pub(super) use crate::draft::Draft;
pub(super) use crate::draft::op::{Extent, Fill, Interpolation, Op, Padding, PaddingMode, variants_from};
pub(super) use crate::error::{Result, bail, ensure};
pub(super) use crate::geometry::{Rect, Size};
pub(super) use crate::rng::Draws;
pub(super) use serde::{Deserialize, Serialize};
