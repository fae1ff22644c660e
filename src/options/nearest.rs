//! "Did you mean": the nearest known word to a misspelt one.

/// Longest word that is compared; a longer one is no misspelling of ours.
const LONGEST: usize = 64;

/// The word of `known` with the fewest edits from `word`, if they are few enough to be a slip.
pub(crate) fn nearest<'a>(word: &str, known: &[&'a str]) -> Option<&'a str> {
    if word.len() > LONGEST {
        return None;
    }
    let word = word.to_lowercase();
    let edits = |known: &&str| strsim::damerau_levenshtein(&word, &known.to_lowercase());
    let best = known.iter().copied().min_by_key(edits)?;
    (edits(&best) <= 1 + best.len() / 3).then_some(best)
}

/// The end of an error message about an unknown word.
pub(crate) fn hint(word: &str, known: &[&str]) -> String {
    let all = known.join(", ");
    match nearest(word, known) {
        Some(best) => format!(": did you mean `{best}`? There are {all}"),
        None => format!(": there are {all}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_finds_its_word_and_another_word_finds_none() {
        let known = ["size", "scale", "ratio", "interpolation"];
        assert_eq!(nearest("sise", &known), Some("size"));
        assert_eq!(nearest("Interpolaton", &known), Some("interpolation"));
        assert_eq!(nearest("brightness", &known), None);
        assert_eq!(nearest(&"size".repeat(1000), &known), None);
        assert_eq!(nearest("", &[]), None);
    }
}
