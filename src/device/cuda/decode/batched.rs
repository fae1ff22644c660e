//! A decoder that takes many images in one call and refuses all for one bad file.

#![expect(unsafe_code, reason = "queues writes to device memory")]

use super::dispatch::Dispatch;
use super::kinds::Kind;
use super::request::Request;
use super::route::Route;
use super::timer::Timer;
use super::track::{Failure, Track};
use crate::device::cuda::driver::{Context, CudaError, Event, Stream};
use crate::device::cuda::nvjpeg::{Backend, Handle, Nvjpeg, NvjpegError, Parser};
use crate::error::Cause;
use crate::geometry::Size;
use std::collections::BTreeMap;

/// Maximum number of images in a call: more would only reserve more memory.
const MAX_IMAGES: usize = 512;
/// Calls that may be under way at once. nvJPEG does not promise that a state may be set up again while its last batch is
/// being decoded.
const TRACKS: usize = 4;

/// One of nvJPEG's batched decoders.
pub(super) struct Batched {
    pub(super) route: Route,
    tracks: Vec<Track>,
    /// Whose turn it is.
    turn: usize,
    /// Whether a call holds files of one sampling: engines are slow where several are mixed and interpolated.
    grouped: bool,
    /// Images in a call: fewer once the library had too little memory for more.
    most: usize,
    timer: Timer,
    parser: Parser,
    handle: Handle,
}

impl Batched {
    pub(super) fn new(
        library: &'static Nvjpeg,
        context: &Context,
        route: Route,
    ) -> Result<Self, NvjpegError> {
        let backend = if route == Route::Hardware { Backend::Hardware } else { Backend::GpuHuffman };
        let handle = Handle::open(library, context, backend)?;
        Ok(Self {
            route,
            tracks: (0..TRACKS).map(|_| Track::new(&handle, context)).collect::<Result<_, _>>()?,
            turn: 0,
            grouped: route == Route::Hardware,
            most: MAX_IMAGES,
            timer: Timer::new(context)?,
            parser: Parser::new(&handle)?,
            handle,
        })
    }

    /// Reserves memory ahead for the batches that are usual. That it cannot is no error: memory is then reserved as it is
    /// needed.
    pub(super) fn reserve(&mut self, images: usize, size: Size) {
        for track in self.tracks.iter_mut().take(2) {
            track.reserve(images.clamp(1, MAX_IMAGES), size);
        }
    }

    /// Whether chroma is interpolated.
    pub(super) fn interpolates(&self) -> bool {
        self.handle.flags().interpolates()
    }

    /// Whether files of different samplings go to different calls.
    pub(super) fn group(&mut self, grouped: bool) {
        self.grouped = grouped;
    }

    /// Waits until the device has done all that was asked of it here.
    pub(super) fn synchronize(&self) -> Result<(), CudaError> {
        self.tracks.iter().try_for_each(Track::synchronize)
    }

    /// Tells how long the device needed lately, if that was measured.
    pub(super) fn report_time(&mut self, dispatch: &Dispatch) -> Result<(), CudaError> {
        if let Some((bytes, time)) = self.timer.take()? {
            dispatch.note_time(self.route, bytes, time);
        }
        Ok(())
    }

    /// Whether the library takes such a file; it is asked until it has taken one of the kind.
    pub(super) fn supports(&mut self, request: &Request<'_>, dispatch: &Dispatch) -> Result<bool, CudaError> {
        let kind = request.kind();
        if !dispatch.is_unknown(self.route, &kind) {
            return Ok(true);
        }
        // Any track's parameters will do; this one's last call has the longest time behind it.
        match self.tracks[self.turn].supports(&request.item(), &mut self.parser) {
            Ok(()) => {
                dispatch.note_kind(self.route, kind);
                Ok(true)
            }
            Err(NvjpegError::Driver(error)) => Err(error),
            Err(error) => {
                // Some versions leave the parser unusable after a bad file.
                if let Ok(parser) = Parser::new(&self.handle) {
                    self.parser = parser;
                }
                dispatch.note_refusal(self.route, kind, &error);
                Ok(false)
            }
        }
    }

