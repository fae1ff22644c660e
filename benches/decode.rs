//! What decoding the bundled photographs costs: whole, and the middle part that a training crop reads.

use divan::{Bencher, counter::BytesCount};
use feedline::geometry::Rect;
use feedline::image::{Decoder, Header, Image, Limits, parse_header};
use feedline::source::{Folder, Source};

fn main() {
    divan::main();
}

fn photographs() -> Vec<(Vec<u8>, Header)> {
    let photos = Folder::open(concat!(env!("CARGO_MANIFEST_DIR"), "/data/photos")).expect("photographs");
    let read = |index| {
        let mut bytes = Vec::new();
        photos.read(index, &mut bytes).expect("a readable file");
        let header = parse_header(&bytes).expect("an image");
        (bytes, header)
    };
    (0..photos.len()).map(read).collect()
}

fn decode_all(bencher: Bencher<'_, '_>, region: impl Fn(&Header) -> Rect) {
    let files = photographs();
    let bytes: usize = files.iter().map(|(bytes, _)| bytes.len()).sum();
    let (mut decoder, mut image) = (Decoder::new(Limits::default()), Image::default());
    bencher.counter(BytesCount::new(bytes)).bench_local(|| {
        for (bytes, header) in &files {
            decoder.decode(bytes, header, region(header), &mut image).expect("pixels");
            divan::black_box(&image);
        }
    });
}

#[divan::bench]
fn whole(bencher: Bencher<'_, '_>) {
    decode_all(bencher, |header| header.size.rect());
}

#[divan::bench]
fn middle_quarter(bencher: Bencher<'_, '_>) {
    decode_all(bencher, |header| {
        let (width, height) = (header.size.width, header.size.height);
        Rect::new((width / 4) as i32, (height / 4) as i32, width.div_ceil(2), height.div_ceil(2))
    });
}
