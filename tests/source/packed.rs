//! What shards hold beside images and classes: objects, masks and fields come back as they were.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use crate::fields::{all, cause, refused};
use feedline::augment::Resize;
use feedline::error::Result;
use feedline::field::{Field, FieldType, FieldValue};
use feedline::image::{Limits, decode_mask};
use feedline::label::{Keypoint, Label, Object, Objects, Skeleton, Unit};
use feedline::loader::Loader;
use feedline::options::{DataOptions, Kind};
use feedline::pack::{Format, HeldField, Holds, Manifest, Pack};
use feedline::source::{self, Memory, Shards, Source, TfRecord};
use feedline_test_support::png;
use std::borrow::Cow;
use std::path::Path;
use std::sync::Arc;

/// Records with everything that there may be of one.
#[derive(Clone)]
struct Whole {
    records: Vec<(String, Vec<u8>, Label)>,
    masks: Vec<Option<Vec<u8>>>,
    fields: Vec<Field>,
    values: Vec<Vec<FieldValue>>,
    classes: Vec<String>,
}

impl Source for Whole {
    fn len(&self) -> usize {
        self.records.len()
    }
    fn read(&self, index: usize, bytes: &mut Vec<u8>) -> Result<()> {
        bytes.clone_from(&self.records[index].1);
        Ok(())
    }
    fn key(&self, index: usize) -> Cow<'_, str> {
        Cow::Borrowed(&self.records[index].0)
    }
    fn label(&self, index: usize) -> Label {
        self.records[index].2.clone()
    }
    fn has_masks(&self) -> bool {
        !self.masks.is_empty()
    }
    fn mask(&self, index: usize, bytes: &mut Vec<u8>) -> Result<bool> {
        let mask = self.masks.get(index).and_then(Option::as_ref);
        bytes.clone_from(mask.unwrap_or(&Vec::new()));
        Ok(mask.is_some())
    }
    fn fields(&self) -> &[Field] {
        &self.fields
    }
    fn values(&self, index: usize, values: &mut Vec<FieldValue>) -> Result<()> {
        values.clone_from(&self.values[index]);
        Ok(())
    }
    fn classes(&self) -> &[String] {
        &self.classes
    }
}

/// Numbers that look random: xorshift.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, count: u64) -> usize {
        (self.next() >> 20) as usize % count as usize
    }

    /// Any finite bits, or a number such as labels have.
    fn f32(&mut self) -> f32 {
        let any = f32::from_bits((self.next() >> 11) as u32);
        let usual = (self.next() >> 40) as f32 / 1e4;
        if any.is_finite() && self.below(2) == 0 { any } else { usual }
    }

    fn bbox(&mut self) -> [f32; 4] {
        let [a, b, c, d] = [self.f32(), self.f32(), self.f32(), self.f32()];
        [a.min(c), b.min(d), a.max(c), b.max(d)]
    }

    fn object(&mut self, keypoints: u64) -> Object {
        let points = |random: &mut Self, count| (0..count).map(|_| [random.f32(), random.f32()]).collect();
        let point = |random: &mut Self| Keypoint {
            x: random.f32(),
            y: random.f32(),
            visibility: random.below(3) as f32,
        };
        let (parts, has_points) = (self.below(3), self.below(2) == 0);
        Object {
            class: [0, 1, 2, 77, i64::from(u32::MAX)][self.below(5)],
            bbox: self.bbox(),
            polygons: (0..parts).map(|_| points(self, 3 + parts)).collect(),
            keypoints: (0..if has_points { keypoints } else { 0 }).map(|_| point(self)).collect(),
            crowd: self.below(4) == 0,
        }
    }
}

fn grey(width: u32, levels: &[u8]) -> Vec<u8> {
    let mut file = Vec::new();
    let mut encoder = ::png::Encoder::new(&mut file, width, levels.len() as u32 / width);
    encoder.set_color(::png::ColorType::Grayscale);
    encoder.write_header().unwrap().write_image_data(levels).unwrap();
    file
}

