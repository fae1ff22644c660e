//! NumPy's `.npy` files, version 1.0, C order: what the commands write pixels into.

use anyhow::Context;
use feedline::atomic_file::write_file;
use feedline::output::DType;
use std::path::Path;

/// NumPy aligns the data to this many bytes, so that it can be mapped into memory.
const ALIGNMENT: usize = 64;

/// Writes `data` as an array of `shape`; bf16, which NumPy lacks, is written as its bits in `u2`.
pub(crate) fn write(path: &Path, dtype: DType, shape: &[usize], data: &[u8]) -> anyhow::Result<()> {
    let mut bytes = header(dtype, shape);
    bytes.extend_from_slice(data);
    make_folder(path)?;
    write_file(path, |file| file.write_all(&bytes)).with_context(|| {
        format!("{} cannot be written: check that its folder exists and can be written to", path.display())
    })
}

/// Makes the folder that `path` is to lie in, if it is not there.
pub(crate) fn make_folder(path: &Path) -> anyhow::Result<()> {
    match path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        Some(folder) => std::fs::create_dir_all(folder)
            .with_context(|| format!("the folder {} cannot be made: choose another place", folder.display())),
        None => Ok(()),
    }
}

fn header(dtype: DType, shape: &[usize]) -> Vec<u8> {
    // Values are little-endian, as on every machine that the crate is built for.
    let descr = match dtype {
        DType::U8 => "|u1",
        DType::F16 => "<f2",
        DType::Bf16 => "<u2",
        DType::F32 => "<f4",
    };
    let axes: String = shape.iter().map(|length| format!("{length}, ")).collect();
    let text = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': ({}), }}", axes.trim_end());
    let magic = b"\x93NUMPY\x01\x00";
    let before = magic.len() + size_of::<u16>();
    let length = (before + text.len() + 1).next_multiple_of(ALIGNMENT) - before;
    let padded = format!("{text:<0$}\n", length - 1);
    [magic, &(length as u16).to_le_bytes()[..], padded.as_bytes()].concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_header_fills_whole_lines_of_64_bytes_and_says_its_own_length() {
        for shape in [&[1, 2, 3][..], &[65_535, 65_535, 3], &[7]] {
            let bytes = header(DType::F32, shape);
            assert_eq!(bytes.len() % ALIGNMENT, 0);
            assert_eq!(usize::from(u16::from_le_bytes([bytes[8], bytes[9]])), bytes.len() - 10);
            assert_eq!(bytes.last(), Some(&b'\n'));
        }
        let text = String::from_utf8_lossy(&header(DType::U8, &[2, 5, 3])).into_owned();
        assert!(text.contains("'descr': '|u1', 'fortran_order': False, 'shape': (2, 5, 3,), }"), "{text}");
    }
}
