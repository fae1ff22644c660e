//! Records that Python gives: all of them in memory, or one by one by a function of Python's.

use crate::calls;
use crate::waiting::Waiting;
use feedline::error::{Cause, Error, Result};
use feedline::field::{Field, FieldType, FieldValue};
use feedline::label::Label;
use feedline::loader::Histogram;
use feedline::options::Fields;
use feedline::regular_file;
use feedline::source::Source;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use std::borrow::Cow;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Instant;

/// Records in memory, as the package's Python half hands them over.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Records {
    records: Vec<Record>,
    #[pyo3(item("about"))]
    about: About,
}

/// An object of Python's that has a record for each index.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Calls {
    /// Returns the record of an index.
    fetch: Py<PyAny>,
    length: usize,
    /// The classes, where the object has them ahead of its records.
    labels: Option<Vec<Option<Class>>>,
    #[pyo3(item("about"))]
    about: About,
}

impl Records {
    pub(crate) fn declares_fields(&self) -> bool {
        self.about.declared
    }
}

impl Calls {
    pub(crate) fn declares_fields(&self) -> bool {
        self.about.declared
    }
}

/// What all records have in common.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct About {
    /// Names of the classes.
    classes: Vec<String>,
    /// The fields, as a JSON object; none where it is empty.
    fields: String,
    /// Whether these are what was asked for, and not what the records are seen to have.
    declared: bool,
    /// Whether labels are numbers and no classes.
    fractions: bool,
}

/// Key, image, class or classes, the number that stands in place of a class, and the values of the fields.
#[derive(FromPyObject)]
struct Record(String, Image, Option<Class>, Option<f64>, Vec<Option<Value>>);

/// A compressed image.
#[derive(FromPyObject)]
enum Image {
    Bytes(PyBackedBytes),
    Path(PathBuf),
}

/// The label of a record.
#[derive(FromPyObject)]
pub(crate) enum Class {
    One(i64),
    Several(Vec<i64>),
}

/// The value of a field.
#[derive(FromPyObject)]
enum Value {
    Text(String),
    Bytes(PyBackedBytes),
    Integer(i64),
    Float(f64),
    Integers(Vec<i64>),
    Floats(Vec<f64>),
}

/// What a batch calls labels that are numbers and no classes.
pub(crate) const FRACTION: &str = "label";

impl About {
    fn fields(&self) -> Result<Vec<Field>> {
        let read = serde_json::from_str::<Fields>(&self.fields);
        let mut fields = read.map_err(|error| Error::config(format!("option fields: {error}")))?.0;
        if self.fractions {
            fields.push(Field::float(FRACTION).default(f64::NAN));
        }
        Ok(fields)
    }
}

/// What a source has of a record.
struct Entry {
    key: String,
    image: Image,
    label: Label,
    values: Vec<FieldValue>,
}

impl Record {
    fn entry(self, fields: &[Field]) -> Result<Entry, String> {
        let Self(key, image, class, fraction, values) = self;
        let fraction = fraction.map(Value::Float);
        let values = values.into_iter().chain([fraction]).zip(fields);
        let values = values.map(|(value, field)| checked(field, value)).collect::<Result<_, _>>()?;
        Ok(Entry { key, image, label: label(class)?, values })
    }
}

/// A value as the field has it.
fn checked(field: &Field, value: Option<Value>) -> Result<FieldValue, String> {
    let Some(value) = value else {
        return field.default_value().cloned().ok_or_else(|| {
            format!("{field} is missing: give it in the record, or give the field a default")
        });
    };
    let value = match (field.kind(), value) {
        (FieldType::Text, Value::Text(text)) => FieldValue::Text(text),
        (FieldType::Json, Value::Text(text)) => FieldValue::Json(text),
        (FieldType::Bytes | FieldType::Image | FieldType::Depth, Value::Bytes(bytes)) => {
            FieldValue::Bytes(bytes.to_vec())
        }
        (FieldType::Integer, Value::Integer(number)) => FieldValue::Integer(number),
        (FieldType::Float, Value::Integer(number)) => FieldValue::Float(number as f64),
        (FieldType::Float, Value::Float(number)) => FieldValue::Float(number),
        (FieldType::Integers, Value::Integers(list)) => FieldValue::Integers(list),
        (FieldType::Floats, Value::Floats(list)) => FieldValue::Floats(list),
        (FieldType::Floats, Value::Integers(list)) => {
            FieldValue::Floats(list.into_iter().map(|number| number as f64).collect())
        }
        (kind, _) => {
            return Err(format!(
                "{field} is {kind}, and the value is of another type: give one of that type"
            ));
        }
    };
    match (field.list_length(), value.list_len()) {
        (Some(length), Some(found)) if length != found => Err(format!(
            "{field} has {found} numbers, and length = {length}: mend it, or leave length out for lists of any length"
        )),
        _ => Ok(value),
    }
}

