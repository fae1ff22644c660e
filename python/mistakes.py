"""Mistakes that newcomers make, and what feedline answers: the table of the tests, and of docs/mistakes.md.

python mistakes.py           # writes the page
python mistakes.py --check   # fails where it is not what would be written

Needs NumPy, and the bundled photographs.
"""

from __future__ import annotations

import contextlib
import os
import pathlib
import shutil
import sys
import tempfile
import types
import typing
import warnings

HERE = pathlib.Path(__file__).resolve().parent
PAGE = HERE.parent / "docs" / "mistakes.md"
PHOTOS = HERE.parent / "data" / "photos"

HEAD = """\
# Mistakes

What newcomers write, and what feedline answers: an error or a `feedline.FeedlineWarning`, in one line, with what to write
instead. `photos` is a folder with a folder for each class, `flat` one of images, `path` one image, `Records` an object with
`__len__` and `__getitem__`, and `crop` is `[feedline.RandomResizedCrop(224)]`. A warning is for code that runs, but probably not as
intended. If it is intended, the message says which argument makes that clear;
`warnings.simplefilter("error", feedline.FeedlineWarning)` turns all warnings into errors.

<!-- Made from python/mistakes.py by `python python/mistakes.py`; do not edit. -->
"""

#: What no library can see.
TAIL = """
## What no message can tell

| Mistake | Instead |
|---|---|
| `batch["image"] / 255`, though floats are from 0 to 1 already | leave the division out, or ask for `dtype="uint8"`; `print(loader)` says which range images have |
| normalising in the model or the loop what `normalize=` has normalised | one of them; `print(loader)` says `normalised` |
| `for image, label in loader`: a batch is a dict | `as_tuple=True`, or `batch["image"]`, `batch["label"]` |
| `next(iter(loader))` in a loop, which starts an epoch each time | `for batch in loader` |
| counting rows whose `batch["status"]` is `padded` in metrics | leave them out |
"""


class Mistake(typing.NamedTuple):
    title: str
    code: str
    kind: str
    """The exception, or `warning`."""
    remedy: str
    """What the message must say."""


def group(title: str, *mistakes: tuple[str, str, str, str]) -> list[Mistake | str]:
    return [title, *(Mistake(*mistake) for mistake in mistakes)]


CROP = "transforms=crop"

