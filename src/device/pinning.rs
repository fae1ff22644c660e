//! Page-locked memory for batches in the host's memory, which their consumer copies to a GPU.
//!
//! A consumer that copies without waiting may drop a batch while its copy is still to run, and only the driver knows of that
//! copy. So memory that has been in a consumer's hands is written or freed again only once every device of the process has
//! done what it was asked for until then.

use crate::error::{Error, Result};

#[cfg(feature = "cuda")]
pub(crate) use with_driver::{PinnedMemory, Pinning};
#[cfg(not(feature = "cuda"))]
pub(crate) use without_driver::{PinnedMemory, Pinning};

/// Why batches are not page-locked.
fn unpinned(why: &str) -> Error {
    Error::Unavailable {
        what: "page-locked memory".into(),
        why: why.to_owned(),
        remedy: "leave pin_memory out where there is no GPU".into(),
    }
}

#[cfg(feature = "cuda")]
mod with_driver {
    use super::{Result, unpinned};
    use crate::device::cuda::driver::{Context, Driver, PinnedBuffer, wait_for_device};
    use std::sync::{Arc, Mutex, OnceLock, PoisonError};

    /// Takes page-locked memory from the driver.
    #[derive(Clone)]
    pub(crate) struct Pinning {
        context: Context,
        /// Why some memory could not be had.
        failed: Arc<OnceLock<String>>,
    }

    impl Pinning {
        /// Through a device that the process uses already, else through device `ordinal`, if there is one, or the first. All
        /// devices copy from the memory alike.
        pub(crate) fn open(ordinal: u32) -> Result<Self> {
            let suited = |driver: &Driver| {
                let devices = driver.device_count().unwrap_or(0);
                let used = (0..devices).find(|&ordinal| driver.is_in_use(ordinal));
                used.unwrap_or(if ordinal < devices { ordinal } else { 0 })
            };
            let ordinal = Driver::get().map_or(0, suited);
            let context = Context::open(ordinal).map_err(|error| unpinned(&error.to_string()))?;
            Ok(Self { context, failed: Arc::default() })
        }

        /// Bytes that are zero; `None` where the system locks no more.
        pub(crate) fn allocate(&self, bytes: usize) -> Option<PinnedMemory> {
            let buffer = PinnedBuffer::new(&self.context, bytes);
            let buffer = buffer.map_err(|error| self.failed.get_or_init(|| error.to_string())).ok()?;
            Some(PinnedMemory { buffer, is_read: Mutex::new(false) })
        }

        /// Why some memory is not page-locked.
        pub(crate) fn failed(&self) -> Option<&str> {
            self.failed.get().map(String::as_str)
        }
    }

    /// Page-locked bytes.
    pub(crate) struct PinnedMemory {
        buffer: PinnedBuffer,
        /// Whether devices may still have copies to make of it.
        is_read: Mutex<bool>,
    }

    impl PinnedMemory {
        /// The first byte, which is aligned to a page.
        pub(crate) fn first(&self) -> *mut u8 {
            self.buffer.as_mut_ptr()
        }

        /// Notes that a consumer gets it.
        pub(crate) fn hand_out(&mut self) {
            *self.is_read.get_mut().unwrap_or_else(PoisonError::into_inner) = true;
        }

        /// Waits, where a consumer has had it, until no copy of it can be left.
        pub(crate) fn wait(&self) {
            let mut is_read = self.is_read.lock().unwrap_or_else(PoisonError::into_inner);
            if *is_read {
                wait_for_all_devices();
                *is_read = false;
            }
        }
    }

    impl Drop for PinnedMemory {
        fn drop(&mut self) {
            self.wait();
        }
    }

    /// Waits until each device that this process uses has done what it was asked for so far, on whichever stream. One thread
    /// waits, which the driver may let spin. A device that cannot be waited for has failed for good, and reads nothing any more.
    fn wait_for_all_devices() {
        let Ok(driver) = Driver::get() else { return };
        let used = (0..driver.device_count().unwrap_or(0)).filter(|&ordinal| driver.is_in_use(ordinal));
        used.filter_map(|ordinal| Context::open(ordinal).ok()).for_each(|context| wait_for_device(&context));
    }
}

#[cfg(not(feature = "cuda"))]
mod without_driver {
    use super::{Result, unpinned};
    use std::convert::Infallible;

    /// There is none.
    #[derive(Clone)]
    pub(crate) struct Pinning(Infallible);

    impl Pinning {
        pub(crate) fn open(_: u32) -> Result<Self> {
            Err(unpinned("this build was made without the feature `cuda`"))
        }

        pub(crate) fn allocate(&self, _: usize) -> Option<PinnedMemory> {
            match self.0 {}
        }

        pub(crate) fn failed(&self) -> Option<&str> {
            match self.0 {}
        }
    }

    /// There is none.
    pub(crate) struct PinnedMemory(Infallible);

    impl PinnedMemory {
        pub(crate) fn first(&self) -> *mut u8 {
            match self.0 {}
        }

        pub(crate) fn hand_out(&mut self) {
            match self.0 {}
        }

        pub(crate) fn wait(&self) {
            match self.0 {}
        }
    }
}
