"""What a batch holds, in which memory, and for how long."""

import gc
import os
import subprocess

import numpy as np
import pytest
from conftest import PHOTOS, ROOT, SMALL

import feedline


def test_an_epoch_shows_each_photograph_once_in_batches_of_the_shape_asked_for(make):
    loader = make(shuffle=True)
    batches = list(loader)
    assert len(loader) == len(batches) == 6
    assert loader.samples == 43
    assert [batch["image"].shape for batch in batches] == [(8, 3, 32, 32)] * 5 + [(3, 3, 32, 32)]
    assert sorted(int(i) for batch in batches for i in batch["index"].numpy()) == list(range(43))
    for batch in batches:
        classes = [loader.classes[label] for label in batch["label"].numpy()]
        assert classes == [key.split("/")[0] for key in batch["key"]]
        assert batch["status"] == ["ok"] * len(batch["key"])


@pytest.mark.parametrize("dtype", ["float32", "f16", np.uint8, np.dtype("float16")])
@pytest.mark.parametrize("layout", ["NCHW", "nhwc"])
def test_number_format_and_layout_are_those_asked_for(make, dtype, layout):
    batch = next(iter(make(dtype=dtype, layout=layout)))
    image = batch["image"].numpy()
    assert image.dtype == {"f16": np.dtype("float16")}.get(dtype, np.dtype(dtype) if dtype != "f16" else None)
    assert image.shape == ((8, 3, 32, 32) if layout == "NCHW" else (8, 32, 32, 3))
    assert image.max() > 0


def test_bfloat16_is_refused_by_name_where_numpy_has_none(make):
    image = next(iter(make(dtype="bf16")))["image"]
    assert image.dtype == "bfloat16"
    with pytest.raises(TypeError, match="torch.from_dlpack"):
        image.numpy()


def test_arrays_are_the_batch_s_own_memory(make):
    batch = next(iter(make()))
    for name in ("image", "label", "index"):
        address, read_only = batch[name].__array_interface__["data"]
        arrays = [batch[name].numpy(), np.asarray(batch[name]), np.from_dlpack(batch[name])]
        assert {array.ctypes.data for array in arrays} == {address}
        assert read_only == (name != "image")
        assert all(array.flags.writeable != read_only for array in arrays)
    assert batch["image"].__array_interface__["data"][0] % 64 == 0
    assert batch["image"].__dlpack_device__() == (1, 0)
    batch["image"].numpy()[:] = 7
    assert (np.from_dlpack(batch["image"]) == 7).all()


def test_arrays_lie_in_the_loader_s_few_slots(make):
    loader = make(batch_size=4, num_workers=1, prefetch_factor=1)

    def addresses():
        epoch, found = iter(loader), []
        while (batch := next(epoch, None)) is not None:
            found.append(batch["image"].numpy().ctypes.data)
            del batch  # a `for` loop would keep it until the next one is there
        return found

    seen = set(addresses())
    held = next(iter(loader))["image"].numpy()
    while_held = set(addresses())
    assert held.ctypes.data not in while_held
    seen |= while_held | {held.ctypes.data}
    del held
    # One batch ahead, one that is being filled, one with the consumer; a quick consumer never sees all of them.
    assert len(seen | set(addresses())) <= 3


def test_arrays_outlive_the_loader_and_each_other(make):
    loader = make()
    batches = list(loader)
    kept = [np.asarray(batch["image"]) for batch in batches]
    copies = [image.copy() for image in kept]
    views = [image[-1, 0] for image in kept]
    del loader, batches, kept
    gc.collect()
    again = [batch["image"].numpy() for batch in make()]
    assert all((view == copy[-1, 0]).all() for view, copy in zip(views, copies))
    assert all((one == other).all() for one, other in zip(again, copies))


def test_a_capsule_that_nobody_takes_gives_its_batch_back(make):
    loader = make(num_workers=1, prefetch_factor=1)
    for _ in range(3):
        for batch in loader:
            batch["image"].__dlpack__(max_version=(1, 0))
            batch["image"].__dlpack__()
            batch["label"].__dlpack__()


def test_a_copy_or_another_device_is_refused(make):
    image = next(iter(make()))["image"]
    with pytest.raises(BufferError, match="copy it"):
        image.__dlpack__(copy=True)
    with pytest.raises(BufferError, match="lies on cpu"):
        image.__dlpack__(dl_device=(2, 0))
    with pytest.raises(ValueError, match="has no streams"):
        image.__dlpack__(stream=3)


def test_numpy_is_one_word_away(make):
    batch = next(iter(make(framework="numpy", num_classes=12, label_smoothing=0.12)))
    assert type(batch["image"]) is np.ndarray and type(batch["label"]) is np.ndarray
    assert batch["target"].shape == (8, 12)
    one_hot = np.eye(12, dtype=np.float32)[batch["label"]]
    np.testing.assert_allclose(batch["target"], one_hot * 0.88 + 0.01, atol=1e-6)


def test_the_bytes_are_those_of_the_rust_loader():
    built = os.environ.get("FEEDLINE_BATCH_BYTES")
    run = [built] if built else "cargo run --quiet --locked --features remote --example batch_bytes --".split()
    run += [str(PHOTOS), "imagenet-train", "7", "3", "5"]
    expected = subprocess.run(run, cwd=ROOT, check=True, stdout=subprocess.PIPE).stdout
    for workers in (1, 3):
        loader = feedline.Loader(PHOTOS, 5, True, recipe="imagenet-train", seed=7, num_workers=workers)
        loader.set_epoch(3)
        assert b"".join(batch["image"].numpy().tobytes() for batch in loader) == expected


