//! What each position of an epoch must show: worked out alone, one sample after the other.
//!
//! A plain loader (one worker, batches of one, nothing kept) says what the order is and what becomes of bad samples. What it
//! shows of sound ones is made once more without any loader's threads: read, planned, decoded and rendered here.

use crate::case::Case;
use crate::watch;
use feedline::device::cpu::{Input, Worker};
use feedline::error::Error;
use feedline::image::parse_header;
use feedline::loader::{Batch, BatchObjects, Loader, Status};
use feedline::output::Output;
use feedline::plan::{Plan, ViewPlans};
use feedline::policy::DecodeScale;
use feedline::source::Source;
use std::path::Path;

/// A row of a batch.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Row {
    pub(crate) index: u64,
    key: String,
    class: i64,
    shares: Vec<(i64, u32)>,
    /// The bad sample that it stands in for.
    pub(crate) stands_in_for: Option<u64>,
    /// Of all views, one after the other.
    pub(crate) pixels: Vec<u8>,
    /// Masks and second images of all views.
    beside: Vec<u8>,
    objects: Vec<Option<RowObjects>>,
}

/// A batch's pixels in the host's memory.
pub(crate) struct Copied {
    views: Vec<Vec<u8>>,
    beside: Vec<Vec<u8>>,
}

impl Copied {
    /// # Errors
    /// A device that has failed.
    pub(crate) fn of(batch: &Batch) -> Result<Self, Error> {
        let views = batch.views().map(|view| view.to_host()).collect::<Result<_, _>>()?;
        let beside = batch.views().flat_map(|view| {
            let pictures = batch.picture_names().filter_map(move |name| view.picture(name));
            view.mask_pixels().into_iter().chain(pictures)
        });
        Ok(Self { views, beside: beside.map(|pixels| pixels.to_host()).collect::<Result<_, _>>()? })
    }
}

/// What belongs to row `row` of so many, of each array one after the other.
fn rows_of(arrays: &[Vec<u8>], (row, rows): (usize, usize)) -> Vec<u8> {
    let own = |array: &Vec<u8>| {
        let bytes = array.len() / rows.max(1);
        array[row * bytes..(row + 1) * bytes].to_vec()
    };
    arrays.iter().flat_map(own).collect()
}

/// What is seen in a row: of each object its class, share, box, outlines and points, as bits.
#[derive(Clone, Debug, Default, PartialEq)]
struct RowObjects(Vec<(i64, u32, bool, Vec<u32>)>);

impl Row {
    pub(crate) fn of(batch: &Batch, copied: &Copied, row: usize) -> Self {
        let status = batch.status()[row];
        Self {
            index: batch.indices()[row],
            key: batch.keys()[row].clone(),
            class: batch.labels()[row],
            shares: batch.label_shares(row).iter().map(|(class, share)| (*class, share.to_bits())).collect(),
            stands_in_for: match status {
                Status::Substituted { for_index } => Some(for_index),
                _ => None,
            },
            pixels: rows_of(&copied.views, (row, batch.len())),
            beside: rows_of(&copied.beside, (row, batch.len())),
            objects: batch.views().map(|view| view.objects().map(|all| objects_of(all, row))).collect(),
        }
    }

    /// The same row where it does not say whom it stands in for.
    pub(crate) fn without_status(&self) -> Self {
        Self { stands_in_for: None, ..self.clone() }
    }

    /// In what it differs, for a message.
    pub(crate) fn difference(&self, want: &Self) -> String {
        let bytes = self.pixels.iter().zip(&want.pixels).filter(|(one, other)| one != other).count();
        let told = |row: &Self| {
            format!(
                "index {} ({}), class {}, shares {:?}, for {:?}, {} bytes, {} beside, objects {:?}",
                row.index,
                row.key,
                row.class,
                row.shares,
                row.stands_in_for,
                row.pixels.len(),
                row.beside.len(),
                row.objects
            )
        };
        format!("{bytes} bytes differ;\n    got  {}\n    want {}", told(self), told(want))
    }
}

fn objects_of(all: &BatchObjects, row: usize) -> RowObjects {
    let object = |at: usize| {
        let mut numbers: Vec<u32> = all.boxes[at].iter().map(|edge| edge.to_bits()).collect();
        for polygon in all.polygon_offsets[at]..all.polygon_offsets[at + 1] {
            let points = &all.points[all.point_offsets[polygon]..all.point_offsets[polygon + 1]];
            numbers.push(points.len() as u32);
            numbers.extend(points.iter().flatten().map(|edge| edge.to_bits()));
        }
        let points = &all.keypoints[all.keypoint_offsets[at]..all.keypoint_offsets[at + 1]];
        numbers.extend(points.iter().flatten().map(|edge| edge.to_bits()));
        (all.classes[at], all.shares[at].to_bits(), all.crowd[at], numbers)
    };
    let own = (0..all.len()).filter(|&at| all.batch_index[at] == row as i64);
    RowObjects(own.map(object).collect())
}

