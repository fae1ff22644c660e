//! A C header's structs and constants, measured by a C compiler, and the same of Rust's.
//!
//! Names are taken from both sides, so that a new field cannot be forgotten.

use std::collections::BTreeMap;
use std::process::Command;

/// What one side says: `Struct`, `Struct.field` or `CONSTANT` with its size, offset or value.
pub(crate) type Facts = BTreeMap<String, u64>;

macro_rules! layout {
    ($($name:ident { $($field:ident),* })*) => {{
        let mut facts = crate::c_layout::Facts::new();
        $(
            // Named one by one without `..`: a field that is missing here does not compile.
            let _complete = |$name { $($field: _),* }: $name| {};
            facts.insert(stringify!($name).into(), size_of::<$name>() as u64);
            $(facts.insert(
                concat!(stringify!($name), ".", stringify!($field)).into(),
                std::mem::offset_of!($name, $field) as u64,
            );)*
        )*
        facts
    }};
}

pub(crate) use layout;

macro_rules! constants {
    ($($c:literal = $rust:expr),* $(,)?) => {
        crate::c_layout::Facts::from([$(($c.to_owned(), u64::from($rust as u32))),*])
    };
}

pub(crate) use constants;

const KERNELS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/kernels");

/// The text of a header in `kernels/`.
pub(crate) fn header(name: &str) -> String {
    std::fs::read_to_string(format!("{KERNELS}/{name}")).unwrap()
}

/// The structs and their fields, and the constants, that a header declares.
fn names(header: &str) -> Vec<String> {
    let mut names = Vec::new();
    let mut current = None;
    for line in header.lines() {
        let code = line.split("/*").next().unwrap_or("").trim();
        let words: Vec<&str> = code.split_whitespace().collect();
        match words.as_slice() {
            ["typedef", "struct", name, "{"] => {
                current = Some(*name);
                names.push((*name).to_owned());
            }
            ["}", ..] => current = None,
            ["#define", name, _] if name.starts_with("FEEDLINE_") => names.push((*name).to_owned()),
            [_, field] if current.is_some() => {
                let field = field.trim_end_matches(';').split('[').next().unwrap_or("");
                names.push(format!("{}.{field}", current.unwrap_or("")));
            }
            _ => {}
        }
    }
    names
}

/// What the C compiler makes of a header.
pub(crate) fn measured(header: &str) -> Facts {
    let mut program = format!("#include <stddef.h>\n#include <stdio.h>\n{header}\nint main(void) {{\n");
    for name in names(header) {
        let value = match name.split_once('.') {
            Some((of, field)) => format!("offsetof({of}, {field})"),
            None if name.starts_with("FEEDLINE_") => name.clone(),
            None => format!("sizeof({name})"),
        };
        program += &format!("    printf(\"{name} %llu\\n\", (unsigned long long)({value}));\n");
    }
    program += "    return 0;\n}\n";
    let folder = tempfile::tempdir().unwrap();
    let (source, binary) = (folder.path().join("layout.c"), folder.path().join("layout"));
    std::fs::write(&source, program).unwrap();
    let mut compiler = Command::new("cc");
    compiler.args(["-std=c99", "-pedantic", "-Wall", "-Wextra", "-Wpadded", "-Werror", "-I", KERNELS, "-o"]);
    let compiled = compiler.arg(&binary).arg(&source).output().expect("cc is needed: install gcc or clang");
    assert!(compiled.status.success(), "{}", String::from_utf8_lossy(&compiled.stderr));
    let printed = Command::new(&binary).output().unwrap().stdout;
    let lines = String::from_utf8(printed).unwrap();
    let fact = |line: &str| {
        let (name, value) = line.split_once(' ').unwrap();
        (name.trim_start_matches("FEEDLINE_").to_owned(), value.parse().unwrap())
    };
    lines.lines().map(fact).collect()
}
