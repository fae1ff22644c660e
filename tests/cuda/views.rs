//! Several views of each sample on a CUDA device: from one decode, to the bit what the CPU makes.

use crate::compare::{on_device, same_batches, same_on_both};
use crate::pictures;
use crate::pipeline::memory;
use crate::scenario::{Outcome, Scenario};
use feedline::augment::View;
use feedline::augment::{
    Augmentation, ColorJitter, GaussianBlur, MixUp, RandomHorizontalFlip, RandomResizedCrop,
};
use feedline::loader::{BadSample, LastBatch, Loader, LoaderBuilder};
use feedline::output::{DType, Layout};

pub(crate) const SCENARIOS: &[Scenario] = &[
    Scenario::new("views are decoded once and are the CPU's", views_are_decoded_once_and_are_the_cpus)
        .weighty(),
    Scenario::new("views of bad samples leave no gaps", views_of_bad_samples_leave_no_gaps).weighty(),
    Scenario::new("views that mix share images", views_that_mix_share_images),
    Scenario::new("views that do not fit are made in parts", views_that_do_not_fit_are_made_in_parts)
        .weighty(),
];

/// A large view and two small ones, each with colours and a blur of its own.
fn crops(builder: LoaderBuilder) -> LoaderBuilder {
    let crop = |edge: u32| {
        View::new(edge)
            .transform(RandomResizedCrop::new(edge).scale([0.1, 0.9]))
            .transform(Augmentation::from(ColorJitter::new(0.4, 0.4, 0.2, 0.1)).with_p(0.5))
            .transform(Augmentation::from(GaussianBlur::new(5)).with_p(0.5))
    };
    let builder = builder.batch_size(5).seed(11).workers(2).last_batch(LastBatch::Partial);
    builder.augment(RandomHorizontalFlip::new(0.5)).view(crop(40)).view(crop(24).count(2))
}

fn views_are_decoded_once_and_are_the_cpus() -> Outcome {
    let loader = same_on_both("views", 2, || crops(Loader::builder(memory(pictures::all()))));
    let stats = loader.stats();
    assert_eq!(stats.images, stats.samples, "an image was decoded again for another view");
    for (dtype, layout) in [(DType::U8, Layout::Nhwc), (DType::F16, Layout::Nchw)] {
        let build = || crops(Loader::builder(memory(pictures::few()))).output(dtype, layout);
        same_on_both(&format!("views as {dtype:?}"), 1, build);
    }
    Ok(())
}

fn views_of_bad_samples_leave_no_gaps() -> Outcome {
    for policy in [BadSample::Skip, BadSample::Substitute] {
        let build = || crops(Loader::builder(memory(pictures::with_bad_ones()))).bad_sample(policy);
        same_on_both(&format!("views, {policy:?}"), 1, build);
    }
    Ok(())
}

fn views_that_mix_share_images() -> Outcome {
    let build = |cache: usize| {
        let mixed = View::new(32).transform(RandomResizedCrop::new(32)).transform(MixUp::new(1.0));
        let builder = Loader::builder(memory(pictures::all())).partner_window(4).image_cache(cache);
        builder.batch_size(4).workers(2).view(mixed.clone()).view(mixed.count(2))
    };
    for cache in [0, 64 << 20] {
        same_batches(&format!("mixed views, {cache} bytes"), 1, || build(cache));
    }
    Ok(())
}

fn views_that_do_not_fit_are_made_in_parts() -> Outcome {
    let build = || crops(Loader::builder(memory(pictures::all())));
    let small = on_device(build().device_memory(1)).build()?;
    for (batch, want) in small.epoch(0).zip(build().build()?.epoch(0)) {
        let (batch, want) = (batch?, want?);
        for (view, want) in batch.views().zip(want.views()) {
            assert!(view.to_host()? == want.images());
        }
    }
    Ok(())
}
