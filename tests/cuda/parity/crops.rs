//! Samples that show one upright image: a kernel of their own renders them.

use super::{Case, FORMATS, LAYOUTS, case, compare, plain};
use crate::scenario::Outcome;
use feedline::device::cuda::Renderer;
use feedline::draft::Draft;
use feedline::draft::op::{Extent, Interpolation, Op};
use feedline::geometry::{Orientation, Size};
use feedline::output::{DType, Layout};
use feedline::rng::{Draws, Rng};

fn resize(height: u32, width: u32, interpolation: Interpolation, antialias: bool) -> Op {
    Op::Resize { size: Extent::Two([height, width]), interpolation, max_size: None, antialias }
}

/// A crop of any place of any picture, mirrored or not, to a width of whole fours; a quarter of them are turned by their EXIF
/// orientation, which the kernel must leave to the other one. Half of them lie in memory that ends with their last pixel.
fn crop(rng: &mut Rng, number: u64, size: Size) -> Result<Case, Box<dyn std::error::Error>> {
    let stored = Size::new(1 + rng.below(130), 1 + rng.below(110));
    let orientation = if rng.below(4) == 0 { 1 + rng.below(8) as u16 } else { 1 };
    let mut draft = Draft::new(0, stored, Orientation::from_exif(orientation));
    let whole = draft.size();
    let (width, height) = (1 + rng.below(whole.width), 1 + rng.below(whole.height));
    let (left, top) = (rng.below(whole.width - width + 1), rng.below(whole.height - height + 1));
    draft.apply(Op::Crop { top: top as i32, left: left as i32, height, width });
    let interpolation = [Interpolation::Bilinear, Interpolation::Bicubic][rng.below(2) as usize];
    let antialias = matches!(interpolation, Interpolation::Bicubic) || rng.below(4) > 0;
    draft.apply(resize(size.height, size.width, interpolation, antialias));
    for op in [Op::Hflip {}, Op::Vflip {}] {
        if rng.below(2) == 0 {
            draft.apply(op);
        }
    }
    let mut case = case(draft, rng, number)?;
    if rng.below(2) == 0 {
        for image in &mut case.images {
            image.stride = 3 * image.region.width as usize;
        }
    }
    Ok(case)
}

pub(super) fn any() -> Outcome {
    let mut renderer = Renderer::new(0).map_err(plain)?;
    for number in 0..60 {
        let mut rng = Rng::new(20, 0, number, 0);
        let size = Size::new(4 + 4 * rng.below(20), 1 + rng.below(70));
        let cases = (0..3).map(|sample| crop(&mut rng, number * 10 + sample, size));
        let cases: Vec<Case> = cases.collect::<Result<_, _>>()?;
        let (dtype, layout) = (FORMATS[number as usize % 4], LAYOUTS[number as usize / 4 % 2]);
        compare(&mut renderer, &cases, &[dtype], &[layout])?;
    }
    Ok(())
}

/// A tile's columns, in groups of four: on both sides of each number at which fewer rows are taken at a time, and beyond
/// what the kernel takes at all. Heights are such that rows are taken at several times.
pub(super) fn shrinking() -> Outcome {
    let mut renderer = Renderer::new(0).map_err(plain)?;
    for (number, across) in [64, 65, 128, 129, 256, 257, 512, 513, 860, 900, 1100].into_iter().enumerate() {
        let mut rng = Rng::new(21, 0, number as u64, 0);
        for interpolation in [Interpolation::Bilinear, Interpolation::Bicubic] {
            let mut draft = Draft::new(0, Size::new(across, 190), Orientation::UPRIGHT);
            draft.apply(resize(34, 32, interpolation, true));
            draft.apply(Op::Hflip {});
            let case = case(draft, &mut rng, u64::from(across))?;
            compare(&mut renderer, &[case], &[DType::F16], &[Layout::Nchw])?;
        }
    }
    Ok(())
}
