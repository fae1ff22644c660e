//! A data set of any kind: its records, drawn from a seed, and how they are written.

use crate::draw::Draw;
use crate::files;
use crate::write::{self, Feature, Labels, Table};
use feedline::image::parse_header;
use feedline::options::{DataOptions, Kind};
use heed::{DatabaseFlags, EnvFlags};
use serde_json::json;
use std::path::{Path, PathBuf};

/// Names of the classes, in their order.
pub(crate) const CLASSES: [&str; 3] = ["cat", "dog", "eel"];

/// One image with its label.
#[derive(Clone)]
pub(crate) struct Record {
    /// The path below the data set's folder.
    pub(crate) path: String,
    pub(crate) bytes: Vec<u8>,
    pub(crate) class: usize,
    /// Left, top, width and height of objects, as parts of the image.
    boxes: Vec<[f32; 4]>,
    /// Whether it has a semantic mask, where there are any.
    has_mask: bool,
    /// Width and height of the upright image, for labels in pixels; those of a file that is none are made up.
    size: [u32; 2],
}

/// The records of a data set and how they are stored.
pub(crate) struct DataSet {
    pub(crate) kind: Kind,
    pub(crate) records: Vec<Record>,
    /// Files that the records are divided among, where several of them share one.
    shards: usize,
    /// Whether there are semantic masks.
    pub(crate) masks: bool,
    /// The form of a list, the columns of a table: whatever a kind has in several ways.
    form: usize,
}

impl DataSet {
    pub(crate) fn draw(seed: u64) -> Self {
        let draw = &mut Draw::new(seed, "data");
        let kinds = [
            Kind::Folder,
            Kind::Folder,
            Kind::List,
            Kind::Tar,
            Kind::TfRecord,
            Kind::Lmdb,
            Kind::Parquet,
            Kind::Yolo,
            Kind::Coco,
        ];
        let kind = draw.pick(&kinds);
        let edge = draw.pick(&[24, 90, 90, 90, 180, 300]);
        // Now and then every file is sound, and now and then hardly one.
        let spoiled_in = draw.pick(&[usize::MAX, 30, 12, 12, 6, 2]);
        let count = draw.pick(&[1, 3, 8, 17, 40, 90]) + draw.below(9);
        let mut records: Vec<Record> = (0..count).map(|at| record(draw, at, edge, spoiled_in)).collect();
        records.sort_by(|one, other| one.path.cmp(&other.path));
        let apart = matches!(kind, Kind::Folder | Kind::List | Kind::Yolo | Kind::Coco);
        let masks = apart && draw.one_in(5);
        Self { kind, records, shards: draw.between(1, 3.min(count)), masks, form: draw.below(6) }
    }

    /// The same with other files in the places of the records.
    pub(crate) fn with(&self, records: Vec<Record>) -> Self {
        let Self { kind, shards, masks, form, .. } = *self;
        Self { kind, records, shards, masks, form }
    }

    /// Whether each record has a file of its own.
    pub(crate) fn has_files(&self) -> bool {
        matches!(self.kind, Kind::Folder | Kind::List | Kind::Yolo | Kind::Coco)
    }

    /// Whether a folder of files goes with the records by their keys.
    pub(crate) fn has_folder(&self) -> bool {
        matches!(self.kind, Kind::Folder | Kind::Yolo | Kind::Coco)
    }

    pub(crate) fn has_objects(&self) -> bool {
        matches!(self.kind, Kind::Yolo | Kind::Coco)
    }

    /// The files that records are read from, once the set was written to `folder`.
    pub(crate) fn containers(&self, folder: &Path) -> Vec<PathBuf> {
        let named = |ending: &str| (0..self.shards).map(|at| folder.join(shard(at, ending))).collect();
        match self.kind {
            Kind::Tar => named("tar"),
            Kind::TfRecord => named("tfrecord"),
            Kind::Parquet => named("parquet"),
            Kind::Lmdb => vec![folder.join("lmdb/data.mdb")],
            _ => self.records.iter().map(|record| folder.join(&record.path)).collect(),
        }
    }