TABLE: list[Mistake | str] = [
    *group(
        "Data",
        ("a path that does not exist", f'feedline.Loader("foto", 4, {CROP})', "FileNotFoundError", "check the path"),
        ("a pattern that matches nothing", f'feedline.Loader("photos/*.jpeg", 4, {CROP})', "FileNotFoundError", "No file matches"),
        ("a pattern of images", f'feedline.Loader("photos/*/*.jpg", 4, {CROP})', "ValueError", "give the folder"),
        ("folders without images", f'feedline.Loader("empty", 4, {CROP})', "ValueError", "files must end in one of"),
        ("a folder without folders of classes", f'feedline.Loader("flat", 4, {CROP})', "warning", "a folder for each class"),
        ("classes asked for that the data have not", f'feedline.Loader("flat", 4, {CROP}, flat=True, num_classes=10)', "warning", "all zeros"),
        ("one image", f"feedline.Loader(path, 1, {CROP})", "ValueError", "give the folder, or a list of images"),
        ("no data", f"feedline.Loader(batch_size=4, {CROP})", "ValueError", "set the option data to a path"),
        ("`dataset=` as in DataLoader", f'feedline.Loader(dataset="photos", batch_size=4, {CROP})', "TypeError", "give the data first"),
        ("a data set of decoded images", f"feedline.Loader(ImageFolder(), 4, {CROP})", "TypeError", "feedline.Loader('photos', ...)"),
        ("a Hugging Face data set that decodes its images", f"feedline.Loader(load_dataset('pets', split='train'), 4, {CROP})", "TypeError", 'cast_column("image", datasets.Image(decode=False))'),
        ("images of PIL", f"feedline.Loader([(PIL.Image.open(path), 0)], 1, {CROP})", "TypeError", "the bytes of its file, or its path"),
        ("arrays of pixels", f"feedline.Loader(numpy.zeros((2, 8, 8, 3), 'uint8'), 1, {CROP})", "TypeError", "the bytes of its file, or its path"),
        ("a data set without a length", f"feedline.Loader(IterableDataset(), 4, {CROP})", "TypeError", "__len__ and __getitem__"),
        ("a DataLoader", f"feedline.Loader(DataLoader(), 4, {CROP})", "TypeError", "give the path of what it loads"),
        ("labels of two kinds", f'feedline.Loader([(path, "cat"), (path, 1)], 2, {CROP})', "ValueError", "labels of one kind"),
        ("a number as a label where the first one is a class", f"for batch in feedline.Loader(Records((path, 3), (path, 4.5)), 2, {CROP}): ...", "SampleError", "return float(label) of every record"),
        ("a dict in a text field", f'feedline.Loader([{{"image": path, "about": {{"at": 1}}}}], 1, {CROP}, fields={{"about": "text"}})', "TypeError", """fields={'about': "json"}"""),
        ("a vector with a number for every class, as whole numbers", f"feedline.Loader([(path, [0, 1, 0])], 1, {CROP})", "ValueError", "a list of bools or of floats"),
        ("fewer columns than classes", f'feedline.Loader("photos", 4, {CROP}, num_classes=2)', "ValueError", "num_classes=12"),
    ),
    *group(
        "Transforms",
        ("none at all", 'feedline.Loader("photos", 4)', "ValueError", "add a crop, a resize or a letterbox"),
        ("a size that differs from image to image", 'feedline.Loader("photos", 4, transforms=[feedline.Resize(256)])', "ValueError", "add a crop"),
        ("`ToTensor`", "feedline.ToTensor()", "AttributeError", "leave it out"),
        ("`Normalize`", "feedline.transforms.Normalize([0.5] * 3, [0.5] * 3)", "AttributeError", "use normalize=(mean, std)"),
        ("a misspelt transform", "feedline.RandomResizeCrop(224)", "AttributeError", "did you mean RandomResizedCrop?"),
        ("Albumentations' name", "feedline.HorizontalFlip(p=0.5)", "AttributeError", "feedline.RandomHorizontalFlip()"),
        ("a Compose of torchvision's", 'feedline.Loader("photos", 4, transforms=v2.Compose([v2.RandomResizedCrop(224), v2.ToTensor(), v2.Normalize((0.5, 0.5, 0.5), (0.5, 0.5, 0.5))]))', "TypeError", "transforms=[feedline.RandomResizedCrop(...)], normalize=((0.5, 0.5, 0.5), (0.5, 0.5, 0.5))"),
        ("one of torchvision's", 'feedline.Loader("photos", 4, transforms=[v2.RandomResizedCrop(224)])', "TypeError", "use feedline.RandomResizedCrop"),
        ("`ToTensor` of torchvision's in the list", f'feedline.Loader("photos", 4, transforms=[feedline.RandomResizedCrop(224), v2.ToTensor()])', "TypeError", "leave it out"),
        ("`Normalize` of torchvision's in the list", 'feedline.Loader("photos", 4, transforms=[feedline.RandomResizedCrop(224), v2.Normalize((0.5, 0.5, 0.5), (0.5, 0.5, 0.5))])', "TypeError", "normalize=((0.5, 0.5, 0.5), (0.5, 0.5, 0.5))"),
        ("a class in place of a transform", 'feedline.Loader("photos", 4, transforms=[feedline.RandomHorizontalFlip])', "TypeError", "feedline.RandomHorizontalFlip(...)"),
        ("a function", 'feedline.Loader("photos", 4, transforms=[lambda image: image])', "TypeError", "loader.map(function)"),
        ("a recipe's name as transforms", 'feedline.Loader("photos", 4, transforms="imagenet-train")', "TypeError", "recipe="),
        ("calling a transform", "feedline.RandomResizedCrop(224)(path)", "TypeError", "give it in transforms=[...]"),
        ("an argument that there is not", "feedline.RandomResizedCrop(crop=224)", "ValueError", "there are size, scale"),
        ("no size", "feedline.RandomResizedCrop()", "ValueError", "`size` is missing"),
        ("a size that is none", "feedline.RandomResizedCrop(224.5)", "ValueError", "give a length, or [height, width]"),
        ("a probability in percent", "feedline.RandomHorizontalFlip(50)", "ValueError", "[0.0, 1.0]"),
        ("a text for a number", 'feedline.RandomHorizontalFlip("often")', "ValueError", "give a number"),
        ("an interpolation that there is not", 'feedline.Resize([8, 8], interpolation="cubic")', "ValueError", "`bicubic`"),
        ("`crop=` on the Loader", 'feedline.Loader("photos", 4, crop=224)', "TypeError", "transforms=[feedline.RandomResizedCrop(224)]"),
        ("a recipe that there is not", 'feedline.Loader("photos", 4, recipe="imagenet-trian")', "ValueError", "did you mean `imagenet-train`"),
        ("a recipe and transforms", f'feedline.Loader("photos", 4, recipe="imagenet-train", {CROP})', "ValueError", "give one of them"),
        ("transforms in place of a view", 'feedline.Loader("photos", 4, views=[feedline.RandomResizedCrop(96)])', "TypeError", "feedline.View(size, transforms, count)"),
    ),
    *group(
        "Labels and numbers",
        ("MixUp without dense labels", 'feedline.Loader("photos", 4, True, transforms=[feedline.RandomResizedCrop(224), feedline.MixUp()])', "warning", "num_classes="),
        ("label smoothing without dense labels", f'feedline.Loader("photos", 4, {CROP}, label_smoothing=0.1)', "ValueError", "num_classes"),
        ("mean and std for levels from 0 to 255", f'feedline.Loader("photos", 4, {CROP}, normalize=((123.7, 116.3, 103.5), (58.4, 57.1, 57.4)))', "ValueError", "divide both by 255"),
        ("normalising bytes", f'feedline.Loader("photos", 4, {CROP}, dtype="uint8", normalize="imagenet")', "ValueError", "choose f32, f16 or bf16"),
        ("normalising twice", f'feedline.Loader("photos", 4, {CROP}, normalize="imagenet", mean=(0.5, 0.5, 0.5), std=(0.5, 0.5, 0.5))', "ValueError", "give one of them"),
        ("one number for three channels", f'feedline.Loader("photos", 4, {CROP}, normalize=(0.5, 0.5))', "ValueError", "three numbers"),
        ("a number format that there is not", f'feedline.Loader("photos", 4, {CROP}, dtype="float64")', "ValueError", "`f32`, `f16`, `bf16` or `u8`"),
    ),
    *group(
        "Batches",
        ("`.to()` of an array, without `framework=`", f'next(iter(feedline.Loader("photos", 4, {CROP})))["image"].to("cuda")', "AttributeError", 'give framework="torch"'),
        ("indexing such an array", f'next(iter(feedline.Loader("photos", 4, {CROP})))["label"][0]', "TypeError", 'give framework="torch"'),
    ),
    *group(
        "Words of DataLoader",
        ("`collate_fn=`", f'feedline.Loader("photos", 4, {CROP}, collate_fn=list)', "TypeError", "change the dict in the loop"),
        ("`worker_init_fn=`", f'feedline.Loader("photos", 4, {CROP}, worker_init_fn=print)', "TypeError", "threading.local()"),
        ("`sampler=`", f'feedline.Loader("photos", 4, {CROP}, sampler=None)', "TypeError", "subset="),
        ("a batch that is larger than the data", f'feedline.Loader("photos", 64, {CROP}, drop_last=True)', "ValueError", "a smaller batch_size"),
        ("workers below 0", f'feedline.Loader("photos", 4, {CROP}, num_workers=-1)', "ValueError", "0 is automatic"),
        ("a text for the batch size", f'feedline.Loader("photos", "4", {CROP})', "ValueError", "give a whole number"),
        ("a seed that is no whole number", f'feedline.Loader("photos", 4, {CROP}, seed=1.5)', "ValueError", "give a whole number"),
        ("workers that end with the epoch", f'feedline.Loader("photos", 4, {CROP}, persistent_workers=False)', "warning", "close() stops them"),
        ("a misspelt keyword", f'feedline.Loader("photos", 4, {CROP}, num_worker=2)', "TypeError", "did you mean `num_workers`?"),
        ("`loader[0]`", f'feedline.Loader("photos", 4, {CROP})[0]', "TypeError", "for batch in loader"),
        ("`loader.dataset[0]`", f'feedline.Loader("photos", 4, {CROP}).dataset[0]', "TypeError", "for batch in loader"),
        ("a column that no batch has", f'feedline.Loader("photos", 4, {CROP}, columns=("image", "labels"))', "ValueError", "did you mean label?"),
        ("dense labels that nobody asked for", f'feedline.Loader("photos", 4, {CROP}, columns=("image", "target"))', "ValueError", "num_classes="),
    ),
    *group(
        "Devices, ranks and processes",
        ("a GPU that is not there", f'feedline.Loader("photos", 4, {CROP}, device="cuda:4711")', "UnavailableError", "use the CPU device"),
        ('`device="gpu"`', f'feedline.Loader("photos", 4, {CROP}, device="gpu")', "ValueError", "`cuda:N`"),
        ("ranks of an environment that has none", f'feedline.Loader("photos", 4, {CROP}, distributed="env")', "warning", "torchrun"),
        ("ranks that nobody told of", f'os.environ.update(RANK="1", WORLD_SIZE="2")\nfeedline.Loader("photos", 4, {CROP})', "warning", 'distributed="env"'),
        ("a rank without the number of ranks", f'feedline.Loader("photos", 4, {CROP}, rank=0)', "ValueError", "give both"),
        ("training in the order of the folder", 'feedline.Loader("photos", 4, recipe="train.toml")', "warning", "shuffle=True"),
        ("a state of another seed", f'feedline.Loader("photos", 4, {CROP}).load_state_dict(feedline.Loader("photos", 4, {CROP}, seed=3).state_dict())', "ValueError", "build the loader as it was"),
        ("a state of other data", f'feedline.Loader("photos", 4, {CROP}).load_state_dict(feedline.Loader("flat", 4, {CROP}, flat=True).state_dict())', "ValueError", "build the loader as it was"),
        ("a state that is none", f'feedline.Loader("photos", 4, {CROP}).load_state_dict({{"epoch": 3}})', "ValueError", "give what its state_dict() returned"),
        ("pickling a loader", f'pickle.dumps(feedline.Loader("photos", 4, {CROP}))', "TypeError", "in the process that uses it"),
        ("a loader after `close()`", f'loader = feedline.Loader("photos", 4, {CROP})\nloader.close()\nlen(loader)', "RuntimeError", "make another one"),
        ("a GPU's pixels for NumPy's bfloat16", f'next(iter(feedline.Loader("photos", 4, {CROP}, dtype="bfloat16")))["image"].numpy()', "TypeError", "torch.from_dlpack"),
    ),
]

