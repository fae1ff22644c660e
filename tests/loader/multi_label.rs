//! Images with several classes: multi-hot rows, and what mixes make of them.

use crate::support::{builder, flat};
use feedline::augment::{Augment, CutMix, MixUp};
use feedline::label::Label;
use feedline::loader::Loader;
use feedline::output::{DType, Layout};

/// Of 6 classes image `index` has those whose bits it has; some have none, and some no label.
fn label(index: usize) -> Label {
    match index % 8 {
        7 => Label::Unlabelled,
        _ => Label::Classes((0..6).filter(|bit| index >> bit & 1 == 1).collect::<Vec<i64>>().into()),
    }
}

fn mixing(augment: impl Augment + 'static, label: Option<fn(usize) -> Label>) -> Loader {
    let mut source = flat(48);
    source.objects = label;
    let builder = builder(source, 8).augment(augment).output(DType::F32, Layout::Nchw);
    builder.shuffle(true).seed(8).partner_window(16).build().unwrap()
}

/// The rows of a mix, made of the shares that the same mix has where each image is a class of its own.
fn follows(augment: impl Augment + Clone + 'static) {
    let (single, several) = (mixing(augment.clone(), None), mixing(augment, Some(label)));
    let mut mixed = 0;
    for (single, several) in single.epoch(0).zip(several.epoch(0)) {
        let (single, several) = (single.unwrap(), several.unwrap());
        let (dense, smooth) = (several.one_hot(6, 0.0).unwrap(), several.one_hot(6, 0.12).unwrap());
        for row in 0..several.len() {
            let (mut want, mut labelled) = ([0.0f32; 6], 0.0);
            for &(image, share) in single.label_shares(row) {
                let label = label(image as usize);
                label.classes().iter().for_each(|class| want[*class as usize] += share);
                labelled += if label == Label::Unlabelled { 0.0 } else { share };
            }
            mixed += usize::from(single.label_shares(row).len() > 1);
            let (dense, smooth) = (&dense[row * 6..][..6], &smooth[row * 6..][..6]);
            for class in 0..6 {
                assert!((dense[class] - want[class]).abs() < 1e-6, "{dense:?} is not {want:?}");
                let soft = want[class] * 0.88 + labelled * 0.12 / 6.0;
                assert!((smooth[class] - soft).abs() < 1e-6, "{smooth:?}: {class} is not {soft}");
            }
            let own = label(several.indices()[row] as usize);
            assert_eq!(several.labels()[row], if own.classes().len() == 1 { own.classes()[0] } else { -1 });
        }
    }
    assert!(mixed > 0);
}

#[test]
fn mixes_weigh_all_classes_of_an_image_by_its_share() {
    follows(MixUp::default());
    follows(CutMix::default());
}
