//! Fields through the whole pipeline: each row has those of its own sample, whatever becomes of others.

use crate::mixing::Mix;
use crate::support::{Flat, Squash, flat};
use feedline::error::{Error, Result};
use feedline::field::{Field, FieldValue};
use feedline::label::Label;
use feedline::loader::{BadSample, Batch, Loader, LoaderBuilder, Status};
use feedline::output::{DType, Layout};
use feedline::source::Source;
use std::borrow::Cow;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

#[path = "../../examples/captions.rs"]
#[expect(dead_code, reason = "its main() is run elsewhere")]
mod example;

/// Images with a caption, a number, a fraction and JSON each, which name their index.
struct Captioned {
    images: Flat,
    fields: Vec<Field>,
    /// Indices whose caption cannot be read.
    bad: Vec<usize>,
    /// How often values were read.
    reads: Arc<AtomicUsize>,
}

fn captioned(images: Flat) -> Captioned {
    let fields =
        vec![Field::text("caption"), Field::integer("id"), Field::float("score"), Field::json("about")];
    Captioned { images, fields, bad: Vec::new(), reads: Arc::default() }
}

fn caption(index: usize) -> String {
    format!("caption {index} {}", "ä".repeat(index % 7))
}

impl Source for Captioned {
    fn len(&self) -> usize {
        self.images.len()
    }

    fn read(&self, index: usize, bytes: &mut Vec<u8>) -> Result<()> {
        self.images.read(index, bytes)
    }

    fn key(&self, index: usize) -> Cow<'_, str> {
        self.images.key(index)
    }

    fn label(&self, index: usize) -> Label {
        self.images.label(index)
    }

    fn fields(&self) -> &[Field] {
        &self.fields
    }

    fn values(&self, index: usize, values: &mut Vec<FieldValue>) -> Result<()> {
        self.reads.fetch_add(1, Relaxed);
        if self.bad.contains(&index) {
            return Err(Error::sample(self.key(index), index as u64, "the caption is not UTF-8"));
        }
        let about = FieldValue::Json(format!("{{\"index\": {index}}}"));
        *values = vec![caption(index).into(), (index as i64).into(), (index as f64 / 2.0).into(), about];
        Ok(())
    }
}

fn builder(source: Captioned, batch_size: usize) -> LoaderBuilder {
    Loader::builder(source).batch_size(batch_size).augment(Squash).output(DType::U8, Layout::Nchw)
}

/// Checks that each row's values are those of the sample that it has.
fn agrees(batch: &Batch) {
    let field = |name: &str| batch.field(name).unwrap();
    let names: Vec<&str> = batch.fields().iter().map(|field| field.name()).collect();
    assert_eq!(names, ["caption", "id", "score", "about"]);
    let own: Vec<usize> = batch.indices().iter().map(|index| *index as usize).collect();
    let captions: Vec<String> = own.iter().map(|index| caption(*index)).collect();
    assert_eq!(field("caption").texts().collect::<Vec<_>>(), captions);
    assert_eq!(field("caption").data(), captions.concat().as_bytes());
    assert_eq!(field("caption").offsets().len(), batch.len() + 1);
    assert_eq!(field("id").integers().unwrap(), own.iter().map(|index| *index as i64).collect::<Vec<_>>());
    let halves: Vec<f64> = own.iter().map(|index| *index as f64 / 2.0).collect();
    assert_eq!(field("score").floats().unwrap(), halves);
    for (row, index) in own.iter().enumerate() {
        assert_eq!(field("about").json(row), Some(serde_json::json!({ "index": index })));
    }
    assert!(batch.fields().iter().all(|field| field.len() == batch.len()));
    assert!(batch.field("captions").is_none());
}

#[test]
fn a_row_has_the_fields_of_its_sample_whatever_the_workers() {
    for workers in [1, 4] {
        let loader = builder(captioned(flat(21)), 4).shuffle(true).seed(3).workers(workers).build().unwrap();
        let batches: Vec<Batch> = loader.epoch(1).map(Result::unwrap).collect();
        assert_eq!(batches.len(), 5);
        batches.iter().for_each(agrees);
    }
    let bare = Loader::builder(captioned(flat(6))).decode_only().batch_size(3).build().unwrap();
    bare.epoch(0).for_each(|batch| agrees(&batch.unwrap()));
}