/// What lists of files take is taken here too.
fn label(class: Option<Class>) -> Result<Label, String> {
    let wrong =
        |class: i64| Err(format!("the label {class} is no class: use indices from 0, or None for none"));
    match class {
        None => Ok(Label::Unlabelled),
        Some(Class::One(class)) if class < -1 => wrong(class),
        Some(Class::One(class)) => Ok(Label::Class(class)),
        Some(Class::Several(mut classes)) => {
            classes.sort_unstable();
            if let Some(&class) = classes.first().filter(|class| **class < 0) {
                return wrong(class);
            }
            match classes.windows(2).find(|two| two[0] == two[1]) {
                None => Ok(Label::Classes(classes.into())),
                Some(two) => Err(format!(
                    "the class `{}` is there twice in one list: list the classes that an image has, each once; a number for \
                     every class is a list of bools or of floats",
                    two[0]
                )),
            }
        }
    }
}

impl Image {
    /// Replaces the content of `bytes` by the image's file.
    fn read(&self, max_file_bytes: u64, bytes: &mut Vec<u8>) -> Result<(), Cause> {
        bytes.clear();
        match self {
            Image::Bytes(own) => bytes.extend_from_slice(own),
            Image::Path(path) => read_file(path, max_file_bytes, bytes)?,
        }
        Ok(())
    }
}

fn read_file(path: &Path, max_file_bytes: u64, bytes: &mut Vec<u8>) -> Result<(), Cause> {
    let named = |error: io::Error| match error.kind() {
        io::ErrorKind::InvalidInput => format!("{} is no file: give the path of an image", path.display()),
        _ => format!("{}: {error}", path.display()),
    };
    let too_large = |size: u64| {
        format!(
            "{} has {size} bytes, which is above max_file_bytes = {max_file_bytes}: raise max_file_bytes or take it out of the \
             data",
            path.display()
        )
    };
    let (file, size) = regular_file::open_sized(path).map_err(named)?;
    if size > max_file_bytes {
        return Err(too_large(size).into());
    }
    bytes.reserve(size as usize);
    // One byte beyond the bound shows that a file has grown meanwhile.
    let read = file.take(max_file_bytes.saturating_add(1)).read_to_end(bytes).map_err(named)? as u64;
    if read > max_file_bytes { Err(too_large(read).into()) } else { Ok(()) }
}

/// Records that are all there.
pub(crate) struct InMemory {
    entries: Vec<Entry>,
    classes: Vec<String>,
    fields: Vec<Field>,
    max_file_bytes: u64,
}

impl InMemory {
    pub(crate) fn new(Records { records, about }: Records, max_file_bytes: u64) -> Result<Self> {
        let fields = about.fields()?;
        let entry = |record: Record| {
            let key = record.0.clone();
            record.entry(&fields).map_err(|what| Error::config(format!("{key}: {what}")))
        };
        let entries = records.into_iter().map(entry).collect::<Result<_>>()?;
        Ok(Self { entries, classes: about.classes, fields, max_file_bytes })
    }

    fn entry(&self, index: usize) -> Result<&Entry> {
        self.entries.get(index).ok_or_else(|| no_record(index, self.entries.len()))
    }
}

fn no_record(index: usize, len: usize) -> Error {
    Error::sample("no record", index as u64, format!("there are {len} records, counted from 0"))
}

impl Source for InMemory {
    fn len(&self) -> usize {
        self.entries.len()
    }

    fn read(&self, index: usize, bytes: &mut Vec<u8>) -> Result<()> {
        bytes.clear();
        let entry = self.entry(index)?;
        let read = entry.image.read(self.max_file_bytes, bytes);
        read.map_err(|cause| Error::sample(&entry.key, index as u64, cause))
    }

    fn key(&self, index: usize) -> Cow<'_, str> {
        Cow::Borrowed(self.entries.get(index).map_or("", |entry| &entry.key))
    }

    fn path(&self, index: usize) -> Option<&Path> {
        match &self.entries.get(index)?.image {
            Image::Path(path) => Some(path),
            Image::Bytes(_) => None,
        }
    }

    fn label(&self, index: usize) -> Label {
        self.entries.get(index).map_or(Label::Unlabelled, |entry| entry.label.clone())
    }

    fn fields(&self) -> &[Field] {
        &self.fields
    }

    fn values(&self, index: usize, values: &mut Vec<FieldValue>) -> Result<()> {
        values.clear();
        values.extend_from_slice(&self.entry(index)?.values);
        Ok(())
    }

    fn classes(&self) -> &[String] {
        &self.classes
    }
}

/// Records that a function of Python's returns.
pub(crate) struct Called {
    fetch: Py<PyAny>,
    length: usize,
    labels: Option<Vec<Label>>,
    classes: Vec<String>,
    fields: Vec<Field>,
    max_file_bytes: u64,
    /// What is known of each record since it was read.
    met: Box<[OnceLock<Met>]>,
    waiting: Mutex<Waiting>,
    timing: Arc<Histogram>,
}

/// What is known of a record once it was read.
struct Met {
    key: String,
    path: Option<PathBuf>,
    label: Label,
}

