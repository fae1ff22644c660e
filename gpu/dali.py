#!/usr/bin/env python3
"""NVIDIA DALI on a folder of JPEGs, for comparison with `gpu/run`: its wheels are larger than the kit may be.

    python3 -m pip install nvidia-dali-cuda130==2.4.0    # where there is a network; or carry the wheels, about 450 MB
    gpu/dali.py FOLDER [--batch-size 256] [--seconds 10] > OUT_DIR/dali.json    # gpu/report reads it there

The work is that of the kit's other loaders: decode on the GPU, RandomResizedCrop to 224, flip, normalise to float16. DALI
draws its own crops, from the same ranges, and decodes only what the crop needs. Prints one JSON object.
"""

import argparse
import json
import time
from pathlib import Path

import kit

SIZE = 224
WARM_UP_BATCHES = 10
MEAN = [255 * value for value in (0.485, 0.456, 0.406)]
STD = [255 * value for value in (0.229, 0.224, 0.225)]


def arguments():
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--batch-size", type=int, default=256)
    parser.add_argument("--threads", type=int, default=16, help="CPU threads of DALI")
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument("--hardware-share", type=float, default=0.65, help="files for the decoding engines, of all")
    return parser.parse_args()


def pipeline(args, files):
    """Files to batches on the GPU."""
    from nvidia.dali import fn, pipeline_def, types

    @pipeline_def(batch_size=args.batch_size, num_threads=args.threads, device_id=0, prefetch_queue_depth=3)
    def graph():
        data, _ = fn.readers.file(files=files, random_shuffle=True, name="files")
        images = fn.decoders.image_random_crop(data, device="mixed", output_type=types.RGB, random_area=[0.08, 1.0],
                                               random_aspect_ratio=[3 / 4, 4 / 3], hw_decoder_load=args.hardware_share)
        images = fn.resize(images, size=[SIZE, SIZE], interp_type=types.INTERP_LINEAR, antialias=True)
        return fn.crop_mirror_normalize(images, dtype=types.FLOAT16, output_layout="CHW", mean=MEAN, std=STD,
                                        mirror=fn.random.coin_flip())

    made = graph()
    made.build()
    return made


def main():
    """Measures and prints."""
    args = arguments()
    files = kit.files_of(args.folder)
    if not files:
        raise SystemExit(f"no JPEG below {args.folder}")
    import nvidia.dali

    running = pipeline(args, files)
    for _ in range(WARM_UP_BATCHES):
        running.run()
    cpu, began, batches = time.process_time(), time.perf_counter(), 0
    while time.perf_counter() - began < args.seconds:
        running.run()
        batches += 1
    images, took = batches * args.batch_size, time.perf_counter() - began
    print(json.dumps({"loader": f"DALI {nvidia.dali.__version__}", "files": len(files), "batch_size": args.batch_size,
                      "images_per_s": round(images / took, 1),
                      "cpu_s_per_1000": round(1000 * (time.process_time() - cpu) / images, 4)}))


if __name__ == "__main__":
    main()
