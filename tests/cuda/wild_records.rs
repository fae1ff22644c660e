//! The kernels of feedline's JPEG decoder on records of pieces and of groups that no file leads to. The fuzz targets `kernels` and
//! `expand` look for more.

#![expect(unsafe_code, reason = "a function of a C library, found by name")]

use crate::bare_device::{Device, ROUNDS};
use crate::packed::packed;
use crate::scenario::{Outcome, Scenario};
use feedline::coefficients::Profile;
use feedline::device::cuda::jpeg::layout::{JpegPacked, JpegPiece};
use feedline::device::cuda::jpeg::{FilePart, FileScan};
use feedline::geometry::Rect;
use feedline::image::{self, Image};
use feedline::jpeg::{Decoder, Index, Limits, PixelsMut, parse_header};
use feedline::policy::Damaged;
use feedline_test_support::noise::Noise;
use feedline_test_support::scribble::Scribble;
use std::ffi::{CStr, c_char, c_int, c_void};
use std::mem::ManuallyDrop;

pub(crate) const SCENARIOS: &[Scenario] = &[
    Scenario::new(
        "jpeg: whatever the record of a piece says, kernels end and leave other files alone",
        pieces,
    )
    .decides(),
    Scenario::new(
        "packed: whatever the record of a group says, kernels end and leave other files alone",
        groups,
    )
    .decides(),
];

/// `testdouble/grid/registry.cpp`
type RunKernel =
    unsafe extern "C" fn(*const c_char, *const [u32; 3], *const [u32; 3], u64, *mut *mut c_void) -> c_int;

/// What is done to a record.
type Change<T> = Box<dyn Fn(&mut T)>;

/// Changes to a record: each number to what is beyond all bounds, or close to it, and many at once.
fn changes() -> Vec<Change<JpegPiece>> {
    let mut changes: Vec<Change<JpegPiece>> = vec![Box::new(|_| {})];
    for value in [0, 1, 63, 5000, 1 << 20, u32::MAX / 2, u32::MAX - 40, u32::MAX] {
        changes.push(Box::new(move |piece| piece.from = value));
        changes.push(Box::new(move |piece| piece.to = value));
        changes.push(Box::new(move |piece| piece.block = value));
        changes.push(Box::new(move |piece| piece.end_block = value));
        changes.push(Box::new(move |piece| (piece.to, piece.end_block) = (u32::MAX, value)));
        changes.push(Box::new(move |piece| (piece.from, piece.to) = (value, u32::MAX)));
        changes.push(Box::new(move |piece| piece.coefficient = value as u8));
        changes.push(Box::new(move |piece| piece.end_coefficient = value as u8));
    }
    for seed in 0..40 {
        changes.push(Box::new(move |piece| {
            let mut noise = Noise(piece.from.wrapping_add(seed << 20));
            let mut draw = || noise.bits() >> 8;
            let image = piece.image;
            let mut bytes = [0; size_of::<JpegPiece>()];
            bytes.fill_with(|| draw() as u8);
            *piece = JpegPiece { image, end: draw() as u16 % 4, ..bytemuck::pod_read_unaligned(&bytes) };
        }));
    }
    changes
}

/// The same for groups.
fn changes_of_groups() -> Vec<Change<JpegPacked>> {
    let mut changes: Vec<Change<JpegPacked>> = vec![Box::new(|_| {})];
    for value in [0, 1, 31, 33, 63, 255, 5000, 65_535, 1 << 20, u32::MAX / 2, u32::MAX - 40, u32::MAX] {
        changes.push(Box::new(move |group| group.at = value));
        changes.push(Box::new(move |group| group.length = value as u16));
        changes.push(Box::new(move |group| group.count = value as u8));
        changes.push(Box::new(move |group| group.component = value as u8));
        changes.push(Box::new(move |group| group.column = value as u16));
        changes.push(Box::new(move |group| group.row = value as u16));
    }
    for seed in 0..40 {
        changes.push(Box::new(move |group| {
            let mut noise = Noise(group.at.wrapping_add(seed << 20));
            let mut bytes = [0; size_of::<JpegPacked>()];
            bytes.fill_with(|| (noise.bits() >> 8) as u8);
            let at = noise.bits() % 4000;
            *group = JpegPacked { image: group.image, at, ..bytemuck::pod_read_unaligned(&bytes) };
        }));
    }
    changes
}

