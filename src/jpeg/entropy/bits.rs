//! Reads bits from entropy-coded bytes whose stuffing is already gone.

/// A position in the bits. It is passed by value, never stored as a reference, so that it stays in registers.
///
/// `buffer` holds the next bits at its top. Its top `count` bits are accounted for; the bits below those are either
/// zero or the true continuation, so that a refill may `or` the same bits in again instead of masking.
#[derive(Clone, Copy, Default)]
pub(crate) struct Cursor {
    buffer: u64,
    /// Only the low 6 bits are significant, so a whole table entry can be subtracted without masking.
    count: u64,
    /// Offset of the first byte that `count` does not cover.
    at: usize,
}

/// Zero bytes that must follow the data, so that a refill rarely leaves the fast path.
pub(crate) const PADDING: usize = 16;

impl Cursor {
    /// Makes at least 56 bits available. Past the end they are zero, and [`Cursor::consumed`] goes on counting, so
    /// the caller can see afterwards that it read bits that are not there.
    #[inline(always)]
    pub(crate) fn refill(&mut self, data: &[u8]) {
        // Written so that one comparison is left in the loop.
        if let Some(last) = data.len().checked_sub(8)
            && self.at <= last
            && let Some(bytes) = data[self.at..].first_chunk::<8>()
        {
            self.buffer |= u64::from_be_bytes(*bytes) >> (self.count & 63);
        }
        self.at += (!self.count >> 3) as usize & 7;
        self.count |= 56;
    }

    /// The next `N` bits (1 to 16), which stay unread.
    #[inline(always)]
    pub(crate) fn peek<const N: u32>(&self) -> usize {
        (self.buffer >> (64 - N)) as usize
    }

    /// Drops `bits` bits; that many must be available.
    #[inline(always)]
    pub(crate) fn skip(&mut self, bits: u32) {
        self.skip_low(bits.into());
    }

    /// Drops the bits that the low 6 bits of `word` count.
    #[inline(always)]
    pub(crate) fn skip_low(&mut self, word: u64) {
        self.buffer <<= word & 63;
        self.count = self.count.wrapping_sub(word);
    }

    /// The next bits (1 to 63), which stay unread: 64 less the low 6 bits of `others`.
    #[inline(always)]
    pub(crate) fn top(&self, others: u64) -> u64 {
        self.buffer >> (others & 63)
    }

    /// Takes the next `bits` (0 to 16) as an integer.
    #[inline(always)]
    pub(crate) fn take(&mut self, bits: u32) -> u32 {
        self.take_many(bits) as u32
    }

    /// Takes the next `bits` (0 to 56) as an integer; that many must be available.
    #[inline(always)]
    pub(crate) fn take_many(&mut self, bits: u32) -> u64 {
        let value = (self.buffer >> 1) >> (63 - (bits & 63));
        self.skip(bits);
        value
    }

    /// Bits read since the start of the data.
    #[inline(always)]
    pub(crate) fn consumed(&self) -> usize {
        self.at * 8 - (self.count & 63) as usize
    }
}

/// The signed value that a magnitude category of `size` bits and its extra bits encode.
#[inline(always)]
pub(crate) fn extend(bits: u32, size: u32) -> i32 {
    let value = bits as i32;
    if size != 0 && value < 1 << (size - 1) { value - (1 << size) + 1 } else { value }
}

/// Bytes that are copied at once.
const GROUP: usize = 32;
/// The initial length of the buffer.
const FIRST_ROOM: usize = 16 << 10;

/// Writes the entropy-coded bytes from `from` on to `out` from `to` on, without stuffing, and [`PADDING`] zeros after
/// them; `out` grows as needed and never shrinks. Returns where they end there, and the offset of the marker that ends them
/// (or the end of `bytes`). A lone FF at the very end is no data: it lacks its stuffing. Several FF with a zero after them end the bytes
/// as well.
pub(crate) fn unstuff(bytes: &[u8], from: usize, out: &mut Vec<u8>, to: usize) -> (usize, usize) {
    let (mut at, mut to) = (from.min(bytes.len()), to);
    let end = loop {
        let rest = &bytes[at..];
        let run = match (rest.first_chunk::<GROUP>(), out[to..].first_chunk_mut::<GROUP>()) {
            (Some(group), Some(room)) => {
                *room = *group;
                // Without leaving at the first, so that all are compared at once.
                if !group.iter().fold(false, |found, &byte| found | (byte == 0xFF)) {
                    at += GROUP;
                    to += GROUP;
                    continue;
                }
                run_without_ff(group)
            }
            (None, Some(room)) => {
                room[..rest.len()].copy_from_slice(rest);
                run_without_ff(rest)
            }
            // In steps: the marker may come long before the end of the file.
            (_, None) => {
                out.resize((2 * out.len()).max(FIRST_ROOM), 0);
                continue;
            }
        };
        at += run;
        to += run;
        match bytes.get(at + 1) {
            // The FF itself is copied already.
            Some(0) => {
                to += 1;
                at += 2;
            }
            Some(0xFF) => {
                let fill = bytes[at..].iter().position(|&byte| byte != 0xFF);
                match fill {
                    // Fill bytes are for markers. libjpeg takes this for a marker or for data, depending on how far
                    // the end of the file is.
                    Some(fill) if bytes[at + fill] == 0 => break at,
                    // The marker starts at the last FF.
                    Some(fill) => break at + fill - 1,
                    None => break bytes.len(),
                }
            }
            Some(_) => break at,
            None => break bytes.len(),
        }
    };
    out.resize(out.len().max(to + PADDING), 0);
    out[to..to + PADDING].fill(0);
    (to, end)
}

