//! Any bytes: the header parser answers, and what it says of a picture is within its promises.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    if let Ok(header) = feedline::jpeg::parse_header(bytes) {
        assert!((1..=65535).contains(&header.size.width) && (1..=65535).contains(&header.size.height));
        assert!(matches!(header.components, 1 | 3 | 4));
        assert_eq!(header.precision, 8);
        assert_eq!(header.sampling.factors().len(), usize::from(header.components));
    }
});
