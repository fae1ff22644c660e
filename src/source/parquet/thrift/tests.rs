//! What a file may say of itself, field by field, and what not.

use super::*;

/// A struct of these fields; each is the number of steps from the one before, the code of its type, and its bytes.
fn fields(fields: &[(u8, u8, &[u8])]) -> Vec<u8> {
    let field = |&(step, code, bytes): &(u8, u8, &[u8])| [&[step << 4 | code], bytes].concat();
    fields.iter().flat_map(field).chain([0]).collect()
}

/// A footer with a schema of these elements, and more fields after it.
fn footer(elements: &[Vec<u8>], more: &[(u8, u8, &[u8])]) -> Vec<u8> {
    let list = [&[(elements.len() as u8) << 4 | 12][..], &elements.concat()].concat();
    fields(&[&[(1, 5, &[2][..]), (1, 9, &list[..])], more].concat())
}

fn element(children: u8) -> Vec<u8> {
    fields(&[(4, 8, b"\x01a"), (1, 5, &[2 * children])])
}

/// Whether a footer is believed that has these fields of which nothing is declared.
fn is_believed(more: &[(u8, u8, &[u8])]) -> bool {
    check_footer(&footer(&[element(0)], more)).is_ok()
}

/// The number 2^31 - 1, as the length of a list has it.
const HUGE: [u8; 5] = [0xFF, 0xFF, 0xFF, 0xFF, 7];

#[test]
fn a_schema_is_a_tree_of_its_elements() {
    let check = |children: &[u8]| {
        let elements: Vec<_> = children.iter().map(|&children| element(children)).collect();
        check_footer(&footer(&elements, &[]))
    };
    check(&[2, 0, 1, 0]).unwrap();
    for children in [&[1][..], &[0, 0], &[2, 1, 0]] {
        assert!(check(children).is_err(), "{children:?}");
    }
    let negative = fields(&[(4, 8, b"\x01a"), (1, 5, &[1])]);
    assert!(check_footer(&footer(&[negative], &[])).is_err());
    let mut walk = Walk::new(&[0x48, 3, b'a', b'b', b'c', 0x15, 4, 0][..], 8);
    walk.value(12, SchemaElement, MAX_DEPTH).unwrap();
    assert!(matches!(walk.elements[..], [Element { children: 2, name_bytes: 3 }]));
}

#[test]
fn lists_have_no_more_elements_than_there_are_bytes() {
    for code in 1..=12u8 {
        let list = [&[0xF0 | code][..], &HUGE, &[0; 20]].concat();
        assert!(!is_believed(&[(15, 9, &list)]), "of the type {code}");
    }
    let bools = [&HUGE[..], &[0x11]].concat();
    assert!(!is_believed(&[(15, 11, &bools)]), "a map of booleans");
    // Each list would pass alone.
    let (list, text) = ((15, 9, &[0xA1][..]), (1, 8, &b"\x0A0123456789"[..]));
    assert!(is_believed(&[list, text]) && !is_believed(&[list, list, text]));
    let index = [&[0x19, 0xFC][..], &HUGE, &[0x16, 8, 0]].concat();
    assert!(check_offset_index(&index).is_err());
    check_offset_index(&[0x19, 0x1C, 0x16, 8, 0x15, 8, 0x16, 0, 0, 0]).unwrap();
}

#[test]
fn a_field_has_its_declared_type_and_comes_once() {
    let sound = fields(&[(1, 5, &[0]), (1, 5, &[8]), (1, 5, &[8])]);
    assert_eq!(read_header(&[&sound[..], b"rest"].concat()[..], 100).unwrap(), sound);
    // The number of a field may be written in full: here that of the second.
    let again = [&sound[..sound.len() - 1], &[5, 4], &HUGE, &[0]].concat();
    assert!(read_header(&again[..], 100).is_err());
    let as_text = fields(&[(1, 5, &[0]), (1, 8, b"\x01a"), (1, 5, &[8])]);
    assert!(read_header(&as_text[..], 100).is_err());
    // 2^32 + 8, of which the crate would keep the 8.
    let wide = fields(&[(1, 5, &[0]), (1, 5, &[8]), (1, 5, &[0x88, 0x80, 0x80, 0x80, 0x10])]);
    assert!(read_header(&wide[..], 100).is_err());
    // -2, which without its sign would be the fourth field.
    let negative = [&sound[..sound.len() - 1], &[5, 3, 8, 0]].concat();
    assert!(read_header(&negative[..], 100).is_err());
    assert!(read_header(&sound[..sound.len() - 1], 100).is_err(), "the end is not there");
}

