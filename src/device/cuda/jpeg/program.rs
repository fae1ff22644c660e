//! From the scans of a batch to the tables of a launch.

use super::layout::{
    JpegCode, JpegCut, JpegGroup, JpegImage, JpegJob, JpegPacked, JpegPiece, JpegPoint, JpegRun, LOOKUP_BITS,
    PIECE_THREADS, RGB_HEIGHT, RGB_WIDTH, TRANSFORMED,
};
use super::scan::{LONG_BITS, Scan, Stored};
use crate::device::cuda::driver::DevicePtr;
use crate::device::cuda::host_bytes::{ALIGNMENT, HostBytes};
use crate::device::cuda::target::Target;
use crate::jpeg::parallel::Code;
use bytemuck::Zeroable;
use std::collections::HashMap;

/// Bits in which pieces of one length differ, at most.
const LENGTH_BITS: u32 = 32;
/// Lengths of pieces that are not cut.
const LENGTHS: usize = (LONG_BITS / LENGTH_BITS) as usize + 1;

/// One scan that is to be decoded, and where to.
#[derive(Clone, Copy)]
pub(crate) struct Job<'a> {
    pub(crate) scan: &'a Scan,
    /// Its bits.
    pub(crate) words: HostBytes<'a>,
    pub(crate) target: Target,
}

/// Arrays for the device, and where they and what it makes lie in one block of its memory.
pub(crate) struct Program {
    tables: Tables,
    places: Places,
    /// Where the words of each image lie.
    words: Vec<usize>,
    /// Where the points of each image lie, and how many.
    points: Vec<(usize, usize)>,
    /// Of the whole block.
    bytes: usize,
}

/// What the kernels are told of some files.
#[derive(Clone, Debug, Default)]
pub struct Tables {
    /// The files.
    pub images: Vec<JpegImage>,
    /// Their distinct Huffman codes.
    pub codes: Vec<JpegCode>,
    /// Their quantisation factors.
    pub quants: Vec<[i16; 64]>,
    /// Pieces that a thread decodes alone.
    pub pieces: Vec<JpegPiece>,
    /// Blocks of threads that do so.
    pub groups: Vec<JpegGroup>,
    /// Pieces that are cut.
    pub runs: Vec<JpegRun>,
    /// Blocks of threads for their cuts.
    pub run_groups: Vec<JpegGroup>,
    /// Groups of packed blocks.
    pub packed: Vec<JpegPacked>,
    /// Blocks of threads of `inverse_dct`.
    pub transforms: Vec<JpegJob>,
    /// Those of `planes_to_rgb`.
    pub tiles: Vec<JpegJob>,
    /// Cuts of all runs.
    pub cuts: u32,
}

/// Offsets in the block.
#[derive(Clone, Copy, Default)]
pub(super) struct Places {
    /// A word an image, and behind them the points of all images: what goes back to the host. With the coefficients behind that
    /// it must be zero at first.
    pub(super) status: usize,
    pub(super) results: usize,
    pub(super) zeros: usize,
    pub(super) lookups: usize,
    /// Two sets of cuts, which take turns.
    pub(super) cuts: [usize; 2],
    /// The pieces that they become.
    pub(super) cut_pieces: usize,
    /// The start of all arrays.
    pub(super) tables: usize,
    pub(super) images: usize,
    pub(super) codes: usize,
    pub(super) quants: usize,
    pub(super) pieces: usize,
    pub(super) groups: usize,
    pub(super) runs: usize,
    pub(super) run_groups: usize,
    pub(super) packed: usize,
    pub(super) transforms: usize,
    pub(super) tiles: usize,
}

/// Blocks of threads of each launch.
pub(super) struct Counts {
    pub(super) codes: u32,
    pub(super) groups: u32,
    pub(super) runs: u32,
    pub(super) run_groups: u32,
    /// Groups of packed blocks, of which a block of threads has several.
    pub(super) packed: u32,
    pub(super) transforms: u32,
    pub(super) tiles: u32,
}

