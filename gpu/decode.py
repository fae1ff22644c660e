#!/usr/bin/env python3
"""How fast each of nvJPEG's decoders is by batch size, and what it costs the CPU."""

import kit

BATCHES = (1, 8, 32, 128, 256, 512)
BACKENDS = ("hardware", "gpu-huffman", "hybrid", "auto")


def main():
    """Writes decode.json."""
    section = kit.Section("decode", __doc__)
    data = kit.main_dataset()
    section.put("data", data.name)
    seconds = section.sized(1.5, 0.01)
    batches = section.sized(BATCHES, (2,))
    for backend in BACKENDS:
        arguments = ["decode-speed", "--data", data, "--backend", backend, "--seconds", seconds,
                     "--batch-sizes", ",".join(map(str, batches))]
        section.attempt(backend, 3 * seconds, lambda arguments=arguments: [section.add("speed", row)
                                                                           for row in kit.rows(section, arguments)])


if __name__ == "__main__":
    main()
