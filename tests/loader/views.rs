//! Several views of each sample: each as a loader of its own would make it, from one decode.

use crate::mixing::Mix;
use crate::support::{Flat, builder, flat, mask};
use feedline::augment::View;
use feedline::augment::{
    CenterCrop, ColorJitter, MixUp, RandomApply, RandomCrop, RandomHorizontalFlip, RandomResizedCrop, Resize,
};
use feedline::device::cpu::Input;
use feedline::device::cpu::Worker;
use feedline::draft::op::{Extent, Interpolation};
use feedline::error::Result;
use feedline::geometry::Size;
use feedline::image::{Limits, parse_header};
use feedline::label::{Label, Object, Objects, Unit};
use feedline::loader::{BadSample, Batch, LastBatch, Loader, LoaderBuilder};
use feedline::output::{DType, Layout};
use feedline::policy::DecodeScale;
use feedline::recipe::Recipe;
use feedline::source::Folder;
use std::sync::Arc;

fn photos() -> LoaderBuilder {
    Loader::builder(Folder::open("data/photos").unwrap()).workers(2)
}

/// A large and two small crops, as self-supervised training takes them.
fn crops(builder: LoaderBuilder) -> LoaderBuilder {
    let crop = |edge: u32, scale| {
        View::new(edge)
            .transform(RandomResizedCrop::new(edge).scale(scale).interpolation(Interpolation::Bicubic))
            .transform(RandomApply::new([ColorJitter::new(0.4, 0.4, 0.2, 0.1).into()]).p(0.5))
    };
    builder.view(crop(64, [0.4, 1.0])).view(crop(32, [0.05, 0.3]).count(2))
}

fn batches(loader: &Loader) -> Vec<Batch> {
    loader.epoch(0).collect::<Result<_>>().unwrap()
}

fn pixels(batch: &Batch, view: usize) -> &[u8] {
    batch.view(view).unwrap().images()
}

/// A view of sample `index`, decoded and rendered for itself.
fn alone(loader: &Loader, (epoch, index, view): (u64, u64, usize), scale: DecodeScale) -> Vec<f32> {
    let (source, output) = (loader.source(), &loader.outputs()[view]);
    let mut bytes = Vec::new();
    source.read(index as usize, &mut bytes).unwrap();
    let header = &parse_header(&bytes).unwrap();
    let plan = loader.plan_view(epoch, index, view).unwrap().plan;
    let mut worker = Worker::new(&Limits::default()).scale(scale);
    worker.decode(&plan, &[Input { bytes: &bytes, header }]).unwrap();
    let mut values = vec![0f32; output.sample_bytes() / 4];
    worker.render(&plan, output, bytemuck::cast_slice_mut(&mut values)).unwrap();
    values
}

/// All views of all samples of an epoch: index, number of the view, values.
fn rows(loader: &Loader, epoch: u64) -> Vec<(u64, usize, Vec<f32>)> {
    let of_batch = |batch: Result<Batch>| {
        let batch = batch.unwrap();
        let of_view = |(number, view): (usize, feedline::loader::BatchView<'_>)| {
            let values = view.as_f32().unwrap();
            let rows = values.chunks(values.len() / batch.len()).map(<[f32]>::to_vec);
            batch.indices().iter().zip(rows).map(|(&index, row)| (index, number, row)).collect::<Vec<_>>()
        };
        batch.views().enumerate().flat_map(of_view).collect::<Vec<_>>()
    };
    loader.epoch(epoch).flat_map(of_batch).collect()
}

#[test]
fn each_view_is_what_its_plan_says_from_what_all_views_decode_together() {
    let loader = crops(photos()).batch_size(5).build().unwrap();
    let sizes: Vec<u32> = loader.outputs().iter().map(|output| output.size.width).collect();
    assert_eq!(sizes, [64, 32, 32]);
    let batch = &batches(&loader)[0];
    let shapes: Vec<_> = batch.views().map(|view| view.shape()).collect();
    assert_eq!(shapes, [[5, 3, 64, 64], [5, 3, 32, 32], [5, 3, 32, 32]]);
    for epoch in 0..2 {
        for (index, view, got) in rows(&loader, epoch) {
            let want = alone(&loader, (epoch, index, view), DecodeScale::Exact);
            assert!(got == want, "epoch {epoch}, {index}, view {view}");
        }
    }
    let stats = loader.stats();
    assert_eq!(stats.images, stats.samples, "each sample decodes its image once");
    assert!(stats.index.hits > 0, "{:?}", stats.index);
}

