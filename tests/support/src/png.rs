//! PNG files of one colour, and the checksums to make other ones by hand.

/// An RGB PNG of one colour, its pixels in stored deflate blocks.
pub fn flat(rgb: [u8; 3], width: u32, height: u32) -> Vec<u8> {
    let row = [vec![0], rgb.repeat(width as usize)].concat();
    let pixels = row.repeat(height as usize);
    let mut header = [width.to_be_bytes(), height.to_be_bytes()].concat();
    header.extend([8, 2, 0, 0, 0]);
    let mut zlib = vec![0x78, 0x01];
    let blocks: Vec<&[u8]> = pixels.chunks(usize::from(u16::MAX)).collect();
    for (at, block) in blocks.iter().enumerate() {
        let length = block.len() as u16;
        zlib.push(u8::from(at + 1 == blocks.len()));
        zlib.extend(length.to_le_bytes());
        zlib.extend((!length).to_le_bytes());
        zlib.extend(*block);
    }
    zlib.extend(adler32(&pixels).to_be_bytes());
    let mut file = b"\x89PNG\r\n\x1a\n".to_vec();
    for (name, data) in [(b"IHDR", header), (b"IDAT", zlib), (b"IEND", Vec::new())] {
        file.extend(chunk(name, &data));
    }
    file
}

/// A chunk: length, name, content and checksum.
pub fn chunk(name: &[u8; 4], data: &[u8]) -> Vec<u8> {
    let named = [name.as_slice(), data].concat();
    [&(data.len() as u32).to_be_bytes()[..], &named, &crc32(&named).to_be_bytes()].concat()
}

/// The checksum of zlib's streams.
pub fn adler32(bytes: &[u8]) -> u32 {
    let (a, b) = bytes.iter().fold((1u32, 0u32), |(a, b), &byte| {
        let a = (a + u32::from(byte)) % 65_521;
        (a, (b + a) % 65_521)
    });
    b << 16 | a
}

/// The checksum of PNG's chunks.
pub fn crc32(bytes: &[u8]) -> u32 {
    let shifted = |crc: u32| if crc & 1 == 1 { crc >> 1 ^ 0xEDB8_8320 } else { crc >> 1 };
    !bytes.iter().fold(u32::MAX, |crc, &byte| (0..8).fold(crc ^ u32::from(byte), |crc, _| shifted(crc)))
}
