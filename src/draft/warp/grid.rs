//! The numbers of a warp, in torchvision's order of operations and its precision at each of them.

use crate::draft::matrix::Matrix;
use crate::geometry::Size;

/// A centre of rotation, counted from the middle of the image.
pub(super) fn from_middle(center: Option<[f64; 2]>, size: Size) -> [f64; 2] {
    let edges = [size.width, size.height].map(f64::from);
    center.map_or([0.0; 2], |center| [center[0] - edges[0] * 0.5, center[1] - edges[1] * 0.5])
}

/// From the warped image to the original, both seen from their middle: two rows of a, b and an offset.
pub(super) fn inverse_affine(
    [cx, cy]: [f64; 2],
    angle: f64,
    [tx, ty]: [f64; 2],
    scale: f64,
    shear: [f64; 2],
) -> [f64; 6] {
    let (turn, sx, sy) = (angle.to_radians(), shear[0].to_radians(), shear[1].to_radians());
    let a = (turn - sy).cos() / sy.cos();
    let b = -(a * sx.tan() + turn.sin());
    let c = (turn - sy).sin() / sy.cos();
    let d = turn.cos() - c * sx.tan();
    // The determinant is 1.
    let [m0, m1, m3, m4] = [d / scale, -b / scale, -c / scale, a / scale];
    let (x, y) = (cx + tx, cy + ty);
    [m0, m1, cx - m0 * x - m1 * y, m3, m4, cy - m3 * x - m4 * y]
}

/// A map between points that are counted from left top corners, as one between points that are seen from the middle.
pub(super) fn between_middles(map: &Matrix, size: Size) -> [f64; 6] {
    let [x, y] = [size.width, size.height].map(|edge| 0.5 * f64::from(edge));
    let row = |[a, b, c]: [f64; 3], middle: f64| [a, b, a * x + b * y + c - middle];
    let ([a, b, c], [d, e, f]) = (row(map[0], x), row(map[1], y));
    [a, b, c, d, e, f]
}

/// The plan's map: rounded to f32, then in units of half the original's edges.
pub(super) fn affine_map(inverse: [f64; 6], of: Size) -> [f32; 9] {
    let [a, b, c, d, e, f] = inverse.map(|number| number as f32);
    let (x, y) = (0.5 * of.width as f32, 0.5 * of.height as f32);
    [a / x, b / x, c / x, d / y, e / y, f / y, 0.0, 0.0, 1.0]
}

/// From the original to the warped image, both counted from their left top corners: for labels, in f64.
pub(super) fn forward_affine([a, b, c, d, e, f]: [f64; 6], of: Size, to: Size) -> [f64; 9] {
    let determinant = a * e - b * d;
    let [p, q, r, s] = [e, -b, -d, a].map(|number| number / determinant);
    let half = |edge: u32| 0.5 * f64::from(edge);
    let (x, y) = (half(of.width) + c, half(of.height) + f);
    [p, q, half(to.width) - p * x - q * y, r, s, half(to.height) - r * x - s * y, 0.0, 0.0, 1.0]
}

/// The same of a perspective.
pub(super) fn forward_perspective(coefficients: [f32; 8]) -> [f64; 9] {
    let [a, b, c, d, e, f, g, h] = coefficients.map(f64::from);
    let adjoint = [
        e - f * h,
        c * h - b,
        b * f - c * e,
        f * g - d,
        a - c * g,
        c * d - a * f,
        d * h - e * g,
        b * g - a * h,
        a * e - b * d,
    ];
    let determinant = a * adjoint[0] + b * adjoint[3] + c * adjoint[6];
    match determinant {
        // All that is seen lies on one line of the original: no object has a position, and all collapse into a corner.
        0.0 => [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0],
        _ => adjoint,
    }
}

/// The size that holds the whole rotated image: of its corners in f32, cut off after four decimals.
///
/// torchvision takes the corners through the inverse, which is the rotation the other way and makes the same size.
pub(super) fn expanded(inverse: [f64; 6], of: Size) -> Size {
    let m = inverse.map(|number| number as f32);
    let (x, y) = (0.5 * of.width as f32, 0.5 * of.height as f32);
    let length = |a: f32, b: f32, c: f32, half: f32| {
        let ends = [(-x, -y), (-x, y), (x, y), (x, -y)].map(|(x, y)| x * a + y * b + c);
        let cut = |end: f32| ((end + half) * 10_000.0).trunc() * 1e-4;
        let low = cut(ends.iter().copied().fold(f32::INFINITY, f32::min)).floor();
        (cut(ends.iter().copied().fold(f32::NEG_INFINITY, f32::max)).ceil() - low) as u32
    };
    Size::new(length(m[0], m[1], m[2], x), length(m[3], m[4], m[5], y))
}

/// The eight numbers a to h with which (ax + by + c) / (gx + hy + 1) and (dx + ey + f) / (gx + hy + 1) take each
/// end point to its start point; `None` where there are none.
///
/// Solved in f64 and then rounded to f32, as in torchvision, but by elimination.
pub(super) fn perspective_coefficients(start: [[i32; 2]; 4], end: [[i32; 2]; 4]) -> Option<[f32; 8]> {
    let mut rows = [[0.0f64; 9]; 8];
    for (i, (from, to)) in end.into_iter().zip(start).enumerate() {
        let ([x, y], [u, v]) = (from.map(f64::from), to.map(f64::from));
        rows[2 * i] = [x, y, 1.0, 0.0, 0.0, 0.0, -u * x, -u * y, u];
        rows[2 * i + 1] = [0.0, 0.0, 0.0, x, y, 1.0, -v * x, -v * y, v];
    }
    for column in 0..8 {
        let size = |row: &usize| rows[*row][column].abs();
        let pivot = (column..8).max_by(|a, b| size(a).total_cmp(&size(b)))?;
        rows.swap(column, pivot);
        // What is left of a line that others already say is nothing but rounding.
        if rows[column][column].abs() < 1e-9 {
            return None;
        }
        let above = rows[column];
        for row in &mut rows[column + 1..] {
            let part = row[column] / above[column];
            row.iter_mut().zip(above).for_each(|(number, above)| *number -= part * above);
        }
    }
    let mut solution = [0.0f64; 8];
    for i in (0..8).rev() {
        let known: f64 = (i + 1..8).map(|k| rows[i][k] * solution[k]).sum();
        solution[i] = (rows[i][8] - known) / rows[i][i];
    }
    let solution = solution.map(|number| number as f32);
    solution.iter().all(|number| number.is_finite()).then_some(solution)
}

/// The plan's map: in units of half the edges, counted from the corner.
pub(super) fn perspective_map([a, b, c, d, e, f, g, h]: [f32; 8], of: Size) -> [f32; 9] {
    let (x, y) = (0.5 * of.width as f32, 0.5 * of.height as f32);
    // A last row of 0 0 1 would mean the other form of map. What is added here is lost in the first sum.
    let g = if g == 0.0 && h == 0.0 { f32::MIN_POSITIVE } else { g };
    [a / x, b / x, c / x, d / y, e / y, f / y, g, h, 1.0]
}
