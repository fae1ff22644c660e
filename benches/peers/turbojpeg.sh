#!/usr/bin/env bash
# Builds libturbojpeg.so for PyTurboJPEG, which brings none: benches/peers/turbojpeg.sh OUT.so
#
# The source is that of libjpeg-turbo 3.1.0, as the crate turbojpeg-sys carries it, with its vector code. Needs cargo, a C
# compiler, and python3 with venv; cmake comes from PyPI and nasm from Debian where they are missing.
set -euo pipefail

: "${1:?usage: benches/peers/turbojpeg.sh OUT.so}"
out=$(realpath "$1")
root=$(cd "$(dirname "$0")/../.." && pwd)
work=$root/target/turbojpeg
mkdir -p "$work"
PATH=$work/venv/bin:$work/nasm/usr/bin:$PATH

if ! command -v cmake > /dev/null; then
    python3 -m venv "$work/venv"
    "$work/venv/bin/pip" install --quiet cmake==4.4.4
fi
if ! command -v nasm > /dev/null; then
    (cd "$work" && rm -f nasm_*.deb && apt-get download --quiet nasm && dpkg-deb --extract nasm_*.deb nasm)
fi
cargo vendor --locked --quiet --manifest-path "$root/benches/crops/Cargo.toml" "$work/vendor" > /dev/null 2>&1
cmake -S "$work/vendor/turbojpeg-sys/libjpeg-turbo" -B "$work/build" -DCMAKE_BUILD_TYPE=Release -DENABLE_STATIC=0 \
    -DREQUIRE_SIMD=1 > "$work/cmake.log" 2>&1
cmake --build "$work/build" --target turbojpeg --parallel 2 >> "$work/cmake.log" 2>&1
cp "$work/build/libturbojpeg.so" "$out"
