//! The defects that libjpeg-turbo goes on after.

/// A defect of a file that is decoded nonetheless. Its text is libjpeg-turbo's warning, where that gives one.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Damage {
    /// The file ends without its end marker.
    #[error("Premature end of JPEG file")]
    PrematureEnd,
    /// Bytes that belong to nothing stand before a marker.
    #[error("Corrupt JPEG data: {count} extraneous bytes before marker {marker:#04x}")]
    ExtraneousBytes {
        /// Bytes that were passed.
        count: usize,
        /// The second byte of the marker.
        marker: u8,
    },
    /// A marker came before the data were complete; what is missing is grey.
    #[error("Corrupt JPEG data: premature end of data segment")]
    PrematureEndOfSegment,
    /// Bits that are no code of the Huffman table.
    #[error("Corrupt JPEG data: bad Huffman code")]
    BadHuffmanCode,
    /// Bits that no arithmetic encoder writes.
    #[error("Corrupt JPEG data: bad arithmetic code")]
    BadArithmeticCode,
    /// Another marker than the restart marker that must come next.
    #[error("Corrupt JPEG data: found marker {found:#04x} instead of RST{expected}")]
    WrongRestartMarker {
        /// The second byte of the marker.
        found: u8,
        /// The number of the restart marker, 0 to 7.
        expected: u8,
    },
    /// The scans of a progressive file come in an order that does not add up.
    #[error("Inconsistent progression sequence for component {component} coefficient {coefficient}")]
    Progression {
        /// The component's index in the frame.
        component: usize,
        /// The coefficient in zigzag order.
        coefficient: usize,
    },
    /// A sequential scan has the parameters of a progressive one.
    #[error("Invalid SOS parameters for sequential JPEG")]
    ScanParameters,
    /// A JFIF segment of a version that does not exist.
    #[error("Warning: unknown JFIF revision number {major}.{minor:02}")]
    JfifVersion {
        /// The version before the point.
        major: u8,
        /// The version after it.
        minor: u8,
    },
    /// An Adobe segment with a transform that does not exist.
    #[error("Unknown Adobe color transform code {transform}")]
    AdobeTransform {
        /// The transform's code.
        transform: u8,
    },
    /// A defect that libjpeg-turbo passes in silence.
    #[error("{what}, of which libjpeg does not warn")]
    Unwarned {
        /// The defect.
        what: &'static str,
    },
}

impl Damage {
    /// Whether the picture may have suffered. What is left are oddities of the segments around it.
    pub fn is_serious(&self) -> bool {
        match self {
            Damage::ScanParameters | Damage::JfifVersion { .. } | Damage::AdobeTransform { .. } => false,
            Damage::PrematureEnd
            | Damage::ExtraneousBytes { .. }
            | Damage::PrematureEndOfSegment
            | Damage::BadHuffmanCode
            | Damage::BadArithmeticCode
            | Damage::WrongRestartMarker { .. }
            | Damage::Progression { .. }
            | Damage::Unwarned { .. } => true,
        }
    }

    /// The defect without its circumstances.
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Damage::PrematureEnd => "the file ends without an end marker",
            Damage::ExtraneousBytes { .. } => "bytes that belong to nothing stand before a marker",
            Damage::PrematureEndOfSegment => "a marker stands in the middle of the compressed data",
            Damage::BadHuffmanCode => "the compressed data hold a code that does not exist",
            Damage::BadArithmeticCode => "the compressed data are none that an arithmetic encoder writes",
            Damage::WrongRestartMarker { .. } => "a restart marker is missing or has the wrong number",
            Damage::Progression { .. } => "progressive scans come in an impossible order",
            Damage::ScanParameters => "a sequential scan has the parameters of a progressive one",
            Damage::JfifVersion { .. } => "a JFIF segment has a version that does not exist",
            Damage::AdobeTransform { .. } => "an Adobe segment names a transform that does not exist",
            Damage::Unwarned { what } => what,
        }
    }
}
