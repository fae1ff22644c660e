//! What rendering costs behind the decoder: one sample of 500x375 to 224x224, a core.

use divan::{Bencher, black_box, counter::ItemsCount};
use feedline::color::Normalize;
use feedline::device::cpu::Renderer;
use feedline::draft::{Draft, op::Extent, op::Interpolation, op::Op};
use feedline::geometry::{Orientation, Size};
use feedline::image::Image;
use feedline::output::{DType, Layout, Output};
use feedline::plan::Plan;

fn main() {
    divan::main();
}

const STORED: Size = Size::new(500, 375);

fn photograph() -> Image {
    let mut image = Image::default();
    image.reset(STORED, STORED.rect());
    image.data.iter_mut().enumerate().for_each(|(i, level)| *level = ((i * 2_654_435_761) >> 13) as u8);
    image
}

fn plan(ops: &[Op]) -> Plan {
    let mut draft = Draft::new(0, STORED, Orientation::UPRIGHT);
    ops.iter().for_each(|op| draft.apply(op.clone()));
    draft.freeze().expect("a plan")
}

fn crop() -> Op {
    Op::ResizedCrop {
        top: 20,
        left: 30,
        height: 300,
        width: 340,
        size: Extent::Two([224, 224]),
        interpolation: Default::default(),
        antialias: true,
    }
}

fn jitter() -> [Op; 4] {
    [
        Op::Brightness { factor: 1.2 },
        Op::Contrast { factor: 0.8 },
        Op::Saturation { factor: 1.3 },
        Op::Hue { factor: 0.05 },
    ]
}

fn run(bencher: Bencher<'_, '_>, ops: &[Op], dtype: DType, layout: Layout) {
    let (image, plan) = ([photograph()], plan(ops));
    let normalize = (dtype != DType::U8).then_some(Normalize::IMAGENET);
    let output = Output { size: plan.size(), dtype, layout, normalize };
    let mut sample = vec![0f32; output.sample_bytes().div_ceil(4)];
    let sample = &mut bytemuck::cast_slice_mut(&mut sample)[..output.sample_bytes()];
    let mut renderer = Renderer::default();
    bencher.counter(ItemsCount::new(1usize)).bench_local(|| {
        renderer.render(black_box(&plan), &image, &output, sample).expect("rendered");
    });
}

#[divan::bench(args = [DType::F32, DType::F16, DType::Bf16, DType::U8])]
fn crop_nchw(bencher: Bencher<'_, '_>, dtype: DType) {
    run(bencher, &[crop(), Op::Hflip {}], dtype, Layout::Nchw);
}

#[divan::bench(args = [DType::F32, DType::F16, DType::U8])]
fn crop_nhwc(bencher: Bencher<'_, '_>, dtype: DType) {
    run(bencher, &[crop(), Op::Hflip {}], dtype, Layout::Nhwc);
}

/// Half of a turn's eighth: every output pixel is sampled by itself.
#[divan::bench(args = [Interpolation::Nearest, Interpolation::Bilinear])]
fn rotate(bencher: Bencher<'_, '_>, interpolation: Interpolation) {
    let small = Op::Crop { top: 70, left: 130, height: 224, width: 224 };
    let turn = Op::Rotate { angle: 22.5, interpolation, expand: false, center: None, fill: Some(0.into()) };
    run(bencher, &[small, turn], DType::U8, Layout::Nhwc);
}

/// The whole image, with one step on each of its 187,500 pixels, and with none.
#[divan::bench(args = [false, true])]
fn hsv(bencher: Bencher<'_, '_>, step: bool) {
    let change = [Op::Hsv { hue: 0.01, saturation: 1.4, value: 0.8 }];
    run(bencher, if step { &change } else { &[] }, DType::U8, Layout::Nhwc);
}

#[divan::bench]
fn crop_and_jitter(bencher: Bencher<'_, '_>) {
    run(bencher, &[&[crop()], jitter().as_slice()].concat(), DType::F32, Layout::Nchw);
}

#[divan::bench]
fn jitter_ahead_of_crop(bencher: Bencher<'_, '_>) {
    run(bencher, &[jitter().as_slice(), &[crop()]].concat(), DType::F32, Layout::Nchw);
}

#[divan::bench]
fn two_resizes(bencher: Bencher<'_, '_>) {
    let shrink = Op::Resize {
        size: Extent::One(256),
        interpolation: Default::default(),
        max_size: None,
        antialias: true,
    };
    let last = Op::Resize {
        size: Extent::Two([224, 224]),
        interpolation: Default::default(),
        max_size: None,
        antialias: true,
    };
    run(bencher, &[shrink, last], DType::F32, Layout::Nchw);
}
