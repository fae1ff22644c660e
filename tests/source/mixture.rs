//! Mixtures: whose record it is, what its class is called, and which fields and masks it has.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use feedline::error::Error;
use feedline::field::{Field, FieldValue};
use feedline::label::{Label, Object, Objects, Skeleton};
use feedline::options::Options;
use feedline::recipe::Recipe;
use feedline::source::{self, List, Memory, Mix, Mixture, MixtureOptions, Opened, Source, WithClasses};
use serde_json::json;
use std::path::Path;
use std::sync::Arc;

/// A record for each class, which are called so; without names they are numbers.
fn classed(names: &[&str], classes: &[i64]) -> Memory {
    let record = |(at, class): (usize, &i64)| (format!("{at}.jpg"), vec![at as u8], Label::Class(*class));
    let memory = Memory::new(classes.iter().enumerate().map(record).collect());
    memory.with_classes(names.iter().map(|name| (*name).to_owned()).collect())
}

fn labels(source: &dyn Source) -> Vec<i64> {
    (0..source.len()).map(|index| source.label(index).class()).collect()
}

fn refused(options: MixtureOptions) -> String {
    options.open().err().unwrap().to_string()
}

/// The names of the classes of each record's objects.
fn seen(source: &dyn Source) -> Vec<Vec<&str>> {
    let of = |index: usize| match source.label(index) {
        Label::Objects(objects) => {
            objects.list.iter().map(|object| source.classes()[object.class as usize].as_str()).collect()
        }
        label => panic!("{label:?}"),
    };
    (0..source.len()).map(of).collect()
}

fn opened(recipe: &str) -> Result<Opened, Error> {
    source::open(&Recipe::parse(&format!("name = \"x\"\n{recipe}\n[output]\nsize = 8\n"))?.options.data)
}

#[track_caller]
fn says(recipe: &str, words: &[&str]) {
    let error = opened(recipe).err().expect("it is refused").to_string();
    assert!(words.iter().all(|word| error.contains(word)), "{error}");
}

#[test]
fn classes_go_by_their_names_in_the_order_in_which_they_are_met() {
    let one = || classed(&["truck", "car"], &[1, 0, -1]);
    let other = || classed(&["car", "bus", "truck"], &[0, 1, 2]);
    let mixture = Mixture::options().set("a", one()).set("b", other()).open().unwrap();
    assert_eq!(mixture.classes(), ["truck", "car", "bus"]);
    assert_eq!(labels(&mixture), [1, 0, -1, 1, 2, 0]);
    let keys: Vec<_> = (0..6).map(|index| mixture.key(index).into_owned()).collect();
    assert_eq!(keys, ["a:0.jpg", "a:1.jpg", "a:2.jpg", "b:0.jpg", "b:1.jpg", "b:2.jpg"]);
    assert_eq!(mixture.mix_order().unwrap().ends, [3, 6]);
    let listed = ["bus", "bike", "vehicle"];
    let named =
        |options: MixtureOptions| options.classes(listed).rename("truck", "vehicle").rename("car", "vehicle");
    let mixture = named(Mixture::options().set("a", one()).set("b", other())).open().unwrap();
    assert_eq!(
        (mixture.classes(), &labels(&mixture)[..]),
        (&listed.map(String::from)[..], &[2, 2, -1, 2, 0, 2][..])
    );
    // Numbers stay numbers, unless names are given for them.
    let numbers = || classed(&[], &[3, 0]);
    let mixture = Mixture::options().set("a", numbers()).set("b", numbers()).open().unwrap();
    assert_eq!((mixture.classes().len(), &labels(&mixture)[..]), (0, &[3, 0, 3, 0][..]));
    let named = WithClasses::options().classes(["car", "x", "y", "z"]).open(numbers()).unwrap();
    let mixture = Mixture::options().set("a", one()).set("b", named).open().unwrap();
    assert_eq!(
        (mixture.classes(), &labels(&mixture)[..]),
        (&["truck", "car", "x", "y", "z"].map(String::from)[..], &[1, 0, -1, 4, 1][..])
    );
    // Without labels there is nothing to name.
    let unlabelled = classed(&[], &[-1, -1]);
    assert_eq!(
        labels(&Mixture::options().set("a", unlabelled).set("b", one()).open().unwrap()),
        [-1, -1, 1, 0, -1]
    );
}

