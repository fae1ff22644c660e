"""torchvision's references with feedline's batches: what they give is what the scripts' own DataLoaders give."""

import pathlib
from types import SimpleNamespace

import pytest
from conftest import trainer

pytestmark = pytest.mark.filterwarnings("ignore")  # other packages' own

NORMAL = ([0.485, 0.456, 0.406], [0.229, 0.224, 0.225])


@pytest.fixture(autouse=True)
def installed():
    trainer("torch", "torchvision", "pycocotools")


def arguments(**changed):
    """Of all three scripts, at small sizes."""
    args = {
        "auto_augment": None, "augmix_severity": 3, "batch_size": 8, "cutmix_alpha": 0.0, "data_augmentation": "hflip",
        "dataset": "coco", "device": "cpu", "distributed": False, "interpolation": "bilinear", "mixup_alpha": 0.0,
        "model": "maskrcnn_resnet50_fpn", "ra_magnitude": 9, "ra_sampler": False, "random_erase": 0.0, "test_only": False,
        "train_crop_size": 48, "use_copypaste": False, "val_crop_size": 64, "val_resize_size": 80, "weights": None,
        "workers": 2,
    }  # fmt: skip
    return SimpleNamespace(**{**args, **changed})


def folders(sets):
    import torch
    from torchvision.datasets import ImageFolder
    from torchvision.transforms import v2

    evaluation = [v2.PILToTensor(), v2.Resize(80), v2.CenterCrop(64), v2.ToDtype(torch.float, scale=True)]
    transform = v2.Compose([*evaluation, v2.Normalize(*NORMAL)])
    return ImageFolder(sets / "classes" / "train", transform), ImageFolder(sets / "classes" / "val", transform)


def test_evaluation_of_classes_is_the_data_loader_s(sets):
    import torch
    from feedline.plug.torchvision import classification

    dataset, dataset_test = folders(sets)
    _, ours = classification(arguments(), dataset, dataset_test)
    stock = torch.utils.data.DataLoader(dataset_test, batch_size=8)
    assert len(ours) == len(stock) and ours.dataset is dataset_test
    for (image, target), (image_there, target_there) in zip(ours, stock, strict=True):
        assert target.equal(target_there) and target.dtype == target_there.dtype
        assert image.dtype == torch.float32 and image.shape == image_there.shape
        assert (image - image_there).abs().max() < 1e-6


def test_the_data_may_be_named_from_the_working_folder(sets, monkeypatch):
    from feedline.plug.torchvision import classification

    monkeypatch.chdir(sets.parent)
    loaders = classification(arguments(), *folders(pathlib.Path(sets.name)))
    assert [sum(len(target) for _, target in loader) for loader in loaders] == [43, 43]


def test_training_of_classes_shows_each_image_once_an_epoch_in_new_orders(sets):
    from feedline.plug.torchvision import classification

    dataset, dataset_test = folders(sets)
    loader, _ = classification(arguments(auto_augment="ta_wide", random_erase=0.5), dataset, dataset_test)
    epochs = [[target for _, target in loader] for _ in range(2)]
    orders = [[int(number) for target in epoch for number in target] for epoch in epochs]
    assert orders[0] != orders[1] and sorted(orders[0]) == sorted(orders[1]) == sorted(dataset.targets)
    loader.sampler.set_epoch(0)
    image, target = next(iter(loader))
    assert target.equal(epochs[0][0]) and image.shape == (8, 3, 48, 48)


def test_a_resumed_script_goes_on_with_its_epoch(sets):
    from feedline.plug.torchvision import classification

    args, (dataset, dataset_test) = arguments(start_epoch=0), folders(sets)

    def order(loader):
        return [int(number) for _, target in loader for number in target]

    first, _ = classification(args, dataset, dataset_test)
    epochs = [order(first) for _ in range(3)]
    resumed, _ = classification(args, dataset, dataset_test)
    args.start_epoch = 1  # as the script says it once it has read the checkpoint
    assert [order(resumed) for _ in range(2)] == epochs[1:] and epochs[0] != epochs[1]


@pytest.mark.parametrize("policy", ["ra", "ta_wide", "augmix", "imagenet"])
def test_every_policy_has_an_equal(sets, policy):
    from feedline.plug.torchvision import classification

    loader, _ = classification(arguments(auto_augment=policy), *folders(sets))
    assert next(iter(loader))[0].shape == (8, 3, 48, 48)


def test_mixed_targets_are_rows_that_sum_to_one(sets):
    from feedline.plug.torchvision import classification

    loader, _ = classification(arguments(mixup_alpha=0.2, cutmix_alpha=1.0), *folders(sets))
    targets = [target for _, target in loader]
    assert targets[0].shape == (8, 12)
    assert all((target.sum(1) - 1).abs().max() < 1e-6 for target in targets)
    assert any(((target > 0).sum(1) == 2).any() for target in targets)


def coco(sets, part):
    from torchvision.datasets import CocoDetection

    return CocoDetection(sets / "coco" / f"{part}2017", sets / "coco" / "annotations" / f"instances_{part}2017.json")


def there(dataset, at):
    """An image and its annotations as the reference converts them: float image, boxes as corners, masks of pycocotools."""
    import torch
    from torchvision.transforms.v2 import functional

    image, objects = dataset[at]
    pixels = functional.pil_to_tensor(image).float() / 255
    boxes = torch.tensor([each["bbox"] for each in objects]).reshape(-1, 4)
    boxes[:, 2:] += boxes[:, :2]
    masks = [torch.from_numpy(dataset.coco.annToMask(each)) for each in objects]
    return pixels, boxes, [each["category_id"] for each in objects], masks


