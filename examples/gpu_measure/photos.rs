//! The data sets: a folder over and over, and its photographs as PNG, which every device leaves to the CPU to decode.

use anyhow::Context;
use feedline::image::{self, Decoder, Image};
use feedline::label::Label;
use feedline::source::{Folder, Memory, Source};
use std::borrow::Cow;
use std::path::Path;

/// A source over and over, until there are `samples` of them; `feedline bench` makes its epoch in the same way.
pub(crate) struct Repeated {
    pub(crate) folder: Folder,
    pub(crate) samples: usize,
}

impl Repeated {
    pub(crate) fn open(folder: &Path, samples: usize) -> anyhow::Result<Self> {
        Ok(Self { folder: Folder::open_any(folder)?, samples })
    }
}

impl Source for Repeated {
    fn len(&self) -> usize {
        self.samples
    }

    fn read(&self, index: usize, bytes: &mut Vec<u8>) -> feedline::error::Result<()> {
        self.folder.read(self.record(index), bytes)
    }

    fn key(&self, index: usize) -> Cow<'_, str> {
        self.folder.key(self.record(index))
    }

    fn label(&self, index: usize) -> Label {
        self.folder.label(self.record(index))
    }

    fn record(&self, index: usize) -> usize {
        index % self.folder.len().max(1)
    }
}

/// A file with what it is called.
pub(crate) struct Named {
    pub(crate) key: String,
    pub(crate) bytes: Vec<u8>,
}

impl Named {
    /// All files of a folder.
    pub(crate) fn read_all(folder: &Path) -> anyhow::Result<Vec<Self>> {
        let keys = Folder::open_any(folder)?;
        let named = |(at, bytes)| Self { key: keys.key(at).into_owned(), bytes };
        Ok(read_all(folder)?.into_iter().enumerate().map(named).collect())
    }
}

/// The bytes of all files of a folder.
pub(crate) fn read_all(folder: &Path) -> anyhow::Result<Vec<Vec<u8>>> {
    let folder = Folder::open_any(folder)?;
    let read = |index| {
        let mut bytes = Vec::new();
        folder.read(index, &mut bytes).map(|()| bytes)
    };
    Ok((0..folder.len()).map(read).collect::<feedline::error::Result<_>>()?)
}

/// The folder's images, decoded and stored without loss.
pub(crate) fn lossless(folder: &Path) -> anyhow::Result<Memory> {
    let folder = Folder::open_any(folder)?;
    let mut decoder = Decoder::default();
    let (mut bytes, mut decoded) = (Vec::new(), Image::default());
    let mut records = Vec::new();
    for index in 0..folder.len() {
        folder.read(index, &mut bytes)?;
        let header = image::parse_header(&bytes)?;
        decoder.decode(&bytes, &header, header.size.rect(), &mut decoded)?;
        let key = folder.key(index).into_owned();
        let png = to_png(&decoded).with_context(|| key.clone())?;
        records.push((key, png, folder.label(index)));
    }
    Ok(Memory::new(records))
}

fn to_png(image: &Image) -> anyhow::Result<Vec<u8>> {
    let mut file = Vec::new();
    let mut encoder = png::Encoder::new(&mut file, image.region.width, image.region.height);
    encoder.set_color(png::ColorType::Rgb);
    encoder.set_depth(png::BitDepth::Eight);
    encoder.set_compression(png::Compression::Fast);
    encoder.write_header()?.write_image_data(&image.data[..image.stride * image.region.height as usize])?;
    Ok(file)
}