#[test]
fn what_cannot_be_mixed_is_refused_with_the_data_set_and_the_remedy() {
    let names = |names: [&str; 2]| {
        let [a, b] = names;
        Mixture::options().set(a, classed(&["car"], &[0])).set(b, classed(&["bus"], &[0]))
    };
    let has =
        |error: String, words: &[&str]| assert!(words.iter().all(|word| error.contains(word)), "{error}");
    has(refused(Mixture::options()), &["no data sets", "name one"]);
    has(refused(names(["a", "a"])), &["data sets 0 and 1 are both called `a`", "a name of its own"]);
    has(refused(names(["a", "b:c"])), &["data set 1 is called `b:c`", "without a colon"]);
    has(refused(names(["", "b"])), &["data set 0 is called ``"]);
    has(refused(Mixture::options().set("a", classed(&[], &[]))), &["`a` has no samples", "leave it out"]);
    has(refused(names(["a", "b"]).weights([0.5, 0.6])), &["sum to 1.1", "sum to 1", "give 0.4545, 0.5455"]);
    has(refused(names(["a", "b"]).weights([1.0])), &["1 weights for 2 data sets"]);
    has(refused(names(["a", "b"]).weights([1.0, 0.0])), &["weight of data set 1 is 0", "leave out"]);
    has(refused(names(["a", "b"]).weights([f64::NAN, 1.0])), &["weight of data set 0 is NaN"]);
    has(refused(names(["a", "b"]).epoch_samples(5u64)), &["epoch_samples are for a weighted mixture"]);
    has(
        refused(names(["a", "b"]).classes(["car", "buss"])),
        &[
            "the data set `b`: the class `bus` is not in classes",
            "car, buss",
            "rename = { \"bus\" = \"buss\" }",
        ],
    );
    has(refused(names(["a", "b"]).classes(["car", "car"])), &["classes names `car` twice"]);
    has(refused(names(["a", "b"]).classes(Vec::<String>::new())), &["classes is empty"]);
    has(refused(names(["a", "b"]).rename("cra", "bus")), &["the class `cra`", "did you mean `car`?"]);
    let numbered = names(["a", "b"]).set("c", classed(&[], &[-1, 2]));
    has(refused(numbered), &["`c` has classes by number (sample 1, 1.jpg)", "name its classes"]);
    let beyond = Mixture::options().set("a", classed(&[], &[0, 2])).classes(["x", "y"]);
    has(refused(beyond), &["the data set `a`: sample 1 (1.jpg) has the class 2", "classes has 2"]);
    let with_points = |count| {
        let skeleton = Some(Arc::new(Skeleton { count, flip: Vec::new() }));
        let label = Label::Objects(Arc::new(Objects {
            skeleton,
            list: vec![Object::default()],
            ..Objects::default()
        }));
        Memory::new(vec![("1.jpg".into(), Vec::new(), label)])
    };
    let objects = Mixture::options().set("a", with_points(17)).set("b", with_points(5));
    has(refused(objects), &["`a` have 17 keypoints and those of `b` 5"]);
    let error = WithClasses::options().rename("car", "x").open(classed(&[], &[1])).err().unwrap().to_string();
    has(error, &["the class `car`", "numbers without names"]);
}

