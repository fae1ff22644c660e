//! `feedline completions` and `feedline man`: what shells and `man` know of the command, made of its own declarations.

use super::{Cli, print, print_as_it_is};
use anyhow::Context;
use clap::CommandFactory;
use clap_complete::Shell;
use std::path::PathBuf;

/// Print a script that lets a shell complete commands, flags and, but for Elvish and PowerShell, the names of recipes
///
/// bash: `feedline completions bash > ~/.local/share/bash-completion/completions/feedline`. zsh: into a file `_feedline` in a
/// folder of $fpath. fish: `feedline completions fish > ~/.config/fish/completions/feedline.fish`.
#[derive(Debug, clap::Args)]
pub(crate) struct Completions {
    /// Whose script
    shell: Shell,
}

/// Write manual pages, one for each command, that `man` reads
///
/// `feedline man ~/.local/share/man/man1`, and then `man feedline` and `man feedline-bench`.
#[derive(Debug, clap::Args)]
pub(crate) struct Man {
    /// The folder, which is made if it is not there
    #[arg(value_name = "DIR")]
    folder: PathBuf,
}

pub(crate) fn completions(arguments: &Completions) -> anyhow::Result<bool> {
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut Cli::command(), "feedline", &mut script);
    print_as_it_is(String::from_utf8(script)?.trim_end())?;
    Ok(true)
}

pub(crate) fn man(arguments: &Man) -> anyhow::Result<bool> {
    let Man { folder } = arguments;
    let remedy = || format!("manual pages cannot be written to {}: check the folder", folder.display());
    std::fs::create_dir_all(folder).with_context(remedy)?;
    clap_mangen::generate_to(Cli::command(), folder).with_context(remedy)?;
    print(&format!("{}: feedline.1 and a page for each command", folder.display()))?;
    Ok(true)
}
