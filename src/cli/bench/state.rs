//! Where a run stood, as a JSON file.

use anyhow::Context;
use feedline::loader::State;
use std::path::Path;

pub(super) fn read(path: &Path) -> anyhow::Result<State> {
    let text = std::fs::read_to_string(path)
        .with_context(|| format!("--resume {}: name a file that --save-state wrote", path.display()))?;
    serde_json::from_str(&text)
        .with_context(|| format!("--resume {}: this is no state that --save-state wrote", path.display()))
}

pub(super) fn write(path: &Path, state: &State) -> anyhow::Result<()> {
    let text = serde_json::to_string_pretty(state)? + "\n";
    std::fs::write(path, text)
        .with_context(|| format!("--save-state {}: name a file that can be written", path.display()))
}
