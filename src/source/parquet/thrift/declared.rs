//! What `parquet.thrift` declares: the types of the fields of its structs, from the first number on.

/// A type of `parquet.thrift`.
#[derive(Clone, Copy)]
pub(super) enum Kind {
    Bool,
    Byte,
    I16,
    I32,
    I64,
    Double,
    Binary,
    List(&'static Kind),
    /// The types of its fields, from the first number on.
    Struct(&'static [Kind]),
    /// The same for a union, all of whose variants are structs. Of those without fields the crate reads a byte, whatever type
    /// the file gives them.
    Union(&'static [Kind]),
    /// An element of the schema, its name, and how many children it has.
    SchemaElement,
    Name,
    Children,
    /// What the crate passes over.
    Any,
}

use Kind::{
    Any, Binary, Bool, Byte, Children, Double, I16, I32, I64, List, Name, SchemaElement, Struct, Union,
};

/// A struct without fields, and one of which no field is declared.
pub(super) const EMPTY: Kind = Struct(&[]);
const NUMBERS: Kind = List(&I64);
const PAIRS: Kind = List(&Struct(&[Binary, Binary]));

/// The footer: `FileMetaData`.
pub(super) const FILE: &[Kind] =
    &[I32, List(&SchemaElement), I64, List(&Struct(ROW_GROUP)), PAIRS, Binary, List(&ORDER), Any, Any];
/// Orders by type, of IEEE 754, and of time stamps in 96 bits.
const ORDER: Kind = Union(&[EMPTY, EMPTY, EMPTY]);
pub(super) const ELEMENT: &[Kind] = &[I32, I32, I32, Name, Children, I32, I32, I32, I32, Union(LOGICAL_TYPE)];
/// Text, maps, lists, enumerations; decimals; dates, times, time stamps; nothing; integers; what is unknown, JSON, BSON,
/// identifiers, halves; variants, geometries, geographies, files. The ninth is reserved.
const LOGICAL_TYPE: &[Kind] = &[
    EMPTY, EMPTY, EMPTY, EMPTY, DECIMAL, EMPTY, TIME, TIME, EMPTY, INTEGER, EMPTY, EMPTY, EMPTY, EMPTY,
    EMPTY, VARIANT, GEOMETRY, GEOGRAPHY, EMPTY,
];
const DECIMAL: Kind = Struct(&[I32, I32]);
const TIME: Kind = Struct(&[Bool, Union(&[EMPTY, EMPTY, EMPTY])]);
const INTEGER: Kind = Struct(&[Byte, Bool]);
const VARIANT: Kind = Struct(&[Byte]);
const GEOMETRY: Kind = Struct(&[Binary]);
const GEOGRAPHY: Kind = Struct(&[Binary, I32]);
const ROW_GROUP: &[Kind] =
    &[List(&Struct(COLUMN)), I64, I64, List(&Struct(&[I32, Bool, Bool])), I64, I64, I16];
const COLUMN: &[Kind] = &[Binary, I64, Struct(ABOUT_COLUMN), I64, I32, I64, I32, Any, Any];
/// `ColumnMetaData`.
const ABOUT_COLUMN: &[Kind] = &[
    I32,
    List(&I32),
    List(&Binary),
    I32,
    I64,
    I64,
    I64,
    PAIRS,
    I64,
    I64,
    I64,
    STATISTICS,
    List(&Struct(&[I32, I32, I32])),
    I64,
    I32,
    Struct(&[I64, NUMBERS, NUMBERS]),
    Struct(&[BOX, List(&I32)]),
];
const STATISTICS: Kind = Struct(&[Binary, Binary, I64, I64, Binary, Binary, Bool, Bool, I64]);
const BOX: Kind = Struct(&[Double; 8]);

/// The header of a page: `PageHeader`.
pub(super) const PAGE: &[Kind] = &[I32, I32, I32, I32, DATA, EMPTY, Struct(&[I32, I32, Bool]), DATA_V2];
const DATA: Kind = Struct(&[I32, I32, I32, I32, STATISTICS]);
const DATA_V2: Kind = Struct(&[I32, I32, I32, I32, I32, I32, Bool, STATISTICS]);

/// `OffsetIndex`: where the pages of a column are.
pub(super) const OFFSET_INDEX: &[Kind] = &[List(&Struct(&[I64, I32, I64])), NUMBERS];