impl Program {
    pub(super) fn build(jobs: &[Job<'_>]) -> Self {
        let (tables, places) = (Tables::build(jobs), Places::default());
        let mut program = Self { tables, places, words: Vec::new(), points: Vec::new(), bytes: 0 };
        program.lay_out(jobs);
        program
    }

    /// Bytes of the device's memory that it takes.
    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    pub(super) fn places(&self) -> &Places {
        &self.places
    }

    /// Offsets of the images' words.
    pub(super) fn words(&self) -> &[usize] {
        &self.words
    }

    /// Offsets and numbers of the images' points.
    pub(super) fn points(&self) -> &[(usize, usize)] {
        &self.points
    }

    /// The pieces that are cut.
    pub(super) fn runs(&self) -> &[JpegRun] {
        &self.tables.runs
    }

    /// Cuts of all of them.
    pub(super) fn cuts(&self) -> usize {
        self.tables.cuts as usize
    }

    pub(super) fn counts(&self) -> Counts {
        let Tables { codes, groups, runs, run_groups, packed, transforms, tiles, .. } = &self.tables;
        Counts {
            codes: codes.len() as u32,
            groups: groups.len() as u32,
            runs: runs.len() as u32,
            run_groups: run_groups.len() as u32,
            packed: packed.len() as u32,
            transforms: transforms.len() as u32,
            tiles: tiles.len() as u32,
        }
    }

    fn lay_out(&mut self, jobs: &[Job<'_>]) {
        let (tables, places) = (&mut self.tables, &mut self.places);
        let mut at = 0usize;
        let mut take = |bytes: usize| {
            let from = at;
            at = (at + bytes).next_multiple_of(ALIGNMENT);
            from
        };
        places.status =
            take(size_of_val(tables.images.as_slice()) / size_of::<JpegImage>() * size_of::<u32>());
        for (image, job) in tables.images.iter_mut().zip(jobs) {
            let points = job.scan.points();
            image.points = if points > 0 { take(points * size_of::<JpegPoint>()) as u64 } else { 0 };
            self.points.push((image.points as usize, points));
        }
        places.results = take(0);
        for (image, job) in tables.images.iter_mut().zip(jobs) {
            image.coefficients = take(job.scan.blocks() * 128) as u64;
        }
        places.zeros = take(0);
        for (image, job) in tables.images.iter_mut().zip(jobs) {
            image.planes = take(job.scan.blocks() * 64) as u64;
        }
        places.lookups = take((tables.codes.len() << LOOKUP_BITS) * size_of::<u16>());
        let cuts = tables.cuts as usize;
        places.cuts = [take(cuts * size_of::<JpegCut>()), take(cuts * size_of::<JpegCut>())];
        places.cut_pieces = take(cuts * size_of::<JpegPiece>());
        // As they lie on the host, so that few copies carry them all.
        let mut order: Vec<usize> = (0..jobs.len()).collect();
        order.sort_unstable_by_key(|&number| jobs[number].words.address());
        self.words = vec![0; jobs.len()];
        for number in order {
            let offset = take(jobs[number].words.len());
            (tables.images[number].words, self.words[number]) = (offset as u64, offset);
        }
        places.tables = take(0);
        places.images = take(size_of_val(tables.images.as_slice()));
        places.codes = take(size_of_val(tables.codes.as_slice()));
        places.quants = take(size_of_val(tables.quants.as_slice()));
        places.pieces = take(size_of_val(tables.pieces.as_slice()));
        places.groups = take(size_of_val(tables.groups.as_slice()));
        places.runs = take(size_of_val(tables.runs.as_slice()));
        places.run_groups = take(size_of_val(tables.run_groups.as_slice()));
        places.packed = take(size_of_val(tables.packed.as_slice()));
        places.transforms = take(size_of_val(tables.transforms.as_slice()));
        places.tiles = take(size_of_val(tables.tiles.as_slice()));
        self.bytes = take(0);
    }

    /// Bytes of its arrays.
    pub(super) fn table_bytes(&self) -> usize {
        self.bytes - self.places.tables
    }

    /// Writes the arrays, for a block at `base`.
    pub(super) fn write_tables(&mut self, base: DevicePtr, out: &mut [u8]) {
        let Self { tables, places, .. } = self;
        for image in &mut tables.images {
            image.words += base;
            image.coefficients += base;
            image.planes += base;
            image.points += if image.points > 0 { base } else { 0 };
        }
        let mut put =
            |at: usize, bytes: &[u8]| out[at - places.tables..][..bytes.len()].copy_from_slice(bytes);
        put(places.images, bytemuck::cast_slice(&tables.images));
        put(places.codes, bytemuck::cast_slice(&tables.codes));
        put(places.quants, bytemuck::cast_slice(&tables.quants));
        put(places.pieces, bytemuck::cast_slice(&tables.pieces));
        put(places.groups, bytemuck::cast_slice(&tables.groups));
        put(places.runs, bytemuck::cast_slice(&tables.runs));
        put(places.run_groups, bytemuck::cast_slice(&tables.run_groups));
        put(places.packed, bytemuck::cast_slice(&tables.packed));
        put(places.transforms, bytemuck::cast_slice(&tables.transforms));
        put(places.tiles, bytemuck::cast_slice(&tables.tiles));
    }
}

impl Tables {
    /// Without addresses.
    pub(super) fn build(jobs: &[Job<'_>]) -> Self {
        let mut tables = Self::default();
        let mut known = HashMap::new();
        let mut files = Vec::with_capacity(jobs.len());
        for (number, job) in jobs.iter().enumerate() {
            match &job.scan.stored {
                Stored::Coded(coded) => {
                    let codes: [u32; 4] =
                        std::array::from_fn(|at| tables.code(&mut known, &coded.codes[at], at >= 2));
                    files.push((codes, number));
                }
                Stored::Packed(groups) => {
                    let of_image = |group: &JpegPacked| JpegPacked { image: number as u32, ..*group };
                    tables.packed.extend(groups.iter().map(of_image));
                }
            }
            tables.image(job);
        }
        // Files with the same codes share blocks of threads.
        files.sort_unstable();
        for files in files.chunk_by(|(codes, _), (others, _)| codes == others) {
            tables.pieces(files[0].0, files, jobs);
        }
        tables
    }

    /// The number of a code.
    fn code<'a>(&mut self, known: &mut HashMap<(&'a Code, bool), u32>, code: &'a Code, is_ac: bool) -> u32 {
        *known.entry((code, is_ac)).or_insert_with(|| {
            let Code { counts, symbols } = *code;
            self.codes.push(JpegCode { counts, symbols, is_ac: is_ac.into(), reserved: 0 });
            self.codes.len() as u32 - 1
        })
    }

    fn image(&mut self, job: &Job<'_>) {
        let Job { scan, target, .. } = job;
        let (number, quant) = (self.images.len() as u32, self.quants.len() as u32);
        let mut image = JpegImage { pixels: target.ptr, pitch: target.pitch as u32, ..scan.image };
        image.plane.iter_mut().for_each(|plane| plane.quant += quant);
        self.quants.extend(&scan.quants);
        let blocks = (0..scan.blocks() as u32).step_by(TRANSFORMED as usize);
        self.transforms.extend(blocks.map(|at| JpegJob { image: number, at }));
        // A thread begins in a column that is a multiple of four.
        let tiles = (image.x % 4 + image.width).div_ceil(RGB_WIDTH) * image.height.div_ceil(RGB_HEIGHT);
        self.tiles.extend((0..tiles).map(|at| JpegJob { image: number, at }));
        self.images.push(image);
    }

    /// Appends the pieces of files with the same codes: the longest first, so that those of a warp take about as long.
    fn pieces(&mut self, codes: [u32; 4], files: &[([u32; 4], usize)], jobs: &[Job<'_>]) {
        let all = || {
            files.iter().flat_map(|&(_, image)| {
                let of = move |piece: &JpegPiece| JpegPiece { image: image as u32, ..*piece };
                jobs[image].scan.pieces().iter().map(of)
            })
        };
        let mut ends = [0; LENGTHS];
        for piece in all() {
            match Scan::cuts(&piece) {
                0 => ends[length(&piece)] += 1,
                cuts => self.run(piece, cuts, codes),
            }
        }
        let first = self.pieces.len();
        let mut end = first;
        for count in ends.iter_mut().rev() {
            end += std::mem::replace(count, end);
        }
        self.pieces.resize(end, JpegPiece::zeroed());
        for piece in all().filter(|piece| Scan::cuts(piece) == 0) {
            let to = &mut ends[length(&piece)];
            self.pieces[*to] = piece;
            *to += 1;
        }
        for first in (first..end).step_by(PIECE_THREADS as usize) {
            let (first, count) = (first as u32, PIECE_THREADS.min((end - first) as u32));
            self.groups.push(JpegGroup { first, count, run: 0, reserved: 0, codes });
        }
    }

    /// A piece that is too long for one thread.
    fn run(&mut self, piece: JpegPiece, count: u32, codes: [u32; 4]) {
        let (first, run) = (self.cuts, self.runs.len() as u32);
        self.runs.push(JpegRun { piece, first, count });
        for at in (0..count).step_by(PIECE_THREADS as usize) {
            let count = PIECE_THREADS.min(count - at);
            self.run_groups.push(JpegGroup { first: first + at, count, run, reserved: 0, codes });
        }
        self.cuts += count;
    }
}

/// How long a piece that is not cut is.
fn length(piece: &JpegPiece) -> usize {
    ((piece.to - piece.from) / LENGTH_BITS) as usize
}
