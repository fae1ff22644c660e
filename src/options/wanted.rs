//! What a deserializer says of a wrong value, without the names of Rust's types.

use super::value::alternatives;

/// What a value may be, where `message` of serde's says only that it is of another type, or none of the words that there are;
/// `None` where it says more.
pub(crate) fn wanted(message: &str) -> Option<String> {
    let is_typed =
        ["invalid type: ", "invalid value: ", "invalid length "].iter().any(|of| message.starts_with(of));
    if is_typed {
        let (_, expected) = message.rsplit_once(", expected ")?;
        return Some(in_words(expected));
    }
    // Types that take values of several forms say only what those are.
    if ["a ", "an ", "one "].iter().any(|article| message.starts_with(article)) {
        return Some(message.to_owned());
    }
    let words = message.strip_prefix("unknown variant `")?.split_once(", expected ")?.1;
    Some(alternatives(words.trim_start_matches("one of ").split(", ").map(str::to_owned)))
}

fn in_words(expected: &str) -> String {
    let words = match expected {
        "u8" | "u16" | "u32" | "u64" | "usize" => "a whole number from 0",
        "i8" | "i16" | "i32" | "i64" | "isize" => "a whole number",
        "f32" | "f64" => "a number",
        "a boolean" => "true or false",
        "a string" => "a text",
        "string or map" => "a word",
        "a sequence" => "a list",
        "a map" => "names with their values",
        _ => match expected.strip_prefix("an array of length ") {
            Some(length) => return format!("a list of {length}"),
            None => expected,
        },
    };
    words.to_owned()
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]
mod tests {
    use super::*;
    use serde::Deserialize;
    use serde_json::{Value, json};

    fn said<T: for<'de> Deserialize<'de>>(value: Value) -> Option<String> {
        wanted(&serde_json::from_value::<T>(value).err().unwrap().to_string())
    }

    #[derive(Debug, Deserialize)]
    enum Word {
        A,
        B,
        C,
    }

    #[test]
    fn types_are_told_in_the_words_of_options() {
        assert_eq!(said::<usize>(json!(-1)).unwrap(), "a whole number from 0");
        assert_eq!(said::<u32>(json!("8")).unwrap(), "a whole number from 0");
        assert_eq!(said::<f32>(json!("a")).unwrap(), "a number");
        assert_eq!(said::<bool>(json!("yes")).unwrap(), "true or false");
        assert_eq!(said::<String>(json!(3)).unwrap(), "a text");
        assert_eq!(said::<Vec<f32>>(json!(3)).unwrap(), "a list");
        assert_eq!(said::<[f64; 3]>(json!([1, 2])).unwrap(), "a list of 3");
        assert_eq!(said::<Word>(json!("D")).unwrap(), "`A`, `B` or `C`");
        assert_eq!(said::<Word>(json!(2)).unwrap(), "a word");
    }

    #[test]
    fn what_says_more_than_a_type_is_left_as_it_is() {
        assert_eq!(wanted("missing field `size`"), None);
        assert_eq!(wanted("`4g` is no number of bytes; give a number of bytes"), None);
    }
}
