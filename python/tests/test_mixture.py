"""Mixtures: what Python says of several data sets, and what becomes of it."""

import shutil

import feedline
import numpy as np
import pytest
from conftest import PHOTOS

CROP = [feedline.Resize([32, 32])]


@pytest.fixture
def folders(tmp_path):
    """Photographs of two data sets, which have different names for cats."""
    for there, here in (("cat", "a/cat"), ("rocket", "a/rocket"), ("cat", "b/kitten"), ("clock", "b/clock")):
        shutil.copytree(PHOTOS / there, tmp_path / here)
    return [tmp_path / "a", tmp_path / "b"]


def loader(data, **keywords):
    return feedline.Loader(data, batch_size=4, transforms=CROP, seed=3, **keywords)


def test_classes_go_by_their_names(folders):
    made = loader(feedline.Mixture(folders, rename={"kitten": "cat"}))
    assert made.classes == ["cat", "rocket", "clock"]
    assert made.samples == sum(len(list(folder.glob("*/*.jpg"))) for folder in folders)
    for batch in made:
        for key, label in zip(batch["key"], batch["label"].numpy()):
            name, path = key.split(":", 1)
            there = path.split("/")[-2].replace("kitten", "cat")
            assert name in ("a", "b") and made.classes[label] == there
    listed = loader(feedline.Mixture({"x": folders[0], "y": {"path": folders[1]}}, classes=["clock", "kitten", "rocket", "cat"]))
    assert listed.classes == ["clock", "kitten", "rocket", "cat"]
    assert next(iter(listed))["key"][0].startswith("x:")


def test_weights_draw_and_a_run_goes_on_at_any_batch(folders):
    mixture = feedline.Mixture(folders, weights=[0.75, 0.25], epoch_samples=64)
    whole = [(batch["key"], batch["image"].numpy().tobytes()) for batch in loader(mixture, shuffle=True)]
    keys = [key for batch, _ in whole for key in batch]
    assert len(keys) == 64 and sum(key.startswith("a:") for key in keys) == 48
    for steps in (0, 1, 7, 15):
        stopped = loader(mixture, shuffle=True)
        batches = iter(stopped)
        for _ in range(steps):
            next(batches)
        resumed = loader(mixture, shuffle=True)
        resumed.load_state_dict(stopped.state_dict())
        assert [(batch["key"], batch["image"].numpy().tobytes()) for batch in resumed] == whole[steps:]
    other = loader(feedline.Mixture(folders, weights=[0.5, 0.5], epoch_samples=64), shuffle=True)
    with pytest.raises(ValueError, match="its selection is"):
        other.load_state_dict(stopped.state_dict())


def test_data_sets_are_chained(folders):
    made = loader(feedline.Mixture(folders, mix="chain"), shuffle=True)
    names = [key[0] for batch in made for key in batch["key"]]
    assert names == sorted(names)


def test_what_cannot_be_mixed_is_refused(folders):
    for data, error, words in [
        (lambda: feedline.Mixture(folders, weights=[0.5, 0.6]), ValueError, "sum to 1.1"),
        (lambda: feedline.Mixture(folders, weights=[1.0]), ValueError, "1 weights for 2 data sets"),
        (lambda: feedline.Mixture([folders[0], folders[0]]), ValueError, "both called `a`"),
        (lambda: feedline.Mixture(folders, classes=["cat", "rocket"]), ValueError, "the class `clock` is not in classes"),
        (lambda: feedline.Mixture(folders, rename={"cta": "cat"}), ValueError, "did you mean `cat`"),
        (lambda: feedline.Mixture([{"path": folders[0], "splt": "x"}]), ValueError, r"data.sets\[0\] has no key `splt`"),
        (lambda: feedline.Mixture([7]), TypeError, "give a path, or a dict"),
        (lambda: feedline.Mixture(str(folders[0])), TypeError, "put it into a list"),
        (lambda: feedline.Mixture({"a": {"path": "x", "name": "b"}}), ValueError, "say it once"),
    ]:
        with pytest.raises(error, match=words):
            loader(data())
    with pytest.raises(ValueError, match="both say what classes is"):
        loader(feedline.Mixture(folders, classes=["x"]), classes=["y"])
    assert np.asarray(next(iter(loader(folders[0], classes=["rocket", "cat"])))["label"]).tolist() == [1] * 4


def test_records_and_paths_stand_in_place_of_a_recipe_s_data_sets(folders):
    sets = "".join(f"[[data.sets]]\npath = '{folder}'\nweight = 0.5\n" for folder in folders)
    recipe = "name = 'x'\noutput.size = 32\n[data]\nmix = 'weighted'\nepoch_samples = 7\n" + sets
    recipe += "[[augment]]\nop = 'Resize'\nsize = [32, 32]\n"
    assert sum(len(batch["key"]) for batch in feedline.Loader(recipe=recipe)) == 7
    photos = sorted(folders[1].glob("*/*.jpg"))
    records = feedline.Loader([path.read_bytes() for path in photos], recipe=recipe)
    folder = feedline.Loader(folders[1], recipe=recipe)
    assert records.samples == folder.samples == len(photos) and "sets" not in records.options
    assert sum(len(batch["key"]) for batch in records) == len(photos)


def test_each_sample_is_repeated(folders):
    made = loader(feedline.Mixture(folders), repeats=3, shuffle=True)
    keys = [key for batch in made for key in batch["key"]]
    assert len(keys) == made.samples and keys[:3] == [keys[0]] * 3 and keys[3] != keys[0]
