//! Labels as rows of numbers, one for each class.

use crate::error::{Result, bail, ensure};

/// Maximum number of values in a batch's one-hot labels: 4 GiB.
const MAX_VALUES: usize = 1 << 30;

/// One row of `classes` numbers for each list of classes and their shares; `labelled` is the share of each row's images that
/// have a label.
pub(crate) fn one_hot(
    rows: &[Vec<(i64, f32)>],
    labelled: &[f32],
    classes: usize,
    smoothing: f32,
) -> Result<Vec<f32>> {
    ensure!((0.0..=1.0).contains(&smoothing), "one_hot: smoothing must be in 0..=1, but is {smoothing}");
    let numbers = rows.len().checked_mul(classes).filter(|&numbers| numbers <= MAX_VALUES);
    let Some(numbers) = numbers else {
        bail!(
            "one_hot: {} rows of {classes} classes are more than {MAX_VALUES} numbers: use label_shares",
            rows.len()
        );
    };
    let mut values = vec![0.0; numbers];
    for (row, (shares, weight)) in rows.iter().zip(labelled).enumerate() {
        let values = &mut values[row * classes..][..classes];
        for &(class, share) in shares.iter().filter(|(class, _)| *class >= 0) {
            let Some(number) = usize::try_from(class).ok().and_then(|class| values.get_mut(class)) else {
                bail!("one_hot: row {row} has class {class}, but there are {classes} classes: ask for more");
            };
            *number += share;
        }
        // Partners without a class take their part of the row's weight with them.
        let spread = smoothing * weight / classes as f32;
        values.iter_mut().for_each(|number| *number = *number * (1.0 - smoothing) + spread);
    }
    Ok(values)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]
mod tests {
    use super::one_hot as dense;
    use crate::error::Result;

    /// Of images with one class each, or none.
    fn one_hot(rows: &[Vec<(i64, f32)>], classes: usize, smoothing: f32) -> Result<Vec<f32>> {
        let labelled =
            |row: &Vec<(i64, f32)>| row.iter().filter(|(class, _)| *class >= 0).map(|(_, share)| share).sum();
        dense(rows, &rows.iter().map(labelled).collect::<Vec<f32>>(), classes, smoothing)
    }

    #[test]
    fn several_classes_are_several_ones_and_none_is_a_label_too() {
        // {0, 2}; a mix of {0, 1} and {1, 3} by 0.75; nothing; half of {3}, whose partner has no label.
        let mix = vec![(0, 0.75), (1, 0.75), (1, 0.25), (3, 0.25)];
        let rows = [vec![(0, 1.0), (2, 1.0)], mix, vec![], vec![(3, 0.5), (-1, 0.5)]];
        let labelled = [1.0, 1.0, 1.0, 0.5];
        let values = dense(&rows, &labelled, 4, 0.0).unwrap();
        let want = [[1.0, 0.0, 1.0, 0.0], [0.75, 1.0, 0.0, 0.25], [0.0; 4], [0.0, 0.0, 0.0, 0.5]];
        assert_eq!(values, want.concat());
        let smooth = dense(&rows, &labelled, 4, 0.5).unwrap();
        let spread = [0.125, 0.125, 0.125, 0.0625];
        let want = want.iter().zip(spread).map(|(row, spread)| row.map(|number| number / 2.0 + spread));
        assert_eq!(smooth, want.flatten().collect::<Vec<f32>>());
    }

    #[test]
    fn a_class_is_a_one_among_zeros_and_a_mix_its_shares() {
        let rows = [vec![(2, 1.0)], vec![(0, 0.25), (1, 0.75)], vec![(1, 0.5), (1, 0.5)]];
        let values = one_hot(&rows, 3, 0.0).unwrap();
        assert_eq!(values, [0.0, 0.0, 1.0, 0.25, 0.75, 0.0, 0.0, 1.0, 0.0]);
    }

    #[test]
    fn smoothing_is_spread_over_all_classes_and_rows_still_sum_to_one() {
        let values = one_hot(&[vec![(3, 1.0)], vec![(0, 0.5), (3, 0.5)]], 4, 0.1).unwrap();
        let want = [0.025, 0.025, 0.025, 0.925, 0.475, 0.025, 0.025, 0.475];
        assert!(values.iter().zip(want).all(|(a, b)| (a - b).abs() < 1e-6), "{values:?}");
        assert!(values.chunks(4).all(|row| (row.iter().sum::<f32>() - 1.0).abs() < 1e-6));
    }

    #[test]
    fn what_has_no_class_has_no_weight() {
        let values = one_hot(&[vec![(-1, 1.0)], vec![(-1, 0.5), (1, 0.5)]], 2, 0.5).unwrap();
        assert_eq!(values, [0.0, 0.0, 0.125, 0.375]);
        assert!(one_hot(&[], 5, 0.1).unwrap().is_empty());
    }

    #[test]
    fn a_class_too_many_is_named_with_its_row() {
        let message = |classes, smoothing| {
            one_hot(&[vec![(0, 1.0)], vec![(5, 1.0)]], classes, smoothing).unwrap_err().to_string()
        };
        assert_eq!(message(5, 0.0), "one_hot: row 1 has class 5, but there are 5 classes: ask for more");
        assert!(message(0, 0.0).contains("row 0 has class 0"));
        assert!(message(6, 1.5).contains("smoothing must be in 0..=1"));
        assert!(message(usize::MAX, 0.0).contains("use label_shares"));
    }
}
