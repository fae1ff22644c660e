"""Images with several classes: dense labels of a list and of records in memory, and what a mix makes of them."""

import numpy as np
import pytest

import feedline
from conftest import PHOTOS

CROP = [feedline.Resize([32, 32])]


@pytest.fixture
def photos():
    return sorted(PHOTOS.glob("*/*.jpg"))[:8]


def loader(data, **keywords):
    said = {"transforms": CROP, "num_classes": 5, **keywords}
    return feedline.Loader(data, batch_size=4, framework="numpy", **said)


def dense(classes):
    return np.stack([np.isin(np.arange(5), list(each)).astype(np.float32) for each in classes])


def test_a_list_of_labels_becomes_multi_hot_rows(photos, tmp_path):
    classes = [(0, 3), (), (1,), (2, 3, 4)] * 2
    rows = [f"{path},{'|'.join(map(str, each))}" for path, each in zip(photos, classes)]
    table = tmp_path / "list.csv"
    table.write_text("\n".join(["path,labels", *rows]))
    batches = list(loader(table, label_separator="|"))
    np.testing.assert_array_equal(np.concatenate([batch["target"] for batch in batches]), dense(classes))
    np.testing.assert_array_equal(batches[0]["label"], [-1, -1, 1, -1])


def test_records_in_memory_have_lists_of_classes(photos):
    classes = [[0, 3], np.array([4, 1]), (2,), [], None, [1], [0, 1, 2, 3, 4], [3, 3]]
    records = [(path.read_bytes(), each) for path, each in zip(photos, classes)]
    target = np.concatenate([batch["target"] for batch in loader(records)])
    np.testing.assert_array_equal(target, dense([() if each is None else each for each in classes]))


def test_a_mix_weighs_all_classes_of_its_images(photos):
    classes = [(number % 5, (number + 2) % 5) for number in range(8)]
    records = [(path.read_bytes(), list(each)) for path, each in zip(photos, classes)]
    own = [(path.read_bytes(), number) for number, path in enumerate(photos)]
    mix = {"transforms": [*CROP, feedline.MixUp()], "seed": 5}
    # The same mix of images that are a class each says who is mixed, and how.
    for several, single in zip(loader(records, **mix), loader(own, **{**mix, "num_classes": 8})):
        assert (single["target"] > 0).sum() > 4
        np.testing.assert_allclose(several["target"], single["target"] @ dense(classes), atol=1e-6)


def test_what_is_no_list_of_classes_is_refused(photos):
    with pytest.raises((TypeError, ValueError)):
        loader([(photos[0].read_bytes(), ["cat"])])
