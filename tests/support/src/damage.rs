//! Damaged JPEGs: what transfers, disks and editors do to files, drawn by a seed.

use std::path::Path;

/// The random numbers of one damaged file.
#[derive(Debug)]
pub struct Mutations(u64);

impl Mutations {
    /// Those of a seed.
    pub fn new(seed: u64) -> Self {
        Self((seed + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 16
    }

    /// A number below `bound`.
    pub fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound.max(1) as u64) as usize
    }

    /// A damaged copy.
    pub fn apply(&mut self, file: &[u8]) -> Vec<u8> {
        let mut bytes = file.to_vec();
        for _ in 0..1 + self.below(4) {
            self.damage(&mut bytes);
        }
        bytes
    }

    /// An offset: anywhere, near the start, or next to a marker.
    fn offset(&mut self, bytes: &[u8]) -> usize {
        match self.below(4) {
            0 => self.below(bytes.len().min(700)),
            1 => {
                let from = self.below(bytes.len());
                let found = bytes[from..].windows(2).position(|pair| pair[0] == 0xFF && pair[1] != 0);
                from + found.unwrap_or(0)
            }
            _ => self.below(bytes.len()),
        }
    }

    fn damage(&mut self, bytes: &mut Vec<u8>) {
        if bytes.len() < 4 {
            return;
        }
        let at = self.offset(bytes).min(bytes.len() - 1);
        let end = (at + 1 + self.below(300)).min(bytes.len());
        match self.below(12) {
            0 => bytes.truncate(at.max(2)),
            1..=3 => bytes[at] ^= 1 << self.below(8),
            4 => bytes[at] = self.next() as u8,
            5 => {
                bytes.drain(at..end);
            }
            6 => bytes[at..end].fill([0, 0xFF][self.below(2)]),
            7 => {
                let copy = bytes[at..end].to_vec();
                let to = self.below(bytes.len());
                bytes.splice(to..to, copy);
            }
            8 => {
                let markers =
                    [0xD0, 0xD1, 0xD5, 0xD7, 0xD9, 0xD8, 0xDA, 0xC4, 0xE1, 0x01, 0x7F, 0xF7, 0xDE, 0xCC];
                bytes.splice(at..at, [0xFF, markers[self.below(markers.len())]]);
            }
            9 => {
                bytes.splice(at..at, [0xFF; 3].into_iter().take(1 + self.below(3)));
            }
            10 => {
                bytes.splice(at..at, [0xFF, 0xFF, 0]);
            }
            _ => {
                let noise: Vec<u8> = (0..1 + self.below(20)).map(|_| self.next() as u8).collect();
                let end = (at + noise.len()).min(bytes.len());
                bytes.splice(at..end, noise);
            }
        }
    }
}

/// How many [`Cases`] there are.
pub const CASES: u64 = 900;

/// Damaged files of which it is recorded what libjpeg-turbo makes of them.
///
/// They are made of files that lie in the repository, since what an encoder writes depends on the processor.
#[derive(Debug)]
pub struct Cases {
    small: Vec<Vec<u8>>,
    large: Vec<Vec<u8>>,
}

impl Cases {
    /// Those of the repository in the folder `root`.
    ///
    /// # Panics
    /// Where the files are not there.
    pub fn open(root: &Path) -> Self {
        let files = |folder: &str, name: &str| {
            let mut paths: Vec<_> = std::fs::read_dir(root.join(folder))
                .unwrap_or_else(|error| panic!("{folder}: {error}"))
                .map(|entry| entry.expect("an entry").path().join(name))
                .collect();
            paths.sort();
            let read = |path: &std::path::PathBuf| std::fs::read(path.components().as_path());
            paths.iter().filter_map(|path| read(path).ok()).collect()
        };
        Self { small: files("fuzz/seeds/damaged", ""), large: files("data/photos", "0000.jpg") }
    }

    /// A damaged file: of every sampling and mode, small or, one in twelve, a photograph.
    pub fn file(&self, number: u64) -> Vec<u8> {
        let mut mutations = Mutations::new(number);
        let files = if number.is_multiple_of(12) { &self.large } else { &self.small };
        let file = &files[mutations.below(files.len())];
        mutations.apply(file)
    }
}

/// A checksum of pixels: FNV-1a, 64 bits.
pub fn checksum(bytes: &[u8]) -> u64 {
    bytes
        .iter()
        .fold(0xCBF2_9CE4_8422_2325, |sum, &byte| (sum ^ u64::from(byte)).wrapping_mul(0x100_0000_01B3))
}
