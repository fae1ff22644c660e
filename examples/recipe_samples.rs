//! What a recipe makes of its data, for other libraries to be compared with: `recipe_samples RECIPE EPOCHS [FOLDER]`.
//!
//! `RECIPE` is a file that names its data. For each sample of the epochs from 0 on, and each of its views, a line of JSON
//! says what was drawn: the ops, what containers chose, the partners with their ops, and the plan. With `FOLDER` the lines
//! are those of batches in their order, which say the labels and name the files in `FOLDER` that hold the pixels.

use feedline::loader::{Batch, BatchObjects, BatchView, LastBatch, Loader, MaskPlanes};
use feedline::recipe::Recipe;
use serde_json::{Value, json};
use std::fs;
use std::io::{self, Write, stdout};
use std::path::Path;

fn main() -> anyhow::Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (recipe, epochs, folder) = match &arguments[..] {
        [recipe, epochs] => (recipe, epochs.parse()?, None),
        [recipe, epochs, folder] => (recipe, epochs.parse()?, Some(Path::new(folder))),
        _ => anyhow::bail!("usage: recipe_samples RECIPE EPOCHS [FOLDER]"),
    };
    let mut recipe = Recipe::load(recipe)?;
    recipe.options.loader.last_batch = Some(LastBatch::Partial);
    if folder.is_none() {
        // What is repeated has several plans.
        recipe.options.loader.repeats = None;
    }
    let (loader, _) = Loader::open(&recipe)?;
    match folder {
        None => print_plans(&loader, epochs),
        Some(folder) => write_batches(&loader, epochs, folder),
    }
}

/// One line a view.
fn print_plans(loader: &Loader, epochs: u64) -> anyhow::Result<()> {
    let mut out = io::BufWriter::new(stdout().lock());
    for epoch in 0..epochs {
        for index in 0..loader.source().len() as u64 {
            for view in 0..loader.view_count() {
                let planned = loader.plan_view(epoch, index, view)?;
                let choices = planned.choices.iter().map(|choice| json!([choice.place, choice.chosen]));
                let partners = planned.partners.iter().map(|partner| json!([partner.index, partner.ops]));
                let line = json!({
                    "epoch": epoch, "index": index, "view": view, "key": loader.source().key(index as usize),
                    "ops": planned.ops, "choices": choices.collect::<Vec<_>>(), "plan": planned.plan,
                    "partners": partners.collect::<Vec<_>>(),
                });
                writeln!(out, "{line}")?;
            }
        }
    }
    Ok(out.flush()?)
}

/// One line a batch.
fn write_batches(loader: &Loader, epochs: u64, folder: &Path) -> anyhow::Result<()> {
    for epoch in 0..epochs {
        for batch in loader.epoch(epoch) {
            let batch = batch?;
            let name = format!("{epoch}-{}", batch.number());
            let views = batch
                .views()
                .enumerate()
                .map(|(view, made)| write_view(&batch, made, folder, &format!("{name}-{view}")));
            let views = views.collect::<io::Result<Vec<_>>>()?;
            println!("{}", json!({ "epoch": epoch, "indices": batch.indices(), "views": views }));
        }
    }
    Ok(())
}

/// Writes pixels and masks of a view; returns what they are, and its labels.
fn write_view(batch: &Batch, view: BatchView<'_>, folder: &Path, name: &str) -> io::Result<Value> {
    let write = |kind: &str, bytes: &[u8]| {
        let file = format!("{name}.{kind}");
        fs::write(folder.join(&file), bytes).map(|()| file)
    };
    let planes = view.objects().and_then(|objects| objects.masks.as_ref());
    let planes = planes.map(|masks| match &masks.planes {
        MaskPlanes::PerObject(planes) => (masks.size, planes.clone()),
        MaskPlanes::Overlap(planes) => {
            (masks.size, planes.iter().flat_map(|index| index.to_le_bytes()).collect())
        }
    });
    Ok(json!({
        "shape": view.shape(),
        "dtype": view.dtype(),
        "pixels": write("pixels", view.images())?,
        "labels": (0..batch.len()).map(|row| view.label_shares(row)).collect::<Vec<_>>(),
        "sizes": view.sizes(),
        "padding": view.padding().map(|padding| padding.iter().map(|&is| u8::from(is)).collect::<Vec<_>>())
            .map(|padding| write("padding", &padding)).transpose()?,
        "masks": view.masks().map(|masks| write("masks", masks)).transpose()?,
        "planes": planes.map(|(size, planes)| write("planes", &planes).map(|file| json!([size.height, size.width, file])))
            .transpose()?,
        "objects": view.objects().map(describe),
    }))
}

/// The arrays of a batch's objects.
fn describe(objects: &BatchObjects) -> Value {
    json!({
        "rows": objects.batch_index,
        "classes": objects.classes,
        "boxes": objects.boxes,
        "rotated": objects.rotated,
        "shares": objects.shares,
        "polygon_offsets": objects.polygon_offsets,
        "point_offsets": objects.point_offsets,
        "points": objects.points,
    })
}
