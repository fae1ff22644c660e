//! What the command says of itself: help, completions, manual pages.

use crate::support::{fail, feedline, succeed, word};
use feedline::options::catalogue;
use feedline::recipe::Recipe;
use std::collections::BTreeSet;
use std::process::Command;

#[test]
fn help_groups_options_by_their_sections_and_lists_the_recipes() {
    let help = succeed(&["bench", "--help"]);
    let headings: Vec<&str> = help.lines().filter(|line| line.starts_with("Options of [")).collect();
    let sections: BTreeSet<&str> = catalogue().iter().map(|option| option.section).collect();
    assert_eq!(headings.len(), sections.len(), "{headings:?}");
    assert!(headings.contains(&"Options of [decode], what the decoder takes:"), "{headings:?}");
    for option in catalogue() {
        let of_section = format!("Options of [{}]", option.section);
        let below = help.split("Options of [").find(|part| part.starts_with(&format!("{}]", option.section)));
        let flag = format!("--{}", option.name.replace('_', "-"));
        let is_there = below.is_some_and(|below| below.split([' ', '[', '=', '\n']).any(|word| word == flag));
        assert!(is_there, "{flag} is not below {of_section}");
    }
    assert!(help.lines().all(|line| line.chars().count() <= 100), "help is not wrapped");
    for name in Recipe::names() {
        assert!(help.split([' ', ',', '\n', ']']).any(|word| word == name), "{name}");
    }
}

#[test]
fn shells_complete_commands_flags_words_and_recipes() {
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let script = succeed(&["completions", shell]);
        // clap has no words for the other two.
        let words =
            if ["elvish", "powershell"].contains(&shell) { [].iter() } else { ["yolo-train", "u8"].iter() };
        for word in words.chain(&["preview", "batch-size"]) {
            assert!(script.contains(word), "{shell}: {word}");
        }
    }
    let script = succeed(&["completions", "bash"]);
    let ask = "COMP_WORDS=(feedline plan --recipe yolo-); COMP_CWORD=3; _feedline feedline yolo- --recipe; echo ${COMPREPLY[@]}";
    // Longer than an argument may be.
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("completed.sh");
    std::fs::write(&file, format!("{script}\n{ask}\n")).expect("the script");
    let answer = Command::new("bash").arg(&file).output().expect("bash");
    let words = String::from_utf8(answer.stdout).expect("UTF-8");
    let want: Vec<&str> = Recipe::names().filter(|name| name.starts_with("yolo-")).collect();
    assert_eq!(words.split_whitespace().collect::<Vec<_>>(), want);
    assert_eq!(feedline(&["completions", "csh"]).status.code(), Some(2));
}

#[test]
fn there_is_a_manual_page_for_each_command() {
    let folder = tempfile::tempdir().expect("a folder");
    let pages = folder.path().join("new/man1");
    succeed(&["man", word(&pages)]);
    let page = |name: &str| std::fs::read_to_string(pages.join(name)).expect("a page");
    assert!(page("feedline.1").starts_with(".ie") || page("feedline.1").contains(".TH feedline 1"));
    assert!(page("feedline-bench.1").contains(r"\-\-batch\-size"));
    let help = succeed(&["--help"]);
    let commands = help.split("Commands:\n").nth(1).expect("commands").lines();
    let commands = commands.map_while(|line| line.strip_prefix("  ").filter(|line| !line.is_empty()));
    let names: Vec<&str> =
        commands.filter(|line| !line.starts_with(' ')).filter_map(|line| line.split(' ').next()).collect();
    assert!(names.len() > 12, "{names:?}");
    for name in names.iter().filter(|name| **name != "help") {
        assert!(page(&format!("feedline-{name}.1")).contains(".SH SYNOPSIS"), "{name}");
    }
    let file = pages.join("feedline.1/below");
    assert!(fail(&["man", word(&file)]).contains("check the folder"));
}
