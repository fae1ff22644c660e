"""timm's `create_loader` and feedline's: the same arguments, the same images and targets."""

import pathlib
import shutil

import pytest
from conftest import PHOTOS, trainer

pytestmark = pytest.mark.filterwarnings("ignore")  # other packages' own


@pytest.fixture(autouse=True)
def installed():
    trainer("torch", "torchvision", "timm")


def dataset(sets, part="train"):
    from timm.data import create_dataset

    return create_dataset("", root=str(sets / "classes"), split=part)


def ours(sets, part="train", **options):
    import torch
    from feedline.plug.timm import create_loader

    options = {"input_size": (3, 48, 48), "batch_size": 8, "device": torch.device("cpu"), **options}
    return create_loader(dataset(sets, part), **options)


@pytest.mark.parametrize(
    "options",
    [
        {"interpolation": "bicubic"},
        {"interpolation": "bilinear", "crop_pct": 1.0},
        {"interpolation": "bicubic", "crop_pct": 0.9, "crop_mode": "squash"},
        {"interpolation": "bicubic", "crop_pct": 1.0, "crop_mode": "border"},
        {"input_size": (3, 96, 128)},
    ],
)
def test_evaluation_is_timm_s_within_two_levels(sets, options):
    import torch
    from timm.data import create_loader

    levels = {"mean": (0.0, 0.0, 0.0), "std": (1 / 255,) * 3, "device": torch.device("cpu"), "batch_size": 8}
    options = {"input_size": (3, 96, 96), **levels, **options}
    stock = create_loader(dataset(sets, "val"), num_workers=0, persistent_workers=False, **options)
    loader = ours(sets, "val", **options)
    assert len(loader) == len(stock)
    for (image, target), (image_there, target_there) in zip(loader, stock, strict=True):
        assert target.equal(target_there) and target.dtype == target_there.dtype
        assert image.shape == image_there.shape and image.dtype == image_there.dtype
        away = (image - image_there).abs()
        assert away.max() < 2.001 and (away > 0.001).float().mean() < 0.01


def test_the_data_may_be_named_from_the_working_folder(sets, monkeypatch):
    whole = [target.tolist() for _, target in ours(sets, "val")]
    monkeypatch.chdir(sets.parent)
    assert [target.tolist() for _, target in ours(pathlib.Path(sets.name), "val")] == whole


def test_training_drops_a_last_batch_that_is_not_full_and_orders_epochs_anew(sets):
    loader = ours(sets, is_training=True, auto_augment="rand-m9-mstd0.5-inc1", re_prob=0.25, interpolation="random")
    epochs = [list(loader) for _ in range(2)]
    assert len(loader) == len(epochs[0]) == 5
    assert epochs[0][0][0].shape == (8, 3, 48, 48)
    assert any(not one[1].equal(other[1]) for one, other in zip(*epochs))
    loader.sampler.set_epoch(0)
    assert all(again[0].equal(batch[0]) and again[1].equal(batch[1]) for again, batch in zip(loader, epochs[0]))
    assert loader.mixup_enabled is False


@pytest.mark.parametrize(
    "options",
    [
        {"train_crop_mode": "rkrc"},
        {"train_crop_mode": "rkrr", "scale": (0.5, 1.0), "ratio": (0.8, 1.25)},
        {"auto_augment": "augmix-m5-w4-d2"},
        {"color_jitter": (0.4, 0.4, 0.2, 0.1), "color_jitter_prob": 0.8, "grayscale_prob": 0.2, "gaussian_blur_prob": 0.5},
        {"vflip": 0.5, "hflip": 0.0, "color_jitter": None},
        {"no_aug": True},
    ],
)
def test_arguments_of_training_have_equals(sets, options):
    image, _ = next(iter(ours(sets, is_training=True, **options)))
    assert image.shape == (8, 3, 48, 48) and image.isfinite().all()


def test_mixing_is_that_of_the_collate_function_until_it_is_turned_off(sets):
    import torch
    from timm.data import FastCollateMixup

    mixup = FastCollateMixup(mixup_alpha=0.8, cutmix_alpha=1.0, label_smoothing=0.1, num_classes=12)
    loader = ours(sets, is_training=True, collate_fn=mixup)
    assert loader.mixup_enabled is True
    mixed = torch.cat([target for _, target in loader])
    assert mixed.shape == (40, 12) and (mixed.sum(1) - 1).abs().max() < 1e-6
    smallest = 0.1 / 12
    assert ((mixed > 2 * smallest).sum(1) > 1).any()
    loader.mixup_enabled = False
    plain = torch.cat([target for _, target in loader])
    assert torch.allclose(plain.max(1).values, torch.tensor(1 - 0.1 + smallest)) and loader.mixup_enabled is False
    assert loader.loader.epoch == 2


def test_classes_are_numbered_as_timm_numbers_them(tmp_path, sets):
    for name in ("10", "9"):
        (tmp_path / "classes" / "val" / name).mkdir(parents=True)
        shutil.copy(PHOTOS / "cat" / "0000.jpg", tmp_path / "classes" / "val" / name / f"{name}.jpg")
    assert dataset(tmp_path, "val").reader.class_to_idx == {"9": 0, "10": 1}
    batch = next(iter(ours(tmp_path, "val").loader))
    assert [key.rsplit("/")[-1] for key in batch["key"]] == ["9.jpg", "10.jpg"] and batch["label"].tolist() == [0, 1]


def test_half_precision_and_options_of_feedline_reach_the_loader(sets):
    import torch

    loader = ours(sets, "val", img_dtype=torch.float16, byte_cache="4M")
    assert next(iter(loader))[0].dtype == torch.float16 and loader.loader.options["byte_cache"] == 4 << 20


def test_data_that_are_no_folders_are_named():
    from types import SimpleNamespace

    from feedline.plug.timm import create_loader

    with pytest.raises(ValueError, match="read by SimpleNamespace, and only folders"):
        create_loader(SimpleNamespace(reader=SimpleNamespace(samples=[])), 48, 8, device="cpu")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"tf_preprocessing": True}, "tf_preprocessing=True has no equal"),
        ({"num_aug_splits": 3}, "num_aug_splits=3"),
        ({"collate_fn": print}, "only timm's FastCollateMixup"),
        ({"is_training": True, "auto_augment": "original"}, "auto_augment='original'"),
        ({"is_training": True, "train_crop_mode": "none"}, "train_crop_mode is 'none'"),
    ],
)
def test_arguments_without_an_equal_are_named(sets, options, message):
    with pytest.raises(ValueError, match=message):
        ours(sets, **options)
