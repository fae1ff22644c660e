"""The loaders that people use with torch, doing feedline's work: the same files, the same crops, the same flips.

Crops are not drawn here: `gpu_measure crops` prints those that feedline plans, so that every loader resamples the same
pixels. All give batches of normalised float16 on the device.
"""

import itertools
import time
from concurrent.futures import ThreadPoolExecutor

import torch
from torch.utils.data import DataLoader, Dataset
from torchvision.io import ImageReadMode, decode_jpeg, read_file
from torchvision.transforms.v2 import functional

import kit
import trainer as training

MEAN = (0.485, 0.456, 0.406)
STD = (0.229, 0.224, 0.225)
SIZE = 224
READERS = 2
BATCHES_READ_AHEAD = 2
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


def torchvision_gpu(crops, batch_size, device):
    """Files read ahead by threads, a batch decoded at once by nvJPEG through torchvision, transforms on the GPU."""
    order = itertools.cycle(kit.shuffled(crops, len(crops)))

    def read(batch):
        return [read_file(crop[0]) for crop in batch]

    with ThreadPoolExecutor(READERS) as pool:
        ahead = []
        while True:
            while len(ahead) <= BATCHES_READ_AHEAD:
                batch = list(itertools.islice(order, batch_size))
                ahead.append((batch, pool.submit(read, batch)))
            batch, files = ahead.pop(0)
            images = decode_jpeg(files.result(), mode=ImageReadMode.RGB, device=device)
            yield normalized(torch.stack([augment(image, crop) for image, crop in zip(images, batch)]))


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


def measure(batches, device, seconds, step=None, watched=True):
    """Images a second, CPU-seconds per 1000 images and the GPU's idle share, behind a warm-up."""
    device = torch.device(device)
    for _, batch in zip(range(WARM_UP_BATCHES), batches):
        step and step(batch)
    training.synchronize(device)
    pace, images = training.Pace(device), 0
    cpu, started = training.cpu_seconds(), time.perf_counter()
    with training.Utilisation(watched) as busy:
        for batch in batches:
            step and step(batch)
            pace.stepped()
            images += len(batch)
            if time.perf_counter() - started >= seconds:
                break
        training.synchronize(device)
    took, cpu = time.perf_counter() - started, training.cpu_seconds() - cpu
    batches.close()
    return {"images_per_s": images / took, "cpu_s_per_1000": 1000 * cpu / images, "gpu_idle": busy.idle()}
