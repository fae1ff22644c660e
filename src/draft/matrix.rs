//! 3x3 matrices of f64: how points of one canvas lie on another.

/// A matrix, row by row.
pub(crate) type Matrix = [[f64; 3]; 3];

/// Whether points are divided by what the last row makes of them.
pub(super) fn divides(matrix: &Matrix) -> bool {
    matrix[2][0] != 0.0 || matrix[2][1] != 0.0
}

pub(super) fn apply(matrix: &Matrix, point: [f64; 3]) -> [f64; 3] {
    matrix.map(|row| row[0] * point[0] + row[1] * point[1] + row[2] * point[2])
}

/// First `second`, then `first`.
pub(crate) fn product(first: &Matrix, second: &Matrix) -> Matrix {
    first.map(|row| [0, 1, 2].map(|i| row[0] * second[0][i] + row[1] * second[1][i] + row[2] * second[2][i]))
}

/// `None` where there is no inverse, or none of finite numbers.
pub(super) fn invert(m: &Matrix) -> Option<Matrix> {
    let minor = |r: usize, c: usize| {
        let [r1, r2, c1, c2] = [(r + 1) % 3, (r + 2) % 3, (c + 1) % 3, (c + 2) % 3];
        m[r1][c1] * m[r2][c2] - m[r1][c2] * m[r2][c1]
    };
    let determinant = m[0][0] * minor(0, 0) + m[0][1] * minor(0, 1) + m[0][2] * minor(0, 2);
    let inverse: Matrix = std::array::from_fn(|r| std::array::from_fn(|c| minor(c, r) / determinant));
    inverse.iter().flatten().all(|number| number.is_finite()).then_some(inverse)
}