/// Runs a kernel of the double.
fn runner() -> Result<impl FnMut(&CStr, [u32; 2], &mut [u64]), libloading::Error> {
    // SAFETY: the type is that of the double; the library stays loaded.
    let kernel: RunKernel = unsafe {
        let library = ManuallyDrop::new(libloading::Library::new("libcuda.so.1")?);
        *library.get("testdouble_run_kernel")?
    };
    Ok(move |name: &CStr, [blocks, threads]: [u32; 2], values: &mut [u64]| {
        let mut parameters: Vec<*mut c_void> =
            values.iter_mut().map(|value| (&raw mut *value).cast::<c_void>()).collect();
        let (grid, block, parameters) = ([blocks, 1, 1], [threads, 1, 1], parameters.as_mut_ptr());
        // SAFETY: the kernel takes as many values, and addresses are those of whole arrays.
        let result = unsafe { kernel(name.as_ptr(), &grid, &block, 0, parameters) };
        assert_eq!(result, 0, "{name:?}");
    })
}

/// One file of two twice, of which only the first one's groups are wild.
fn groups() -> Outcome {
    let mut run = runner()?;
    let jpeg = Scribble { coefficients: 40, ..Scribble::default() }.file(88, 88);
    for profile in [Profile::Small, Profile::Fast] {
        let bytes = packed(&jpeg, profile)?;
        let region = Rect::new(8, 40, 20, 40);
        let mut wanted = Image::default();
        let decoder = &mut image::Decoder::new(image::Limits::default());
        decoder.decode(&bytes, &image::parse_header(&bytes)?, region, &mut wanted)?;
        let part = FilePart { bytes: &bytes, region: Some(region), index: None };
        let scans: Vec<FileScan> = [part; 2].iter().filter_map(FileScan::read).collect();
        for (number, change) in changes_of_groups().iter().enumerate() {
            let mut tables = FileScan::tables(&scans);
            tables.packed.iter_mut().filter(|group| group.image == 0).for_each(change);
            let mut device = Device::new(tables, &scans);
            device.decode(ROUNDS, &mut run);
            let is_right = |file| device.is_sound(file) && wanted.data.starts_with(device.pixels(file));
            assert!(is_right(1), "change {number}: the other file");
            assert!(number > 0 || is_right(0), "no change");
        }
    }
    Ok(())
}

fn pieces() -> Outcome {
    let mut run = runner()?;
    // One that is cut, and one of several pieces.
    let long = Scribble { coefficients: 30, ..Scribble::default() }.file(88, 88);
    let restarts = Scribble { restart: 2, long_codes: true, ..Scribble::default() }.file(88, 88);
    for (bytes, is_cut) in [(&long, true), (&restarts, false)] {
        let header = parse_header(bytes)?;
        let none = Index::default();
        let region = Rect::new(8, 60, 20, 20);
        let mut wanted = vec![0; 20 * 20 * 3];
        let mut out = PixelsMut { data: &mut wanted, stride: 20 * 3 };
        let limits = Limits { damaged: Damaged::Refuse, ..Limits::default() };
        Decoder::new().decode_into(bytes, &header, region, &limits, &mut out)?;
        let part = FilePart { bytes, region: Some(region), index: Some(&none) };
        let scans: Vec<FileScan> = [part; 2].iter().filter_map(FileScan::read).collect();
        assert_eq!(!FileScan::tables(&scans).runs.is_empty(), is_cut);
        for (number, change) in changes().iter().enumerate() {
            let mut tables = FileScan::tables(&scans);
            let runs = tables.runs.iter_mut().map(|run| &mut run.piece);
            tables.pieces.iter_mut().chain(runs).filter(|piece| piece.image == 0).for_each(change);
            let mut device = Device::new(tables, &scans);
            device.decode(ROUNDS, &mut run);
            assert!(device.is_sound(1) && device.pixels(1) == wanted, "change {number}: the other file");
            assert!(number > 0 || device.is_sound(0) && device.pixels(0) == wanted, "no change");
            assert!(number > 0 || device.points(0) == device.points(1), "no change: points");
        }
    }
    Ok(())
}
