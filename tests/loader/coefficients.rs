//! Files of coefficients through the whole pipeline: every recipe makes of them what it makes of their JPEGs.

use feedline::coefficients::{Converter, Profile};
use feedline::error::Result;
use feedline::image::Limits;
use feedline::label::{Label, Object, Objects, Unit};
use feedline::loader::{Batch, Loader};
use feedline::policy::DecodeScale;
use feedline::recipe::Recipe;
use feedline::source::{Folder, Memory, Source};

/// Some photographs as they are and as their coefficients, with what recipes of any task want of a label.
fn sources(objects: bool) -> [Memory; 2] {
    let photos = Folder::open("data/photos").unwrap();
    let mut converter = Converter::new(&Limits::default(), Profile::Small);
    let mut records = [Vec::new(), Vec::new()];
    for index in (0..photos.len()).step_by(8) {
        let (mut jpeg, mut file) = (Vec::new(), Vec::new());
        photos.read(index, &mut jpeg).unwrap();
        if converter.convert(&jpeg, &mut file).is_err() {
            continue;
        }
        let bbox = [0.2, 0.2, 0.8, 0.7];
        let object = Object { bbox, ..Object::default() };
        let label = match objects {
            true => Label::Objects(
                Objects { unit: Unit::Normalized, list: vec![object], ..Objects::default() }.into(),
            ),
            false => photos.label(index),
        };
        let key = photos.key(index).into_owned();
        records[0].push((key.clone(), jpeg, label.clone()));
        records[1].push((key, file, label));
    }
    assert!(records[0].len() >= 5);
    records.map(Memory::new)
}

fn batches(loader: &Loader) -> Vec<Batch> {
    loader.epoch(3).collect::<Result<_>>().unwrap()
}

#[test]
fn every_recipe_makes_the_batches_that_it_makes_of_the_jpegs() {
    let mut compared = 0;
    for (number, name) in Recipe::names().enumerate() {
        let recipe = Recipe::built_in(name).unwrap();
        let scale = [DecodeScale::Exact, DecodeScale::Fast][number % 2];
        let loaders = sources(name.contains("yolo") || name.contains("det")).map(|source| {
            let builder = Loader::builder(source).recipe(&recipe).batch_size(4).workers(2);
            builder.decode_scale(scale).build()
        });
        let [Ok(jpegs), Ok(coefficients)] = loaders else {
            // A recipe that wants labels of another kind says so of both.
            let [jpegs, coefficients] = loaders.map(|loader| loader.err().map(|error| error.to_string()));
            assert_eq!(jpegs, coefficients, "{name}");
            continue;
        };
        for (wanted, found) in batches(&jpegs).iter().zip(batches(&coefficients)) {
            for view in 0..jpegs.view_count().max(1) {
                let [wanted, found] = [wanted, &found].map(|batch| batch.view(view).unwrap().images());
                assert!(wanted == found, "{name} {scale:?} view {view}");
                compared += wanted.len();
            }
        }
    }
    assert!(compared > 10_000_000, "{compared}");
}
