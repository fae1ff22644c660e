//! Where the bytes of a record are read to: memory of the reader's choice, given once their number is known.

/// Memory that a record is read into: a `Vec`, or what another reader has at hand.
pub trait Destination {
    /// Room for a record of `len` bytes, to be written by the source; what is there before means nothing. Only what was
    /// asked for last counts.
    fn room(&mut self, len: usize) -> &mut [u8];

    /// The bytes of the record: the room that was asked for last.
    fn bytes(&self) -> &[u8];
}

impl Destination for Vec<u8> {
    fn room(&mut self, len: usize) -> &mut [u8] {
        // Not cleared first, so that only the growth is written twice.
        self.resize(len, 0);
        self
    }

    fn bytes(&self) -> &[u8] {
        self
    }
}
