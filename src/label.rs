//! What a sample is labelled with.

/// The label of one record.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub enum Label {
    /// The source knows none.
    #[default]
    Unlabelled,
    /// Index of the class.
    Class(i64),
}

impl Label {
    /// The class index, or -1 where there is none.
    pub fn class(&self) -> i64 {
        match self {
            Label::Class(class) => *class,
            Label::Unlabelled => -1,
        }
    }
}
