//! Keeps the house rules, so that nobody has to remember them. Each rule stands in its own file here, with a test
//! that shows how it fails; this file runs all of them over the tree.

mod docs;
mod floors;
mod graph;
mod limits;
mod manifest;
mod old_words;
mod opening;
mod options;
mod scan;
mod sleeps;
mod tree;
mod unsafety;
mod words;

use tree::File;

/// A rule looks at one file and returns what is wrong with it, each line with its remedy.
type Rule = fn(&File) -> Vec<String>;

#[track_caller]
fn every_file_keeps(rule: Rule) {
    the_tree_keeps(|files| files.iter().flat_map(rule).collect());
}

/// The same for a rule that looks at all files together.
#[track_caller]
fn the_tree_keeps(rule: impl Fn(&[File]) -> Vec<String>) {
    let problems = rule(&tree::files());
    assert!(problems.is_empty(), "{} problem(s):\n{}", problems.len(), problems.join("\n"));
}

#[test]
fn every_module_uses_only_floors_below_it() {
    every_file_keeps(floors::check);
}

#[test]
fn no_files_use_each_other_in_a_circle() {
    the_tree_keeps(graph::check);
}

#[test]
fn no_replaced_name_comes_back() {
    the_tree_keeps(old_words::check);
}

#[test]
fn no_option_is_without_effect() {
    the_tree_keeps(options::check);
}

#[test]
fn only_the_loader_starts_threads() {
    every_file_keeps(floors::check_threads);
}

#[test]
fn anyhow_stays_in_programs() {
    every_file_keeps(floors::check_anyhow);
}

#[test]
fn no_test_waits_for_time_to_pass() {
    every_file_keeps(sleeps::check);
}

#[test]
fn no_pipe_is_opened_by_its_path() {
    every_file_keeps(opening::check);
}

#[test]
fn every_file_is_short() {
    every_file_keeps(limits::check_lines);
}

#[test]
fn every_function_fits_on_a_screen() {
    every_file_keeps(limits::check_functions);
}

#[test]
fn no_file_outside_data_is_large() {
    every_file_keeps(limits::check_bytes);
}

#[test]
fn every_source_file_begins_with_what_it_is() {
    every_file_keeps(docs::check_first_line);
}

#[test]
fn every_relative_link_points_at_a_file() {
    every_file_keeps(docs::check_links);
}

#[test]
fn every_page_of_docs_is_on_the_site() {
    the_tree_keeps(docs::check_site);
}

#[test]
fn unsafe_stands_where_it_may_and_says_why() {
    every_file_keeps(unsafety::check);
}

#[test]
fn every_dependency_says_what_it_is_for() {
    every_file_keeps(manifest::check);
}

#[test]
fn nothing_is_left_for_later_in_the_text() {
    every_file_keeps(words::check_marks);
}

#[test]
fn every_merge_was_finished() {
    every_file_keeps(words::check_conflicts);
}

#[test]
fn no_path_of_one_machine_is_written_down() {
    every_file_keeps(words::check_paths);
}

#[test]
fn the_walk_finds_this_very_file() {
    let files = tree::files();
    assert!(files.iter().any(|file| file.path == "tests/tidy/main.rs"));
    assert!(files.iter().all(|file| !file.path.starts_with("target/")));
}
