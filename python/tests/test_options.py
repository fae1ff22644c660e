"""Each option of the library is a keyword of the Loader, takes Python's values, and does what it says."""

import inspect
import json
import os
import pathlib
import pydoc
import runpy
import shutil
import urllib.request

import numpy as np
import pytest
from conftest import PHOTOS, ROOT, write_png

import feedline
from feedline import _feedline, _options

#: A value for each option, as the tests of all languages have it, and what has to be said with it.
VALUES = json.loads((ROOT / "tests" / "option_values.json").read_text())
NAMES = [option["name"] for option in _options.LISTED]


@pytest.fixture
def told(monkeypatch):
    """What reaches the library of a Loader's keywords, by the names of options; no data are opened."""

    class Native:
        notes = ()
        facts = lambda self: json.dumps({"kind": "folder", "objects": False, "transforms": [], "mixes": False, "outputs": [], "pictures": 0, "fields": ["a"], "ordered": True, "subset": False, "masks": False})  # noqa: E731
        classes = lambda self: ["a"]  # noqa: E731
        class_count = lambda self: 1  # noqa: E731
        unpinned = lambda self: None  # noqa: E731

        def __init__(self, data, keywords):
            self.options = json.loads(_feedline.check_options(keywords["options"]))
            numbers = {name: keywords[name] for name in ("subset", "weights") if keywords[name] is not None}
            self.options.update(numbers, **({} if data is None else {"data": data}))

        def close(self):
            pass

    monkeypatch.setattr(_feedline, "Loader", Native)
    monkeypatch.setenv("RANK", "0"), monkeypatch.setenv("WORLD_SIZE", "1")
    return lambda **keywords: feedline.Loader(**keywords)._loader.options


