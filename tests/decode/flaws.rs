//! Files with one flaw each, of the kinds that cameras, webcams and transfers leave: what is said of each, and its pixels.
//!
//! The checksums are those of libjpeg-turbo's pixels (3.2.0, as Pillow 13 carries it).

use feedline::jpeg::{Decoder, Limits, PixelsMut, parse_header};
use feedline::policy::Damaged::{self, Libjpeg, Refuse, Torchvision};
use feedline_test_support::damage::checksum;
use std::path::Path;

/// A file of the repository.
fn file(name: &str) -> Vec<u8> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/seeds/damaged");
    std::fs::read(folder.join(name)).expect("a seed")
}

/// Where the marker `code` is for the nth time, counted from 0.
fn place(file: &[u8], code: u8, nth: usize) -> usize {
    let mut places = (0..file.len() - 1).filter(|&at| file[at..at + 2] == [0xFF, code]);
    places.nth(nth).expect("the marker is there")
}

fn with(file: &[u8], at: usize, length: usize, bytes: &[u8]) -> Vec<u8> {
    [&file[..at], bytes, &file[at + length..]].concat()
}

/// A name, the file, the strictest setting that takes it, what is said of it, and the checksum of its pixels.
type Flaw = (&'static str, Vec<u8>, Damaged, &'static str, u64);

/// What lies before a restart marker and is not read.
fn of_padding() -> Vec<Flaw> {
    let restarts = file("420_restarts");
    let first = place(&restarts, 0xD0, 0);
    vec![
        (
            "padding before a restart marker",
            with(&restarts, first, 0, &[0xFF; 3]),
            Refuse,
            "",
            0x00C6_717D_EEED_2CC2,
        ),
        (
            "zeros before a restart marker",
            with(&restarts, first, 0, &[0; 4]),
            Refuse,
            "4 extraneous bytes before marker 0xd0",
            0x00C6_717D_EEED_2CC2,
        ),
        (
            "a byte of ones before a restart marker",
            with(&restarts, first, 0, &[0xFF, 0]),
            Refuse,
            "extraneous bytes before marker 0xd0",
            0x00C6_717D_EEED_2CC2,
        ),
        (
            "bytes before a restart marker",
            with(&restarts, first, 0, &[1, 2, 3, 4]),
            Torchvision,
            "4 extraneous bytes before marker 0xd0",
            0x00C6_717D_EEED_2CC2,
        ),
    ]
}

/// Those of the entropy-coded data itself.
fn of_restarts() -> Vec<Flaw> {
    let restarts = file("420_restarts");
    let [first, second] = [0xD0, 0xD1].map(|code| place(&restarts, code, 0));
    let end = restarts.len() - 2;
    vec![
        (
            "a restart marker left out",
            with(&restarts, first, 2, &[]),
            Torchvision,
            "99 extraneous bytes before marker 0xd1",
            0x3B04_7E22_F98B_427E,
        ),
        (
            "a restart marker twice",
            with(&restarts, second, 2, &[0xFF, 0xD0]),
            Torchvision,
            "found marker 0xd0 instead of RST1",
            0x8FBA_B2B5_CFC4_623A,
        ),
        (
            "a restart segment left out",
            with(&restarts, first, second - first, &[]),
            Torchvision,
            "found marker 0xd1 instead of RST0",
            0x3B04_7E22_F98B_427E,
        ),
        (
            "an end at a restart marker",
            with(&restarts, second, end - second, &[]),
            Torchvision,
            "found marker 0xd9 instead of RST1",
            0x543E_BD10_886A_C4A8,
        ),
        (
            "a restart marker among the data",
            with(&restarts, first - 40, 0, &[0xFF, 0xD0]),
            Torchvision,
            "premature end of data segment",
            0x5706_C4D4_6D7A_E65C,
        ),
        (
            "twenty zeros among the data",
            with(&restarts, first + 2, 20, &[0; 20]),
            Torchvision,
            "a code that does not exist, of which libjpeg does not warn",
            0xD955_1872_31D5_E7D4,
        ),
        (
            "fill bytes and an unknown marker among the data",
            with(&restarts, first + 20, 60, &[&[0xFF; 50][..], &[0x02], &[0x55; 9]].concat()),
            Torchvision,
            "premature end of data segment",
            0x5BAE_97C1_6ADC_673F,
        ),
        (
            "zeros among the data",
            with(&restarts, first + 20, 60, &[0; 60]),
            Torchvision,
            "premature end of data segment",
            0xEC75_9955_57E8_ABBB,
        ),
        (
            "ones among the data",
            with(&restarts, first + 20, 60, &[0xFF, 0].repeat(30)),
            Torchvision,
            "bad Huffman code",
            0x8D51_C863_6F61_B601,
        ),
    ]
}

