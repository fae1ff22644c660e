//! A cubin as far as the double looks at one: the head of an ELF file, the sections of one kernel, and its parameters.

/// The bytes of a head, and of an entry of the table of sections.
const HEAD: usize = 64;

/// A cubin with one kernel whose parameters have so many bytes each.
pub(crate) fn file(kernel: &str, architecture: u8, abi: u8, parameters: &[u32]) -> Vec<u8> {
    let names = format!("\0.shstrtab\0.text.{kernel}\0.nv.info.{kernel}\0");
    let attribute = |(ordinal, bytes): (usize, &u32)| {
        let value = [0, ordinal as u32, bytes << 18].map(u32::to_le_bytes).concat();
        [&[4, 0x17, 12, 0], value.as_slice()].concat()
    };
    let info: Vec<u8> = parameters.iter().enumerate().flat_map(attribute).collect();
    let contents = [(1, 3, names.as_bytes()), (11, 1, &[0; 16]), (18 + kernel.len(), 1, &info)];
    let mut bytes = vec![0; HEAD];
    // A section's name, kind, flags, address, offset, length, and four numbers that nobody reads.
    let mut table = vec![0; HEAD];
    for (name, kind, content) in contents {
        table.extend([name as u32, kind].map(u32::to_le_bytes).concat());
        let place = [0, 0, bytes.len() as u64, content.len() as u64, 0, 0, 0];
        table.extend(place.map(u64::to_le_bytes).concat());
        bytes.extend_from_slice(content);
    }
    let flags = if abi >= 8 { u32::from(architecture) << 8 } else { u32::from(architecture) };
    bytes[..9].copy_from_slice(&[0x7F, b'E', b'L', b'F', 2, 1, 1, 0x41, abi]);
    bytes[18..20].copy_from_slice(&190u16.to_le_bytes());
    let table_at = bytes.len() as u64;
    bytes[40..48].copy_from_slice(&table_at.to_le_bytes());
    bytes[48..52].copy_from_slice(&flags.to_le_bytes());
    bytes[58..64].copy_from_slice(&[64u16, 4, 1].map(u16::to_le_bytes).concat());
    bytes.extend(table);
    bytes
}
