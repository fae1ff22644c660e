//! Batches as large as their largest sample: the sizes that samples end at, found by planning them.

use crate::error::{Result, ensure};
use crate::geometry::{Orientation, Size};
use crate::image::parse_header;
use crate::label::Label;
use crate::loader::parallel_map::parallel_map;
use crate::loader::planner::{ImageInfo, Planner, SampleContext};
use crate::loader::report::errors::{Failure, Stage};
use crate::sampler::{Order, Sampler};
use crate::source::Source;
use std::convert::Infallible;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::thread::available_parallelism;

/// Longest edge of a batch: the limit of the JPEG format.
const MAX_EDGE: u32 = 65_535;

/// What the samples of any batch are planned from, without a file.
pub(in crate::loader) struct PaddedBatches {
    planner: Arc<Planner>,
    source: Arc<dyn Source>,
    /// Of each image of the source as it is stored; `None` where it is not shown, or cannot be read.
    headers: Vec<Option<(Size, Orientation)>>,
    /// The largest sample.
    most: Size,
    /// What edges of batches are multiples of.
    divisor: u32,
}

impl PaddedBatches {
    /// Reads the headers of all images that epochs may show.
    pub(in crate::loader) fn new(
        (planner, source): (&Arc<Planner>, &Arc<dyn Source>),
        sampler: &Sampler,
        exif: bool,
        (most, divisor): (Size, u32),
    ) -> Result<Self> {
        let longest = most.width.max(most.height);
        ensure!(
            (1..=MAX_EDGE).contains(&divisor) && longest.next_multiple_of(divisor) <= MAX_EDGE,
            "pad_to_largest: stride is {divisor}, but it must be at least 1, and the output's edges rounded up to it at most \
             {MAX_EDGE}"
        );
        let order = sampler.order(0, 0);
        let mut shown: Vec<u64> = match order.is_drawn() || order.is_cut() {
            true => (0..source.len() as u64).collect(),
            false => (0..order.len()).map(|position| order.index(position)).collect(),
        };
        if order.repeats() {
            shown.sort_unstable();
            shown.dedup();
        }
        let header = |bytes: &mut Vec<u8>, at: usize| {
            source.read(shown[at] as usize, bytes).ok()?;
            let header = parse_header(bytes).ok()?;
            Some((header.size, if exif { header.orientation } else { Orientation::UPRIGHT }))
        };
        let mut headers = vec![None; source.len()];
        let threads = available_parallelism().map_or(1, std::num::NonZero::get);
        let keep = |at: usize, header| -> std::result::Result<(), Infallible> {
            headers[shown[at] as usize] = header;
            Ok(())
        };
        let Ok(()) = parallel_map(0..shown.len(), threads, Vec::new, header, keep);
        Ok(Self { planner: Arc::clone(planner), source: Arc::clone(source), headers, most, divisor })
    }

    /// A size that no batch exceeds.
    pub(in crate::loader) fn largest(&self) -> Size {
        self.rounded(self.most)
    }

    /// The size of a batch that shows these positions: that of its largest sample. Those that cannot be planned do not count.
    pub(in crate::loader) fn size(
        &self,
        epoch: u64,
        order: &Order,
        positions: impl Iterator<Item = u64>,
    ) -> Size {
        let sizes = positions.filter_map(|position| self.own_size(epoch, order, position));
        let larger =
            |one: Size, other: Size| Size::new(one.width.max(other.width), one.height.max(other.height));
        self.rounded(sizes.fold(Size::new(1, 1), larger))
    }

    /// `None` for a sample that fails, or panics: it will again where it is made, which says so.
    fn own_size(&self, epoch: u64, order: &Order, position: u64) -> Option<Size> {
        let sample = SampleContext { epoch, order, position, index: order.index(position), target: None };
        let plan = || self.planner.plan(sample, 0, &mut |index: u64| self.info(index));
        let planned = catch_unwind(AssertUnwindSafe(plan)).ok()?.ok()?;
        let size = planned.plan.size();
        (size.width <= self.most.width && size.height <= self.most.height).then_some(size)
    }

    fn info(&self, index: u64) -> Result<ImageInfo, Failure> {
        let known = self.headers.get(index as usize).copied().flatten();
        let (stored, orientation) = known.ok_or_else(|| Failure {
            stage: Stage::Read,
            key: self.source.key(index as usize).into_owned(),
            index,
            cause: "its header could not be read when the loader was built".into(),
        })?;
        let objects = match self.source.label(index as usize) {
            Label::Objects(objects) => Some(objects),
            _ => None,
        };
        Ok(ImageInfo { stored, orientation, objects })
    }

    fn rounded(&self, size: Size) -> Size {
        Size::new(size.width.next_multiple_of(self.divisor), size.height.next_multiple_of(self.divisor))
    }
}

impl std::fmt::Debug for PaddedBatches {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "PaddedBatches {{ most: {:?}, divisor: {} }}", self.most, self.divisor)
    }
}