    /// What opens the set that was written to `folder`.
    pub(crate) fn options(&self, folder: &Path) -> DataOptions {
        let (path, image_dir) = match self.kind {
            Kind::List => (folder.join(["list.txt", "list.csv", "list.jsonl"][self.form % 3]), None),
            Kind::Lmdb => (folder.join("lmdb"), None),
            Kind::Coco => (folder.join("coco.json"), Some(folder.to_owned())),
            _ => (folder.to_owned(), None),
        };
        DataOptions {
            path: Some(path),
            kind: Some(self.kind),
            image_dir,
            mask_dir: self.masks.then(|| folder.with_extension("masks")),
            allow_missing_masks: self.masks.then_some(true),
            // A class whose only files are bad is a class all the same.
            allow_empty: (self.kind == Kind::Folder).then_some(true),
            ..DataOptions::default()
        }
    }

    pub(crate) fn write(&self, folder: &Path) {
        std::fs::create_dir_all(folder).expect("a folder");
        if self.has_files() {
            self.records.iter().for_each(|record| put(&folder.join(&record.path), &record.bytes));
        }
        match self.kind {
            Kind::List => self.write_list(folder),
            Kind::Tar => self.in_shards(folder, "tar", &|file, part| {
                let images = part
                    .iter()
                    .map(|Record { path, bytes, class, .. }| (&path[..], &bytes[..], *class as i64));
                write::tar_with_classes(file, images);
            }),
            Kind::TfRecord => {
                self.in_shards(folder, "tfrecord", &|file, part| self.write_tfrecord(file, part))
            }
            Kind::Parquet => self.in_shards(folder, "parquet", &|file, part| self.write_parquet(file, part)),
            Kind::Lmdb => {
                let entries: Vec<_> =
                    self.records.iter().map(|record| (record.path.as_str(), record.bytes.clone())).collect();
                let flags = EnvFlags::empty();
                write::lmdb(&folder.join("lmdb"), flags, (None, DatabaseFlags::empty()), &entries);
            }
            Kind::Yolo => self.write_yolo(folder),
            Kind::Coco => self.write_coco(folder),
            _ => {}
        }
        if self.masks {
            self.write_masks(&folder.with_extension("masks"));
        }
    }

    fn in_shards(&self, folder: &Path, ending: &str, write: &dyn Fn(&Path, &[Record])) {
        let length = self.records.len();
        for at in 0..self.shards {
            let part = &self.records[length * at / self.shards..length * (at + 1) / self.shards];
            write(&folder.join(shard(at, ending)), part);
        }
    }

    fn write_list(&self, folder: &Path) {
        let line = |record: &Record| {
            let Record { path, class, .. } = record;
            match self.form % 3 {
                0 => format!("{path}\t{}\n", CLASSES[*class]),
                1 => format!("{class},\"{path}\"\n"),
                _ => format!("{}\n", json!({"file_name": path, "label": class})),
            }
        };
        let (name, head) =
            [("list.txt", ""), ("list.csv", "label,path\n"), ("list.jsonl", "")][self.form % 3];
        let lines: String = self.records.iter().map(line).collect();
        put(&folder.join(name), format!("{head}{lines}").as_bytes());
    }

    fn write_tfrecord(&self, file: &Path, part: &[Record]) {
        let example = |record: &Record| {
            let label = match self.form % 2 {
                0 => ("image/class/label", Feature::Number(record.class as i64)),
                _ => ("image/class/text", Feature::Bytes(CLASSES[record.class].as_bytes())),
            };
            let name = ("image/filename", Feature::Bytes(record.path.as_bytes()));
            write::example(&[name, ("image/encoded", Feature::Bytes(&record.bytes)), label])
        };
        write::tfrecord(file, &part.iter().map(example).collect::<Vec<_>>());
    }

    fn write_parquet(&self, file: &Path, part: &[Record]) {
        let as_hub = self.form.is_multiple_of(2);
        let table = Table {
            names: if as_hub { &CLASSES } else { &[] },
            rows_per_group: 7,
            rows_per_page: 1 + self.form,
            page_index: self.form < 3,
            second_version: self.form == 4,
            ..Table::default()
        };
        let rows: Vec<_> =
            part.iter().map(|record| (record.path.as_str(), Some(&record.bytes[..]))).collect();
        let classes = part.iter().map(|record| record.class);
        let labels = match as_hub {
            true => Labels::Int64(classes.map(|class| Some(class as i64)).collect()),
            false => Labels::Text(classes.map(|class| Some(CLASSES[class])).collect()),
        };
        write::parquet(file, &table, &rows, Some(("label", labels)));
    }

