//! COCO's run lengths: down the columns of a mask, turns of background and object, as a list or as a string.

/// Most columns and rows of a mask.
const MAX_SIDE: u32 = 1 << 16;

/// Where the object begins and ends in each column of a mask.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Columns {
    /// Rows at which background and object take turns, column after column.
    turns: Vec<u32>,
    /// Where the turns of each column end.
    ends: Vec<usize>,
}

impl Columns {
    /// The columns of the mask that run lengths describe.
    pub(super) fn new(height: u32, width: u32, counts: &[u64]) -> Result<Self, String> {
        if !(1..=MAX_SIDE).contains(&height) || !(1..=MAX_SIDE).contains(&width) {
            return Err(format!("a mask of {width} x {height} pixels: both sides must be in 1..={MAX_SIDE}"));
        }
        let pixels = u64::from(height) * u64::from(width);
        let total = counts.iter().try_fold(0u64, |sum, &count| sum.checked_add(count));
        if total != Some(pixels) {
            let total = total.map_or("more than 2^64".to_owned(), |total| total.to_string());
            return Err(format!("the run lengths add up to {total}, but the mask has {pixels} pixels"));
        }
        let mut columns = Self::default();
        let (mut at, mut is_object) = (0, false);
        for &count in counts {
            let end = at + count;
            while is_object && at < end {
                columns.close_up_to(at / u64::from(height));
                let column_end = (at / u64::from(height) + 1) * u64::from(height);
                let stop = end.min(column_end);
                columns.add((at % u64::from(height)) as u32, (stop - 1) % u64::from(height) + 1);
                at = stop;
            }
            (at, is_object) = (end, !is_object);
        }
        columns.close_up_to(u64::from(width));
        Ok(columns)
    }

    /// Ends all columns before `column`.
    fn close_up_to(&mut self, column: u64) {
        self.ends.resize(column as usize, self.turns.len());
    }

    /// The object from one row to another in the column that is open; joins a part that ends there.
    fn add(&mut self, from: u32, to: u64) {
        let start = self.ends.last().copied().unwrap_or(0);
        if self.turns[start..].last() == Some(&from) {
            self.turns.pop();
        } else {
            self.turns.push(from);
        }
        self.turns.push(to as u32);
    }

    /// How many columns there are.
    pub(super) fn len(&self) -> usize {
        self.ends.len()
    }

    /// The turns of a column; none beyond the mask.
    pub(super) fn column(&self, column: usize) -> &[u32] {
        let Some(&end) = self.ends.get(column) else { return &[] };
        let start = column.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.turns[start..end]
    }
}

/// The run lengths of COCO's compressed string: five bits per character from `0` on, the lowest first, the sixth bit means
/// that more follow; from the fourth length on the difference to the one two before it.
pub(super) fn decode(text: &str) -> Result<Vec<u64>, String> {
    let mut counts: Vec<i64> = Vec::new();
    let mut characters = text.bytes();
    while characters.len() > 0 {
        let (mut value, mut shift) = (0i64, 0);
        loop {
            let bits = match characters.next() {
                Some(byte @ 48..=111) if shift <= 50 => i64::from(byte - 48),
                Some(byte @ 48..=111) => {
                    return Err(format!("a run length is too long at `{}`", byte as char));
                }
                Some(byte) => {
                    return Err(format!(
                        "`{}` has no place among run lengths",
                        (byte as char).escape_default()
                    ));
                }
                None => return Err("the run lengths end in the middle of a number".to_owned()),
            };
            value |= (bits & 31) << shift;
            shift += 5;
            if bits & 32 == 0 {
                if bits & 16 != 0 {
                    value |= -1 << shift;
                }
                break;
            }
        }
        if let Some(&two_ahead) =
            counts.len().checked_sub(2).filter(|&at| at > 0).and_then(|at| counts.get(at))
        {
            value += two_ahead;
        }
        if !(0..=1 << 40).contains(&value) {
            return Err(format!("{value} is no run length"));
        }
        counts.push(value);
    }
    Ok(counts.into_iter().map(|count| count as u64).collect())
}