def test_the_values_are_for_all_options():
    assert sorted(VALUES) == sorted(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_each_option_arrives(told, name):
    value, more = VALUES[name]["value"], VALUES[name].get("with", {})
    assert told(**{name: value, **more}) == {name: value, **more}
    assert told(**{name: None}) == {}


@pytest.mark.parametrize("option", _options.LISTED, ids=lambda option: option["name"])
def test_each_other_name_of_an_option_means_the_same(told, option):
    name = option["name"]
    value = VALUES[name]["value"]
    for alias in option["aliases"]:
        assert told(**{alias: value}) == {name: value}
        with pytest.raises(ValueError, match="give one of them"):
            told(**{alias: value, name: value})


@pytest.mark.parametrize("name", [name for name in NAMES if name != "data"])
def test_a_wrong_value_is_named_with_its_option_and_what_it_may_be(told, name):
    with pytest.raises((TypeError, ValueError), match=rf"option {name}\b.*; give|option {name}\b.*: give"):
        # A table of names is right for one of them.
        told(**{name: 7.5 if name == "rename" else {"no": "value"}})


def test_each_option_is_shown_by_help_and_known_to_editors():
    shown = inspect.signature(feedline.Loader).parameters
    page, typed = pydoc.plain(pydoc.render_doc(feedline.Loader)), (ROOT / "python/feedline/_keywords.pyi").read_text()
    for option in _options.LISTED:
        for name in (option["name"], *option["aliases"]):
            assert name in shown
            assert f"    {name}: " in typed or name in ("data", "batch_size", "shuffle")
        assert f"{option['name']}: " in page and option["doc"][:40] in page
    for name in _options.ONLY_HERE:
        assert name in shown and f"  {name}\n" in page and f"    {name}: " in typed
    assert list(shown)[:3] == ["data", "batch_size", "shuffle"]


def test_the_keywords_for_type_checkers_are_what_the_library_says():
    stubs = runpy.run_path(str(ROOT / "python" / "stubs.py"))
    assert stubs["KEYWORDS"].read_text() == stubs["keywords"](), "run python/stubs.py"


def test_python_s_own_ways_of_saying_it(told):
    assert told(shuffle=np.int64(100)) == {"shuffle_window": 100}
    assert told(shuffle=np.bool_(True)) == {"shuffle": True}
    assert told(drop_last=True) == {"last_batch": "drop"}
    assert told(normalize=((0, 0.5, 1), np.ones(3))) == {"mean": [0, 0.5, 1], "std": [1, 1, 1]}
    assert told(size=np.int32(32)) == {"size": 32} and told(size=(32, 48)) == {"size": [32, 48]}
    assert told(dtype=np.float16, layout="NHWC") == {"dtype": "f16", "layout": "nhwc"}
    assert told(num_workers=0) == {} and told(num_workers=2) == {"workers": 2}
    assert told(mask_dir=pathlib.Path("a/b"), masks=0) == {"mask_dir": "a/b", "mask_fill": 0}
    assert told(subset=np.array([3, 1]), weights=iter([0.5, np.float32(2)])) == {"subset": [3, 1], "weights": [0.5, 2]}
    assert told(subset=pathlib.Path("some.txt")) == {"subset": "some.txt"}
    assert told(byte_cache="2M") == {"byte_cache": 2 << 20}
    assert told(label_smoothing=0.0) == {} and told(label_smoothing=0.1, num_classes=3) == {}
    assert told(decode_index=pathlib.Path("a.feedline-index")) == {"decode_index": "a.feedline-index"}


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"shuffle": 8, "shuffle_window": 9}, "both say what shuffle_window is"),
        ({"normalize": "imagenet", "mean": [0, 0, 0]}, "either a preset by its name, or both mean and std"),
        ({"normalize": 3}, "option normalize = 3: give `imagenet`, or a pair"),
        ({"multi_scale": float("nan")}, "option multi_scale = nan"),
        ({"subset": [1, -1]}, "option subset: -1 is below 0; give whole numbers"),
        ({"num_classes": 2.5}, "option num_classes = 2.5: give a whole number"),
        ({"num_classes": 2**64}, "option num_classes = 18446744073709551616: .* is above .*; give a whole number"),
        ({"subset": [2**64]}, "option subset: 18446744073709551616 is above .*; give whole numbers"),
        ({"label_smoothing": 0.1}, "label_smoothing = 0.1 is for dense labels.*num_classes"),
        ({"sets": [{"path": "a"}]}, "data and sets both say which data there are"),
        ({"label_smoothing": "much"}, "option label_smoothing = 'much'"),
        ({"shuffle_window": 4, "shuffle_shards": 2}, "two orders"),
        ({"rect_pad": 1.5}, "rect_pad means nothing here"),
        ({"mask_fill": 256}, "option mask_fill = 256"),
        ({"byte_cache": "4 pounds"}, 'option byte_cache = "4 pounds".*64M'),
        ({"allow_missing_masks": True}, "without mask_dir"),
        ({"reduce_zero_label": True}, r"\[labels\]: reduce_zero_label means nothing without semantic masks"),
        ({"instance_masks": "overlap"}, r"\[labels\]: instance_masks are made of outlines, and no object"),
        ({"mask_ratio": 4}, r"\[labels\]: mask_ratio means nothing here"),
        ({"endpoint": "http://127.0.0.1:9"}, "endpoint is for data of the kind remote"),
        ({"decode_only": True}, "decode_only renders nothing"),
    ],
)
def test_what_contradicts_itself_is_refused(make, options, words):
    with pytest.raises(ValueError, match=words):
        make(**options)


def test_a_loader_says_what_it_was_told(make):
    loader = make(recipe="imagenet-eval", seed=5, num_workers=2, max_pixels=10**8, exif=False, byte_cache="1M")
    options = loader.options
    assert options["data"] == str(PHOTOS) and options["batch_size"] == 8 and options["last_batch"] == "partial"
    assert options["seed"] == 5 and options["workers"] == 2 and options["max_pixels"] == 10**8
    assert options["exif"] is False and options["byte_cache"] == 1 << 20 and options["normalize"] == "imagenet"
    again = feedline.Loader(recipe="imagenet-eval", **options)
    assert again.options == options and again.samples == loader.samples


def test_a_path_that_is_no_text_hides_no_other_option(tmp_path):
    folder = os.fsencode(tmp_path) + b"/fotos-\xff"
    os.mkdir(folder)
    write_png(pathlib.Path(os.fsdecode(folder), "a.png"), np.zeros((6, 8, 3), np.uint8))
    loader = feedline.Loader(os.fsdecode(folder), seed=5, flat=True, transforms=[feedline.Resize([8, 8])])
    assert loader.samples == 1 and loader.options["seed"] == 5
    assert loader.options["data"].endswith("fotos-\ufffd")


