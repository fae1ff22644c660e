//! `unsafe` stands only where wide instructions, a device or a C ABI need it, and each time says why it is sound.

use crate::scan::{Token, mask, tokens};
use crate::tree::File;

/// Most lines between the reason and the block that it is for.
const REASON_WITHIN: usize = 6;

/// A reason that gives none. Only the functions that C calls have nobody but C to rely on.
const EMPTY_REASON: &str = "caller's promise";

fn may_be_unsafe(path: &str) -> bool {
    let within =
        |folder: &str| path.starts_with(folder) || path == format!("{}.rs", folder.trim_end_matches('/'));
    ["coefficients/", "device/", "dlpack/", "jpeg/", "simd/"].into_iter().any(within)
        || path.ends_with("/simd.rs")
}

pub(crate) fn check(file: &File) -> Vec<String> {
    let of_capi = file.path.strip_prefix("capi/src/").filter(|_| file.is_rust());
    let Some(path) = file.in_src().or(of_capi) else { return Vec::new() };
    let masked = mask(&file.text);
    let tokens = tokens(&masked);
    let lines: Vec<&str> = file.text.lines().collect();
    let mut problems = Vec::new();
    let mut say = |line: usize, what: &str| problems.push(format!("{}:{line}: {what}", file.path));
    let mut any = None;
    for (at, token) in tokens.iter().enumerate() {
        let text = |ahead: usize| tokens.get(at + ahead).map_or("", |token| token.text);
        if token.text == "allow" && text(2) == "unsafe_code" {
            say(
                token.line,
                "write #![expect(unsafe_code, reason = \"...\")], which fails once it is not needed",
            );
        }
        let is_type =
            (text(1) == "fn" && text(2) == "(") || (text(1) == "extern" && text(2) == "fn" && text(3) == "(");
        let is_attribute = text(1) == "(";
        if token.text != "unsafe" || is_type || is_attribute {
            continue;
        }
        any.get_or_insert(token.line);
        if !has_reason(&lines, token.line, text(1)) {
            say(token.line, "say why it is sound: `// SAFETY: ...` above it, or `# Safety` for a function");
        }
    }
    for (at, text) in lines.iter().enumerate() {
        let is_empty = text.trim_start().starts_with("//") && text.contains(EMPTY_REASON);
        if is_empty && !(of_capi.is_some() && c_calls(&tokens, at + 1)) {
            say(at + 1, "say what the caller promises, so that it can be checked here and there");
        }
    }
    if let Some(line) = any {
        if of_capi.is_none() && !may_be_unsafe(path) {
            say(
                line,
                "unsafe has its place in coefficients/, device/, dlpack/, jpeg/, simd files and capi: find a safe way here",
            );
        } else if !tokens.windows(3).any(|t| t[0].text == "expect" && t[2].text == "unsafe_code") {
            say(line, "the file must say #![expect(unsafe_code, reason = \"...\")] at its head");
        }
    }
    problems
}

/// Whether the function that `line` is in is one that C calls.
fn c_calls(tokens: &[Token<'_>], line: usize) -> bool {
    let named = |words: &&[Token<'_>]| words[1].text == "fn" && words[2].is_name();
    let above = tokens.windows(3).take_while(|words| words[1].line <= line);
    above.filter(named).last().is_some_and(|words| words[0].text == "extern")
}

/// A block or impl needs a SAFETY comment close above. A function needs its contract above, or, where it is one block
/// under the caller's promise, the comment of that block.
fn has_reason(lines: &[&str], line: usize, next: &str) -> bool {
    let (above, below) = match next {
        "fn" | "trait" | "extern" => (3 * REASON_WITHIN, 3),
        _ => (REASON_WITHIN, 0),
    };
    let close = &lines[(line - 1).saturating_sub(above)..(line + below).min(lines.len())];
    close.iter().any(|text| text.contains("SAFETY:") || text.contains("# Safety"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEAD: &str = "#![expect(unsafe_code, reason = \"wide loads\")]\n";

    fn problems(path: &str, text: &str) -> usize {
        check(&File::new(path, text)).len()
    }

    #[test]
    fn a_block_without_a_reason_is_refused() {
        let sound = format!("{HEAD}// SAFETY: the slice is 16 long.\nunsafe {{ load(p) }}");
        assert_eq!(problems("src/jpeg/wide.rs", &sound), 0);
        assert_eq!(problems("src/jpeg/wide.rs", &format!("{HEAD}unsafe {{ load(p) }}")), 1);
        assert_eq!(problems("src/jpeg/wide.rs", &format!("{HEAD}unsafe fn f() {{}}")), 1);
        assert_eq!(
            problems(
                "src/jpeg/wide.rs",
                &format!("{HEAD}unsafe fn f() {{\n// SAFETY: yes.\nunsafe {{ }} }}")
            ),
            0
        );
        assert_eq!(problems("src/jpeg/wide.rs", &format!("{HEAD}call(unsafe {{ load(p) }})")), 1);
        let far = format!("{HEAD}// SAFETY: yes.\n{}unsafe {{ }}", "\n".repeat(REASON_WITHIN));
        assert_eq!(problems("src/jpeg/wide.rs", &far), 1);
    }

    #[test]
    fn a_reason_that_names_no_promise_is_refused() {
        let empty = "// SAFETY: the caller's promise.\nunsafe { load(p) }";
        assert_eq!(problems("src/jpeg/wide.rs", &format!("{HEAD}{empty}")), 1);
        assert_eq!(problems("src/jpeg/wide.rs", &format!("{HEAD}// SAFETY: p is alive;\n{empty}")), 1);
        let within = |function: &str| {
            let before = "pub extern \"C\" fn before() {}\n";
            problems("capi/src/batch.rs", &format!("{HEAD}{before}{function} {{\n{empty}\n}}"))
        };
        assert_eq!(within("extern \"C\" fn f(call: fn(u8))"), 0);
        assert_eq!(within("fn f(call: extern \"C\" fn(u8))"), 1);
    }

    #[test]
    fn a_file_without_leave_is_refused() {
        let sound = "// SAFETY: yes.\nunsafe { }";
        assert_eq!(problems("src/source.rs", &format!("{HEAD}{sound}")), 1);
        assert_eq!(problems("src/device/cpu.rs", sound), 1);
        assert_eq!(problems("src/simd.rs", &format!("{HEAD}{sound}")), 0);
        assert_eq!(problems("capi/src/batch.rs", &format!("{HEAD}{sound}")), 0);
        assert_eq!(problems("capi/src/batch.rs", sound), 1);
        assert_eq!(problems("src/device/cpu.rs", "#![allow(unsafe_code)]"), 1);
    }

    #[test]
    fn words_types_and_strings_are_not_unsafe_code() {
        assert_eq!(problems("src/a.rs", "// unsafe {\nlet a = \"unsafe {\"; type F = unsafe fn(u8);"), 0);
    }
}
