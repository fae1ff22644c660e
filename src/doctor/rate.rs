//! A rate that was measured several times over, with how far its measurements lie apart.

use serde::Serialize;

/// Times a second: what half of the measurements were below, and where nine of ten of them lay.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Rate {
    /// The median.
    pub per_s: f64,
    /// A tenth of the measurements lay below.
    pub low: f64,
    /// A tenth of the measurements lay above.
    pub high: f64,
}

impl Rate {
    /// Of measurements that took equally long; `None` where there are none.
    pub fn of(mut measured: Vec<f64>) -> Option<Self> {
        measured.sort_by(f64::total_cmp);
        let at = |part: f64| {
            // Between two of them, in proportion.
            let place = part * measured.len().checked_sub(1)? as f64;
            let (below, above) =
                (measured.get(place.floor() as usize)?, measured.get(place.ceil() as usize)?);
            Some(below + (above - below) * place.fract())
        };
        Some(Self { per_s: at(0.5)?, low: at(0.1)?, high: at(0.9)? })
    }

    /// One that is known.
    pub fn exactly(per_s: f64) -> Self {
        Self { per_s, low: per_s, high: per_s }
    }

    /// The same in another unit.
    pub fn scaled(self, by: f64) -> Self {
        Self { per_s: self.per_s * by, low: self.low * by, high: self.high * by }
    }
}

/// Slices whose median means something.
const FEWEST_SLICES: usize = 4;

/// Measures how often something happens: so many times until now.
#[derive(Debug)]
pub struct Slices {
    slice_s: f64,
    began: f64,
    in_slice: f64,
    all: f64,
    done: Vec<f64>,
}

impl Slices {
    /// Slices of at least so many seconds.
    pub fn of(slice_s: f64) -> Self {
        Self { slice_s, began: 0.0, in_slice: 0.0, all: 0.0, done: Vec::new() }
    }

    /// So many more, at so many seconds from the start.
    pub fn add(&mut self, count: f64, now_s: f64) {
        self.in_slice += count;
        self.all += count;
        let took = now_s - self.began;
        if took >= self.slice_s {
            self.done.push(self.in_slice / took);
            (self.began, self.in_slice) = (now_s, 0.0);
        }
    }

    /// The rate; `None` where nothing was counted or no time has passed. Few slices say little: what comes in bursts ends one early. Then it is that of all that was counted until
    /// `now_s`, between the lowest and the highest slice.
    pub fn rate(self, now_s: f64) -> Option<Rate> {
        if self.done.len() >= FEWEST_SLICES {
            return Rate::of(self.done);
        }
        let per_s = (self.all > 0.0 && now_s > 0.0).then(|| self.all / now_s)?;
        let (low, high) = (
            self.done.iter().copied().fold(per_s, f64::min),
            self.done.iter().copied().fold(per_s, f64::max),
        );
        Some(Rate { per_s, low, high })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_stands_between_the_tenths() {
        let rate = Rate::of((0..=10).rev().map(f64::from).collect()).unwrap();
        assert_eq!(rate, Rate { per_s: 5.0, low: 1.0, high: 9.0 });
        assert_eq!(Rate::of(vec![3.0]), Some(Rate::exactly(3.0)));
        assert_eq!(Rate::of(vec![1.0, 2.0]).unwrap().per_s, 1.5);
        assert_eq!(Rate::of(Vec::new()), None);
    }

    #[test]
    fn a_slice_ends_with_what_made_it_long_enough() {
        let mut slices = Slices::of(1.0);
        for (count, now) in [(5.0, 0.5), (5.0, 1.0), (30.0, 3.0), (9.0, 3.2)] {
            slices.add(count, now);
        }
        assert_eq!(slices.done, [10.0, 15.0]);
        assert_eq!(slices.rate(3.5), Some(Rate { per_s: 14.0, low: 10.0, high: 15.0 }));
        let mut short = Slices::of(1.0);
        short.add(2.0, 0.5);
        assert_eq!(short.rate(0.5), Some(Rate::exactly(4.0)));
        assert_eq!(Slices::of(1.0).rate(1.0), None);
    }

    #[test]
    fn bursts_that_end_two_slices_have_the_rate_of_all() {
        let mut slices = Slices::of(0.02);
        for _ in 0..64 {
            slices.add(1.0, 0.03);
        }
        for _ in 0..64 {
            slices.add(1.0, 0.06);
        }
        let rate = slices.rate(0.06).unwrap();
        assert!((rate.per_s - 128.0 / 0.06).abs() < 1e-6, "{rate:?}");
    }

    #[test]
    fn what_is_counted_late_does_not_raise_the_rate() {
        let mut slices = Slices::of(0.125);
        for pair in 1..=10 {
            let at = 0.125 * f64::from(pair);
            slices.add(1.0, at);
            slices.add(1.0, at + 1e-8);
        }
        let rate = slices.rate(1.25 + 1e-8).unwrap();
        assert!((rate.per_s - 16.0).abs() < 1e-6 && rate.high < 16.1, "{rate:?}");
    }

    #[test]
    fn few_slices_have_the_mean_of_all() {
        let mut slices = Slices::of(1.0);
        for (count, now) in [(3.0, 2.0), (1.0, 3.0), (3.0, 3.5)] {
            slices.add(count, now);
        }
        assert_eq!(slices.rate(3.5), Some(Rate { per_s: 2.0, low: 1.0, high: 2.0 }));
    }

    #[test]
    fn many_slices_have_their_median() {
        let mut slices = Slices::of(1.0);
        for (at, count) in [5.0, 6.0, 100.0, 7.0, 6.0].into_iter().enumerate() {
            slices.add(count, (at + 1) as f64);
        }
        assert_eq!(slices.rate(5.0).unwrap().per_s, 6.0);
    }
}