/// A YOLO data set of a car and a person, and COCO annotations of an automobile and a dog.
fn write_objects(folder: &Path) {
    for name in ["yolo", "coco"] {
        std::fs::create_dir(folder.join(name)).unwrap();
        for image in ["1.jpg", "2.jpg"] {
            std::fs::write(folder.join(name).join(image), name).unwrap();
        }
    }
    std::fs::write(folder.join("yolo/1.txt"), "1 0.5 0.5 0.5 0.5\n0 0.4 0.4 0.2 0.2\n").unwrap();
    std::fs::write(folder.join("yolo/list.txt"), "1.jpg\n2.jpg\n").unwrap();
    std::fs::write(folder.join("yolo/data.yaml"), "train: list.txt\nnames: [person, car]\n").unwrap();
    let images =
        [1, 2].map(|id| json!({"id": id, "file_name": format!("{id}.jpg"), "width": 8, "height": 8}));
    let objects = [(1, 90), (2, 7), (2, 90)]
        .map(|(image, class)| json!({"image_id": image, "category_id": class, "bbox": [1, 1, 2, image]}));
    let objects: Vec<_> = objects
        .into_iter()
        .enumerate()
        .map(|(id, mut object)| {
            object["id"] = json!(id);
            object
        })
        .collect();
    let categories = [(90, "dog"), (7, "automobile")].map(|(id, name)| json!({"id": id, "name": name}));
    let text = json!({"images": images, "annotations": objects, "categories": categories}).to_string();
    std::fs::write(folder.join("coco/coco.json"), text).unwrap();
}

#[test]
fn objects_of_yolo_and_coco_data_have_one_list_of_classes() {
    let folder = tempfile::tempdir().unwrap();
    write_objects(folder.path());
    let at = |name: &str| folder.path().join(name).display().to_string();
    let (yolo, coco) = (at("yolo"), at("coco/coco.json"));
    let sets = format!("[[data.sets]]\npath = \"{yolo}\"\n[[data.sets]]\nname = \"c\"\npath = \"{coco}\"\n");
    let mixture = opened(&format!("[data]\nrename = {{ automobile = \"car\" }}\n{sets}")).unwrap();
    assert!(mixture.kind.has_objects() && mixture.keypoints == 0);
    let source = mixture.source;
    assert_eq!(source.classes(), ["person", "car", "dog"]);
    assert_eq!(seen(&*source), [vec!["car", "person"], vec![], vec!["dog"], vec!["car", "dog"]]);
    assert!(source.key(0).starts_with("yolo:") && source.key(0).ends_with("1.jpg"));
    assert!(source.key(2).starts_with("c:") && source.path(2).unwrap().ends_with("coco/1.jpg"));
    let listed =
        opened(&format!("[data]\nclasses = [\"dog\", \"car\", \"person\", \"automobile\"]\n{sets}")).unwrap();
    assert_eq!(seen(&*listed.source)[3], ["automobile", "dog"]);
    says(
        &format!("[data]\nclasses = [\"dog\", \"car\", \"person\"]\n{sets}"),
        &["[data]: the data set `c`: the class `automobile` is not in classes", "rename"],
    );
    // One data set has classes of its own, too.
    let one = opened(&format!(
        "[data]\npath = \"{coco}\"\nclasses = [\"dog\", \"car\"]\nrename = {{ automobile = \"car\" }}"
    ));
    let one = one.unwrap().source;
    assert_eq!(
        (one.classes(), seen(&*one)),
        (&["dog", "car"].map(String::from)[..], vec![vec!["dog"], vec!["car", "dog"]])
    );
    says(&format!("[data]\npath = \"{coco}\"\nclasses = [\"car\"]"), &["the class `automobile`"]);
}