def test_data_may_be_the_recipe_s():
    recipe = f"name = 'whole'\n[data]\npath = '{PHOTOS}'\n[loader]\nbatch_size = 40\n[output]\nsize = 16\n"
    recipe += "[[augment]]\nop = 'Resize'\nsize = [16, 16]\n"
    assert [batch["image"].shape[0] for batch in feedline.Loader(recipe=recipe)] == [40, 3]
    with pytest.raises(ValueError, match="no data are named"):
        feedline.Loader(transforms=[feedline.Resize([8, 8])])


@pytest.fixture
def segmented(tmp_path):
    """Four images whose pixels say their class, with masks of the classes; the last image has none."""
    images, masks = tmp_path / "images", tmp_path / "masks"
    images.mkdir(), masks.mkdir()
    for at in range(4):
        classes = np.random.default_rng(at).integers(0, 5, (40, 48), dtype=np.uint8)
        write_png(images / f"{at}.png", np.repeat(classes[..., None] * 50, 3, axis=2))
        if at < 3:
            write_png(masks / f"{at}.png", classes)
    return images


def test_masks_come_with_their_images_and_move_with_them(make, segmented):
    transforms = [feedline.RandomCrop(32, padding=4), feedline.RandomHorizontalFlip()]
    masks = segmented.parent / "masks"
    options = {"transforms": transforms, "batch_size": 4, "dtype": "uint8", "flat": True, "mask_dir": masks}
    with pytest.raises(ValueError, match="3.png not found"):
        make(segmented, **options)
    loader = make(segmented, **options, allow_missing_masks=True, shuffle=True, seed=3)
    seen = set()
    for _ in range(3):
        batch = next(iter(loader))
        pixels, classes = batch["image"].numpy()[:, 0], batch["masks"].numpy()
        assert classes.shape == (4, 32, 32) and classes.dtype == np.uint8
        for row, index in enumerate(batch["index"].numpy()):
            inside = classes[row] != 255
            assert inside.any() == (index < 3)
            assert (pixels[row][inside] == classes[row][inside] * 50).all()
            assert index == 3 or (pixels[row][~inside] == 0).all()
        seen |= set(np.unique(classes))
    assert seen == {0, 1, 2, 3, 4, 255}
    filled = next(iter(make(segmented, **options, allow_missing_masks=True, masks=9)))["masks"].numpy()
    assert (filled[3] == 9).all()


@pytest.fixture
def outlined(tmp_path):
    """Two images with COCO annotations: a large square below a small one, in the left upper corner, and nothing."""
    for name in ("a.png", "b.png"):
        write_png(tmp_path / name, np.full((32, 48, 3), 9, np.uint8))
    square = lambda edge: [[0, 0, edge, 0, edge, edge, 0, edge]]
    annotations = [
        {"id": number, "image_id": 1, "category_id": number, "segmentation": square(edge)}
        for number, edge in enumerate((8, 16))
    ]
    images = [{"id": number, "file_name": name} for number, name in enumerate(("b.png", "a.png"))]
    categories = [{"id": 0, "name": "small"}, {"id": 1, "name": "large"}]
    path = tmp_path / "coco.json"
    path.write_text(json.dumps({"images": images, "categories": categories, "annotations": annotations}))
    return path


def test_masks_of_objects_come_for_each_or_in_one_plane(make, outlined):
    chain = {"transforms": [feedline.Resize([32, 48])], "batch_size": 2}
    each = next(iter(make(outlined, **chain, instance_masks="per-object")))
    masks = each["masks"].numpy()
    assert masks.shape == (2, 32, 48) and masks.dtype == np.uint8 and "semantic_masks" not in each
    assert masks.sum(axis=(1, 2)).tolist() == [64, 256] and masks[0, :8, :8].all() and masks[1, :16, :16].all()
    both = next(iter(make(outlined, **chain, instance_masks="overlap", masks=9)))
    plane = np.zeros((2, 8, 12), np.int32)
    plane[1, :4, :4], plane[1, :2, :2] = 1, 2
    assert both["masks"].numpy().dtype == np.int32 and (both["masks"].numpy() == plane).all()
    assert both["cls"].numpy().ravel().tolist() == [1, 0] and both["batch_idx"].numpy().tolist() == [1, 1]
    assert (both["semantic_masks"].numpy() == 9).all()


