//! Loaders whose files feedline's own decoder on the device decodes: from the file on, all is as on the CPU.

use crate::compare::{
    choose, damaged, epoch, files as files_of, on_device, report, same_batches, same_on_both,
};
use crate::counts::Counts;
use crate::packed::packed;
use crate::pictures;
use crate::pipeline::{memory, small, small_epoch, without_labels};
use crate::scenario::{Libraries, Outcome, Scenario};
use crate::sharing::mosaics;
use feedline::augment::{MixUp, RandomResizedCrop, Resize};
use feedline::coefficients::Profile;
use feedline::device::{DecodedBy, Device};
use feedline::draft::op::Extent;
use feedline::image::Limits;
use feedline::index::IndexMode;
use feedline::loader::{BadSample, LastBatch, Loader, build_index};
use feedline::options::NormalizeOptions;
use feedline::output::{DType, Layout};
use feedline::policy::{Damaged, DecoderChoice};
use feedline::recipe::Recipe;
use feedline_test_support::jpeg::{Jpeg, SAMPLINGS};
use feedline_test_support::packed::mend_checksums;
use std::collections::BTreeSet;
use std::hash::Hasher;
use twox_hash::XxHash3_64;

pub(crate) const SCENARIOS: &[Scenario] = &[
    Scenario::new("feedline's decoder: batches and indexes are the CPU's", batches_and_indexes),
    Scenario::new("feedline's decoder: no nvJPEG is needed", batches_and_indexes)
        .decides()
        .libraries(Libraries::DriverOnly),
    Scenario::new("feedline's decoder: bad files are told as on the CPU", bad_files),
    Scenario::new("feedline's decoder: a file too large for its memory is decoded all the same", too_large)
        .decides(),
    Scenario::new("feedline's decoder: batches of thousands are the CPU's", thousands).decides(),
    Scenario::new("feedline's decoder: images that samples share are the CPU's", shared).decides(),
    Scenario::new(
        "feedline's decoder: a shared image is bad for all samples, whatever room there is",
        bad_shared_images,
    )
    .decides(),
    Scenario::new("feedline's decoder: where the device has no memory left, workers decode", no_memory_left)
        .decides()
        .driver(",memory=80M"),
    Scenario::new(
        "feedline's decoder: files of coefficients, alone and among JPEGs, are the CPU's",
        coefficients,
    ),
    Scenario::new("feedline's decoder: a wrong index is found out once", wrong_index).decides(),
    Scenario::new("feedline's decoder: the bits of a batch go to the device in one copy", in_one_copy)
        .decides(),
    Scenario::new("feedline's decoder: whatever recipes make of photographs is the CPU's", || photographs(0))
        .decides(),
    Scenario::new("feedline's decoder: whatever other recipes make of them is the CPU's", || photographs(1))
        .decides(),
    Scenario::new("feedline's decoder: a small epoch", || own(|| small_epoch(pictures::few()))).swept(),
    Scenario::new("feedline's decoder: a small epoch with a bad file", || {
        own(|| small_epoch(pictures::few_with_a_bad_one()))
    })
    .swept(),
];

/// Runs with feedline's decoder.
fn own(run: impl FnOnce() -> Outcome) -> Outcome {
    choose(DecoderChoice::Feedline);
    run()
}

fn by(loader: &Loader) -> DecodedBy {
    loader.stats().decoded_by.unwrap()
}

/// Of twelve files a progressive one, one of inks and a PNG are the workers'; the 4:1:1 one, in several scans, may be.
fn batches_and_indexes() -> Outcome {
    choose(DecoderChoice::Feedline);
    for workers in [1, 3] {
        let [cpu, cuda] = same_batches("from files", 3, || small(pictures::all()).workers(workers));
        let DecodedBy { hardware, gpu_huffman, hybrid, cpu: by_cpu, feedline } = by(&cuda);
        assert_eq!((hardware, gpu_huffman, hybrid), (0, 0, 0));
        assert!(feedline >= 3 * 8 && by_cpu >= 3 * 3 && feedline + by_cpu == 3 * 12, "{:?}", by(&cuda));
        let index = cuda.stats().index;
        assert!(index.hits > 4 && index.skipped_rows > 4, "{index:?}");
        assert_eq!(index, cpu.stats().index);
    }
    Ok(())
}

