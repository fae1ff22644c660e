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
    classes = [[0, 3], np.array([4, 1]), (2,), [], None, np.array(1), [np.int8(0), 1, 2, 3, 4], iter([3])]
    records = [(path.read_bytes(), each) for path, each in zip(photos, classes)]
    target = np.concatenate([batch["target"] for batch in loader(records)])
    np.testing.assert_array_equal(target, dense([(0, 3), (4, 1), (2,), (), (), (1,), range(5), (3,)]))


def test_a_mix_weighs_all_classes_of_its_images(photos):
    classes = [(number % 5, (number + 2) % 5) for number in range(8)]
    records = [(path.read_bytes(), list(each)) for path, each in zip(photos, classes)]
    own = [(path.read_bytes(), number) for number, path in enumerate(photos)]
    mix = {"transforms": [*CROP, feedline.MixUp()], "seed": 5}
    # The same mix of images that are a class each says who is mixed, and how.
    for several, single in zip(loader(records, **mix), loader(own, **{**mix, "num_classes": 8})):
        assert (single["target"] > 0).sum() > 4
        np.testing.assert_allclose(several["target"], single["target"] @ dense(classes), atol=1e-6)


@pytest.mark.parametrize(
    "label",
    [
        "cat",
        ["cat"],
        b"cat",
        1.0,
        [0.1, 0.2, 0.7],
        [False, True, False],
        np.array([0.0, 1.0]),
        np.array([False, True]),
        [np.bool_(True), np.bool_(False)],
        np.array(2.5),
        [[0, 1]],
        {0: 0.5},
        2**63,
        [2**64],
    ],
    ids=repr,
)
def test_what_is_no_list_of_classes_is_refused_with_the_record_s_number(photos, label):
    photo = photos[0].read_bytes()
    for record in ((photo, label), ("some.jpg", photo, label)):
        with pytest.raises(TypeError, match="the label of record 1 of the data is .*: give the class as a whole number"):
            loader([(photo, 1), record])


@pytest.mark.parametrize(
    ("label", "words"),
    [
        ([3, 3], "b.jpg: the class `3` is there twice in one list.* not a number for every class"),
        ([0, 1, 0, 1], "b.jpg: the class `0` is there twice in one list"),
        ([1, -1], "b.jpg: the label -1 is no class"),
        (-2, "b.jpg: the label -2 is no class"),
    ],
)
def test_wrong_classes_of_a_record_are_refused_with_its_key(photos, label, words):
    photo = photos[0].read_bytes()
    with pytest.raises(ValueError, match=words):
        loader([("a.jpg", photo, 0), ("b.jpg", photo, label)])
