"""Several views of each sample."""

import numpy
import pytest
from conftest import PHOTOS

import feedline


def crop(size, **arguments):
    return feedline.View(size, [feedline.RandomResizedCrop(size), feedline.GaussianBlur(3, p=0.5)], **arguments)


def test_a_batch_has_an_array_for_each_view():
    with feedline.Loader(PHOTOS, 5, transforms=[feedline.RandomHorizontalFlip()], views=[crop(48), crop(24, count=3)]) as loader:
        for batch in loader:
            n = len(batch["key"])
            assert [view.shape for view in batch["views"]] == [(n, 3, 48, 48)] + 3 * [(n, 3, 24, 24)]
            views = [numpy.asarray(view) for view in batch["views"]]
            assert numpy.array_equal(views[0], numpy.asarray(batch["image"]))
            assert not numpy.array_equal(views[1], views[2])
            assert batch["view_labels"] == [{}, {}, {}, {}]
        assert loader.stats()["images"] == loader.samples


def test_a_single_view_is_a_list_of_one():
    with feedline.Loader(PHOTOS, 5, views=[crop(48)]) as loader:
        batch = next(iter(loader))
    assert [view.shape for view in batch["views"]] == [(5, 3, 48, 48)] and batch["view_labels"] == [{}]
    with feedline.Loader(PHOTOS, 5, transforms=[feedline.CenterCrop(48)]) as loader:
        assert "views" not in next(iter(loader))


def test_a_recipe_may_have_views_and_numpy_arrays_are_made_of_all():
    with feedline.Loader(PHOTOS, 2, recipe="dinov2", framework="numpy", num_classes=12) as loader:
        batch = next(iter(loader))
    assert [view.shape[2] for view in batch["views"]] == [224, 224] + 8 * [96]
    assert all(isinstance(view, numpy.ndarray) for view in batch["views"])
    assert numpy.array_equal(batch["view_labels"][9]["target"], batch["target"])


def test_views_outlive_the_batch_and_the_loader():
    loader = feedline.Loader(PHOTOS, 4, views=[crop(32), crop(16)], seed=3)
    batch = next(iter(loader))
    kept = numpy.asarray(batch["views"][1])
    copy = kept.copy()
    loader.close()
    del batch, loader
    assert numpy.array_equal(kept, copy)


def test_a_view_is_plain_data_and_checked_at_once():
    view = feedline.View([24, 32], [feedline.Resize((24, 32))], count=2)
    assert view.as_dict()["size"] == [24, 32] and view.count == 2 and view.transforms == (feedline.Resize([24, 32]),)
    assert eval(repr(view), vars(feedline)) == view and hash(eval(repr(view), vars(feedline))) == hash(view)
    with pytest.raises(ValueError, match="count is 0"):
        feedline.View(24, count=0)
    with pytest.raises(ValueError, match=r"transforms\[0\]: unknown op `Resise`"):
        feedline.View(24, [{"op": "Resise"}])
    with pytest.raises(TypeError, match="is no transform"):
        feedline.View(24, [str])


def test_what_cannot_be_is_refused_with_its_place():
    with pytest.raises(ValueError, match=r"views\[1\]: the augmentations end at 20x20 but the output is 24x24"):
        feedline.Loader(PHOTOS, 2, views=[crop(32), feedline.View(24, [feedline.CenterCrop(20)])])
    with pytest.raises(ValueError, match="a view needs a size"):
        feedline.Loader(PHOTOS, 2, views=[{"transforms": []}])
    with pytest.raises(ValueError, match="give one of them"):
        feedline.Loader(PHOTOS, 2, recipe="simclr", views=[crop(32)])
    with pytest.raises(TypeError, match="is no view"):
        feedline.Loader(PHOTOS, 2, views=[feedline.CenterCrop(20)])
