"""Ultralytics' trainers with feedline's batches: those of validation are its own, and all have its form."""

import os
import time

import pytest
from conftest import trainer

pytestmark = pytest.mark.filterwarnings("ignore")  # other packages' own

TASKS = ["detect", "segment", "pose", "obb"]
CLASSES = {
    "detect": "DetectionTrainer",
    "segment": "SegmentationTrainer",
    "pose": "PoseTrainer",
    "obb": "OBBTrainer",
    "classify": "ClassificationTrainer",
}
MODELS = {"detect": "yolo11n.yaml", "segment": "yolo11n-seg.yaml", "classify": "yolo11n-cls.yaml"}


@pytest.fixture(autouse=True)
def installed(tmp_path_factory, monkeypatch):
    # Said before the import, which would ask the network and write into the home directory.
    monkeypatch.setenv("YOLO_OFFLINE", "1")
    os.environ.setdefault("YOLO_CONFIG_DIR", str(tmp_path_factory.getbasetemp()))
    trainer("torch", "torchvision", "ultralytics")


def made(task, sets, project, stock=False, **changed):
    """A trainer, as far as it gets without training, of Ultralytics or of ours."""
    import torch
    from feedline.plug import ultralytics as plug
    from ultralytics.models import yolo

    data = sets / "classes" if task == "classify" else sets / task / "data.yaml"
    overrides = {
        "model": MODELS.get(task, f"yolo11n-{task}.yaml"), "data": str(data), "imgsz": 160, "batch": 8, "workers": 0,
        "device": "cpu", "project": str(project), "plots": False, "epochs": 3, "close_mosaic": 1, **changed,
    }  # fmt: skip
    maker = getattr(getattr(yolo, task), CLASSES[task]) if stock else getattr(plug, CLASSES[task])
    trainer = maker(overrides=overrides)
    trainer.model = torch.nn.Identity()
    trainer.model.stride, trainer.model.names = torch.tensor([8.0, 16.0, 32.0]), trainer.data["names"]
    trainer.epoch = 0
    return trainer


def loader(trainer, mode, batch=8):
    return trainer.get_dataloader(trainer.data[mode], batch, -1, mode)


def rows(batches):
    """Each row of validation batches, by its file."""
    taken = {}
    for batch in batches:
        for at, file in enumerate(batch["im_file"]):
            own = batch["batch_idx"] == at
            row = {name: batch[name][own] for name in ("cls", "bboxes", "keypoints") if name in batch}
            row |= {name: batch[name][at] for name in ("img", "masks", "sem_masks", "ori_shape", "ratio_pad") if name in batch}
            taken[file] = row | {"shape": [int(edge) for edge in batch["resized_shape"][at]]}
    return taken


@pytest.mark.parametrize("task", TASKS)
def test_validation_batches_are_ultralytics_own(task, sets, tmp_path):
    import torch
    from ultralytics.utils.ops import xywhr2xyxyxyxy

    stock, ours = (rows(loader(made(task, sets, tmp_path, stock, imgsz=320), "val")) for stock in (True, False))
    assert stock.keys() == ours.keys() and len(ours) == 43
    errors = []
    for file, there in stock.items():
        row = ours[file]
        assert tuple(row["ori_shape"]) == tuple(there["ori_shape"]) and row["shape"] == there["shape"]
        for one, other in zip(row["ratio_pad"], there["ratio_pad"]):
            assert one == pytest.approx(other)
        assert row["img"].dtype == torch.uint8 and row["cls"].equal(there["cls"])
        away = row["img"].float() - there["img"].float()
        assert away.abs().max() <= 1
        errors.append(away.square().mean())
        boxes = [each["bboxes"] for each in (row, there)]
        if task == "obb":  # a rectangle turned by a quarter, with its sides exchanged, is the same one
            edges = torch.tensor([row["shape"][1], row["shape"][0]] * 2 + [1])
            corners = [xywhr2xyxyxyxy(each * edges).sort(1).values for each in boxes]
            assert torch.allclose(*corners, atol=0.01)
        else:
            assert torch.allclose(*boxes, atol=1e-6)
        if task == "pose":
            assert torch.allclose(row["keypoints"], there["keypoints"], atol=1e-6)
        if task == "segment":
            for name in ("masks", "sem_masks"):
                assert row[name].shape == there[name].shape
                assert (row[name] != there[name]).float().mean() < 0.02
    # OpenCV resizes in fixed-point arithmetic.
    noise = 10 * torch.log10(255**2 / torch.stack(errors))
    assert noise.min() > 52