impl Called {
    /// `timing` counts the calls.
    pub(crate) fn new(calls: Calls, max_file_bytes: u64, timing: Arc<Histogram>) -> Result<Self> {
        let Calls { fetch, length, labels, about } = calls;
        let named = |(at, class)| label(class).map_err(|what| Error::config(format!("record {at}: {what}")));
        let labels = labels.map(|labels| labels.into_iter().enumerate().map(named).collect()).transpose()?;
        Ok(Self {
            fetch,
            length,
            labels,
            fields: about.fields()?,
            classes: about.classes,
            max_file_bytes,
            met: (0..length).map(|_| OnceLock::new()).collect(),
            waiting: Mutex::default(),
            timing,
        })
    }

    /// Calls the function; Python's lock is held meanwhile, and not while a file is read.
    fn fetch(&self, index: usize) -> Result<Entry> {
        let Some(met) = self.met.get(index) else { return Err(no_record(index, self.length)) };
        let started = Instant::now();
        let record = calls::call(|py| {
            let fetched = self.fetch.bind(py).call1((index,)).and_then(|record| record.extract::<Record>());
            fetched.map_err(|error| Raised::new(py, error))
        });
        self.timing.record(started.elapsed());
        let bad = |cause: Cause| Error::sample(format!("record {index}"), index as u64, cause);
        let record = match record {
            None => return Err(bad("Python is ending: close the loader before".into())),
            Some(Err(raised)) => return Err(bad(Box::new(raised))),
            Some(Ok(record)) => record,
        };
        let key = record.0.clone();
        let entry = record.entry(&self.fields);
        let entry = entry.map_err(|what| Error::sample(key, index as u64, what))?;
        let known = met.get_or_init(|| Met {
            key: entry.key.clone(),
            path: match &entry.image {
                Image::Path(path) => Some(path.clone()),
                Image::Bytes(_) => None,
            },
            label: entry.label.clone(),
        });
        let refused = |what: &str| Err(Error::sample(&entry.key, index as u64, what));
        if known.label != entry.label || known.key != entry.key {
            return refused(
                "it has another label or key than when it was first read: return the same ones for an index each time",
            );
        }
        let ahead = self.labels.as_ref().and_then(|labels| labels.get(index));
        if ahead.is_some_and(|ahead| *ahead != entry.label && entry.label != Label::Unlabelled) {
            return refused(
                "its label is not the one that `targets` of the data has: make both the same, or remove `targets`",
            );
        }
        Ok(entry)
    }

    fn met(&self, index: usize) -> Option<&Met> {
        self.met.get(index)?.get()
    }

    fn waiting(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Source for Called {
    fn len(&self) -> usize {
        self.length
    }

    fn read(&self, index: usize, bytes: &mut Vec<u8>) -> Result<()> {
        bytes.clear();
        let Entry { key, image, values, .. } = self.fetch(index)?;
        if !self.fields.is_empty() {
            self.waiting().keep(index, values);
        }
        image.read(self.max_file_bytes, bytes).map_err(|cause| Error::sample(key, index as u64, cause))
    }

    fn key(&self, index: usize) -> Cow<'_, str> {
        match self.met(index) {
            Some(met) => Cow::Borrowed(&met.key),
            None => Cow::Owned(format!("record {index}")),
        }
    }

    fn path(&self, index: usize) -> Option<&Path> {
        self.met(index)?.path.as_deref()
    }

    fn label(&self, index: usize) -> Label {
        match (&self.labels, self.met(index)) {
            (Some(labels), _) => labels.get(index).cloned().unwrap_or_default(),
            (None, Some(met)) => met.label.clone(),
            (None, None) => Label::Unlabelled,
        }
    }

    fn fields(&self) -> &[Field] {
        &self.fields
    }

    fn values(&self, index: usize, values: &mut Vec<FieldValue>) -> Result<()> {
        let known = self.waiting().take(index);
        *values = match known {
            Some(known) => known,
            None => self.fetch(index)?.values,
        };
        Ok(())
    }

    fn classes(&self) -> &[String] {
        &self.classes
    }

    fn is_known_ahead(&self) -> bool {
        false
    }
}

/// An exception that Python code raised while a record was fetched.
#[derive(Debug)]
struct Raised {
    error: PyErr,
    /// Its first line, which can be told without Python's lock.
    text: String,
}

impl Raised {
    fn new(py: Python<'_>, error: PyErr) -> Self {
        let kind = error.get_type(py).name().map_or_else(|_| "an exception".into(), |name| name.to_string());
        let text = error.value(py).to_string();
        let text = format!("{kind}: {}", text.lines().next().unwrap_or_default());
        Self { error, text }
    }
}

impl std::fmt::Display for Raised {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "its __getitem__ raised {}", self.text)
    }
}

impl std::error::Error for Raised {}

/// The exception that an error of a record is about, if there is one.
pub(crate) fn raised<'a>(cause: &'a (dyn std::error::Error + Send + Sync + 'static)) -> Option<&'a PyErr> {
    cause.downcast_ref::<Raised>().map(|raised| &raised.error)
}

/// Values as JSON that Python's half shows among the figures.
pub(crate) fn timing_json(timing: &Histogram) -> PyResult<serde_json::Value> {
    serde_json::to_value(timing.timing()).map_err(|error| PyRuntimeError::new_err(error.to_string()))
}
