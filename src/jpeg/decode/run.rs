//! Runs of MCUs that are decoded together.

use super::state::State;
use crate::jpeg::entropy::block::BlockDecoder;
use crate::jpeg::entropy::{Stream, Unit};
use crate::jpeg::transform::BlockQueue;

/// A run of at most this many MCUs.
#[derive(Clone, Copy)]
pub(super) enum Run {
    /// All blocks are needed.
    Kept(usize),
    /// No block is needed.
    Skipped(usize),
}

/// Maximum MCUs of a [`Run::Skipped`]; after an error they all are read again.
const MAX_SKIPPED: usize = 64;

impl Run {
    /// Decodes the MCUs of the run from `column` on, or the first of them, and queues the needed blocks. Returns their
    /// count: 0 if one of them has an error, which the caller finds by decoding them one by one.
    #[inline(always)]
    pub(super) fn decode(
        self,
        decoder: impl BlockDecoder,
        units: &[Unit<'_>],
        column: usize,
        state: &mut State,
        stream: &mut Stream,
        queue: &mut BlockQueue,
    ) -> usize {
        let State { cursor, predictions } = state;
        let (room, data) = (queue.room() / units.len().max(1), stream.data());
        let (mcus, result) = match self {
            Run::Kept(mcus) => {
                let (mcus, blocks) = (mcus.min(room).min(stream.mcus_left()), queue.blocks());
                (mcus, decoder.decode_mcus::<true>(cursor, data, units, predictions, mcus, blocks))
            }
            Run::Skipped(mcus) => {
                let (mcus, blocks) = (mcus.min(MAX_SKIPPED).min(stream.mcus_left()), queue.blocks());
                (mcus, decoder.decode_mcus::<false>(cursor, data, units, predictions, mcus, blocks))
            }
        };
        if result.is_err() || stream.overread(cursor) {
            queue.blocks().as_flattened_mut().fill(0);
            return 0;
        }
        stream.pass(mcus);
        if let Run::Kept(_) = self {
            let (components, targets) = queue.take(mcus * units.len());
            // Unit by unit: the target of one moves by the same step from MCU to MCU.
            for (first, unit) in units.iter().enumerate() {
                let mut target = unit.targets.target_of_needed(unit.block(column));
                let step = unit.across * target.size;
                let mut at = first;
                while let (Some(component), Some(slot)) = (components.get_mut(at), targets.get_mut(at)) {
                    (*component, *slot) = (unit.component, target);
                    target.offset += step;
                    at += units.len();
                }
            }
        }
        mcus
    }
}