    fn write_yolo(&self, folder: &Path) {
        for record in &self.records {
            let line = |[left, top, width, height]: &[f32; 4]| {
                let (x, y) = (left + width / 2.0, top + height / 2.0);
                match self.form % 2 {
                    0 => format!("{} {x} {y} {width} {height}\n", record.class),
                    _ => {
                        let (right, bottom) = (left + width, top + height);
                        format!("{} {left} {top} {right} {top} {x} {bottom}\n", record.class)
                    }
                }
            };
            let lines: String = record.boxes.iter().map(line).collect();
            put(&folder.join(&record.path).with_extension("txt"), lines.as_bytes());
        }
        let list: String = self.records.iter().map(|record| format!("{}\n", record.path)).collect();
        put(&folder.join("list.txt"), list.as_bytes());
        put(
            &folder.join("data.yaml"),
            format!("train: list.txt\nnames: [{}]\n", CLASSES.join(", ")).as_bytes(),
        );
    }

    fn write_coco(&self, folder: &Path) {
        let mut objects = Vec::new();
        for (image, record) in self.records.iter().enumerate() {
            for [left, top, width, height] in &record.boxes {
                let [across, down] = record.size.map(|edge| edge as f32);
                let bbox = [left * across, top * down, width * across, height * down];
                let [x, y, w, h] = bbox;
                objects.push(json!({
                    "id": objects.len(), "image_id": image, "category_id": 10 + record.class, "bbox": bbox,
                    "segmentation": [[x, y, x + w, y, x + w / 2.0, y + h]], "area": w * h / 2.0, "iscrowd": 0,
                }));
            }
        }
        let images = self.records.iter().enumerate();
        let images: Vec<_> = images.map(|(id, record)| json!({"id": id, "file_name": record.path})).collect();
        let categories: Vec<_> =
            (10..).zip(CLASSES).map(|(id, name)| json!({"id": id, "name": name})).collect();
        let all = json!({"images": images, "annotations": objects, "categories": categories});
        put(&folder.join("coco.json"), all.to_string().as_bytes());
    }

    /// A mask for most images, as large as they were when the set was drawn.
    fn write_masks(&self, folder: &Path) {
        std::fs::create_dir_all(folder).expect("a folder");
        for record in self.records.iter().filter(|record| record.has_mask) {
            let [width, height] = record.size;
            if u64::from(width) * u64::from(height) > 1 << 20 {
                continue;
            }
            let mut bytes = Vec::new();
            let mut encoder = png::Encoder::new(&mut bytes, width, height);
            encoder.set_color(png::ColorType::Grayscale);
            let classes: Vec<u8> = (0..width * height).map(|at| (at / 7 % 5) as u8).collect();
            let mut writer = encoder.write_header().expect("a header in memory");
            writer.write_image_data(&classes).expect("classes in memory");
            writer.finish().expect("an end in memory");
            put(&folder.join(&record.path).with_extension("png"), &bytes);
        }
    }
}

fn record(draw: &mut Draw, at: usize, edge: usize, spoiled_in: usize) -> Record {
    let mut bytes = files::sound(draw, edge);
    if draw.one_in(spoiled_in) {
        bytes = files::spoiled(draw, &bytes);
    }
    let class = draw.below(CLASSES.len());
    let boxes = (0..draw.below(4)).map(|_| {
        let [left, top] = [0; 2].map(|_| draw.below(70) as f32 / 100.0);
        [left, top, 0.05 + draw.below(25) as f32 / 100.0, 0.05 + draw.below(25) as f32 / 100.0]
    });
    let boxes = boxes.collect();
    let path = format!("{}/{at:03}.jpg", CLASSES[class]);
    let size = parse_header(&bytes).map_or([50, 50], |header| {
        let upright = header.orientation.apply_size(header.size);
        [upright.width, upright.height]
    });
    Record { path, bytes, class, boxes, has_mask: !draw.one_in(4), size }
}

fn shard(at: usize, ending: &str) -> String {
    format!("train-{at:05}.{ending}")
}

fn put(path: &Path, bytes: &[u8]) {
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder).expect("a folder");
    }
    std::fs::write(path, bytes).expect("a file of the data set");
}
