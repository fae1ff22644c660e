"""What training loops that were written for a DataLoader ask of a loader and its batches."""

import gc
import warnings

import numpy as np
import pytest
from conftest import PHOTOS

import feedline

RESIZE = [feedline.Resize([16, 16])]


def test_batches_are_tuples_of_image_and_label(make):
    loader = make(as_tuple=True, framework="numpy")
    for (image, label), batch in zip(loader, make(framework="numpy")):
        np.testing.assert_array_equal(image, batch["image"])
        np.testing.assert_array_equal(label, batch["label"])
    image, target = next(iter(make(as_tuple=True, num_classes=12)))
    assert image.shape == (8, 3, 32, 32) and target.shape == (8, 12)
    views = [feedline.View(16, RESIZE), feedline.View(8, [feedline.Resize([8, 8])], count=2)]
    images, label = next(iter(make(transforms=None, views=views, as_tuple=True)))
    assert [image.shape[-1] for image in images] == [16, 8, 8] and label.shape == (8,)


def test_batches_have_the_columns_that_are_named(make):
    label, image, key = next(iter(make(columns=("label", "image", "key"))))
    assert label.shape == (8,) and image.shape == (8, 3, 32, 32) and key[0].endswith(".jpg")
    assert list(next(iter(make(columns=["index", "image"], as_tuple=False)))) == ["index", "image"]
    assert len(next(iter(make(columns="image")))) == 1
    with pytest.raises(ValueError, match="columns names 'lable', which no batch has: did you mean label?"):
        make(columns=["lable"])
    with pytest.raises(ValueError, match="columns names target, which num_classes= asks for"):
        make(columns=["target"])
    with pytest.raises(ValueError, match="columns names masks, and the batch has image, label, index"):
        next(iter(make(columns=["masks"])))


def test_tuples_of_objects_want_their_columns(make, yolo):
    with pytest.raises(ValueError, match=r'name the fields, columns=\("image", "cls", "bboxes", "batch_idx"\)'):
        make(yolo, transforms=RESIZE, as_tuple=True)
    image, boxes = next(iter(make(yolo, transforms=RESIZE, columns=("image", "bboxes"))))
    assert image.shape == (4, 3, 16, 16) and boxes.shape == (5, 4)


def test_a_loader_has_the_attributes_of_a_dataloader(make):
    loader = make(num_workers=2, drop_last=True)
    assert (loader.batch_size, loader.drop_last, loader.num_workers) == (8, True, 2)
    assert (make().drop_last, make().num_workers) == (False, 0)
    assert len(loader.dataset) == 43 and loader.dataset.classes == loader.classes
    assert loader.dataset.class_to_idx[loader.classes[3]] == 3
    labels = [label for batch in make() for label in batch["label"].numpy()]
    assert loader.dataset.targets == labels
    with pytest.raises(TypeError, match="for batch in loader"):
        loader.dataset[0]
    with pytest.raises(TypeError, match="for batch in loader"):
        list(loader.dataset)


def test_the_sampler_sets_the_epoch_and_counts_rows(make):
    loader = make(shuffle=True)
    loader.sampler.set_epoch(5)
    assert (loader.epoch, loader.sampler.epoch) == (5, 5)
    third = make(shuffle=True)
    third.set_epoch(5)
    assert next(iter(loader))["index"].numpy().tolist() == next(iter(third))["index"].numpy().tolist()
    rows = {"partial": 43, "drop": 40, "pad": 48}
    for last, count in rows.items():
        loader = make(last_batch=last)
        assert len(loader.sampler) == count == sum(len(batch["key"]) for batch in loader)
    assert len(make(rank=1, world_size=2).sampler) == 22


def test_an_iterator_has_a_length(make):
    loader = make()
    batches = iter(loader)
    next(batches)
    assert len(batches) == 6 == len(loader)
    resumed = make()
    resumed.load_state_dict(loader.state_dict())
    rest = iter(resumed)
    assert len(rest) == 5 == len(list(rest))


def test_what_is_printed_says_what_it_is(make, yolo):
    loader = make(shuffle=True, normalize="imagenet")
    text = f"43 samples of 12 classes from {PHOTOS}, shuffled; 6 batches of 8: (3, 32, 32) float32 normalised, on cpu"
    assert repr(loader) == f"<feedline.Loader: {text}>"
    assert repr(loader.dataset) == f"<feedline.Dataset: 43 samples of 12 classes from {PHOTOS}>"
    assert repr(loader.sampler) == "<feedline.Sampler: 43 rows of an epoch, rank 0 of 1>"
    batches = iter(loader)
    next(batches), next(batches)
    assert repr(batches) == "<feedline.Batches of epoch 0: 2 of 6 handed out>"
    assert "(16, 16, 3) uint8 from 0 to 255" in repr(make(dtype="u8", layout="nhwc", transforms=RESIZE))
    assert "from 0 to 1, on cpu" in repr(make())
    views = [feedline.View(16, RESIZE), feedline.View(8, [feedline.Resize([8, 8])])]
    assert "2 views, (3, 16, 16) and (3, 8, 8) float32" in repr(make(transforms=None, views=views))
    loader.close()
    assert repr(loader) == "<feedline.Loader, closed>"
    mixture = feedline.Mixture(["a", "b"], [0.25, 0.75], epoch_samples=8)
    assert eval(repr(mixture), vars(feedline)).as_dict() == mixture.as_dict()
    assert eval(repr(views[0]), vars(feedline)) == views[0]


def test_objects_come_in_the_number_formats_that_trainers_have(make, yolo):
    usual = next(iter(make(yolo, transforms=RESIZE)))
    floats = next(iter(make(yolo, transforms=RESIZE, cls_dtype="float32", framework="numpy")))
    for name, shape in (("cls", (5, 1)), ("batch_idx", (5,))):
        assert usual[name].dtype == "int64" and floats[name].dtype == np.float32 and floats[name].shape == shape
        np.testing.assert_array_equal(floats[name], usual[name].numpy())
    assert make(yolo, transforms=RESIZE, cls_dtype=np.float32).samples == 4
    with pytest.raises(ValueError, match="option cls_dtype = 'float16': give int64 or float32"):
        make(yolo, transforms=RESIZE, cls_dtype="float16")


def test_pinning_is_done_or_warned_of_once(make, monkeypatch):
    monkeypatch.setattr(feedline._checks, "_told_of_pinning", False)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        loaders = [make(pin_memory=True) for _ in range(2)]
    assert all(len(list(loader)) == 6 and loader.options["pin_memory"] is True for loader in loaders)
    why = loaders[0]._native().unpinned()
    told = [f"pin_memory=True has no effect: {why}"] if why else []
    assert [str(each.message) for each in caught] == told
    assert why is None or "is not available" in why and "leave pin_memory out" in why
    assert make(pin_memory=False)._native().unpinned() is None


def test_loops_leave_nothing_behind(make):
    loader = make(as_tuple=True, framework="numpy")
    kept = [image for image, _ in loader]
    copies = [image.copy() for image in kept]
    del loader
    gc.collect()
    list(make(seed=9))
    assert all((image == copy).all() for image, copy in zip(kept, copies))
