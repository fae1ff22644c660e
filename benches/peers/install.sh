#!/usr/bin/env bash
# Makes one virtual environment with every peer, at pinned versions: about 2 minutes and 6.4 GB, of which the CUDA
# libraries that PyPI's torch wheel is linked against are 3.4 GB, although nothing here uses a GPU.
#
# FEEDLINE_PEERS_VENV says where (default: .venv-peers in the checkout), PYTHON which interpreter (checked with 3.11).
# With a mirror of https://download.pytorch.org/whl/cpu at hand, `pip install torch==2.15.0+cpu` is 1 GB instead.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
venv=${FEEDLINE_PEERS_VENV:-$(cd "$here/../.." && pwd)/.venv-peers}

"${PYTHON:-python3}" -m venv "$venv"
# The folder ignores itself, so that it can never be committed.
echo '*' > "$venv/.gitignore"
"$venv/bin/pip" install --quiet --requirement "$here/requirements.txt"
"$venv/bin/pip" install --quiet --no-deps --requirement "$here/requirements-torch.txt"
"$venv/bin/python" -c 'import torch, torchvision; print("torch", torch.__version__, "torchvision", torchvision.__version__)'
echo "peers are in $venv; run them with: $venv/bin/python benches/peers/run.py --data data/photos"