def test_transforms_and_the_recipe_of_the_same_give_the_same_bytes(make):
    chain = [
        feedline.RandomResizedCrop(224),
        feedline.RandomHorizontalFlip(),
    ]
    recipe = "name = 'same'\n[output]\nsize = [224, 224]\n[normalize]\npreset = 'imagenet'\n"
    recipe += "[[augment]]\nop = 'RandomResizedCrop'\nsize = 224\n[[augment]]\nop = 'RandomHorizontalFlip'\n"
    one, other = make(transforms=chain, normalize="imagenet", seed=1), make(recipe=recipe, seed=1, shuffle=False)
    for batch, same in zip(one, other):
        assert (batch["image"].numpy() == same["image"].numpy()).all()


def test_records_in_memory_are_data_too(make):
    files = sorted(PHOTOS.glob("*/*.jpg"))[:5]
    named = [(file.name, file.read_bytes(), at) for at, file in enumerate(files)]
    batch = next(iter(make(named, batch_size=5)))
    assert batch["key"] == [file.name for file in files]
    assert batch["label"].numpy().tolist() == [0, 1, 2, 3, 4]
    batch = next(iter(make([file.read_bytes() for file in files], batch_size=5)))
    assert batch["label"].numpy().tolist() == [-1] * 5
    assert batch["key"][3] == "record 3"
    pairs = ((bytes, label) for _, bytes, label in named)
    assert next(iter(make(pairs, batch_size=5)))["label"].numpy().tolist() == [0, 1, 2, 3, 4]


def test_boxes_come_as_yolo_trainers_take_them(make, yolo):
    loader = make(yolo, batch_size=4, transforms=[feedline.Resize([64, 64])])
    batch = next(iter(loader))
    assert loader.classes == ["cat", "paw"]
    assert batch["cls"].numpy().tolist() == [[1], [0], [1], [0], [1]]
    assert batch["batch_idx"].numpy().tolist() == [0, 0, 1, 1, 2]
    boxes = batch["bboxes"].numpy()
    assert boxes.shape == (5, 4) and boxes.dtype == np.float32
    np.testing.assert_allclose(boxes[0], [0.5, 0.5, 0.5, 0.25], atol=1e-6)
    assert batch["share"].numpy().tolist() == [1.0] * 5
    assert batch["crowd"].numpy().tolist() == [False] * 5
    assert batch["polygon_offsets"].numpy().tolist() == [0] * 6
    assert batch["points"].numpy().shape == (0, 2)
    loader = make(yolo, batch_size=4, transforms=[feedline.Resize([64, 64])], box_format="xyxy", box_unit="pixels")
    np.testing.assert_allclose(next(iter(loader))["bboxes"].numpy()[0], [16, 24, 48, 40], atol=1e-4)


def test_keypoints_have_one_row_an_object(make, poses):
    batch = next(iter(make(poses, batch_size=1, transforms=[feedline.Resize([64, 64])])))
    expected = [[[0.25, 0.25, 2], [0.75, 0.75, 1]], [[0.5, 0.5, 2], [0, 0, 0]]]
    np.testing.assert_allclose(batch["keypoints"].numpy(), expected, atol=1e-6)


def test_a_mosaic_s_batches_have_objects_of_all_its_images(make, yolo):
    batches = list(make(yolo, batch_size=2, recipe="yolo-train", shuffle=True))
    assert [batch["image"].shape for batch in batches] == [(2, 3, 640, 640)] * 2
    assert all(len(batch["cls"]) == len(batch["bboxes"]) == len(batch["batch_idx"]) for batch in batches)


def test_masks_are_filled_where_the_data_have_none(make):
    masks = next(iter(make(masks=255)))["masks"].numpy()
    assert masks.shape == (8, 32, 32) and masks.dtype == np.uint8 and (masks == 255).all()


def test_batches_may_differ_in_size(make, yolo):
    loader = make(yolo, batch_size=1, recipe="yolo-train", multi_scale=0.5)
    shapes = {batch["image"].shape[2] for _ in range(6) for batch in loader}
    assert len(shapes) > 1 and all(320 <= shape <= 960 and shape % 32 == 0 for shape in shapes)


def test_a_tensor_says_what_it_is(make):
    image = next(iter(make()))["image"]
    assert repr(image) == "feedline.Tensor(shape=[8, 3, 32, 32], dtype=float32, device=cpu)"
    assert len(image) == 8 and image.dtype == "float32" and image.device == "cpu"


def test_subset_and_weights_choose_the_samples(make):
    loader = make(subset=[40, 2, 7], batch_size=2)
    assert [index for batch in loader for index in batch["index"].numpy().tolist()] == [40, 2, 7]
    weights = np.zeros(43)
    weights[5] = 1
    assert {index for batch in make(weights=weights) for index in batch["index"].numpy().tolist()} == {5}


def test_numpy_numbers_and_paths_are_options_like_others(make):
    loader = make(os.fspath(PHOTOS), batch_size=np.int64(4), seed=np.uint32(3), transforms=[*SMALL], size=np.int32(32))
    assert next(iter(loader))["image"].shape == (4, 3, 32, 32)
