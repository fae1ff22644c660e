//! Comparing two batches value by value.

use feedline::output::DType;
use half::{bf16, f16};

/// How two runs of values differ.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Difference {
    pub(crate) values: u64,
    pub(crate) different: u64,
    pub(crate) largest: f64,
    /// Position of the first value that differs.
    pub(crate) first: Option<usize>,
}

/// Compares bytes as values of `dtype`. Equal bytes are equal values; other bytes are different, whatever they mean.
pub(crate) fn compare(want: &[u8], got: &[u8], dtype: DType) -> Difference {
    let width = dtype.bytes();
    let mut found = Difference { values: (want.len() / width) as u64, ..Difference::default() };
    if want.len() != got.len() {
        let different = found.values.max(1);
        return Difference { different, largest: f64::INFINITY, first: Some(0), ..found };
    }
    if want == got {
        return found;
    }
    for (at, (want, got)) in want.chunks_exact(width).zip(got.chunks_exact(width)).enumerate() {
        if want != got {
            found.different += 1;
            found.first.get_or_insert(at);
            found.largest = found.largest.max((value(want, dtype) - value(got, dtype)).abs());
        }
    }
    found
}

impl Difference {
    /// Both together; `first` is the earlier one's.
    pub(crate) fn and(self, other: Self) -> Self {
        Self {
            values: self.values + other.values,
            different: self.different + other.different,
            largest: self.largest.max(other.largest),
            first: self.first.or(other.first),
        }
    }
}

fn value(bytes: &[u8], dtype: DType) -> f64 {
    match (dtype, bytes) {
        (DType::F32, &[a, b, c, d]) => f32::from_le_bytes([a, b, c, d]).into(),
        (DType::F16, &[a, b]) => f16::from_le_bytes([a, b]).into(),
        (DType::Bf16, &[a, b]) => bf16::from_le_bytes([a, b]).into(),
        (_, bytes) => bytes.first().copied().unwrap_or_default().into(),
    }
}

/// The word for a number format.
pub(crate) fn word(dtype: DType) -> &'static str {
    match dtype {
        DType::F32 => "f32",
        DType::F16 => "f16",
        DType::Bf16 => "bf16",
        DType::U8 => "u8",
    }
}
