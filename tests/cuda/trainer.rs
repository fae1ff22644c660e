//! A trainer's side: a stream of its own that copies each batch's pixels away, through the driver's own functions.

#![expect(unsafe_code, reason = "a trainer calls the driver itself")]

use feedline::loader::Batch;
use libloading::{Library, Symbol};
use std::ffi::c_void;

type Result = u32;

/// Copies batches to pinned memory on its own stream, and looks at the copies only at the end.
pub(crate) struct Trainer {
    driver: Library,
    stream: *mut c_void,
    copies: Vec<(*mut c_void, usize)>,
}

impl Trainer {
    /// The loader has made the primary context; the trainer works in the same one.
    pub(crate) fn new() -> Self {
        // SAFETY: the driver of this process, and its functions with the arguments that it documents.
        unsafe {
            let driver = Library::new("libcuda.so.1").unwrap();
            let mut context: *mut c_void = std::ptr::null_mut();
            let retain: Symbol<'_, unsafe extern "C" fn(*mut *mut c_void, i32) -> Result> =
                driver.get(b"cuDevicePrimaryCtxRetain").unwrap();
            assert_eq!(retain(&mut context, 0), 0);
            let make_current: Symbol<'_, unsafe extern "C" fn(*mut c_void) -> Result> =
                driver.get(b"cuCtxSetCurrent").unwrap();
            assert_eq!(make_current(context), 0);
            let mut stream = std::ptr::null_mut();
            let create: Symbol<'_, unsafe extern "C" fn(*mut *mut c_void, u32, i32) -> Result> =
                driver.get(b"cuStreamCreateWithPriority").unwrap();
            assert_eq!(create(&mut stream, 1, 0), 0);
            Self { driver, stream, copies: Vec::new() }
        }
    }

    /// Enqueues a copy of the batch's pixels; the host waits for nothing.
    pub(crate) fn copy(&mut self, batch: &Batch) {
        let images = batch.on_device().unwrap();
        // SAFETY: the stream lives until `finish`, which is behind every batch; as in `new` for the driver.
        unsafe {
            images.use_on(self.stream).unwrap();
            let mut copy = std::ptr::null_mut();
            let reserve: Symbol<'_, unsafe extern "C" fn(*mut *mut c_void, usize, u32) -> Result> =
                self.driver.get(b"cuMemHostAlloc").unwrap();
            assert_eq!(reserve(&mut copy, images.len(), 0), 0);
            let download: Symbol<'_, unsafe extern "C" fn(*mut c_void, u64, usize, *mut c_void) -> Result> =
                self.driver.get(b"cuMemcpyDtoHAsync_v2").unwrap();
            assert_eq!(download(copy, images.ptr(), images.len(), self.stream), 0);
            self.copies.push((copy, images.len()));
        }
    }

    /// Waits once, and returns all copies.
    pub(crate) fn finish(self) -> Vec<Vec<u8>> {
        // SAFETY: as in `new`; the copies are finished behind the stream's end, and each is freed once.
        unsafe {
            let wait: Symbol<'_, unsafe extern "C" fn(*mut c_void) -> Result> =
                self.driver.get(b"cuStreamSynchronize").unwrap();
            assert_eq!(wait(self.stream), 0);
            let free: Symbol<'_, unsafe extern "C" fn(*mut c_void) -> Result> =
                self.driver.get(b"cuMemFreeHost").unwrap();
            let taken = self.copies.iter().map(|&(copy, bytes)| {
                let pixels = std::slice::from_raw_parts(copy.cast::<u8>(), bytes).to_vec();
                assert_eq!(free(copy), 0);
                pixels
            });
            let taken = taken.collect();
            let destroy: Symbol<'_, unsafe extern "C" fn(*mut c_void) -> Result> =
                self.driver.get(b"cuStreamDestroy_v2").unwrap();
            assert_eq!(destroy(self.stream), 0);
            let release: Symbol<'_, unsafe extern "C" fn(i32) -> Result> =
                self.driver.get(b"cuDevicePrimaryCtxRelease_v2").unwrap();
            assert_eq!(release(0), 0);
            taken
        }
    }
}
