"""feedline and the loaders it is compared with, each as one measurement: images a second, CPU-seconds, idle GPU."""

import gc
import json
import os

import kit
import peers
import trainer as training

FEEDLINE_GPU = "feedline, GPU"
FEEDLINE_CPU = "feedline, CPU"
TORCHVISION_GPU = "torchvision, GPU decode"
TORCHVISION_CPU = "DataLoader, CPU decode"
ALL = (FEEDLINE_GPU, FEEDLINE_CPU, TORCHVISION_GPU, TORCHVISION_CPU)
DEVICES = {FEEDLINE_GPU: "cuda:0", FEEDLINE_CPU: "cpu"}
RECIPE = "imagenet-train"
# bench takes a number of images, not a time: a short run says how many fill the time.
TRIAL_BATCHES = 12
CROPS = 8192


class Contenders:
    """All loaders on the same files, in batches of one size."""

    def __init__(self, section, batch_size):
        self.section = section
        self.batch_size = batch_size
        self.data = kit.main_dataset()
        self.device = section.sized("cuda", "cpu")  # torch never meets the simulated driver
        self.crops = self.planned_crops(section.sized(CROPS, 3 * batch_size))
        self.trainer = training.Trainer(self.device, batch_size, peers.SIZE)
        self.rates = {}

    def planned_crops(self, count):
        """The crops that feedline plans: file, left, top, width, height, flip."""
        found = kit.rows(self.section, ["crops", "--data", self.data, "--images", count])
        if len(found) != count:
            raise RuntimeError(f"gpu_measure gave {len(found)} crops of {count}")
        return [(str(self.data / row["key"]), *row["crop"], row["flip"]) for row in found]

    def alone(self, name, seconds, cores=None):
        """The loader with nothing behind it."""
        with Cores(cores):
            if name in DEVICES:
                result = self.bench(name, seconds, cores)
            else:
                result = peers.measure(self.batches(name, cores), self.device, seconds,
                                       watched=not self.section.simulated)
        return self.rounded(result)

    def training(self, name, seconds, cores=None):
        """The loader with a training step behind it."""
        with Cores(cores):
            if name in DEVICES:
                arguments = ["--data", self.data, "--device", DEVICES[name], "--batch-size", self.batch_size]
                result = training.beside(self.trainer, self.section, arguments, seconds)
            else:
                result = peers.measure(self.batches(name, cores), self.device, seconds, self.trainer.step,
                                       watched=not self.section.simulated)
        return self.rounded(result)

    def batches(self, name, cores):
        """The batches of one of torch's loaders."""
        gc.collect()  # the workers of the loader before
        if name == TORCHVISION_GPU:
            return peers.torchvision_gpu(self.crops, self.batch_size, self.device)
        workers = cores or len(os.sched_getaffinity(0))
        return peers.torchvision_cpu(self.crops, self.batch_size, self.device, self.section.sized(workers, 1))

    def bench(self, name, seconds, cores):
        """`feedline bench`: its figures behind the first batch."""
        trial = TRIAL_BATCHES * self.batch_size
        if (name, cores) not in self.rates:
            self.rates[name, cores] = self.bench_once(name, trial).get("steady_images_per_s")
        images = int((self.rates[name, cores] or 0) * seconds) + trial
        report = self.bench_once(name, images // self.batch_size * self.batch_size)
        kept = ("steady_images_per_s", "steady_cpu_s_per_1000", "first_batch_s", "workers", "decoded_by",
                "limiting_stage", "failures")
        found = {key.removeprefix("steady_"): report.get(key) for key in kept}
        return {**found, "gpu_idle": None}

    def bench_once(self, name, images):
        """One run of `feedline bench`."""
        images = self.section.sized(images, 2 * self.batch_size)
        command = [kit.BIN / "feedline", "bench", "--data", self.data, "--recipe", RECIPE,
                   "--dtype", "f16", "--batch-size", self.batch_size, "--device", DEVICES[name], "--images", images,
                   "--json"]
        if self.section.simulated and name == FEEDLINE_GPU:
            command.append("--simulated")
        status, output, errors = kit.run(command, self.section.left_s(), kit.environment(self.section.simulated))
        if status != 0:
            raise RuntimeError(f"feedline bench: exit status {status}: {kit.tail(errors)}")
        return json.loads(output)

    def rounded(self, result):
        """Measured values with four digits, and none where the device is simulated."""
        return {key: self.section.figure(value) if isinstance(value, float) else value
                for key, value in result.items()}


class Cores:
    """Leaves this process and those that it starts so many cores for a while, as `taskset` would."""

    def __init__(self, count):
        self.count = count
        self.before = os.sched_getaffinity(0)

    def __enter__(self):
        self.set(sorted(self.before)[:self.count] if self.count else self.before)

    def __exit__(self, *_):
        self.set(self.before)

    @staticmethod
    def set(cores):
        """Threads keep their own affinity, so each is told; one may end meanwhile."""
        for thread in os.listdir("/proc/self/task"):
            try:
                os.sched_setaffinity(int(thread), cores)
            except ProcessLookupError:
                pass
