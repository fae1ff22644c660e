//! Names of what a file holds, in a message.

/// Most names that a message lists; a file may hold millions.
pub(super) const LISTED: usize = 20;

/// Names with commas between them: the first ones, and how many more there are.
pub(super) fn listed<S: AsRef<str>>(names: impl IntoIterator<Item = S>) -> String {
    let (mut text, mut more) = (String::new(), 0);
    for (number, name) in names.into_iter().enumerate() {
        match number {
            LISTED.. => more += 1,
            0 => text.push_str(name.as_ref()),
            _ => text.extend([", ", name.as_ref()]),
        }
    }
    if more == 0 { text } else { format!("{text} and {more} more") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_lists_the_first_names_and_counts_the_others() {
        assert_eq!(listed::<&str>([]), "");
        assert_eq!(listed(["a", "b", "c"]), "a, b, c");
        let names: Vec<_> = (0..LISTED + 2).map(|number| number.to_string()).collect();
        assert!(!listed(&names[..LISTED]).contains("more"));
        assert!(listed(&names).ends_with(", 18, 19 and 2 more"));
    }
}