    /// Queues the decoding of all that can be, after `entry`; `stream` waits for it. Says of each request whether it was
    /// taken, or why not.
    ///
    /// # Safety
    /// As [`super::Decoder::decode`]; for the hardware, the host has seen the last readers of the targets end.
    pub(super) unsafe fn decode(
        &mut self,
        requests: &[&Request<'_>],
        (entry, stream): (&Event, &Stream),
        dispatch: &Dispatch,
    ) -> Result<Vec<Result<(), Cause>>, CudaError> {
        let mut outcomes: Vec<Result<(), Cause>> = requests.iter().map(|_| Ok(())).collect();
        self.timer.begin(entry)?;
        for group in self.groups(requests) {
            if !dispatch.is_sound(self.route) {
                let why = "nvJPEG has refused all files of several calls, and rests";
                group.iter().for_each(|&at| outcomes[at] = Err(why.into()));
                continue;
            }
            let members: Vec<&Request<'_>> = group.iter().map(|&at| requests[at]).collect();
            // SAFETY: they are some of the requests, whose targets nobody uses, and whose bytes stay, until `stream` has reached
            // this point; for the hardware, the host has seen the last readers end.
            for Failure { number, error } in unsafe { self.call(&members, entry, dispatch)? } {
                outcomes[group[number]] = Err(error.into());
            }
        }
        let bytes = requests.iter().map(|request| request.bytes.len() as u64).sum();
        // A batch that was taken apart says nothing about speed.
        let measured = if outcomes.iter().all(Result::is_ok) { bytes } else { 0 };
        let ends = self.tracks.iter().filter(|track| track.is_open).map(|track| &track.ended);
        self.timer.end(ends, measured)?;
        for track in self.tracks.iter_mut().filter(|track| track.is_open) {
            stream.wait(&track.ended)?;
            track.is_open = false;
        }
        Ok(outcomes)
    }

    /// The numbers of the requests of each call.
    fn groups(&self, requests: &[&Request<'_>]) -> Vec<Vec<usize>> {
        let mut by_sampling: BTreeMap<&[(u8, u8)], Vec<usize>> = BTreeMap::new();
        for (at, request) in requests.iter().enumerate() {
            let sampling = request.header.jpeg.as_ref().filter(|_| self.grouped);
            let sampling = sampling.map_or(&[][..], |header| header.sampling.factors());
            by_sampling.entry(sampling).or_default().push(at);
        }
        let cut = |group: Vec<usize>| {
            let calls = group.len().div_ceil(self.most);
            let each = group.len().div_ceil(calls.max(1));
            group.chunks(each.max(1)).map(<[usize]>::to_vec).collect::<Vec<_>>()
        };
        by_sampling.into_values().flat_map(cut).collect()
    }

    /// One call on the track whose turn it is, or as many as show which files it cannot take.
    ///
    /// # Safety
    /// As [`Batched::decode`].
    unsafe fn call(
        &mut self,
        requests: &[&Request<'_>],
        entry: &Event,
        dispatch: &Dispatch,
    ) -> Result<Vec<Failure>, CudaError> {
        self.turn = (self.turn + 1) % self.tracks.len();
        let items: Vec<_> = requests.iter().map(|request| request.item()).collect();
        // SAFETY: as in `decode`; `stream` waits for the track's end.
        let called = unsafe { self.tracks[self.turn].decode(&items, entry)? };
        let Some(failed) = called else {
            dispatch.note_success(self.route, requests.iter().map(|request| request.kind()));
            return Ok(Vec::new());
        };
        if failed.is_the_sizes() {
            self.most = (items.len() / 2).max(1);
        }
        if failed.is_the_decoders() {
            dispatch.note_failure(self.route, items.len(), &failed.error);
            return Ok(failed.files);
        }
        if failed.files.is_empty() {
            dispatch.note_repeated(self.route, &failed.error);
        }
        for Failure { number, error } in &failed.files {
            dispatch.note_refusal(self.route, requests[*number].kind(), error);
        }
        let is_taken = |at: &usize| failed.files.iter().all(|failure| failure.number != *at);
        dispatch.note_success(self.route, (0..items.len()).filter(is_taken).map(|at| requests[at].kind()));
        Ok(failed.files)
    }
}

impl Request<'_> {
    pub(super) fn kind(&self) -> Kind {
        Kind::of(self.header, self.part().is_some())
    }
}
