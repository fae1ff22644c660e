"""The keywords of a Loader, for type checkers. Made by `stubs.py` of the lists of options and parameters; do not edit."""

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Literal, TypedDict

from feedline._view import View
from feedline._words import Framework
from feedline.transforms import Transform

class Keywords(TypedDict, total=False):
    """What a Loader is told besides its data, `batch_size` and `shuffle`. None says nothing."""

    sets: Sequence[Mapping[str, Any]] | None
    """Several data sets in place of one: tables with the options of this section, and with `name`, which
    their keys begin with, and `weight`. Options beside the list are for all data sets that take them."""
    mix: Literal["concat", "chain", "weighted"] | None
    """How the data sets follow each other in an epoch: as one data set, one after the other, or by chances.
    Default: `weighted` where the data sets have weights, else `concat`."""
    stopping_strategy: Literal["first_exhausted", "all_exhausted"] | None
    """What ends an epoch of a weighted mix: that one data set has been shown whole, or that each has.
    Default: first_exhausted."""
    epoch_samples: int | None
    """The samples of an epoch of a weighted mix, in place of a strategy."""
    classes: Sequence[str] | None
    """The names of the classes in the order of their indices; all names that the data have must be among
    them. Names for the numbers of data that have no names. Default: those of the data; of several data sets,
    each where it comes first."""
    rename: Mapping[str, str] | None
    """Other names for classes of the data, by their names there; classes that are called alike become one."""
    source: Literal["folder", "list", "tar", "tfrecord", "lmdb", "parquet", "yolo", "coco", "idx", "cifar", "remote"] | None
    """What the data are. Default: found by looking at the data."""
    kind: Literal["folder", "list", "tar", "tfrecord", "lmdb", "parquet", "yolo", "coco", "idx", "cifar", "remote"] | None
    """What the data are. Default: found by looking at the data."""
    split: str | None
    """Which images of a YOLO data set, or which of the tar, TFRecord, Parquet, idx or CIFAR files, by their
    names. Default: `train` where there is a data.yaml, else all, where they are of one split."""
    flat: bool | None
    """Whether directories are no classes: every image at any depth, without labels. Default: false."""
    allow_empty: bool | None
    """Whether a class may be without images. Default: false."""
    root: str | os.PathLike[str] | None
    """The folder that the paths of a list or of a data.yaml are relative to; of one at a URL, a URL in the
    same store. Default: the folder of the list, or what the data.yaml says."""
    header: bool | None
    """Whether the first row of a CSV or TSV file names the columns. Default: found by looking at it."""
    image_column: str | None
    """The column or feature that holds the images, or in a list their paths. Default: found by its name;
    `image/encoded` of TFRecord files."""
    label_column: str | None
    """The column or feature that holds the labels; of CIFAR-100, `fine` or `coarse`. Default: found by its
    name; `image/class/label` of TFRecord files, `fine` of CIFAR-100."""
    label_separator: str | None
    """What stands between the labels of a record, where it has several: `;` in `cat;dog`. Default: a label is
    taken as it is."""
    class_column: str | None
    """The feature that holds the names of the classes. Default: image/class/text."""
    name_column: str | None
    """The feature that holds the names of the images. Default: image/filename."""
    fields: Mapping[str, Literal["text", "bytes", "json", "integer", "float", "integers", "floats", "image", "depth"] | Mapping[str, Any]] | None
    """The values to be read beside each image, such as captions, by the names that a batch is to have for
    them: each a type (`text`, `bytes`, `json`, `integer`, `float`, `integers`, `floats`, `image`, `depth`),
    or type, `from` (the ending of a tar file's members, the column or the feature, where that is not the
    name), `default` (the value of records that have none) and `length` (of lists that are all as long). Of
    folders, YOLO and COCO data they are pictures, each `from` a folder, or a URL, with a file for every
    image."""
    max_field_bytes: int | str | None
    """The largest value of a field; samples with larger ones are bad. Default: 1048576."""
    database: str | None
    """The named database in an LMDB environment. Default: the main one."""
    image_dir: str | os.PathLike[str] | None
    """The folder that the images of COCO annotations lie in, or its URL. Default: the folder of the
    annotations."""
    mask_dir: str | os.PathLike[str] | None
    """The folder of the semantic masks, or its URL: that of images/a/b.jpg, or of a/b.jpg, is a/b.png
    there."""
    allow_missing_masks: bool | None
    """Whether an image may be without a mask. Default: false."""
    on_bad_label: Literal["fail", "skip_object", "skip_image"] | None
    """What becomes of a label that cannot be right. Default: fail."""
    bad_listed: int | None
    """How many bad labels are listed, at least the three that an error quotes. Default: 20."""
    label_cache: str | os.PathLike[str] | None
    """The file that keeps the labels from run to run."""
    max_file_bytes: int | str | None
    """The largest image file that is read; larger ones are bad samples. Default: 1073741824."""
    parquet_cache: int | str | None
    """Bytes of memory in which decoded parts of Parquet files are kept for the reads to come. Default:
    268435456."""
    cache_dir: str | os.PathLike[str] | None
    """The folder that keeps what was fetched, for the next epoch and for other processes."""
    cache_bytes: int | str | None
    """The largest number of bytes in `cache_dir`; what was not used for the longest time goes first. Default:
    68719476736."""
    endpoint: str | None
    """The server to ask in place of the service's own: `https://minio.example:9000`. With `http://` nothing
    is encrypted. Default: the service's own, or what the environment says."""
    anonymous: bool | None
    """Whether requests are not signed, as public buckets want it. Default: false."""
    timeout_s: float | None
    """The longest time that one read may take, in seconds, all attempts together; at least 0.01. Default:
    60.0."""
    stall_timeout_s: float | None
    """How long a server may send nothing before an attempt is given up, in seconds. Default: 10.0."""
    max_retries: int | None
    """How often a request is sent again. Default: 8."""
    concurrency: int | None
    """How many requests may be under way at once, 1 to 4096. Default: 64."""
    shuffle_window: int | None
    """Shuffles runs of this many consecutive samples, and each within itself, instead of all of them at
    once."""
    shuffle_shards: int | None
    """Shuffles the source's shards, and the samples of this many of them at a time, instead of all of them at
    once."""
    seed: int | None
    """The seed of all random numbers and orders. Default: 0."""
    last_batch: Literal["drop", "partial", "pad"] | None
    """What becomes of a last batch that is not full. Default: partial."""
    bad_sample: Literal["fail", "skip", "substitute"] | None
    """What becomes of a sample that cannot be read, decoded or rendered. Default: fail."""
    max_failures: int | None
    """How many bad samples an epoch may have before it fails all the same. Default: any number."""
    subset: Iterable[int] | str | os.PathLike[str] | None
    """The samples that are shown, by their indices in the data set; without shuffle in this order. An epoch
    is as long as the list: a sample that it names several times comes as often, each time augmented anew.
    Default: all."""
    weights: Iterable[float] | str | os.PathLike[str] | None
    """Draws an epoch's samples with replacement, each with a chance in proportion to its weight: one weight
    for each sample of the data set, or of the subset in its order."""
    repeats: int | None
    """How often each sample of the order comes in a row of positions, which go to different ranks, each time
    augmented anew (repeated augmentation, 3 in DeiT). An epoch stays as long, but for a multiple of 256, and
    so shows a part of the samples. Where samples are mixed, the copies are a partner window apart. Default:
    1."""
    rank: int | None
    """Which of several processes this one is, from 0. Default: 0."""
    world_size: int | None
    """How many processes share the samples. Default: 1."""
    distributed: Literal["env"] | None
    """Where rank and world size come from: `env` takes them from the variables RANK and WORLD_SIZE, as
    torchrun sets them."""
    partner_window: int | None
    """Consecutive positions of the epoch's order that the partners of a mix or a mosaic are drawn from.
    Default: 128."""
    close_mosaic: int | None
    """The epoch, counted from 0, from which on augmentations that take several samples are left out: mosaics,
    mixes and copy-paste. Ultralytics' `close_mosaic` counts epochs from the end: its 10 of 100 epochs is 90
    here, under that name too. Default: never."""
    mixing_off_epoch: int | None
    """The epoch, counted from 0, from which on augmentations that take several samples are left out: mosaics,
    mixes and copy-paste. Ultralytics' `close_mosaic` counts epochs from the end: its 10 of 100 epochs is 90
    here, under that name too. Default: never."""
    num_workers: int | None
    """Worker threads, 1 to 512. Default: one for each core, and up to four where reading is the limit."""
    workers: int | None
    """Worker threads, 1 to 512. Default: one for each core, and up to four where reading is the limit."""
    worker_priority: Literal["normal", "idle"] | None
    """The scheduling priority of worker threads: `normal` as all threads have it; `idle` below all others of
    the process's control group, for a training that computes on the same cores (Linux only). If something
    else keeps all cores busy without ever waiting, idle workers hardly run. Default: normal."""
    prefetch_factor: int | None
    """Batches that are made ahead, 1 to 64. Default: 2, and up to 4 where the trainer's waits are
    irregular."""
    prefetch: int | None
    """Batches that are made ahead, 1 to 64. Default: 2, and up to 4 where the trainer's waits are
    irregular."""
    rect: bool | None
    """Whether each batch is shaped as its images are, which come in the order of their shapes. Default:
    false."""
    rect_pad: float | None
    """By how many strides a rect batch is larger than its images. Default: 0.5."""
    multi_scale: float | None
    """Draws the size of each batch: how far from the output's it may be, as a part of it; 0 is not at all.
    Default: 0.0."""
    sizes: Sequence[int | Sequence[int]] | None
    """The sizes of batches to draw from instead."""
    pad_to_largest: bool | None
    """Lets each sample keep the size that its augmentations end at, at most the output's: a batch is as large
    as its largest sample, and the others are padded with zeros at the right and at the bottom (DETR). A batch
    then says which pixels are padding, and the size of each sample. Default: false."""
    stride: int | None
    """What the edges of batches are multiples of, with rect, multi_scale or pad_to_largest. Default: 32, and
    1 with pad_to_largest."""
    byte_cache: int | str | None
    """The largest number of bytes of compressed files that are kept in memory from their first read on.
    Default: 0."""
    image_cache: int | str | None
    """The largest number of bytes of decoded images that are kept for the other samples of a partner window,
    where augmentations mix samples; on a GPU they are bytes of its memory, reserved at the start. Default:
    268435456."""
    cache: Literal["off", "ram", "disk"] | None
    """Where records are kept for all processes of the machine that read the same data (Linux): `ram` is one
    file in memory, which the last of them removes; `disk` is one file on a disk, for later runs as well. A
    file of the data that changes is read again. Default: off."""
    cache_form: Literal["compressed", "decoded"] | None
    """What `cache` keeps of an image: its file as it is, or its pixels, upright as `exif` says, whole and in
    full size, which take five to ten times the room. Both give the same pixels as no cache. Damaged files and
    those of more than 64 MiB of pixels stay as they are. Default: compressed."""
    cache_resize: int | None
    """The longest shorter edge of what `cache` keeps decoded, in pixels: larger images are resized, as
    `feedline pack --resize` does it. This changes pixels. Default: images keep their sizes."""
    cache_limit: int | str | None
    """The largest number of bytes of the file of `cache`; what comes first stays. Default: half of what is
    free: of the disk, or of memory and of /dev/shm."""
    cache_file: str | os.PathLike[str] | None
    """The file of `cache`. Default: one in /dev/shm, or in `$XDG_CACHE_HOME/feedline` or
    `~/.cache/feedline`."""
    dtype: Any | None
    """The number format. Default: f32."""
    layout: str | None
    """The order of a batch's axes. Default: nchw."""
    size: int | Sequence[int] | None
    """The size of each sample; of the usual one, where batches differ in size. Default: what the
    augmentations end at; a recipe says it."""
    decode_only: bool | None
    """Whether every image is decoded whole and nothing is rendered: batches carry labels and no pixels. For
    benchmarks. Default: false."""
    normalize: Literal["imagenet"] | tuple[Sequence[float], Sequence[float]] | None
    """Mean and standard deviation by name."""
    mean: Sequence[float] | None
    """Mean of each channel, for pixels scaled to 0..=1."""
    std: Sequence[float] | None
    """Standard deviation of each channel."""
    box_format: Literal["xyxy", "xywh", "cxcywh", "xywhr", "xyxyxyxy"] | None
    """What the numbers of a box are: left, top, right, bottom (`xyxy`); left, top, width, height (`xywh`);
    the middle, width and height (`cxcywh`); or of the smallest rotated box around the outline the middle,
    width, height and angle (`xywhr`), or its four corners (`xyxyxyxy`). Default: cxcywh."""
    box_unit: Literal["pixels", "normalized"] | None
    """What the coordinates of boxes, polygons and keypoints are counted in: pixels of the sample, or parts of
    its width and height. Default: normalized."""
    min_area: float | None
    """The smallest area of a box that is kept, in pixels of the sample. Default: 0.0."""
    min_visibility: float | None
    """The smallest part of a box that must be left after cuts, in 0..=1. Default: 0.0."""
    masks: int | None
    """Asks for semantic masks; the class of what shows no image, and of images without a mask: what the loss
    is told to ignore. Default: 255 where `mask_dir` or `outline_masks` is given, else no masks."""
    ignore_index: int | None
    """Asks for semantic masks; the class of what shows no image, and of images without a mask: what the loss
    is told to ignore. Default: 255 where `mask_dir` or `outline_masks` is given, else no masks."""
    mask_fill: int | None
    """Asks for semantic masks; the class of what shows no image, and of images without a mask: what the loss
    is told to ignore. Default: 255 where `mask_dir` or `outline_masks` is given, else no masks."""
    reduce_zero_label: bool | None
    """Whether class 0 of semantic masks is ignored as well, and the others count from 0 (mmseg's
    `reduce_zero_label`): 0 and 255 become `mask_fill`, and any other class the one below it. Default:
    false."""
    outline_masks: bool | None
    """Whether an image without a mask has one made of the outlines of its objects: 0 where there is none, and
    1 + the class where there is one, that of the smallest where several are. It asks for masks as `mask_fill`
    does. Default: false."""
    instance_masks: Literal["per-object", "overlap"] | None
    """Asks for masks of the objects, made of their outlines: a plane for each object (`per-object`), or one
    for all objects of a sample, in which each pixel has 1 + the index of its object, or 0 (`overlap`);
    smaller objects then lie over larger ones, and the objects of a sample come in that order, the largest
    first."""
    mask_ratio: int | None
    """By how much the masks of objects are smaller than the sample, along each edge; 1 to 64. Default: 4 with
    `overlap`, 1 with `per-object`."""
    max_pixels: int | None
    """The largest number of pixels of one image. Default: 178956970."""
    max_scans: int | None
    """The largest number of scans of one progressive JPEG. Default: 256."""
    damaged: Literal["refuse", "torchvision", "libjpeg"] | None
    """What becomes of a damaged JPEG. `refuse` refuses it; `torchvision` accepts damage inside, with the
    pixels that libjpeg-turbo makes of it, and refuses a file that ends early; `libjpeg` accepts all that
    libjpeg-turbo decodes, and what is missing is grey. Default: torchvision."""
    tolerate_truncated: bool | None
    """Another name for `damaged = "libjpeg"`, where that option is not given. Default: false."""
    exif: bool | None
    """Whether images are turned as their EXIF orientation says. Default: true."""
    decode_scale: Literal["exact", "fast"] | None
    """Whether large JPEGs may be decoded at a half or less where the augmentations shrink them anyway, which
    changes pixels. Default: exact."""
    decoder: Literal["auto", "nvjpeg", "nvjpeg-hardware", "nvjpeg-gpu", "nvjpeg-hybrid", "feedline", "cpu"] | None
    """What decodes JPEGs where a GPU makes the batches: `feedline`, which `auto` means as well, decodes them
    and files of coefficients on its processors and gives the pixels of the CPU device, which takes these
    words too; the others are nvJPEG's, and the workers'. What the chosen decoder does not take, the CPU
    decodes. Default: auto."""
    verify_decoding: bool | None
    """Whether what a GPU's decoders write is verified: that they do write, and for about one image in 4000
    that it is what the CPU decodes. A decoder that is not to be trusted is left, and statistics say why.
    feedline's own decoder reports a status for each file and is not verified. Default: true."""
    decode_index: str | os.PathLike[str] | None
    """Where it is kept at which bytes the rows of each JPEG begin, so that a later crop of it starts at its
    own first row. It changes no pixel. Default: memory."""
    index_budget: int | str | None
    """The largest number of bytes of memory that decode indexes may take. Default: 268435456."""
    device: str | None
    """Where images are decoded and rendered. A GPU that is named and does not work is an error, never another
    device in its place. With distributed = "env", `cuda` and `auto` mean the GPU of LOCAL_RANK. Default:
    cpu."""
    device_memory: int | str | None
    """The largest number of bytes of a GPU's memory for decoded images and scratch, the batches apart; with
    `decoder` = `feedline`, a third of it is for decoding. A batch that needs more is made in parts. Default:
    a quarter of what is free, at least 8 MiB."""
    pinned_memory: int | str | None
    """The largest number of bytes of page-locked host memory, all batches together, for files on their way to
    a GPU. What is beyond lies in ordinary memory, which is copied more slowly. Default: 1073741824."""
    pin_memory: bool | None
    """Whether batches in the host's memory are page-locked, so that a trainer's copies of them to a GPU run
    beside its other work. Without a GPU they lie in ordinary memory. On a GPU as the device pixels are made
    there. Default: false."""
    low_priority: bool | None
    """Whether the loader's kernels run at the lowest priority that a GPU has, which is that of a trainer's
    kernels, and not at the highest. Batches then take longer where a trainer fills the GPU. Default:
    false."""
    recipe: str | os.PathLike[str] | None
    """A recipe by its name, path or text, which the other keywords are laid over; other faces take it in a
    call of its own."""
    params: Mapping[str, Any] | None
    """Parameters of the recipe by name, where they cannot be keywords of their own: a recipe's own that a
    type checker does not know."""
    transforms: Sequence[Transform | Mapping[str, Any]] | None
    """What is done to each sample, in place of a recipe's augmentations: Python's objects."""
    views: Sequence[View | Mapping[str, Any]] | None
    """Outputs of each sample, where it has several, with transforms of their own after `transforms`: Python's
    objects."""
    framework: Framework | None
    """Whose arrays a batch holds, `torch`, `numpy` or `jax`: Python's objects. Without it they are
    `feedline.Tensor`."""
    num_classes: int | None
    """Adds dense labels of this many columns to a batch as `target`; in other languages a batch is asked for
    them."""
    label_smoothing: float | None
    """How much of each dense label is spread over all classes; for `num_classes`."""
    columns: Sequence[str] | None
    """The fields that a batch has, by their names; without `as_tuple` as a tuple in this order. Python's
    loops take tuples."""
    as_tuple: bool | None
    """Whether batches are tuples: of `columns`, or of `image` and `label`, or `target` with `num_classes`, as
    DataLoader's."""
    cls_dtype: Literal["int64", "float32"] | Any | None
    """Number format of `cls` and `batch_idx`: int64, or float32 as Ultralytics' trainers take them; also a
    dtype of torch or NumPy."""
    collate: Mapping[str, Callable[[list[Any]], Any]] | None
    """Functions that make of the rows of a field, a list of arrays or texts, what the batch has under its
    name: Python's."""
    drop_last: bool | None
    """DataLoader's word for `last_batch`: True is `drop`, False is `partial`."""
    persistent_workers: bool | None
    """DataLoader's; threads always persist, so that False is warned of."""
    aa: str | None
    """deit, timm-train: timm's text for its RandAugment. timm-augmix: timm's text for its AugMix."""
    augmix_severity: int | None
    """augmix: AugMix's severity."""
    brightness: float | None
    """byol: largest change of the brightness, as a part of it."""
    cat_max_ratio: float | None
    """segformer: part of a crop's pixels that no class reaches."""
    color_jitter: float | None
    """deit-iii, timm-rkrc: largest change of brightness, contrast and saturation, as a part of them."""
    color_jitter_prob: float | None
    """byol: probability of other colours."""
    contrast: float | None
    """byol: largest change of the contrast, as a part of it."""
    copy_paste: float | None
    """yolo-obb, yolo-segment, yolo-train: probability that an object is pasted."""
    copy_paste_mode: Literal["flip", "mixup"] | None
    """yolo-obb, yolo-segment, yolo-train: whose objects are pasted: the sample's own, mirrored, or another
    sample's."""
    crop_min: float | None
    """moco-v3: smallest part of the image's area that a view shows."""
    crop_size: int | None
    """augmix, imagenet-eval, imagenet-randaugment, imagenet-train, imagenet-v2, segformer, segmentation: edge
    of the samples in pixels."""
    cutmix: float | None
    """deit, timm-train: CutMix's alpha; 0 is no CutMix. yolo-obb, yolo-segment, yolo-train: probability of a
    CutMix."""
    cutmix_alpha: float | None
    """imagenet-v2: CutMix's lambda is drawn from Beta(alpha, alpha); 0 is no CutMix."""
    degrees: float | None
    """yolo-obb, yolo-segment, yolo-train: largest angle in degrees, in both directions."""
    erasing: float | None
    """yolo-classify: probability of an erased rectangle."""
    fliplr: float | None
    """yolo-classify, yolo-obb, yolo-segment, yolo-train: probability of a flip left to right."""
    flipud: float | None
    """yolo-classify, yolo-obb, yolo-segment, yolo-train: probability of a flip upside down."""
    global_crops_scale: Sequence[float] | None
    """dino, dinov2: smallest and largest part of the image's area that a large crop shows."""
    global_crops_size: int | None
    """dinov2: edge of the large crops in pixels."""
    hflip: float | None
    """timm-augmix, timm-rkrc, timm-train: probability of a flip left to right."""
    hflip_prob: float | None
    """augmix, detection-lsj, imagenet-randaugment, imagenet-train, imagenet-v2, mask-rcnn, segmentation:
    probability of a flip left to right."""
    hsv_h: float | None
    """yolo-obb, yolo-segment, yolo-train: largest turn of the hue, as a part of the circle."""
    hsv_s: float | None
    """yolo-obb, yolo-segment, yolo-train: largest change of the saturation, as a part of it."""
    hsv_v: float | None
    """yolo-obb, yolo-segment, yolo-train: largest change of the value, as a part of it."""
    hue: float | None
    """byol: largest turn of the hue, as a part of the circle."""
    image_size: int | None
    """albumentations, clip, rt-detr, siglip: edge of the samples in pixels. simclr: edge of the views in
    pixels."""
    img_size: int | None
    """timm-augmix, timm-rkrc, timm-train: edge of the samples in pixels."""
    imgsz: int | None
    """yolo-classify, yolo-eval, yolo-obb, yolo-segment, yolo-train: edge of the samples in pixels."""
    input_size: int | None
    """deit, deit-iii, mae: edge of the samples in pixels."""
    interpolation: Literal["nearest", "bilinear"] | Literal["nearest", "bilinear", "bicubic"] | None
    """augmix, imagenet-eval, imagenet-randaugment, imagenet-train, imagenet-v2: how pixels between pixels are
    made."""
    kernel_size: int | None
    """simclr: edge of the blur's kernel in pixels, an odd number: a tenth of image_size."""
    local_crops_number: int | None
    """dino, dinov2: how many small crops there are."""
    local_crops_scale: Sequence[float] | None
    """dino, dinov2: the same of a small crop."""
    local_crops_size: int | None
    """dinov2: edge of the small crops in pixels."""
    max_size: int | None
    """mask-rcnn: largest length of the longer edge in pixels; above 1344 the option size must grow with it.
    segmentation: its largest length and 1: twice base_size and 1."""
    min_size: int | None
    """mask-rcnn: length of the shorter edge in pixels. segmentation: smallest length of the shorter edge in
    pixels: half of base_size."""
    mixup: float | None
    """deit, timm-train: MixUp's alpha; 0 is no MixUp. yolo-obb, yolo-segment, yolo-train: probability of a
    MixUp."""
    mixup_alpha: float | None
    """imagenet-v2: MixUp's lambda is drawn from Beta(alpha, alpha); 0 is no MixUp."""
    mixup_mode: Literal["batch", "pair", "elem", "half"] | None
    """deit, timm-train: which samples share their draws."""
    mixup_prob: float | None
    """deit, timm-train: probability of a mix."""
    mixup_switch_prob: float | None
    """deit, timm-train: probability of CutMix where both are on."""
    mosaic: float | None
    """yolo-obb, yolo-segment, yolo-train: share of the samples that are mosaics."""
    perspective: float | None
    """yolo-obb, yolo-segment, yolo-train: largest coefficient of the perspective."""
    ra_magnitude: int | None
    """imagenet-randaugment: RandAugment's magnitude."""
    random_erase_prob: float | None
    """augmix, imagenet-randaugment, imagenet-train, imagenet-v2: probability of an erased rectangle."""
    ratio: Sequence[float] | None
    """timm-augmix, timm-train: smallest and largest width / height of a crop. timm-rkrc: smallest and largest
    factor of width / height, where it is drawn."""
    ratio_range: Sequence[float] | None
    """segformer: smallest and largest factor of the scale."""
    remode: Literal["const", "rand", "pixel"] | None
    """deit, timm-augmix, timm-train: what they are filled with: the mean, a random colour or noise."""
    reprob: float | None
    """deit, timm-augmix, timm-train: probability of erased rectangles."""
    resize_size: int | None
    """imagenet-eval: the shorter edge in pixels ahead of the crop."""
    saturation: float | None
    """byol: largest change of the saturation, as a part of it."""
    scale: Sequence[float] | Sequence[int] | float | None
    """clip, siglip, timm-augmix, timm-train: smallest and largest part of the image's area that a crop shows.
    segformer: width and height in pixels that the image fits into, at a factor of 1. timm-rkrc: smallest and
    largest part of the area that is shown, where the scale is drawn. yolo-obb, yolo-segment, yolo-train: the
    scale is drawn between 1 - this and 1 + this."""
    shear: float | None
    """yolo-obb, yolo-segment, yolo-train: largest shear in degrees, in both directions."""
    sigma_max: float | None
    """byol: largest width of the blur in pixels."""
    sigma_min: float | None
    """byol: smallest width of the blur in pixels."""
    target_size: int | None
    """detection-lsj: edge of the samples in pixels."""
    to_grayscale_prob: float | None
    """byol: probability of grey."""
    train_interpolation: Literal["bilinear", "bicubic", "random"] | None
    """deit, timm-augmix, timm-rkrc, timm-train: how pixels between pixels are made; random draws one of the
    two."""
    translate: float | None
    """yolo-obb, yolo-segment, yolo-train: largest translation, as a part of the edge."""
    vflip: float | None
    """timm-augmix, timm-rkrc, timm-train: probability of a flip upside down."""
