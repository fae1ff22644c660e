//! Reads Rust just well enough for the rules: words without comments, strings and character literals.

/// One word or sign, with the line (from 1) that it stands on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Token<'a> {
    pub(crate) text: &'a str,
    pub(crate) line: usize,
}

impl Token<'_> {
    pub(crate) fn is_name(&self) -> bool {
        self.text.starts_with(is_word)
    }
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// Blanks comments, strings and character literals; lines stay where they are.
pub(crate) fn mask(source: &str) -> String {
    let chars: Vec<char> = source.chars().collect();
    let mut masked = String::with_capacity(source.len());
    let mut at = 0;
    while at < chars.len() {
        let after_word = at > 0 && is_word(chars[at - 1]);
        match opaque(&chars[at..], after_word) {
            0 => {
                masked.push(chars[at]);
                at += 1;
            }
            length => {
                let hidden = &chars[at..(at + length).min(chars.len())];
                masked.extend(hidden.iter().map(|&c| if c == '\n' { c } else { ' ' }));
                at += hidden.len();
            }
        }
    }
    masked
}

/// How many characters from here on are a comment, a string or a character literal; 0 if this is code.
fn opaque(rest: &[char], after_word: bool) -> usize {
    match rest {
        ['/', '/', ..] => rest.iter().position(|&c| c == '\n').unwrap_or(rest.len()),
        ['/', '*', ..] => block_comment(rest),
        ['"', ..] => 1 + quoted(&rest[1..], '"'),
        ['\'', '\\', ..] => 1 + quoted(&rest[1..], '\''),
        ['\'', _, '\'', ..] => 3,
        ['b' | 'c', 'r', ..] if !after_word => raw_string(&rest[1..]).map_or(0, |length| 1 + length),
        ['r', ..] if !after_word => raw_string(rest).unwrap_or(0),
        _ => 0,
    }
}

fn block_comment(rest: &[char]) -> usize {
    let (mut depth, mut at) = (0, 0);
    while at < rest.len() {
        let pair = (rest[at], rest.get(at + 1));
        let step = if matches!(pair, ('/', Some('*')) | ('*', Some('/'))) { 2 } else { 1 };
        depth += i32::from(pair == ('/', Some(&'*'))) - i32::from(pair == ('*', Some(&'/')));
        at += step;
        if depth == 0 {
            break;
        }
    }
    at
}

/// Characters up to and with the closing `end`; a backslash hides the next one.
fn quoted(rest: &[char], end: char) -> usize {
    let mut at = 0;
    while at < rest.len() && rest[at] != end {
        at += if rest[at] == '\\' { 2 } else { 1 };
    }
    at + 1
}

/// The length of `r"..."` or `r#"..."#`; none for a raw name such as `r#type`, or any other word with an r.
fn raw_string(rest: &[char]) -> Option<usize> {
    let hashes = rest[1..].iter().take_while(|&&c| c == '#').count();
    let body = rest.get(1 + hashes..)?.strip_prefix(&['"'])?;
    let closes =
        |at: &usize| body[*at] == '"' && body[at + 1..].iter().take_while(|&&c| c == '#').count() >= hashes;
    let end = (0..body.len()).find(closes).unwrap_or(body.len());
    Some(1 + hashes + 1 + end + 1 + hashes)
}

/// The words and signs of a masked text; `::` is one sign.
pub(crate) fn tokens(masked: &str) -> Vec<Token<'_>> {
    let mut found = Vec::new();
    for (number, line) in masked.lines().enumerate() {
        let mut rest = line.trim_start();
        while let Some(first) = rest.chars().next() {
            let length = match first {
                c if is_word(c) => rest.find(|c| !is_word(c)).unwrap_or(rest.len()),
                ':' if rest.starts_with("::") => 2,
                c => c.len_utf8(),
            };
            found.push(Token { text: &rest[..length], line: number + 1 });
            rest = rest[length..].trim_start();
        }
    }
    found
}

/// The index behind the bracket that closes the one at `open`.
pub(crate) fn closing(tokens: &[Token<'_>], open: usize) -> usize {
    let mut depth = 0;
    for (at, token) in tokens.iter().enumerate().skip(open) {
        match token.text {
            "{" | "(" | "[" => depth += 1,
            "}" | ")" | "]" => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return at + 1;
        }
    }
    tokens.len()
}

/// The tokens without `#[cfg(test)] mod ... { }`: the rules on structure are for what ships.
pub(crate) fn without_tests<'a>(tokens: &[Token<'a>]) -> Vec<Token<'a>> {
    const HEAD: [&str; 8] = ["#", "[", "cfg", "(", "test", ")", "]", "mod"];
    let mut kept = Vec::with_capacity(tokens.len());
    let mut at = 0;
    while at < tokens.len() {
        let head = tokens[at..].iter().map(|token| token.text).take(HEAD.len()).eq(HEAD);
        if head && tokens.get(at + 9).is_some_and(|token| token.text == "{") {
            at = closing(tokens, at + 9);
        } else {
            kept.push(tokens[at]);
            at += 1;
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(source: &str) -> Vec<String> {
        let masked = mask(source);
        tokens(&masked).iter().map(|token| token.text.to_owned()).collect()
    }

    #[test]
    fn braces_in_strings_comments_and_characters_are_not_seen() {
        assert_eq!(words(r##"a("{", b"}", c"{")"##), ["a", "(", ",", "b", ",", "c", ")"]);
        assert_eq!(words("a // {\nb /* { /* } */ { */ c"), ["a", "b", "c"]);
        assert_eq!(words(r"f('{', '\'', '\u{7b}', b'}')"), ["f", "(", ",", ",", ",", "b", ")"]);
        assert_eq!(words(r#"x("\"{", "\\")"#), ["x", "(", ",", ")"]);
    }

    #[test]
    fn raw_strings_end_at_their_own_hashes() {
        assert_eq!(words("r#\"a \" {\"# + br\"{\\\" + r##\"\"#{\"##"), ["+", "+"]);
        assert_eq!(words("r#type { bar\"{\" }"), ["r", "#", "type", "{", "bar", "}"]);
    }

    #[test]
    fn a_lifetime_is_not_a_character() {
        assert_eq!(words("fn f<'a>(x: &'a str) {}").iter().filter(|word| *word == "a").count(), 2);
        assert_eq!(words("'x': loop { 'y' }"), [":", "loop", "{", "}"]);
    }

    #[test]
    fn an_unclosed_string_or_comment_ends_with_the_file() {
        for source in ["\"abc", "/* abc", "r#\"abc", "'\\", "//"] {
            assert!(words(source).is_empty(), "{source}");
        }
    }

    #[test]
    fn lines_are_counted_through_what_is_blanked() {
        let masked = mask("\"one\ntwo\"\n/*\n*/ x");
        assert_eq!(tokens(&masked), [Token { text: "x", line: 4 }]);
    }

    #[test]
    fn test_modules_are_left_out_and_what_follows_is_not() {
        let tokens = tokens("a #[cfg(test)] mod tests { b { c } } d");
        let kept: Vec<&str> = without_tests(&tokens).iter().map(|token| token.text).collect();
        assert_eq!(kept, ["a", "d"]);
    }
}