/// The offset of the byte that comes `count` unstuffed bytes after the one at `from`; the data must hold that many.
pub(crate) fn skip_stuffed(bytes: &[u8], from: usize, count: usize) -> usize {
    let (mut at, mut left) = (from.min(bytes.len()), count);
    loop {
        let run = run_without_ff(&bytes[at..(at + left).min(bytes.len())]);
        at += run;
        left -= run;
        match bytes.get(at + 1) {
            Some(0) if left > 0 => {
                at += 2;
                left -= 1;
            }
            _ => return at,
        }
    }
}

/// The count of bytes before the first FF, eight at a time.
fn run_without_ff(bytes: &[u8]) -> usize {
    const ONES: u64 = 0x0101_0101_0101_0101;
    const TOPS: u64 = 0x8080_8080_8080_8080;
    let mut run = 0;
    for eight in bytes.chunks_exact(8) {
        let word = u64::from_le_bytes([
            eight[0], eight[1], eight[2], eight[3], eight[4], eight[5], eight[6], eight[7],
        ]);
        // A byte of the complement is zero where the byte is FF; the classic zero-byte test finds the lowest one.
        let zero = (!word).wrapping_sub(ONES) & word & TOPS;
        if zero != 0 {
            return run + (zero.trailing_zeros() >> 3) as usize;
        }
        run += 8;
    }
    run + bytes[run..].iter().take_while(|&&byte| byte != 0xFF).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_come_out_in_order_and_reading_past_the_end_shows() {
        let mut data = vec![0b1010_0000, 0xFF, 0x01];
        data.resize(3 + PADDING, 0);
        let mut cursor = Cursor::default();
        cursor.refill(&data);
        assert_eq!(cursor.take(3), 0b101);
        assert_eq!(cursor.peek::<5>(), 0);
        cursor.skip(5);
        assert_eq!(cursor.take(16), 0xFF01);
        assert_eq!(cursor.consumed(), 24);
        for _ in 0..100 {
            cursor.refill(&data);
            assert_eq!(cursor.take(16), 0);
        }
        assert_eq!(cursor.consumed(), 24 + 1600);
    }

    #[test]
    fn stuffing_goes_and_a_marker_ends_the_data() {
        let unstuffed = |bytes: &[u8]| {
            // A buffer that a longer file has filled, and an empty one.
            let [used, new] = [vec![7; 1000], Vec::new()].map(|mut out| {
                let (length, end) = unstuff(bytes, 0, &mut out, 0);
                assert_eq!(out[length..length + PADDING], [0; PADDING]);
                out.truncate(length);
                (out, end)
            });
            assert_eq!(used, new);
            used
        };
        let bytes = [1, 0xFF, 0, 2, 3, 4, 5, 6, 7, 8, 9, 0xFF, 0xFF, 0xD0, 5];
        assert_eq!(unstuffed(&bytes), (vec![1, 0xFF, 2, 3, 4, 5, 6, 7, 8, 9], 12));
        assert_eq!(unstuffed(&[1, 0xFF]), (vec![1], 2));
        // One and two of them at every offset, before more data, the end, and markers with and without fill bytes.
        let step = if cfg!(miri) { 31 } else { 1 };
        for (length, count) in (2..100).step_by(step).flat_map(|length| [(length, 1), (length, 2)]) {
            for at in (0..=length - count).step_by(step) {
                let mut plain: Vec<u8> = (0..length as u8).collect();
                plain[at..at + count].fill(0xFF);
                let stuffed =
                    plain.iter().flat_map(|&byte| [byte, 0].into_iter().take(1 + usize::from(byte == 0xFF)));
                let stuffed: Vec<u8> = stuffed.collect();
                assert_eq!(unstuffed(&stuffed), (plain.clone(), stuffed.len()));
                let marker = [&stuffed[..], &[0xFF, 0xD9, 1]].concat();
                assert_eq!(unstuffed(&marker), (plain.clone(), stuffed.len()));
                let filled = [&stuffed[..], &[0xFF, 0xFF, 0xFF, 0xD9, 1]].concat();
                assert_eq!(unstuffed(&filled), (plain, stuffed.len() + 2));
            }
        }
    }

    #[test]
    fn the_buffer_grows_with_the_data_and_not_with_the_file() {
        let mut bytes = vec![1; 100_000];
        bytes[40_000..40_002].copy_from_slice(&[0xFF, 0xD9]);
        let mut out = Vec::new();
        assert_eq!(unstuff(&bytes, 0, &mut out, 0), (40_000, 40_000));
        assert!(out.len() <= 80_000 + PADDING);
    }

    #[test]
    fn the_offset_of_an_unstuffed_byte_is_found_again() {
        let bytes = [1, 0xFF, 0, 4, 0xFF, 0, 2, 0xFF, 0, 3, 0xFF, 0xD9];
        let offsets = [0, 1, 3, 4, 6, 7, 9, 10];
        for (count, offset) in offsets.into_iter().enumerate() {
            let (mut all, mut rest) = (Vec::new(), Vec::new());
            assert_eq!(skip_stuffed(&bytes, 0, count), offset, "{count} bytes on");
            let (length, _) = unstuff(&bytes, 0, &mut all, 0);
            let (left, _) = unstuff(&bytes, offset, &mut rest, 0);
            assert_eq!(all[count..length], rest[..left]);
        }
    }

    #[test]
    fn categories_cover_both_signs() {
        assert_eq!([extend(0, 1), extend(1, 1)], [-1, 1]);
        assert_eq!([extend(0, 3), extend(3, 3), extend(4, 3)], [-7, -4, 4]);
        assert_eq!(extend(0, 0), 0);
    }
}