/// 200 records of every kind of label, most with a mask, all with a value of every type.
fn whole() -> Whole {
    let mut random = Random(0x9E37_79B9_7F4A_7C15);
    let skeleton = Arc::new(Skeleton { count: 3, flip: vec![1, 0, 2] });
    let fields = [
        ("caption", FieldType::Text),
        ("Ünusual/Name", FieldType::Bytes),
        ("about", FieldType::Json),
        ("count", FieldType::Integer),
        ("score", FieldType::Float),
        ("image/depth", FieldType::Float),
        ("ids", FieldType::Integers),
    ];
    let mut fields = fields.map(|(name, kind)| Field::new(name, kind)).to_vec();
    fields.push(Field::floats("embedding").length(3));
    let classes = ["cat", "", "dog"].map(str::to_owned).to_vec();
    let mut whole = Whole { records: Vec::new(), masks: Vec::new(), fields, values: Vec::new(), classes };
    for number in 0..200u32 {
        let label = match number % 5 {
            0 => Label::Class(2),
            1 => Label::Unlabelled,
            _ => {
                let unit = if number % 2 == 0 { Unit::Pixels } else { Unit::Normalized };
                let count = random.below(4);
                let mut list: Vec<Object> = (0..count).map(|_| random.object(3)).collect();
                list.extend(list.first().cloned()); // twice
                Label::Objects(Arc::new(Objects { unit, list, skeleton: Some(skeleton.clone()) }))
            }
        };
        let image = png::flat([number as u8, 5, 9], 3, 2);
        whole.records.push((format!("dir/{number} \"é\".png"), image, label));
        whole.masks.push((number % 7 != 3).then(|| grey(3, &[1, 2, number as u8, 4, 5, 255])));
        let float = f64::from_bits(random.next());
        let float = if float.is_nan() { f64::INFINITY } else { float };
        whole.values.push(vec![
            format!("line\r\n\u{0}{number}").into(),
            FieldValue::Bytes(random.next().to_le_bytes()[..number as usize % 9].to_vec()),
            FieldValue::Json(format!(" {{\"a\": [{number}, 1.10]}}")),
            (random.next() as i64).into(),
            float.into(),
            [-0.0, 5e-324, f64::MAX, f64::NEG_INFINITY, 0.1][number as usize % 5].into(),
            (0..number % 4).map(|_| random.next() as i64).collect::<Vec<i64>>().into(),
            vec![float, -0.0, f64::from(number) / 3.0].into(),
        ]);
    }
    whole
}

/// All numbers of a label as bits, so that -0 is not 0.
fn bits(label: &Label) -> Vec<u32> {
    let Label::Objects(objects) = label else { return Vec::new() };
    let of = |object: &Object| {
        let points = object.keypoints.iter().flat_map(|point| [point.x, point.y, point.visibility]);
        let all = object.bbox.into_iter().chain(object.polygons.iter().flatten().flatten().copied());
        all.chain(points).map(f32::to_bits).collect::<Vec<_>>()
    };
    objects.list.iter().flat_map(of).collect()
}

fn packed(out: &Path, format: Format, source: &dyn Source) -> Manifest {
    Pack::to(out).format(format).shard_records(30).run(source, &mut |_| {}).unwrap()
}

