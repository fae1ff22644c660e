//! Polygons that cannot be the outline of anything.

/// By how much of the largest coordinate points may lie beside a line and still be meant to lie on it: the sixth digit, as
/// labels are written, which also covers that of f32.
const ROUNDING: f64 = 1e-6;

/// Whether all points lie on one line, so that they enclose nothing. Outlines that cross or retrace themselves do not
/// count, though their areas may add up to zero: filled by the even-odd rule they can cover pixels.
pub(in crate::source) fn is_line(points: &[[f32; 2]]) -> bool {
    let Some(first) = points.first() else { return true };
    let from_first = |point: &[f32; 2]| [0, 1].map(|axis| f64::from(point[axis]) - f64::from(first[axis]));
    let length = |[x, y]: [f64; 2]| x.hypot(y);
    let farthest = points.iter().map(from_first).max_by(|a, b| length(*a).total_cmp(&length(*b)));
    let [across, down] = farthest.unwrap_or_default();
    let largest =
        points.iter().flatten().fold(0.0, |largest: f64, value| largest.max(f64::from(value.abs())));
    let allowed = ROUNDING * largest * length([across, down]);
    points.iter().map(from_first).all(|[x, y]| (across * y - down * x).abs() <= allowed)
}

#[cfg(test)]
mod tests {
    use super::is_line;

    #[test]
    fn points_on_one_line_enclose_nothing() {
        assert!(is_line(&[[0.1, 0.1], [0.5, 0.5], [0.9, 0.9]]));
        assert!(is_line(&[[0.1, 0.2], [0.433333, 0.3], [0.766667, 0.4], [0.1, 0.2]]));
        assert!(is_line(&[[600.0, 10.0], [300.0, 5.0], [660.0, 11.0]]));
        assert!(is_line(&[[3.0, 3.0]; 4]));
    }

    #[test]
    fn thin_small_and_crossing_polygons_are_kept() {
        assert!(!is_line(&[[0.1, 0.1], [0.5, 0.50001], [0.9, 0.9]]));
        assert!(!is_line(&[[0.9, 0.9], [0.9001, 0.9], [0.9, 0.9001]]));
        assert!(!is_line(&[[0.0, 0.0], [1.0, 1.0], [1.0, 0.0], [0.0, 1.0]]));
    }
}
