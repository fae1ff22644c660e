//! What went through the resampler while it was decoded against what was decoded first: the same bits and errors.

use super::*;
use crate::device::cpu::shrink;
use crate::device::cpu::{Renderer, Worker};
use crate::draft::Draft;
use crate::draft::op::{Extent, Interpolation, Op};
use crate::geometry::Rect;
use crate::image::{Limits, parse_header};
use crate::output::{DType, Layout, Output};
use crate::plan::Plan;
use crate::policy::{Damaged, DecodeScale};
use crate::rng::{Draws, Rng};
use jpeg_encoder::{ColorType, Encoder, SamplingFactor};

const SAMPLINGS: [SamplingFactor; 8] = [
    SamplingFactor::F_1_1,
    SamplingFactor::F_2_1,
    SamplingFactor::F_1_2,
    SamplingFactor::F_2_2,
    SamplingFactor::F_4_1,
    SamplingFactor::F_4_2,
    SamplingFactor::F_1_4,
    SamplingFactor::F_2_4,
];
const LEVELS: [Level; 4] = Level::ALL;

fn encode(
    sampling: SamplingFactor,
    color: ColorType,
    restart: Option<u16>,
    (width, height): (u16, u16),
) -> Vec<u8> {
    let mut rng = Rng::new(3, 0, u64::from(width) * 1000 + u64::from(height), 0);
    let channels =
        [(ColorType::Luma, 1), (ColorType::Cmyk, 4)].iter().find(|of| of.0 == color).map_or(3, |of| of.1);
    let count = usize::from(width) * usize::from(height) * channels;
    let pixels: Vec<u8> = (0..count).map(|at| (at / 200) as u8 ^ (rng.below(256) as u8 & 0x3F)).collect();
    let mut out = Vec::new();
    let mut encoder = Encoder::new(&mut out, 85);
    encoder.set_sampling_factor(sampling);
    match restart {
        Some(0) => {}
        Some(interval) => encoder.set_restart_interval(interval),
        None => encoder.set_progressive(true),
    }
    encoder.encode(&pixels, width, height, color).expect("the encoder writes to memory");
    out
}

/// Files of every sampling: plain, with restart markers, progressive; narrow, and wide enough for strips of four rows.
fn files() -> Vec<Vec<u8>> {
    let mut files = Vec::new();
    for sampling in SAMPLINGS {
        for restart in [Some(0), Some(7), None] {
            files.push(encode(sampling, ColorType::Rgb, restart, (81, 203)));
        }
        files.push(encode(sampling, ColorType::Rgb, Some(0), (1500, 60)));
        files.push(encode(sampling, ColorType::Rgb, Some(0), (3, 2)));
    }
    files.push(encode(SamplingFactor::F_1_1, ColorType::Luma, Some(0), (50, 131)));
    files.push(encode(SamplingFactor::F_1_1, ColorType::Cmyk, Some(4), (50, 131)));
    files
}

fn resized(rng: &mut Rng, size: Size) -> Plan {
    let mut within = |edge: u32| {
        let length = 1 + rng.below(edge);
        (rng.below(edge - length + 1) as i32, length)
    };
    let ((left, width), (top, height)) = (within(size.width), within(size.height));
    let (interpolation, antialias) = [
        (Interpolation::Bilinear, true),
        (Interpolation::Bilinear, false),
        (Interpolation::Bicubic, true),
        (Interpolation::Nearest, false),
    ][rng.below(4) as usize];
    let (mut rows, columns) = (1 + rng.below(70), [width + 1, 1 + rng.below(width)][rng.below(2) as usize]);
    if (rows, columns) == (height, width) {
        // It would be copied.
        rows += 1;
    }
    let to = Extent::Two([rows, columns]);
    let mut draft = Draft::new(0, size, Orientation::UPRIGHT);
    draft.apply(Op::ResizedCrop { top, left, height, width, size: to, interpolation, antialias });
    if rng.below(2) == 0 {
        draft.apply(Op::Hflip {});
    }
    if rng.below(3) == 0 {
        draft.apply(Op::Vflip {});
    }
    draft.freeze().unwrap()
}

fn levels(plan: &Plan) -> (Output, Vec<u8>) {
    let output = Output { size: plan.size(), dtype: DType::U8, layout: Layout::Nhwc, normalize: None };
    (output, vec![0; output.sample_bytes()])
}

