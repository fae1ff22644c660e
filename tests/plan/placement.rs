//! Where samples show their images.

use feedline::draft::Draft;
use feedline::draft::op::{Fill, Interpolation, Op, Padding, PaddingMode};
use feedline::geometry::{Orientation, Size};
use feedline::plan::Placement;

fn placement(ops: impl IntoIterator<Item = Op>) -> Option<Placement> {
    let mut draft = Draft::new(0, Size::new(200, 100), Orientation::UPRIGHT);
    ops.into_iter().for_each(|op| draft.apply(op));
    draft.freeze().unwrap().placement()
}

fn resize(size: Size) -> Op {
    Op::Resize { size: size.into(), interpolation: Interpolation::Bilinear, max_size: None, antialias: true }
}

#[test]
fn scales_and_shifts_are_composed_in_their_order() {
    let padding = Padding::Sides([3, 5, 0, 0]);
    let pad = Op::Pad { padding, fill: Fill::Grey(0), padding_mode: PaddingMode::Constant };
    let crop = Op::Crop { top: 1, left: -2, height: 20, width: 30 };
    let ops = [resize(Size::new(100, 25)), pad, crop, resize(Size::new(60, 40))];
    assert_eq!(placement(ops), Some(Placement { ratio: [1.0, 0.5], pad: [10.0, 8.0] }));
    assert_eq!(placement([]), Some(Placement { ratio: [1.0; 2], pad: [0.0; 2] }));
}

#[test]
fn what_is_mirrored_or_turned_has_no_placement() {
    let turned = Op::Rotate {
        angle: 10.0,
        interpolation: Interpolation::Nearest,
        expand: false,
        center: None,
        fill: None,
    };
    for op in [Op::Hflip {}, Op::Vflip {}, turned] {
        assert_eq!(placement([op.clone()]), None, "{op:?}");
    }
}

#[test]
fn what_shows_two_images_has_no_placement() {
    let own = Draft::new(0, Size::new(8, 8), Orientation::UPRIGHT);
    let mut mixed = Draft::new(1, Size::new(8, 8), Orientation::UPRIGHT);
    mixed.blend(own, 0.5, Size::new(8, 8).rect(), 0.5).unwrap();
    assert_eq!(mixed.freeze().unwrap().placement(), None);
}