/// Half of the files and then all of them are files of coefficients, of which only that of inks is the workers'; some are bad.
fn coefficients() -> Outcome {
    choose(DecoderChoice::Feedline);
    let convert = |file: &Vec<u8>, profile| packed(file, profile).unwrap_or_else(|_| file.clone());
    let jpegs = pictures::all();
    let all: Vec<Vec<u8>> = jpegs.iter().map(|file| convert(file, Profile::Small)).collect();
    let every_other = jpegs.iter().enumerate().map(|(number, file)| match number % 2 {
        0 => convert(file, Profile::Fast),
        _ => file.clone(),
    });
    // The PNG is one of every other file.
    for (files, by_cpu, converted) in [(every_other.collect::<Vec<_>>(), 3, 5), (all, 2, 11)] {
        let [cpu, cuda] = same_batches("coefficients", 2, || small(files.clone()).workers(2));
        let found = by(&cuda);
        assert!(found.cpu <= 2 * by_cpu && found.feedline + found.cpu == 2 * 12, "{found:?}");
        assert_eq!(cuda.stats().index, cpu.stats().index);
        assert_eq!(files.iter().filter(|file| file.starts_with(b"\x89FJC")).count(), converted);
        let mut bad = files.clone();
        let end = bad[0].len() - 100;
        bad[0][end] ^= 1;
        // Behind checksums that are right again.
        let end = bad[2].len() - 64;
        bad[2][end - 80..end].fill(0xFF);
        mend_checksums(&mut bad[2]);
        let build = || {
            let builder = Loader::builder(memory(bad.clone())).batch_size(4).bad_sample(BadSample::Skip);
            builder.augment(Resize::new(Extent::Two([40, 40]))).last_batch(LastBatch::Partial)
        };
        let cuda = same_on_both("bad files of coefficients", 2, build);
        assert_eq!(cuda.report().files.len(), 2, "{:?}", cuda.report().files);
        assert_eq!(report(&cuda, "feedline").refused, 2, "one of them the device has found damaged, twice");
    }
    Ok(())
}

fn bad_files() -> Outcome {
    choose(DecoderChoice::Feedline);
    let mut files = pictures::few();
    files.insert(1, with_wrong_codes(&files[0]));
    let files: Vec<Vec<u8>> = files.into_iter().cycle().take(15).collect();
    for bad in [BadSample::Skip, BadSample::Substitute, BadSample::Fail] {
        for damaged in [Damaged::Refuse, Damaged::Torchvision] {
            let limits = Limits { damaged, ..Limits::default() };
            let build =
                || small(files.clone()).bad_sample(bad).last_batch(LastBatch::Partial).limits(limits.clone());
            let cuda = same_on_both(&format!("{bad:?} {damaged:?}"), 2, build);
            let refused: u64 = cuda.stats().decoders.iter().map(|decoder| decoder.refused).sum();
            assert!(refused > 0, "the device has found nothing wrong");
            let decoded = cuda.report().damaged > 0;
            assert_eq!(decoded, damaged == Damaged::Torchvision, "{bad:?} {damaged:?}");
        }
    }
    Ok(())
}

/// Ones are no code of the usual tables; the zeros are stuffing.
fn with_wrong_codes(file: &[u8]) -> Vec<u8> {
    let (mut file, end) = (file.to_vec(), file.len());
    file[end - 18..end - 2].copy_from_slice(&[0xFF, 0].repeat(8));
    file
}

/// The least memory is 2 MiB for the decoder, and a picture of 900 x 700 takes about six.
fn too_large() -> Outcome {
    choose(DecoderChoice::Feedline);
    let build = || {
        let builder = Loader::builder(memory(pictures::large())).device_memory(6 << 20);
        builder.augment(Resize::new(Extent::Two([40, 40]))).batch_size(6)
    };
    let cuda = same_on_both("too large", 1, build);
    let by = by(&cuda);
    assert!(by.feedline >= 6 && by.cpu >= 6, "{by:?}");
    Ok(())
}