#[test]
fn headers_may_be_long_and_say_how_long_they_may_be() {
    // The largest value of a page, as some writers have it there in full.
    let long = |bytes: usize| {
        let text = [&[0xFF, 0xFF, 0x7F][..], &vec![b'x'; bytes]].concat();
        let data = fields(&[(5, 12, &fields(&[(1, 8, &text)]))]);
        fields(&[(1, 5, &[0]), (1, 5, &[8]), (1, 5, &[8]), (2, 12, &data)])
    };
    let most = (1 << 21) + 100;
    assert_eq!(read_header(&long((1 << 21) - 1)[..], most).unwrap().len(), (1 << 21) + 14);
    let why = read_header(&long((1 << 21) - 1)[..], 1 << 20).unwrap_err().to_string();
    assert_eq!(why, "is said to have more than 1048576 bytes");
}

#[test]
fn whole_numbers_may_have_another_width() {
    // The ordinal of a row group, 2 bytes by declaration, and a number of children, 4 bytes.
    for code in [4, 5, 6] {
        let group = fields(&[(7, code, &[8])]);
        let groups = [&[0x1C][..], &group].concat();
        let parent = fields(&[(4, 8, b"\x01a"), (1, code, &[2])]);
        let two = footer(&[parent, element(0)], &[(2, 9, &groups)]);
        check_footer(&two).unwrap();
        let wide = [&[0x1C][..], &fields(&[(7, code, &[0x80, 0x80, 0x80, 1])])].concat();
        assert!(check_footer(&footer(&[element(0)], &[(2, 9, &wide)])).is_err(), "of the type {code}");
    }
}

#[test]
fn variants_of_a_union_are_structs() {
    let numbered = |number: u8, code: u8, bytes: &[u8]| [&[code, 2 * number], bytes, &[0]].concat();
    for number in 1..=40 {
        for (code, bytes) in [(1, &[][..]), (2, &[]), (5, &[0]), (8, &[0]), (9, &[0])] {
            let union = numbered(number, code, bytes);
            let logical = fields(&[(4, 8, b"\x01a"), (6, 12, &union)]);
            assert!(check_footer(&footer(&[logical], &[])).is_err(), "{number} of the type {code}");
            let orders = [&[0x1C][..], &union].concat();
            assert!(!is_believed(&[(5, 9, &orders)]), "the order {number} of the type {code}");
            let time = fields(&[(1, 1, &[]), (1, 12, &union)]);
            let time = fields(&[(4, 8, b"\x01a"), (6, 12, &numbered(7, 12, &time))]);
            assert!(check_footer(&footer(&[time], &[])).is_err(), "the unit {number} of the type {code}");
        }
        let union = numbered(number, 12, &[0]);
        let logical = fields(&[(4, 8, b"\x01a"), (6, 12, &union)]);
        check_footer(&footer(&[logical], &[(5, 9, &[&[0x1C][..], &union].concat())])).unwrap();
    }
}

#[test]
fn what_is_not_known_may_be_anything_that_is_not_too_deep() {
    let nested = |levels| [vec![0x1C; levels], vec![0; levels + 1]].concat();
    assert!(is_believed(&[(15, 12, &nested(20))]) && !is_believed(&[(15, 12, &nested(100))]));
    let all: [(u8, &[u8]); 8] = [
        (1, b""),
        (3, b"x"),
        (4, &[0x81, 1]),
        (7, &[0; 8]),
        (10, &[0x25, 2, 4]),
        (11, &[1, 0x58, 2, 1, b'x']),
        (12, &[0]),
        (13, &[0; 16]),
    ];
    for (code, bytes) in all {
        assert!(is_believed(&[(15, code, bytes)]), "the type {code}");
    }
}
