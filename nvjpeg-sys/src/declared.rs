//! All that is declared here, as tables: what a program needs to compare it with the C header.

/// A release of the library: major, minor, patch.
pub type Release = (u32, u32, u32);

/// The releases that have something; of those before 12.1 nothing is said.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// The first that has it; `None` where 12.1 does.
    pub since: Option<Release>,
    /// The first that has it no more.
    pub until: Option<Release>,
}

/// A function, or the type of one.
#[derive(Clone, Copy, Debug)]
pub struct Function {
    /// Its name in C.
    pub name: &'static str,
    /// The types of its arguments, as Rust writes them.
    pub arguments: &'static [&'static str],
    /// Which releases have it.
    pub span: Span,
}

/// A C enumeration, or a set of macros.
#[derive(Clone, Copy, Debug)]
pub struct Enumeration {
    /// The type's name here.
    pub name: &'static str,
    /// The type's name in C; empty for macros.
    pub c: &'static str,
    /// The type's size in bytes here.
    pub bytes: usize,
    /// The values.
    pub values: &'static [Value],
}

/// A value of an enumeration.
#[derive(Clone, Copy, Debug)]
pub struct Value {
    /// Its name in C.
    pub c: &'static str,
    /// The number.
    pub value: i64,
    /// Which releases have it.
    pub span: Span,
}

/// A structure whose fields are known.
#[derive(Clone, Copy, Debug)]
pub struct Structure {
    /// The type's name here.
    pub name: &'static str,
    /// The type's name in C.
    pub c: &'static str,
    /// Its size in bytes.
    pub bytes: usize,
    /// Its fields, which have the same names in C.
    pub fields: &'static [Field],
}

/// A field of a structure.
#[derive(Clone, Copy, Debug)]
pub struct Field {
    /// Its name.
    pub name: &'static str,
    /// Its type, as Rust writes it.
    pub kind: &'static str,
    /// Bytes from the structure's start.
    pub offset: usize,
}

impl Span {
    /// Whether this release has it.
    pub fn holds(self, release: Release) -> bool {
        self.since.is_none_or(|since| since <= release) && self.until.is_none_or(|until| release < until)
    }
}

/// `span!(since(12, 4, 0))`, `span!(until(13, 0, 0))`, `span!()`.
macro_rules! span {
    ($(since($($since:literal),+))? $(until($($until:literal),+))?) => {
        $crate::declared::Span {
            since: $crate::declared::release!($($($since),+)?),
            until: $crate::declared::release!($($($until),+)?),
        }
    };
}
pub(crate) use span;

macro_rules! release {
    () => { None };
    ($($number:literal),+) => { Some(($($number),+)) };
}
pub(crate) use release;

#[cfg(test)]
mod tests {
    #[test]
    fn a_release_has_what_came_before_it_and_was_not_taken_away() {
        assert!(span!().holds((12, 1, 0)) && span!().holds((14, 0, 0)));
        assert!(!span!(since(12, 4, 0)).holds((12, 3, 5)) && span!(since(12, 4, 0)).holds((12, 4, 0)));
        assert!(span!(until(13, 0, 0)).holds((12, 4, 0)) && !span!(until(13, 0, 0)).holds((13, 0, 0)));
    }
}
