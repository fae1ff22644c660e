//! The frame header (SOF) and what follows from it: the grid of blocks and MCUs of each component.

use crate::geometry::Size;
use crate::jpeg::error::{JpegError, corrupt, unsupported};

/// One colour component as the frame header describes it. All widths and heights count stored samples.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Component {
    /// The identifier by which scans refer to it.
    pub(crate) id: u8,
    /// Blocks across in an MCU (1 to 4).
    pub(crate) h: usize,
    /// Blocks down in an MCU (1 to 4).
    pub(crate) v: usize,
    /// Which quantisation table it uses.
    pub(crate) quant: usize,
    /// Columns of samples that belong to the image: the edge that fancy upsampling stops at.
    pub(crate) width: usize,
    /// Rows of samples that belong to the image.
    pub(crate) height: usize,
}

impl Component {
    /// Columns of blocks in a scan of this component alone.
    pub(crate) fn blocks_across(&self) -> usize {
        self.width.div_ceil(8)
    }

    /// Rows of blocks in a scan of this component alone.
    pub(crate) fn blocks_down(&self) -> usize {
        self.height.div_ceil(8)
    }
}

/// A checked frame header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Frame {
    /// Stored size, each side 1 to 65535.
    pub(crate) size: Size,
    /// Bits per sample: always 8.
    pub(crate) precision: u8,
    /// Whether coefficients come in several passes.
    pub(crate) progressive: bool,
    /// Whether they are coded arithmetically.
    pub(crate) arithmetic: bool,
    /// The first `count` are used.
    pub(crate) components: [Component; 4],
    /// 1, 3 or 4.
    pub(crate) count: usize,
    /// The largest `h`.
    pub(crate) h_max: usize,
    /// The largest `v`.
    pub(crate) v_max: usize,
}

impl Frame {
    /// Reads the payload of frame marker `marker` (C0 to CF without C4, C8, CC).
    pub(crate) fn parse(marker: u8, body: &[u8]) -> Result<Self, JpegError> {
        let (progressive, arithmetic) = match marker {
            0xC0 | 0xC1 => (false, false),
            0xC2 => (true, false),
            0xC9 => (false, true),
            0xCA => (true, true),
            0xC3 | 0xC7 | 0xCB | 0xCF => return unsupported("lossless coding"),
            _ => return unsupported("hierarchical coding"),
        };
        let &[precision, y1, y0, x1, x0, count, ref rest @ ..] = body else {
            return corrupt("the frame header is too short");
        };
        if precision != 8 {
            return unsupported("samples that are not 8 bits wide");
        }
        let size = Size::new(u16::from_be_bytes([x1, x0]).into(), u16::from_be_bytes([y1, y0]).into());
        if size.height == 0 {
            return unsupported("a height of zero, or one that only a DNL marker gives");
        }
        if size.width == 0 {
            return corrupt("the width is zero");
        }
        if !matches!(count, 1 | 3 | 4) {
            return unsupported("a component count other than 1, 3 or 4");
        }
        let count = usize::from(count);
        if rest.len() != count * 3 {
            return corrupt("the frame header's length does not fit its components");
        }
        let components = Default::default();
        let mut frame =
            Self { size, precision, progressive, arithmetic, components, count, h_max: 1, v_max: 1 };
        for (component, field) in frame.components.iter_mut().zip(rest.chunks_exact(3)) {
            component.id = field[0];
            (component.h, component.v) = (usize::from(field[1] >> 4), usize::from(field[1] & 15));
            component.quant = usize::from(field[2]);
        }
        frame.check_and_measure()?;
        if count == 1 {
            // A scan of one component is never interleaved, so its factors mean nothing; 1 keeps one MCU one block.
            (frame.components[0].h, frame.components[0].v, frame.h_max, frame.v_max) = (1, 1, 1, 1);
        }
        Ok(frame)
    }

    fn check_and_measure(&mut self) -> Result<(), JpegError> {
        let used = &mut self.components[..self.count];
        if used.iter().any(|c| !(1..=4).contains(&c.h) || !(1..=4).contains(&c.v)) {
            return corrupt("a sampling factor is not in 1 to 4");
        }
        self.h_max = used.iter().map(|c| c.h).max().unwrap_or(1);
        self.v_max = used.iter().map(|c| c.v).max().unwrap_or(1);
        if used.iter().any(|c| !self.h_max.is_multiple_of(c.h) || !self.v_max.is_multiple_of(c.v)) {
            return unsupported("sampling factors whose ratio is not a whole number");
        }
        for component in used {
            component.width = (self.size.width as usize * component.h).div_ceil(self.h_max);
            component.height = (self.size.height as usize * component.v).div_ceil(self.v_max);
        }
        Ok(())
    }

    /// The components that the file has.
    pub(crate) fn used(&self) -> &[Component] {
        &self.components[..self.count]
    }

    /// MCUs in a row of an interleaved scan.
    pub(crate) fn mcus_across(&self) -> usize {
        (self.size.width as usize).div_ceil(8 * self.h_max)
    }

    /// Rows of MCUs of an interleaved scan.
    pub(crate) fn mcus_down(&self) -> usize {
        (self.size.height as usize).div_ceil(8 * self.v_max)
    }
}
