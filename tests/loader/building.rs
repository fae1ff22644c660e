//! What is refused before the first epoch, with its remedy.

use crate::support::{builder, epoch_of, flat};
use feedline::augment::{
    Augment, CenterCrop, ColorJitter, Compose, RandomApply, RandomChoice, RandomCrop, RandomErasing,
    RandomHorizontalFlip, Resize, View,
};
use feedline::draft::Draft;
use feedline::draft::op::{Extent, Op, Value};
use feedline::error::Error;
use feedline::geometry::Size;
use feedline::loader::{LastBatch, Loader, LoaderBuilder};
use feedline::output::{DType, Layout};
use feedline::policy::DecoderChoice;
use feedline::rng::Draws;

/// Applies ops without drawing.
struct Fixed(Vec<Op>);

impl Augment for Fixed {
    fn name(&self) -> &'static str {
        "Fixed"
    }

    fn plan(&self, draft: &mut Draft, _partners: Vec<Draft>, _rng: &mut dyn Draws) {
        self.0.iter().cloned().for_each(|op| draft.apply(op));
    }
}

fn refused(builder: LoaderBuilder, words: &str) {
    match builder.build() {
        Err(Error::Config(message)) => assert!(message.contains(words), "{message}"),
        Err(other) => panic!("{other}"),
        Ok(_) => panic!("nothing was refused, not even: {words}"),
    }
}

fn center_crop(edge: u32) -> Fixed {
    Fixed(vec![Op::CenterCrop { output_size: Extent::One(edge) }])
}

#[test]
fn numbers_that_cannot_work_are_refused() {
    refused(builder(flat(0), 4), "no samples");
    refused(builder(flat(4), 0), "batch_size is 0");
    refused(builder(flat(4), 5), "every batch would be dropped");
    assert!(builder(flat(4), 5).last_batch(LastBatch::Partial).build().is_ok());
    refused(builder(flat(4), 2).workers(0), "workers must be in 1..=512");
    refused(builder(flat(4), 2).prefetch(65), "prefetch must be in 1..=64");
    refused(builder(flat(4), 2).partner_window(0), "partner_window is 0");
    refused(builder(flat(1 << 40), 1 << 40), "smaller batch_size");
    refused(builder(flat(1 << 40), 1 << 20).augment(center_crop(4000)), "smaller batch_size");
    refused(builder(flat(4), 2).augment(RandomHorizontalFlip::new(50.0)), "[0.0, 1.0]");
}

#[test]
fn batches_that_the_machine_has_no_memory_for_are_refused_with_their_sizes() {
    let Some(has) = feedline::machine::memory().filter(|&has| has < 60 << 30) else {
        return println!("NOT RUN: the system has 60 GiB or does not say how much it has");
    };
    // Samples of 48,000,000 bytes, in three batches.
    let rows = has / 3 / 48_000_000 + 1;
    let large = builder(flat(1 << 40), rows as usize).prefetch(1).augment(center_crop(4000));
    refused(large, &format!("{rows} samples of 48000000 bytes do not fit into the {has} bytes of memory"));
}

#[test]
fn a_loader_may_have_hundreds_of_workers() {
    refused(builder(flat(4), 2).workers(513), "workers must be in 1..=512");
    let loader = builder(flat(400), 4).workers(130).build().unwrap();
    assert_eq!(epoch_of(&loader, 0).concat(), (0..400).collect::<Vec<_>>());
}

#[test]
fn the_cpu_device_takes_the_decoders_that_give_its_pixels() {
    for decoder in [DecoderChoice::Auto, DecoderChoice::Feedline, DecoderChoice::Cpu] {
        assert!(builder(flat(4), 2).decoder(decoder).build().is_ok(), "{decoder:?}");
    }
    for (decoder, word) in [
        (DecoderChoice::Nvjpeg, "nvjpeg"),
        (DecoderChoice::NvjpegHardware, "nvjpeg-hardware"),
        (DecoderChoice::NvjpegGpu, "nvjpeg-gpu"),
        (DecoderChoice::NvjpegHybrid, "nvjpeg-hybrid"),
    ] {
        let words = format!("decoder = \"{word}\" needs a GPU, and this loader is on the CPU device");
        refused(builder(flat(4), 2).decoder(decoder), &words);
    }
}

#[test]
fn u8_output_cannot_be_normalised() {
    refused(builder(flat(4), 2).normalize([0.5; 3], [0.5; 3]), "u8 output");
    let float = |std| builder(flat(4), 2).output(DType::F32, Layout::Nhwc).normalize([0.5; 3], std);
    refused(float([0.5, 0.0, 0.5]), "every std greater than 0");
    assert!(float([0.5; 3]).build().is_ok());
}