#[test]
fn a_recipe_says_how_data_sets_are_mixed_or_is_refused_with_the_place() {
    let folder = tempfile::tempdir().unwrap();
    write_objects(folder.path());
    let sets = |more: [&str; 2]| {
        let [yolo, coco] =
            ["yolo", "coco/coco.json"].map(|name| folder.path().join(name).display().to_string());
        let [first, second] = more;
        format!("[[data.sets]]\npath = \"{yolo}\"\n{first}\n[[data.sets]]\npath = \"{coco}\"\n{second}\n")
    };
    let order = |recipe: String| opened(&recipe).unwrap().source.mix_order().unwrap();
    assert_eq!(order(sets([""; 2])).mix, Mix::Concat);
    assert_eq!(order(format!("[data]\nmix = \"chain\"\n{}", sets([""; 2]))).mix, Mix::Chain);
    let weighted = order(format!("[data]\nepoch_samples = 9\n{}", sets(["weight = 0.75", "weight = 0.25"])));
    assert_eq!(
        (weighted.mix, weighted.weights, weighted.epoch_samples),
        (Mix::Weighted, vec![0.75, 0.25], Some(9))
    );
    says(
        &sets(["weight = 0.75", "weight = 0.5"]),
        &["[data]: the weights of the data sets sum to 1.25", "give 0.6"],
    );
    says(&sets(["weight = 0.75", ""]), &["data.sets[1] has no weight"]);
    says(
        &format!("[data]\nmix = \"chain\"\n{}", sets(["", "weight = 1.0"])),
        &["weight is for a weighted mixture"],
    );
    says(
        &format!("[data]\nstopping_strategy = \"all_exhausted\"\n{}", sets([""; 2])),
        &["[data]: stopping_strategy is for"],
    );
    says(&sets(["name = \"coco\"", ""]), &["data sets 0 and 1 are both called `coco`"]);
    says(&sets(["weigth = 1", ""]), &["data.sets[0] has no key `weigth`: did you mean `weight`?"]);
    says(
        &sets(["", "header = true"]),
        &["data.sets[1] (`coco`): header is for data of the kind list", "read as `coco`"],
    );
    says(
        &format!("[data]\nheader = true\n{}", sets([""; 2])),
        &["[data]: header is read by none of the data sets"],
    );
    says(
        &format!("[data]\nlabel_cache = \"x\"\n{}", sets([""; 2])),
        &["label_cache", "write it under that one"],
    );
    says(
        &format!("[data]\npath = \"x\"\n{}", sets([""; 2])),
        &["data (path) and sets both", "leave one of them out"],
    );
    says("[data]\nsets = []", &["sets is empty"]);
    says("[data]\npath = \"x\"\nmix = \"chain\"", &["mix is for several data sets"]);
    says("[data]\npath = \"x\"\nepoch_samples = 3", &["epoch_samples is for several data sets"]);
    let missing = "[[data.sets]]\npath = \"no-such.json\"";
    assert!(opened(missing).err().unwrap().to_string().contains("no-such.json"));
    // What is said beside the list reaches those that take it.
    let mut options = Options::default();
    let text = format!("[{{path = \"{}\"}}]", folder.path().join("yolo").display());
    options.set_text("sets", &text).unwrap();
    options.set_text("max_file_bytes", "2").unwrap();
    let source = source::open(&options.data).unwrap().source;
    let error = source.read(0, &mut Vec::new()).unwrap_err().to_string();
    assert!(error.contains("max_file_bytes = 2") && error.contains("sample 0 (yolo:"), "{error}");
}

/// Two lists of a record each, of which the second has no column for captions.
fn write_lists(folder: &Path) -> [String; 2] {
    std::fs::write(folder.join("a.csv"), "path,label,caption\n1.jpg,0,a car\n").unwrap();
    std::fs::write(folder.join("b.csv"), "path,label\n2.jpg,1\n").unwrap();
    ["a.csv", "b.csv"].map(|name| folder.join(name).display().to_string())
}