/// Decodes to pixels, then renders them.
fn apart(
    decoder: &mut Decoder,
    bytes: &[u8],
    (plan, scale): (&Plan, Scale),
    index: Option<&mut Index>,
) -> Result<Vec<u8>, ImageError> {
    let (header, mut image) = (parse_header(bytes).unwrap(), Image::default());
    decoder.decode_part(bytes, &header, Part { scale, region: roi::region(plan, 0) }, index, &mut image)?;
    let (output, mut sample) = levels(plan);
    Renderer::with_level(Level::Scalar).render(plan, &[image], &output, &mut sample).unwrap();
    Ok(sample)
}

/// Decodes into the resampler, and renders what is there.
fn together(
    (decoder, target): (&mut Decoder, &mut DecodeTarget),
    level: Level,
    bytes: &[u8],
    (plan, scale): (&Plan, Scale),
    index: Option<&mut Index>,
) -> Result<Vec<u8>, ImageError> {
    let header = &parse_header(bytes).unwrap();
    let plans = ViewPlans::new([plan.clone()]);
    target.decode(decoder, (&plans, 0, scale), Input { bytes, header }, index)?;
    assert!(target.is_resampled && target.image.data.is_empty(), "{plan:?}");
    let (output, mut sample) = levels(plan);
    let images = [target.decoded()];
    Renderer::with_level(level).render_decoded(plan, &images, &output, &mut sample).unwrap();
    Ok(sample)
}

#[test]
fn every_kind_of_file_gives_the_pixels_of_decoding_first() {
    let mut decoder = Decoder::default();
    let mut targets = LEVELS.map(DecodeTarget::with_level);
    let mut refills = 0;
    for (number, bytes) in files().iter().enumerate() {
        let stored = parse_header(bytes).unwrap().size;
        let mut index = Index::default();
        for round in 0..24 {
            let mut rng = Rng::new(5, 0, number as u64, round);
            let scale = Scale::ALL[[0, 0, 0, 1, 2, 3][rng.below(6) as usize]];
            let plan = resized(&mut rng, scale.apply(stored));
            let expected = apart(&mut decoder, bytes, (&plan, scale), None).unwrap();
            for (level, target) in LEVELS.into_iter().zip(&mut targets) {
                for index in [None, Some(&mut index)] {
                    let indexed = index.is_some();
                    let tools = (&mut decoder, &mut *target);
                    let found = together(tools, level, bytes, (&plan, scale), index).unwrap();
                    assert!(
                        found == expected,
                        "file {number}, round {round}, {level:?}, {indexed}: {plan:?}"
                    );
                }
            }
            let region = roi::region(&plan, 0);
            refills +=
                usize::from(u64::from(region.height) * u64::from(region.width) * 3 > STRIP_BYTES as u64);
        }
    }
    assert!(refills > 100, "only {refills} regions are larger than a strip");
}

#[test]
fn a_file_without_its_end_gives_the_same_error_or_grey_and_the_next_sample_is_right() {
    for (sampling, restart) in
        [(SamplingFactor::F_2_2, Some(0)), (SamplingFactor::F_1_1, Some(3)), (SamplingFactor::F_2_2, None)]
    {
        let bytes = encode(sampling, ColorType::Rgb, restart, (81, 103));
        let header = parse_header(&bytes).unwrap();
        let whole = resized(&mut Rng::new(1, 0, 0, 0), header.size);
        let expected = apart(&mut Decoder::default(), &bytes, (&whole, Scale::Full), None).unwrap();
        let mut failures = 0;
        for damaged in [Damaged::Torchvision, Damaged::Libjpeg] {
            let mut decoder = Decoder::new(Limits { damaged, ..Limits::default() });
            let mut target = DecodeTarget::with_level(Level::Avx512);
            for round in 0..40 {
                let mut rng = Rng::new(9, 0, round, 0);
                let plan = resized(&mut rng, header.size);
                let plan = (&plan, Scale::Full);
                let cut = &bytes[..bytes.len() * 2 / 5 + rng.below(bytes.len() as u32 * 3 / 5) as usize];
                let want = apart(&mut decoder, cut, plan, None);
                let found = together((&mut decoder, &mut target), Level::Avx512, cut, plan, None);
                assert_eq!(found, want, "{sampling:?}, round {round}, {damaged:?}");
                failures += usize::from(want.is_err());
                let tools = (&mut decoder, &mut target);
                let next = together(tools, Level::Avx512, &bytes, (&whole, Scale::Full), None);
                assert!(next.as_ref() == Ok(&expected), "behind round {round}");
            }
        }
        assert!(failures > 5 && failures <= 40, "{failures}");
    }
}

