//! A file as the kernels get it, for whoever runs them without a device.

use super::layout::JpegPoint;
use super::{FilePart, Job, Scan, ScanMaker, Tables};
use crate::device::cuda::target::Target;
use crate::geometry::Rect;
use crate::image::parse_header;
use crate::jpeg::Index;

/// A file that the device takes. [`FileScan::tables`] says the rest, but for the addresses in it, so that the kernels can be run
/// on memory of any kind, and on records that no file leads to.
pub struct FileScan {
    region: Rect,
    scan: Scan,
    words: Vec<u8>,
}

impl FileScan {
    /// `None` for a file that the device does not take.
    pub fn read(&FilePart { bytes, region, index }: &FilePart<'_>) -> Option<Self> {
        let header = parse_header(bytes).ok()?;
        let region = region.unwrap_or(header.size.rect());
        let mut maker = ScanMaker::default();
        let scan = maker.make(bytes, &header, region, index)?;
        let mut words = vec![0; scan.word_bytes()];
        maker.write_words(bytes, &mut words);
        Some(Self { region, scan, words })
    }

    /// What is to be done with it.
    fn job(&self) -> Job<'_> {
        let target = Target { ptr: 0, pitch: self.region.width as usize * 3, region: self.region };
        Job { scan: &self.scan, words: self.words.as_slice().into(), target }
    }

    /// What the kernels are told of these files; each image's addresses are zero.
    pub fn tables(files: &[Self]) -> Tables {
        Tables::build(&files.iter().map(Self::job).collect::<Vec<_>>())
    }

    /// Its bits, as the kernels read them.
    pub fn words(&self) -> &[u8] {
        &self.words
    }

    /// Blocks of coefficients; its samples are as many.
    pub fn blocks(&self) -> usize {
        self.scan.blocks()
    }

    /// Points of the decode index that are noted; 0 where none are wanted.
    pub fn points(&self) -> usize {
        self.scan.points()
    }

    /// The decode index that is made of them, where it was not known.
    pub fn index(&self, bytes: &[u8], points: &[JpegPoint]) -> Option<Index> {
        self.scan.index(bytes, points)
    }
}
