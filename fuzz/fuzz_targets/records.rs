//! Reads records of a source that was made from any bytes.

use feedline::source::Source;

/// Most records that are read from each end.
pub const RECORDS: usize = 40;

/// Reads both ends of a source: bytes or an error, which are the same ones when it is asked again.
pub fn check(source: &impl Source) {
    let read = |index| {
        let mut bytes = Vec::new();
        source.read(index, &mut bytes).map(|()| bytes).map_err(|error| error.to_string())
    };
    let ends = (0..source.len().min(RECORDS)).chain(source.len().saturating_sub(RECORDS)..source.len());
    let ends: Vec<usize> = ends.collect();
    let records: Vec<_> = ends.iter().copied().map(read).collect();
    for (&index, record) in ends.iter().zip(&records).rev() {
        assert!(read(index) == *record, "record {index}");
        assert!(!record.as_ref().is_err_and(String::is_empty));
        drop((source.key(index), source.label(index)));
    }
    assert!(read(source.len()).is_err());
}
