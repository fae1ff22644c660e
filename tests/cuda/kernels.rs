//! Kernels are loaded when a batch first needs them, as machine code or as PTX.

use crate::compare::{choose, on_device, same_on_both};
use crate::counts::Counts;
use crate::pictures;
use crate::pipeline::{memory, small};
use crate::scenario::{Outcome, Scenario};
use feedline::augment::{
    CenterCrop, ColorJitter, EraseMode, RandomErasing, RandomResizedCrop, Resize, TimmRandomErasing,
};
use feedline::device::Device;
use feedline::draft::op::Extent;
use feedline::loader::{Loader, LoaderBuilder};
use feedline::policy::DecoderChoice;

pub(crate) const SCENARIOS: &[Scenario] = &[
    Scenario::new(
        "kernels: those that a recipe needs are loaded, with its first batch",
        those_that_are_needed,
    )
    .decides(),
    Scenario::new("kernels: plain crops have one of their own", plain_crops_have_one_of_their_own).decides(),
    Scenario::new("kernels: one that cannot be loaded fails the batch that needs it", one_cannot_be_loaded)
        .decides()
        // The second one that the recipe needs.
        .driver(",fault=cuModuleLoadDataEx@2:2"),
    Scenario::new("kernels: the device says where they come from", they_come_from_where_the_device_says)
        .decides(),
    Scenario::new("kernels: an older device translates them", they_come_from_where_the_device_says)
        .decides()
        .driver(",capability=75"),
    Scenario::new("kernels: a driver that cannot use the machine code translates them", translated)
        .decides()
        .driver(",version=12040"),
];

const ALL: [&str; 16] = [
    "taps",
    "measure",
    "tables",
    "filter",
    "neighbours",
    "clahe_tables",
    "clahe",
    "lightness_sums",
    "sensor",
    "compress_planes",
    "compress_pixels",
    "distort",
    "crop",
    "render",
    "blend",
    "blend_erased",
];

/// Those that were loaded.
fn loaded(counts: &Counts) -> Vec<&'static str> {
    ALL.into_iter().filter(|name| counts.calls(&format!("kernel {name}")) > 0).collect()
}

fn those_that_are_needed() -> Outcome {
    choose(DecoderChoice::Cpu);
    let counts = Counts::open()?;
    let cropped = Loader::builder(memory(pictures::all())).augment(CenterCrop::new(24)).batch_size(4);
    let cropped = on_device(cropped).build()?;
    assert_eq!(loaded(&counts), [""; 0], "ahead of the first batch");
    for batch in cropped.epoch(0) {
        batch?.wait()?;
    }
    assert_eq!(loaded(&counts), ["render"]);
    same_on_both("resized", 2, || small(pictures::all()));
    assert_eq!(loaded(&counts), ["taps", "crop", "render"]);
    // Each loader loads what it needs, once.
    let calls = ["taps", "crop", "render"].map(|name| counts.calls(&format!("kernel {name}")));
    assert_eq!((calls, counts.calls("cuModuleLoadDataEx")), ([1, 1, 2], 4));
    Ok(())
}

/// Upright pictures whose crops are resampled, and all that a recipe may ask for besides.
fn plain_crops_have_one_of_their_own() -> Outcome {
    choose(DecoderChoice::Cpu);
    let counts = Counts::open()?;
    let launched = || ["crop", "render"].map(|name| counts.operations(name));
    let build = || Loader::builder(memory(pictures::few())).batch_size(4).workers(1);
    let crops = |size| build().augment(RandomResizedCrop::new(size));
    same_on_both("plain", 2, || crops(64));
    assert_eq!(launched(), [2, 0], "one launch for each batch");
    let resized = |size| build().augment(Resize::new(Extent::Two(size)));
    same_on_both("resized", 1, || resized([7, 4]));
    assert_eq!(launched(), [3, 0]);
    let timm = TimmRandomErasing::new(1.0).max_count(4);
    let others: [(&str, &dyn Fn() -> LoaderBuilder); 6] = [
        ("recoloured", &|| crops(64).augment(ColorJitter::new(0.4, 0.0, 0.0, 0.0))),
        ("erased", &|| crops(64).augment(RandomErasing::new(1.0))),
        ("erased in colours", &|| crops(64).augment(timm.mode(EraseMode::Rand))),
        ("erased with noise", &|| crops(64).augment(timm.mode(EraseMode::Pixel))),
        ("of a width that is not whole fours", &|| resized([64, 63])),
        ("not resampled", &|| build().augment(CenterCrop::new(24))),
    ];
    for (number, (what, build)) in (1..).zip(others) {
        same_on_both(what, 1, build);
        assert_eq!(launched(), [3, number], "{what}");
    }
    Ok(())
}

fn one_cannot_be_loaded() -> Outcome {
    choose(DecoderChoice::Cpu);
    let loader = on_device(small(pictures::few()).batch_size(2).workers(1).prefetch(1)).build()?;
    let error = loader.epoch(0).find_map(Result::err).ok_or("no error")?.to_string();
    for word in ["CUDA device 0", "cuModuleLoadDataEx", "loading the kernel `crop`"] {
        assert!(error.contains(word), "{error}");
    }
    // Memory was short at that moment.
    assert!(loader.epoch(1).all(|batch| batch.is_ok()));
    Ok(())
}

fn they_come_from_where_the_device_says() -> Outcome {
    let counts = Counts::open()?;
    same_on_both("kernels", 1, || small(pictures::all()));
    let (told, compiled) = (Device::cuda(0)?.describe(), counts.calls("a module of a cubin"));
    let says_so = match counts.calls("a module of PTX") {
        0 => told.ends_with("kernels compiled for sm_90") && compiled > 0,
        _ => told.ends_with("kernels translated by the driver") && compiled == 0,
    };
    if says_so { Ok(()) } else { Err(told.into()) }
}

/// Machine code of CUDA 13 is tried in vain by a driver of CUDA 12.
fn translated() -> Outcome {
    let counts = Counts::open()?;
    same_on_both("translated kernels", 1, || small(pictures::all()));
    assert!(counts.calls("a module of PTX") > 0);
    Ok(())
}