def test_rotated_boxes_have_five_or_eight_numbers(make, outlined):
    chain = {"transforms": [feedline.RandomRotation([45, 45]), feedline.Resize([32, 48])], "batch_size": 2}
    chain["box_unit"] = "pixels"
    boxes = next(iter(make(outlined, **chain, box_format="xywhr")))["bboxes"].numpy()
    corners = next(iter(make(outlined, **chain, box_format="xyxyxyxy")))["bboxes"].numpy()
    assert boxes.shape == (2, 5) and corners.shape == (2, 8)
    for (x, y, width, height, angle), corner in zip(boxes, corners.reshape(-1, 4, 2)):
        along, aside = np.array([np.cos(angle), np.sin(angle)]), np.array([-np.sin(angle), np.cos(angle)])
        want = [(u * along * width + v * aside * height) / 2 for u, v in [(-1, -1), (1, -1), (1, 1), (-1, 1)]]
        assert np.allclose(corner, np.array(want) + [x, y], atol=1e-4)


def test_a_batch_is_padded_to_its_largest_sample(make):
    chain = [feedline.RandomShortestSize([32], max_size=64)]
    options = {"transforms": chain, "size": 64, "normalize": "imagenet", "pad_to_largest": True, "stride": 4}
    shapes = set()
    for batch in make(**options):
        pixels, mask, size = (batch[name].numpy() for name in ("image", "mask", "size"))
        n, _, height, width = pixels.shape
        assert mask.shape == (n, height, width) and mask.dtype == bool and size.shape == (n, 2)
        assert [height, width] == [-(-size[:, axis].max() // 4) * 4 for axis in (0, 1)]
        for row, (h, w) in enumerate(size):
            assert not mask[row, :h, :w].any() and mask[row].sum() == height * width - h * w
        assert (pixels.transpose(0, 2, 3, 1)[mask] == 0).all() and min(size.min(axis=1)) <= 32
        shapes.add((height, width))
    assert len(shapes) > 1
    assert "mask" not in next(iter(make(transforms=[feedline.Resize([8, 8])])))


def test_a_table_is_read_by_its_columns_below_a_root(make, tmp_path):
    photos = sorted(PHOTOS.glob("*/*.jpg"))[:3]
    rows = [f"{at},{photo.relative_to(PHOTOS)},{7 - at}" for at, photo in enumerate(photos)]
    table = tmp_path / "table.csv"
    table.write_text("\n".join(["id,picture,breed", *rows]) + "\n")
    loader = make(table, root=PHOTOS, image_column="picture", label_column="breed", header=True)
    assert next(iter(loader))["label"].numpy().tolist() == [7, 6, 5]


def test_what_the_decoder_takes_can_be_said(make, tmp_path):
    photo = next(PHOTOS.glob("cat/*.jpg"))
    (tmp_path / "cut.jpg").write_bytes(photo.read_bytes()[: photo.stat().st_size // 2])
    with pytest.raises(feedline.SampleError):
        list(make(tmp_path, flat=True))
    assert next(iter(make(tmp_path, flat=True, tolerate_truncated=True)))["status"] == ["ok"]
    loader = make(tmp_path, flat=True, damaged="libjpeg")
    assert next(iter(loader))["status"] == ["ok"]
    report = loader.report()
    assert (report["failures"], report["damaged"], loader.stats()["damaged"]) == (0, 1, 1)
    damage = "Premature end of JPEG file"
    assert report["damaged_files"] == [{"key": "cut.jpg", "index": 0, "damage": damage, "times": 1}]
    with pytest.raises(feedline.SampleError, match="pixels"):
        list(make(max_pixels=100))
    with pytest.raises(feedline.SampleError, match="bytes"):
        list(make(max_file_bytes=100))


def test_caches_and_indexes_are_where_they_are_asked_for(make, tmp_path):
    sidecar = tmp_path / "photos.feedline-index"
    loader = make(byte_cache="64M", decode_index=sidecar, index_budget="8M")
    for _ in range(2):
        list(loader)
    stats = loader.stats()
    assert stats["index"]["budget"] == 8 << 20 and stats["index"]["sidecar"]
    assert stats["io"]["memory_hits"] == stats["io"]["memory_misses"] == 43
    assert sidecar.exists()
    off = make(decode_index="off")
    list(off)
    assert off.stats()["index"]["images"] == 0


def test_a_cache_of_pixels_gives_the_same_batches_and_counts_what_it_had(make, tmp_path):
    def shown(**options):
        loader = make(recipe="imagenet-train", seed=5, crop_size=32, **options)
        return [batch["image"].numpy() for _ in range(2) for batch in loader], loader.stats()["io"]

    plain, _ = shown()
    for form in ("compressed", "decoded"):
        kept, io = shown(cache="disk", cache_form=form, cache_file=tmp_path / form, cache_limit="64M")
        assert all((one == other).all() for one, other in zip(plain, kept)) and (tmp_path / form).exists()
        assert (io["shared_misses"], io["shared_hits"], io["shared_full"]) == (43, 43, 0)
    with pytest.raises(ValueError, match="leave one of them out"):
        make(cache="ram", byte_cache="1M")


def test_small_boxes_are_left_out_on_request(make, yolo):
    options = {"batch_size": 4, "transforms": [feedline.Resize([64, 64])]}
    assert len(next(iter(make(yolo, **options)))["cls"]) == 5
    # 8 by 8 pixels are dropped, 32 by 16 stay.
    assert next(iter(make(yolo, **options, min_area=100)))["cls"].numpy().tolist() == [[1], [1], [1]]


def test_an_order_in_runs_and_numbers_from_a_file(make, tmp_path):
    numbers = tmp_path / "subset.txt"
    numbers.write_text("# three\n40\n2\n\n7\n")
    shown = [index for batch in make(subset=numbers) for index in batch["index"].numpy().tolist()]
    assert shown == [40, 2, 7]
    shown = [index for batch in make(shuffle=5, seed=1) for index in batch["index"].numpy().tolist()]
    runs = [{index // 5 for index in shown[at : at + 5]} for at in range(0, 40, 5)]
    assert sorted(shown) == list(range(43)) != shown and sum(len(run) for run in runs) <= 2 * len(runs)


def test_nothing_is_rendered_on_request(make):
    batch = next(iter(make(transforms=None, decode_only=True)))
    assert batch["image"].shape == (8, 3, 0, 0) and len(batch["label"]) == 8


@pytest.mark.skipif("FEEDLINE_S3" not in os.environ, reason="FEEDLINE_S3 names the host:port of an S3 server")
def test_an_object_store_gives_what_the_folder_gives(make, tmp_path):
    server = f"http://{os.environ['FEEDLINE_S3']}"

    def put(path, content):
        headers = {"Content-Type": "application/octet-stream"}
        request = urllib.request.Request(f"{server}/{path}", content, headers, method="PUT")
        urllib.request.urlopen(request, timeout=60).close()

    local = tmp_path / "local"
    put("python", b"")
    for photo in sorted(PHOTOS.glob("*/*.jpg"))[::4]:
        name = photo.relative_to(PHOTOS)
        (local / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(photo, local / name)
        put(f"python/photos/{name}", photo.read_bytes())
    kept = tmp_path / "kept"
    remote = make("s3://python/photos", endpoint=server, cache_dir=kept, cache_bytes="1G", timeout_s=20, max_retries=2)
    folder = make(local)
    assert remote.classes == folder.classes and len(remote) == len(folder) == 2
    for _ in range(2):
        for theirs, ours in zip(folder, remote):
            assert theirs["key"] == ours["key"] and (theirs["image"].numpy() == ours["image"].numpy()).all()
    assert any(kept.rglob("*"))
    with pytest.raises(ValueError, match="cache_bytes means nothing without cache_dir"):
        make("s3://python/photos", endpoint=server, cache_bytes="1G")
