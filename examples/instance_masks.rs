//! Goes through COCO's images with a mask for each object, as one trains Mask R-CNN.
//!
//! `cargo run --release --example instance_masks -- ANNOTATIONS IMAGES`. The example of the same name in Python writes
//! annotations of the bundled photographs, and prints the same.

use feedline::augment::{RandomHorizontalFlip, Resize};
use feedline::loader::{LastBatch, Loader, MaskPlanes};
use feedline::options::Options;
use feedline::source::Coco;
use std::error::Error;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let mut argument = || arguments.next().ok_or("usage: instance_masks ANNOTATIONS IMAGES");
    let mut options = Options::default();
    options.set_text("instance_masks", "per-object")?;
    let loader = Loader::builder(Coco::open(argument()?, argument()?)?)
        .batch_size(4)
        .seed(42)
        .last_batch(LastBatch::Partial)
        .augment(Resize::new([200, 300]))
        .augment(RandomHorizontalFlip::default())
        .options(&options)
        .build()?;
    for batch in loader.epoch(0) {
        let batch = batch?;
        println!("{:?}", batch.shape());
        let objects = batch.objects().ok_or("COCO has objects")?;
        let masks = objects.masks.as_ref().ok_or("masks were asked for")?;
        let MaskPlanes::PerObject(planes) = &masks.planes else { continue };
        for (at, plane) in planes.chunks(masks.size.pixels() as usize).enumerate() {
            let (row, class) = (objects.batch_index[at], objects.classes[at]);
            println!(
                "  row {row}: class {class}, {} pixels",
                plane.iter().filter(|&&pixel| pixel == 1).count()
            );
        }
    }
    Ok(())
}
