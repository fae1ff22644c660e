//! The structs and constants of `kernels/plan.h` are those of `src/plan.rs`.
//!
//! A C compiler measures the header; names are taken from both files, so that a new field cannot be forgotten.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use feedline::geometry::{Orientation, Rect, Size};
use feedline::plan::{self, Erase, ImageRef, LabelShare, Layer, Picture, Span, Stage, Stat, Step};
use std::collections::BTreeMap;
use std::mem::offset_of;
use std::process::Command;

/// What one side says: `Struct`, `Struct.field` or `CONSTANT` with its size, offset or value.
type Facts = BTreeMap<String, u64>;

macro_rules! layout {
    ($($name:ident { $($field:ident),* })*) => {{
        let mut facts = Facts::new();
        $(
            // Named one by one without `..`: a field that is missing here does not compile.
            let _complete = |$name { $($field: _),* }: $name| {};
            facts.insert(stringify!($name).into(), size_of::<$name>() as u64);
            $(facts.insert(
                concat!(stringify!($name), ".", stringify!($field)).into(),
                offset_of!($name, $field) as u64,
            );)*
        )*
        facts
    }};
}

fn rust_structs() -> Facts {
    layout! {
        Size { width, height }
        Rect { x, y, width, height }
        Span { start, len }
        ImageRef { index, stored, orientation, reserved }
        Layer {
            map, kind, filter, orientation, clip, window, scaled, offset, mirror, image, steps, fill, mask, reserved
        }
        Picture { window, layers, steps, erases, share, reserved }
        Step { op, stat, args }
        Stat { kind, target, index, reserved, rect, steps }
        Erase { window, value, kind, key, reserved }
        Stage { size, pictures, steps }
        LabelShare { image, share }
    }
}

macro_rules! constants {
    ($($c:literal = $rust:expr),* $(,)?) => {
        Facts::from([$(($c.to_owned(), u64::from($rust as u32))),*])
    };
}

fn rust_constants() -> Facts {
    constants! {
        "NONE" = plan::NONE,
        "STAGE_BIT" = plan::STAGE_BIT,
        "MAX_IMAGES" = plan::MAX_IMAGES,
        "MAX_LAYERS" = plan::MAX_LAYERS,
        "MAX_STAGES" = plan::MAX_STAGES,
        "MAX_STEPS" = plan::MAX_STEPS,
        "MAX_STATS" = plan::MAX_STATS,
        "MAX_ERASES" = plan::MAX_ERASES,
        "KIND_UPRIGHT" = plan::kind::UPRIGHT,
        "KIND_WARP" = plan::kind::WARP,
        "KIND_SOLID" = plan::kind::SOLID,
        "AROUND_NOTHING" = plan::around::NOTHING,
        "AROUND_BLACK" = plan::around::BLACK,
        "AROUND_FILL" = plan::around::FILL,
        "FILTER_BILINEAR" = plan::filter::BILINEAR,
        "FILTER_BILINEAR_PLAIN" = plan::filter::BILINEAR_PLAIN,
        "FILTER_BICUBIC" = plan::filter::BICUBIC,
        "FILTER_NEAREST" = plan::filter::NEAREST,
        "MIRROR_X" = Orientation::MIRROR_X.0,
        "MIRROR_Y" = Orientation::MIRROR_Y.0,
        "TRANSPOSE" = Orientation::TRANSPOSE.0,
        "STEP_BRIGHTNESS" = plan::step::BRIGHTNESS,
        "STEP_CONTRAST" = plan::step::CONTRAST,
        "STEP_SATURATION" = plan::step::SATURATION,
        "STEP_HUE" = plan::step::HUE,
        "STEP_GRAYSCALE" = plan::step::GRAYSCALE,
        "STAT_MEAN_LUMA" = plan::stat::MEAN_LUMA,
        "STAT_OF_LAYER" = plan::stat::OF_LAYER,
        "STAT_OF_PICTURE" = plan::stat::OF_PICTURE,
        "STAT_OF_STAGE" = plan::stat::OF_STAGE,
        "ERASE_CONSTANT" = plan::erase::CONSTANT,
        "ERASE_NOISE" = plan::erase::NOISE,
    }
}

const HEADER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/kernels/plan.h");

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

/// What the C compiler makes of the header at `path`, where there is a compiler.
fn measured(header: &str) -> Facts {
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
    compiler.args(["-std=c99", "-pedantic", "-Wall", "-Wextra", "-Wpadded", "-Werror", "-o"]);
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

fn rust() -> Facts {
    rust_structs().into_iter().chain(rust_constants()).collect()
}

#[test]
fn the_c_header_has_the_sizes_offsets_and_constants_of_the_plan() {
    let header = std::fs::read_to_string(HEADER).unwrap();
    assert_eq!(measured(&header), rust());
}

#[test]
fn a_field_that_moves_in_the_header_is_noticed() {
    let header = std::fs::read_to_string(HEADER).unwrap();
    let moved = header
        .replace("    uint32_t stat;", "")
        .replace("float args[6];", "float args[6];\n    uint32_t stat;");
    assert_ne!(moved, header);
    assert_ne!(measured(&moved), rust());
    let renumbered = header.replace("FEEDLINE_STEP_HUE 3", "FEEDLINE_STEP_HUE 4");
    assert_ne!(measured(&renumbered), rust());
}

#[test]
fn every_constant_of_the_plan_is_compared() {
    let source = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/src/plan.rs")).unwrap();
    let declared =
        source.lines().filter(|line| line.trim_start().starts_with("pub const ") && !line.contains("fn"));
    // The three bits of an orientation are declared in src/geometry.rs.
    assert_eq!(declared.count() + 3, rust_constants().len());
}
