//! The command: it turns words into calls of the library, and results into words; it holds no rule of its own.

mod apply;
mod bench;
mod completions;
mod convert;
mod data;
mod decode;
mod doctor;
mod flags;
mod index;
mod inspect;
mod labels;
mod npy;
mod ops;
mod pack;
mod pipeline;
mod plan;
mod preview;
mod recipe;
mod recipes;
mod still;
mod suggested;
mod verify;
mod words;

use clap::{Parser, Subcommand};
use indicatif::{ProgressBar, ProgressStyle};
use serde::Serialize;
use std::io::{ErrorKind, Write};
use std::process::ExitCode;
use words::shown;

/// Feeds training: compressed images in, augmented training batches out.
#[derive(Debug, Parser)]
#[command(name = "feedline", version, about, max_term_width = 100)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Bench(bench::Arguments),
    Preview(preview::Arguments),
    Convert(convert::Arguments),
    Decode(decode::Arguments),
    Apply(apply::Arguments),
    Plan(plan::Arguments),
    Recipe(recipe::Arguments),
    Recipes(recipes::Arguments),
    Verify(verify::Arguments),
    Index(index::Arguments),
    Pack(pack::Arguments),
    Inspect(inspect::Arguments),
    Doctor(doctor::Arguments),
    Completions(completions::Completions),
    Man(completions::Man),
}

/// Runs the command that the process was called with. Wrong usage exits with 2, any other failure with 1, and so does a
/// command that says `false`: it did its work and found something bad.
pub(crate) fn main() -> ExitCode {
    let done = match Cli::parse().command {
        Command::Bench(arguments) => bench::run(&arguments),
        Command::Preview(arguments) => preview::run(&arguments),
        Command::Convert(arguments) => convert::run(&arguments),
        Command::Decode(arguments) => decode::run(&arguments),
        Command::Apply(arguments) => apply::run(&arguments),
        Command::Plan(arguments) => plan::run(&arguments),
        Command::Recipe(arguments) => recipe::run(&arguments),
        Command::Recipes(arguments) => recipes::run(&arguments),
        Command::Verify(arguments) => verify::run(&arguments),
        Command::Index(arguments) => index::run(&arguments),
        Command::Pack(arguments) => pack::run(&arguments),
        Command::Inspect(arguments) => inspect::run(&arguments),
        Command::Doctor(arguments) => doctor::run(&arguments),
        Command::Completions(arguments) => completions::completions(&arguments),
        Command::Man(arguments) => completions::man(&arguments),
    };
    match done {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) if is_closed_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            // Standard error may be closed as well; there is nobody left to tell then.
            let _ = writeln!(std::io::stderr(), "error: {}", shown(&one_line(&error)));
            ExitCode::FAILURE
        }
    }
}

/// Prints one line for a reader. Names, keys and causes come from files, so that control characters in it are escaped.
fn print(line: &str) -> anyhow::Result<()> {
    print_as_it_is(&shown(line))
}

/// Prints JSON on one line. JSON need not escape all that commands a terminal, but may.
fn print_json(text: &str) -> anyhow::Result<()> {
    let escaped = |character: char| match character.is_control() {
        true => format!("\\u{:04x}", u32::from(character)),
        false => character.to_string(),
    };
    match text.contains(char::is_control) {
        true => print_as_it_is(&text.chars().map(escaped).collect::<String>()),
        false => print_as_it_is(text),
    }
}

/// Prints text for a program, whose format has its own escapes. All that commands print comes through here, so that a
/// closed pipe is no panic.
fn print_as_it_is(text: &str) -> anyhow::Result<()> {
    Ok(writeln!(std::io::stdout(), "{text}")?)
}

/// Prints a report: as one JSON object for a program, or as lines for a reader.
fn print_report<R: Serialize>(
    json: bool,
    report: &R,
    describe: impl FnOnce(&R) -> Vec<String>,
) -> anyhow::Result<()> {
    match json {
        true => print_json(&serde_json::to_string(report)?),
        false => describe(report).iter().try_for_each(|line| print(line)),
    }
}

/// A progress bar on standard error; nothing is drawn where that is no terminal.
fn progress(length: u64, what: &str) -> ProgressBar {
    let template = format!("{{wide_bar}} {{pos}}/{{len}} {what}, {{eta}} left");
    let style = ProgressStyle::with_template(&template).unwrap_or_else(|_| ProgressStyle::default_bar());
    ProgressBar::new(length).with_style(style)
}

/// Whoever read standard output has seen enough, as `head` has.
fn is_closed_pipe(error: &anyhow::Error) -> bool {
    error.downcast_ref::<std::io::Error>().is_some_and(|error| error.kind() == ErrorKind::BrokenPipe)
}

/// The whole chain of causes in one line; a cause that the message before it already quotes is not said again.
fn one_line(error: &anyhow::Error) -> String {
    let mut line = String::new();
    for cause in error.chain().map(ToString::to_string) {
        if line.is_empty() {
            line = cause;
        } else if !line.contains(&cause) {
            line = format!("{line}: {cause}");
        }
    }
    line.split(['\n', '\r']).map(str::trim).filter(|part| !part.is_empty()).collect::<Vec<_>>().join("; ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_arguments_do_not_contradict_each_other() {
        use clap::CommandFactory;
        Cli::command().debug_assert();
    }

    #[test]
    fn the_readme_lists_every_command_and_no_flag_that_is_none() {
        use clap::CommandFactory;
        let readme = include_str!("../README.md");
        let section = readme.split("\n## ").find(|section| section.starts_with("On the command line"));
        let lines = section.expect("a section about the command").lines();
        let rows = lines.filter_map(|line| line.strip_prefix("| `")?.split_once("` | "));
        let shown: Vec<&str> = rows.map(|(usage, _)| usage).collect();
        let command = Cli::command();
        for name in command.get_subcommands().map(|command| command.get_name()) {
            let listed = shown.iter().filter(|usage| usage.split(' ').next() == Some(name)).count();
            assert_eq!(listed, 1, "`{name}` in the table of README.md");
        }
        for usage in shown {
            let name = usage.split(' ').next().unwrap_or_default();
            let command = command.find_subcommand(name).unwrap_or_else(|| panic!("`{name}` is no command"));
            let flags = usage.split(|c: char| !c.is_ascii_lowercase() && c != '-');
            for flag in flags.filter_map(|word| word.strip_prefix("--")) {
                let is_flag = command.get_arguments().any(|argument| argument.get_long() == Some(flag));
                assert!(is_flag, "README.md: `{name}` has no --{flag}");
            }
        }
    }

    #[test]
    fn an_error_is_one_line_and_says_each_cause_once() {
        let error = anyhow::anyhow!("the disk is full").context("a: the disk is full").context("writing\n b");
        assert_eq!(one_line(&error), "writing; b: a: the disk is full");
    }
}
