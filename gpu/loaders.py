"""feedline and the loaders that people use with torch, on the same files, with the same crops and flips.

Crops are not drawn here: `gpu_measure crops` prints those that feedline plans, so that every loader resamples the same
pixels. All give batches of normalised float16 on the device, to this process.
"""

import ctypes
import itertools
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy
import torch
from torch.utils.data import DataLoader, Dataset
from torchvision.io import ImageReadMode, decode_jpeg, read_file
from torchvision.transforms.v2 import functional

import kit
import trainer as training

MEAN = (0.485, 0.456, 0.406)
STD = (0.229, 0.224, 0.225)
SIZE = 224
# One thread decodes: nvJPEG's states, which these libraries keep, are not for two.
DECODING = 1
BATCHES_AHEAD = 1
WARM_UP_BATCHES = 3


def augment(image, crop):
    """torchvision's RandomResizedCrop and flip with given dice, on uint8."""
    _, left, top, width, height, flip = crop
    image = functional.resized_crop(image, top, left, height, width, [SIZE, SIZE], antialias=True)
    return functional.horizontal_flip(image) if flip else image


def normalized(images):
    """float16 from uint8, on whatever device the pixels are."""
    images = functional.to_dtype(images, torch.float32, scale=True)
    return functional.normalize(images, MEAN, STD, inplace=True).half()


def feedline_batches(data, batch_size, workers, simulated, **options):
    """feedline through its Python package. A simulated device's memory is not for torch: None stands for its pixels."""
    import feedline

    loader = feedline.Loader(str(data), recipe="imagenet-train", batch_size=batch_size, shuffle=True, dtype="f16",
                             num_workers=workers, drop_last=True, flat=True, **options)
    while True:
        for batch in loader:
            image = batch["image"]
            if tuple(image.shape[:2]) != (batch_size, 3):
                raise RuntimeError(f"a batch of {tuple(image.shape)}")
            if not simulated:
                yield image.torch()
            else:
                yield image.torch()[:, :, :SIZE, :SIZE] if options["device"] == "cpu" else None


def torchvision_decoder(device):
    """How torchvision reads a file, and decodes a batch of what was read: by nvJPEG on a GPU."""
    return read_file, lambda files: decode_jpeg(files, mode=ImageReadMode.RGB, device=device)


def torchcodec_decoder(device):
    """The same of torchcodec."""
    from torchcodec.decoders import decode_jpeg as decode

    return bytes_of, lambda files: decode(files, mode="RGB", device=device)


def nvimgcodec_decoder(device):
    """The same of nvImageCodec."""
    if device == "cuda":
        ctypes.CDLL(str(kit.nvjpeg(None)), mode=ctypes.RTLD_GLOBAL)  # it looks for this name
    from nvidia import nvimgcodec

    if device == "cuda":
        decoder = nvimgcodec.Decoder(device_id=0)
    else:
        decoder = nvimgcodec.Decoder(device_id=-99999, backends=[nvimgcodec.Backend(nvimgcodec.CPU_ONLY)])

    def taken(image, file):
        if image is None:  # as for some samplings: a user would have to decode it by other means
            file = torch.frombuffer(bytearray(file), dtype=torch.uint8)
            return decode_jpeg(file, mode=ImageReadMode.RGB).to(device)
        image = torch.from_dlpack(image) if device == "cuda" else torch.from_numpy(numpy.array(image))
        return image.permute(2, 0, 1)

    return bytes_of, lambda files: [taken(image, file) for image, file in zip(decoder.decode(files), files)]


# By the first word of a contender's name.
DECODERS = {"torchvision": torchvision_decoder, "torchcodec": torchcodec_decoder, "nvImageCodec": nvimgcodec_decoder}


def bytes_of(file):
    """A file as it is."""
    return Path(file).read_bytes()


def batched(decoder, crops, batch_size, device):
    """A batch decoded at once on the GPU ahead of its transforms, by a thread of its own, so that both overlap."""
    load, decode = decoder
    order = itertools.cycle(kit.shuffled(crops, len(crops)))
    with ThreadPoolExecutor(DECODING) as pool:
        ahead = []
        while True:
            while len(ahead) <= BATCHES_AHEAD:
                batch = list(itertools.islice(order, batch_size))
                ahead.append((batch, pool.submit(lambda batch=batch: decode([load(crop[0]) for crop in batch]))))
            batch, images = ahead.pop(0)
            yield normalized(torch.stack([augment(image, crop) for image, crop in zip(images.result(), batch)]))


class Crops(Dataset):
    """torchvision on the CPU: decoded, cropped, resized and flipped as uint8."""

    def __init__(self, crops):
        self.crops = crops

    def __len__(self):
        return len(self.crops)

    def __getitem__(self, index):
        crop = self.crops[index]
        return augment(decode_jpeg(read_file(crop[0]), mode=ImageReadMode.RGB), crop)


def start_worker(_):
    """One thread a worker process, as the documentation advises."""
    torch.set_num_threads(1)


def torchvision_cpu(crops, batch_size, device, workers):
    """PyTorch's DataLoader with a worker process a core; uint8 goes over the bus, the GPU normalises.

    The uploads are pinned and asynchronous, which is the best that such a loader can do.
    """
    data = Crops(kit.shuffled(crops, len(crops)))
    cuda = torch.device(device).type == "cuda"
    loader = DataLoader(data, batch_size=batch_size, num_workers=workers, pin_memory=cuda, drop_last=True,
                        persistent_workers=True, worker_init_fn=start_worker)
    while True:
        for batch in loader:
            yield normalized(batch.to(device, non_blocking=True))


def planned_crops(section, count):
    """The crops that feedline plans: file, left, top, width, height, flip."""
    data = kit.main_dataset()
    found = kit.rows(section, ["crops", "--data", data, "--images", count])
    if len(found) != count:
        raise RuntimeError(f"gpu_measure gave {len(found)} crops of {count}")
    return [(str(data / row["key"]), *row["crop"], row["flip"]) for row in found]


def measure(batches, batch_size, device, seconds, step=None, watched=True):
    """Images a second, CPU-seconds per 1000 images and the GPU's idle share, behind a warm-up."""
    device = torch.device(device)
    for _, batch in zip(range(WARM_UP_BATCHES if watched else 1), batches):
        step and step(batch)
    training.synchronize(device)
    pace, images = training.Pace(device), 0
    busy = training.Utilisation(watched)  # ahead of the clock, since to start NVML takes a while
    cpu, started = training.cpu_seconds(), time.perf_counter()
    with busy:
        for batch in batches:
            step and step(batch)
            pace.stepped()
            images += batch_size
            if time.perf_counter() - started >= seconds:
                break
        training.synchronize(device)
    took, cpu = time.perf_counter() - started, training.cpu_seconds() - cpu
    batches.close()
    return {"images_per_s": images / took, "cpu_s_per_1000": 1000 * cpu / images, "gpu_idle": busy.idle()}