#[test]
fn a_damaged_index_does_the_same_as_where_pixels_are_kept() {
    let bytes = encode(SamplingFactor::F_2_2, ColorType::Rgb, Some(0), (301, 103));
    let mut decoder = Decoder::default();
    let mut target = DecodeTarget::with_level(Level::Avx512);
    let mut draft = Draft::new(0, Size::new(301, 103), Orientation::UPRIGHT);
    draft.apply(Op::ResizedCrop {
        top: 40,
        left: 140,
        height: 60,
        width: 70,
        size: Extent::Two([20, 30]),
        interpolation: Interpolation::Bilinear,
        antialias: true,
    });
    let plan = draft.freeze().unwrap();
    let (mut index, mut record, mut stale) = (Index::default(), Vec::new(), 0);
    apart(&mut decoder, &bytes, (&plan, Scale::Full), Some(&mut index)).unwrap();
    index.write(&mut record);
    for at in 0..record.len() {
        for bit in [0, 3, 6] {
            let mut damaged = record.clone();
            damaged[at] ^= 1 << bit;
            let (mut one, mut other) = (Index::default(), Index::default());
            one.read(&damaged);
            other.read(&damaged);
            let want = apart(&mut decoder, &bytes, (&plan, Scale::Full), Some(&mut one));
            let tools = (&mut decoder, &mut target);
            let found = together(tools, Level::Avx512, &bytes, (&plan, Scale::Full), Some(&mut other));
            assert_eq!(found, want, "byte {at}, bit {bit}");
            stale += usize::from(other.last_use().stale);
        }
    }
    assert!(stale > 10, "{stale} decodes began anew");
}

#[test]
fn only_what_one_upright_layer_resamples_as_stored_is_fused() {
    let size = Size::new(80, 60);
    let plan = |orientation, ops: &[Op]| {
        let mut draft = Draft::new(0, size, orientation);
        ops.iter().for_each(|op| draft.apply(op.clone()));
        draft.freeze().unwrap()
    };
    let resize = Op::Resize {
        size: Extent::Two([20, 30]),
        interpolation: Interpolation::Bilinear,
        max_size: None,
        antialias: true,
    };
    let crop = Op::Crop { top: 3, left: 4, height: 30, width: 40 };
    let turn = Op::Rotate {
        angle: 9.0,
        interpolation: Interpolation::Bilinear,
        expand: false,
        center: None,
        fill: None,
    };
    let fused_of = |plan: &Plan, image| only_reader(&ViewPlans::new([plan.clone()]), image).is_some();
    let fused = |plan: &Plan| fused_of(plan, 0);
    let upright = |ops: &[Op]| plan(Orientation::UPRIGHT, ops);
    let plain = upright(&[crop.clone(), resize.clone(), Op::Hflip {}, Op::Brightness { factor: 1.5 }]);
    assert!(fused(&plain));
    assert!(fused(&upright(&[resize.clone(), Op::Sharpness { factor: 2.0 }])), "of a pass");
    assert!(!fused(&upright(std::slice::from_ref(&crop))), "a copy");
    assert!(!fused(&upright(&[Op::Brightness { factor: 1.5 }, resize.clone()])), "steps ahead");
    assert!(!fused(&upright(&[turn])), "a warp");
    for orientation in (1..=8).map(Orientation::from_exif) {
        let turned = orientation != Orientation::UPRIGHT;
        assert_eq!(fused(&plan(orientation, std::slice::from_ref(&resize))), !turned, "{orientation:?}");
    }
    let mut shared = plain.clone();
    shared.layers.push(shared.layers[0]);
    assert!(!fused(&shared), "two layers read it");
    let mut beyond = plain.clone();
    beyond.images[0].stored = Size::new(41, 60);
    assert!(!fused(&beyond), "taps beyond the image are for the renderer to report");
    assert!(!fused_of(&plain, 1));
    let views = ViewPlans::new([plain.clone(), plain]);
    assert!(only_reader(&views, 0).is_none(), "two views read it");
}

