//! Orders: when each sample comes, and that every sample does.

use super::*;

fn listed(order: Order) -> Vec<u64> {
    (0..order.len()).map(|position| order.index(position)).collect()
}

#[test]
fn every_sample_comes_exactly_once_whatever_the_length() {
    for len in 0..=500 {
        for epoch in [0, 7] {
            let mut seen = listed(Order::shuffled(len, 3, epoch));
            seen.sort_unstable();
            assert!(seen.into_iter().eq(0..len), "length {len}");
        }
    }
}

#[test]
fn the_position_of_an_index_is_the_inverse_of_the_index_at_a_position() {
    for len in [1, 2, 3, 17, 64, 65, 1000, 1 << 40] {
        let order = Order::shuffled(len, 11, 2);
        for position in (0..len.min(300)).chain([len - 1]) {
            assert_eq!(order.position(order.index(position)), Some(position), "length {len}");
        }
    }
}

#[test]
fn without_shuffle_the_order_is_the_sources_own() {
    assert!(listed(Order::sequential(9)).into_iter().eq(0..9));
    assert_eq!(Order::sequential(9).position(4), Some(4));
}

#[test]
fn epochs_and_seeds_give_different_orders() {
    let base = listed(Order::shuffled(100, 1, 0));
    assert_eq!(base, listed(Order::shuffled(100, 1, 0)));
    for other in [Order::shuffled(100, 1, 1), Order::shuffled(100, 2, 0)] {
        let same = listed(other).iter().zip(&base).filter(|(a, b)| a == b).count();
        assert!(same < 10, "{same} of 100 samples stayed in place");
    }
}

/// Correlation of x[i] with x[i + lag] for the numbers 0..n in the order's sequence.
fn correlation(values: &[u64], lag: usize) -> f64 {
    let n = values.len();
    let mean = (n as f64 - 1.0) / 2.0;
    let variance = ((n * n) as f64 - 1.0) / 12.0;
    let sum: f64 = (0..n).map(|i| (values[i] as f64 - mean) * (values[(i + lag) % n] as f64 - mean)).sum();
    sum / n as f64 / variance
}

#[test]
fn neighbours_are_uncorrelated() {
    let mut means = [0.0; 3];
    for seed in 0..40 {
        let values = listed(Order::shuffled(1000, seed, 0));
        for (mean, lag) in means.iter_mut().zip([1, 2, 32]) {
            let r = correlation(&values, lag);
            assert!(r.abs() < 0.16, "seed {seed}, lag {lag}: correlation {r}");
            *mean += r / 40.0;
        }
    }
    // A random order gives 0 +- 0.005; 0.025 is five standard deviations.
    assert!(means.iter().all(|mean| mean.abs() < 0.025), "{means:?}");
}

#[test]
fn every_index_is_equally_likely_at_the_first_position() {
    let mut seen = [0u32; 10];
    for epoch in 0..2000 {
        seen[Order::shuffled(10, 5, epoch).index(0) as usize] += 1;
    }
    assert!(seen.iter().all(|&count| (140..260).contains(&count)), "{seen:?}");
}

#[test]
fn a_short_last_window_joins_its_predecessor() {
    let windows = |len: u64| -> Vec<Range<u64>> {
        let order = Order::sequential(len);
        let mut all: Vec<_> = (0..len).map(|position| order.window(position, 128)).collect();
        all.dedup();
        all
    };
    assert_eq!(windows(256), [0..128, 128..256]);
    assert_eq!(windows(263), [0..128, 128..263]);
    assert_eq!(windows(264), [0..128, 128..256, 256..264]);
    assert_eq!(windows(5), vec![0..5]);
    assert_eq!(Order::sequential(300).window(7, u64::MAX), 0..300);
}

