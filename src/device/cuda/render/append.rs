//! Arrays one after the other in a block of bytes.

/// Arrays in the tables, and tables in the scratch memory, begin at multiples of this.
pub(super) const ALIGNMENT: u64 = 16;

/// Appends an array at an aligned offset, which it returns. Offsets beyond 4 GiB are refused once all is there.
pub(super) fn append<T: bytemuck::Pod>(bytes: &mut Vec<u8>, array: &[T]) -> u32 {
    bytes.resize(bytes.len().next_multiple_of(ALIGNMENT as usize), 0);
    let offset = bytes.len() as u32;
    bytes.extend_from_slice(bytemuck::cast_slice(array));
    offset
}
