//! What a device refuses after it was staged: each sample costs itself alone, and kernels that do not fit are reported.

use crate::compare::on_device;
use crate::pictures;
use crate::pipeline::{memory, small};
use crate::scenario::{Outcome, Scenario};
use feedline::augment::Resize;
use feedline::draft::op::Extent;
use feedline::error::Error;
use feedline::loader::{BadSample, Batch, LastBatch, Loader, LoaderBuilder};
use feedline_test_support::jpeg::{ColorType, Jpeg};
use std::collections::BTreeMap;

pub(crate) const SCENARIOS: &[Scenario] = &[
    // 172 MiB are taken at the start: one arena has room to grow by 76, and the other one has not.
    Scenario::new("a substitute that its arena has no room for is replaced once more", replaced_once_more)
        .weighty()
        .driver(",memory=264M")
        .of_nvjpeg(),
    Scenario::new("an image that the kernels do not take costs its sample", too_wide_for_the_kernels),
    Scenario::new("what kernels do not know is reported at the end of an epoch", || unknown_code(4))
        .driver(",unknown=1"),
    Scenario::new("what kernels do not know is reported by all batches after it", || unknown_code(1))
        .driver(",unknown=2"),
];

/// Resized to so little that an image is one colour.
fn resized(files: Vec<Vec<u8>>) -> LoaderBuilder {
    Loader::builder(memory(files)).augment(Resize::new(Extent::Two([8, 8]))).workers(1)
}

fn flat(width: u16, height: u16, level: u8) -> Vec<u8> {
    let pixels = vec![level; usize::from(width) * usize::from(height)];
    Jpeg { color: ColorType::Luma, ..Jpeg::default() }.file(&pixels, width, height)
}

/// The pixels of each sample, by its index.
fn by_index(batch: &Batch, pixels: &[u8]) -> BTreeMap<u64, Vec<u8>> {
    let rows = pixels.chunks(pixels.len() / batch.len()).map(<[u8]>::to_vec);
    batch.indices().iter().copied().zip(rows).collect()
}

/// Two of the large ones fit the arena that has grown, and make the other one ask for memory that the device lacks.
fn replaced_once_more() -> Outcome {
    let mut files: Vec<Vec<u8>> = (0..4).map(|number| flat(3456, 2592, 60 * number + 20)).collect();
    files.extend([pictures::few_with_a_bad_one().swap_remove(1), flat(4096, 2880, 250)]);
    let build = || resized(files.clone()).batch_size(5).shuffle(false).seed(SEED);
    let cpu = build().bad_sample(BadSample::Skip).last_batch(LastBatch::Partial).build()?;
    let mut want = BTreeMap::new();
    for batch in cpu.epoch(0) {
        let batch = batch?;
        want.extend(by_index(&batch, batch.images()));
    }
    let cuda = on_device(build().bad_sample(BadSample::Substitute).device_memory(288 << 20)).build()?;
    let batch = cuda.epoch(0).next().unwrap()?;
    let report = cuda.report();
    let refused = report.files.iter().find(|file| file.cause.contains("raise device_memory"));
    let refused = refused.ok_or(format!("no substitute was refused: {report:?}"))?;
    assert_eq!((refused.index, report.failures), (5, 2), "{report:?}");
    assert_eq!(batch.indices()[..4], [0, 1, 2, 3]);
    for (index, pixels) in by_index(&batch, &batch.to_host()?) {
        assert!(pixels == want[&index], "sample {index} is another one's, or was not rendered");
    }
    Ok(())
}

/// The first of which both substitutes are those that the test needs: the largest file, and then one of the others.
const SEED: u64 = 2;

fn too_wide_for_the_kernels() -> Outcome {
    let build = |bad| {
        let mut files = pictures::few();
        files.insert(2, pictures::flat_png(70_000, 2));
        resized(files).batch_size(5).last_batch(LastBatch::Partial).bad_sample(bad)
    };
    let cpu = build(BadSample::Fail).build()?.epoch(0).next().unwrap()?;
    for cache in [0, 1 << 20] {
        let cuda = on_device(build(BadSample::Skip).image_cache(cache)).build()?;
        let batch = cuda.epoch(0).next().unwrap()?;
        assert_eq!(batch.indices(), [0, 1, 3, 4]);
        let want = by_index(&cpu, cpu.images());
        for (index, pixels) in by_index(&batch, &batch.to_host()?) {
            assert!(pixels == want[&index], "sample {index}");
        }
        let error = on_device(build(BadSample::Fail).image_cache(cache)).build()?.epoch(0).next();
        let error = error.unwrap().unwrap_err();
        assert!(matches!(&error, Error::Sample { index: 2, key, .. } if key == "picture 2"), "{error:?}");
    }
    Ok(())
}

/// The consumer never waits for a batch on the host. Kernels that do not fit render nothing that may be used.
fn unknown_code(batch_size: usize) -> Outcome {
    let loader = on_device(small(pictures::few()).batch_size(batch_size).prefetch(1).workers(1)).build()?;
    for number in 0..3 {
        let last = loader.epoch(number).last().unwrap();
        let Err(Error::Unavailable { why, .. }) = &last else {
            panic!("epoch {number} ends with {:?}", last.map(|batch| batch.len()));
        };
        assert!(why.contains("colour operation with the unknown code 99"), "{why}");
    }
    Ok(())
}
