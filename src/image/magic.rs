//! The format of a file, from its first bytes.

use super::error::ImageError;
use super::{Format, png, pnm, webp};
use crate::coefficients::is_coefficients;

/// The format of a file that can be decoded.
///
/// # Errors
/// An image of another format, with its name, or not an image.
pub(super) fn format(bytes: &[u8]) -> Result<Format, ImageError> {
    if bytes.starts_with(b"\xFF\xD8") {
        return Ok(Format::Jpeg);
    }
    if bytes.starts_with(&png::SIGNATURE) {
        return Ok(Format::Png);
    }
    if is_coefficients(bytes) {
        return Ok(Format::Coefficients);
    }
    if webp::is_webp(bytes) {
        return Ok(Format::WebP);
    }
    if pnm::is_pnm(bytes) {
        return Ok(Format::Pnm);
    }
    match unsupported(bytes) {
        Some(format) => Err(ImageError::Unsupported { format }),
        None => Err(ImageError::NotAnImage { found: impression(bytes) }),
    }
}

/// The name of a known format that is not decoded.
fn unsupported(bytes: &[u8]) -> Option<&'static str> {
    let fixed: [(&[u8], &str); 14] = [
        (b"GIF87a", "GIF"),
        (b"GIF89a", "GIF"),
        (b"II*\0", "TIFF"),
        (b"MM\0*", "TIFF"),
        (b"II+\0", "BigTIFF"),
        (b"MM\0+", "BigTIFF"),
        (b"\xFF\x0A", "JPEG XL"),
        (b"\0\0\0\x0CJXL \r\n\x87\n", "JPEG XL"),
        (b"\0\0\0\x0CjP  \r\n\x87\n", "JPEG 2000"),
        (b"\xFF\x4F\xFF\x51", "JPEG 2000"),
        (b"8BPS", "a Photoshop document"),
        (b"v/1\x01", "OpenEXR"),
        (b"#?RADIANCE", "Radiance HDR"),
        (b"qoif", "QOI"),
    ];
    let named = fixed.iter().find(|(magic, _)| bytes.starts_with(magic)).map(|(_, name)| *name);
    named.or_else(|| media_container(bytes)).or_else(|| weak_magic(bytes))
}

/// HEIF and AVIF share a container and differ by the brand in its first box.
fn media_container(bytes: &[u8]) -> Option<&'static str> {
    if bytes.get(4..8)? != b"ftyp" {
        return None;
    }
    match bytes.get(8..12)? {
        b"avif" | b"avis" => Some("AVIF"),
        b"heic" | b"heix" | b"heim" | b"heis" | b"hevc" | b"hevx" | b"mif1" | b"msf1" => Some("HEIF"),
        _ => None,
    }
}

/// Formats whose two-letter signature could begin any text.
fn weak_magic(bytes: &[u8]) -> Option<&'static str> {
    let known_bitmap_header = |size: &[u8]| matches!(size, [12 | 40 | 52 | 56 | 64 | 108 | 124, 0, 0, 0]);
    if bytes.starts_with(b"BM") && bytes.get(14..18).is_some_and(known_bitmap_header) {
        return Some("BMP");
    }
    match bytes {
        [b'P', kind, next, ..] if next.is_ascii_whitespace() => match kind {
            b'1' | b'4' => Some("PBM, of one bit a pixel"),
            b'2' | b'3' => Some("PNM of numbers in text (P2 or P3)"),
            b'7' => Some("PAM"),
            b'f' | b'F' => Some("PFM, of floating-point levels"),
            _ => None,
        },
        _ => None,
    }
}

/// A description of bytes that do not begin an image.
fn impression(bytes: &[u8]) -> &'static str {
    let head = &bytes[..bytes.len().min(512)];
    if head.is_empty() {
        return "the file is empty";
    }
    if head.iter().all(|&byte| byte == 0) {
        return "it begins with zeros, as a copy that was cut off leaves them";
    }
    let is_text = |&byte: &u8| byte >= 0x20 && byte != 0x7F || byte.is_ascii_whitespace();
    let as_utf8 = match std::str::from_utf8(head) {
        Ok(_) => true,
        // A character may be cut at the end of the head.
        Err(error) => error.error_len().is_none(),
    };
    match as_utf8 && head.iter().all(is_text) {
        true if head.trim_ascii_start().starts_with(b"<") => "it holds a web page or other markup",
        true => "it holds text",
        false => "its first bytes are those of no known format",
    }
}