#[test]
fn a_subset_comes_in_its_order_or_shuffled_and_nothing_else_does() {
    let subset = |shuffle| Sampler::new(100, shuffle).subset(vec![70, 3, 99]).unwrap().order(1, 0);
    assert_eq!(listed(subset(Shuffle::Off)), [70, 3, 99]);
    let shards = Sampler::new(100, Shuffle::Shards(2)).subset(vec![70, 3, 99]).unwrap();
    let shards = shards.shards(&[2, 50, 90, 100]).unwrap();
    assert_ne!(
        shards.selection(),
        Sampler::new(100, Shuffle::Off).subset(vec![3, 70, 99]).unwrap().selection()
    );
    for order in [subset(Shuffle::Full), subset(Shuffle::Window(2)), shards.order(1, 0)] {
        let mut seen = listed(order.clone());
        assert!((0..3).all(|position| order.position(seen[position as usize]) == Some(position)));
        seen.sort_unstable();
        assert_eq!(seen, [3, 70, 99]);
        assert_eq!(order.position(4), None);
    }
    let wrong_ends = |ends: &[u64]| Sampler::new(100, Shuffle::Shards(1)).shards(ends).is_err();
    assert!(wrong_ends(&[]) && wrong_ends(&[50]) && wrong_ends(&[60, 50, 100]) && !wrong_ends(&[50, 100]));
    let refused =
        |subset: &[u64]| Sampler::new(100, Shuffle::Off).subset(subset.to_vec()).unwrap_err().to_string();
    assert!(refused(&[]).contains("empty"));
    assert!(refused(&[1, 100]).contains("sample 100, but the source has 100"));
}

#[test]
fn a_subset_may_name_a_sample_again_and_it_comes_as_often() {
    let subset = vec![70, 3, 99, 3, 3, 70];
    for shuffle in [Shuffle::Off, Shuffle::Full, Shuffle::Window(2), Shuffle::Shards(2)] {
        let sampler = Sampler::new(100, shuffle).subset(subset.clone()).unwrap();
        let sampler = match shuffle {
            Shuffle::Shards(_) => sampler.shards(&[2, 50, 90, 100]).unwrap(),
            _ => sampler,
        };
        for epoch in 0..20 {
            let order = sampler.order(1, epoch);
            assert!(order.repeats() && !order.is_cut() && !order.is_drawn() && order.len() == 6);
            let seen = listed(order.clone());
            for index in [3, 70, 99] {
                let first = seen.iter().position(|&shown| shown == index);
                assert_eq!(order.position(index), first.map(|at| at as u64), "{shuffle:?}: {seen:?}");
            }
            assert_eq!(order.position(4), None);
            let [mut seen, mut given] = [seen, subset.clone()];
            seen.sort_unstable();
            given.sort_unstable();
            assert_eq!(seen, given);
            let mut any: Vec<u64> = (0..6).map(|number| order.any(number)).collect();
            any.sort_unstable();
            assert_eq!(any, given);
        }
        assert!(!Sampler::new(100, Shuffle::Full).subset(vec![70, 3, 99]).unwrap().order(1, 0).repeats());
        let twice = sampler.repeats(2).order(1, 0);
        let first = listed(twice.clone());
        assert_eq!(twice.position(first[0]), Some(0));
    }
}

#[test]
fn weighted_draws_repeat_samples_and_are_drawn_anew_each_epoch() {
    let sampler = Sampler::new(4, Shuffle::Off).subset(vec![9, 2, 3]);
    assert!(sampler.is_err());
    let sampler = Sampler::new(10, Shuffle::Off).subset(vec![9, 2, 3]).unwrap();
    assert!(sampler.clone().weights(&[1.0]).is_err());
    let sampler = sampler.weights(&[0.0, 1.0, 2.0]).unwrap();
    let epochs: Vec<Vec<u64>> = (0..50).map(|epoch| listed(sampler.order(7, epoch))).collect();
    assert_eq!(epochs[3], listed(sampler.order(7, 3)));
    assert!(epochs.iter().any(|epoch| *epoch != epochs[0]));
    assert!(epochs.iter().flatten().all(|index| [2, 3].contains(index)));
    assert!(sampler.order(7, 0).repeats() && sampler.order(7, 0).position(2).is_none());
}
