//! One rank of a distributed run without its model: says at each step which samples it was shown, and where it stands.
//!
//! `torchrun --no-python --nproc-per-node 2 target/release/examples/ranks data/photos 3 < steps`
//!
//! Reads a line of standard input for each step, as a trainer would wait for its model, and answers with a line of JSON:
//! epoch, step, keys, which rows are padding, and the state from which a run with a third argument, a file that holds
//! it, goes on. Ends behind the last epoch, or with standard input.

use anyhow::Context;
use feedline::augment::RandomResizedCrop;
use feedline::loader::{LastBatch, Loader, State, Status};
use feedline::source::Folder;
use std::io::{BufRead, Write};

const USAGE: &str = "usage: ranks FOLDER EPOCHS [STATE.json]";

fn main() -> anyhow::Result<()> {
    let mut arguments = std::env::args().skip(1);
    let folder = arguments.next().context(USAGE)?;
    let epochs: u64 = arguments.next().context(USAGE)?.parse().context(USAGE)?;
    let saved: Option<State> = match arguments.next() {
        Some(path) => Some(serde_json::from_slice(&std::fs::read(&path)?).context(path)?),
        None => None,
    };
    let loader = Loader::builder(Folder::open(folder)?)
        .batch_size(4)
        .shuffle(true)
        .seed(17)
        .last_batch(LastBatch::Pad)
        .augment(RandomResizedCrop::new(64))
        .distributed_from_env()?
        .build()?;
    let mut lines = std::io::stdin().lock().lines();
    for epoch in saved.as_ref().map_or(0, |state| state.epoch)..epochs {
        let mut batches = match saved.as_ref().filter(|state| state.epoch == epoch) {
            Some(state) => loader.resume(state)?,
            None => loader.epoch(epoch),
        };
        for _ in 0..batches.len() {
            if lines.next().transpose()?.is_none() {
                return Ok(());
            }
            let batch = batches.next().context("an epoch was shorter than it said")??;
            let padded: Vec<bool> = batch.status().iter().map(|row| matches!(row, Status::Padded)).collect();
            let state = batches.state();
            let said = serde_json::json!({
                "epoch": epoch, "step": state.steps, "keys": batch.keys(), "padded": padded, "state": state,
            });
            writeln!(std::io::stdout(), "{said}")?;
        }
    }
    Ok(())
}
