//! What a batch shows beside its images: semantic masks, second images and depth maps, each an output of its own that the
//! backend renders as it renders a view.

use super::batch::labels::LabelRules;
use crate::field::{Field, FieldType};
use crate::output::{DType, Layout, Output};
use crate::plan::{Modality, Plan};
use std::sync::Arc;

/// A picture of each record, and what becomes of it.
#[derive(Clone, Debug)]
pub(in crate::loader) struct Companion {
    pub(in crate::loader) modality: Modality,
    pub(in crate::loader) kind: CompanionKind,
    /// What its field is called; that of masks has none.
    pub(in crate::loader) name: Option<Arc<str>>,
}

/// What the levels of a picture are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::loader) enum CompanionKind {
    /// Classes; `fill` is that of what shows no image, and of images that have no mask.
    Mask { fill: u8, reduce_zero_label: bool },
    /// Colours.
    Image,
    /// Distances.
    Depth,
}

impl Companion {
    /// Those that are asked for, in the order of their outputs: the mask first, then the fields.
    pub(in crate::loader) fn of(labels: &LabelRules, fields: &[Field]) -> Vec<Self> {
        let reduce_zero_label = labels.reduce_zero_label;
        let mask = labels.mask_fill.map(|fill| {
            let kind = CompanionKind::Mask { fill, reduce_zero_label };
            Self { modality: Modality::Mask, kind, name: None }
        });
        let of_field = |(number, field): (usize, &Field)| {
            let kind = match field.kind() {
                FieldType::Image => CompanionKind::Image,
                FieldType::Depth => CompanionKind::Depth,
                _ => return None,
            };
            Some(Self { modality: Modality::Field(number as u8), kind, name: Some(field.name().into()) })
        };
        mask.into_iter().chain(fields.iter().enumerate().filter_map(of_field)).collect()
    }

    /// The outputs of all views, and behind them those of each companion in all views.
    pub(in crate::loader) fn outputs(of: &[Self], views: &[Output]) -> Vec<Output> {
        let own = of.iter().flat_map(|companion| views.iter().map(|output| companion.output(output)));
        views.iter().copied().chain(own).collect()
    }

    /// What it becomes beside a view that becomes `output`.
    pub(in crate::loader) fn output(&self, output: &Output) -> Output {
        let size = output.size;
        match self.kind {
            CompanionKind::Mask { .. } => {
                Output { size, dtype: DType::U8, layout: Layout::Nhw, normalize: None }
            }
            CompanionKind::Image => *output,
            CompanionKind::Depth => {
                Output { size, dtype: DType::F32, layout: Layout::NhwWide, normalize: None }
            }
        }
    }

    /// Its plan beside a view that this one makes.
    pub(in crate::loader) fn plan(&self, of: &Plan) -> Plan {
        let plan = match self.kind {
            CompanionKind::Mask { fill, .. } => of.for_masks(fill),
            CompanionKind::Image => of.for_second_images(),
            CompanionKind::Depth => of.for_masks(0),
        };
        plan.showing(self.modality)
    }
}