/// Damage that no part of an image may happen to show, and an image cache that has room for all, for one, and for none.
fn bad_shared_images() -> Outcome {
    choose(DecoderChoice::Feedline);
    let sound = Jpeg { quality: 97, ..Jpeg::default() };
    let mut files: Vec<Vec<u8>> = (0..12).map(|seed| sound.picture(61, 90, seed)).collect();
    for file in files.iter_mut().step_by(3) {
        *file = with_wrong_codes(file);
    }
    let settings = [Damaged::Refuse, Damaged::Torchvision].into_iter();
    let cases = settings.flat_map(|damaged| [1 << 20, 20_000, 1].map(|image_cache| (damaged, image_cache)));
    for (setting, image_cache) in cases {
        let limits = Limits { damaged: setting, ..Limits::default() };
        let crop = RandomResizedCrop { scale: [0.05, 0.3], ..RandomResizedCrop::new(24) };
        let build = || {
            let builder = Loader::builder(memory(files.clone())).batch_size(4).partner_window(12).seed(3);
            let builder = builder.augment(crop).augment(MixUp::new(0.4)).image_cache(image_cache);
            let builder = builder.limits(limits.clone());
            builder.bad_sample(BadSample::Skip).last_batch(LastBatch::Partial).workers(2)
        };
        let [cpu, cuda] = same_batches(&format!("image_cache {image_cache}"), 2, build);
        let reported = |loader| files_of(loader).into_iter().collect::<BTreeSet<_>>();
        assert_eq!(reported(&cuda), reported(&cpu), "image_cache {image_cache}");
        assert_eq!(damaged(&cuda), damaged(&cpu), "{setting:?}, image_cache {image_cache}");
        let (failures, decoded) = (cpu.report().failures > 0, cpu.report().damaged > 0);
        assert_eq!((failures, decoded), (setting == Damaged::Refuse, setting == Damaged::Torchvision));
        assert!(by(&cuda).feedline > 0, "image_cache {image_cache}");
    }
    Ok(())
}

/// 78 MiB are taken at the start, six by the decoder, which needs eleven for one of the large pictures; there are two more.
fn no_memory_left() -> Outcome {
    choose(DecoderChoice::Feedline);
    let large = Jpeg::new(SAMPLINGS[0].0).picture(1400, 900, 1);
    let files: Vec<Vec<u8>> = pictures::few().into_iter().flat_map(|small| [small, large.clone()]).collect();
    let build = || {
        let builder = Loader::builder(memory(files.clone())).device_memory(90 << 20).workers(2);
        builder.augment(Resize::new(Extent::Two([40, 40]))).batch_size(2)
    };
    let cuda = same_on_both("no memory left", 2, build);
    let found = by(&cuda);
    assert!(found.feedline == 8 && found.cpu == 8, "{found:?}");
    let said = report(&cuda, "feedline").last_failure.unwrap_or_default();
    assert!(said.contains("raise device_memory"), "{said}");
    Ok(())
}

/// An index that is not the file's, though it says so: it is dropped and found anew at the first look, and then serves.
fn wrong_index() -> Outcome {
    choose(DecoderChoice::Feedline);
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("pictures.index");
    let jpeg = Jpeg { quality: 97, ..Jpeg::default() };
    let source = memory((0..4).map(|seed| jpeg.picture(150, 200, seed)).collect());
    build_index(source.clone(), &path, Some(1), &mut |_| ())?;
    let mut sidecar = std::fs::read(&path)?;
    // Behind the records there are their end, their count, and a hash; the last number of the last record is a prediction.
    let end = sidecar.len() - (8 + 4 + 8);
    sidecar[end - 1] ^= 2;
    let mut hasher = XxHash3_64::new();
    hasher.write(&sidecar[..end + 12]);
    let hash = hasher.finish().to_le_bytes();
    sidecar[end + 12..].copy_from_slice(&hash);
    let build = |name: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, &sidecar).unwrap();
        let builder = Loader::builder(source.clone()).batch_size(4).workers(1);
        builder.augment(Resize::new(Extent::Two([60, 60]))).decode_index(IndexMode::File(path))
    };
    let cpu = build("cpu").device(Device::Cpu).build()?;
    let cuda = on_device(build("cuda")).build()?;
    let mut refused = Vec::new();
    for number in 0..3 {
        assert!(epoch(&cuda, number) == epoch(&cpu, number), "epoch {number}");
        refused.push(report(&cuda, "feedline").refused);
    }
    assert_eq!(refused, [1, 1, 1]);
    let index = cuda.stats().index;
    assert_eq!((index.stale, index.images, index.bytes), (1, 4, cpu.stats().index.bytes));
    Ok(())
}

