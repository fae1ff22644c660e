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


@pytest.mark.parametrize("vector", [list, np.array, lambda row: np.array(row, np.float32), lambda row: [np.bool_(one) for one in row]])
def test_records_in_memory_have_a_number_for_every_class(photos, vector):
    classes = [(0, 3), (4, 1), (2,), (), range(5)]
    rows = [vector([float(number in each) for number in range(5)]) for each in classes]
    records = [(path.read_bytes(), row) for path, row in zip(photos, rows)]
    target = np.concatenate([batch["target"] for batch in loader([*records, (photos[5].read_bytes(), None)])])
    np.testing.assert_array_equal(target, dense([*classes, ()]))
    with pytest.raises(ValueError, match="num_classes = 4, and the data have 5 classes"):
        loader(records[3:4], num_classes=4)
    with pytest.raises(ValueError, match="the label of record 1 of the data has 4 numbers, and others have 5"):
        loader([records[0], (records[1][0], rows[1][:4])])


def test_records_in_memory_have_classes_by_name(photos):
    names = ["dog", ["cat", "eel"], None, [], "ant", ["dog"], "cat", "eel"]
    made = loader([(path, name) for path, name in zip(photos, names)], num_classes=4)
    assert made.classes == ["ant", "cat", "dog", "eel"] == made.dataset.classes
    target = np.concatenate([batch["target"] for batch in made])
    want = [[2], [1, 3], [], [], [0], [2], [1], [3]]
    np.testing.assert_array_equal(target, dense(want)[:, :4])


def test_labels_that_are_numbers_are_floats(photos):
    labels = [0.5, 2, None, np.float32(-1.5)]
    batch = next(iter(feedline.Loader([(path, label) for path, label in zip(photos, labels)], 4, transforms=CROP, framework="numpy")))
    assert batch["label"].dtype == np.float32
    np.testing.assert_array_equal(batch["label"], np.array([0.5, 2, np.nan, -1.5], np.float32))
    with pytest.raises(ValueError, match="num_classes = 5 is for classes, and the labels of these records are numbers"):
        loader([(photos[0], 0.5)])


@pytest.mark.parametrize(("label", "words"), [
    ("cat", "'cat', a name, and that of record 0 is 1, an index: give labels of one kind"),
    (["cat"], "a list of names, and that of record 0 is 1, an index"),
    ([0.1, 0.2, 0.7], "a list of floats says by 0 and 1 which classes an image has; other numbers are fields"),
])  # fmt: skip
def test_labels_of_two_kinds_are_refused(photos, label, words):
    with pytest.raises(ValueError, match=f"the label of record 1 of the data is .*{words}"):
        loader([(photos[0], 1), (photos[1], label)])


def test_a_mix_weighs_all_classes_of_its_images(photos):
    classes = [(number % 5, (number + 2) % 5) for number in range(8)]
    records = [(path.read_bytes(), list(each)) for path, each in zip(photos, classes)]
    own = [(path.read_bytes(), number) for number, path in enumerate(photos)]
    mix = {"transforms": [*CROP, feedline.MixUp()], "seed": 5, "shuffle": False}
    # The same mix of images that are a class each says who is mixed, and how.
    for several, single in zip(loader(records, **mix), loader(own, **{**mix, "num_classes": 8})):
        assert (single["target"] > 0).sum() > 4
        np.testing.assert_allclose(several["target"], single["target"] @ dense(classes), atol=1e-6)


@pytest.mark.parametrize(
    "label",
    [
        b"cat",
        [[0, 1]],
        [1, True],
        [None],
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
        ([3, 3], "b.jpg: the class `3` is there twice in one list.* a number for every class is a list of bools or of floats"),
        ([0, 1, 0, 1], "b.jpg: the class `0` is there twice in one list"),
        ([1, -1], "b.jpg: the label -1 is no class"),
        (-2, "b.jpg: the label -2 is no class"),
    ],
)
def test_wrong_classes_of_a_record_are_refused_with_its_key(photos, label, words):
    photo = photos[0].read_bytes()
    with pytest.raises(ValueError, match=words):
        loader([("a.jpg", photo, 0), ("b.jpg", photo, label)])