def validated(trainer, predictions):
    """What Ultralytics' validator makes of predictions in pixels of the samples, by file: its metrics, and boxes in images."""
    trainer.test_loader = loader(trainer, "val")
    validator = trainer.get_validator()
    validator.data, validator.device = trainer.data, trainer.device
    validator.stride = 32
    validator.init_metrics(trainer.model)
    in_images = {}
    for batch in validator.dataloader:
        batch = validator.preprocess(batch)
        predicted = [predictions[file] for file in batch["im_file"]]
        validator.update_metrics(predicted, batch)
        for at, file in enumerate(batch["im_file"]):
            in_images[file] = validator.scale_preds(predicted[at], validator._prepare_batch(at, batch))["bboxes"]
    return validator.get_stats(), in_images


def test_ultralytics_validator_measures_the_same_on_both_batches(sets, tmp_path):
    import torch
    from ultralytics.utils.ops import xywh2xyxy

    dice, predictions = torch.Generator().manual_seed(1), {}
    for file, row in rows(loader(made("detect", sets, tmp_path), "val")).items():
        height, width = row["shape"]
        boxes = xywh2xyxy(row["bboxes"]) * torch.tensor([width, height, width, height])
        boxes += 6 * torch.randn(boxes.shape, generator=dice)
        conf = torch.rand(len(boxes), generator=dice)
        predictions[file] = {"bboxes": boxes, "conf": conf, "cls": row["cls"].flatten(), "extra": torch.zeros(len(boxes), 0)}
    (stock, there), (ours, here) = (validated(made("detect", sets, tmp_path, stock), predictions) for stock in (True, False))
    assert 0.2 < stock["metrics/mAP50-95(B)"] < 0.95 and ours == pytest.approx(stock, abs=1e-6)
    assert all(torch.allclose(here[file], boxes, atol=1e-3) for file, boxes in there.items())


@pytest.mark.parametrize("task", TASKS)
def test_training_batches_have_ultralytics_form(task, sets, tmp_path):
    there, batch = (next(iter(loader(made(task, sets, tmp_path, stock), "train"))) for stock in (True, False))
    for name in there.keys() - {"ratio_pad"}:  # which leads back to an image, and a mosaic shows several
        if hasattr(there[name], "shape"):
            assert batch[name].shape[1:] == there[name].shape[1:], name
            assert batch[name].dtype == there[name].dtype or name == "masks", name
        else:
            assert type(batch[name]) is type(there[name]) and len(batch[name]) == 8, name
    assert len(batch["img"]) == 8 and len(batch["cls"]) == len(batch["bboxes"]) == len(batch["batch_idx"]) > 8


def test_mosaics_end_where_close_mosaic_says(sets, tmp_path):
    trainer = made("detect", sets, tmp_path)
    train = loader(trainer, "train")
    objects = []
    for trainer.epoch in range(3):
        objects.append(sum(len(batch["cls"]) for batch in train))
    assert objects[0] > 1.5 * objects[2] and objects[1] > 1.5 * objects[2]


def test_a_resumed_trainer_goes_on_with_its_epoch(sets, tmp_path):
    trainer = made("detect", sets, tmp_path)
    train = loader(trainer, "train")
    epochs = []
    for trainer.epoch in (0, 1):
        epochs.append([batch["im_file"] for batch in train])
    resumed = made("detect", sets, tmp_path)
    resumed.epoch = 1
    assert [batch["im_file"] for batch in loader(resumed, "train")] == epochs[1] != epochs[0]


def test_a_fraction_and_a_single_class_are_ultralytics_own(sets, tmp_path):
    train = loader(made("detect", sets, tmp_path, fraction=0.5, single_cls=True), "train")
    files = {file for batch in train for file in batch["im_file"]}
    assert files == set(train.dataset.im_files) and len(files) == 22
    assert all((batch["cls"] == 0).all() for batch in train)


def test_classes_are_validated_as_ultralytics_does(sets, tmp_path):
    stock, ours = (loader(made("classify", sets, tmp_path, stock), "val") for stock in (True, False))
    assert len(stock) == len(ours)
    there = iter(stock.dataset[at] for at in range(len(stock.dataset)))
    for batch in ours:
        for image, label in zip(batch["img"], batch["cls"]):
            expected = next(there)
            assert label == expected["cls"] and image.shape == expected["img"].shape and image.dtype == expected["img"].dtype
            away = ((image - expected["img"]) * 255).abs()
            assert away.max() < 2.001 and (away > 0.001).float().mean() < 0.05
    assert next(there, None) is None


@pytest.mark.parametrize("policy", ["randaugment", "augmix", "autoaugment", None])
def test_policies_of_classification_have_equals(sets, tmp_path, policy):
    batch = next(iter(loader(made("classify", sets, tmp_path, auto_augment=policy), "train")))
    assert batch["img"].shape == (8, 3, 160, 160) and batch["cls"].shape == (8,)


@pytest.mark.parametrize("changed", [{"rect": True}, {"augmentations": [{"name": "Blur"}]}, {"bgr": 0.5}, {"classes": [0]}, {"time": 1.0}])
def test_hyper_parameters_without_an_equal_are_named(sets, tmp_path, changed):
    with pytest.raises(ValueError, match=f"{next(iter(changed))}=.* has no equal"):
        loader(made("detect", sets, tmp_path, **changed), "train")