fn comes_back(format: Format, open: impl Fn(&Path) -> Box<dyn Source>) {
    let (out, whole) = (tempfile::tempdir().unwrap(), whole());
    packed(out.path(), format, &whole);
    let shards = open(out.path());
    assert_eq!((shards.len(), shards.classes()), (whole.len(), whole.classes()));
    assert!(shards.has_masks());
    let (mut own, mut back, mut numbers) = (Vec::new(), Vec::new(), 0);
    for index in 0..whole.len() {
        let (label, read) = (whole.label(index), shards.label(index));
        assert_eq!(read, label, "label {index}");
        assert_eq!(bits(&read), bits(&label), "bits of label {index}");
        numbers += bits(&label).len();
        assert_eq!(shards.mask(index, &mut back).unwrap(), whole.mask(index, &mut own).unwrap());
        assert!(own == back, "mask {index}");
    }
    assert!(numbers > 2000, "{numbers}");
    let names =
        |source: &dyn Source| source.fields().iter().map(|field| field.name().to_owned()).collect::<Vec<_>>();
    assert_eq!(names(&*shards), names(&whole));
    assert_eq!(shards.fields()[7].list_length(), Some(3));
    for (index, (read, own)) in all(&*shards).iter().zip(&whole.values).enumerate() {
        assert_eq!(read, own, "values {index}");
        for (read, own) in read.iter().zip(own) {
            let (FieldValue::Float(read), FieldValue::Float(own)) = (read, own) else { continue };
            assert_eq!(read.to_bits(), own.to_bits());
        }
    }
}

#[test]
fn labels_masks_and_fields_come_back_to_the_bit() {
    comes_back(Format::Tar, |folder| Box::new(Shards::folder(folder).unwrap()));
    comes_back(Format::TfRecord, |folder| Box::new(TfRecord::open(folder).unwrap()));
}

#[test]
fn some_of_the_shards_are_known_by_the_manifest_beside_them() {
    let (out, whole) = (tempfile::tempdir().unwrap(), whole());
    packed(out.path(), Format::Tar, &whole);
    let one = Shards::open([out.path().join("shard-000002.tar")]).unwrap();
    assert_eq!((one.len(), one.label(3), one.classes()), (30, whole.label(63), whole.classes()));
    let pattern = Shards::find(out.path().join("shard-00000[01].tar"), None).unwrap();
    assert_eq!((pattern.len(), pattern.label(42)), (60, whole.label(42)));
    let renamed = out.path().join("other.tar");
    std::fs::rename(out.path().join("shard-000003.tar"), &renamed).unwrap();
    let other = Shards::open([renamed]).unwrap();
    assert_eq!((other.label(2), other.has_masks(), other.fields().len()), (Label::Unlabelled, false, 0));
}

