"""The recipes of torchvision's reference scripts for classification, and those whose transforms are torchvision's."""

import torch
from torchvision.transforms import v2
from torchvision.transforms.v2 import InterpolationMode

from .entry import Entry
from .mixes import mixed_batch, mixed_labels, mixes_of_windows
from .recording import recorded, stand_in

BICUBIC = InterpolationMode.BICUBIC
BILINEAR = InterpolationMode.BILINEAR


def drawn(*transforms):
    """How a composition of torchvision's transforms draws."""
    composition = v2.Compose(transforms)

    def draw(case, _view):
        with recorded() as recorder:
            composition(stand_in(case.size))
        return recorder.taken()

    return draw


class RecordedAugMix(v2.AugMix):
    """torchvision's AugMix, whose calls become one op."""

    def forward(self, picture):
        """As torchvision does, with a record of the weights and of the chains."""
        self.weights, self.chains, self.start = [], [], None
        with recorded() as self.recorder:
            super().forward(picture)
        own, chains = self.weights
        combined = (chains * own[:, 1:])[0].tolist()
        ops = {"op": "sum_chains", "chains": [{"weight": float(own[0, 0]), "ops": []}] + [
            {"weight": weight, "ops": ops} for weight, ops in zip(combined, self.chains)]}
        self.into(ops)
        return picture

    def _sample_dirichlet(self, params):
        self.weights.append(super()._sample_dirichlet(params))
        return self.weights[-1]

    def _apply_image_or_video_transform(self, image, *arguments, **named):
        if self.start is None or image is self.start:
            self.start = image
            self.chains.append([])
        made = super()._apply_image_or_video_transform(image[0], *arguments, **named)
        self.chains[-1].extend(self.recorder.taken())
        return made[None]


def aug_mix(case, _view):
    """RandomResizedCrop, a flip and AugMix."""
    ahead = drawn(v2.RandomResizedCrop(224), v2.RandomHorizontalFlip())(case, _view)
    mixing, made = RecordedAugMix(interpolation=BILINEAR), []
    mixing.into = made.append
    mixing(stand_in((224, 224), channels=0))
    return ahead + made


def own_class(run, line, made):
    """The class of the image's folder."""
    expected = [[run.data.label(line["key"]), 1.0]]
    return "" if made.labels == expected else f"labels {made.labels} instead of {expected}"


def crop(size, **arguments):
    """RandomResizedCrop and a flip."""
    return v2.RandomResizedCrop(size, **arguments), v2.RandomHorizontalFlip()


def window_mix():
    """One batch's draws of torchvision's RandomChoice of MixUp and CutMix."""
    if torch.rand(()) < 0.5:
        return v2.MixUp(alpha=0.2, num_classes=2).make_params([])["lam"], None
    made = v2.CutMix(alpha=1.0, num_classes=2).make_params([stand_in((176, 176))])
    return made["lam_adjusted"], made["box"]


CLASSIFICATION = "torchvision's references/classification"
ENTRIES = [
    # Nothing is rendered, so that only labels and the order are there to compare.
    Entry("decode-only", "none: it renders nothing", lambda case, view: [], labels=own_class, renders=False),
    Entry("imagenet-train", CLASSIFICATION, drawn(*crop(224)), labels=own_class),
    Entry("imagenet-eval", CLASSIFICATION, drawn(v2.Resize(256), v2.CenterCrop(224)), labels=own_class),
    Entry("imagenet-randaugment", f"{CLASSIFICATION}, `--auto-augment ra`",
          drawn(*crop(224), v2.RandAugment(interpolation=BILINEAR)), labels=own_class, epochs=3),
    Entry("imagenet-v2", f"{CLASSIFICATION}, `--auto-augment ta_wide --random-erase 0.1 --mixup-alpha 0.2 "
                         "--cutmix-alpha 1.0 --ra-sampler`",
          drawn(*crop(176), v2.TrivialAugmentWide(interpolation=BILINEAR), v2.RandomErasing(p=0.1)), epochs=3,
          mixed=mixed_batch, labels=mixed_labels, more=mixes_of_windows(window_mix, 176), flags=["--partner-window", 8, "--repeats", 1]),
    Entry("augmix", f"{CLASSIFICATION}, `--auto-augment augmix`", aug_mix, labels=own_class, epochs=3),
    Entry("mae", "MAE's main_pretrain.py, in torchvision's transforms",
          drawn(*crop(224, scale=(0.2, 1.0), interpolation=BICUBIC)), labels=own_class),
    Entry("clip", "open_clip's image_transform, in torchvision's transforms",
          drawn(v2.RandomResizedCrop(224, scale=(0.9, 1.0), interpolation=BICUBIC)), labels=own_class),
    Entry("siglip", "open_clip's image_transform, in torchvision's transforms",
          drawn(v2.RandomResizedCrop(224, scale=(0.9, 1.0), interpolation=BICUBIC)), labels=own_class),
    Entry("yolo-classify", "Ultralytics' classification set by behaviour, in torchvision's transforms",
          drawn(*crop(224, scale=(0.5, 1.0)), v2.RandAugment(interpolation=BILINEAR), v2.RandomErasing(p=0.4)),
          labels=own_class, epochs=3),
]
