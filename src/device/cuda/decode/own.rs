//! feedline's own decoder on the device, as the engine talks to it.

#![expect(unsafe_code, reason = "queues writes to targets that the caller vouches for")]

use super::dispatch::Dispatch;
use super::request::{Request, StagedScan};
use super::route::{Route, Routes};
use crate::device::cuda::driver::{Context, CudaError, Stream};
use crate::device::cuda::jpeg::layout::JpegPoint;
use crate::device::cuda::jpeg::{Job, Scan, ScanDecoder, ScanMaker, Verdict};
use crate::error::Cause;
use crate::geometry::Size;
use crate::policy::DecoderChoice;
use std::sync::Arc;

/// Bytes of the device's memory for each pixel of a file with all samples of its colours: two for a coefficient, one for a
/// sample; tables and bits are small beside them.
const BYTES_PER_PIXEL: usize = 3 * (2 + 1);

/// Decodes files on the device's processors, to the CPU decoder's pixels.
pub(crate) struct OwnDecoder {
    decoder: ScanDecoder,
    /// For files of which nobody has made the scan.
    maker: ScanMaker,
    dispatch: Arc<Dispatch>,
    /// The points of decode indexes that the latest call has noted, by request.
    learned: Vec<(usize, Vec<JpegPoint>)>,
}

impl OwnDecoder {
    /// For batches of so many rows, within so many bytes of the device's memory.
    pub(crate) fn new(context: &Context, budget: usize, rows: usize) -> Result<Self, CudaError> {
        let dispatch = Dispatch::new(DecoderChoice::Feedline, Routes::FEEDLINE, true, Some(rows));
        let decoder = ScanDecoder::new(context, budget)?;
        dispatch.note_room(decoder.limit());
        Ok(Self { decoder, maker: ScanMaker::default(), dispatch: Arc::new(dispatch), learned: Vec::new() })
    }

    /// Reserves the memory that so many files of this size take, as far as it may.
    ///
    /// # Errors
    /// The device has failed, or has no memory left.
    pub(crate) fn reserve(&mut self, files: usize, size: Size) -> Result<(), CudaError> {
        self.decoder.reserve(files.saturating_mul(size.pixels() as usize * BYTES_PER_PIXEL))?;
        self.dispatch.note_room(self.decoder.limit());
        Ok(())
    }

    pub(crate) fn dispatch(&self) -> &Arc<Dispatch> {
        &self.dispatch
    }

    /// The points of decode indexes that the latest call has noted, by request: of those whose scan was made with an index.
    pub(crate) fn take_learned(&mut self) -> Vec<(usize, Vec<JpegPoint>)> {
        std::mem::take(&mut self.learned)
    }

    /// Decodes all requests, and returns for each that it was done, or why not, when all are.
    ///
    /// # Safety
    /// As [`super::Decoder::decode`].
    ///
    /// # Errors
    /// The device has failed.
    pub(crate) unsafe fn decode(
        &mut self,
        requests: &[Request<'_>],
        stream: &Stream,
    ) -> Result<Vec<Result<Route, Cause>>, CudaError> {
        let made: Vec<Option<(Scan, Vec<u8>)>> = requests
            .iter()
            .map(|request| if request.scan.is_some() { None } else { self.make(request) })
            .collect();
        let mut jobs = Vec::with_capacity(requests.len());
        let mut numbers = Vec::with_capacity(requests.len());
        for (number, (request, made)) in requests.iter().zip(&made).enumerate() {
            let own = made.as_ref().map(|(scan, words)| StagedScan { scan, words: words.as_slice().into() });
            if let Some(StagedScan { scan, words }) = request.scan.or(own) {
                jobs.push(Job { scan, words, target: request.target });
                numbers.push(number);
            }
        }
        // SAFETY: the targets are memory of their regions, which nobody uses from what the stream holds now until this returns.
        let verdicts = unsafe { self.decoder.decode(&jobs, stream)? };
        let cause = || Err("the device's own decoder does not take it".into());
        let mut outcomes: Vec<Result<Route, Cause>> = requests.iter().map(|_| cause()).collect();
        self.learned.clear();
        for ((number, verdict), job) in numbers.into_iter().zip(verdicts).zip(&jobs) {
            outcomes[number] = match verdict {
                Verdict::Sound(points) => {
                    if !points.is_empty() {
                        self.learned.push((number, points));
                    }
                    Ok(Route::Feedline)
                }
                Verdict::Damaged(_) => {
                    self.dispatch.note_flagged();
                    Err("the device has found it damaged".into())
                }
                Verdict::Unread => {
                    self.dispatch.note_no_room(job.scan.device_bytes(), self.decoder.limit());
                    Err("the device has no room for it".into())
                }
            };
        }
        self.dispatch.note_room(self.decoder.limit());
        Ok(outcomes)
    }

    fn make(&mut self, request: &Request<'_>) -> Option<(Scan, Vec<u8>)> {
        if request.is_to_be_whole() {
            return None;
        }
        let scan = self.maker.make(request.bytes, request.header, request.target.region, None)?;
        let mut words = vec![0; scan.word_bytes()];
        self.maker.write_words(request.bytes, &mut words);
        Some((scan, words))
    }
}