/// Besides its bits a batch sends two tables, one for the decoder and one for the renderer.
fn in_one_copy() -> Outcome {
    choose(DecoderChoice::Feedline);
    let files: Vec<Vec<u8>> = (0..40).map(|seed| Jpeg::new(SAMPLINGS[3].0).picture(300, 200, seed)).collect();
    let build = || {
        let builder = Loader::builder(memory(files.clone())).batch_size(20).workers(3).prefetch(1);
        builder.augment(Resize::new(Extent::Two([24, 24])))
    };
    let loader = same_on_both("copies", 3, build);
    assert_eq!(by(&loader).feedline, 3 * 40);
    let counts = Counts::open()?;
    for number in 3..6 {
        let before = counts.operations("h2d");
        for batch in loader.epoch(number) {
            batch?.wait()?;
        }
        assert_eq!(counts.operations("h2d") - before, 2 * 3, "copies of epoch {number}");
    }
    Ok(())
}

fn thousands() -> Outcome {
    choose(DecoderChoice::Feedline);
    const IMAGES: usize = 4096;
    let tiny: Vec<Vec<u8>> =
        (0..64).map(|seed| Jpeg::default().picture(16 + seed as u16 % 9, 16, seed)).collect();
    let files = || memory(tiny.iter().cycle().take(IMAGES).cloned().collect());
    let build = || Loader::builder(files()).batch_size(IMAGES).workers(2).augment(RandomResizedCrop::new(8));
    assert_eq!(by(&same_on_both("thousands", 1, build)).feedline, IMAGES as u64);
    Ok(())
}

fn shared() -> Outcome {
    choose(DecoderChoice::Feedline);
    let cuda = same_on_both("shared", 2, || mosaics(pictures::all()));
    assert!(by(&cuda).feedline > 0);
    Ok(())
}

/// Every third recipe by one number format and layout of a few of the bundled ones; FEEDLINE_TEST_JPEGS=FOLDER makes that all
/// recipes of all below a folder, good and bad, by all formats and layouts. `half` is 0 or 1: each has every other recipe.
fn photographs(half: usize) -> Outcome {
    choose(DecoderChoice::Feedline);
    let folder = std::env::var("FEEDLINE_TEST_JPEGS");
    let step = if folder.is_ok() { 1 } else { 15 };
    let paths = pictures::files_below(folder.as_deref().unwrap_or("data/photos"))?;
    let bytes = paths.iter().step_by(step).map(std::fs::read).collect::<std::io::Result<_>>()?;
    let source = memory(bytes);
    let outputs: Vec<(DType, Layout)> = [DType::F32, DType::F16, DType::Bf16, DType::U8]
        .into_iter()
        .flat_map(|dtype| [Layout::Nchw, Layout::Nhwc].map(|layout| (dtype, layout)))
        .collect();
    let recipes = Recipe::names().map(|name| (name, without_labels(Recipe::built_in(name).unwrap())));
    let recipes = recipes.filter(|(_, recipe)| !recipe.options.output.decode_only()).enumerate();
    for (number, (name, recipe)) in recipes.skip(half).step_by(2) {
        if folder.is_err() && number % 3 != 0 {
            continue;
        }
        let (first, count) =
            if folder.is_ok() { (0, outputs.len()) } else { (3 * number % outputs.len(), 1) };
        for (at, &(dtype, layout)) in outputs[first..first + count].iter().enumerate() {
            let mut recipe = recipe.clone();
            if dtype == DType::U8 {
                recipe.options.normalize = NormalizeOptions::default();
            }
            let what = format!("{name}, {dtype:?} {layout:?}");
            let build = || {
                let builder = Loader::builder(source.clone()).recipe(&recipe).output(dtype, layout);
                builder.batch_size(8).last_batch(LastBatch::Partial).bad_sample(BadSample::Skip).seed(5)
            };
            // The second epoch is that of known indexes, which have nothing to do with formats.
            let [cpu, cuda] = same_batches(&what, if at == 0 { 2 } else { 1 }, build);
            let reported = |loader| files_of(loader).into_iter().collect::<BTreeSet<_>>();
            assert_eq!(reported(&cuda), reported(&cpu), "{what}: reports");
            println!("{what}: {} files, {:?}", source.len(), by(&cuda));
            assert!(by(&cuda).feedline > 0, "{what}");
        }
    }
    Ok(())
}
