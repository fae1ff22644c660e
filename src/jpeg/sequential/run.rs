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
            let (components, targets) = pending.take_many(mcus * units.len());
            for (first, unit) in units.iter().enumerate() {
                let (mut target, step) = (unit.target(column), unit.across * unit.place.size());
                let mut block = first;
                while let (Some(component), Some(place)) = (components.get_mut(block), targets.get_mut(block))
                {
                    (*component, *place) = (unit.component, target);
                    target.offset += step;
                    block += units.len();
                }
            }
        }
        mcus
    }
}
