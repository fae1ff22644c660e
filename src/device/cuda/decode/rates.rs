//! How fast each decoder is, as measured, and which of nvJPEG's each file of a batch gets so that all are done soonest.
//!
//! The measure is a byte of the file: what costs time is decoding the entropy-coded bytes, whatever their number of
//! pixels.

use super::route::{Route, Routes};
use crate::policy::FEW_FOR_A_GPU;
use std::time::Duration;

/// The batched call decodes on the GPU's processors only batches of at least so many; smaller ones it decodes on the
/// calling thread.
pub(super) const GPU_HUFFMAN_BATCH: usize = FEW_FOR_A_GPU + 1;
/// What the newest measurement of a device weighs, once there are some; about the last ten count.
const NEWEST: f64 = 0.2;

/// Nanoseconds a byte, for each decoder, and how often that was measured.
#[derive(Clone, Debug)]
pub(super) struct Rates([(f64, u32); Route::COUNT]);

impl Default for Rates {
    /// First guesses, which measurements replace. Engines: about 10,000 photographs of 110 kB a second. Hybrid: about
    /// 1 ms for such a file. GPU Huffman has no share before it was measured; those that are not nvJPEG's get none at all.
    fn default() -> Self {
        Self([(0.9, 0), (f64::INFINITY, 0), (10.0, 0), (12.0, 0), (0.1, 0)])
    }
}

impl Rates {
    /// Takes a measurement in; one of nothing is none.
    pub(super) fn note(&mut self, route: Route, bytes: u64, time: Duration) {
        if bytes == 0 {
            return;
        }
        let (rate, count) = &mut self.0[route as usize];
        let weight = NEWEST.max(1.0 / f64::from(*count + 1));
        let measured = time.as_nanos() as f64 / bytes as f64;
        // The first one replaces the guess, which may be infinite.
        *rate = if *count == 0 { measured } else { *rate + weight * (measured - *rate) };
        *count = count.saturating_add(1);
    }

    /// Nanoseconds for so many bytes.
    pub(super) fn cost(&self, route: Route, bytes: u64) -> f64 {
        self.0[route as usize].0 * bytes as f64
    }

    /// Nanoseconds a byte as measured; `None` before that.
    pub(super) fn measured(&self, route: Route) -> Option<f64> {
        let (rate, count) = self.0[route as usize];
        (count > 0).then_some(rate)
    }

    /// The one of these that would be done soonest with one more image, each being busy for so long already.
    fn soonest(&self, routes: Routes, busy: &[f64; Route::COUNT], bytes: u64) -> Route {
        let ends = |route: Route| busy[route as usize] + self.cost(route, bytes);
        let able = Route::GPU.into_iter().filter(|&route| routes.has(route));
        able.min_by(|&a, &b| ends(a).total_cmp(&ends(b))).unwrap_or(Route::Cpu)
    }
}

/// Gives each image, of so many bytes and with such candidates, to the one that would be done with it soonest, the
/// largest first. [`Route::Cpu`] where there is no candidate.
pub(super) fn assign(images: &[(u64, Routes)], rates: &Rates) -> Vec<Route> {
    let routes = assign_all(images, rates);
    let in_batch = routes.iter().filter(|&&route| route == Route::GpuHuffman).count();
    if in_batch == 0 || in_batch >= GPU_HUFFMAN_BATCH {
        return routes;
    }
    // Too few for a batch of their own: as if it were not there.
    let images: Vec<(u64, Routes)> =
        images.iter().map(|&(bytes, routes)| (bytes, routes.without(Route::GpuHuffman))).collect();
    assign_all(&images, rates)
}

fn assign_all(images: &[(u64, Routes)], rates: &Rates) -> Vec<Route> {
    let mut order: Vec<usize> = (0..images.len()).collect();
    order.sort_by_key(|&at| std::cmp::Reverse(images[at].0));
    let mut busy = [0.0; Route::COUNT];
    let mut routes = vec![Route::Cpu; images.len()];
    for at in order {
        let (bytes, candidates) = images[at];
        let route = rates.soonest(candidates, &busy, bytes);
        if route != Route::Cpu {
            busy[route as usize] += rates.cost(route, bytes);
        }
        routes[at] = route;
    }
    routes
}

#[cfg(test)]
mod tests {
    use super::*;

    const BYTES: u64 = 110_000;

    fn count(routes: &[Route], route: Route) -> usize {
        routes.iter().filter(|&&other| other == route).count()
    }

    fn measured(rates: &[(Route, u64)]) -> Rates {
        let mut all = Rates::default();
        rates.iter().for_each(|&(route, nanoseconds)| {
            all.note(route, 1, Duration::from_nanos(nanoseconds));
        });
        all
    }

    #[test]
    fn a_few_images_go_to_the_fastest() {
        let routes = assign(&[(BYTES, Routes::ALL); 4], &Rates::default());
        assert_eq!(routes, [Route::Hardware; 4]);
    }

    #[test]
    fn many_images_are_shared_so_that_all_end_together() {
        let rates = measured(&[(Route::Hardware, 1), (Route::Hybrid, 15)]);
        let routes = assign(&[(BYTES, Routes::ALL); 64], &rates);
        assert_eq!(count(&routes, Route::Hybrid), 4);
        assert_eq!(count(&routes, Route::Hardware), 60);
    }

    #[test]
    fn gpu_huffman_has_a_share_once_it_was_measured_and_in_large_batches_only() {
        let without_engines = Routes::ALL.without(Route::Hardware);
        let assigned = |rates: &Rates, images: usize| assign(&vec![(BYTES, without_engines); images], rates);
        assert_eq!(count(&assigned(&Rates::default(), 128), Route::GpuHuffman), 0, "not measured yet");
        let rates = measured(&[(Route::GpuHuffman, 2), (Route::Hybrid, 10)]);
        assert_eq!(count(&assigned(&rates, 40), Route::GpuHuffman), 0, "too few");
        let many = assigned(&rates, 128);
        assert!(count(&many, Route::GpuHuffman) >= GPU_HUFFMAN_BATCH, "{many:?}");
        assert!(count(&many, Route::Hybrid) > 0);
    }

    #[test]
    fn an_image_that_nobody_takes_is_the_cpus() {
        let routes = assign(&[(BYTES, Routes::NONE), (BYTES, Routes::ALL)], &Rates::default());
        assert_eq!(routes, [Route::Cpu, Route::Hardware]);
    }

    #[test]
    fn a_decoder_that_turns_out_slow_gets_less() {
        let mut rates = Rates::default();
        rates.note(Route::Hardware, 1000, Duration::from_micros(50));
        let candidates = Routes::ALL.without(Route::GpuHuffman);
        assert_eq!(
            assign(&[(BYTES, candidates)], &rates),
            [Route::Hybrid],
            "the first one replaces the guess"
        );
        for _ in 0..40 {
            rates.note(Route::Hardware, 1000, Duration::from_micros(1));
        }
        assert_eq!(assign(&[(BYTES, candidates)], &rates), [Route::Hardware]);
        let before = rates.clone();
        rates.note(Route::Hybrid, 0, Duration::from_secs(1));
        assert_eq!(before.0, rates.0, "a measurement of nothing is none");
    }
}
