//! MCUs that are decoded in one go.

use super::block::BlockDecoder;
use super::{State, Unit};
use crate::jpeg::pending::Pending;
use crate::jpeg::stream::Stream;

/// As many MCUs at most.
#[derive(Clone, Copy)]
pub(super) enum Run {
    /// All blocks are needed.
    Kept(usize),
    /// None is.
    ReadOver(usize),
}

/// The most MCUs of a [`Run::ReadOver`]: an error in it costs another reading of so many.
const MOST_READ_OVER: usize = 64;

impl Run {
    /// Decodes the run's MCUs from `column` on, or the first of them, and hands needed blocks on to `pending`. Returns
    /// how many; none where something is wrong with one of them: whoever decodes them singly will find what it is.
    #[inline(always)]
    pub(super) fn decode(
        self,
        decoder: impl BlockDecoder,
        units: &[Unit<'_>],
        column: usize,
        state: &mut State,
        stream: &mut Stream,
        pending: &mut Pending,
    ) -> usize {
        let State { cursor, predictions } = state;
        let (room, data) = (pending.room() / units.len().max(1), stream.data());
        let (mcus, result) = match self {
            Run::Kept(mcus) => {
                let (mcus, blocks) = (mcus.min(room).min(stream.mcus_left()), pending.blocks());
                (mcus, decoder.decode_mcus::<true>(cursor, data, units, predictions, mcus, blocks))
            }
            Run::ReadOver(mcus) => {
                let (mcus, blocks) = (mcus.min(MOST_READ_OVER).min(stream.mcus_left()), pending.blocks());
                (mcus, decoder.decode_mcus::<false>(cursor, data, units, predictions, mcus, blocks))
            }
        };
        if result.is_err() || stream.overread(cursor) {
            pending.blocks().as_flattened_mut().fill(0);
            return 0;
        }
        stream.pass(mcus);
        if let Run::Kept(_) = self {
            let (components, targets) = pending.take(mcus * units.len());
            // Unit by unit: its target then moves on by the same step from MCU to MCU.
            for (first, unit) in units.iter().enumerate() {
                let mut target = unit.place.target_of_needed(unit.block(column));
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