#[test]
fn a_data_set_of_shards_is_opened_without_an_option() {
    let (out, whole) = (tempfile::tempdir().unwrap(), whole());
    for (format, kind) in [(Format::Tar, Kind::Tar), (Format::TfRecord, Kind::TfRecord)] {
        let folder = out.path().join(kind.word());
        packed(&folder, format, &whole);
        let at = |options: DataOptions| {
            source::open(&DataOptions { path: Some(folder.clone()), ..options }).unwrap()
        };
        let opened = at(DataOptions::default());
        assert_eq!((opened.kind, opened.objects, opened.keypoints), (kind, true, 3));
        let objects = |label: &Label| if let Label::Objects(of) = label { of.list.len() } else { 0 };
        let count: usize = whole.records.iter().map(|(_, _, label)| objects(label)).sum();
        let report = opened.labels.unwrap();
        assert_eq!((report.images, report.objects), (200, count as u64));
        let background = |(_, _, label): &&(String, Vec<u8>, Label)| {
            matches!(label, Label::Objects(_)) && objects(label) == 0
        };
        assert_eq!(report.backgrounds, whole.records.iter().filter(background).count() as u64);
        let loader =
            Loader::builder_boxed(opened.source).augment(Resize::new([2, 2])).batch_size(8).build().unwrap();
        let batch = loader.epoch(0).next().unwrap().unwrap();
        assert!(batch.objects().is_some() && batch.masks().is_some() && batch.field("score").is_some());
        // A field by its name comes from where it lies; none are read if none are asked for.
        let asked: feedline::options::Fields = serde_json::from_str(r#"{"score": "float"}"#).unwrap();
        let one = at(DataOptions { fields: Some(asked), ..DataOptions::default() }).source;
        assert_eq!(all(&one)[7], whole.values[7][4..5]);
        assert!(
            at(DataOptions { fields: Some(feedline::options::Fields::default()), ..DataOptions::default() })
                .source
                .fields()
                .is_empty()
        );
    }
}

/// A record of an image of 8 x 4 pixels with one object.
fn one_object(unit: Unit) -> Whole {
    let object = Object {
        class: 1,
        bbox: [0.5, 1.0, 8.0, 3.0],
        polygons: vec![vec![[0.5, 1.0], [8.0, 1.0], [8.0, 3.0]]],
        keypoints: vec![Keypoint { x: 4.0, y: 0.1, visibility: 2.0 }],
        crowd: true,
    };
    let skeleton = Some(Arc::new(Skeleton { count: 1, flip: Vec::new() }));
    let label = Label::Objects(Arc::new(Objects { unit, list: vec![object], skeleton }));
    let levels: Vec<u8> = (0..32).map(|at| u8::from(at % 8 >= 4) + 2 * u8::from(at >= 16)).collect();
    Whole {
        records: vec![("a.png".into(), png::flat([1, 2, 3], 8, 4), label)],
        masks: vec![Some(grey(8, &levels))],
        fields: vec![Field::text("caption"), Field::float("score")],
        values: vec![vec!["x".into(), 0.5.into()]],
        classes: vec!["cat".into(), "dog".into()],
    }
}

/// The members of a tar file, by their names.
fn members(path: &Path) -> Vec<(String, Vec<u8>)> {
    let mut archive = tar::Archive::new(std::fs::File::open(path).unwrap());
    let read = |entry: std::io::Result<tar::Entry<'_, std::fs::File>>| {
        let mut entry = entry.unwrap();
        let (name, mut content) = (entry.path().unwrap().display().to_string(), Vec::new());
        std::io::Read::read_to_end(&mut entry, &mut content).unwrap();
        (name, content)
    };
    archive.entries().unwrap().map(read).collect()
}

#[test]
fn the_members_of_a_sample_are_what_the_page_says() {
    let out = tempfile::tempdir().unwrap();
    let manifest = packed(out.path(), Format::Tar, &one_object(Unit::Pixels));
    let found = members(&out.path().join("shard-000000.tar"));
    let names: Vec<&str> = found.iter().map(|(name, _)| name.as_str()).collect();
    let endings = ["png", "seg.png", "caption.txt", "score.json", "json"];
    assert_eq!(names, endings.map(|ending| format!("000000000.{ending}")));
    let said = r#"{"key":"a.png","width":8,"height":4,"unit":"pixels","objects":[{"label":1,"class":"dog","box":[0.5,1.0,8.0,3.0],"crowd":true,"polygons":[[[0.5,1.0],[8.0,1.0],[8.0,3.0]]],"keypoints":[[4.0,0.1,2.0]]}]}"#;
    assert_eq!(String::from_utf8_lossy(&found[4].1), said);
    assert_eq!((&found[2].1[..], &found[3].1[..]), (&b"x"[..], &b"0.5"[..]));
    let held = |name: &str, kind, from: &str| HeldField {
        name: name.into(),
        kind,
        from: from.into(),
        source: None,
        length: None,
    };
    let fields =
        vec![held("caption", FieldType::Text, "caption.txt"), held("score", FieldType::Float, "score.json")];
    let skeleton = Some(Skeleton { count: 1, flip: Vec::new() });
    let holds = Holds {
        class_lists: false,
        objects: Some("json".into()),
        skeleton,
        masks: Some("seg.png".into()),
        fields,
    };
    assert_eq!((manifest.holds, manifest.version), (holds, 2));
}

