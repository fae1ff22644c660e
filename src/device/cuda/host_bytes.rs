//! Bytes of the host's memory on their way to a device: those that are contiguous on both sides go in one copy.

use super::driver::DevicePtr;
use std::marker::PhantomData;
use std::ops::Range;

/// Contiguous bytes begin at multiples of this, on the host and on the device.
pub(crate) const ALIGNMENT: usize = 256;

/// Bytes, and where they lie.
#[derive(Clone, Copy)]
pub(crate) struct HostBytes<'a> {
    from: *const u8,
    len: usize,
    /// Bytes up to what lies behind them in the block.
    room: usize,
    /// The address of the block that they are a part of, all of which is initialised and may be reached from `from`; `None`
    /// where they stand alone.
    block: Option<usize>,
    of: PhantomData<&'a [u8]>,
}

/// Bytes that one copy carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Run {
    pub(crate) from: *const u8,
    pub(crate) to: DevicePtr,
    pub(crate) len: usize,
}

impl<'a> From<&'a [u8]> for HostBytes<'a> {
    /// Bytes that stand alone.
    fn from(bytes: &'a [u8]) -> Self {
        Self { from: bytes.as_ptr(), len: bytes.len(), room: bytes.len(), block: None, of: PhantomData }
    }
}

impl<'a> HostBytes<'a> {
    /// A part of a block, with room up to the next multiple of [`ALIGNMENT`].
    pub(crate) fn within(block: &'a [u8], part: Range<usize>) -> Self {
        let bytes = &block[part.clone()];
        let room = bytes.len().next_multiple_of(ALIGNMENT).min(block.len() - part.start);
        // The slice above has checked the offset; the address is to reach the whole block.
        Self::of_block(block.as_ptr().wrapping_add(part.start), bytes.len(), room, block.as_ptr().addr())
    }

    /// `len` bytes at `from`, and `room` bytes up to what lies behind them, in the block that begins at the address `block`: all
    /// of it is initialised and may be reached from `from`.
    pub(crate) fn of_block(from: *const u8, len: usize, room: usize, block: usize) -> Self {
        Self { from, len, room, block: Some(block), of: PhantomData }
    }

    pub(crate) fn len(&self) -> usize {
        self.len
    }

    pub(crate) fn as_ptr(&self) -> *const u8 {
        self.from
    }

    /// The address of the first byte.
    pub(crate) fn address(&self) -> usize {
        self.from.addr()
    }

    /// Whether `next` lies behind these, with nothing between them but these bytes' own room.
    fn adjoins(&self, next: &Self) -> bool {
        self.block.is_some() && self.block == next.block && self.address() + self.room == next.address()
    }
}

/// The copies that carry all bytes to their addresses.
pub(crate) fn runs<'a>(bytes: impl Iterator<Item = (HostBytes<'a>, DevicePtr)>) -> Vec<Run> {
    let mut bytes: Vec<(HostBytes<'a>, DevicePtr)> = bytes.filter(|(bytes, _)| bytes.len > 0).collect();
    bytes.sort_unstable_by_key(|(bytes, _)| bytes.address());
    let mut runs: Vec<Run> = Vec::new();
    let mut last: Option<(HostBytes<'a>, DevicePtr)> = None;
    for (bytes, to) in bytes {
        let behind = |(before, at): (HostBytes<'a>, DevicePtr)| {
            before.adjoins(&bytes) && at + before.room as DevicePtr == to
        };
        match runs.last_mut().filter(|_| last.is_some_and(behind)) {
            Some(run) => run.len = bytes.address() - run.from.addr() + bytes.len,
            None => runs.push(Run { from: bytes.from, to, len: bytes.len }),
        }
        last = Some((bytes, to));
    }
    runs
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_lies_in_a_row_on_both_sides_goes_in_one_copy() {
        let block = vec![7; 2000];
        let part = |range, to: DevicePtr| (HostBytes::within(&block, range), to);
        let lengths =
            |parts: Vec<_>| runs(parts.into_iter()).iter().map(|run| (run.to, run.len)).collect::<Vec<_>>();
        let row = [part(512..600, 1512), part(0..200, 1000), part(256..512, 1256)];
        assert_eq!(lengths(row.to_vec()), [(1000, 600)]);
        // A gap on the host; one on the device; another order there.
        assert_eq!(lengths(vec![part(0..200, 1000), part(512..600, 1512)]), [(1000, 200), (1512, 88)]);
        assert_eq!(lengths(vec![part(0..200, 1000), part(256..300, 1512)]), [(1000, 200), (1512, 44)]);
        assert_eq!(lengths(vec![part(0..200, 1256), part(256..300, 1000)]), [(1256, 200), (1000, 44)]);
    }

    #[test]
    fn bytes_that_stand_alone_go_alone() {
        let bytes = vec![7; 512];
        let (front, back) = bytes.split_at(256);
        let parts =
            [(HostBytes::from(front), 0), (HostBytes::from(back), 256), (HostBytes::from(&bytes[..0]), 0)];
        assert_eq!(runs(parts.into_iter()).len(), 2);
        let other = vec![7; 256];
        let parts = [(HostBytes::within(&bytes, 0..256), 0), (HostBytes::within(&other, 0..256), 256)];
        assert_eq!(runs(parts.into_iter()).len(), 2);
    }
}
