//! The declarations as a C file, which compiles beside a header only if both say the same.

use nvjpeg_sys::declared::{Enumeration, Function, Release, Structure};
use nvjpeg_sys::{CALLBACKS, ENUMERATIONS, FUNCTIONS, OPAQUE, STRUCTURES};
use std::fmt::Write;

/// The file, for the header of this release. `static_assert`s compare numbers, and pointers of our types are set to the
/// header's functions, which a compiler refuses where any type differs.
pub(crate) fn c_file(release: Release) -> Result<String, String> {
    let mut text = String::from("#include <stddef.h>\n#include <nvjpeg.h>\n");
    for enumeration in ENUMERATIONS {
        text += &values(enumeration, release);
    }
    for structure in STRUCTURES {
        text += &fields(structure)?;
    }
    for (_, function) in CALLBACKS {
        text += &line(&format!("extern {};", pointer("int", function, "of_")?));
        text += &line(&same(&format!("of_{}", function.name), &format!("({}) 0", function.name)));
    }
    for function in FUNCTIONS.iter().filter(|function| function.span.holds(release)) {
        text += &line(&format!("{} = {};", pointer("nvjpegStatus_t", function, "our_")?, function.name));
    }
    text += &line(&equal("sizeof(cudaStream_t)", size_of::<nvjpeg_sys::CudaStream>()));
    Ok(text)
}

fn line(text: &str) -> String {
    format!("{text}\n")
}

fn values(enumeration: &Enumeration, release: Release) -> String {
    let values: Vec<_> = enumeration.values.iter().filter(|value| value.span.holds(release)).collect();
    let mut text = String::new();
    if !values.is_empty() && !enumeration.c.is_empty() {
        text += &line(&equal(&format!("sizeof({})", enumeration.c), enumeration.bytes));
    }
    for value in values {
        text += &line(&equal(&format!("(long) ({})", value.c), value.value));
    }
    text
}

fn fields(structure: &Structure) -> Result<String, String> {
    let c = structure.c;
    let mut text = line(&equal(&format!("sizeof({c})"), structure.bytes));
    for field in structure.fields {
        text += &line(&equal(&format!("offsetof({c}, {})", field.name), field.offset));
        text += &line(&same(&format!("(({c} *) 0)->{}", field.name), &c_type(field.kind)?));
    }
    Ok(text)
}

/// An assertion that a C expression is this number.
fn equal(expression: &str, number: impl std::fmt::Display) -> String {
    format!("_Static_assert({expression} == {number}, \"{expression} is not {number}\");")
}

/// An assertion that a C expression is of this type, or of this other expression's.
fn same(expression: &str, other: &str) -> String {
    format!(
        "_Static_assert(__builtin_types_compatible_p(__typeof__({expression}), __typeof__({other})), \
         \"{expression} is no {other}\");"
    )
}

/// A variable that points to such a function.
fn pointer(returns: &str, function: &Function, prefix: &str) -> Result<String, String> {
    let mut text = format!("{returns} (*{prefix}{})(", function.name);
    for (at, argument) in function.arguments.iter().enumerate() {
        let comma = if at == 0 { "" } else { ", " };
        write!(text, "{comma}{}", c_type(argument)?).map_err(|error| error.to_string())?;
    }
    Ok(text + ")")
}

/// A type in C, of how Rust writes it.
fn c_type(rust: &str) -> Result<String, String> {
    let rust = rust.trim();
    if let Some(inner) = rust.strip_prefix("*mut ") {
        return Ok(format!("{} *", c_type(inner)?));
    }
    if let Some(inner) = rust.strip_prefix("*const ") {
        return Ok(format!("{} const *", c_type(inner)?));
    }
    if let Some(inner) = rust.strip_prefix("Option<").and_then(|rest| rest.strip_suffix('>')) {
        return c_type(inner);
    }
    if let Some((inner, count)) =
        rust.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).and_then(|rest| rest.split_once(';'))
    {
        return Ok(format!("{} [{}]", c_type(inner)?, count.trim()));
    }
    let plain = match rust {
        "c_int" => "int",
        "c_uint" | "Flags" => "unsigned int",
        "c_uchar" => "unsigned char",
        "c_void" => "void",
        "usize" => "size_t",
        "CudaStream" => "cudaStream_t",
        name => return named(name).ok_or_else(|| format!("{name} has no name in C")),
    };
    Ok(plain.to_owned())
}

fn named(name: &str) -> Option<String> {
    let opaque = OPAQUE.iter().find(|(rust, _)| *rust == name).map(|(_, c)| format!("struct {c}"));
    let enumeration = || Some(ENUMERATIONS.iter().find(|one| one.name == name)?.c.to_owned());
    let structure = || Some(STRUCTURES.iter().find(|one| one.name == name)?.c.to_owned());
    let callback = || Some(CALLBACKS.iter().find(|(rust, _)| *rust == name)?.1.name.to_owned());
    opaque.or_else(enumeration).or_else(structure).or_else(callback)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_read_the_same_in_both_languages() {
        let types = [
            ("c_uint", "unsigned int"),
            ("*mut *mut Handle", "struct nvjpegHandle * *"),
            ("*const *const c_uchar", "unsigned char const * const *"),
            ("*mut Image", "nvjpegImage_t *"),
            ("Backend", "nvjpegBackend_t"),
            ("Option<DevFree>", "tDevFree"),
            ("[*mut c_uchar; 4]", "unsigned char * [4]"),
        ];
        for (rust, c) in types {
            assert_eq!(c_type(rust).as_deref(), Ok(c));
        }
        assert!(c_type("f32").is_err());
    }

    #[test]
    fn each_release_has_its_own_functions_and_values() {
        let old = c_file((12, 1, 0)).unwrap();
        let new = c_file((13, 3, 2)).unwrap();
        let huffman = "our_nvjpegEncoderParamsCopyHuffmanTables";
        assert!(old.contains(huffman) && !new.contains(huffman));
        for later in ["our_nvjpegBufferPinnedResize", "NVJPEG_OUTPUT_NV12", "nvjpegEncBackend_t"] {
            assert!(new.contains(later) && !old.contains(later), "{later}");
        }
        let destroy = "nvjpegStatus_t (*our_nvjpegDestroy)(struct nvjpegHandle *) = nvjpegDestroy;";
        assert!(new.contains(destroy));
        assert!(new.contains("offsetof(nvjpegImage_t, pitch) == 32"));
        assert!(new.contains("(long) (NVJPEG_CSS_UNKNOWN) == -1"));
    }
}
