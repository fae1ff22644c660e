//! How many rounds it takes until the cuts of long pieces fit each other: read from the device between the rounds.

use super::layout::JpegCut;
use super::program::Program;

/// What became of the cuts of a batch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Settling {
    /// For each piece that was cut the rounds after which all of its cuts fitted; `None` where they did not in the end.
    pub rounds: Vec<Option<u32>>,
    /// Cuts of all of them.
    pub cuts: usize,
    /// Cuts that did not fit in the end.
    pub unsettled: usize,
    /// Looks at the cuts so far; the first is ahead of the first round.
    looks: u32,
}

impl Settling {
    pub(super) fn new(program: &Program) -> Self {
        let rounds = vec![None; program.runs().len()];
        Self { rounds, cuts: program.cuts(), ..Self::default() }
    }

    /// Takes in the cuts as a round has left them.
    pub(super) fn add_round(&mut self, program: &Program, cuts: &[JpegCut]) {
        let round = self.looks;
        self.looks += 1;
        // Ahead of the first round they hold anything.
        if round == 0 {
            return;
        }
        self.unsettled = 0;
        for (run, settled) in program.runs().iter().zip(&mut self.rounds) {
            let cuts = &cuts[run.first as usize..][..run.count as usize];
            let mut block = run.piece.block + cuts[0].blocks;
            let mut unfit = 0;
            for pair in cuts.windows(2) {
                let [before, cut] = pair else { continue };
                // What comes behind the last block is nothing: as `prefix` looks at them.
                let fits = cut.from == before.to && cut.place == before.end_place;
                unfit += usize::from(block < run.piece.end_block && !fits);
                block += cut.blocks;
            }
            self.unsettled += unfit;
            *settled = if unfit > 0 { None } else { settled.or(Some(round)) };
        }
    }
}