#[test]
fn an_image_is_not_decoded_at_a_smaller_scale_than_each_of_its_views_allows() {
    let loader = crops(photos()).batch_size(5).decode_scale(DecodeScale::Fast).build().unwrap();
    let apart = |one: &[f32], other: &[f32]| -> f64 {
        one.iter().zip(other).map(|(a, b)| f64::from((a - b).abs())).sum::<f64>() / one.len() as f64
    };
    let (mut together, mut each) = (0.0, 0.0);
    for (index, view, got) in rows(&loader, 0) {
        let exact = alone(&loader, (0, index, view), DecodeScale::Exact);
        together += apart(&got, &exact);
        each += apart(&alone(&loader, (0, index, view), DecodeScale::Fast), &exact);
    }
    assert!(0.0 < together && together < each, "{together} beside {each}");
}

#[test]
fn what_all_views_have_in_common_draws_the_same_and_their_own_transforms_do_not() {
    let view = || View::new(24).transform(RandomCrop::new(24));
    let build = |views: Vec<View>| {
        let builder =
            photos().augment(Resize::new(Extent::Two([48, 64]))).augment(RandomHorizontalFlip::new(0.5));
        let builder = builder.output(DType::U8, Layout::Nhwc).batch_size(4);
        batches(&views.into_iter().fold(builder, LoaderBuilder::view).build().unwrap())
    };
    let same = build(vec![View::new([48, 64]), View::new([48, 64])]);
    for batch in &same {
        assert_eq!(pixels(batch, 0), pixels(batch, 1));
    }
    let two = build(vec![view().count(2), view()]);
    let more = build(vec![view().count(3), view(), View::new([48, 64])]);
    let mut equal = 0;
    for ((two, more), plain) in two.iter().zip(&more).zip(&same) {
        assert_eq!((pixels(two, 0), pixels(two, 1)), (pixels(more, 0), pixels(more, 1)));
        assert_eq!(
            pixels(two, 2),
            pixels(more, 3),
            "a view keeps its dice when the one before it has more copies"
        );
        assert_eq!(pixels(more, 4), pixels(plain, 0));
        let rows = |view| pixels(two, view).chunks(24 * 24 * 3);
        equal += rows(0).zip(rows(1)).zip(rows(2)).filter(|((a, b), c)| a == b || b == c || a == c).count();
    }
    assert!(equal < 3, "{equal} of the crops are the same in two views");
}

#[test]
fn views_of_a_partial_batch_and_beside_bad_samples_have_no_gaps() {
    let source = Flat { len: 11, cut: vec![1, 6], unreadable: vec![4], ..Flat::default() };
    let two = View::new(4);
    let wide = View::new([2, 6]).transform(Resize::new(Extent::Two([2, 6])));
    let loader = builder(source, 4).bad_sample(BadSample::Skip).last_batch(LastBatch::Partial);
    let loader = loader.view(two).view(wide).build().unwrap();
    let mut shown = Vec::new();
    for batch in batches(&loader) {
        assert_eq!(batch.view(1).unwrap().shape(), [batch.len(), 3, 2, 6]);
        for (row, &index) in batch.indices().iter().enumerate() {
            shown.push(index);
            for (view, plane) in [(0, 16), (1, 12)] {
                let values = &batch.view(view).unwrap().as_u8().unwrap()[row * 3 * plane..][..3 * plane];
                let want = [vec![index as u8; plane], vec![0; plane], vec![77; plane]].concat();
                assert_eq!(values, want, "sample {index}, view {view}");
            }
        }
    }
    assert_eq!(shown, [0, 2, 3, 5, 7, 8, 9, 10]);
    assert_eq!(batches(&loader)[0].labels(), [0, 2, 3]);
}