@pytest.mark.parametrize("said", [True, "ram", "disk"])
@pytest.mark.parametrize("task", ["detect", "classify"])
def test_ultralytics_cache_is_one_that_processes_share_and_its_own_keeps_nothing(sets, tmp_path, task, said):
    images = [path for path in sets.rglob("*") if path.suffix == ".jpg"]
    for path in images:
        os.utime(path, (1e9, 1e9))  # files that were written a moment ago are compared at every read
    time.sleep(0.1)  # and so are files whose dates were set a moment ago
    trainer = made(task, sets, tmp_path, cache=said)
    trainer.feedline_options = {"cache_file": str(tmp_path / "cache"), "cache_limit": "64M"}
    ours = loader(trainer, "val")
    assert trainer.args.cache == said and not any(image is not None for image in getattr(ours.dataset, "ims", ()))
    first, again = ([batch["img"].clone() for batch in ours] for _ in range(2))
    assert all((one == other).all() for one, other in zip(first, again, strict=True))
    io = ours.loader.stats()["io"]
    assert io["shared_misses"] == len(ours.dataset) and io["shared_hits"] >= len(ours.dataset)
    assert (tmp_path / "cache").exists() and not list(sets.rglob("*.npy"))


def test_values_of_cache_that_ultralytics_has_not_are_refused():
    from feedline.plug.ultralytics import cache_of

    assert [cache_of(said) for said in (False, None, True, "ram", "disk")] == ["off", "off", "ram", "ram", "disk"]
    with pytest.raises(ValueError, match="cache='gpu' is none of"):
        cache_of("gpu")


def test_masks_of_single_objects_have_the_classes_of_pixels_that_ultralytics_has(sets, tmp_path):
    def classes(stock):
        batches = loader(made("segment", sets, tmp_path, stock, overlap_mask=False), "val")
        return {file: mask for batch in batches for file, mask in zip(batch["im_file"], batch["sem_masks"])}

    stock, ours = classes(True), classes(False)
    assert stock.keys() == ours.keys() and len(ours) == 43
    assert any(mask.any() for mask in ours.values())
    for file, there in stock.items():
        assert ours[file].shape == there.shape and ours[file].dtype == there.dtype
        assert (ours[file] != there).float().mean() < 0.02


def test_no_image_is_validated_twice(sets, tmp_path):
    trainer = made("segment", sets, tmp_path, overlap_mask=False)
    alone = loader(trainer, "val")
    type(trainer).feedline_options = {"last_batch": "pad"}
    try:
        padded = loader(trainer, "val")
    finally:
        type(trainer).feedline_options = {}
    for one, other in zip(alone, padded, strict=True):
        assert one.keys() == other.keys()
        for name, value in one.items():
            assert other[name] == value if isinstance(value, tuple) else other[name].equal(value), name


def test_masks_of_objects_are_cut_by_their_rows_where_there_are_as_many(sets):
    import torch
    from feedline.plug.ultralytics import without_padding

    kinds = {"per-object": torch.uint8, "overlap": torch.int32}
    masks = {kind: torch.arange(3, dtype=dtype).reshape(3, 1, 1) for kind, dtype in kinds.items()}
    common = {"status": ["ok", "ok", "padded"], "index": torch.tensor([0, 1, 1]), "batch_idx": torch.tensor([0, 2, 2])}
    cut = {kind: without_padding({**common, "masks": each})["masks"].flatten().tolist() for kind, each in masks.items()}
    # Two of the three objects are in the row that repeats a sample.
    assert cut == {"per-object": [0], "overlap": [0, 1]}


@pytest.mark.parametrize("task", ["detect", "classify"])
def test_a_data_set_is_made_by_the_first_process_before_the_others(task, sets, tmp_path, monkeypatch):
    from contextlib import contextmanager

    from feedline.plug import ultralytics as plug

    happened, trainer = [], made(task, sets, tmp_path)
    build = trainer.build_dataset

    @contextmanager
    def zero_first(rank):
        happened.append(rank)
        yield
        happened.append("done")

    monkeypatch.setattr(plug, "torch_distributed_zero_first", zero_first)
    monkeypatch.setattr(trainer, "build_dataset", lambda *said: happened.append("built") or build(*said))
    loader(trainer, "val")
    assert happened == [-1, "built", "done"]


def test_loaders_answer_what_ultralytics_asks_of_them(sets, tmp_path):
    train, val = (loader(made("detect", sets, tmp_path), mode) for mode in ("train", "val"))
    assert train.drop_last is False and len(train.sampler) == len(train.dataset)
    assert list(val.sampler) == list(range(43))
    trainer = made("detect", sets, tmp_path)
    trainer.feedline_options = {"seed": 3, "device": "cpu"}
    assert loader(trainer, "train").loader.options["seed"] == 3