#[test]
fn a_branch_that_cannot_work_is_found_however_rarely_it_is_taken() {
    let rarely = RandomApply::new([CenterCrop::new(8).into()]).p(1e-6);
    let built = Loader::builder(flat(4)).batch_size(2).augment(CenterCrop::new(16)).augment(rarely);
    refused(built, "(where augment[1] (RandomApply) runs its transforms [0])");
    let inner = RandomChoice::new([Resize::new(0).into(), RandomHorizontalFlip::new(1.0).into()]);
    let built = builder(flat(4), 2).augment(RandomChoice::new([inner.into()]));
    refused(built, "transforms[0].transforms[0]: Resize: size must be from 1");
    let erased = Compose::new([
        RandomErasing { p: 1.0, ..RandomErasing::default() }.into(),
        ColorJitter::new(0.5, 0.0, 0.0, 0.0).into(),
    ]);
    let choice =
        RandomChoice::new([RandomHorizontalFlip::new(1.0).into(), erased.into()]).p([1.0 - 1e-6, 1e-6]);
    refused(
        builder(flat(4), 2).augment(choice),
        "augment[1].transforms[1].transforms[1]: brightness comes after erase",
    );
}

#[test]
fn what_cannot_work_once_a_rare_transform_runs_is_found_whatever_the_seed() {
    let erased = |p: f32, seed: u64| {
        let builder = Loader::builder(flat(4)).batch_size(2).seed(seed).augment(CenterCrop::new(64));
        builder.augment(RandomErasing::new(p)).augment(ColorJitter::new(0.5, 0.0, 0.0, 0.0))
    };
    for seed in 0..4 {
        refused(erased(1e-6, seed), "brightness comes after erase");
        assert!(erased(0.0, seed).build().is_ok(), "it never runs");
    }
}

#[test]
fn an_image_as_large_as_the_output_need_not_be_what_the_chain_can_bear() {
    let four = || Loader::builder(flat(4)).batch_size(2).output_size(Size::new(4, 4));
    let crop = || RandomCrop::new(6);
    let loader = four().augment(crop()).augment(Resize::new([4, 4])).build().unwrap();
    assert_eq!(loader.epoch(0).map(|batch| batch.unwrap().len()).sum::<usize>(), 4);
    let view = View::new(4).transform(crop()).transform(Resize::new([4, 4]));
    assert!(Loader::builder(flat(4)).batch_size(2).view(view).build().is_ok());
    refused(four().augment(crop()), "the augmentations end at 6x6 but the output is 4x4");
    let one_of_two = RandomChoice::new([crop().into(), Resize::new([4, 4]).into()]);
    refused(four().augment(one_of_two), "the augmentations end at 6x6 but the output is 4x4");
    refused(four().augment(RandomCrop::new(5000)).augment(Resize::new([4, 4])), "5000");
    let rarely = RandomApply::new([Resize::new([6, 6]).into()]).p(1e-6);
    refused(
        four().augment(Resize::new([4, 4])).augment(rarely),
        "the augmentations end at 6x6 but the output is 4x4",
    );
}

#[test]
fn samples_must_end_at_one_size() {
    let plain = |size: Option<Size>| {
        let builder = Loader::builder(flat(4)).batch_size(2);
        match size {
            Some(size) => builder.output_size(size),
            None => builder,
        }
    };
    refused(plain(None), "a batch needs one size: add a crop, a resize or a letterbox");
    assert!(plain(Some(Size::new(8, 6))).build().is_ok(), "the caller knows the size of all images");
    let shorter = Op::Resize {
        size: Extent::One(32),
        interpolation: Default::default(),
        max_size: None,
        antialias: true,
    };
    refused(plain(None).augment(Fixed(vec![shorter])), "a batch needs one size");
    let cropped = plain(Some(Size::new(8, 6))).augment(center_crop(5));
    refused(
        cropped,
        "the augmentations end at 5x5 but the output is 8x6: add a crop, a resize or a letterbox",
    );
    let loader = plain(None).augment(center_crop(5)).build().unwrap();
    assert_eq!(loader.output().unwrap().size, Size::new(5, 5));
}

#[test]
fn orders_that_cannot_work_are_refused_and_small_images_are_not_the_measure() {
    let erase = Op::Erase { i: 0, j: 0, h: 2, w: 2, v: Value::default() };
    let resize = Op::Resize {
        size: Extent::Two([4, 4]),
        interpolation: Default::default(),
        max_size: None,
        antialias: true,
    };
    refused(Loader::builder(flat(4)).augment(Fixed(vec![erase, resize])), "comes after erase");
    let at_least = |draft: &mut Draft| {
        if draft.size().width < 600 {
            draft.fail(Error::config("too small"));
        }
    };
    struct Picky<F>(F);
    impl<F: Fn(&mut Draft) + Send + Sync> Augment for Picky<F> {
        fn name(&self) -> &'static str {
            "Picky"
        }
        fn plan(&self, draft: &mut Draft, _partners: Vec<Draft>, _rng: &mut dyn Draws) {
            (self.0)(draft);
        }
    }
    let built = Loader::builder(flat(4)).augment(Picky(at_least)).augment(center_crop(4)).build();
    assert!(built.is_ok());
}