MISTAKES = [each for each in TABLE if isinstance(each, Mistake)]

TRAIN = """name = "mine"
[[augment]]
op = "RandomResizedCrop"
size = 32
[output]
size = [32, 32]
"""


@contextlib.contextmanager
def folder() -> typing.Iterator[None]:
    """A folder to be in, with what the codes name."""
    with tempfile.TemporaryDirectory() as root:
        before = pathlib.Path.cwd()
        pathlib.Path(root, "photos").symlink_to(PHOTOS, target_is_directory=True)
        for name in ("flat", "empty/a"):
            pathlib.Path(root, name).mkdir(parents=True)
        for photo in sorted(PHOTOS.glob("cat/*.jpg"))[:5]:
            shutil.copy(photo, pathlib.Path(root, "flat"))
        pathlib.Path(root, "train.toml").write_text(TRAIN)
        os.chdir(root)
        try:
            yield
        finally:
            os.chdir(before)


@contextlib.contextmanager
def kept_environment() -> typing.Iterator[None]:
    before = dict(os.environ)
    for name in ("RANK", "WORLD_SIZE", "LOCAL_RANK"):
        os.environ.pop(name, None)
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)


def names() -> dict[str, typing.Any]:
    """What the codes see: feedline, and what looks like other libraries."""
    import pickle

    import feedline
    import numpy

    def module(path: str, **contents: typing.Any) -> types.ModuleType:
        made = types.ModuleType(path)
        for name, value in contents.items():
            value.__module__ = path
            setattr(made, name.strip("_"), value)
        return made

    def keeping(name: str, *arguments: str) -> type:
        def init(self: typing.Any, *given: typing.Any) -> None:
            self.__dict__.update(zip(arguments, given))

        return type(name, (), {"__init__": init})

    v2 = module(
        "torchvision.transforms.v2",
        Compose=keeping("Compose", "transforms"),
        RandomResizedCrop=keeping("RandomResizedCrop", "size"),
        ToTensor=keeping("ToTensor"),
        Normalize=keeping("Normalize", "mean", "std"),
    )
    picture = keeping("JpegImageFile")
    picture.__module__ = "PIL.JpegImagePlugin"
    pil = types.SimpleNamespace(Image=types.SimpleNamespace(open=lambda path: picture()))
    image_folder = type(
        "ImageFolder", (), {"root": "photos", "__len__": lambda self: 3, "__getitem__": lambda self, index: (picture(), 0)}
    )

    class Records:
        def __init__(self, *records: typing.Any) -> None:
            self.records = records

        def __len__(self) -> int:
            return len(self.records)

        def __getitem__(self, index: int) -> typing.Any:
            return self.records[index]

    hugging_face = type("Dataset", (Records,), {"cast_column": None})
    return {
        "feedline": feedline, "os": os, "numpy": numpy, "pickle": pickle, "v2": v2, "PIL": pil, "ImageFolder": image_folder,
        "IterableDataset": keeping("IterableDataset"), "DataLoader": keeping("DataLoader"),
        "Records": Records,
        "load_dataset": lambda name, split: hugging_face({"image": picture(), "label": 0}),
        "crop": [feedline.RandomResizedCrop(224)],
        "path": str(next(iter(sorted(pathlib.Path("photos").glob("cat/*.jpg"))))),
    }  # fmt: skip


