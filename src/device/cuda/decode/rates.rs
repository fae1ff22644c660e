//! How fast each decoder is, as measured, and which files each one gets so that all are done soonest.

use super::route::{Route, Routes};
use std::time::Duration;

/// The batched call decodes on the GPU's processors only in batches larger than this.
const GPU_HUFFMAN_BATCH: usize = 50;
/// What the newest measurement weighs; about the last ten count.
const NEWEST: f64 = 0.2;

/// Nanoseconds a pixel, for each decoder.
#[derive(Clone, Debug)]
pub(super) struct Rates([f64; Route::GPU.len()]);

impl Default for Rates {
    /// First guesses, which the first batches replace. Engines: what torchvision published for the A100's five cores
    /// (7830 images of 551x676 a second). Hybrid: entropy decoding on one core, of the order of 200 million pixels a
    /// second. GPU Huffman: a guess between the two.
    fn default() -> Self {
        Self([0.35, 1.0, 5.0])
    }
}

impl Rates {
    /// Takes a measurement in; one of nothing is none.
    pub(super) fn note(&mut self, route: Route, pixels: u64, time: Duration) {
        if pixels == 0 || route == Route::Cpu {
            return;
        }
        let rate = &mut self.0[route as usize];
        *rate += NEWEST * (time.as_nanos() as f64 / pixels as f64 - *rate);
    }

    /// The one of these that would be done soonest with one more image, each being busy for so long already.
    fn soonest(&self, routes: Routes, busy: &[f64; Route::GPU.len()], pixels: u64) -> Route {
        let ends = |route: Route| busy[route as usize] + self.cost(route, pixels);
        let able = Route::GPU.into_iter().filter(|&route| routes.has(route));
        able.min_by(|&a, &b| ends(a).total_cmp(&ends(b))).unwrap_or(Route::Cpu)
    }

    fn cost(&self, route: Route, pixels: u64) -> f64 {
        self.0[route as usize] * pixels as f64
    }
}

/// Gives each image, of so many pixels and with such candidates, to the one that would be done with it soonest, the
/// largest first. [`Route::Cpu`] where there is no candidate.
pub(super) fn assign(images: &[(u64, Routes)], rates: &Rates) -> Vec<Route> {
    let routes = assign_all(images, rates);
    let in_batch = routes.iter().filter(|&&route| route == Route::GpuHuffman).count();
    if in_batch == 0 || in_batch > GPU_HUFFMAN_BATCH {
        return routes;
    }
    // Too few for a batch of their own: as if it were not there.
    let images: Vec<(u64, Routes)> =
        images.iter().map(|&(pixels, routes)| (pixels, routes.without(Route::GpuHuffman))).collect();
    assign_all(&images, rates)
}

fn assign_all(images: &[(u64, Routes)], rates: &Rates) -> Vec<Route> {
    let mut order: Vec<usize> = (0..images.len()).collect();
    order.sort_by_key(|&at| std::cmp::Reverse(images[at].0));
    let mut busy = [0.0; Route::GPU.len()];
    let mut routes = vec![Route::Cpu; images.len()];
    for at in order {
        let (pixels, candidates) = images[at];
        let route = rates.soonest(candidates, &busy, pixels);
        if route != Route::Cpu {
            busy[route as usize] += rates.cost(route, pixels);
        }
        routes[at] = route;
    }
    routes
}

#[cfg(test)]
mod tests {
    use super::*;

    const PIXELS: u64 = 500 * 375;

    fn count(routes: &[Route], route: Route) -> usize {
        routes.iter().filter(|&&other| other == route).count()
    }

    #[test]
    fn a_few_images_go_to_the_fastest() {
        let routes = assign(&[(PIXELS, Routes::ALL); 4], &Rates::default());
        assert_eq!(routes, [Route::Hardware; 4]);
    }

    #[test]
    fn many_images_are_shared_so_that_all_end_together() {
        let without = Routes::ALL.without(Route::GpuHuffman);
        let routes = assign(&[(PIXELS, without); 64], &Rates::default());
        // The hybrid path is 5 / 0.35 = 14 times slower: one image in fifteen.
        assert_eq!(count(&routes, Route::Hybrid), 4);
        assert_eq!(count(&routes, Route::Hardware), 60);
    }

    #[test]
    fn gpu_huffman_is_used_in_large_batches_only() {
        let without_engines = Routes::ALL.without(Route::Hardware);
        let few = assign(&[(PIXELS, without_engines); 40], &Rates::default());
        assert_eq!(count(&few, Route::GpuHuffman), 0);
        let many = assign(&[(PIXELS, without_engines); 128], &Rates::default());
        assert!(count(&many, Route::GpuHuffman) > GPU_HUFFMAN_BATCH, "{many:?}");
        assert!(count(&many, Route::Hybrid) > 0);
    }

    #[test]
    fn an_image_that_nobody_takes_is_the_cpus() {
        let routes = assign(&[(PIXELS, Routes::NONE), (PIXELS, Routes::ALL)], &Rates::default());
        assert_eq!(routes, [Route::Cpu, Route::Hardware]);
    }

    #[test]
    fn a_decoder_that_turns_out_slow_gets_less() {
        let mut rates = Rates::default();
        for _ in 0..40 {
            rates.note(Route::Hardware, 1000, Duration::from_micros(50));
        }
        assert_eq!(assign(&[(PIXELS, Routes::ALL.without(Route::GpuHuffman))], &rates), [Route::Hybrid]);
        let before = rates.clone();
        rates.note(Route::Hybrid, 0, Duration::from_secs(1));
        assert_eq!(before.0, rates.0, "a measurement of nothing is none");
    }
}
