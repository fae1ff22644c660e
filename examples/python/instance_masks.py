"""Goes through COCO's images with a mask for each object, as one trains Mask R-CNN.

    python examples/python/instance_masks.py out/instances.json

Annotations that are not there are made up, of the bundled photographs. The example of the same name in Rust prints the same.
"""

import json
import pathlib
import sys

import feedline

PHOTOS = pathlib.Path(__file__).resolve().parents[2] / "data" / "photos"


def write(path):
    photos = [photo.relative_to(PHOTOS).as_posix() for photo in sorted(PHOTOS.glob("*/*.jpg"))[:6]]
    left, right = [20, 20, 120, 30, 90, 110, 30, 130], [60, 40, 160, 60, 150, 140]
    outlines = [(image, number, [outline]) for image in range(6) for number, outline in enumerate((left, right))]
    annotations = [
        {"id": at, "image_id": image, "category_id": number, "iscrowd": 0, "segmentation": outline}
        for at, (image, number, outline) in enumerate(outlines)
    ]
    images = [{"id": number, "file_name": photo} for number, photo in enumerate(photos)]
    kinds = [{"id": 0, "name": "quadrangle"}, {"id": 1, "name": "triangle"}]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"images": images, "categories": kinds, "annotations": annotations}))


annotations = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else "out/instances.json")
if not annotations.exists():
    write(annotations)
chain = [feedline.Resize([200, 300]), feedline.RandomHorizontalFlip()]
options = {"image_dir": PHOTOS, "instance_masks": "per-object", "transforms": chain, "seed": 42}
for batch in feedline.Loader(annotations, batch_size=4, **options):
    print(list(batch["image"].shape))
    rows, classes, masks = (batch[name].numpy() for name in ("batch_idx", "cls", "masks"))
    for row, class_, mask in zip(rows, classes[:, 0], masks):
        print(f"  row {row}: class {class_}, {mask.sum()} pixels")
