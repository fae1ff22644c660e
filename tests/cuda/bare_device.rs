//! The kernels of feedline's JPEG decoder without a driver. Each array is memory of its own and exactly as long as it has to
//! be, so that AddressSanitizer sees the first byte beyond it. The fuzz targets `kernels` and `expand` use this file too.

use feedline::device::cuda::jpeg::layout::{
    EXPAND_THREADS, EXPANDED, JpegCut, JpegPiece, JpegPoint, LOOKUP_BITS, PIECE_THREADS, RGB_HEIGHT,
    RGB_WIDTH, TRANSFORMED,
};
use feedline::device::cuda::jpeg::{FileScan, Tables};
use std::ffi::CStr;

/// Rounds of `synchronise`, at most, as the library has them.
pub(crate) const ROUNDS: u32 = 32;
/// Threads of a block of `huffman_tables`, and of `prefix`.
const TABLE_THREADS: u32 = 256;
/// What is in memory that nobody has written to.
const RUBBISH: u8 = 0xCB;

/// Runs the kernel of a name on so many blocks of so many threads, with these parameters; none is larger than 64 bits.
pub(crate) type Run<'a> = &'a mut dyn FnMut(&CStr, [u32; 2], &mut [u64]);

/// An image's memory.
struct Memory {
    words: Box<[u32]>,
    coefficients: Box<[i16]>,
    planes: Box<[u64]>,
    pixels: Box<[u8]>,
    points: Box<[JpegPoint]>,
}

pub(crate) struct Device {
    tables: Tables,
    images: Vec<Memory>,
    lookups: Box<[u16]>,
    cuts: [Box<[JpegCut]>; 2],
    cut_pieces: Box<[JpegPiece]>,
    status: Box<[u32]>,
}

fn filled<T: bytemuck::Pod>(count: usize, byte: u8) -> Box<[T]> {
    let mut memory = vec![T::zeroed(); count].into_boxed_slice();
    bytemuck::cast_slice_mut(&mut memory).fill(byte);
    memory
}

fn at<T>(memory: &mut [T]) -> u64 {
    memory.as_mut_ptr() as u64
}

impl Device {
    /// The memory for these files.
    pub(crate) fn new(mut tables: Tables, files: &[FileScan]) -> Self {
        let mut images = Vec::new();
        for (image, file) in tables.images.iter_mut().zip(files) {
            let mut memory = Memory {
                words: file.words().chunks_exact(4).map(bytemuck::pod_read_unaligned).collect(),
                coefficients: filled(file.blocks() * 64, 0),
                planes: filled(file.blocks() * 8, RUBBISH),
                pixels: filled(image.height as usize * image.pitch as usize, RUBBISH),
                points: filled(file.points(), 0),
            };
            image.words = at(&mut memory.words);
            image.coefficients = at(&mut memory.coefficients);
            image.planes = at(&mut memory.planes);
            image.pixels = at(&mut memory.pixels);
            image.points = if memory.points.is_empty() { 0 } else { at(&mut memory.points) };
            images.push(memory);
        }
        exactly(&mut tables);
        let cuts = tables.cuts as usize;
        Self {
            images,
            lookups: filled(tables.codes.len() << LOOKUP_BITS, RUBBISH),
            cuts: [filled(cuts, RUBBISH), filled(cuts, RUBBISH)],
            cut_pieces: filled(cuts, RUBBISH),
            status: filled(files.len(), 0),
            tables,
        }
    }

    /// Runs the kernels as the library does (`src/device/cuda/jpeg/kernels.rs`), but for so many rounds at most.
    pub(crate) fn decode(&mut self, rounds: u32, run: Run<'_>) {
        let Self { tables, lookups, cuts, cut_pieces, status, .. } = self;
        let [images, codes, runs] = [at(&mut tables.images), at(&mut tables.codes), at(&mut tables.runs)];
        let [lookups, status, cut_pieces] = [at(lookups), at(status), at(cut_pieces)];
        let mut run = |name: &CStr, blocks: usize, threads: u32, values: &mut [u64]| {
            if blocks > 0 {
                run(name, [blocks as u32, threads], values);
            }
        };
        run(c"huffman_tables", tables.codes.len(), TABLE_THREADS, &mut [codes, lookups]);
        let (groups, pieces) = (at(&mut tables.groups), at(&mut tables.pieces));
        let values = &mut [groups, pieces, images, codes, lookups, status];
        run(c"entropy", tables.groups.len(), PIECE_THREADS, values);
        let groups = at(&mut tables.run_groups);
        for round in 0..if tables.runs.is_empty() { 0 } else { rounds } {
            let [before, after] = cuts.each_mut().map(|cuts| at(cuts));
            let values = &mut [groups, runs, images, codes, lookups, before, after, u64::from(round == 0)];
            run(c"synchronise", tables.run_groups.len(), PIECE_THREADS, values);
            cuts.swap(0, 1);
            // Another round would change nothing.
            if round > 0 && cuts[0] == cuts[1] {
                break;
            }
        }
        let values = &mut [runs, at(&mut cuts[0]), cut_pieces, status];
        run(c"prefix", tables.runs.len(), TABLE_THREADS, values);
        let values = &mut [groups, cut_pieces, images, codes, lookups, status];
        run(c"entropy", tables.run_groups.len(), PIECE_THREADS, values);
        let count = tables.packed.len();
        let values = &mut [at(&mut tables.packed), images, status, count as u64];
        run(c"expand", count.div_ceil((EXPAND_THREADS / EXPANDED) as usize), EXPAND_THREADS, values);
        let values = &mut [at(&mut tables.transforms), images, at(&mut tables.quants)];
        run(c"inverse_dct", tables.transforms.len(), TRANSFORMED * 8, values);
        let values = &mut [at(&mut tables.tiles), images];
        run(c"planes_to_rgb", tables.tiles.len(), RGB_WIDTH / 4 * RGB_HEIGHT, values);
    }

    /// Whether nothing is wrong with an image.
    pub(crate) fn is_sound(&self, number: usize) -> bool {
        self.status[number] == 0
    }

    /// Its pixels.
    pub(crate) fn pixels(&self, number: usize) -> &[u8] {
        &self.images[number].pixels
    }

    /// The points of its decode index.
    pub(crate) fn points(&self, number: usize) -> &[JpegPoint] {
        &self.images[number].points
    }
}

/// Gives back what lies behind the arrays.
fn exactly(tables: &mut Tables) {
    let Tables { images, codes, quants, pieces, groups, runs, run_groups, packed, transforms, tiles, .. } =
        tables;
    images.shrink_to_fit();
    codes.shrink_to_fit();
    quants.shrink_to_fit();
    pieces.shrink_to_fit();
    groups.shrink_to_fit();
    runs.shrink_to_fit();
    run_groups.shrink_to_fit();
    packed.shrink_to_fit();
    transforms.shrink_to_fit();
    tiles.shrink_to_fit();
}