#[test]
fn objects_in_pixels_and_masks_shrink_with_their_images() {
    for unit in [Unit::Pixels, Unit::Normalized] {
        let out = tempfile::tempdir().unwrap();
        Pack::to(out.path()).resize(2).run(&one_object(unit), &mut |_| {}).unwrap();
        let shards = Shards::folder(out.path()).unwrap();
        let Label::Objects(objects) = shards.label(0) else { panic!("no objects") };
        let object = &objects.list[0];
        let halves = ([0.25, 0.5, 4.0, 1.5], [4.0, 0.5], [2.0, 0.05]);
        let whole = ([0.5, 1.0, 8.0, 3.0], [8.0, 1.0], [4.0, 0.1]);
        let want = if unit == Unit::Pixels { halves } else { whole };
        let point = object.keypoints[0];
        assert_eq!((object.bbox, object.polygons[0][1], [point.x, point.y]), want);
        let (mut mask, mut classes) = (Vec::new(), Vec::new());
        assert!(shards.mask(0, &mut mask).unwrap());
        let size = decode_mask(&mask, &Limits::default(), &mut classes).unwrap();
        assert_eq!(([size.width, size.height], &classes[..]), ([4, 2], &[0, 0, 1, 1, 2, 2, 3, 3][..]));
    }
}

#[test]
fn what_cannot_be_packed_is_a_bad_record() {
    let told = |source: &dyn Source| {
        let out = tempfile::tempdir().unwrap();
        let packed = Pack::to(out.path()).skip_bad(true).run(source, &mut |_| {});
        packed.unwrap_err().to_string()
    };
    let with = |change: fn(&mut Object)| {
        let mut whole = one_object(Unit::Pixels);
        let Label::Objects(objects) = &mut whole.records[0].2 else { panic!("no objects") };
        change(&mut Arc::make_mut(objects).list[0]);
        told(&whole)
    };
    let says = with(|object| object.keypoints[0].y = f32::NAN);
    assert!(says.contains("a.png: object 0: the coordinate NaN is not finite"), "{says}");
    assert!(with(|object| object.class = -1).contains("object 0: the class -1 is none"));
    let mut whole = one_object(Unit::Pixels);
    whole.masks[0] = Some(grey(4, &[0; 8]));
    let says = told(&whole);
    assert!(says.contains("its mask has 4x2 pixels and the image 8x4"), "{says}");
}

#[test]
fn other_fields_are_other_shards() {
    let (out, mut whole) = (tempfile::tempdir().unwrap(), one_object(Unit::Pixels));
    packed(out.path(), Format::Tar, &whole);
    whole.fields[1] = Field::integer("score");
    let again = Pack::to(out.path()).shard_records(30).run(&whole, &mut |_| {});
    assert!(again.unwrap_err().to_string().contains("shards with other fields"));
}

