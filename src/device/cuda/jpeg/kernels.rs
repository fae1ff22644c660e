//! The decoder's kernels, and how they are run.

#![expect(unsafe_code, reason = "starts kernels on memory that the caller vouches for")]

use super::layout::{EXPAND_THREADS, EXPANDED, PIECE_THREADS, RGB_HEIGHT, RGB_WIDTH, TRANSFORMED};
use super::program::Program;
use crate::device::cuda::driver::{Context, CudaError, DevicePtr, Function, Stream};
use crate::device::cuda::kernel;
use std::ffi::c_void;
use std::ptr::from_mut;

/// Threads of a block of `huffman_tables`, and of `prefix`.
const TABLE_THREADS: u32 = 256;
/// Rounds in which cuts are made to fit each other, at most.
const ROUNDS: u32 = 32;

/// Is told which kernel is queued next, and where the latest cuts lie: to measure them one by one.
pub(super) type Watch<'a> = &'a mut dyn FnMut(&'static str, usize) -> Result<(), CudaError>;

/// All of them, loaded.
pub(super) struct JpegKernels {
    huffman_tables: Function,
    entropy: Function,
    synchronise: Function,
    prefix: Function,
    expand: Function,
    inverse_dct: Function,
    planes_to_rgb: Function,
}

impl JpegKernels {
    pub(super) fn load(context: &Context) -> Result<Self, CudaError> {
        Ok(Self {
            huffman_tables: kernel::load(context, "huffman_tables")?,
            entropy: kernel::load(context, "entropy")?,
            synchronise: kernel::load(context, "synchronise")?,
            prefix: kernel::load(context, "prefix")?,
            expand: kernel::load(context, "expand")?,
            inverse_dct: kernel::load(context, "inverse_dct")?,
            planes_to_rgb: kernel::load(context, "planes_to_rgb")?,
        })
    }

    /// Decodes the scans of a program, whose block of memory begins at `base`.
    ///
    /// # Safety
    /// Arrays and words are there for `stream`, and nothing else uses the block and the targets until `stream` has reached
    /// this point.
    pub(super) unsafe fn launch(
        &self,
        program: &Program,
        base: DevicePtr,
        stream: &Stream,
        watch: Watch<'_>,
    ) -> Result<(), CudaError> {
        let (places, counts) = (program.places(), program.counts());
        let at = |offset: usize| base + offset as DevicePtr;
        let [images, codes, lookups, status] =
            [places.images, places.codes, places.lookups, places.status].map(at);
        let runs = at(places.runs);
        let entropy = |groups: usize, pieces: usize| [at(groups), at(pieces), images, codes, lookups, status];
        let mut cuts = places.cuts;
        // SAFETY: arrays and words are there for the stream, nothing else uses block and targets until it has reached this point, and
        // the kernels take as many addresses.
        unsafe {
            watch("huffman_tables", cuts[0])?;
            stream.clear(status, places.zeros - places.status)?;
            run(stream, &self.huffman_tables, [counts.codes, TABLE_THREADS], &mut [codes, lookups], &mut [])?;
            watch("entropy", cuts[0])?;
            let size = [counts.groups, PIECE_THREADS];
            run(stream, &self.entropy, size, &mut entropy(places.groups, places.pieces), &mut [])?;
            let size = [counts.run_groups, PIECE_THREADS];
            for round in 0..if counts.runs > 0 { ROUNDS } else { 0 } {
                watch("synchronise", cuts[0])?;
                let [before, after] = cuts.map(at);
                let mut addresses = [at(places.run_groups), runs, images, codes, lookups, before, after];
                run(stream, &self.synchronise, size, &mut addresses, &mut [u32::from(round == 0)])?;
                cuts.reverse();
            }
            watch("prefix", cuts[0])?;
            let mut addresses = [runs, at(cuts[0]), at(places.cut_pieces), status];
            run(stream, &self.prefix, [counts.runs, TABLE_THREADS], &mut addresses, &mut [])?;
            watch("entropy", cuts[0])?;
            run(stream, &self.entropy, size, &mut entropy(places.run_groups, places.cut_pieces), &mut [])?;
            watch("expand", cuts[0])?;
            let size = [counts.packed.div_ceil(EXPAND_THREADS / EXPANDED), EXPAND_THREADS];
            let mut addresses = [at(places.packed), images, status];
            run(stream, &self.expand, size, &mut addresses, &mut [counts.packed])?;
            watch("inverse_dct", cuts[0])?;
            let mut addresses = [at(places.transforms), images, at(places.quants)];
            run(stream, &self.inverse_dct, [counts.transforms, TRANSFORMED * 8], &mut addresses, &mut [])?;
            watch("planes_to_rgb", cuts[0])?;
            let size = [counts.tiles, RGB_WIDTH / 4 * RGB_HEIGHT];
            run(stream, &self.planes_to_rgb, size, &mut [at(places.tiles), images], &mut [])
        }
    }
}

/// Runs a kernel on so many blocks of so many threads.
///
/// # Safety
/// As [`Stream::launch`]; the kernel takes as many addresses, and then as many numbers.
unsafe fn run(
    stream: &Stream,
    kernel: &Function,
    [blocks, threads]: [u32; 2],
    addresses: &mut [DevicePtr],
    numbers: &mut [u32],
) -> Result<(), CudaError> {
    if blocks == 0 {
        return Ok(());
    }
    let addresses = addresses.iter_mut().map(|address| from_mut(address).cast::<c_void>());
    let numbers = numbers.iter_mut().map(|number| from_mut(number).cast::<c_void>());
    let mut parameters: Vec<*mut c_void> = addresses.chain(numbers).collect();
    // SAFETY: the kernel takes as many addresses and numbers, which are there until this returns; what the addresses name stays,
    // and nothing else uses it, until the stream has reached this point.
    unsafe { stream.launch(kernel, [blocks, 1], threads, &mut parameters) }
}
