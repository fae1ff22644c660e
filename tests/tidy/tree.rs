//! The files of the tree, as the rules see them: all that git would not ignore.

use std::path::Path;

/// One file: its path from the root with `/`, its size, and its text if it is text.
#[derive(Clone)]
pub(crate) struct File {
    pub(crate) path: String,
    pub(crate) bytes: u64,
    pub(crate) text: String,
}

impl File {
    /// A file that exists only in a test.
    pub(crate) fn new(path: &str, text: &str) -> Self {
        File { path: path.into(), bytes: text.len() as u64, text: text.into() }
    }

    pub(crate) fn is_rust(&self) -> bool {
        self.path.ends_with(".rs")
    }

    /// The path below `src/`, for Rust sources of the crate.
    pub(crate) fn in_src(&self) -> Option<&str> {
        self.path.strip_prefix("src/").filter(|_| self.is_rust())
    }

    /// Scripts: Python, shell, and what lies in `.ci`, `gpu`, `release` and `site`.
    pub(crate) fn is_script(&self) -> bool {
        let by_name = self.path.ends_with(".py") || self.path.ends_with(".sh");
        by_name || [".ci/", "gpu/", "release/", "site/"].iter().any(|folder| self.path.starts_with(folder))
    }
}

/// Every file of the tree, read.
pub(crate) fn files() -> Vec<File> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let ignored = std::fs::read_to_string(root.join(".gitignore")).expect(".gitignore is readable");
    let ignored: Vec<&str> =
        ignored.lines().filter(|line| !line.is_empty() && !line.starts_with('#')).collect();
    let mut files = Vec::new();
    walk(root, "", &ignored, &mut files);
    files.sort_by(|a, b| a.path.cmp(&b.path));
    files
}

fn walk(folder: &Path, prefix: &str, ignored: &[&str], files: &mut Vec<File>) {
    for entry in std::fs::read_dir(folder).expect("the tree is readable") {
        let entry = entry.expect("the tree is readable");
        let name = entry.file_name().to_string_lossy().into_owned();
        let path = format!("{prefix}{name}");
        let kind = entry.file_type().expect("a file has a type");
        if path == ".git" || kind.is_symlink() || ignored.iter().any(|pattern| matches(pattern, &path)) {
            continue;
        }
        if kind.is_dir() {
            if std::fs::read_to_string(entry.path().join(".gitignore")).is_ok_and(|own| own.trim() == "*") {
                continue; // a folder that ignores itself, such as a Python environment
            }
            walk(&entry.path(), &format!("{path}/"), ignored, files);
            continue;
        }
        let content = std::fs::read(entry.path()).expect("a file is readable");
        let bytes = content.len() as u64;
        files.push(File { path, bytes, text: String::from_utf8(content).unwrap_or_default() });
    }
}

/// The three kinds of line that our `.gitignore` holds: `/path`, `name/` and `*.ending`.
fn matches(pattern: &str, path: &str) -> bool {
    if let Some(rooted) = pattern.strip_prefix('/') {
        return path == rooted.trim_end_matches('/');
    }
    let name = path.rsplit('/').next().unwrap_or(path);
    match (pattern.strip_prefix('*'), pattern.strip_suffix('/')) {
        (Some(ending), _) if !ending.contains('*') => name.ends_with(ending),
        (_, Some(folder)) if !folder.contains(['/', '*']) => name == folder,
        _ => panic!(
            ".gitignore: write `{pattern}` as `/path`, `name/` or `*.ending`, or teach tests/tidy/tree.rs"
        ),
    }
}

#[test]
fn what_git_ignores_is_not_looked_at() {
    assert!(matches("/target", "target") && !matches("/target", "src/target"));
    assert!(matches("__pycache__/", "tests/__pycache__") && !matches("__pycache__/", "tests"));
    assert!(matches("*.pyc", "a/b.pyc") && !matches("*.pyc", "a/b.py"));
}
