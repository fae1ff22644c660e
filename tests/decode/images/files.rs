//! Image files made byte by byte, so that the tests know every sample in them.

/// A PNG: its samples, and how they are stored.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Png {
    pub(crate) width: u32,
    pub(crate) height: u32,
    /// 0 grey, 2 RGB, 3 palette, 4 grey with alpha, 6 RGBA.
    pub(crate) color: u8,
    pub(crate) depth: u8,
    pub(crate) interlaced: bool,
}

/// First column and row, and steps, of the seven passes of an interlaced file.
const PASSES: [[u32; 4]; 7] =
    [[0, 0, 8, 8], [4, 0, 8, 8], [0, 4, 4, 8], [2, 0, 4, 4], [0, 2, 2, 4], [1, 0, 2, 2], [0, 1, 1, 2]];

impl Png {
    pub(crate) fn channels(&self) -> u32 {
        [1, 0, 3, 1, 2, 0, 4][self.color as usize]
    }

    /// The file, with `chunks` (name and body) between palette and pixels.
    pub(crate) fn file(
        &self,
        sample: impl Fn(u32, u32, u32) -> u16,
        chunks: &[(&[u8; 4], &[u8])],
    ) -> Vec<u8> {
        let mut file = b"\x89PNG\r\n\x1a\n".to_vec();
        let mut head = [self.width.to_be_bytes(), self.height.to_be_bytes()].concat();
        head.extend_from_slice(&[self.depth, self.color, 0, 0, u8::from(self.interlaced)]);
        chunk(&mut file, b"IHDR", &head);
        for (name, body) in chunks {
            chunk(&mut file, name, body);
        }
        chunk(&mut file, b"IDAT", &stored_zlib(&self.rows(sample)));
        chunk(&mut file, b"IEND", &[]);
        file
    }

    fn rows(&self, sample: impl Fn(u32, u32, u32) -> u16) -> Vec<u8> {
        let passes: &[[u32; 4]] = if self.interlaced { &PASSES } else { &[[0, 0, 1, 1]] };
        let mut bytes = Vec::new();
        for &[x0, y0, dx, dy] in passes {
            if x0 >= self.width {
                continue;
            }
            for y in (y0..self.height).step_by(dy as usize) {
                bytes.push(0);
                let row = (x0..self.width).step_by(dx as usize);
                let samples = row.flat_map(|x| (0..self.channels()).map(move |c| (x, c)));
                self.pack(samples.map(|(x, c)| sample(x, y, c)), &mut bytes);
            }
        }
        bytes
    }

    fn pack(&self, samples: impl Iterator<Item = u16>, bytes: &mut Vec<u8>) {
        let mut bits = String::new();
        for sample in samples {
            bits.push_str(&format!("{sample:0width$b}", width = self.depth as usize));
        }
        while !bits.len().is_multiple_of(8) {
            bits.push('0');
        }
        let byte = |at: usize| u8::from_str_radix(&bits[at..at + 8], 2).unwrap();
        bytes.extend((0..bits.len()).step_by(8).map(byte));
    }
}

fn chunk(file: &mut Vec<u8>, name: &[u8; 4], body: &[u8]) {
    file.extend_from_slice(&(body.len() as u32).to_be_bytes());
    let start = file.len();
    file.extend_from_slice(name);
    file.extend_from_slice(body);
    let sum = crc32(&file[start..]);
    file.extend_from_slice(&sum.to_be_bytes());
}

/// A zlib stream that compresses nothing.
fn stored_zlib(bytes: &[u8]) -> Vec<u8> {
    let mut stream = vec![0x78, 0x01];
    let blocks = bytes.chunks(65_535);
    let last = blocks.len() - 1;
    for (index, block) in blocks.enumerate() {
        stream.push(u8::from(index == last));
        stream.extend_from_slice(&(block.len() as u16).to_le_bytes());
        stream.extend_from_slice(&(!(block.len() as u16)).to_le_bytes());
        stream.extend_from_slice(block);
    }
    let (mut a, mut b) = (1u32, 0u32);
    for &byte in bytes {
        a = (a + u32::from(byte)) % 65_521;
        b = (b + a) % 65_521;
    }
    stream.extend_from_slice(&(b << 16 | a).to_be_bytes());
    stream
}

fn crc32(bytes: &[u8]) -> u32 {
    let step = |sum: u32| if sum & 1 == 1 { sum >> 1 ^ 0xEDB8_8320 } else { sum >> 1 };
    !bytes.iter().fold(!0u32, |sum, &byte| (0..8).fold(sum ^ u32::from(byte), |sum, _| step(sum)))
}

/// EXIF that says nothing but an orientation.
pub(crate) fn exif(orientation: u8) -> Vec<u8> {
    let mut tiff = b"MM\0*\0\0\0\x08\0\x01\x01\x12\0\x03\0\0\0\x01\0".to_vec();
    tiff.extend_from_slice(&[orientation, 0, 0, 0, 0, 0, 0]);
    tiff
}

/// A still, lossless WebP; `pixels` are RGB or RGBA.
pub(crate) fn webp(width: u32, height: u32, pixels: &[u8]) -> Vec<u8> {
    let rgba = pixels.len() as u32 == width * height * 4;
    let color = if rgba { image_webp::ColorType::Rgba8 } else { image_webp::ColorType::Rgb8 };
    let mut file = Vec::new();
    image_webp::WebPEncoder::new(&mut file).encode(pixels, width, height, color).unwrap();
    file
}

/// An extended WebP of these chunks.
pub(crate) fn extended_webp(width: u32, height: u32, flags: u8, chunks: &[(&[u8; 4], Vec<u8>)]) -> Vec<u8> {
    let mut head = vec![flags, 0, 0, 0];
    head.extend_from_slice(&(width - 1).to_le_bytes()[..3]);
    head.extend_from_slice(&(height - 1).to_le_bytes()[..3]);
    let mut body = b"WEBP".to_vec();
    for (name, data) in [(b"VP8X", head)].iter().chain(chunks) {
        body.extend_from_slice(*name);
        body.extend_from_slice(&(data.len() as u32).to_le_bytes());
        body.extend_from_slice(data);
        body.resize(body.len().next_multiple_of(2), 0);
    }
    [b"RIFF".as_slice(), &(body.len() as u32).to_le_bytes(), &body].concat()
}
