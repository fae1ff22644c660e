//! What samples of archives are labelled with, and where what is beside their images lies, wherever the archives do.

use super::scan::{Found, WantedMembers};
use crate::error::{Result, bail};
use crate::field::{Field, FieldValue};
use crate::label::Label;
use crate::source::Source;
use crate::source::classes::Classes;
use crate::source::field_values::SourceFields;
use crate::source::packed::holds::Described;
use crate::source::packed::{Held, Parts};

/// What is known of the samples beside where their images lie.
#[derive(Clone, Debug)]
pub(in crate::source) struct Samples {
    pub(in crate::source) classes: Classes,
    pub(in crate::source) fields: SourceFields,
    pub(in crate::source) held: Held,
    /// Offset and length of the member of each field, record by record.
    members: Vec<Option<[u64; 2]>>,
}

impl Samples {
    /// None yet, of archives of this description, and the members to look for: those of the fields that are `asked` for, or
    /// else of those that the description names.
    ///
    /// # Errors
    /// Fields that cannot be.
    pub(in crate::source) fn of(
        described: &Described,
        asked: Option<Vec<Field>>,
    ) -> Result<(Self, WantedMembers)> {
        let fields = SourceFields::new(&described.fields(asked), "member with the ending")?;
        let lower = |ending: &str| ending.to_lowercase();
        let mut endings: Vec<String> = fields.list.iter().map(|field| lower(field.stored_as())).collect();
        endings.extend(described.holds.masks.as_deref().map(lower));
        let read = described.holds.objects.as_deref().map(lower);
        let (classes, held) = (Classes::default(), Held::of(described));
        let wanted = WantedMembers { endings, read, ..WantedMembers::default() };
        Ok((Self { classes, fields, held, members: Vec::new() }, wanted))
    }

    /// Adds a sample; the path of its image in the archive comes back, and the offset and the number of its bytes.
    ///
    /// # Errors
    /// The path, and what is wrong with the objects that the sample says.
    pub(in crate::source) fn push(&mut self, found: Found) -> Result<(String, [u64; 2]), String> {
        let Found { path, offset, bytes, classes, mut members, json } = found;
        self.classes.push(classes);
        let count = self.fields.list.len();
        let mask = members.drain(count.min(members.len())..).next().flatten();
        self.members.append(&mut members);
        match self.held.push(json.as_deref(), mask) {
            Ok(()) => Ok((path, [offset, bytes])),
            Err(what) => Err(format!("{path}: {what}")),
        }
    }

    /// Ends the samples; `described` is what the manifest says of them.
    ///
    /// # Errors
    /// A field that no sample has, which most likely is a misspelt one; those of [`Held::finish`].
    pub(in crate::source) fn finish(&mut self, described: Described, wanted: &WantedMembers) -> Result<()> {
        let fields = &self.fields;
        let is_there = |number: &usize| {
            self.members.iter().skip(*number).step_by(fields.list.len()).any(Option::is_some)
        };
        match (0..fields.list.len()).find(|number| !is_there(number)) {
            None => {}
            Some(number) if wanted.met.contains(&wanted.endings[number]) => bail!(
                "{}: no image has a member `.{}` next to it: the members of a sample must follow each other, as they do \
                 when the archive is packed in the order of names (tar --sort=name)",
                fields.list[number],
                wanted.endings[number]
            ),
            Some(number) => {
                bail!("{}", fields.unknown(&fields.list[number], wanted.met.iter().map(String::as_str)))
            }
        }
        self.held.finish(&described, "member with the ending")?;
        self.classes.names = described.classes;
        self.classes.shrink();
        self.members.shrink_to_fit();
        Ok(())
    }

    /// The objects of a sample, or else its classes.
    pub(in crate::source) fn label(&self, index: usize) -> Label {
        self.held.label(index, &self.classes)
    }

    /// See [`Source::values`]; `source` is the source of these samples, and `parts` what its archives are read by.
    pub(in crate::source) fn values(
        &self,
        source: &impl Source,
        parts: &impl Parts,
        index: usize,
        values: &mut Vec<FieldValue>,
    ) -> Result<()> {
        let (fields, mut bytes) = (&self.fields, Vec::new());
        fields.fill(source, index, values, |number, field| {
            let Some(range) = self.members[index * fields.list.len() + number] else { return Ok(None) };
            fields.check_stored(field, range[1], parts.max_file_bytes())?;
            parts.read_beside(index, range, &mut bytes)?;
            Ok(Some(field.parse(&bytes)?))
        })
    }
}