/// What a position must show.
#[derive(Clone, Debug)]
pub(crate) struct Position {
    /// The row; none where the sample and all that could stand in for it are bad.
    pub(crate) row: Option<Row>,
    /// How many bad samples are met there.
    pub(crate) failures: u64,
    /// The sample that nothing stands in for.
    pub(crate) bad: Option<u64>,
}

pub(crate) struct Oracle(pub(crate) Vec<Position>);

impl Oracle {
    /// Everything that the epoch shows, of the data set that was written to `folder`.
    ///
    /// # Errors
    /// Those of opening the data set and of building a loader.
    pub(crate) fn of(case: &Case, folder: &Path) -> Result<Self, Error> {
        watch::step("asks the oracle");
        let loader = case.plain_loader(folder)?;
        let count = loader.batches();
        let mut positions = Vec::new();
        let mut failures = 0;
        let mut epoch = loader.epoch(case.epoch);
        for at in 0..count {
            let batch = epoch.next().unwrap_or_else(|| panic!("the oracle has no position {at}"));
            let (row, bad) = match &batch {
                Ok(batch) => (Some(Row::of(batch, &Copied::of(batch)?, 0)), None),
                Err(Error::Sample { index, .. }) => (None, Some(*index)),
                Err(error) => panic!("the oracle, position {at}: {error}"),
            };
            if batch.is_err() {
                epoch = loader.epoch_from(case.epoch, at + 1);
            }
            let met = loader.report().failures;
            positions.push(Position { row, failures: met - failures, bad });
            failures = met;
        }
        if case.options.loader.weights.is_none() {
            check_alone(case, &loader, &*case.source(folder)?, &positions);
        }
        Ok(Self(positions))
    }
}

/// Makes each sample that is shown for itself once more, without the loader's threads: each view alone, but where an image is
/// decoded at a scale that all of its views allow.
fn check_alone(case: &Case, loader: &Loader, source: &dyn Source, positions: &[Position]) {
    let output = *loader.output().expect("samples are rendered");
    let together = match case.options.decode.scale() {
        DecodeScale::Exact => 1,
        DecodeScale::Fast => loader.view_count(),
    };
    for (at, position) in positions.iter().enumerate() {
        let Some(row) = position.row.as_ref().filter(|row| row.stands_in_for.is_none()) else { continue };
        let plan_view = |view| loader.plan_view(case.epoch, row.index, view).map(|planned| planned.plan);
        let plans: Result<Vec<Plan>, Error> = (0..loader.view_count()).map(plan_view).collect();
        let plans = plans.unwrap_or_else(|error| panic!("position {at}: {error}"));
        let groups = plans.chunks(together).map(|views| ViewPlans::new(views.iter().cloned()));
        let shown: Vec<u8> = groups.flat_map(|plans| rendered(case, source, &plans, &output, at)).collect();
        assert!(shown == row.pixels, "position {at}, index {}: alone it has other pixels", row.index);
        assert_eq!(source.label(row.index as usize).class(), row.class, "position {at}");
        assert_eq!(source.key(row.index as usize), row.key, "position {at}");
    }
}

/// The pixels of these views, one after the other, of images that are decoded for them alone.
fn rendered(case: &Case, source: &dyn Source, plans: &ViewPlans, output: &Output, at: usize) -> Vec<u8> {
    let read = |index: u64| {
        let mut bytes = Vec::new();
        source.read(index as usize, &mut bytes).expect("a file that was read before");
        let header = parse_header(&bytes).expect("a header that was read before");
        (bytes, header)
    };
    let files: Vec<_> = plans.images().iter().map(|image| read(image.index)).collect();
    let inputs: Vec<Input<'_>> = files.iter().map(|(bytes, header)| Input { bytes, header }).collect();
    let mut worker = Worker::new(&case.options.decode.limits()).scale(case.options.decode.scale());
    worker
        .decode_views(plans, &inputs, &mut [])
        .unwrap_or_else(|(image, cause)| panic!("position {at}, image {image}: {cause}"));
    let outputs: Vec<Output> = plans.views().iter().map(|view| output.of_size(view.plan.size())).collect();
    // Of words, so that values of any type are aligned.
    let words = |output: &Output| vec![0u64; output.sample_bytes().div_ceil(8)];
    let mut memory: Vec<Vec<u64>> = outputs.iter().map(words).collect();
    let views = memory.iter_mut().zip(&outputs);
    let mut views: Vec<&mut [u8]> =
        views.map(|(words, output)| &mut bytemuck::cast_slice_mut(words)[..output.sample_bytes()]).collect();
    worker.render_views(plans, &outputs, &mut views).unwrap_or_else(|cause| panic!("position {at}: {cause}"));
    views.concat()
}
