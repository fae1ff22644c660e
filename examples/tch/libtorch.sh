#!/usr/bin/env bash
# Fetches libtorch for the feature `tch` into a folder, and prints what to set: eval "$(examples/tch/libtorch.sh DIR)"
#
# On Linux on x86-64, with Python 3 and pip; 540 MB to download, 0.5 GB to keep. It is what PyPI's wheel of torch holds for
# C++, for the CPU alone: without libtorch_cuda, whose own libraries are 4 GB more (docs/rust-trainer.md says how to have
# them). Two small libraries of CUDA's, which libtorch_cpu is linked with, are put beside it.

set -euo pipefail

version=2.13.0 # the one that tch 0.26 is made for
unset CDPATH # else cd prints where it went
folder=$(mkdir -p "${1:?usage: libtorch.sh DIR}" && cd "$1" && pwd)

if [[ $(cat "$folder/torch/build-version" 2>/dev/null) != "$version" ]]; then
    rm -rf "$folder/wheels" "$folder/torch"
    python3 -m pip download --quiet --disable-pip-version-check --no-deps --only-binary :all: --python-version 3.12 \
        --platform manylinux_2_28_x86_64 --platform manylinux_2_25_x86_64 --platform manylinux_2_17_x86_64 \
        --dest "$folder/wheels" \
        torch==$version nvidia-cuda-cupti==13.0.85 nvidia-cuda-runtime==13.0.96 >&2
    python3 - "$folder" <<'UNPACK'
import pathlib, re, shutil, sys, zipfile

folder = pathlib.Path(sys.argv[1])
wanted = re.compile(r"torch/include/.*[^/]|torch/lib/lib(c10|torch|torch_cpu|gomp)[.]so.*|.*/lib(cupti|cudart)[.]so[.]\d+")
for wheel in sorted((folder / "wheels").glob("*.whl")):
    with zipfile.ZipFile(wheel) as files:
        for name in filter(wanted.fullmatch, files.namelist()):
            # CUDA's two libraries go to torch's own, which look for them there.
            target = folder / (name if name.startswith("torch/") else f"torch/lib/{pathlib.Path(name).name}")
            target.parent.mkdir(parents=True, exist_ok=True)
            with files.open(name) as source, open(target, "wb") as copy:
                shutil.copyfileobj(source, copy)
UNPACK
    rm -rf "$folder/wheels"
    echo "$version" >"$folder/torch/build-version" # written last; torch-sys looks at it too
fi

echo "export LIBTORCH='$folder/torch'"
echo "export LD_LIBRARY_PATH='$folder/torch/lib'\${LD_LIBRARY_PATH:+:\$LD_LIBRARY_PATH}"
