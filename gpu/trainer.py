"""A training step on the GPU, and what is watched while it runs behind a loader.

A step is forward, backward and update of a ResNet in bfloat16, in the process of the loader that feeds it.
"""

import threading
import time

import psutil
import torch
import torchvision

import kit

CLASSES = 1000
WARM_UP_STEPS = 5


class Trainer:
    """A model with its optimiser and one batch of noise to train on."""

    def __init__(self, model, device, batch_size, size):
        self.device = torch.device(device)
        self.batch_size = batch_size
        # The step is the GPU's work: threads of torch's own would only spin on the loader's cores.
        torch.set_num_threads(1)
        torch.manual_seed(kit.SEED)
        torch.backends.cudnn.benchmark = True
        self.model = getattr(torchvision.models, model)(num_classes=CLASSES)
        self.model = self.model.to(self.device, memory_format=torch.channels_last)
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.01, momentum=0.9)
        self.images = torch.randn(batch_size, 3, size, size, device=self.device).half()
        self.labels = torch.randint(CLASSES, (batch_size,), device=self.device)
        self.warm_up_steps = WARM_UP_STEPS if self.device.type == "cuda" else 1

    def step(self, images=None):
        """One training step; returns before the GPU has done it."""
        images = self.images if images is None else images
        self.optimizer.zero_grad(set_to_none=True)
        # Where no GPU trains, nothing is measured, and bfloat16 would only be slow.
        with torch.autocast(self.device.type, dtype=torch.bfloat16, enabled=self.device.type == "cuda"):
            scores = self.model(images.contiguous(memory_format=torch.channels_last).float())
            loss = torch.nn.functional.cross_entropy(scores, self.labels[:len(images)])
        loss.backward()
        self.optimizer.step()

    def alone(self, seconds):
        """Steps a second with nothing to wait for: what a loader would have to keep up with."""
        for _ in range(self.warm_up_steps):
            self.step()
        pace, started, steps = Pace(self.device), time.perf_counter(), 0
        while time.perf_counter() - started < seconds:
            self.step()
            pace.stepped()
            steps += 1
        synchronize(self.device)
        return steps / (time.perf_counter() - started)


class Pace:
    """Keeps the host at most one step ahead of the GPU, as a loop that looks at its loss now and then is."""

    def __init__(self, device):
        self.is_cuda = device.type == "cuda"
        self.previous = None

    def stepped(self):
        """Called behind each step: waits for the one before."""
        if not self.is_cuda:
            return
        if self.previous is not None:
            self.previous.synchronize()
        self.previous = torch.cuda.Event()
        self.previous.record()


class Utilisation:
    """The share of time in which the GPU ran any kernel, of any process, as NVML samples it."""

    def __init__(self, wanted):
        self.samples = []
        self.stopping = threading.Event()
        self.nvml = None
        if wanted:
            try:
                import pynvml
                pynvml.nvmlInit()
                self.nvml = pynvml
                self.gpu = pynvml.nvmlDeviceGetHandleByIndex(0)
            except Exception:  # No NVML: the share stays unknown, and the rest is measured.
                self.nvml = None
        self.thread = threading.Thread(target=self.watch, daemon=True)

    def watch(self):
        """Samples until told to stop. NVML averages over 1/6 s or more, so faster sampling would tell nothing."""
        while self.nvml and not self.stopping.wait(0.15):
            self.samples.append(self.nvml.nvmlDeviceGetUtilizationRates(self.gpu).gpu)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.stopping.set()
        self.thread.join()

    def idle(self):
        """The share of time without any kernel; the first sample still covers the time before."""
        samples = self.samples[1:]
        return 1 - sum(samples) / len(samples) / 100 if samples else None


def synchronize(device):
    """Waits for the GPU."""
    if device.type == "cuda":
        torch.cuda.synchronize(device)


def cpu_seconds():
    """User and system time of this process and its live children."""
    this = psutil.Process()
    total = 0.0
    for process in [this, *this.children(recursive=True)]:
        try:
            times = process.cpu_times()
        except psutil.NoSuchProcess:
            continue
        total += times.user + times.system
    return total


def describe():
    """What a result says of the step."""
    return {"precision": "bfloat16 autocast", "torch": str(torch.__version__),
            "torchvision": str(torchvision.__version__)}
