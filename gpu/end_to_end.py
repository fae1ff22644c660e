#!/usr/bin/env python3
"""From files to batches on the GPU, with nothing behind them: each decoder forced, on many cores and on few.

`feedline bench` is the program, so that no other library has a part in it.
"""

import json

import cores as affinity
import kit

CORES = (16, 4, 1)
BATCH_SIZE = 256
RECIPE = "imagenet-train"
# The last one is the CPU device: what a GPU must never be slower than.
CPU_DEVICE = "CPU device"
DECODERS = ("feedline", CPU_DEVICE, "cpu", "nvjpeg-hardware", "nvjpeg", "nvjpeg-gpu", "nvjpeg-hybrid")
# bench takes a number of images and not a time: a short run says how many fill the time.
TRIAL_BATCHES = 6
# What a run takes besides: two starts and the trial.
BESIDE_S = 3.5
KEPT = ("steady_images_per_s", "steady_cpu_s_per_1000", "first_batch_s", "workers", "decoded_by", "limiting_stage",
        "failures")


def batch_size(section, decoder):
    """Files in a batch: on the simulated device, the fewest that the decoder takes."""
    return section.sized(BATCH_SIZE, 52 if decoder == "nvjpeg-gpu" else 4)


def bench(section, data, decoder, images):
    """One run of `feedline bench`."""
    device = ["--device", "cpu"] if decoder == CPU_DEVICE else ["--device", "cuda:0", "--decoder", decoder]
    command = [kit.BIN / "feedline", "bench", "--data", data, "--recipe", RECIPE, "--dtype", "f16", *device,
               "--batch-size", batch_size(section, decoder), "--images", images, "--json"]
    if section.simulated and decoder != CPU_DEVICE:
        command.append("--simulated")
    status, output, errors = kit.run(command, section.left_s(), kit.environment(section.simulated))
    if status != 0:
        raise RuntimeError(f"feedline bench: exit status {status}: {kit.tail(errors)}")
    return json.loads(output)


def measure(section, data, decoder, cores, seconds):
    """One decoder on so many cores."""
    batch = batch_size(section, decoder)
    with affinity.Cores(cores):
        trial = section.sized(TRIAL_BATCHES, 2) * batch
        report = bench(section, data, decoder, trial)
        if not section.simulated:
            images = int((report["steady_images_per_s"] or 0) * seconds) + trial
            report = bench(section, data, decoder, images // batch * batch)
    found = {key.removeprefix("steady_"): report.get(key) for key in KEPT}
    section.add("runs", {"decoder": decoder, "cores": cores,
                         **{key: section.figure(value) if isinstance(value, float) else value
                            for key, value in found.items()}})


def main():
    """Writes end_to_end.json."""
    section = kit.Section("end_to_end", __doc__)
    data = kit.main_dataset()
    section.put("work", {"data": data.name, "batch_size": batch_size(section, "feedline"), "recipe": RECIPE,
                         "dtype": "f16"})
    parts = [(cores, decoder) for cores in affinity.counts(section, CORES) for decoder in DECODERS]
    for number, (cores, decoder) in enumerate(parts):
        seconds = section.share_s(len(parts) - number, 5.0, 1.0, beside=BESIDE_S)
        section.attempt(f"{decoder} on {cores} cores", section.sized(BESIDE_S + 1, 1),
                        lambda cores=cores, decoder=decoder, seconds=seconds: measure(
                            section, data, decoder, cores, seconds))


if __name__ == "__main__":
    main()
