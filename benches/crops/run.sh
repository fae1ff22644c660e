#!/usr/bin/env bash
# Training crops against libjpeg-turbo's crop path, one thread: benches/crops/run.sh FOLDER...
#
# Builds libjpeg-turbo from the source that the crate turbojpeg-sys carries, with its vector code, and everything else
# into target/crops. Needs cargo, a C compiler, and python3 with venv; cmake comes from PyPI and nasm from Debian where
# they are missing, into the same folder. ROUNDS (default 15) and PLANS a file (8) may be set, FEEDLINE_SIMD as always.
set -euo pipefail

unset CDPATH # else cd prints where it went
: "${1:?usage: benches/crops/run.sh FOLDER...}"
here=$(cd "$(dirname "$0")" && pwd)
target=$(cd "$here/../.." && pwd)/target/crops
mkdir -p "$target/tools"
PATH=$target/tools/venv/bin:$target/tools/nasm/usr/bin:$PATH

if ! command -v cmake > /dev/null; then
    python3 -m venv "$target/tools/venv"
    "$target/tools/venv/bin/pip" install --quiet cmake==4.4.4
fi
if ! command -v nasm > /dev/null; then
    (cd "$target/tools" && rm -f nasm_*.deb && apt-get download nasm && dpkg-deb --extract nasm_*.deb nasm)
fi
CARGO_TARGET_DIR=$target cargo build --release --locked --quiet --manifest-path "$here/Cargo.toml"
"$target/release/feedline-crops" "${ROUNDS:-15}" "${PLANS:-8}" "$@"
