//! The device's memory for images that many samples show: pieces of few sizes, used again and again, under a hard budget.
//!
//! A part of a batch *hangs* the images that its samples show: those that the device has are used as they are, the
//! others are given a piece and are decoded by this part. What was not used for longest goes when the budget is spent;
//! an image that a staged row will still show stays. Decoders and kernels need no events besides those of the arenas:
//! the rendering stream has waited for the decoders of every part before, and what writes into a piece waits for the end
//! of the part that used it last.

use super::arena::{ALIGNMENT, Arena};
use super::gallery::{Exhibit, Gallery};
use super::slot::StagedImage;
use super::worker::PITCH;
use crate::device::cuda::decode::{Request, Target};
use crate::device::cuda::driver::{Context, CudaError, DeviceBuffer, DevicePtr};
use crate::error::Cause;
use crate::geometry::Rect;
use std::collections::HashMap;
use std::sync::Arc;

/// The smallest piece.
const SMALLEST_PIECE: usize = 16 << 10;

/// Pieces, and what they hold.
pub(super) struct Stock {
    context: Context,
    gallery: Arc<Gallery>,
    /// Most bytes of all pieces together.
    budget: usize,
    bytes: usize,
    held: HashMap<u64, Held>,
    spare: Vec<Piece>,
    /// What the next part has to decode.
    pending: Vec<Fresh>,
    /// What the submission under way has decoded: it counts when all of it has been enqueued.
    unsettled: Vec<u64>,
}

struct Held {
    exhibit: Arc<Exhibit>,
    piece: Piece,
    hung: Hung,
}

struct Piece {
    memory: DeviceBuffer,
    /// The last part that writes or reads it; parts are counted from 1.
    last: u64,
}

/// Where an image lies in the device's memory: all of it.
#[derive(Clone, Copy)]
pub(super) struct Hung {
    pub(super) record: u64,
    pub(super) address: DevicePtr,
    pub(super) region: Rect,
    pub(super) pitch: usize,
}

/// An image that has a place and is to be decoded there.
pub(super) struct Fresh {
    pub(super) exhibit: Arc<Exhibit>,
    pub(super) image: StagedImage,
    pub(super) hung: Hung,
    /// The last part that used the memory before.
    after: u64,
}

impl Fresh {
    /// Whether the device is asked to decode it.
    pub(super) fn is_file(&self) -> bool {
        matches!(self.image, StagedImage::File { .. })
    }

    /// What the device is asked.
    pub(super) fn request(&self) -> Option<Request<'_>> {
        let StagedImage::File { bytes, header, .. } = &self.image else { return None };
        let Hung { address: ptr, pitch, region, .. } = self.hung;
        Some(Request { bytes: bytes.bytes(), header, target: Target { ptr, pitch, region } })
    }
}

impl Stock {
    pub(super) fn new(context: &Context, gallery: &Arc<Gallery>, budget: usize) -> Self {
        Self {
            context: context.clone(),
            gallery: Arc::clone(gallery),
            budget,
            bytes: 0,
            held: HashMap::new(),
            spare: Vec::new(),
            pending: Vec::new(),
            unsettled: Vec::new(),
        }
    }

    /// The place of an image for the part number `part`, which has to decode it if it is new there; `None` where there is
    /// no room, so that each sample decodes what it needs.
    pub(super) fn hang(
        &mut self,
        exhibit: &Arc<Exhibit>,
        part: u64,
        arenas: &[Arena; 2],
    ) -> Result<Option<Hung>, CudaError> {
        if let Some(held) = self.held.get_mut(&exhibit.record) {
            held.piece.last = part;
            return Ok(Some(held.hung));
        }
        let Some(image) = exhibit.staged() else { return Ok(None) };
        let region = exhibit.stored().rect();
        let pitch = (region.width as usize * 3).next_multiple_of(PITCH);
        let bytes = (pitch * region.height as usize).next_multiple_of(ALIGNMENT);
        let Some(mut piece) = self.piece(bytes, arenas)? else { return Ok(None) };
        let after = std::mem::replace(&mut piece.last, part);
        let hung = Hung { record: exhibit.record, address: piece.memory.ptr(), region, pitch };
        self.held.insert(exhibit.record, Held { exhibit: Arc::clone(exhibit), piece, hung });
        self.pending.push(Fresh { exhibit: Arc::clone(exhibit), image, hung, after });
        Ok(Some(hung))
    }

    /// Notes that a part uses what an earlier attempt has hung.
    pub(super) fn touch(&mut self, hung: &Hung, part: u64) {
        if let Some(held) = self.held.get_mut(&hung.record) {
            held.piece.last = part;
        }
    }

    /// The last part that used what the next part will write.
    pub(super) fn writes_after(&self) -> u64 {
        self.pending.iter().map(|fresh| fresh.after).max().unwrap_or(0)
    }

