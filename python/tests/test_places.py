"""Where samples show their images: predictions lead back to the pixels of the files, which need not be opened."""

import numpy as np
import pytest
from conftest import write_png

import feedline

#: Height and width of each image.
SHAPES = [(480, 640), (500, 333), (91, 17), (3, 1000), (64, 64)]


@pytest.fixture
def boxes(tmp_path):
    """Images of many shapes with two boxes each, as YOLO has them; the last one is background."""
    images, labels = tmp_path / "images", tmp_path / "labels"
    images.mkdir(), labels.mkdir()
    rng, known = np.random.default_rng(0), []
    for at, (height, width) in enumerate(SHAPES):
        write_png(images / f"{at}.png", np.full((height, width, 3), 40 * at, np.uint8))
        centre, size = rng.uniform(0.3, 0.7, (2, 2)), rng.uniform(0.2, 0.6, (2, 2))
        known.append(np.concatenate([centre, size], 1) if at < 4 else np.zeros((0, 4)))
        (labels / f"{at}.txt").write_text("".join(f"{x}\n" for x in (" ".join(["0", *map(repr, map(float, row))]) for row in known[-1])))
    (tmp_path / "data.yaml").write_text("train: images\nnames: [thing]\n")
    return tmp_path / "data.yaml", known


def original(batch, row):
    """The boxes of a row in pixels of its image, centres and sizes, as an evaluation has them of predictions."""
    (ratio_y, ratio_x), (left, top) = batch["ratio_pad"][row]
    height, width = batch["resized_shape"][row]
    own = batch["bboxes"][batch["batch_idx"] == row] * [width, height, width, height]
    return (own - [left, top, 0, 0]) / [ratio_x, ratio_y, ratio_x, ratio_y]


@pytest.mark.parametrize("options", [
    {"recipe": "yolo-eval"},
    {"recipe": "yolo-eval", "rect": True, "batch_size": 2},
    {"transforms": [feedline.LetterBox([320, 416], scaleup=False, center=False)]},
    {"transforms": [feedline.Resize([64, 96])]},
    {"transforms": [feedline.ResizeLongest(64)], "size": 64, "pad_to_largest": True},
], ids=["letterbox", "rect", "corner", "resize", "padded"])  # fmt: skip
def test_boxes_lead_back_to_the_labels(boxes, options):
    path, known = boxes
    seen = set()
    for batch in feedline.Loader(path, framework="numpy", **{"batch_size": 5, **options}):
        for row, index in enumerate(batch["index"]):
            height, width = SHAPES[index]
            assert batch["ori_shape"][row] == (height, width)
            assert batch["im_file"][row] == str(path.parent / "images" / f"{index}.png")
            want = known[index] * [width, height, width, height]
            got = original(batch, row)
            ratio = min(batch["ratio_pad"][row][0])
            # An f32 of the sample, in pixels of the image.
            np.testing.assert_allclose(got, want, rtol=1e-6, atol=1e-6 * 640 / ratio)
            seen.add(int(index))
    assert seen == set(range(5))


def test_a_letterbox_has_ultralytics_numbers(boxes):
    batch = next(iter(feedline.Loader(boxes[0], 5, recipe="yolo-eval")))
    assert batch["resized_shape"] == [(640, 640)] * 5
    # 480 x 640 keeps its size, with 80 rows above; 3 x 1000 becomes 2 x 640.
    assert batch["ratio_pad"][0] == ((1.0, 1.0), (0.0, 80.0))
    assert batch["ratio_pad"][3] == ((pytest.approx(2 / 3), 0.64), (0.0, 319.0))


def test_what_shows_several_images_or_mirrors_them_has_no_place(boxes):
    flip = [feedline.RandomHorizontalFlip(1), feedline.Resize([32, 32])]
    assert next(iter(feedline.Loader(boxes[0], 5, transforms=flip)))["ratio_pad"] == [None] * 5
    mosaic = next(iter(feedline.Loader(boxes[0], 5, recipe="yolo-train")))
    assert mosaic["ratio_pad"] == [None] * 5
    assert mosaic["ori_shape"] == [SHAPES[index] for index in mosaic["index"].numpy()]


def test_views_have_places_of_their_own(boxes):
    views = [feedline.View(32, [feedline.Resize([32, 32])]), feedline.View(16, [feedline.Resize([16, 16])])]
    batch = next(iter(feedline.Loader(boxes[0], 5, views=views)))
    shapes = [own["resized_shape"][0] for own in batch["view_labels"]]
    assert shapes == [(32, 32), (16, 16)] and batch["resized_shape"][0] == (32, 32)
    assert batch["view_labels"][1]["ratio_pad"][4] == ((0.25, 0.25), (0.0, 0.0))


def test_photographs_without_objects_have_no_places(make):
    assert not {"im_file", "ori_shape", "resized_shape", "ratio_pad"} & next(iter(make())).keys()