#[test]
fn objects_masks_and_shares_are_those_of_each_view() {
    let labels = |_: usize| {
        let list = vec![Object { class: 3, bbox: [0.0, 0.0, 0.5, 1.0], ..Object::default() }];
        Label::Objects(Arc::new(Objects { unit: Unit::Normalized, list, skeleton: None }))
    };
    let classes = |_: usize| {
        let classes = [9, 9, 9, 9, 5, 5, 5, 5].repeat(6);
        Some(mask(::png::ColorType::Grayscale, ::png::BitDepth::Eight, [8, 6], &classes))
    };
    let source = Flat { len: 4, objects: Some(labels), masks: Some(classes), ..Flat::default() };
    let view = || View::new([6, 8]);
    let loader = Loader::builder(source).batch_size(4).output(DType::F32, Layout::Nhwc).masks(255);
    let flipped = view().transform(RandomHorizontalFlip::new(1.0));
    let mixed = view().transform(MixUp::new(1.0));
    let cropped = View::new(2).transform(CenterCrop::new(2));
    let loader = loader.view(view()).view(flipped).view(mixed).view(cropped).build().unwrap();
    let batch = &batches(&loader)[0];
    let boxes = |view: usize| batch.view(view).unwrap().objects().unwrap().boxes[0];
    assert_eq!(
        (boxes(0), boxes(1), boxes(3)),
        ([0.0, 0.0, 4.0, 6.0], [4.0, 0.0, 8.0, 6.0], [0.0, 0.0, 1.0, 2.0])
    );
    let row = |view: usize| &batch.view(view).unwrap().masks().unwrap()[..8];
    assert_eq!((row(0), row(1)), (&[9, 9, 9, 9, 5, 5, 5, 5][..], &[5, 5, 5, 5, 9, 9, 9, 9][..]));
    assert_eq!(batch.view(3).unwrap().masks().unwrap()[..4], [9, 5, 9, 5]);
    let shares = |view: usize| batch.view(view).unwrap().label_shares(0).len();
    assert_eq!((shares(0), shares(2)), (1, 2));
    assert_eq!(
        (batch.masks(), batch.objects().unwrap().boxes[0]),
        (batch.view(0).unwrap().masks(), boxes(0))
    );
    assert_eq!(batch.view_count(), 4);
    assert!(batch.view(4).is_none());
}

#[test]
fn a_loader_without_views_has_one() {
    let loader = builder(flat(4), 2).build().unwrap();
    assert_eq!((loader.view_count(), loader.outputs().len()), (1, 1));
    for batch in batches(&loader) {
        let view = batch.view(0).unwrap();
        assert_eq!((batch.view_count(), view.images(), view.shape()), (1, batch.images(), batch.shape()));
    }
}

/// Two views of a mix, on `ranks` ranks.
fn mixing(rank: usize, ranks: usize) -> LoaderBuilder {
    let view = || View::new(4).transform(ColorJitter::new(0.5, 0.0, 0.0, 0.0));
    let builder = builder(flat(23), 3).augment(Mix).output(DType::F32, Layout::Nchw).rank(rank, ranks);
    let builder = builder.view(view()).view(view().transform(RandomHorizontalFlip::new(0.5)).count(2));
    builder.shuffle(true).seed(8).partner_window(4).last_batch(LastBatch::Partial).workers(1)
}

#[test]
fn a_run_resumed_at_every_batch_of_an_epoch_has_the_same_views_on_1_2_and_3_ranks() {
    let stream = |epoch: feedline::loader::Epoch| -> Vec<Vec<Vec<u8>>> {
        let views = |batch: Batch| batch.views().map(|view| view.images().to_vec()).collect();
        epoch.map(|batch| views(batch.unwrap())).collect()
    };
    for ranks in 1..=3 {
        for rank in 0..ranks {
            let loader = mixing(rank, ranks).build().unwrap();
            let whole = stream(loader.epoch(1));
            for steps in 0..whole.len() {
                let mut epoch = loader.epoch(1);
                epoch.by_ref().take(steps).for_each(|batch| drop(batch.unwrap()));
                let state = epoch.state();
                drop(epoch);
                let other = mixing(rank, ranks).workers(2).build().unwrap();
                assert_eq!(
                    stream(other.resume(&state).unwrap()),
                    whole[steps..],
                    "{rank} of {ranks}, {steps}"
                );
            }
        }
    }
    let state = mixing(0, 1).build().unwrap().state_ahead_of(1);
    let other = mixing(0, 1).view(View::new(4)).build().unwrap();
    assert!(other.resume(&state).err().unwrap().to_string().contains("recipe"));
}