    /// What this part has to decode.
    pub(super) fn take_pending(&mut self) -> Vec<Fresh> {
        self.unsettled.extend(self.pending.iter().map(|fresh| fresh.hung.record));
        std::mem::take(&mut self.pending)
    }

    /// Nobody can decode this one.
    pub(super) fn spoil(&mut self, fresh: &Fresh, cause: Cause) {
        fresh.exhibit.spoil(cause);
        self.unsettled.retain(|&record| record != fresh.hung.record);
        self.take_down(fresh.hung.record);
    }

    /// All of a submission has been enqueued, in which `shown` images were used: what it has decoded is there for good.
    pub(super) fn settle(&mut self, shown: usize) {
        let decoded = std::mem::take(&mut self.unsettled);
        self.gallery.count(shown.saturating_sub(decoded.len()) as u64);
        for held in decoded.iter().filter_map(|record| self.held.get(record)) {
            held.exhibit.settle();
        }
        self.gallery.note_bytes(self.bytes);
    }

    /// A submission has failed, and the device has nothing left to do: what was to be decoded is not there.
    pub(super) fn undo(&mut self) {
        let pending = std::mem::take(&mut self.pending).into_iter().map(|fresh| fresh.hung.record);
        let lost: Vec<u64> = std::mem::take(&mut self.unsettled).into_iter().chain(pending).collect();
        lost.into_iter().for_each(|record| self.take_down(record));
    }

    fn take_down(&mut self, record: u64) {
        self.spare.extend(self.held.remove(&record).map(|held| held.piece));
    }

    /// A piece of at least `bytes`, made or freed from an image that nobody shows any more; `None` where there is none.
    fn piece(&mut self, bytes: usize, arenas: &[Arena; 2]) -> Result<Option<Piece>, CudaError> {
        let size = rounded(bytes);
        loop {
            if size > self.budget {
                return Ok(None);
            }
            let fits = |piece: &&Piece| (size..=2 * size).contains(&piece.memory.len());
            let oldest = self.spare.iter().filter(fits).map(|piece| piece.last).min();
            if let Some(at) =
                oldest.and_then(|last| self.spare.iter().position(|p| fits(&p) && p.last == last))
            {
                return Ok(Some(self.spare.swap_remove(at)));
            }
            if self.bytes + size <= self.budget {
                match DeviceBuffer::new(&self.context, size) {
                    Ok(memory) => {
                        self.bytes += size;
                        return Ok(Some(Piece { memory, last: 0 }));
                    }
                    // The trainer may have taken what was free.
                    Err(error) if error.is_out_of_memory() => self.budget = self.bytes,
                    Err(error) => return Err(error),
                }
            } else if let Some(piece) = self.spare.pop() {
                // What is spare here is of another size.
                finished(piece.last, arenas)?;
                self.bytes -= piece.memory.len();
            } else if !self.evict() {
                return Ok(None);
            }
        }
    }

    /// Takes down what was not used for longest and no staged row shows; says whether there was any.
    fn evict(&mut self) -> bool {
        let Self { held, gallery, .. } = self;
        let mut oldest: Vec<(u64, u64)> =
            held.iter().map(|(&record, held)| (held.piece.last, record)).collect();
        oldest.sort_unstable();
        let unused = |record: &u64| held.get(record).is_some_and(|held| gallery.forget(&held.exhibit));
        let Some(record) = oldest.into_iter().map(|(_, record)| record).find(unused) else { return false };
        self.take_down(record);
        true
    }
}

/// Waits until the device is done with the part number `part`, whose memory is to be freed.
fn finished(part: u64, arenas: &[Arena; 2]) -> Result<(), CudaError> {
    let behind = arenas.iter().filter(|arena| arena.part >= part).min_by_key(|arena| arena.part);
    behind.map_or(Ok(()), |arena| arena.rendered.synchronize())
}

/// Pieces come in few sizes, two between a power of two and the next, so that most fit the next image as well.
fn rounded(bytes: usize) -> usize {
    let above = bytes.max(SMALLEST_PIECE).next_power_of_two();
    if bytes <= above / 4 * 3 { above / 4 * 3 } else { above }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_of_pieces_are_few_and_waste_less_than_a_third() {
        let mut sizes: Vec<usize> = (1..4000).map(|kilobytes| rounded(kilobytes << 10)).collect();
        assert!((1..4000).zip(&sizes).all(|(kilobytes, &size)| size >= kilobytes << 10));
        assert!((16..4000).zip(&sizes[15..]).all(|(kilobytes, &size)| size <= (kilobytes << 10) * 3 / 2));
        sizes.dedup();
        assert!(sizes.len() < 20, "{sizes:?}");
        assert!(sizes.iter().all(|size| size.is_multiple_of(ALIGNMENT)));
    }
}
