#!/usr/bin/env python3
"""Which decoder takes which kind of file, nvJPEG's with which flags, and what damaged files do to it."""

import tempfile
from pathlib import Path

import damage
import flags
import kit
import variants

BACKENDS = ("feedline", "hardware", "gpu-huffman", "hybrid")
# Ends of the process before a decoder's damaged files are given up.
MOST_ENDS = 6


def damaged(section, work, backend):
    """Damaged files one by one. A file that ends the process is a result, and the next process goes on behind it."""
    sound = work / "420-baseline"
    names = damage.write(Path(kit.files_of(sound)[0]), work / "damaged" / "files")
    done, ends = 0, 0
    while done < len(names):
        command = [kit.BIN / "gpu_measure", "damage", "--data", work / "damaged", "--sound", sound, "--backend", backend,
                   "--beside", section.sized(15, 1), "--skip", done, *(["--simulated"] if section.simulated else [])]
        status, output, errors = kit.run(command, min(section.left_s(), 12), kit.environment(section.simulated))
        rows = kit.json_lines(output)
        for row in rows:
            section.add("damage", {**row, "file": Path(row["file"]).name, "process": "goes on"})
        done += len(rows)
        if status == 0:
            break
        ends += 1
        if done >= len(names) or ends > MOST_ENDS or (not rows and done == 0 and "no device" in errors):
            raise RuntimeError(f"gpu_measure damage: exit status {status}: {kit.tail(errors)}")
        section.add("damage", {"file": names[done], "backend": backend, "decoded_by": None, "cause": kit.tail(errors),
                               "sound_files_beside": None, "sound_files_after": None,
                               "process": "hangs" if status is None else f"ends with status {status}"})
        done += 1


def main():
    """Writes support.json."""
    section = kit.Section("support", __doc__)
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        variants.write(work, tiny=bool(section.simulated))
        kinds = [kind.name for kind in sorted(work.iterdir())]
        section.attempt("matrix", 5, lambda: [section.add("support", row) for row in kit.rows(
            section, ["support", "--data", work])])
        for backend in BACKENDS:
            section.attempt(f"damaged files, {backend}", 2, lambda backend=backend: damaged(section, work, backend))
        # Last: it calls nvJPEG from this process, which a fault would end.
        section.attempt("flags", 1, lambda: flags.ask(section, [work / kind for kind in kinds]))


if __name__ == "__main__":
    main()