#[test]
fn a_data_set_without_a_field_takes_its_default_or_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let [a, b] = write_lists(folder.path());
    let recipe = |default: &str| {
        format!(
            "[[data.sets]]\npath = \"{a}\"\nfields.caption = {{ type = \"text\"{default} }}\n[[data.sets]]\npath = \"{b}\"\n"
        )
    };
    says(&recipe(""), &["[data]: the data set `b` has no field `caption`", "give it a default"]);
    let source = opened(&recipe(", default = \"none\"")).unwrap().source;
    assert_eq!(source.fields().iter().map(Field::name).collect::<Vec<_>>(), ["caption"]);
    let value = |index: usize| {
        let mut values = Vec::new();
        source.values(index, &mut values).map(|()| values)
    };
    assert_eq!(value(0).unwrap(), [FieldValue::from("a car")]);
    assert_eq!(value(1).unwrap(), [FieldValue::from("none")]);
    assert!(value(2).unwrap_err().to_string().contains("the source holds 2 records"));
    // A field of all is looked for in all that can have it.
    let all = format!(
        "[data]\nfields.caption = \"text\"\n[[data.sets]]\npath = \"{a}\"\n[[data.sets]]\npath = \"{b}\"\n"
    );
    says(&all, &["data.sets[1] (`b`)", "`caption`: no column is called `caption`", "path, label"]);
    // Fields are put into one order, whatever that of each data set.
    let list = |fields: [Field; 2]| List::options().fields(fields).open(&a).unwrap();
    let (caption, class) = (Field::text("caption"), Field::integer("class").from("label"));
    let mixed = |other: Field| {
        let mixture = Mixture::options().set("x", list([caption.clone(), class.clone()]));
        mixture.set("y", list([other, caption.clone()])).open()
    };
    let mixture = mixed(class.clone()).unwrap();
    let mut values = Vec::new();
    mixture.values(1, &mut values).unwrap();
    assert_eq!(values, [FieldValue::from("a car"), FieldValue::from(0)]);
    let error = mixed(Field::text("class").from("label")).err().unwrap().to_string();
    assert!(error.contains("`class` is integer in the data set `x` and text in `y`"), "{error}");
}

#[test]
fn masks_are_those_of_each_data_set_and_errors_name_the_mixtures_sample() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    for (set, image) in [("a", "1.png"), ("b", "2.png")] {
        std::fs::create_dir_all(at(set)).unwrap();
        std::fs::write(at(set).join(image), b"an image").unwrap();
        std::fs::write(at(&format!("{set}.txt")), format!("{set}/{image}\n")).unwrap();
    }
    std::fs::create_dir_all(at("masks/b")).unwrap();
    std::fs::write(at("masks/b/2.png"), b"a mask").unwrap();
    let table = |set: &str, more: &str| {
        format!("[[data.sets]]\npath = \"{}\"\n{more}\n", at(&format!("{set}.txt")).display())
    };
    let masks = format!("mask_dir = \"{}\"", at("masks").display());
    let recipe = table("a", "") + &table("b", &masks);
    let source = opened(&recipe).unwrap().source;
    let mut bytes = Vec::new();
    assert!(!source.mask(0, &mut bytes).unwrap() && bytes.is_empty());
    assert!(source.mask(1, &mut bytes).unwrap() && bytes == b"a mask");
    let recipe = Recipe::parse(&format!("name = \"x\"\n{recipe}[output]\nsize = 8\n")).unwrap();
    assert!(recipe.options.data.has_masks());
    std::fs::remove_file(at("b/2.png")).unwrap();
    let error = source.read(1, &mut bytes).unwrap_err().to_string();
    assert!(error.starts_with("sample 1 (b:"), "{error}");
}

#[test]
fn shards_of_all_data_sets_make_shards_of_the_mixture() {
    struct Sharded(usize);
    impl Source for Sharded {
        fn len(&self) -> usize {
            self.0
        }
        fn read(&self, _: usize, _: &mut Vec<u8>) -> Result<(), Error> {
            Ok(())
        }
        fn key(&self, index: usize) -> std::borrow::Cow<'_, str> {
            index.to_string().into()
        }
        fn label(&self, _: usize) -> Label {
            Label::Unlabelled
        }
        fn shard_ends(&self) -> Vec<u64> {
            vec![1, self.0 as u64]
        }
        fn record(&self, index: usize) -> usize {
            index / 2
        }
    }
    let both = Mixture::options().set("a", Sharded(3)).set("b", Sharded(4)).open().unwrap();
    assert_eq!(both.shard_ends(), [1, 3, 4, 7]);
    assert_eq!((0..7).map(|index| both.record(index)).collect::<Vec<_>>(), [0, 0, 1, 3, 3, 4, 4]);
    let one = Mixture::options().set("a", Sharded(3)).set("b", classed(&[], &[0])).open().unwrap();
    assert!(one.shard_ends().is_empty());
}
