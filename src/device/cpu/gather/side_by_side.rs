//! Blocks of pixels that lie side by side in the source, as those of a moved or sheared image do: read as stretches of
//! rows, and not pixel by pixel.

use super::{Gather, LANES, Places, Plane};
use crate::device::cpu::interleave;
use crate::device::cpu::pixel_block::PixelBlock;
use crate::simd::Level;

/// Nearer than this to a pixel the others count for less than half a level, whatever they are.
const NEAR: f32 = 1.0 / 4096.0;

impl Gather<'_> {
    /// Whether the first `count` places are all so near to a pixel that it alone makes the level.
    #[inline(always)]
    pub(super) fn is_whole(&self, Places { xs, ys, .. }: &Places, count: usize) -> bool {
        let mut whole = true;
        for lane in 0..LANES {
            let away = |place: f32| (place - place.round_ties_even()).abs();
            whole &= (away(xs[lane]) < NEAR) & (away(ys[lane]) < NEAR) | (lane >= count);
        }
        whole
    }

    /// The nearest pixels, if the first `count` lie side by side inside.
    #[inline(always)]
    pub(super) fn copy(&self, places: &Places, count: usize, block: &mut PixelBlock, level: Level) -> bool {
        let (mut xs, mut ys) = ([0.0; LANES], [0.0; LANES]);
        for lane in 0..LANES {
            (xs[lane], ys[lane]) = (places.xs[lane].round_ties_even(), places.ys[lane].round_ties_even());
        }
        let Some(at) = self.side_by_side([&xs, &ys], count, 0.0) else { return false };
        self.stretch(at, &mut block.planes, level)
    }

    /// The four pixels at and after whole positions, as planes, if the first `count` lie side by side inside.
    #[inline(always)]
    pub(super) fn stretches(
        &self,
        lefts: &Plane,
        tops: &Plane,
        count: usize,
        level: Level,
    ) -> Option<[[Plane; 3]; 4]> {
        let above = self.side_by_side([lefts, tops], count, 1.0)?;
        let below = above + self.view.stride;
        let mut taps = [[[0.0; LANES]; 3]; 4];
        let mut there = true;
        for (taps, at) in taps.iter_mut().zip([above, above + 3, below, below + 3]) {
            there &= self.stretch(at, taps, level);
        }
        there.then_some(taps)
    }

    /// The byte of the view where the first of `count` whole positions lies, if the others follow it in the same row, and
    /// all, and what comes `after` them to the right and below, lie inside.
    #[inline(always)]
    fn side_by_side(&self, [xs, ys]: [&Plane; 2], count: usize, after: f32) -> Option<usize> {
        let ([width, height], [x, y]) = (self.edges, [xs[0], ys[0]]);
        let last = x + count as f32 - 1.0;
        if !(x >= 0.0 && last + after < width && y >= 0.0 && y + after < height) {
            return None;
        }
        let mut follows = true;
        for lane in 0..LANES {
            follows &= (xs[lane] == x + lane as i32 as f32) & (ys[lane] == y) | (lane >= count);
        }
        follows.then(|| self.offset(x, y))
    }

    /// The levels of a block from byte `at` of the view on; false where the view does not hold so many.
    #[inline(always)]
    fn stretch(&self, at: usize, planes: &mut [Plane; 3], level: Level) -> bool {
        let Some(packed) = self.view.data.get(at..).and_then(|rest| rest.first_chunk()) else { return false };
        interleave::split(packed, planes, level);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::cpu::image_view::ImageView;
    use crate::geometry::{Orientation, Rect, Size};
    use crate::image::Image;
    use crate::plan::{LayerSource, Method, Outside, Sampled, Span, WarpFilter, WarpMap};
    use crate::simd;

    const SIZE: Size = Size::new(200, 9);

    /// A warp of the image to its own size, by pixels: `x + shear * y + by[0]`, `y + by[1]`.
    fn moved(by: [f32; 2], shear: f32, filter: WarpFilter, outside: Outside) -> (Sampled, WarpMap) {
        let [width, height] = [SIZE.width as f32, SIZE.height as f32];
        let map = [
            2.0 / width,
            2.0 * shear / width,
            2.0 * by[0] / width,
            0.0,
            2.0 / height,
            2.0 * by[1] / height,
            0.0,
            0.0,
            1.0,
        ];
        let warp = WarpMap { map, filter, outside };
        let sampled = Sampled {
            from: LayerSource::Image(0),
            orientation: Orientation::UPRIGHT,
            clip: SIZE.rect(),
            scaled: SIZE,
            offset: [0, 0],
            mirror: [false; 2],
            steps: Span::default(),
            method: Method::Warp(warp),
        };
        (sampled, warp)
    }

    /// One level, tap by tap.
    fn level(data: &[u8], [x, y]: [f32; 2], filter: WarpFilter, fill: Option<f32>, channel: usize) -> u8 {
        let tap = |x: f32, y: f32| {
            let inside = x >= 0.0 && x < SIZE.width as f32 && y >= 0.0 && y < SIZE.height as f32;
            let at = || (y as usize * SIZE.width as usize + x as usize) * 3 + channel;
            inside.then(|| f32::from(data[at()]))
        };
        if filter == WarpFilter::Nearest {
            return tap(x.round_ties_even(), y.round_ties_even()).or(fill).unwrap_or(0.0) as u8;
        }
        let ([left, top], mut sums) = ([x.floor(), y.floor()], [0.0f32; 2]);
        for (down, right) in [(0.0, 0.0), (0.0, 1.0), (1.0, 0.0), (1.0, 1.0)] {
            let share = |far: f32, part: f32| if far == 1.0 { part } else { 1.0 - part };
            let weight = share(right, x - left) * share(down, y - top);
            let found = tap(left + right, top + down);
            sums[0] = found.unwrap_or(0.0).mul_add(weight, sums[0]);
            sums[1] = f32::from(u8::from(found.is_some())).mul_add(weight, sums[1]);
        }
        let sum = fill.map_or(sums[0], |fill| (sums[0] - fill) * sums[1] + fill);
        sum.round_ties_even().clamp(0.0, 255.0) as u8
    }

    #[test]
    fn stretches_of_rows_give_what_single_taps_give() {
        let size = SIZE.pixels() as usize * 3;
        let data: Vec<u8> = (0..size + Image::TAIL).map(|i| (i * i / 7 + i * 31) as u8).collect();
        let view = ImageView { data: &data, stride: SIZE.width as usize * 3, size: SIZE };
        let moves =
            [[0.0, 0.0], [30.0, -2.0], [-77.0, 3.0], [0.25, 0.0], [-3.5, 1.75], [12.0, 0.5], [400.0, 0.0]];
        let outsides = [(Outside::Black, None), (Outside::Fill([200; 3]), Some(200.0))];
        for (by, shear) in moves.into_iter().flat_map(|by| [(by, 0.0), (by, 0.3)]) {
            for (filter, (outside, fill)) in [WarpFilter::Nearest, WarpFilter::Bilinear]
                .into_iter()
                .flat_map(|filter| outsides.map(|outside| (filter, outside)))
            {
                let (sampled, warp) = moved(by, shear, filter, outside);
                let place = |x: usize, y: usize| {
                    crate::device::warp::Warp::of(&sampled, &warp).place(x as f32, y as f32)
                };
                for instructions in simd::levels() {
                    let mut gather = Gather::new(
                        (SIZE.rect(), &sampled, &warp),
                        view,
                        Rect::new(0, 0, SIZE.width, SIZE.height),
                    );
                    let mut row = vec![0; SIZE.width as usize * 3];
                    for y in 0..SIZE.height as usize {
                        gather.row(y, &mut row, instructions);
                        for (i, &found) in row.iter().enumerate() {
                            let expected = level(&data, place(i / 3, y), filter, fill, i % 3);
                            assert_eq!(found, expected, "{by:?} {shear} {warp:?} {i} {y} {instructions:?}");
                        }
                    }
                }
            }
        }
    }
}
