//! The CUDA device of a build without the `cuda` feature: the same names, and nothing that can be made.

use super::cpu::Input;
use super::{DecodedBy, Device};
use crate::error::{Cause, Error, Result};
use crate::image::Limits;
use crate::output::Output;
use crate::plan::Plan;
use std::convert::Infallible;
use std::ffi::c_void;
use std::marker::PhantomData;
use std::sync::Arc;

pub(crate) struct Options {
    pub(crate) ordinal: u32,
    pub(crate) row_bytes: usize,
    pub(crate) rows: usize,
    pub(crate) limits: Limits,
    pub(crate) budget: Option<u64>,
    pub(crate) pinned: usize,
    pub(crate) low_priority: bool,
}

/// Why there is no CUDA device in this build.
pub(crate) fn unavailable(ordinal: u32) -> Error {
    Error::Unavailable {
        what: format!("CUDA device {ordinal}"),
        why: "this build has no CUDA path".into(),
        remedy: "build with the feature `cuda`, or use the CPU device".into(),
    }
}

pub(crate) struct Engine(Infallible);

impl Engine {
    pub(crate) fn new(options: Options) -> Result<Self> {
        let Options { ordinal, row_bytes, rows, limits, budget, pinned, low_priority } = options;
        drop((row_bytes, rows, limits, budget, pinned, low_priority));
        Err(unavailable(ordinal))
    }

    pub(crate) fn submit(
        &self,
        _: &Slot,
        _: Option<Output>,
        _: &mut dyn FnMut(usize, u64, Cause) -> bool,
    ) -> Result<()> {
        match self.0 {}
    }

    pub(crate) fn decoded_by(&self) -> DecodedBy {
        match self.0 {}
    }
}

pub(crate) struct Slot(Infallible);

impl Slot {
    pub(crate) fn new(engine: &Arc<Engine>) -> Result<Self> {
        match engine.0 {}
    }

    pub(crate) fn finish(self) -> Filled {
        match self.0 {}
    }
}

pub(crate) struct Filled(Infallible);

impl Filled {
    pub(crate) fn images(&self, _: usize) -> DeviceImages<'_> {
        match self.0 {}
    }

    pub(crate) fn retire(&self) {
        match self.0 {}
    }

    pub(crate) fn reuse(self) -> Slot {
        match self.0 {}
    }
}

pub(crate) struct Worker(Infallible);

impl Worker {
    pub(crate) fn new(engine: &Arc<Engine>) -> Self {
        match engine.0 {}
    }

    pub(crate) fn stage(
        &mut self,
        _: &Slot,
        _: usize,
        _: &Plan,
        _: &[Input<'_>],
        _: bool,
    ) -> Result<(), (usize, Cause)> {
        match self.0 {}
    }
}

/// The pixels of a batch in a device's memory; there are none in a build without the `cuda` feature.
pub struct DeviceImages<'a>(Infallible, PhantomData<&'a ()>);

impl DeviceImages<'_> {
    /// Where the pixels lie.
    pub fn device(&self) -> Device {
        match self.0 {}
    }

    /// Address of the first byte in the device's memory.
    pub fn ptr(&self) -> u64 {
        match self.0 {}
    }

    /// Bytes of all rows.
    pub fn len(&self) -> usize {
        match self.0 {}
    }

    /// Whether there is no row.
    pub fn is_empty(&self) -> bool {
        match self.0 {}
    }

    /// Orders a stream behind the finished pixels.
    ///
    /// # Safety
    /// It cannot be called.
    ///
    /// # Errors
    /// None.
    #[expect(unsafe_code, reason = "the same signature as with the feature")]
    pub unsafe fn use_on(&self, _: *mut c_void) -> Result<()> {
        match self.0 {}
    }

    /// Waits until the pixels are finished.
    ///
    /// # Errors
    /// None.
    pub fn wait(&self) -> Result<()> {
        match self.0 {}
    }

    /// A copy in the host's memory.
    ///
    /// # Errors
    /// None.
    pub fn to_host(&self) -> Result<Vec<u8>> {
        match self.0 {}
    }
}
