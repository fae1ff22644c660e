//! Every dependency in a manifest says what it is for.

use crate::tree::File;

pub(crate) fn check(file: &File) -> Vec<String> {
    if file.path != "Cargo.toml" && !file.path.ends_with("/Cargo.toml") {
        return Vec::new();
    }
    let mut problems = Vec::new();
    let mut in_dependencies = false;
    let mut above = "";
    for (number, line) in file.text.lines().enumerate() {
        let line = line.trim_start();
        if let Some(section) = line.strip_prefix('[') {
            in_dependencies = section.contains("dependencies");
            if section.contains("dependencies.") {
                problems.push(format!("{}:{}: write it as one line with a comment", file.path, number + 1));
            }
        }
        let entry = line.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '"');
        if in_dependencies && entry && !line.contains("# ") && !above.starts_with("# ") {
            let name = line.split(['=', ' ']).next().unwrap_or(line);
            problems.push(format!(
                "{}:{}: say behind `{name}`, after a #, what it is for",
                file.path,
                number + 1
            ));
        }
        above = line;
    }
    problems
}

#[test]
fn a_dependency_without_a_purpose_is_refused() {
    let problems = |text| check(&File::new("Cargo.toml", text)).len();
    assert_eq!(
        problems("[package]\nname = \"a\"\n[dependencies]\nserde = \"1\" # recipes\n\n[features]\nx = []"),
        0
    );
    assert_eq!(problems("[dependencies]\nserde = \"1\"\n[dev-dependencies]\nzip = \"2\""), 2);
    assert_eq!(problems("[dependencies]\n# recipes\nserde = \"1\""), 0);
    assert_eq!(problems("[dependencies.serde]\nversion = \"1\""), 2);
    assert!(check(&File::new("src/a.rs", "[dependencies]\nserde = \"1\"")).is_empty());
}