#[test]
fn a_worker_gives_the_pixels_of_decoder_and_renderer_for_mixes_too() {
    let files = [
        encode(SamplingFactor::F_2_2, ColorType::Rgb, Some(0), (301, 203)),
        encode(SamplingFactor::F_1_1, ColorType::Rgb, None, (400, 180)),
    ];
    let headers = [parse_header(&files[0]).unwrap(), parse_header(&files[1]).unwrap()];
    let inputs = [0, 1].map(|at| Input { bytes: &files[at], header: &headers[at] });
    let sample = |number: usize, ahead: Option<Op>| {
        let mut draft = Draft::new(number as u64, headers[number].size, Orientation::UPRIGHT);
        let size = Extent::Two([40, 50]);
        let (interpolation, max_size, antialias) = (Interpolation::Bilinear, None, true);
        ahead.into_iter().for_each(|op| draft.apply(op));
        draft.apply(Op::Resize { size, interpolation, max_size, antialias });
        draft
    };
    let mixed = |ahead| {
        let mut draft = sample(0, ahead);
        draft.blend(sample(1, None), 0.3, Rect::new(5, 0, 30, 40), 0.3).unwrap();
        draft.freeze().unwrap()
    };
    let flipped = mixed(Some(Op::Hflip {}));
    for (plan, fused) in [(mixed(None), 2), (flipped, 1), (sample(0, None).freeze().unwrap(), 1)] {
        let inputs = &inputs[..plan.images.len()];
        let mut samples = Vec::new();
        for scale in [DecodeScale::Exact, DecodeScale::Fast] {
            let scales = match scale {
                DecodeScale::Exact => vec![Scale::Full; inputs.len()],
                DecodeScale::Fast => shrink::scales(&ViewPlans::new([plan.clone()]), |_| true),
            };
            let shrunk = shrink::all_shrunk(&ViewPlans::new([plan.clone()]), &scales);
            let want = decoded_first(&shrunk.views()[0].plan, &scales, inputs);
            let mut worker = Worker::new(&Limits::default()).scale(scale);
            let (output, mut found) = levels(&plan);
            worker.decode(&plan, inputs).unwrap();
            worker.render(&plan, &output, &mut found).unwrap();
            assert!(found == want, "{scale:?}: {plan:?}");
            assert_eq!(worker.targets.iter().filter(|target| target.is_resampled).count(), fused);
            if worker.targets[0].is_resampled && scale == DecodeScale::Exact {
                // What was decoded for one plan is no other's.
                let other = resized(&mut Rng::new(2, 0, 0, 0), headers[0].size);
                let (output, mut sample) = levels(&other);
                let error = worker.render(&other, &output, &mut sample).unwrap_err();
                assert!(error.to_string().contains("another plan"), "{error}");
            }
            samples.push(found);
        }
        assert!(samples[0] != samples[1], "the second is made of smaller images");
    }
}

/// The sample of a plan of images at these scales, by decoder and renderer.
fn decoded_first(plan: &Plan, scales: &[Scale], inputs: &[Input<'_>]) -> Vec<u8> {
    let mut decoder = Decoder::default();
    let decoded = |(number, Input { bytes, header }): (usize, &Input<'_>)| {
        let (mut image, region) = (Image::default(), roi::region(plan, number));
        let part = Part { scale: scales[number], region };
        decoder.decode_part(bytes, header, part, None, &mut image).unwrap();
        image
    };
    let images: Vec<Image> = inputs.iter().enumerate().map(decoded).collect();
    let (output, mut sample) = levels(plan);
    Renderer::default().render(plan, &images, &output, &mut sample).unwrap();
    sample
}

#[test]
fn nothing_is_allocated_for_an_image_above_the_limits() {
    let bytes = encode(SamplingFactor::F_1_1, ColorType::Luma, Some(0), (1500, 60));
    let plan = resized(&mut Rng::new(5, 0, 0, 0), Size::new(1500, 60));
    let (header, mut target) = (&parse_header(&bytes).unwrap(), DecodeTarget::with_level(Level::Scalar));
    let mut decoder = Decoder::new(Limits { max_pixels: 89_999, ..Limits::default() });
    let input = Input { bytes: &bytes, header };
    let plans = ViewPlans::new([plan]);
    let (window, sampled, filter) = only_reader(&plans, 0).unwrap();
    let scales = roi::scales(window, sampled, filter);
    let error = target.decode(&mut decoder, (&plans, 0, Scale::Full), input, None).unwrap_err();
    assert_eq!(error, ImageError::TooLarge { pixels: 90_000, limit: 89_999 });
    assert!(target.strip.is_empty() && !target.resampler.is_for(&scales.0, &scales.1));
}