/// Shards that something else wrote, with a manifest that says no more than it must.
#[test]
fn json_that_says_no_objects_is_refused_with_the_member_and_the_remedy() {
    let folder = tempfile::tempdir().unwrap();
    let manifest =
        r#"{"kind": "feedline shards", "classes": ["a"], "holds": {"objects": "json", "masks": "seg.png"}}"#;
    std::fs::write(folder.path().join("manifest.json"), manifest).unwrap();
    let opened = |json: &str| {
        let masked: [(&str, &[u8]); 2] = [("8.jpg", b"x"), ("8.seg.png", b"m")];
        let members = [&[("7.jpg", &b"x"[..]), ("7.json", json.as_bytes())][..], &masked].concat();
        crate::write::tar(&folder.path().join("a.tar"), &members);
        Shards::folder(folder.path())
    };
    let source =
        opened(r#"{"unit": "normalized", "more": [1], "objects": [{"label": 0, "box": [0, 0, 0.5, 1]}]}"#)
            .unwrap();
    let Label::Objects(objects) = source.label(0) else { panic!("no objects") };
    assert_eq!((objects.unit, objects.list[0].bbox), (Unit::Normalized, [0.0, 0.0, 0.5, 1.0]));
    assert!(!source.mask(0, &mut Vec::new()).unwrap());
    assert_eq!(opened("{}").unwrap().label(0), Label::Unlabelled);
    refused(opened("{"), &["a.tar/7.jpg: its JSON says no objects", "mend it"]);
    refused(opened(r#"{"objects": []}"#), &["no `unit`", "`normalized`"]);
    refused(opened(r#"{"unit": "inches", "objects": []}"#), &["unknown variant `inches`"]);
    refused(opened(r#"{"unit": "pixels", "objects": [{"label": 0}]}"#), &["missing field `box`"]);
    let of = |object: &str| opened(&format!(r#"{{"unit": "pixels", "objects": [{object}]}}"#));
    refused(of(r#"{"label": -3, "box": [0, 0, 1, 1]}"#), &["object 0", "the class -3 is none"]);
    refused(of(r#"{"label": 0, "box": [0, 0, 1, 1e99]}"#), &["a.tar/7.jpg"]);
    let keypoints = r#"{"label": 0, "box": [0, 0, 1, 1], "keypoints": [[1, 1, 2]]}"#;
    refused(of(keypoints), &["it has 1 keypoints, and the manifest says 0"]);
    let later = manifest.replace(r#""classes""#, r#""version": 3, "classes""#);
    std::fs::write(folder.path().join("manifest.json"), later).unwrap();
    refused(Shards::folder(folder.path()), &["it has version 3, and 2 is known"]);
}

#[test]
fn a_mask_above_the_limit_or_of_no_record_is_an_error() {
    let out = tempfile::tempdir().unwrap();
    packed(out.path(), Format::Tar, &one_object(Unit::Pixels));
    let shards = Shards::folder(out.path()).unwrap().max_file_bytes(10);
    let error = shards.mask(0, &mut Vec::new()).unwrap_err().to_string();
    assert!(error.contains("the mask has") && error.contains("raise max_file_bytes"), "{error}");
    assert!(shards.mask(1, &mut Vec::new()).unwrap_err().to_string().contains("holds 1 records"));
    std::fs::remove_file(out.path().join("shard-000000.tar")).unwrap();
    assert!(cause(&shards, 0).contains("cannot read"));
}

#[test]
fn lists_of_classes_come_back_even_where_each_has_one() {
    let several: [&[i64]; 3] = [&[0, 2], &[], &[1]];
    for (lists, format) in
        [(&several[..], Format::Tar), (&several, Format::TfRecord), (&several[1..], Format::TfRecord)]
    {
        let out = tempfile::tempdir().unwrap();
        let record =
            |list: &&[i64]| ("a".to_owned(), png::flat([1, 2, 3], 4, 4), Label::Classes((*list).into()));
        let names = ["x", "y", "z"].map(str::to_owned).to_vec();
        let memory = Memory::new(lists.iter().map(record).collect()).with_classes(names);
        packed(out.path(), format, &memory);
        let shards: Box<dyn Source> = match format {
            Format::Tar => Box::new(Shards::folder(out.path()).unwrap()),
            _ => Box::new(TfRecord::open(out.path()).unwrap()),
        };
        assert_eq!(shards.classes(), memory.classes());
        for index in 0..memory.len() {
            assert_eq!(shards.label(index), memory.label(index), "{format:?}");
        }
    }
}

#[test]
fn classes_alone_say_nothing_of_objects() {
    let out = tempfile::tempdir().unwrap();
    let image = png::flat([1, 2, 3], 4, 4);
    let memory =
        Memory::new(vec![("a".into(), image, Label::Class(0))]).with_classes(vec!["x".into(), "y".into()]);
    let manifest = packed(out.path(), Format::TfRecord, &memory);
    assert_eq!(manifest.holds, Holds::default());
    // The manifest names classes that no record has.
    assert_eq!(TfRecord::open(out.path()).unwrap().classes(), ["x", "y"]);
}