#[test]
fn a_sample_that_is_skipped_or_substituted_takes_its_fields_along() {
    let source = |bad: &[usize]| Captioned {
        bad: bad.to_vec(),
        ..captioned(Flat { cut: vec![1], unreadable: vec![6], ..flat(12) })
    };
    let loader = builder(source(&[4]), 4).bad_sample(BadSample::Skip).build().unwrap();
    let batches: Vec<Batch> = loader.epoch(0).map(Result::unwrap).collect();
    let indices: Vec<&[u64]> = batches.iter().map(Batch::indices).collect();
    assert_eq!(indices, [&[0, 2, 3][..], &[5, 7], &[8, 9, 10, 11]]);
    batches.iter().for_each(agrees);
    let causes: Vec<String> = loader.report().files.into_iter().map(|file| file.cause).collect();
    assert!(causes.iter().any(|cause| cause == "the caption is not UTF-8"), "{causes:?}");
    let loader = builder(source(&[4]), 4).bad_sample(BadSample::Substitute).build().unwrap();
    let batches: Vec<Batch> = loader.epoch(0).map(Result::unwrap).collect();
    let substituted = batches.iter().flat_map(Batch::status);
    let of: Vec<u64> = substituted
        .filter_map(|status| match status {
            Status::Substituted { for_index } => Some(*for_index),
            _ => None,
        })
        .collect();
    assert_eq!(of, [1, 4, 6]);
    batches.iter().for_each(agrees);
    let loader = builder(source(&[0]), 4).build().unwrap();
    let says = loader.epoch(0).next().unwrap().unwrap_err().to_string();
    assert_eq!(says, "sample 0 (0.png): the caption is not UTF-8");
}

#[test]
fn a_batch_that_lost_all_samples_has_fields_without_rows() {
    let source = Captioned { bad: vec![0, 1], ..captioned(flat(4)) };
    let loader = builder(source, 2).bad_sample(BadSample::Skip).build().unwrap();
    let batches: Vec<Batch> = loader.epoch(0).map(Result::unwrap).collect();
    assert!(batches[0].is_empty() && batches[0].field("caption").unwrap().offsets() == [0]);
    batches.iter().for_each(agrees);
}

#[test]
fn a_mix_has_the_fields_of_its_host_and_reads_no_others() {
    let source = captioned(flat(32));
    let reads = Arc::clone(&source.reads);
    let loader = builder(source, 8).augment(Mix).shuffle(true).partner_window(16).build().unwrap();
    let batches: Vec<Batch> = loader.epoch(0).map(Result::unwrap).collect();
    assert!(batches.iter().all(|batch| (0..8).all(|row| batch.label_shares(row).len() == 2)));
    batches.iter().for_each(agrees);
    assert_eq!(reads.load(Relaxed), 32);
}

#[test]
fn a_run_that_is_resumed_has_the_same_fields() {
    let loader = || builder(captioned(flat(24)), 4).shuffle(true).seed(5).build().unwrap();
    let texts = |batch: Batch| batch.field("caption").unwrap().texts().map(str::to_owned).collect::<Vec<_>>();
    let whole: Vec<_> = loader().epoch(2).map(|batch| texts(batch.unwrap())).collect();
    let stopped = loader();
    let mut epoch = stopped.epoch(2);
    epoch.by_ref().take(2).for_each(|batch| agrees(&batch.unwrap()));
    let rest: Vec<_> = loader().resume(&epoch.state()).unwrap().map(|batch| texts(batch.unwrap())).collect();
    assert_eq!(rest, whole[2..]);
}

#[test]
fn values_that_are_not_those_of_the_fields_make_bad_samples() {
    let mut source = captioned(flat(2));
    source.fields.swap(0, 1);
    let loader = builder(source, 2).build().unwrap();
    let says = loader.epoch(0).next().unwrap().unwrap_err().to_string();
    assert!(says.contains("the source's values are not those of its fields: mend Source::values"), "{says}");
}

#[test]
fn without_fields_a_batch_has_none() {
    let loader = Loader::builder(flat(2)).batch_size(2).augment(Squash).build().unwrap();
    assert!(loader.epoch(0).next().unwrap().unwrap().fields().is_empty());
}

#[test]
fn the_example_shows_each_image_with_its_caption() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.tar");
    let photo = std::fs::read("data/photos/cat/0000.jpg").unwrap();
    let mut archive = tar::Builder::new(std::fs::File::create(&path).unwrap());
    for number in 0..5 {
        let caption = format!("cat number {number}");
        for (ending, bytes) in [("jpg", &photo[..]), ("txt", caption.as_bytes())] {
            let mut header = tar::Header::new_gnu();
            header.set_size(bytes.len() as u64);
            archive.append_data(&mut header, format!("{number}.{ending}"), bytes).unwrap();
        }
    }
    archive.finish().unwrap();
    let mut out = Vec::new();
    example::captions(path.to_str().unwrap(), &mut out).unwrap();
    let out = String::from_utf8(out).unwrap();
    assert!(out.starts_with("[4, 3, 224, 224]\n") && out.contains("\n[1, 3, 224, 224]\n"), "{out}");
    for number in 0..5 {
        assert!(out.contains(&format!("  a.tar/{number}.jpg: cat number {number}\n")), "{out}");
    }
}