def is_same(image, image_there):
    """The same levels; as floats they may be rounded differently."""
    return image.shape == image_there.shape and (image - image_there).abs().max() < 1e-6


def detection(sets, **changed):
    import torch
    from feedline.plug import torchvision

    dataset, dataset_test = coco(sets, "train"), coco(sets, "val")
    shown = [at for at, number in enumerate(dataset.ids) if dataset.coco.getAnnIds(number)]
    args = arguments(data_path=str(sets / "coco"), batch_size=4, **changed)
    return torchvision.detection(args, torch.utils.data.Subset(dataset, shown), dataset_test)


def test_evaluation_of_objects_is_the_data_loader_s(sets):
    _, ours = detection(sets)
    dataset = coco(sets, "val")
    assert len(ours) == len(dataset)
    for at, (images, targets) in enumerate(ours):
        pixels, boxes, labels, masks = there(dataset, at)
        target = targets[0]
        assert len(images) == 1 and is_same(images[0], pixels)
        assert target["image_id"] == dataset.ids[at] and target["labels"].tolist() == labels
        assert (target["boxes"] - boxes).abs().max() < 1e-3 if len(boxes) else target["boxes"].shape == (0, 4)
        assert target["masks"].shape == (len(labels), *pixels.shape[1:])
        for mask, mask_there in zip(target["masks"], masks):
            assert (mask != mask_there).float().mean() < 0.01


def test_training_on_objects_shows_annotated_images_or_their_mirror_images(sets):
    dataset, mirrored = coco(sets, "train"), 0
    loader, _ = detection(sets, model="fasterrcnn_resnet50_fpn")
    assert len(loader) == len(loader.dataset) // 4
    for images, targets in loader:
        assert len(images) == len(targets) == 4
        for image, target in zip(images, targets):
            pixels, boxes, labels, _ = there(dataset, dataset.ids.index(target["image_id"]))
            if not is_same(image, pixels):
                mirrored += 1
                assert is_same(image, pixels.flip(2))
                boxes[:, [0, 2]] = image.shape[2] - boxes[:, [2, 0]]
            assert (target["boxes"] - boxes).abs().max() < 1e-3 and target["labels"].tolist() == labels
            assert "masks" not in target
    assert 0 < mirrored < 4 * len(loader)


@pytest.mark.parametrize("policy", ["lsj", "multiscale", "ssdlite"])
def test_every_policy_of_objects_has_an_equal(sets, policy):
    loader, _ = detection(sets, data_augmentation=policy)
    images, targets = next(iter(loader))
    for image, target in zip(images, targets):
        assert image.shape[1:] == target["masks"].shape[1:] and len(target["masks"]) == len(target["boxes"])


def voc(sets, part):
    from torchvision.datasets import VOCSegmentation

    return VOCSegmentation(sets / "voc", image_set=part)


def test_evaluation_of_masks_is_the_data_loader_s_within_two_levels(sets):
    import numpy
    import torch
    from feedline.plug.torchvision import segmentation
    from torchvision.transforms import InterpolationMode
    from torchvision.transforms.v2 import functional

    dataset = voc(sets, "val")
    _, ours = segmentation(arguments(dataset="voc"), voc(sets, "train"), dataset)
    assert len(ours) == len(dataset)
    mean, std = (torch.tensor(numbers).reshape(3, 1, 1) for numbers in NORMAL)
    for (image, target), (photo, mask) in zip(ours, dataset, strict=True):
        pixels = functional.pil_to_tensor(functional.resize(photo, 520)).int()
        levels = ((image[0] * std + mean) * 255).round().int()
        away = (levels - pixels).abs()
        assert levels.shape == pixels.shape and away.max() <= 2 and (away > 0).float().mean() < 0.05
        nearest = functional.resize(mask, 520, interpolation=InterpolationMode.NEAREST)
        classes = torch.from_numpy(numpy.array(nearest)).long()
        mask.close()
        assert target.dtype == torch.int64 and target.shape == (1, *classes.shape)
        assert (target[0] != classes).float().mean() < 0.01


def test_training_on_masks_ignores_what_shows_no_image(sets):
    import torch
    from feedline.plug.torchvision import segmentation

    loader, _ = segmentation(arguments(dataset="voc", batch_size=4), voc(sets, "train"), voc(sets, "val"))
    batches = list(loader)
    assert len(batches) == len(loader) == len(voc(sets, "train")) // 4
    for image, target in batches:
        assert image.shape == (4, 3, 480, 480) and target.shape == (4, 480, 480)
        assert set(torch.unique(target).tolist()) <= {0, 1, 2, 3, 255}


@pytest.mark.parametrize(
    ("script", "changed", "message"),
    [
        ("classification", {"test_only": True, "weights": "DEFAULT"}, "--test-only"),
        ("detection", {"use_copypaste": True}, "--use-copypaste"),
        ("detection", {"data_augmentation": "ssd"}, "--data-augmentation ssd"),
        ("segmentation", {"dataset": "voc_aug"}, "--dataset voc_aug"),
    ],
)
def test_flags_without_an_equal_are_named(script, changed, message):
    from feedline.plug import torchvision

    with pytest.raises(ValueError, match=message):
        getattr(torchvision, script)(arguments(**changed), None, None)