fn of_segments_and_scans() -> Vec<Flaw> {
    let (plain, progressive) = (file("420"), file("progressive_444"));
    let end = progressive.len() - 2;
    let [scan, table, last] =
        [(0xDA, 0), (0xC4, 2), (0xDA, 9)].map(|(code, nth)| place(&progressive, code, nth));
    vec![
        ("a segment of length 1", with(&plain, 2, 0, &[0xFF, 0xE5, 0, 1]), Refuse, "", 0x6DED_E98B_F6EC_84F4),
        ("a comment of length 0", with(&plain, 2, 0, &[0xFF, 0xFE, 0, 0]), Refuse, "", 0x6DED_E98B_F6EC_84F4),
        (
            "bytes after a segment",
            with(&plain, 2, 0, &[0xFF, 0xE1, 0, 4, 0, 0, 1, 2, 3]),
            Refuse,
            "3 extraneous bytes before marker 0xe0",
            0x6DED_E98B_F6EC_84F4,
        ),
        (
            "bytes before the end",
            with(&plain, plain.len() - 2, 0, &[7; 260]),
            Refuse,
            "258 extraneous bytes before marker 0xd9",
            0x6DED_E98B_F6EC_84F4,
        ),
        (
            "a file cut short",
            plain[..plain.len() - 10].to_vec(),
            Libjpeg,
            "Premature end of JPEG file",
            0xD4C6_2C9C_09EC_A14A,
        ),
        (
            "a scan that ends early",
            with(&progressive, scan + 40, table - scan - 40, &[]),
            Torchvision,
            "premature end of data segment",
            0x0984_4F81_C083_9DFE,
        ),
        (
            "scans left out",
            with(&progressive, table, end - table, &[]),
            Torchvision,
            "scans left out",
            0x2C78_A4F2_77BF_0672,
        ),
        (
            "the last scan left out",
            with(&progressive, last, end - last, &[]),
            Torchvision,
            "scans left out",
            0x0629_60E7_CEE5_6E19,
        ),
    ]
}

#[test]
fn each_flaw_is_named_and_has_libjpeg_turbos_pixels() {
    for (name, bytes, strictest, says, sum) in [of_padding(), of_restarts(), of_segments_and_scans()].concat()
    {
        let mut decoder = Decoder::new();
        let header = parse_header(&bytes).unwrap_or_else(|error| panic!("{name}: {error}"));
        let (size, stride) = (header.size, header.size.width as usize * 3);
        let mut pixels = vec![0; stride * size.height as usize];
        let mut out = PixelsMut { data: &mut pixels, stride };
        let limits = |damaged| Limits { damaged, ..Limits::default() };
        let found = decoder.inspect(&bytes, &header, &limits(Damaged::Libjpeg), &mut out);
        let found = found.unwrap_or_else(|error| panic!("{name}: {error}"));
        let said = found.map(|damage| damage.to_string()).unwrap_or_default();
        assert!(said.contains(says) && said.is_empty() == says.is_empty(), "{name}: {said}");
        let settings = [Damaged::Refuse, Damaged::Torchvision, Damaged::Libjpeg];
        let taken = settings.map(|damaged| {
            decoder.decode_into(&bytes, &header, size.rect(), &limits(damaged), &mut out).is_ok()
        });
        let first = settings.iter().position(|setting| *setting == strictest);
        assert_eq!(taken.iter().position(|taken| *taken), first, "{name}: {taken:?}");
        assert_eq!(checksum(&pixels), sum, "{name}: {:#x}", checksum(&pixels));
    }
}
