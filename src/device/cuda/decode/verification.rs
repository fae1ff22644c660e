//! Looks at what decoders write: whether they do, by sentinels, and now and then whether that is the image.

#![expect(unsafe_code, reason = "writes to targets and reads them")]

use super::comparison::Comparisons;
use super::dispatch::Dispatch;
use super::request::{HostFree, Request};
use super::route::Route;
use super::sentinels::{Finding, Marked, Sentinels};
use crate::device::cuda::driver::{Context, CudaError, Stream};
use crate::device::cuda::target::Target;
use crate::error::Cause;

/// What each request of a batch is decoded by, or why it is not.
type Outcomes = [Result<Route, Cause>];

/// What is under way.
pub(super) struct Verification {
    sentinels: Sentinels,
    comparisons: Comparisons,
}

impl Verification {
    /// `interpolates` says of each of nvJPEG's decoders whether it interpolates chroma.
    pub(super) fn new(context: &Context, interpolates: [bool; Route::GPU.len()]) -> Result<Self, CudaError> {
        let comparisons = Comparisons::new(context, interpolates)?;
        Ok(Self { sentinels: Sentinels::new(context)?, comparisons })
    }

    /// Tells what is known by now of earlier batches.
    pub(super) fn collect(&mut self, dispatch: &Dispatch) -> Result<(), CudaError> {
        let mut found = Vec::new();
        self.sentinels.collect(&mut found)?;
        tell(&found, dispatch);
        for verdict in self.comparisons.collect()? {
            dispatch.note_comparison(verdict.route, verdict.wrong);
        }
        Ok(())
    }

    /// Marks the targets of all that is to be decoded. Where the host knows them to be free, the marks are there on return,
    /// so that an engine that does not wait for its stream cannot be overwritten by them.
    ///
    /// # Safety
    /// As [`super::Decoder::decode`]; nothing has been queued to write the targets.
    pub(super) unsafe fn mark(
        &mut self,
        requests: &[Request<'_>],
        outcomes: &Outcomes,
        (stream, free): (&Stream, &HostFree),
    ) -> Result<Marked, CudaError> {
        let decoded = requests.iter().zip(outcomes).enumerate().filter(|(_, (_, outcome))| outcome.is_ok());
        let targets: Vec<(usize, Target)> = decoded.map(|(at, (request, _))| (at, request.target)).collect();
        // SAFETY: the targets are memory of their regions, to be written only behind the marks, and nobody uses them before.
        unsafe { self.sentinels.mark(&targets, (stream, free.is_known())) }
    }

    /// Looks at what was decoded, behind what `stream` holds: [`Verification::collect`] tells later.
    ///
    /// # Safety
    /// As [`super::Decoder::decode`]; `stream` waits for all that writes the targets.
    pub(super) unsafe fn check(
        &mut self,
        marked: Marked,
        (requests, outcomes): (&[Request<'_>], &Outcomes),
        (stream, dispatch): (&Stream, &Dispatch),
    ) -> Result<(), CudaError> {
        let route = |at: usize| outcomes[at].as_ref().ok().copied();
        // SAFETY: they are the targets that were marked; nobody writes them from what the stream waits for until it has
        // reached this point.
        unsafe { self.sentinels.check(marked, route, stream)? };
        for (request, outcome) in requests.iter().zip(outcomes) {
            let Ok(route) = *outcome else { continue };
            if let Some(whole) = dispatch.note_image(route, self.comparisons.has_room()) {
                // SAFETY: as above, of one of the targets.
                unsafe { self.comparisons.begin(route, (request, whole), stream)? };
            }
        }
        Ok(())
    }

    /// Waits until the device is done with the memory.
    pub(super) fn synchronize(&self) -> Result<(), CudaError> {
        self.sentinels.synchronize()?;
        self.comparisons.synchronize()
    }
}

fn tell(found: &[Finding], dispatch: &Dispatch) {
    let unwritten = found.iter().filter(|finding| finding.is_unwritten);
    unwritten.for_each(|finding| dispatch.note_unwritten(finding.route));
}