#[test]
fn views_that_cannot_be_are_refused_where_they_stand() {
    let refused = |builder: LoaderBuilder, words: &str| {
        let error = builder.build().err().expect(words).to_string();
        assert!(error.contains(words), "{error}");
    };
    let plain = || builder(flat(4), 2);
    refused(
        plain().view(View::new(4)).view(View::new(5)),
        "views[1]: the augmentations end at 4x4 but the output is 5x5",
    );
    refused(plain().view(View::new(0)), "views[0]: size is [0, 0]");
    refused(plain().view(View::new(4).count(0)), "views[0]: count is 0");
    refused(plain().view(View::new(4).count(40)).view(View::new(4).count(40)), "there are 80");
    let inner = RandomApply::new([CenterCrop::new(0).into()]);
    let nested = View::new(4).transform(RandomHorizontalFlip::new(0.5)).transform(inner);
    refused(plain().view(nested), "views[0].transforms[1].transforms[0]: CenterCrop: size");
    let crop = |edge| View::new(4).transform(RandomCrop::new(edge));
    refused(plain().view(View::new(4)).view(crop(9)), "views[1].transforms[0]: RandomCrop");
    refused(Loader::builder(flat(4)).view(crop(9)), "views[0]: the augmentations end at 9x9");
    refused(plain().view(View::new(4)).output_size(Size::new(4, 4)), "leave the output's size out");
    refused(
        plain().view(View::new(4)).multi_scale(feedline::output::MultiScale::Sizes(Vec::new())),
        "multi_scale",
    );
    refused(photos().batch_size(2).view(View::new(4)).decode_only(), "nothing to view");
}

const VIEWS: &str = r#"
name = "views"
[[augment]]
op = "RandomHorizontalFlip"
[[views]]
size = 64
[[views.transforms]]
op = "RandomResizedCrop"
size = 64
[[views]]
size = [24, 32]
count = 3
transforms = [
    { op = "Resize", size = [24, 32] },
    { op = "RandomApply", transforms = [{ op = "RandomInvert" }] },
]
"#;

#[test]
fn views_are_read_and_written_back() {
    let recipe = Recipe::parse(VIEWS).unwrap();
    assert_eq!(recipe.views.len(), 2);
    assert_eq!((recipe.views[0].count, recipe.views[1].pixels()), (1, Size::new(32, 24)));
    assert_eq!(recipe.views[1].transforms.len(), 2);
    assert_eq!(Recipe::parse(&recipe.to_toml().unwrap()).unwrap(), recipe);
    let loader = Loader::builder(flat(4)).recipe(&recipe).batch_size(2).build().unwrap();
    assert_eq!(loader.view_count(), 4);
}

#[test]
fn containers_of_a_view_may_stand_as_deep_as_those_of_a_chain() {
    let deep = |levels: usize| {
        let tree = (0..levels).fold("{ op = \"RandomInvert\" }".to_owned(), |tree, _| {
            format!("{{ op = \"Compose\", transforms = [{tree}] }}")
        });
        Recipe::parse(&format!("name = \"deep\"\n[[views]]\nsize = 4\ntransforms = [{tree}]"))
    };
    let recipe = deep(8).unwrap();
    assert_eq!(Recipe::parse(&recipe.to_toml().unwrap()).unwrap(), recipe);
    assert!(deep(9).unwrap_err().to_string().contains("more than 8 deep: use fewer levels"));
}

#[test]
fn what_is_wrong_in_a_view_is_named_by_its_line_and_its_place() {
    for (from, to, want) in [
        ("size = [24, 32]\ncount", "count", "recipe:10: views[1]: a view needs a size: give size = 224, or"),
        ("count = 3", "cuont = 3", "recipe:12: views[1] has no key `cuont`: did you mean `count`"),
        ("count = 3", "count = 0", "recipe:10: views[1]: count is 0"),
        ("count = 3", "count = 99", "recipe:10: views[1]: count is 99, and may be 1 to 64"),
        ("size = 64\n[[views.t", "size = 0\n[[views.t", "recipe:5: views[0]: size is [0, 0]"),
        ("\"Resize\"", "\"Reszie\"", "recipe:14: views[1].transforms[0]: unknown op `Reszie`: did you mean"),
        ("\"RandomInvert\"", "\"Invert\"", "recipe:15: views[1].transforms[1].transforms[0]: unknown op"),
        ("size = [24, 32] }", "size = [0, 32] }", "recipe:14: views[1].transforms[0]: Resize: size must be"),
        ("name = \"views\"", "name = \"views\"\ndecode_only = true", "decode_only renders nothing"),
    ] {
        let message = Recipe::parse(&VIEWS.replacen(from, to, 1)).unwrap_err().to_string();
        assert!(message.contains(want), "{message}");
    }
}