def answer(mistake: Mistake) -> tuple[str, str]:
    """The exception, or `warning`, that the code gets, and its message."""
    with kept_environment(), warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            exec(compile(mistake.code, "the code", "exec"), names())
        except Exception as error:
            return type(error).__name__, str(error)
    return ("warning", str(caught[0].message)) if len(caught) == 1 else (f"{len(caught)} warnings", "")


def page() -> str:
    """docs/mistakes.md."""
    lines = [HEAD]
    with folder():
        for each in TABLE:
            if isinstance(each, str):
                lines += [f"\n## {each}\n\n| Mistake | Code | Answer |\n|---|---|---|"]
            else:
                kind, message = answer(each)
                if kind != each.kind or each.remedy not in message:
                    sys.exit(f"{each.title}: {kind}: {message}")
                if kind == "UnavailableError":
                    # Why depends on the machine.
                    message = f"{message.split(': ')[0]}: why; what to do, or use the CPU device"
                code = "`<br>`".join(each.code.replace("|", "\\|").splitlines())
                lines.append(f"| {each.title} | `{code}` | {kind}: {escaped(message)} |")
    return "\n".join(lines).replace(HEAD + "\n", HEAD) + "\n" + TAIL


def escaped(message: str) -> str:
    """A message in a cell of a table."""
    for sign in "|*<":
        message = message.replace(sign, f"\\{sign}")
    return message.replace("__", r"\_\_")


if __name__ == "__main__":
    text = page()
    if "--check" not in sys.argv[1:]:
        PAGE.write_text(text)
    elif PAGE.read_text() != text:
        sys.exit(f"{PAGE.name} is not what {pathlib.Path(__file__).name} writes: run it")
