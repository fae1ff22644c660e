//! The `feedline` command.
fn main() {}
