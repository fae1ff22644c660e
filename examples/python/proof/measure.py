"""What a training run costs: seconds, CPU seconds of all its processes, and the time in which it waits for its loader."""

import contextlib
import importlib.metadata
import os
import pathlib
import platform
import time

import feedline
import psutil


def cpu_seconds():
    """User and system seconds of this process, of its children that have ended, and of those that still run."""
    own = psutil.Process()
    while True:
        with contextlib.suppress(
            psutil.NoSuchProcess
        ):  # a child ended meanwhile: it is counted among the ended ones then
            running = [child.cpu_times() for child in own.children(recursive=True)]
            break
    of_all = [own.cpu_times(), *running]
    return sum(each.user + each.system + each.children_user + each.children_system for each in of_all)


def machine_seconds():
    """CPU seconds of everything on the machine since it started, those included that its host took for other machines."""
    times = psutil.cpu_times()
    return sum(getattr(times, name, 0.0) for name in ("user", "nice", "system", "irq", "softirq", "steal"))


class Waited:
    """A loader, whose iterators note in `seconds` how long the loop waited for them; everything else is the loader's own."""

    def __init__(self, loader):
        self.loader, self.seconds = loader, 0.0

    def __getattr__(self, name):
        return getattr(self.loader, name)

    def __len__(self):
        return len(self.loader)

    def __iter__(self):
        began = time.perf_counter()
        batches = iter(self.loader)
        while True:
            batch = next(batches, None)
            self.seconds += time.perf_counter() - began
            if batch is None:
                return
            yield batch
            began = time.perf_counter()


class Epochs:
    """What each epoch takes: lists of seconds, CPU seconds and seconds of waiting, of which each epoch adds one."""

    def __init__(self):
        self.figures = {"seconds": [], "cpu_seconds": [], "wait_seconds": []}
        self._began = None
        self._made = time.perf_counter(), machine_seconds() - cpu_seconds()

    def begin(self, loader):
        self._began = self._now(loader)

    def end(self, loader):
        for name, began, now in zip(self.figures, self._began, self._now(loader)):
            self.figures[name].append(round(now - began, 3))

    def others_share(self):
        """The part of the machine's CPU time that other work has taken since this was made; near 0 on a quiet machine."""
        seconds = time.perf_counter() - self._made[0]
        return round((machine_seconds() - cpu_seconds() - self._made[1]) / (seconds * os.cpu_count()), 4)

    @staticmethod
    def _now(loader):
        return time.perf_counter(), cpu_seconds(), loader.seconds


def machine(packages, device):
    """Processor, cores and versions, for the record."""
    said = pathlib.Path("/proc/cpuinfo").read_text()
    models = [line.split(": ")[1] for line in said.splitlines() if line.startswith("model name")]
    found = {"processor": models[0] if models else platform.machine(), "cores": os.cpu_count()}
    found["memory_gib"] = round(psutil.virtual_memory().total / 2**30)
    if device.startswith("cuda"):
        import torch

        found["gpu"] = torch.cuda.get_device_name(device)
    # What lies in a folder that Python looks into has no metadata.
    own = {"feedline": feedline.__version__}
    versions = {name: own.get(name) or importlib.metadata.version(name) for name in packages}
    return {**found, "python": platform.python_version(), **versions}
